//! The portable kernel: eight bytes at a time in a `u64`. Fallback, oracle for the others, and what Miri runs.

use super::{Kernel, Masks, SPAN};
use crate::scan::BLOCK;

/// Needs nothing of the processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swar;

/// A byte in every lane.
const fn splat(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

const LOW_BITS: u64 = splat(0x7F);

/// The top bit of every lane that is zero. Exact: no carry leaves its lane.
const fn zero_lanes(word: u64) -> u64 {
    !(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS)
}

const fn equal_lanes(word: u64, byte: u8) -> u64 {
    zero_lanes(word ^ splat(byte))
}

/// The top bit of every lane from `low` to `high`, both below 0x80.
const fn lanes_within(word: u64, low: u8, high: u8) -> u64 {
    let bits = word & LOW_BITS;
    let at_least = bits + splat(0x80 - low);
    let above = bits + splat(0x7F - high);
    at_least & !above & !word & splat(0x80)
}

/// Gathers the top bits of the lanes into the low byte: the multiplication moves lane n's bit to bit 56 + n.
const fn gather(tops: u64) -> u64 {
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

const QUOTE: u32 = 0;
const BACKSLASH: u32 = 1;
const WHITE: u32 = 2;
const BRACKET: u32 = 3;
const SEPARATOR: u32 = 4;
const CONTROL: u32 = 5;
const HIGH: u32 = 6;

/// By byte: the lowest bit of the byte of each class that it is in. To look one up is cheaper than to compare with all
/// that matter, four instructions a byte where there were twelve.
static CLASSES: [u64; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let of = byte as u8;
        let is = [
            of == b'"',
            of == b'\\',
            matches!(of, b' ' | b'\t' | b'\n' | b'\r'),
            matches!(of, b'{' | b'}' | b'[' | b']'),
            matches!(of, b',' | b':'),
            of < 0x20,
            of >= 0x80,
        ];
        let mut class = 0;
        while class < is.len() {
            classes[byte] |= (is[class] as u64) << (8 * class);
            class += 1;
        }
        byte += 1;
    }
    classes
};

fn span_mask(bytes: &[u8; SPAN], lanes: impl Fn(u64) -> u64) -> u32 {
    let words = bytes.as_chunks::<8>().0.iter().enumerate();
    words.fold(0, |mask, (at, word)| mask | (gather(lanes(u64::from_le_bytes(*word))) as u32) << (8 * at))
}

/// The first lane whose top bit is set.
#[inline]
fn first_lane(bytes: &[u8; SPAN], lanes: impl Fn(u64) -> u64) -> usize {
    for (at, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let found = lanes(u64::from_le_bytes(*word));
        if found != 0 {
            return 8 * at + found.trailing_zeros() as usize / 8;
        }
    }
    SPAN
}

/// The top bit of every lane with an ASCII letter, digit or `_`.
const fn identifier_lanes(word: u64) -> u64 {
    // Folding the case of what is no letter may make it one: `@` to `` ` `` does not, `[` to `{` does not.
    lanes_within(word | splat(0x20), b'a', b'z') | lanes_within(word, b'0', b'9') | equal_lanes(word, b'_')
}

fn block_mask(block: &[u8; BLOCK], lanes: impl Fn(u64) -> u64) -> u64 {
    let words = block.as_chunks::<8>().0.iter().enumerate();
    words.fold(0, |mask, (at, word)| mask | gather(lanes(u64::from_le_bytes(*word))) << (8 * at))
}

impl Kernel for Swar {
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    #[inline]
    fn masks(self, block: &[u8; BLOCK]) -> Masks {
        // Eight bytes at a time, the mask of each class in a byte of its own.
        let groups: [u64; 8] = std::array::from_fn(|group| {
            let bytes = &block[8 * group..8 * group + 8];
            bytes.iter().enumerate().fold(0, |masks, (at, &byte)| masks | CLASSES[usize::from(byte)] << at)
        });
        let any = groups.iter().fold(0, |any, masks| any | masks);
        let all_of = |class: u32| {
            let one = |(group, masks): (usize, &u64)| (masks >> (8 * class) & 0xFF) << (8 * group);
            groups.iter().enumerate().map(one).fold(0, |mask, one| mask | one)
        };
        // What most blocks have none of is not gathered from each group.
        let some_of = |class: u32| if any >> (8 * class) & 0xFF == 0 { 0 } else { all_of(class) };
        Masks {
            quote: all_of(QUOTE),
            backslash: some_of(BACKSLASH),
            white: some_of(WHITE),
            bracket: all_of(BRACKET),
            separator: all_of(SEPARATOR),
            control: some_of(CONTROL),
            high: any >> (8 * HIGH) & 0xFF,
        }
    }

    #[inline]
    fn prefix_xor(self, mut bits: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            bits ^= bits << shift;
        }
        bits
    }

    #[inline]
    fn positions(self, mut bits: u64, base: u32, into: &mut [u32; BLOCK]) {
        for slot in into {
            if bits == 0 {
                return;
            }
            *slot = base + bits.trailing_zeros();
            bits &= bits - 1;
        }
    }

    /// Run by run: whitespace comes in runs, and so does what stands between. With room behind both, so that a run is
    /// copied sixteen bytes at a time, whatever its length: to call for each took a quarter longer.
    #[inline]
    fn squeeze(self, block: &[u8; BLOCK], mut kept: u64, into: &mut [u8; BLOCK]) {
        const STRIDE: usize = 16;
        if kept == u64::MAX {
            *into = *block;
            return;
        }
        let (mut from, mut to) = ([0; BLOCK + STRIDE], [0; BLOCK + STRIDE]);
        from[..BLOCK].copy_from_slice(block);
        let mut len = 0;
        while kept != 0 {
            let start = kept.trailing_zeros() as usize;
            let run = (kept >> start).trailing_ones() as usize;
            for at in (0..run).step_by(STRIDE) {
                let (Some(stride), Some(room)) =
                    (from[start + at..].first_chunk::<STRIDE>(), to[len + at..].first_chunk_mut())
                else {
                    break;
                };
                *room = *stride;
            }
            len += run;
            kept &= u64::MAX.checked_shl((start + run) as u32).unwrap_or(0);
        }
        into.copy_from_slice(&to[..BLOCK]);
    }

    #[inline]
    fn squeeze_bits(self, mut bits: u64, kept: u64) -> u64 {
        if kept == u64::MAX {
            return bits;
        }
        let mut moved = 0;
        bits &= kept;
        while bits != 0 {
            let lowest = bits & bits.wrapping_neg();
            moved |= 1 << (kept & (lowest - 1)).count_ones();
            bits ^= lowest;
        }
        moved
    }

    #[inline]
    fn find(self, block: &[u8; BLOCK], byte: u8) -> u64 {
        block_mask(block, |word| equal_lanes(word, byte))
    }

    #[inline]
    fn decimal(self, block: &[u8; BLOCK]) -> u64 {
        block_mask(block, |word| lanes_within(word, b'0', b'9'))
    }

    #[inline]
    fn hexadecimal(self, block: &[u8; BLOCK]) -> u64 {
        block_mask(block, |word| lanes_within(word, b'0', b'9') | lanes_within(word | splat(0x20), b'a', b'f'))
    }

    /// One by one: in words, with nine bytes to tell apart, a pull request's patches took an eighth longer.
    #[inline]
    fn escapable(self, block: &[u8; BLOCK], mut escaped: u64) -> u64 {
        let mut good = 0;
        while escaped != 0 {
            let at = escaped.trailing_zeros();
            let is = matches!(block[at as usize], b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u');
            good |= u64::from(is) << at;
            escaped &= escaped - 1;
        }
        good
    }

    #[inline]
    fn digits(self, bytes: &[u8; SPAN]) -> u32 {
        span_mask(bytes, |word| lanes_within(word, b'0', b'9'))
    }

    #[inline]
    fn identifier(self, bytes: &[u8; SPAN]) -> u32 {
        span_mask(bytes, identifier_lanes)
    }

    #[inline]
    fn quotes(self, bytes: &[u8; SPAN]) -> u32 {
        span_mask(bytes, |word| equal_lanes(word, b'"') | equal_lanes(word, b'\\'))
    }

    // Mostly the first word has the answer.

    #[inline]
    fn identifier_len(self, bytes: &[u8; SPAN]) -> usize {
        first_lane(bytes, |word| identifier_lanes(word) ^ splat(0x80))
    }

    #[inline]
    fn plain_len(self, bytes: &[u8; SPAN]) -> usize {
        first_lane(bytes, |word| equal_lanes(word, b'"') | equal_lanes(word, b'\\'))
    }

    #[inline]
    fn equal_len(self, left: &[u8; SPAN], right: &[u8; SPAN]) -> usize {
        let pairs = left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0).enumerate();
        for (at, (left, right)) in pairs {
            let different = u64::from_le_bytes(*left) ^ u64::from_le_bytes(*right);
            if different != 0 {
                return 8 * at + different.trailing_zeros() as usize / 8;
            }
        }
        SPAN
    }

    #[inline]
    fn equal(self, left: &[u8; SPAN], right: &[u8; SPAN]) -> u32 {
        let pairs = left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0).enumerate();
        pairs.fold(0, |mask, (at, (left, right))| {
            let different = u64::from_le_bytes(*left) ^ u64::from_le_bytes(*right);
            mask | (gather(zero_lanes(different)) as u32) << (8 * at)
        })
    }
}
