//! AVX2 with BMI: two registers of 32 bytes a block. Found on x86-64 servers since about 2015.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::*;

use super::kernel::{BARE_STRING, Masks, SPAN, implement_kernel};
use crate::buffer::BLOCK;

/// Proof of AVX2, BMI1, BMI2, LZCNT, POPCNT and PCLMULQDQ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(crate) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("pclmulqdq"))
        .then_some(Self(()))
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
fn entered<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; SPAN]) -> __m256i {
    // SAFETY: the array has the 32 bytes that are read; an unaligned load has no other condition.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn bits(lanes: __m256i) -> u32 {
    _mm256_movemask_epi8(lanes) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
fn both(low: __m256i, high: __m256i) -> u64 {
    u64::from(bits(low)) | u64::from(bits(high)) << 32
}

/// Returns the lanes that are at most `most`.
#[inline]
#[target_feature(enable = "avx2")]
fn at_most(bytes: __m256i, most: u8) -> __m256i {
    _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(most as i8)), bytes)
}

/// By the low four bits of a byte: the whitespace character that ends in them, if there is one. A shuffle looks all bytes
/// up at once, and a byte is whitespace if it finds itself: 0x09 finds 0x09, `i` (0x69) finds 0x09 and differs. Bytes
/// above 0x7F find zero. (simdjson's tables work the same way.)
const WHITE: [u8; 16] = [0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0x09, 0x0A, 0, 0, 0x0D, 0, 0];
/// `:` `{` `,` `}`, looked up with 0x20 set, which turns `[` and `]` into `{` and `}`.
const STRUCTURAL: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3A, 0x7B, 0x2C, 0x7D, 0, 0];

#[inline]
#[target_feature(enable = "avx2")]
fn masks(block: &[u8; BLOCK]) -> Masks {
    let (halves, _) = block.as_chunks::<SPAN>();
    let (low, high) = (load(&halves[0]), load(&halves[1]));
    let equal = |byte: u8| {
        let byte = _mm256_set1_epi8(byte as i8);
        both(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
    };
    let white = _mm256_broadcastsi128_si256(table(&WHITE));
    let structural = _mm256_broadcastsi128_si256(table(&STRUCTURAL));
    let is_white = |bytes| _mm256_cmpeq_epi8(bytes, _mm256_shuffle_epi8(white, bytes));
    let is_structural = |bytes| {
        let folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        _mm256_cmpeq_epi8(folded, _mm256_shuffle_epi8(structural, bytes))
    };
    // 0x0C and 0x1A look like `,` and `:` once 0x20 is set, which `Masks` allows.
    let structural = both(is_structural(low), is_structural(high));
    let white = both(is_white(low), is_white(high));
    // Brackets have bit 6, separators do not; shifted left it becomes the bit that movemask takes.
    let bit_6 = both(_mm256_slli_epi16(low, 1), _mm256_slli_epi16(high, 1));
    Masks {
        quote: equal(b'"'),
        backslash: equal(b'\\'),
        white,
        bracket: structural & bit_6,
        plain: !(structural | white),
        numeric: None,
    }
}

#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn prefix_xor(bits: u64) -> u64 {
    // A carry-less multiplication by all ones xors every bit with all that are lower.
    let product = _mm_clmulepi64_si128(_mm_set_epi64x(0, bits as i64), _mm_set1_epi8(-1), 0);
    _mm_cvtsi128_si64(product) as u64
}

/// The positions that are stored without a branch, whether there are so many or not.
const ALWAYS_STORED: usize = 6;

/// One branch for [`ALWAYS_STORED`] positions together predicts better than one for each. Few blocks have more, and those
/// take a call: inlined, it would leave no register for the state that goes from block to block.
#[inline]
#[target_feature(enable = "bmi1,popcnt")]
fn positions(bits: u64, base: u32, into: &mut [u32; BLOCK]) -> usize {
    let (first, others) = into.split_first_chunk_mut::<ALWAYS_STORED>().expect("a block has more");
    let rest = some_positions(bits, base, first);
    if rest != 0 {
        further_positions(rest, base, others);
    }
    bits.count_ones() as usize
}

