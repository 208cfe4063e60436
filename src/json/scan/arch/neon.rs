//! NEON: four registers of 16 bytes a block. Every 64-bit Arm has it.

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use super::kernel::{BARE_STRING, Kernel as _, Masks, SPAN, implement_kernel};
use super::swar::Swar;
use crate::buffer::BLOCK;

/// Proof of NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    pub(crate) fn detect() -> Option<Self> {
        is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

#[target_feature(enable = "neon")]
fn entered<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the array has the 16 bytes that are read.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Gathers one bit a lane: each lane keeps the bit of its place, and three rounds of adding neighbours bring eight together.
#[inline]
#[target_feature(enable = "neon")]
fn bits(lanes: [uint8x16_t; 4]) -> u64 {
    let places = load(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
    let [a, b, c, d] = lanes.map(|lane| vandq_u8(lane, places));
    let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

#[inline]
#[target_feature(enable = "neon")]
fn masks(block: &[u8; BLOCK]) -> Masks {
    let (quarters, _) = block.as_chunks::<16>();
    let bytes: [uint8x16_t; 4] = std::array::from_fn(|at| load(&quarters[at]));
    let equal = |byte: u8| bits(bytes.map(|lane| vceqq_u8(lane, vdupq_n_u8(byte))));
    // `[` and `{`, `]` and `}` differ in this bit alone.
    let folded = bytes.map(|lane| vorrq_u8(lane, vdupq_n_u8(0x20)));
    let folded_equal = |byte: u8| bits(folded.map(|lane| vceqq_u8(lane, vdupq_n_u8(byte))));
    let white = equal(b' ') | equal(b'\n') | equal(b'\t') | equal(b'\r');
    let bracket = folded_equal(b'{') | folded_equal(b'}');
    Masks {
        quote: equal(b'"'),
        backslash: equal(b'\\'),
        white,
        bracket,
        plain: !(white | bracket | equal(b',') | equal(b':')),
        numeric: None,
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn prefix_xor(bits: u64) -> u64 {
    // PMULL would need another feature and saves little compared with the masks.
    Swar.prefix_xor(bits)
}

#[inline]
#[target_feature(enable = "neon")]
fn positions(bits: u64, base: u32, into: &mut [u32; BLOCK]) -> usize {
    Swar.positions(bits, base, into)
}

#[inline]
#[target_feature(enable = "neon")]
fn squeeze(block: &[u8; BLOCK], text: &[u8], kept: u64, bits: u64, into: &mut [u8; 2 * BLOCK]) -> (u64, usize) {
    Swar.squeeze(block, text, kept, bits, into)
}

#[inline]
#[target_feature(enable = "neon")]
fn halves(bytes: &[u8; SPAN]) -> [uint8x16_t; 2] {
    let (halves, _) = bytes.as_chunks::<16>();
    [load(&halves[0]), load(&halves[1])]
}

#[inline]
#[target_feature(enable = "neon")]
fn span_bits([low, high]: [uint8x16_t; 2]) -> u32 {
    bits([low, high, vdupq_n_u8(0), vdupq_n_u8(0)]) as u32
}

#[inline]
#[target_feature(enable = "neon")]
fn is_digit(lane: uint8x16_t) -> uint8x16_t {
    vcleq_u8(vsubq_u8(lane, vdupq_n_u8(b'0')), vdupq_n_u8(9))
}

/// Returns the mask that `class` makes of all quarters of a block.
#[inline]
#[target_feature(enable = "neon")]
fn quarters(block: &[u8; BLOCK], class: impl Fn(uint8x16_t) -> uint8x16_t) -> u64 {
    let (quarters, _) = block.as_chunks::<16>();
    bits(std::array::from_fn(|at| class(load(&quarters[at]))))
}

#[inline]
#[target_feature(enable = "neon")]
fn find(block: &[u8; BLOCK], byte: u8) -> u64 {
    quarters(block, |lane| vceqq_u8(lane, vdupq_n_u8(byte)))
}

#[inline]
#[target_feature(enable = "neon")]
fn decimal(block: &[u8; BLOCK]) -> u64 {
    quarters(block, |lane| is_digit(lane))
}

#[inline]
#[target_feature(enable = "neon")]
fn hexadecimal(block: &[u8; BLOCK]) -> u64 {
    quarters(block, |lane| {
        let folded = vorrq_u8(lane, vdupq_n_u8(0x20));
        vorrq_u8(is_digit(lane), vcleq_u8(vsubq_u8(folded, vdupq_n_u8(b'a')), vdupq_n_u8(5)))
    })
}

#[inline]
#[target_feature(enable = "neon")]
fn escapable(block: &[u8; BLOCK], _: u64) -> u64 {
    let set = load(b"\"\\/bfnrtu\"\"\"\"\"\"\"");
    quarters(block, |lane| {
        let equal = |byte| vceqq_u8(lane, byte);
        let near = vorrq_u8(equal(vdupq_laneq_u8::<0>(set)), equal(vdupq_laneq_u8::<1>(set)));
        let near = vorrq_u8(near, vorrq_u8(equal(vdupq_laneq_u8::<2>(set)), equal(vdupq_laneq_u8::<3>(set))));
        let far = vorrq_u8(equal(vdupq_laneq_u8::<4>(set)), equal(vdupq_laneq_u8::<5>(set)));
        let far = vorrq_u8(far, vorrq_u8(equal(vdupq_laneq_u8::<6>(set)), equal(vdupq_laneq_u8::<7>(set))));
        vorrq_u8(vorrq_u8(near, far), equal(vdupq_laneq_u8::<8>(set)))
    })
}

#[inline]
#[target_feature(enable = "neon")]
fn digits(bytes: &[u8; SPAN]) -> u32 {
    span_bits(halves(bytes).map(|lane| is_digit(lane)))
}

#[inline]
#[target_feature(enable = "neon")]
fn identifier(bytes: &[u8; SPAN]) -> u32 {
    span_bits(halves(bytes).map(|lane| {
        let folded = vorrq_u8(lane, vdupq_n_u8(0x20));
        let letter = vcleq_u8(vsubq_u8(folded, vdupq_n_u8(b'a')), vdupq_n_u8(25));
        vorrq_u8(vorrq_u8(letter, is_digit(lane)), vceqq_u8(lane, vdupq_n_u8(b'_')))
    }))
}

#[inline]
#[target_feature(enable = "neon")]
fn bare_string(bytes: &[u8; SPAN]) -> u32 {
    let (low, high) = (load(&BARE_STRING.0), load(&BARE_STRING.1));
    span_bits(halves(bytes).map(|lane| {
        let lower = vqtbl1q_u8(low, vandq_u8(lane, vdupq_n_u8(0x0F)));
        vtstq_u8(lower, vqtbl1q_u8(high, vshrq_n_u8::<4>(lane)))
    }))
}

#[inline]
#[target_feature(enable = "neon")]
fn quotes(bytes: &[u8; SPAN]) -> u32 {
    let is_either = |lane| vorrq_u8(vceqq_u8(lane, vdupq_n_u8(b'"')), vceqq_u8(lane, vdupq_n_u8(b'\\')));
    span_bits(halves(bytes).map(|lane| is_either(lane)))
}

#[inline]
#[target_feature(enable = "neon")]
fn equal(left: &[u8; SPAN], right: &[u8; SPAN]) -> u32 {
    let ([a, b], [c, d]) = (halves(left), halves(right));
    span_bits([vceqq_u8(a, c), vceqq_u8(b, d)])
}

/// The bits that any byte of a lane has had, and the least byte.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    all: uint8x16_t,
    least: uint8x16_t,
}

#[inline]
#[target_feature(enable = "neon")]
fn nothing_seen() -> Seen {
    Seen { all: vdupq_n_u8(0), least: vdupq_n_u8(0xFF) }
}

#[inline]
#[target_feature(enable = "neon")]
fn see(seen: Seen, block: &[u8; BLOCK]) -> Seen {
    block.as_chunks::<16>().0.iter().fold(seen, |Seen { all, least }, quarter| {
        let bytes = load(quarter);
        Seen { all: vorrq_u8(all, bytes), least: vminq_u8(least, bytes) }
    })
}

#[inline]
#[target_feature(enable = "neon")]
fn is_ascii(seen: Seen) -> bool {
    vmaxvq_u8(seen.all) < 0x80
}

#[inline]
#[target_feature(enable = "neon")]
fn has_control(seen: Seen) -> bool {
    vminvq_u8(seen.least) < 0x20
}

implement_kernel! { Neon, Seen:
    nothing_seen() -> Seen = nothing_seen;
    see(seen: Seen, block: &[u8; BLOCK]) -> Seen = see;
    is_ascii(seen: Seen) -> bool = is_ascii;
    has_control(seen: Seen) -> bool = has_control;
    masks(block: &[u8; BLOCK]) -> Masks = masks;
    prefix_xor(bits: u64) -> u64 = prefix_xor;
    positions(bits: u64, base: u32, into: &mut [u32; BLOCK]) -> usize = positions;
    squeeze(block: &[u8; BLOCK], text: &[u8], kept: u64, bits: u64, into: &mut [u8; 2 * BLOCK]) -> (u64, usize) = squeeze;
    find(block: &[u8; BLOCK], byte: u8) -> u64 = find;
    decimal(block: &[u8; BLOCK]) -> u64 = decimal;
    hexadecimal(block: &[u8; BLOCK]) -> u64 = hexadecimal;
    escapable(block: &[u8; BLOCK], escaped: u64) -> u64 = escapable;
    digits(bytes: &[u8; SPAN]) -> u32 = digits;
    identifier(bytes: &[u8; SPAN]) -> u32 = identifier;
    bare_string(bytes: &[u8; SPAN]) -> u32 = bare_string;
    quotes(bytes: &[u8; SPAN]) -> u32 = quotes;
    equal(left: &[u8; SPAN], right: &[u8; SPAN]) -> u32 = equal;
}
