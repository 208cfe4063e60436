//! AVX-512 with VBMI and VBMI2: one register a block. Comparisons return masks, one instruction looks up all of ASCII and
//! another moves chosen bytes together. Processors with AVX-512 but without those two (before 2019) are as fast with AVX2.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::*;

use super::avx2::{self, Avx2};
use super::kernel::{Masks, SPAN, implement_kernel};
use crate::buffer::BLOCK;

/// Proof of AVX-512 F, BW, VL, VBMI and VBMI2, and of all that [`Avx2`] proves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(crate) fn detect() -> Option<Self> {
        Avx2::detect()?;
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2"))
        .then_some(Self(()))
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn entered<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(block: &[u8; BLOCK]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read; an unaligned load has no other condition.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// Moves the chosen bytes together to the front, with zeros after them.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2")]
fn together(chosen: u64, block: &[u8; BLOCK]) -> __m512i {
    if cfg!(miri) {
        // Miri supports every instruction of this file except this one.
        let mut together = [0; BLOCK];
        for (slot, at) in together.iter_mut().zip((0..BLOCK).filter(|at| chosen >> at & 1 == 1)) {
            *slot = block[at];
        }
        return load(&together);
    }
    _mm512_maskz_compress_epi8(chosen, load(block))
}

const WHITE: u8 = 1;
const SEPARATOR: u8 = 2;
/// The top bit, from which a mask can be made without a comparison: comparisons compete for one port of the processor.
const BRACKET: u8 = 0x80;

/// By ASCII character: its class.
const CLASSES: [[u8; BLOCK]; 2] = {
    let mut classes = [[0; BLOCK]; 2];
    let mut byte = 0;
    while byte < 128 {
        classes[byte / BLOCK][byte % BLOCK] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' => WHITE,
            b',' | b':' => SEPARATOR,
            b'{' | b'}' | b'[' | b']' => BRACKET,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vbmi")]
fn masks(block: &[u8; BLOCK]) -> Masks {
    let bytes = load(block);
    let equal = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
    // The look-up ignores the top bit, so bytes above 0x80 become 0x80 and are looked up as zero, which has no class.
    let index = _mm512_min_epu8(bytes, _mm512_set1_epi8(0x80_u8 as i8));
    let classes = _mm512_permutex2var_epi8(load(&CLASSES[0]), index, load(&CLASSES[1]));
    Masks {
        quote: equal(b'"'),
        backslash: equal(b'\\'),
        white: _mm512_cmpeq_epi8_mask(classes, _mm512_set1_epi8(WHITE as i8)),
        bracket: _mm512_movepi8_mask(classes),
        plain: _mm512_testn_epi8_mask(classes, classes),
        numeric: None,
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn positions(bits: u64, base: u32, into: &mut [u32; BLOCK]) -> usize {
    #[rustfmt::skip]
    const NUMBERS: [u8; BLOCK] = {
        let mut numbers = [0; BLOCK];
        let mut at = 0;
        while at < BLOCK { numbers[at] = at as u8; at += 1; }
        numbers
    };
    let chosen = together(bits, &NUMBERS);
    let count = bits.count_ones();
    let widen = |sixteen: __m128i| _mm512_add_epi32(_mm512_cvtepu8_epi32(sixteen), _mm512_set1_epi32(base as i32));
    let (into, _) = into.as_chunks_mut::<16>();
    store(widen(_mm512_castsi512_si128(chosen)), &mut into[0]);
    if count > 16 {
        store(widen(_mm512_extracti32x4_epi32(chosen, 1)), &mut into[1]);
        if count > 32 {
            store(widen(_mm512_extracti32x4_epi32(chosen, 2)), &mut into[2]);
            store(widen(_mm512_extracti32x4_epi32(chosen, 3)), &mut into[3]);
        }
    }
    count as usize
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(numbers: __m512i, into: &mut [u32; 16]) {
    // SAFETY: the array has the 64 bytes that are written; an unaligned store has no other condition.
    unsafe { _mm512_storeu_si512(into.as_mut_ptr().cast(), numbers) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,bmi2,popcnt")]
fn squeeze(block: &[u8; BLOCK], _: &[u8], kept: u64, bits: u64, into: &mut [u8; 2 * BLOCK]) -> (u64, usize) {
    let together = together(kept, block);
    // SAFETY: the array has the 64 bytes that are written; an unaligned store has no other condition.
    unsafe { _mm512_storeu_si512(into.as_mut_ptr().cast(), together) }
    (_pext_u64(bits, kept), kept.count_ones() as usize)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn find(block: &[u8; BLOCK], byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(load(block), _mm512_set1_epi8(byte as i8))
}

/// Returns the lanes from `low` to `low + count - 1`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn within(bytes: __m512i, low: u8, count: u8) -> u64 {
    _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8(low as i8)), _mm512_set1_epi8(count as i8))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn decimal(block: &[u8; BLOCK]) -> u64 {
    within(load(block), b'0', 10)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn hexadecimal(block: &[u8; BLOCK]) -> u64 {
    let bytes = load(block);
    within(bytes, b'0', 10) | within(_mm512_or_si512(bytes, _mm512_set1_epi8(0x20)), b'a', 6)
}

#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw")]
fn escapable(block: &[u8; BLOCK], _: u64) -> u64 {
    let bytes = load(block);
    let low = _mm512_broadcast_i32x4(avx2::table(&avx2::ESCAPABLE_LOW));
    let high = _mm512_broadcast_i32x4(avx2::table(&avx2::ESCAPABLE_HIGH));
    let upper = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(0x0F));
    _mm512_test_epi8_mask(_mm512_shuffle_epi8(low, bytes), _mm512_shuffle_epi8(high, upper))
}

/// By ASCII character: the top bit unless it is a letter, a digit or `_`.
const FOREIGN: [[u8; BLOCK]; 2] = {
    let mut foreign = [[0; BLOCK]; 2];
    let mut byte = 0;
    while byte < 128 {
        if !crate::format::continues_bare(byte as u8) {
            foreign[byte / BLOCK][byte % BLOCK] = 0x80;
        }
        byte += 1;
    }
    foreign
};

#[inline]
#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vbmi")]
fn identifier_len_of_block(block: &[u8; BLOCK]) -> usize {
    let bytes = load(block);
    let foreign = _mm512_permutex2var_epi8(load(&FOREIGN[0]), bytes, load(&FOREIGN[1]));
    // A byte that is not ASCII has the top bit itself.
    _mm512_movepi8_mask(_mm512_or_si512(foreign, bytes)).trailing_zeros() as usize
}

/// The greatest and the least of each lane's bytes.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    most: __m512i,
    least: __m512i,
}

#[inline]
#[target_feature(enable = "avx512f")]
fn nothing_seen() -> Seen {
    Seen { most: _mm512_setzero_si512(), least: _mm512_set1_epi8(-1) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn see(Seen { most, least }: Seen, block: &[u8; BLOCK]) -> Seen {
    let bytes = load(block);
    Seen { most: _mm512_max_epu8(most, bytes), least: _mm512_min_epu8(least, bytes) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn see_kept(Seen { most, least }: Seen, block: &[u8; BLOCK], kept: u64) -> Seen {
    let bytes = load(block);
    Seen { most: _mm512_mask_max_epu8(most, kept, most, bytes), least: _mm512_mask_min_epu8(least, kept, least, bytes) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn is_ascii(seen: Seen) -> bool {
    _mm512_movepi8_mask(seen.most) == 0
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn has_control(seen: Seen) -> bool {
    _mm512_cmplt_epu8_mask(seen.least, _mm512_set1_epi8(0x20)) != 0
}

implement_kernel! { Avx512, Seen, SEES_KEPT = true, SWEEPS_NUMBERS = true:
    nothing_seen() -> Seen = nothing_seen;
    see(seen: Seen, block: &[u8; BLOCK]) -> Seen = see;
    see_kept(seen: Seen, block: &[u8; BLOCK], kept: u64) -> Seen = see_kept;
    is_ascii(seen: Seen) -> bool = is_ascii;
    has_control(seen: Seen) -> bool = has_control;
    masks(block: &[u8; BLOCK]) -> Masks = masks;
    prefix_xor(bits: u64) -> u64 = avx2::prefix_xor;
    positions(bits: u64, base: u32, into: &mut [u32; BLOCK]) -> usize = positions;
    squeeze(block: &[u8; BLOCK], text: &[u8], kept: u64, bits: u64, into: &mut [u8; 2 * BLOCK]) -> (u64, usize) = squeeze;
    find(block: &[u8; BLOCK], byte: u8) -> u64 = find;
    decimal(block: &[u8; BLOCK]) -> u64 = decimal;
    hexadecimal(block: &[u8; BLOCK]) -> u64 = hexadecimal;
    escapable(block: &[u8; BLOCK], escaped: u64) -> u64 = escapable;
    digits(bytes: &[u8; SPAN]) -> u32 = avx2::digits;
    identifier(bytes: &[u8; SPAN]) -> u32 = avx2::identifier;
    bare_string(bytes: &[u8; SPAN]) -> u32 = avx2::bare_string;
    identifier_len_of_block(block: &[u8; BLOCK]) -> usize = identifier_len_of_block;
    quotes(bytes: &[u8; SPAN]) -> u32 = avx2::quotes;
    equal(left: &[u8; SPAN], right: &[u8; SPAN]) -> u32 = avx2::equal;
}
