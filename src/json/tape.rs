//! The tape: structural offsets into a text without insignificant whitespace.
//!
//! There is no record per value: a value begins at its entry, and its end follows from the next entry, because in a text
//! without whitespace there is at most one byte, a comma or a colon, between two lexemes.
//!
//! ```text
//! text    {"id":7,"tags":["a"]}
//! index   0 1 6 8 15 16 19 20 21      `{`, key, 7, key, `[`, "a", `]`, `}`, and the length of the text
//! ```
//!
//! The text is the caller's own bytes as long as they hold no whitespace, or else [`Tape::text`]: what is still needed of
//! the input, squeezed. A mask for every 64 bytes of input says which of them were kept. That is enough to play the input
//! back, with a space for every byte of whitespace, when an error must be found.

use smallvec::SmallVec;

use crate::buffer::{BLOCK, Buffer};
use crate::format::is_white;
use crate::json::lexer::{self, Kind};
use crate::json::scan::Scanner;
use crate::json::scan::arch::Kernel;
use crate::json::span::bytes_at;

/// The bytes that are scanned before the index is read: their text and index stay in the cache together.
pub(crate) const BATCH: usize = 64 << 10;

/// The longest text that 32-bit offsets can address, with room for a batch more.
pub(crate) const MAX_TAPE_BYTES: usize = u32::MAX as usize - 2 * BATCH;

/// A text without insignificant whitespace, and its index.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    pub(crate) scanner: Scanner,
    /// The structural offsets. At the end of the document one more entry: the length of the text.
    pub(crate) index: Buffer<u32>,
    pub(crate) text: Buffer<u8>,
    /// Which bytes of each input block are in the text, in order; the first ones may have been dropped already.
    kept: Buffer<u64>,
    /// The offset in the input of the first block of `kept`.
    origin: u64,
    /// How many kept bytes of those blocks have been dropped from the text.
    dropped: usize,
    /// Input that does not fill a block yet.
    rest: SmallVec<[u8; BLOCK]>,
}

/// How [`Tape::index_in_place`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Indexed {
    /// A batch has been indexed, and more follows.
    Batch,
    /// The text has been indexed to its end.
    Ended,
    /// The next block has whitespace in it, or is short.
    Stopped,
}

impl Tape {
    pub(crate) fn clear(&mut self) {
        self.scanner = Scanner::default();
        self.index.clear();
        self.text.clear();
        self.kept.clear();
        self.origin = 0;
        self.dropped = 0;
        self.rest.clear();
    }

    /// Indexes the next batch of `json` from `at` on, up to the first block with whitespace, and moves `at` past what was
    /// indexed.
    #[inline(always)]
    pub(crate) fn index_in_place<K: Kernel>(&mut self, kernel: K, json: &[u8], at: &mut usize) -> Indexed {
        let batch = &json[*at..json.len().min(*at + BATCH)];
        let taken = self.scanner.index(kernel, batch, *at, &mut self.index);
        *at += taken;
        let rest = &json[*at..];
        if rest.len() < BLOCK && self.scanner.index_rest(kernel, rest, *at, &mut self.index) {
            *at = json.len();
            self.index.push(json.len() as u32);
            return Indexed::Ended;
        }
        if taken < batch.len() { Indexed::Stopped } else { Indexed::Batch }
    }

