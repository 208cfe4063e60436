//! What the scan needs from an instruction set: the [`Kernel`] trait, and the masks it returns.

use crate::buffer::BLOCK;
use crate::format::continues_bare_string;

/// The bytes that a kernel compares or classifies at once outside the scan: one AVX2 register.
pub(crate) const SPAN: usize = 32;

/// The classes of a block's bytes, one bit a byte, the first byte lowest.
///
/// The separators `,` and `:` have no mask: they are the bytes that are in none of the others. A control character that is not
/// whitespace may be in none either. It is an error anywhere, and [`Kernel::see`] notices it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Masks {
    /// `"`
    pub(crate) quote: u64,
    /// `\`
    pub(crate) backslash: u64,
    /// Space, tab, line feed, carriage return.
    pub(crate) white: u64,
    /// `{ } [ ]`
    pub(crate) bracket: u64,
    /// All but whitespace, brackets and `, :`.
    pub(crate) plain: u64,
    /// What numbers consist of, from a kernel that finds it at no extra cost; of other kernels it is requested where a
    /// block has numbers.
    pub(crate) numeric: Option<Numeric>,
}

/// The bytes that numbers consist of, one bit a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numeric {
    /// `0` to `9`
    pub(crate) digit: u64,
    /// `0`
    pub(crate) zero: u64,
    /// `-`
    pub(crate) minus: u64,
    /// `.`
    pub(crate) point: u64,
}

/// An instruction set.
pub(crate) trait Kernel: Copy {
    /// A summary of some blocks, from which [`is_ascii`](Self::is_ascii) and [`has_control`](Self::has_control) follow.
    type Seen: Copy;

    /// Whether arrays of numbers are faster a block at a time than one by one. With AVX2 and AVX-512 they are; the
    /// portable kernel takes 1.4 times as long, and NEON has not been measured.
    const SWEEPS_NUMBERS: bool = false;

    /// Whether [`see_kept`](Self::see_kept) works at no extra cost. If not, it returns its argument, and the caller looks
    /// at the bytes that were kept.
    const SEES_KEPT: bool = false;

    /// Calls `work` with this instruction set enabled: what `work` inlines is compiled for it.
    fn enter<R>(self, work: impl FnOnce() -> R) -> R;

    /// Classifies the bytes of a block.
    fn masks(self, block: &[u8; BLOCK]) -> Masks;

    /// Returns a mask whose bit n is the xor of bits 0 to n.
    fn prefix_xor(self, bits: u64) -> u64;

    /// Writes `base` plus the position of every set bit, lowest first, and returns how many there are. What it writes after
    /// them means nothing.
    fn positions(self, bits: u64, base: u32, into: &mut [u32; BLOCK]) -> usize;

    /// Writes the bytes of `block` whose bit is set in `kept`, in order. What it writes after them means nothing. `text`
    /// begins with the block, for a kernel that reads past the block's end.
    ///
    /// Returns the bits of `bits` where `kept` has one, moved together like the bytes, and the number of bytes.
    fn squeeze(
        self,
        block: &[u8; BLOCK],
        text: &[u8],
        kept: u64,
        bits: u64,
        into: &mut [u8; 2 * BLOCK],
    ) -> (u64, usize);

    /// Returns the summary of no blocks.
    fn nothing_seen(self) -> Self::Seen;

    /// Adds a block to a summary.
    fn see(self, seen: Self::Seen, block: &[u8; BLOCK]) -> Self::Seen;

    /// Adds those bytes of a block to a summary whose bit is set in `kept`.
    #[inline(always)]
    fn see_kept(self, seen: Self::Seen, _block: &[u8; BLOCK], _kept: u64) -> Self::Seen {
        seen
    }

    /// Returns whether all bytes were ASCII.
    fn is_ascii(self, seen: Self::Seen) -> bool;

    /// Returns whether there was a byte below 0x20.
    fn has_control(self, seen: Self::Seen) -> bool;

    /// Returns the bytes of a block that equal `byte`.
    fn find(self, block: &[u8; BLOCK], byte: u8) -> u64;

    /// Returns the decimal digits of a block.
    fn decimal(self, block: &[u8; BLOCK]) -> u64;

    /// Returns the hexadecimal digits of a block.
    fn hexadecimal(self, block: &[u8; BLOCK]) -> u64;

