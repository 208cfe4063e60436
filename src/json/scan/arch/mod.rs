//! What differs between instruction sets, one small file each: 64 bytes to masks, masks to positions, and a few
//! questions about 32 bytes. The algorithms above are written once, generic over [`Kernel`], and are safe code.
//!
//! A kernel is a value of size zero that only its `detect` makes: to have one is the proof that the processor has the
//! instructions, and that is all the safety argument there is.

#![allow(unsafe_code)] // The one place for it: grammar of the processor, not of JSON.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod swar;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Neon;
pub(crate) use swar::Swar;

use crate::buffer::BLOCK;

/// One bit for each byte of a block, the first byte lowest. A control character that is no whitespace may be taken for a
/// separator: it is wrong anywhere, and noticed by [`Kernel::see`].
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
    /// All but those two and `, :`.
    pub(crate) plain: u64,
    /// What numbers are made of, from a kernel that finds it on the way; others are asked where there are any.
    pub(crate) numeric: Option<Numeric>,
}

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

/// How many bytes the walk looks at when it looks at many.
pub(crate) const SPAN: usize = 32;

/// What an instruction set is asked.
pub(crate) trait Kernel: Copy {
    /// What has been seen of some blocks: enough to tell what is asked of all of them together.
    type Seen: Copy;

    /// Is a list of numbers looked through sooner a block at a time than one by one? With AVX2 and AVX-512 it is; the portable
    /// kernel takes 1.4 times as long, and NEON has not been measured.
    const SWEEPS: bool = false;

    /// Does `work` with this instruction set allowed to the compiler: whatever `work` inlines is compiled for it.
    fn enter<R>(self, work: impl FnOnce() -> R) -> R;

    fn masks(self, block: &[u8; BLOCK]) -> Masks;

    /// Bit n of the result is the xor of bits 0 to n.
    fn prefix_xor(self, bits: u64) -> u64;

    /// Writes `base` plus the position of every set bit, lowest first. What it writes behind them means nothing.
    /// Returns how many there are.
    fn positions(self, bits: u64, base: u32, into: &mut [u32; BLOCK]) -> usize;

    /// Writes the bytes of `block` whose bit is set in `kept`, in order. What it writes behind them means nothing. `text`
    /// begins with the block, for who would rather read past its end than stop there.
    /// Returns the bits of `bits` where `kept` has one, moved together like the bytes, and how many bytes there are.
    fn squeeze(
        self,
        block: &[u8; BLOCK],
        text: &[u8],
        kept: u64,
        bits: u64,
        into: &mut [u8; 2 * BLOCK],
    ) -> (u64, usize);

    fn nothing_seen(self) -> Self::Seen;

    /// What has been seen, and one more block.
    fn see(self, seen: Self::Seen, block: &[u8; BLOCK]) -> Self::Seen;

    /// Can it leave bytes of a block out of account at no cost? Else [`see_kept`](Self::see_kept) sees nothing, and whoever wants
    /// to know looks at what has been kept.
    const SEES_KEPT: bool = false;

    /// What has been seen, and of one more block the bytes whose bit is set in `kept`.
    #[inline(always)]
    fn see_kept(self, seen: Self::Seen, _block: &[u8; BLOCK], _kept: u64) -> Self::Seen {
        seen
    }

    fn is_ascii(self, seen: Self::Seen) -> bool;

    /// Was there a byte below 0x20?
    fn has_control(self, seen: Self::Seen) -> bool;

    /// Which bytes of a block are this one?
    fn find(self, block: &[u8; BLOCK], byte: u8) -> u64;

    /// Which bytes of a block are decimal digits?
    fn decimal(self, block: &[u8; BLOCK]) -> u64;

    /// Which bytes of a block are hexadecimal digits?
    fn hexadecimal(self, block: &[u8; BLOCK]) -> u64;

    /// Which bytes of a block may stand behind a backslash? Only what it answers about `escaped` bytes counts.
    fn escapable(self, block: &[u8; BLOCK], escaped: u64) -> u64;

