//! The portable kernel: eight bytes at a time in a `u64`. Fallback, oracle for the others, and what Miri runs.

use super::{Kernel, Masks};
use crate::scan::BLOCK;

/// Needs nothing of the processor.
#[derive(Clone, Copy, Debug)]
pub(in crate::scan) struct Swar;

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

/// Gathers the top bits of the lanes into the low byte: the multiplication moves lane n's bit to bit 56 + n.
const fn gather(tops: u64) -> u64 {
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

impl Kernel for Swar {
    #[inline]
    fn masks(self, block: &[u8; BLOCK]) -> Masks {
        let mut masks = Masks { quote: 0, backslash: 0, white: 0, bracket: 0, separator: 0, control: 0, high: 0 };
        for (lane, bytes) in block.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*bytes);
            // `[` and `{`, `]` and `}` differ in this bit alone.
            let folded = word | splat(0x20);
            let shift = 8 * lane;
            masks.quote |= gather(equal_lanes(word, b'"')) << shift;
            masks.backslash |= gather(equal_lanes(word, b'\\')) << shift;
            masks.white |= gather(
                equal_lanes(word, b' ')
                    | equal_lanes(word, b'\n')
                    | equal_lanes(word, b'\t')
                    | equal_lanes(word, b'\r'),
            ) << shift;
            masks.bracket |= gather(equal_lanes(folded, b'{') | equal_lanes(folded, b'}')) << shift;
            masks.separator |= gather(equal_lanes(word, b',') | equal_lanes(word, b':')) << shift;
            masks.control |= gather(zero_lanes(word & splat(0xE0))) << shift;
            masks.high |= gather(word & splat(0x80)) << shift;
        }
        masks
    }
}
