//! The portable kernel: eight bytes at a time in a `u64`. It is the fallback, and the oracle for the
//! other kernels.

use super::kernel::{Kernel, Masks, Numeric, SPAN};
use crate::buffer::BLOCK;
use crate::format::{continues_bare, continues_bare_string};

/// The kernel that runs on any processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swar;

/// Returns a word with `byte` in every lane.
const fn splat(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

const LOW_BITS: u64 = splat(0x7F);

/// Returns the top bit of every lane that is zero. Exact: no carry leaves its lane.
const fn zero_lanes(word: u64) -> u64 {
    !(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS)
}

const fn equal_lanes(word: u64, byte: u8) -> u64 {
    zero_lanes(word ^ splat(byte))
}

/// Returns the top bit of every lane from `low` to `high`, both below 0x80.
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

/// By place in eight and by byte: a word with one byte for each class, in which the bit of the place is set if the byte is in
/// that class. Combining eight such words gives eight bits of every class. A look-up takes two instructions a byte, where
/// comparing with every character of interest takes twelve. There is room for eight classes and need of nine, so `.` is
/// marked by being in two classes that have nothing else in common.
static CLASSES: [[u64; 256]; 8] = {
    let mut classes = [[0; 256]; 8];
    let mut entry = 0;
    while entry < 8 * 256 {
        let (place, byte) = (entry / 256, entry % 256);
        let of = byte as u8;
        let is = [
            of == b'"',
            of == b'\\',
            matches!(of, b' ' | b'\t' | b'\n' | b'\r'),
            matches!(of, b'{' | b'}' | b'[' | b']' | b'.'),
            matches!(of, b',' | b':' | b'.'),
            of == b'-',
            of.is_ascii_digit(),
            of == b'0',
        ];
        let mut class = 0;
        while class < is.len() {
            classes[place][byte] |= (is[class] as u64) << (8 * class + place);
            class += 1;
        }
        entry += 1;
    }
    classes
};

/// By place in eight and by byte: the bit of the place, unless the byte is an ASCII letter, digit or `_`.
static NOT_IDENTIFIER: [[u8; 256]; 8] = bytes_but(false);
/// The same, unless bare strings have the byte.
static NOT_BARE_STRING: [[u8; 256]; 8] = bytes_but(true);

const fn bytes_but(bare_strings: bool) -> [[u8; 256]; 8] {
    let mut others = [[0; 256]; 8];
    let mut entry = 0;
    while entry < 8 * 256 {
        let (place, byte) = (entry / 256, (entry % 256) as u8);
        let continues = if bare_strings { continues_bare_string(byte) } else { continues_bare(byte) };
        others[place][byte as usize] = (!continues as u8) << place;
        entry += 1;
    }
    others
}

/// Returns how many bytes a span begins with that are not among `others`. Looked up, as classes are: comparing takes half as
/// many instructions more.
#[inline(always)]
fn looked_up_len(bytes: &[u8; SPAN], others: &[[u8; 256]; 8]) -> usize {
    for (at, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let found = eight.iter().zip(others).fold(0, |found, (&byte, place)| found | place[usize::from(byte)]);
        if found != 0 {
            return 8 * at + found.trailing_zeros() as usize;
        }
    }
    SPAN
}

/// Transposes: byte n of word m becomes byte m of word n. Halves change places, then quarters, then bytes.
#[inline(always)]
fn transposed(words: [u64; 8]) -> [u64; 8] {
    const fn exchange(mut words: [u64; 8], far: usize, low: u64) -> [u64; 8] {
        let shift = 8 * far;
        let mut at = 0;
        while at < 8 {
            if at & far == 0 {
                let (a, b) = (words[at], words[at + far]);
                words[at] = a & low | (b & low) << shift;
                words[at + far] = a >> shift & low | b & !low;
            }
            at += 1;
        }
        words
    }
    let words = exchange(words, 4, 0x0000_0000_FFFF_FFFF);
    let words = exchange(words, 2, 0x0000_FFFF_0000_FFFF);
    exchange(words, 1, 0x00FF_00FF_00FF_00FF)
}

fn span_mask(bytes: &[u8; SPAN], lanes: impl Fn(u64) -> u64) -> u32 {
    let words = bytes.as_chunks::<8>().0.iter().enumerate();
    words.fold(0, |mask, (at, word)| mask | (gather(lanes(u64::from_le_bytes(*word))) as u32) << (8 * at))
}

/// Returns the first lane whose top bit is set.
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

/// Returns the top bit of every lane with an ASCII letter, digit or `_`.
const fn identifier_lanes(word: u64) -> u64 {
    // Setting 0x20 folds the case, and makes a letter of no byte that is not one: `@` becomes `` ` ``, `[` becomes `{`.
    lanes_within(word | splat(0x20), b'a', b'z') | lanes_within(word, b'0', b'9') | equal_lanes(word, b'_')
}

fn block_mask(block: &[u8; BLOCK], lanes: impl Fn(u64) -> u64) -> u64 {
    let words = block.as_chunks::<8>().0.iter().enumerate();
    words.fold(0, |mask, (at, word)| mask | gather(lanes(u64::from_le_bytes(*word))) << (8 * at))
}

/// The bits that any byte has had at each place of sixteen, and the least byte: the compiler has vector instructions for
/// both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    all: [u8; 16],
    least: [u8; 16],
}

