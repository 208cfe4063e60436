//! Members looked at in pieces of 64 bytes.
//!
//! One idea: most members, key, value and what stands behind, fit in one piece. Once the piece is known to be within the
//! text, no single read of it needs a check of its own, and what is asked is few comparisons of whole words. That took
//! more than half of the instructions out of the walk, most of which had been such checks.

use crate::scan::arch::SPAN;

/// How much is looked at and copied at once.
pub(super) const PIECE: usize = 2 * SPAN;

/// As [`crate::span::window`], with a single check where `at` is an entry: it has 32 bits, so that `N` more cannot wrap.
#[inline(always)]
pub(super) fn window<const N: usize>(text: &[u8], at: usize) -> Option<&[u8; N]> {
    text.get(at..at.wrapping_add(N))?.first_chunk()
}

/// The eight bytes that end with the one at `at`.
#[inline(always)]
pub(super) fn ending(text: &[u8], at: usize) -> Option<&[u8; 8]> {
    text.get(..at + 1)?.last_chunk()
}

/// Do they end with the quote of another member's key?
#[inline(always)]
pub(super) fn has_next(ending: &[u8; 8]) -> bool {
    ending[7] == b'"'
}

/// A kind of scalar, by its first byte: what the bytes up to the next entry must be.
#[derive(Clone, Copy)]
pub(super) struct Scalar {
    more: Ending,
    last: Ending,
}

/// Bytes and the bits of them that count.
#[derive(Clone, Copy)]
struct Ending {
    bytes: u64,
    mask: u64,
}

impl Scalar {
    /// The scalar that begins with `first`.
    #[inline(always)]
    pub(super) fn of(first: u8) -> &'static Self {
        &SCALARS[usize::from(first)]
    }

    /// Is it good, and another member behind it, given the bytes up to that member's quote?
    #[inline(always)]
    pub(super) fn has_more(&self, ending: &[u8; 8]) -> bool {
        self.more.fits(ending)
    }

    /// Is it good, and its object's last, given the bytes up to the brace?
    #[inline(always)]
    pub(super) fn is_last(&self, ending: &[u8; 8]) -> bool {
        self.last.fits(ending)
    }
}

/// Does a piece hold what lies between its beginning and the next entry, `whole` bytes on, and that entry's first byte?
#[inline(always)]
pub(super) fn is_short(whole: usize) -> bool {
    // None has less than two; to say so spares checks.
    whole.wrapping_sub(2) < PIECE - 2
}

/// What masks cannot tell of a number, or of anything for which one is taken: a colon for its last digit, and a minus
/// without a digit. `value` is where it begins and `last` its last byte, if it is good.
#[inline(always)]
pub(super) fn is_odd(piece: &[u8; PIECE], value: usize, last: u8) -> bool {
    last == b':' || piece[value] == b'-' && !piece[value + 1].is_ascii_digit()
}

impl Ending {
    /// Never fits: 0xFF is in no UTF-8, and the scanner has refused whatever is not.
    const NEVER: Self = Self { bytes: u64::MAX, mask: u64::MAX };

    /// Of the last bytes all count, and of the first of them what `mask` says.
    const fn of(last: &[u8], mask: u8) -> Self {
        let (mut bytes, mut bits) = (0, 0);
        let mut at = 0;
        while at < last.len() {
            bytes = bytes >> 8 | (last[at] as u64) << 56;
            bits = bits >> 8 | (if at == 0 { mask } else { 0xFF } as u64) << 56;
            at += 1;
        }
        Self { bytes, mask: bits }
    }

    #[inline(always)]
    fn fits(self, ending: &[u8; 8]) -> bool {
        (u64::from_le_bytes(*ending) ^ self.bytes) & self.mask == 0
    }
}

/// A string must end in a quote and a number in a digit, or else the byte is a separator too many. A mask can tell `,` from
/// digits, but not `:`, which is for [`is_odd`]; nor `;` to `?`, which the scanner has refused behind a digit, as it has
/// checked all that is inside strings and numbers. A literal must be itself, with a colon in front.
static SCALARS: [Scalar; 256] = {
    let mut scalars = [Scalar { more: Ending::NEVER, last: Ending::NEVER }; 256];
    scalars[b'"' as usize] = Scalar { more: Ending::of(b"\",\"", 0xFF), last: Ending::of(b"\"}", 0xFF) };
    scalars[b't' as usize] = Scalar { more: Ending::of(b":true,\"", 0xFF), last: Ending::of(b":true}", 0xFF) };
    scalars[b'f' as usize] = Scalar { more: Ending::of(b":false,\"", 0xFF), last: Ending::of(b":false}", 0xFF) };
    scalars[b'n' as usize] = Scalar { more: Ending::of(b":null,\"", 0xFF), last: Ending::of(b":null}", 0xFF) };
    let number = Scalar { more: Ending::of(b"0,\"", 0xF0), last: Ending::of(b"0}", 0xF0) };
    scalars[b'-' as usize] = number;
    let mut digit = b'0';
    while digit <= b'9' {
        scalars[digit as usize] = number;
        digit += 1;
    }
    scalars
};