    /// Returns the bytes of a block that may follow a backslash. Only the bits of `escaped` bytes count.
    fn escapable(self, block: &[u8; BLOCK], escaped: u64) -> u64;

    /// Returns the decimal digits of a span.
    fn digits(self, bytes: &[u8; SPAN]) -> u32;

    /// Returns the ASCII letters, digits and `_` of a span.
    fn identifier(self, bytes: &[u8; SPAN]) -> u32;

    /// Returns the bytes of a span that bare strings have.
    fn bare_string(self, bytes: &[u8; SPAN]) -> u32;

    /// Returns the `"` and `\` bytes of a span.
    fn quotes(self, bytes: &[u8; SPAN]) -> u32;

    /// Returns the `"` and `\` bytes of a block.
    #[inline(always)]
    fn quotes_of_block(self, block: &[u8; BLOCK]) -> u64 {
        self.find(block, b'"') | self.find(block, b'\\')
    }

    /// Returns the bytes that are equal in both spans.
    fn equal(self, left: &[u8; SPAN], right: &[u8; SPAN]) -> u32;

    /// Returns how many ASCII letters, digits and `_` a span begins with.
    #[inline(always)]
    fn identifier_len(self, bytes: &[u8; SPAN]) -> usize {
        self.identifier(bytes).trailing_ones() as usize
    }

    /// Returns how many bytes that bare strings have a span begins with.
    #[inline(always)]
    fn bare_string_len(self, bytes: &[u8; SPAN]) -> usize {
        self.bare_string(bytes).trailing_ones() as usize
    }

    /// Returns how many ASCII letters, digits and `_` a block begins with.
    #[inline(always)]
    fn identifier_len_of_block(self, block: &[u8; BLOCK]) -> usize {
        let length = self.identifier_len(block.first_chunk().expect("a block is longer"));
        if length < SPAN {
            return length;
        }
        SPAN + self.identifier_len(block.last_chunk().expect("a block is longer"))
    }

    /// Returns how many bytes come before the first `"` or `\`.
    #[inline(always)]
    fn plain_len(self, bytes: &[u8; SPAN]) -> usize {
        self.quotes(bytes).trailing_zeros() as usize
    }

    /// Returns how many bytes come before the first difference.
    #[inline(always)]
    fn equal_len(self, left: &[u8; SPAN], right: &[u8; SPAN]) -> usize {
        self.equal(left, right).trailing_ones() as usize
    }
}

/// The bytes of bare strings, by the low four bits of a byte and by its high four: those with a group in common.
#[allow(dead_code, reason = "an architecture that has only the portable kernel does not use it")]
pub(super) const BARE_STRING: ([u8; 16], [u8; 16]) = {
    let (mut low, mut high) = ([0; 16], [0; 16]);
    let mut byte = 0;
    while byte < 0x80 {
        if continues_bare_string(byte) {
            let (lower, upper) = ((byte & 0x0F) as usize, (byte >> 4) as usize);
            low[lower] |= 1 << upper;
            high[upper] = 1 << upper;
        }
        byte += 1;
    }
    (low, high)
};

/// Implements [`Kernel`] by functions with `#[target_feature]`. A value of the kernel proves the features, so every unsafe
/// block has the same reason.
#[allow(unused_macros, reason = "an architecture that has only the portable kernel does not use it")]
macro_rules! implement_kernel {
    ($kernel:ident, $seen:ty $(, $name:ident = $constant:literal)*: $($method:ident($($given:ident: $type:ty),*) -> $out:ty = $function:path;)*) => {
        impl $crate::json::scan::arch::kernel::Kernel for $kernel {
            type Seen = $seen;
            $(const $name: bool = $constant;)*

            #[inline(always)]
            fn enter<R>(self, work: impl FnOnce() -> R) -> R {
                // SAFETY: `self` is made by `detect` only.
                unsafe { entered(work) }
            }

            $(
                #[inline(always)]
                fn $method(self, $($given: $type),*) -> $out {
                    // SAFETY: `self` is made by `detect` only.
                    unsafe { $function($($given),*) }
                }
            )*
        }
    };
}
#[allow(unused_imports, reason = "as above")]
pub(super) use implement_kernel;