impl Kernel for Swar {
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    type Seen = Seen;

    #[inline]
    fn nothing_seen(self) -> Seen {
        Seen { all: [0; 16], least: [0xFF; 16] }
    }

    #[inline]
    fn see(self, mut seen: Seen, block: &[u8; BLOCK]) -> Seen {
        for quarter in block.as_chunks::<16>().0 {
            for (at, &byte) in quarter.iter().enumerate() {
                seen.all[at] |= byte;
                seen.least[at] = seen.least[at].min(byte);
            }
        }
        seen
    }

    #[inline]
    fn is_ascii(self, seen: Seen) -> bool {
        seen.all.is_ascii()
    }

    #[inline]
    fn has_control(self, seen: Seen) -> bool {
        seen.least.iter().any(|&byte| byte < 0x20)
    }

    #[inline]
    fn masks(self, block: &[u8; BLOCK]) -> Masks {
        // Eight bytes at a time, the mask of each class in a byte of its own.
        let groups: [u64; 8] = std::array::from_fn(|group| {
            let bytes = &block.as_chunks::<8>().0[group];
            bytes.iter().zip(&CLASSES).fold(0, |masks, (&byte, classes)| masks | classes[usize::from(byte)])
        });
        let [quote, backslash, white, bracket, separator, minus, digit, zero] = transposed(groups);
        let point = bracket & separator;
        Masks {
            quote,
            backslash,
            white,
            bracket: bracket & !point,
            plain: !(white | bracket | separator) | point,
            numeric: Some(Numeric { digit, zero, minus, point }),
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
    fn positions(self, mut bits: u64, base: u32, into: &mut [u32; BLOCK]) -> usize {
        let mut count = 0;
        while bits != 0 && count < BLOCK {
            into[count] = base + bits.trailing_zeros();
            bits &= bits - 1;
            count += 1;
        }
        count
    }

    /// Copies run by run: whitespace comes in runs, and so do the bytes between. Source and destination have room after them,
    /// so that a run is copied [`SPAN`] bytes at a time whatever its length; a call to `memcpy` for each run took a quarter
    /// longer. A run's bits move together, and its length needs no population count, which is slow without an instruction.
    #[inline]
    fn squeeze(
        self,
        block: &[u8; BLOCK],
        text: &[u8],
        mut kept: u64,
        bits: u64,
        into: &mut [u8; 2 * BLOCK],
    ) -> (u64, usize) {
        if kept == u64::MAX {
            into[..BLOCK].copy_from_slice(block);
            return (bits, BLOCK);
        }
        let mut padded;
        let from: &[u8; BLOCK + SPAN] = match text.first_chunk() {
            Some(from) => from,
            None => {
                padded = [0; BLOCK + SPAN];
                padded[..BLOCK].copy_from_slice(block);
                &padded
            }
        };
        let (mut moved, mut len) = (0, 0);
        while kept != 0 {
            let start = kept.trailing_zeros() as usize;
            let filled = kept | (kept - 1);
            let end = (!filled).trailing_zeros() as usize;
            let further = kept & filled.wrapping_add(1);
            moved |= (bits & (kept ^ further)) >> (start - len);
            let mut at = start;
            loop {
                let to = (len + at - start) % BLOCK;
                into[to..to + SPAN].copy_from_slice(&from[at % BLOCK..at % BLOCK + SPAN]);
                at += SPAN;
                if at >= end {
                    break;
                }
            }
            len += end - start;
            kept = further;
        }
        (moved, len)
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

    /// Looks at escaped bytes one by one: comparing whole words with nine characters took an eighth longer on texts with many
    /// escapes.
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
    fn bare_string(self, bytes: &[u8; SPAN]) -> u32 {
        bytes.iter().enumerate().fold(0, |mask, (at, &byte)| mask | u32::from(continues_bare_string(byte)) << at)
    }

    #[inline]
    fn quotes(self, bytes: &[u8; SPAN]) -> u32 {
        span_mask(bytes, |word| equal_lanes(word, b'"') | equal_lanes(word, b'\\'))
    }

    // The first word decides in most cases, so those below stop at the first word that does.

    #[inline]
    fn identifier_len(self, bytes: &[u8; SPAN]) -> usize {
        looked_up_len(bytes, &NOT_IDENTIFIER)
    }

    #[inline]
    fn bare_string_len(self, bytes: &[u8; SPAN]) -> usize {
        looked_up_len(bytes, &NOT_BARE_STRING)
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