#[cold]
#[inline(never)]
#[target_feature(enable = "bmi1")]
fn further_positions(mut bits: u64, base: u32, into: &mut [u32]) {
    for pair in into.as_chunks_mut::<2>().0 {
        if bits == 0 {
            return;
        }
        bits = some_positions(bits, base, pair);
    }
}

/// Stores `N` positions and returns the bits that are left. The stores are volatile, because the compiler would otherwise
/// gather them in a vector, which takes as many instructions and makes the scan a fifth slower.
#[inline]
#[target_feature(enable = "bmi1")]
fn some_positions<const N: usize>(mut bits: u64, base: u32, into: &mut [u32; N]) -> u64 {
    for slot in into {
        // SAFETY: the slot is a valid, exclusive borrow.
        unsafe { std::ptr::from_mut(slot).write_volatile(base.wrapping_add(bits.trailing_zeros())) };
        bits &= bits.wrapping_sub(1);
    }
    bits
}

/// For each mask of eight bytes, the shuffle that moves the chosen bytes together, of the first eight bytes of a register
/// and of the last eight: mask `0b0000_0101` has the shuffle `0, 2`. (simdjson's minifier has such a table.)
static TOGETHER: [[[u8; 8]; 256]; 2] = {
    let mut tables = [[[0; 8]; 256]; 2];
    let mut entry = 0;
    while entry < 512 {
        let (half, mask) = (entry / 256, entry % 256);
        let (mut from, mut to) = (0, 0);
        while from < 8 {
            if mask >> from & 1 == 1 {
                tables[half][mask][to] = (8 * half + from) as u8;
                to += 1;
            }
            from += 1;
        }
        entry += 1;
    }
    tables
};

/// Moves eight bytes at a time, by a shuffle. PDEP and PEXT need no table, but they compete with every population count
/// for one port of the processor.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn squeeze(block: &[u8; BLOCK], _: &[u8], kept: u64, bits: u64, into: &mut [u8; 2 * BLOCK]) -> (u64, usize) {
    // Computed apart from the loop, so that callers need not wait for it.
    let answer = (_pext_u64(bits, kept), kept.count_ones() as usize);
    if kept == u64::MAX {
        into[..BLOCK].copy_from_slice(block);
        return answer;
    }
    let mut to = into.as_mut_ptr();
    for (at, sixteen) in block.as_chunks::<16>().0.iter().enumerate() {
        let bytes = table(sixteen);
        let [low, high] = ((kept >> (16 * at)) as u16).to_le_bytes();
        // At most eight bytes are kept of each eight, so the last store begins at byte 56 of 128 at the latest.
        // SAFETY: so there is room; an entry has the eight bytes that are read; nothing needs to be aligned.
        unsafe {
            let shuffle = _mm_loadl_epi64(TOGETHER[0][usize::from(low)].as_ptr().cast());
            _mm_storel_epi64(to.cast(), _mm_shuffle_epi8(bytes, shuffle));
            to = to.add(low.count_ones() as usize);
            let shuffle = _mm_loadl_epi64(TOGETHER[1][usize::from(high)].as_ptr().cast());
            _mm_storel_epi64(to.cast(), _mm_shuffle_epi8(bytes, shuffle));
            to = to.add(high.count_ones() as usize);
        }
    }
    answer
}

/// Returns the mask that `class` makes of both halves of a block.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(block: &[u8; BLOCK], class: impl Fn(__m256i) -> __m256i) -> u64 {
    let (halves, _) = block.as_chunks::<SPAN>();
    both(class(load(&halves[0])), class(load(&halves[1])))
}

