//! WebAssembly's vectors: four registers of 16 bytes a block. For modules that are built with the feature `simd128`; in V8 they encode
//! 1.3 to 1.4 times as fast as with the portable kernel.

use std::arch::wasm32::*;

use super::kernel::{BARE_STRING, Kernel, Masks, SPAN};
use super::swar::Swar;
use crate::buffer::BLOCK;

/// The kernel of modules with `simd128`. There is nothing to detect: a runtime without the instructions rejects the whole module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd128;

#[inline(always)]
fn load(bytes: &[u8; 16]) -> v128 {
    // SAFETY: the array has the 16 bytes that are read.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

/// Returns the mask that `class` makes of all quarters of a block.
#[inline(always)]
fn quarters(block: &[u8; BLOCK], class: impl Fn(v128) -> v128) -> u64 {
    let [a, b, c, d] = loaded(block).map(|lane| u64::from(u8x16_bitmask(class(lane))));
    a | b << 16 | c << 32 | d << 48
}

#[inline(always)]
fn loaded(block: &[u8; BLOCK]) -> [v128; 4] {
    let (quarters, _) = block.as_chunks::<16>();
    std::array::from_fn(|at| load(&quarters[at]))
}

/// Returns the mask that `class` makes of both halves of a span.
#[inline(always)]
fn halves(bytes: &[u8; SPAN], class: impl Fn(v128) -> v128) -> u32 {
    let (halves, _) = bytes.as_chunks::<16>();
    u32::from(u8x16_bitmask(class(load(&halves[0])))) | u32::from(u8x16_bitmask(class(load(&halves[1])))) << 16
}

#[inline(always)]
fn is(lane: v128, byte: u8) -> v128 {
    u8x16_eq(lane, u8x16_splat(byte))
}

#[inline(always)]
fn within(lane: v128, low: u8, high: u8) -> v128 {
    u8x16_le(u8x16_sub(lane, u8x16_splat(low)), u8x16_splat(high - low))
}

#[inline(always)]
fn is_digit(lane: v128) -> v128 {
    within(lane, b'0', b'9')
}

/// Sets 0x20: letters become lower case, `[` becomes `{` and `]` becomes `}`.
#[inline(always)]
fn folded(lane: v128) -> v128 {
    v128_or(lane, u8x16_splat(0x20))
}

#[inline(always)]
fn in_identifier(lane: v128) -> v128 {
    v128_or(v128_or(within(folded(lane), b'a', b'z'), is_digit(lane)), is(lane, b'_'))
}

#[inline(always)]
fn in_bare_string(lane: v128) -> v128 {
    let (low, high) = (load(&BARE_STRING.0), load(&BARE_STRING.1));
    let lower = u8x16_swizzle(low, v128_and(lane, u8x16_splat(0x0F)));
    let shared = v128_and(lower, u8x16_swizzle(high, u8x16_shr(lane, 4)));
    u8x16_ne(shared, u8x16_splat(0))
}

#[inline(always)]
fn is_quote(lane: v128) -> v128 {
    v128_or(is(lane, b'"'), is(lane, b'\\'))
}

/// The bits that any byte of a lane has had, and the least byte.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    all: v128,
    least: v128,
}

impl Kernel for Simd128 {
    type Seen = Seen;

    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    #[inline(always)]
    fn nothing_seen(self) -> Seen {
        Seen { all: u8x16_splat(0), least: u8x16_splat(0xFF) }
    }

    #[inline(always)]
    fn see(self, seen: Seen, block: &[u8; BLOCK]) -> Seen {
        loaded(block)
            .into_iter()
            .fold(seen, |Seen { all, least }, bytes| Seen { all: v128_or(all, bytes), least: u8x16_min(least, bytes) })
    }

    #[inline(always)]
    fn is_ascii(self, seen: Seen) -> bool {
        u8x16_bitmask(seen.all) == 0
    }

    #[inline(always)]
    fn has_control(self, seen: Seen) -> bool {
        v128_any_true(u8x16_lt(seen.least, u8x16_splat(0x20)))
    }

    #[inline(always)]
    fn masks(self, block: &[u8; BLOCK]) -> Masks {
        let white = quarters(block, |lane| {
            let line = v128_or(is(lane, b'\n'), is(lane, b'\r'));
            v128_or(v128_or(is(lane, b' '), is(lane, b'\t')), line)
        });
        let bracket = quarters(block, |lane| {
            let lane = folded(lane);
            v128_or(is(lane, b'{'), is(lane, b'}'))
        });
        let separator = quarters(block, |lane| v128_or(is(lane, b','), is(lane, b':')));
        Masks {
            quote: self.find(block, b'"'),
            backslash: self.find(block, b'\\'),
            white,
            bracket,
            plain: !(white | bracket | separator),
            numeric: None,
        }
    }

    #[inline(always)]
    fn prefix_xor(self, bits: u64) -> u64 {
        Swar.prefix_xor(bits)
    }

    #[inline(always)]
    fn positions(self, bits: u64, base: u32, into: &mut [u32; BLOCK]) -> usize {
        Swar.positions(bits, base, into)
    }

    #[inline(always)]
    fn squeeze(
        self,
        block: &[u8; BLOCK],
        text: &[u8],
        kept: u64,
        bits: u64,
        into: &mut [u8; 2 * BLOCK],
    ) -> (u64, usize) {
        Swar.squeeze(block, text, kept, bits, into)
    }

    #[inline(always)]
    fn find(self, block: &[u8; BLOCK], byte: u8) -> u64 {
        quarters(block, |lane| is(lane, byte))
    }

    #[inline(always)]
    fn decimal(self, block: &[u8; BLOCK]) -> u64 {
        quarters(block, is_digit)
    }

    #[inline(always)]
    fn hexadecimal(self, block: &[u8; BLOCK]) -> u64 {
        quarters(block, |lane| v128_or(is_digit(lane), within(folded(lane), b'a', b'f')))
    }

    #[inline(always)]
    fn escapable(self, block: &[u8; BLOCK], escaped: u64) -> u64 {
        Swar.escapable(block, escaped)
    }

    #[inline(always)]
    fn digits(self, bytes: &[u8; SPAN]) -> u32 {
        halves(bytes, is_digit)
    }

    #[inline(always)]
    fn identifier(self, bytes: &[u8; SPAN]) -> u32 {
        halves(bytes, in_identifier)
    }

    #[inline(always)]
    fn bare_string(self, bytes: &[u8; SPAN]) -> u32 {
        halves(bytes, in_bare_string)
    }

    #[inline(always)]
    fn quotes(self, bytes: &[u8; SPAN]) -> u32 {
        halves(bytes, is_quote)
    }

    #[inline(always)]
    fn quotes_of_block(self, block: &[u8; BLOCK]) -> u64 {
        quarters(block, is_quote)
    }

    #[inline(always)]
    fn equal(self, left: &[u8; SPAN], right: &[u8; SPAN]) -> u32 {
        let ([a, b], [c, d]) = (left.as_chunks::<16>().0, right.as_chunks::<16>().0) else {
            unreachable!("two halves")
        };
        let same = |left: &[u8; 16], right: &[u8; 16]| u32::from(u8x16_bitmask(u8x16_eq(load(left), load(right))));
        same(a, c) | same(b, d) << 16
    }
}
