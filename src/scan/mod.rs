//! Bytes to structural offsets, 64 bytes at a time, without knowing what JSON errors are.
//!
//! One idea (simdjson's): turn each block of 64 bytes into bit masks, one bit a byte, and let 64-bit arithmetic find
//! what is inside strings. The index keeps the offsets of brackets, opening quotes and the first byte of every other
//! scalar. Commas and colons are left out: between two entries at most one of them can stand, and whoever walks the
//! index checks it by its position, which halves the entries.
//!
//! Insignificant whitespace is squeezed out on the way, so that whoever walks the index never meets any. Offsets
//! are into the squeezed text. Two scalars with nothing but whitespace between them touch there, but keep an entry
//! each, so `1 2` never passes for `12`.
//!
//! Pseudo-code for a block:
//!
//! ```text
//! escaped   = bytes after an odd run of backslashes
//! quotes    = '"' bytes not escaped
//! in_string = running xor of quotes (an opening quote belongs to its string, a closing one does not)
//! outside   = neither in_string nor a quote
//! scalar    = outside, and neither white, bracket nor separator
//! entries   = brackets outside | opening quotes | scalars whose left neighbour is not one
//! kept      = everything but whitespace outside
//! wrong     = control characters in_string | escapes that JSON does not have | bytes that are not UTF-8
//! ```

mod arch;
mod utf8;

use arch::{Kernel, Swar};
use utf8::Utf8;

pub(crate) const BLOCK: usize = 64;

/// The state that a block hands on to the next, and whether anything wrong has gone by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanner {
    /// All ones while a string is open, else zero.
    in_string: u64,
    /// One if the next byte is escaped.
    escape: u64,
    /// One if the last byte was part of a scalar.
    scalar: u64,
    /// Hexadecimal digits that a `\u` escape still wants from the next block.
    hex: u32,
    utf8: Utf8,
    wrong: bool,
}

/// What a block has been found to hold.
struct Found {
    /// The bytes to index.
    entries: u64,
    /// The bytes that are not insignificant whitespace.
    kept: u64,
}

impl Scanner {
    /// Has anything gone by that no JSON text can hold? What it was and where is for a slower reader to say.
    pub(crate) fn is_wrong(&self) -> bool {
        self.wrong
    }

    /// May the text end here, as far as a scanner can tell?
    pub(crate) fn may_end(&self) -> bool {
        self.in_string == 0 && self.utf8.is_complete()
    }

    /// Indexes whole blocks of `bytes`, which stand at `base`, for as long as they have no whitespace to squeeze
    /// out. Returns how many bytes it took.
    pub(crate) fn index(&mut self, bytes: &[u8], base: usize, index: &mut Vec<u32>) -> usize {
        let mut taken = 0;
        let mut high = 0;
        for block in bytes.as_chunks::<BLOCK>().0 {
            let masks = Swar.masks(block);
            let mut ahead = self.clone();
            let found = ahead.block(block, &masks);
            if found.kept != u64::MAX {
                break;
            }
            *self = ahead;
            high |= masks.high;
            extract(found.entries, base + taken, index);
            taken += BLOCK;
        }
        self.text(&bytes[..taken], high);
        taken
    }

    /// Indexes the last, short block of a text that has no whitespace to squeeze out; false, and nothing done, if it
    /// has some.
    pub(crate) fn index_rest(&mut self, bytes: &[u8], base: usize, index: &mut Vec<u32>) -> bool {
        let (block, real) = padded(bytes);
        let masks = Swar.masks(&block);
        let mut ahead = self.clone();
        let found = ahead.block(&block, &masks);
        if found.kept & real != real {
            return false;
        }
        *self = ahead;
        extract(found.entries & real, base, index);
        self.text(bytes, masks.high);
        true
    }