    /// Scans up to a batch of the input into the text, and returns the rest of the input.
    pub(crate) fn take<'a, K: Kernel>(&mut self, kernel: K, input: &'a [u8]) -> &'a [u8] {
        if !self.rest.is_empty() {
            let (fits, input) = input.split_at(input.len().min(BLOCK - self.rest.len()));
            self.rest.extend_from_slice(fits);
            if self.rest.len() == BLOCK {
                self.scanner.squeeze(kernel, &self.rest, &mut self.text, &mut self.index, &mut self.kept);
                self.rest.clear();
            }
            return input;
        }
        let batch = input.len().min(BATCH) / BLOCK * BLOCK;
        if batch > 0 {
            let (blocks, input) = input.split_at(batch);
            self.scanner.squeeze(kernel, blocks, &mut self.text, &mut self.index, &mut self.kept);
            return input;
        }
        self.rest.extend_from_slice(input);
        &[]
    }

    /// Ends the input: scans the bytes that did not fill a block, and closes the index.
    pub(crate) fn end<K: Kernel>(&mut self, kernel: K) {
        let rest = std::mem::take(&mut self.rest);
        self.end_with(kernel, &rest);
    }

    /// Ends the input with `rest`, which is shorter than a block.
    pub(crate) fn end_with<K: Kernel>(&mut self, kernel: K, rest: &[u8]) {
        self.scanner.squeeze_rest(kernel, rest, &mut self.text, &mut self.index, &mut self.kept);
        self.index.push(self.text.len() as u32);
    }

    /// Drops the masks that [`played_back`](Self::played_back) needs.
    pub(crate) fn forget_input(&mut self) {
        self.kept.clear();
    }

    /// Changes from the caller's bytes to the tape's text: `held`, the bytes at `offset` that are still needed, becomes the text,
    /// and the index is adjusted.
    pub(crate) fn hold(&mut self, held: &[u8], offset: usize) {
        self.text.extend(held);
        for entry in self.index.iter_mut() {
            *entry -= offset as u32;
        }
    }

    /// Drops the first `bytes` of the text and the first `entries` of the index, among them all that point there.
    pub(crate) fn forget(&mut self, bytes: usize, entries: usize) {
        self.text.drop_front(bytes);
        self.index.drop_front(entries);
        for entry in self.index.iter_mut() {
            *entry -= bytes as u32;
        }
        let mut left = self.dropped + bytes;
        let mut blocks = 0;
        while let Some(mask) = self.kept.get(blocks).filter(|mask| mask.count_ones() as usize <= left) {
            left -= mask.count_ones() as usize;
            blocks += 1;
        }
        self.kept.drop_front(blocks);
        self.origin += (blocks * BLOCK) as u64;
        self.dropped = left;
    }

    /// Returns the input from the byte that is now `text[start]` on: every byte with its offset, and a space for each that was
    /// squeezed out.
    pub(crate) fn played_back(&self, start: usize) -> impl Iterator<Item = (u64, u8)> {
        // Kept bytes are numbered from the front of `kept`; number `dropped` is `text[0]`.
        let first = start + self.dropped;
        let mut number = 0;
        let blocks = self.kept.iter().enumerate();
        let scanned =
            blocks.flat_map(|(block, &mask)| (0..BLOCK).map(move |bit| (block * BLOCK + bit, mask >> bit & 1)));
        let scanned = scanned.filter_map(move |(offset, kept)| {
            number += kept as usize;
            let byte = if kept == 1 { *self.text.get(number.checked_sub(1 + self.dropped)?)? } else { b' ' };
            (number > first).then_some((self.origin + offset as u64, byte))
        });
        let unscanned = self.origin + (self.kept.len() * BLOCK) as u64;
        scanned.chain((unscanned..).zip(self.rest.iter().copied()))
    }
}

/// The most bytes from the start of a literal to that of the next token: `false` and a comma.
const MAX_LITERAL_LEN: usize = 6;

/// Returns whether bytes may follow that make a JSON text of a text that ends outside of a string, given its last token if that
/// is known. Of all that has no token of its own, only a number may be long.
pub(crate) fn may_go_on(text: &[u8], last: Option<u32>) -> bool {
    if let [.., b',' | b':', b',' | b':'] = text {
        return false;
    }
    let Some(rest) = last.and_then(|last| text.get(last as usize..)) else { return true };
    match (rest, Kind::of(byte(rest, 0))) {
        (_, Some(Kind::Boolean | Kind::Null)) => rest.len() <= MAX_LITERAL_LEN,
        ([] | [b'{' | b'}' | b'[' | b']', ..], None) | (_, Some(_)) => true,
        _ => false,
    }
}