    /// Which bytes are decimal digits?
    fn digits(self, bytes: &[u8; SPAN]) -> u32;

    /// Which bytes are ASCII letters, digits or `_`?
    fn identifier(self, bytes: &[u8; SPAN]) -> u32;

    /// Which bytes are `"` or `\`?
    fn quotes(self, bytes: &[u8; SPAN]) -> u32;

    /// Which bytes of a block are `"` or `\`?
    #[inline(always)]
    fn quotes_of_block(self, block: &[u8; BLOCK]) -> u64 {
        self.find(block, b'"') | self.find(block, b'\\')
    }

    /// Which bytes are the same on both sides?
    fn equal(self, left: &[u8; SPAN], right: &[u8; SPAN]) -> u32;

    /// How many bytes there are before the first that is no ASCII letter, digit or `_`.
    #[inline(always)]
    fn identifier_len(self, bytes: &[u8; SPAN]) -> usize {
        self.identifier(bytes).trailing_ones() as usize
    }

    /// The same of a block.
    #[inline(always)]
    fn identifier_len_of_block(self, block: &[u8; BLOCK]) -> usize {
        let length = self.identifier_len(block.first_chunk().expect("a block is longer"));
        if length < SPAN {
            return length;
        }
        SPAN + self.identifier_len(block.last_chunk().expect("a block is longer"))
    }

    /// How many bytes there are before the first `"` or `\`.
    #[inline(always)]
    fn plain_len(self, bytes: &[u8; SPAN]) -> usize {
        self.quotes(bytes).trailing_zeros() as usize
    }

    /// How many bytes there are before the first that differs.
    #[inline(always)]
    fn equal_len(self, left: &[u8; SPAN], right: &[u8; SPAN]) -> usize {
        self.equal(left, right).trailing_ones() as usize
    }
}