    /// Indexes whole blocks of `bytes` and appends what is left of them without whitespace to `text`. `kept` gets
    /// a mask a block: which of its bytes were appended.
    pub(crate) fn squeeze(&mut self, bytes: &[u8], text: &mut Vec<u8>, index: &mut Vec<u32>, kept: &mut Vec<u64>) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        debug_assert!(rest.is_empty());
        let mut high = 0;
        for block in blocks {
            let masks = Swar.masks(block);
            let found = self.block(block, &masks);
            high |= masks.high;
            squeeze_block(block, &found, text, index);
            kept.push(found.kept);
        }
        self.text(bytes, high);
    }

    /// The last, short block of a text: as [`squeeze`](Self::squeeze), but `bytes` is shorter than a block.
    pub(crate) fn squeeze_rest(&mut self, bytes: &[u8], text: &mut Vec<u8>, index: &mut Vec<u32>, kept: &mut Vec<u64>) {
        let (block, real) = padded(bytes);
        let masks = Swar.masks(&block);
        let mut found = self.block(&block, &masks);
        // Where the text ends inside a string the padding seems to belong to it.
        found.kept &= real;
        squeeze_block(&block, &found, text, index);
        kept.push(found.kept);
        self.text(bytes, masks.high);
    }

    fn text(&mut self, bytes: &[u8], high: u64) {
        if high != 0 || !self.utf8.is_complete() {
            self.wrong |= !self.utf8.feed(bytes);
        }
    }

    fn block(&mut self, block: &[u8; BLOCK], masks: &arch::Masks) -> Found {
        let escaped = self.escaped(masks.backslash);
        if escaped != 0 || self.hex != 0 {
            self.escapes(block, escaped);
        }
        let quotes = masks.quote & !escaped;
        let in_string = prefix_xor(quotes) ^ self.in_string;
        self.in_string = (in_string as i64 >> 63) as u64;
        self.wrong |= masks.control & in_string != 0;

        let outside = !(in_string | quotes);
        let scalar = outside & !(masks.white | masks.bracket | masks.separator);
        let starts = scalar & !(scalar << 1 | self.scalar);
        self.scalar = scalar >> 63;
        Found { entries: masks.bracket & outside | quotes & in_string | starts, kept: !(masks.white & outside) }
    }

    /// The bytes that a backslash escapes: those after an odd run of them. Subtracting the run's start from a word
    /// of alternating bits carries through the run and comes out odd or even.
    fn escaped(&mut self, backslash: u64) -> u64 {
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        if backslash == 0 {
            return std::mem::take(&mut self.escape);
        }
        let starts = backslash & !self.escape;
        let codes = (starts << 1 | ODD).wrapping_sub(starts) ^ ODD;
        let escaped = codes ^ (backslash | self.escape);
        self.escape = (codes & backslash) >> 63;
        escaped
    }

    /// Checks what stands behind each backslash.
    fn escapes(&mut self, block: &[u8; BLOCK], mut escaped: u64) {
        let due = self.hex as usize;
        self.hex = 0;
        self.wrong |= !block[..due].iter().all(u8::is_ascii_hexdigit);
        while escaped != 0 {
            let at = escaped.trailing_zeros() as usize;
            escaped &= escaped - 1;
            match block[at] {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                b'u' => {
                    let here = &block[at + 1..BLOCK.min(at + 5)];
                    self.wrong |= !here.iter().all(u8::is_ascii_hexdigit);
                    self.hex = 4 - here.len() as u32;
                }
                _ => self.wrong = true,
            }
        }
    }
}

/// A short block with spaces behind it, and the mask of what is not padding.
fn padded(bytes: &[u8]) -> ([u8; BLOCK], u64) {
    let mut block = [b' '; BLOCK];
    block[..bytes.len()].copy_from_slice(bytes);
    (block, (1 << bytes.len()) - 1)
}

/// Bit n of the result is the xor of bits 0 to n.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Appends the position of every set bit. Callers see to it that texts are shorter than 4 GiB.
fn extract(mut bits: u64, base: usize, index: &mut Vec<u32>) {
    index.reserve(BLOCK);
    while bits != 0 {
        index.push(base as u32 + bits.trailing_zeros());
        bits &= bits - 1;
    }
}

fn squeeze_block(block: &[u8; BLOCK], found: &Found, text: &mut Vec<u8>, index: &mut Vec<u32>) {
    let base = text.len();
    if found.kept == u64::MAX {
        text.extend_from_slice(block);
        extract(found.entries, base, index);
        return;
    }
    let mut entries = found.entries & found.kept;
    index.reserve(BLOCK);
    while entries != 0 {
        let at = entries.trailing_zeros();
        index.push(base as u32 + (found.kept & ((1 << at) - 1)).count_ones());
        entries &= entries - 1;
    }
    // Run by run of kept bytes.
    let mut kept = found.kept;
    while kept != 0 {
        let start = kept.trailing_zeros() as usize;
        let length = (!(kept >> start)).trailing_zeros() as usize;
        text.extend_from_slice(&block[start..start + length]);
        kept &= if start + length == BLOCK { 0 } else { u64::MAX << (start + length) };
    }
}