#[inline]
#[target_feature(enable = "avx2")]
fn find(block: &[u8; BLOCK], byte: u8) -> u64 {
    halves(block, |bytes| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn is_digit(bytes: __m256i) -> __m256i {
    at_most(_mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0' as i8)), 9)
}

#[inline]
#[target_feature(enable = "avx2")]
fn decimal(block: &[u8; BLOCK]) -> u64 {
    halves(block, |bytes| is_digit(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn hexadecimal(block: &[u8; BLOCK]) -> u64 {
    halves(block, |bytes| {
        let folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        let letter = at_most(_mm256_sub_epi8(folded, _mm256_set1_epi8(b'a' as i8)), 5);
        _mm256_or_si256(letter, is_digit(bytes))
    })
}

/// The escapable bytes in four groups by their high four bits: `"/` has bit 1, `\` bit 2, `bfn` bit 4, `rtu` bit 8. For each
/// value of the low four bits, this table has the groups with a byte that ends in them. A byte above 0x7F finds zero.
pub(super) const ESCAPABLE_LOW: [u8; 16] = [0, 0, 13, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1];
/// For each value of the high four bits, its group.
pub(super) const ESCAPABLE_HIGH: [u8; 16] = [0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0];

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn table(entries: &[u8; 16]) -> __m128i {
    // SAFETY: the array has the 16 bytes that are read; an unaligned load has no other condition.
    unsafe { _mm_loadu_si128(entries.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn escapable(block: &[u8; BLOCK], _: u64) -> u64 {
    !halves(block, |bytes| none_of(bytes, &ESCAPABLE_LOW, &ESCAPABLE_HIGH))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn digits(bytes: &[u8; SPAN]) -> u32 {
    bits(is_digit(load(bytes)))
}

/// The same for identifiers: digits have bit 1, `A` to `O` and `a` to `o` bit 2, `P` to `Z` and `_` bit 4, `p` to `z` bit 8.
const IDENTIFIER_LOW: [u8; 16] = [13, 15, 15, 15, 15, 15, 15, 15, 15, 15, 14, 2, 2, 2, 2, 6];
const IDENTIFIER_HIGH: [u8; 16] = [0, 0, 0, 1, 2, 4, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0];

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn identifier(bytes: &[u8; SPAN]) -> u32 {
    !bits(none_of(load(bytes), &IDENTIFIER_LOW, &IDENTIFIER_HIGH))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn bare_string(bytes: &[u8; SPAN]) -> u32 {
    !bits(none_of(load(bytes), &BARE_STRING.0, &BARE_STRING.1))
}

/// Returns the lanes whose low and high four bits have no group in common, by the two tables.
#[inline]
#[target_feature(enable = "avx2")]
fn none_of(bytes: __m256i, low: &[u8; 16], high: &[u8; 16]) -> __m256i {
    let low = _mm256_broadcastsi128_si256(table(low));
    let high = _mm256_broadcastsi128_si256(table(high));
    let upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
    let common = _mm256_and_si256(_mm256_shuffle_epi8(low, bytes), _mm256_shuffle_epi8(high, upper));
    _mm256_cmpeq_epi8(common, _mm256_setzero_si256())
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn quotes(bytes: &[u8; SPAN]) -> u32 {
    let bytes = load(bytes);
    let quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
    let backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\' as i8));
    bits(_mm256_or_si256(quote, backslash))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn equal(left: &[u8; SPAN], right: &[u8; SPAN]) -> u32 {
    bits(_mm256_cmpeq_epi8(load(left), load(right)))
}

/// The bits that any byte of a lane has had, and the least byte.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    all: __m256i,
    least: __m256i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn nothing_seen() -> Seen {
    Seen { all: _mm256_setzero_si256(), least: _mm256_set1_epi8(-1) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn see(seen: Seen, block: &[u8; BLOCK]) -> Seen {
    block.as_chunks::<SPAN>().0.iter().fold(seen, |Seen { all, least }, half| {
        let bytes = load(half);
        Seen { all: _mm256_or_si256(all, bytes), least: _mm256_min_epu8(least, bytes) }
    })
}

#[inline]
#[target_feature(enable = "avx2")]
fn is_ascii(seen: Seen) -> bool {
    bits(seen.all) == 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn has_control(seen: Seen) -> bool {
    bits(at_most(seen.least, 0x1F)) != 0
}

implement_kernel! { Avx2, Seen, SWEEPS_NUMBERS = true:
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