/// Makes a kernel of functions that ask for its features. To have the kernel is to have the features, so the one
/// unsafe block of a method has one reason.
#[allow(unused_macros, reason = "an architecture without a kernel of its own has no use for it")]
macro_rules! kernel {
    ($kernel:ident, $seen:ty $(, $name:ident = $constant:literal)*: $($method:ident($($given:ident: $type:ty),*) -> $out:ty = $function:path;)*) => {
        impl $crate::json::scan::arch::Kernel for $kernel {
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
use kernel;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::scan::{Choice, with_kernel};

    /// One under Miri, which runs some thousand times slower: a few cases do there.
    const SLOW: usize = cfg!(miri) as usize;

    /// What every kernel must answer, one byte at a time.
    fn plainly(block: &[u8; BLOCK]) -> Masks {
        let mask = |class: fn(u8) -> bool| (0..BLOCK).fold(0, |bits, at| bits | u64::from(class(block[at])) << at);
        Masks {
            quote: mask(|byte| byte == b'"'),
            backslash: mask(|byte| byte == b'\\'),
            white: mask(|byte| b" \t\n\r".contains(&byte)),
            bracket: mask(|byte| b"{}[]".contains(&byte)),
            plain: mask(|byte| !b" \t\n\r{}[],:".contains(&byte)),
            numeric: Some(Numeric {
                digit: mask(|byte| byte.is_ascii_digit()),
                zero: mask(|byte| byte == b'0'),
                minus: mask(|byte| byte == b'-'),
                point: mask(|byte| byte == b'.'),
            }),
        }
    }

    #[test]
    fn every_byte_in_every_place_beside_every_neighbour() {
        for choice in Choice::available() {
            for byte in (0..=255).step_by(51 * SLOW + 1) {
                for neighbour in [0, b' ', b'"', 0x7F, 0x80, 0xFF, byte ^ 1] {
                    for at in (0..BLOCK).step_by(12 * SLOW + 1) {
                        let mut block = [neighbour; BLOCK];
                        block[at] = byte;
                        let mut masks = with_kernel!(choice, kernel => kernel.enter(|| kernel.masks(&block)));
                        let mut expected = plainly(&block);
                        // Nobody promises anything about those.
                        let control = (0..BLOCK).filter(|&at| block[at] < 0x20 && !b"\t\n\r".contains(&block[at]));
                        let control = control.fold(0, |bits, at| bits | 1 << at);
                        (masks.plain, expected.plain) = (masks.plain | control, expected.plain | control);
                        masks.numeric = masks.numeric.or(expected.numeric);
                        assert_eq!(masks, expected, "{choice:?}: {byte:#x} at {at} in {neighbour:#x}");
                    }
                }
            }
        }
    }

    fn sees_kept<K: Kernel>(_: K) -> bool {
        K::SEES_KEPT
    }

    #[test]
    fn one_byte_that_is_control_or_not_ascii_is_seen() {
        for choice in Choice::available() {
            for byte in [0, b'\n', 0x1F, b' ', 0x7F, 0x80, 0xC3, 0xFF] {
                for at in (0..2 * BLOCK).step_by(25 * SLOW + 1) {
                    let mut blocks = [[b'a'; BLOCK]; 3];
                    blocks[at / BLOCK][at % BLOCK] = byte;
                    let (ascii, control) = with_kernel!(choice, kernel => kernel.enter(|| {
                        let seen = blocks.iter().fold(kernel.nothing_seen(), |seen, block| kernel.see(seen, block));
                        (kernel.is_ascii(seen), kernel.has_control(seen))
                    }));
                    assert_eq!(ascii, byte.is_ascii(), "{choice:?}: {byte:#x} at {at}");
                    assert_eq!(control, byte < 0x20, "{choice:?}: {byte:#x} at {at}");
                    let kept = with_kernel!(choice, kernel => kernel.enter(|| {
                        let see = |kept| {
                            let seen = kernel.see_kept(kernel.nothing_seen(), &blocks[at / BLOCK], kept);
                            (kernel.is_ascii(seen), kernel.has_control(seen))
                        };
                        [see(!(1 << (at % BLOCK))), if sees_kept(kernel) { see(1 << (at % BLOCK)) } else { (ascii, control) }]
                    }));
                    assert_eq!(kept, [(true, false), (ascii, control)], "{choice:?}: {byte:#x} at {at}");
                }
            }
        }
    }

    #[test]
    fn classes_of_every_byte_in_every_place() {
        type Class = fn(u8) -> bool;
        let classes: [(&str, Class); 4] = [
            ("find", |byte| byte == b'+'),
            ("decimal", |byte| byte.is_ascii_digit()),
            ("hexadecimal", |byte| byte.is_ascii_hexdigit()),
            ("escapable", |byte| b"\"\\/bfnrtu".contains(&byte)),
        ];
        for choice in Choice::available() {
            for first in (0..=255_u8).step_by(16 * SLOW + 1) {
                for step in [1, 3, 64, 67] {
                    let block: [u8; BLOCK] = std::array::from_fn(|at| first.wrapping_add((at * step) as u8));
                    let answers = with_kernel!(choice, kernel => kernel.enter(|| [
                        kernel.find(&block, b'+'),
                        kernel.decimal(&block),
                        kernel.hexadecimal(&block),
                        kernel.escapable(&block, u64::MAX),
                    ]));
                    for ((name, class), answer) in classes.iter().zip(answers) {
                        let expected = (0..BLOCK).fold(0, |bits, at| bits | u64::from(class(block[at])) << at);
                        assert_eq!(answer, expected, "{choice:?} {name} {first} {step}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_identifier_ends_at_every_place_and_every_byte() {
        for choice in Choice::available() {
            let length = |block: &[u8; BLOCK]| with_kernel!(choice, kernel => kernel.enter(|| kernel.identifier_len_of_block(block)));
            for at in (0..=BLOCK).step_by(12 * SLOW + 1) {
                for byte in (0..=255_u8).step_by(16 * SLOW + 1) {
                    let mut block: [u8; BLOCK] = std::array::from_fn(|at| b"aZ_09zA5"[at % 8]);
                    let expected = match block.get_mut(at) {
                        Some(slot) if !crate::format::continues_bare(byte) => {
                            *slot = byte;
                            at
                        }
                        _ => BLOCK,
                    };
                    assert_eq!(length(&block), expected, "{choice:?}: {byte:#x} at {at}");
                }
            }
        }
    }

    /// Masks of every density.
    fn masks() -> impl Iterator<Item = u64> {
        let mut state = 1_u64;
        (0..2000 >> (6 * SLOW)).map(move |round| {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state ^ state >> 29
            };
            match round {
                0 => 0,
                1 => u64::MAX,
                _ if round % 3 == 0 => next() & next() & next(),
                _ if round % 3 == 1 => next() | next() | next(),
                _ => next(),
            }
        })
    }

    #[test]
    fn positions_and_squeezing() {
        let block: [u8; BLOCK] = std::array::from_fn(|at| at as u8 + 100);
        for choice in Choice::available() {
            let mut before = 0;
            for bits in masks() {
                let expected: Vec<u32> = (0..64).filter(|at| bits >> at & 1 == 1).collect();
                let (mut positions, mut squeezed) = ([0; BLOCK], [0; 2 * BLOCK]);
                let (xor, found, (moved, len)) = with_kernel!(choice, kernel => kernel.enter(|| {
                    let found = kernel.positions(bits, 1000, &mut positions);
                    (kernel.prefix_xor(bits), found, kernel.squeeze(&block, &block, bits, before, &mut squeezed))
                }));
                let count = expected.len();
                assert_eq!((found, len), (count, count), "{choice:?}");
                assert!(
                    positions[..count].iter().zip(&expected).all(|(have, want)| *have == want + 1000),
                    "{choice:?}"
                );
                assert!(squeezed[..count].iter().zip(&expected).all(|(have, want)| *have == *want as u8 + 100));
                let parity = (0..64).fold(0, |sum, at| sum | u64::from((bits << (63 - at)).count_ones() & 1) << at);
                assert_eq!(xor, parity, "{choice:?}");
                let together = expected.iter().enumerate().fold(0, |sum, (to, from)| sum | (before >> from & 1) << to);
                assert_eq!(moved, together, "{choice:?}");
                before = bits;
            }
        }
    }

    #[test]
    fn questions_about_32_bytes() {
        let class = |bytes: &[u8; SPAN], is: fn(u8) -> bool| {
            (0..SPAN).fold(0, |bits, at| bits | u32::from(is(bytes[at])) << at)
        };
        for choice in Choice::available() {
            for first in (0..=255_u8).step_by(16 * SLOW + 1) {
                let bytes: [u8; SPAN] = std::array::from_fn(|at| first.wrapping_add((at * at) as u8));
                let mut other = bytes;
                other[usize::from(first) % SPAN] ^= 1 << (first % 8);
                let (digits, identifier, quotes, equal) = with_kernel!(choice, kernel => kernel.enter(|| {
                    (kernel.digits(&bytes), kernel.identifier(&bytes), kernel.quotes(&bytes), kernel.equal(&bytes, &other))
                }));
                let lengths = with_kernel!(choice, kernel => kernel.enter(|| {
                    [kernel.identifier_len(&bytes), kernel.plain_len(&bytes), kernel.equal_len(&bytes, &other)]
                }));
                let expected = [identifier.trailing_ones(), quotes.trailing_zeros(), equal.trailing_ones()];
                assert_eq!(lengths, expected.map(|length| length as usize), "{choice:?}");
                let same = [b'a' + first % 26; SPAN];
                let whole = with_kernel!(choice, kernel => kernel.enter(|| {
                    [kernel.identifier_len(&same), kernel.plain_len(&same), kernel.equal_len(&same, &same)]
                }));
                assert_eq!(whole, [SPAN; 3], "{choice:?}");
                assert_eq!(digits, class(&bytes, |byte| byte.is_ascii_digit()), "{choice:?}");
                assert_eq!(identifier, class(&bytes, crate::format::continues_bare), "{choice:?}");
                assert_eq!(quotes, class(&bytes, |byte| byte == b'"' || byte == b'\\'), "{choice:?}");
                assert_eq!(equal, !(1 << (first % 32)), "{choice:?}");
            }
        }
    }
}