/// Returns the byte at `at`, or zero, which is never structural, at the end of the text.
#[inline]
pub(crate) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// Returns the kind and the end of the lexeme at `start`, given the entry after it, if it is a good one.
///
/// A closing bracket and the end of the text follow a lexeme directly; anything else follows after one byte, which the
/// caller checks. The scanner has checked the inside of strings.
#[inline]
pub(crate) fn lexeme(text: &[u8], start: usize, next: usize) -> Option<(Kind, usize)> {
    let end = match byte(text, next) {
        b'}' | b']' => next,
        _ if next == text.len() => next,
        _ => next - 1,
    };
    let lexeme = text.get(start..end)?;
    let kind = Kind::of(*lexeme.first()?)?;
    let good = match kind {
        Kind::Text => lexeme.len() >= 2 && lexeme.ends_with(b"\""),
        Kind::Number => lexer::is_number(lexeme),
        Kind::Boolean => matches!(lexeme, b"true" | b"false"),
        Kind::Null => lexeme == b"null",
    };
    good.then_some((kind, end))
}

/// Returns whether the bytes from `start` to `value`, the entry after it, are a key with its colon.
#[inline(always)]
pub(crate) fn is_key(text: &[u8], start: usize, value: usize) -> bool {
    value >= start + 3 && byte(text, start) == b'"' && text[value - 2..value] == *b"\":"
}

/// Returns true if the value at `value` is a good scalar followed by a comma and a key, false if it is followed by `close`,
/// and `None` if it is something else, such as a container. `next` is the entry after it.
#[inline(always)]
pub(crate) fn follows(text: &[u8], value: usize, next: usize, close: u8) -> Option<bool> {
    let around = u32::from_le_bytes(*bytes_at(text, next.wrapping_sub(2))?);
    let more = (around >> 8) as u16 == u16::from_le_bytes(*b",\"");
    ends(value, bytes_at(text, value)?, next, close, around, more)
}

/// As [`follows`], for an element of an array: anything may follow the comma.
#[inline(always)]
pub(crate) fn follows_element(text: &[u8], value: usize, next: usize) -> Option<bool> {
    let around = u32::from_le_bytes(*bytes_at(text, next.wrapping_sub(2))?);
    let more = (around >> 8) as u8 == b',';
    ends(value, bytes_at(text, value)?, next, b']', around, more)
}

/// Tests what [`follows`] and [`follows_element`] test; `around` are the bytes from two before `next` on.
#[inline(always)]
fn ends(value: usize, first: &[u8; 5], next: usize, close: u8, around: u32, more: bool) -> Option<bool> {
    let last = if more { around } else { around >> 8 } as u8;
    let good = (more || (around >> 16) as u8 == close) && CLASS[usize::from(last)] != SEPARATOR;
    (good && is_scalar(first, value, next - usize::from(more))).then_some(more)
}

/// The class of a byte as the first or the last of a lexeme.
static CLASS: [u8; 256] = {
    let mut class = [OTHER; 256];
    class[b'"' as usize] = PLAIN;
    class[b',' as usize] = SEPARATOR;
    class[b':' as usize] = SEPARATOR;
    let mut digit = b'0';
    while digit <= b'9' {
        class[digit as usize] = PLAIN;
        digit += 1;
    }
    class
};
/// Begins a string or a number, which the scanner has checked.
const PLAIN: u8 = 0;
const OTHER: u8 = 1;
const SEPARATOR: u8 = 2;

/// Returns whether the scalar at `value`, with these `first` bytes, is good and ends at `end` at the latest. The scanner has
/// checked strings and numbers, and the entry after them gives their end; a literal is compared.
#[inline(always)]
fn is_scalar(first: &[u8; 5], value: usize, end: usize) -> bool {
    if CLASS[usize::from(first[0])] == PLAIN {
        return true;
    }
    match first {
        [b'n', b'u', b'l', b'l', _] | [b't', b'r', b'u', b'e', _] => end == value + 4,
        b"false" => end == value + 5,
        [b'-', digit, ..] => digit.is_ascii_digit(),
        _ => false,
    }
}

/// Returns the document without the whitespace around it, so that a final newline does not force a copy.
pub(crate) fn trimmed(json: &[u8]) -> &[u8] {
    let start = json.iter().position(|&byte| !is_white(byte)).unwrap_or(json.len());
    let end = json.iter().rposition(|&byte| !is_white(byte)).map_or(start, |last| last + 1);
    &json[start..end]
}

#[cfg(test)]
mod tests;
