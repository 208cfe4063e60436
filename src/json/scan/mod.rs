//! Bytes to structural offsets, 64 bytes at a time, without knowing what JSON errors are.
//!
//! One idea (simdjson's): turn each block of 64 bytes into bit masks, one bit a byte, and let 64-bit arithmetic find
//! what is inside strings. The index keeps the offsets of brackets, opening quotes and the first byte of every other
//! scalar. Commas and colons are left out, which halves the entries: there is at most one of them between two entries, and
//! the reader of the index checks it by its position.
//!
//! Insignificant whitespace is removed ("squeezed out") in the same pass, so that readers of the index never meet any.
//! Offsets are into the squeezed text. Two scalars with only whitespace between them touch there, but keep an entry
//! each, so `1 2` is never mistaken for `12`.
//!
//! ```text
//! block      { " a " :   [ 1 ,   n u l l ] }
//! entries    1 1 . . . . 1 1 . . 1 . . . 1 1
//! kept       1 1 1 1 1 . 1 1 1 . 1 1 1 1 1 1
//! text       {"a":[1,null]}                       what is kept
//! index      0 1 5 6 8 12 13                      where the entries are in it
//! ```
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
//! seen      = whether a kept byte is a control character, which is wrong, or not ASCII, so that UTF-8 must be checked
//! wrong     = escapes that JSON does not have | scalars that begin like a number and are not one
//! ```

pub(crate) mod arch;
pub(crate) mod choice;
mod escapes;
mod number;
#[cfg(test)]
mod tests;
mod utf8;

use crate::buffer::{BLOCK, Buffer, Pen};
use arch::{Kernel, Masks};
pub(crate) use choice::{Choice, with_kernel};
pub(crate) use escapes::Escapes;
use utf8::Utf8;
pub(crate) use utf8::{is_utf8, torn_len};

/// The scan of one text: the state between blocks, and whether anything was wrong.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanner {
    carry: Carry,
    utf8: Utf8,
    wrong: bool,
}

/// The state that one block passes to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Carry {
    /// All ones while a string is open, else zero.
    in_string: u64,
    escapes: Escapes,
    number: number::Carry,
    /// Not zero if anything was wrong so far.
    wrong: u64,
}

/// The result for one block.
struct Found {
    /// The bytes to index.
    entries: u64,
    /// The bytes that are not insignificant whitespace.
    kept: u64,
}

impl Scanner {
    /// Returns whether the text so far holds anything that no JSON text can. What and where, `diagnose` finds out.
    pub(crate) fn is_wrong(&self) -> bool {
        self.wrong
    }

    /// Returns whether the text may end here: no string and no character is incomplete.
    pub(crate) fn may_end(&self) -> bool {
        self.carry.in_string == 0 && self.utf8.is_complete()
    }

    /// Indexes whole blocks of `bytes`, whose first byte has offset `base`, up to the first block with whitespace to
    /// squeeze out. Returns how many bytes it took.
    #[inline(never)]
    pub(crate) fn index<K: Kernel>(&mut self, kernel: K, bytes: &[u8], base: usize, index: &mut Buffer<u32>) -> usize {
        kernel.enter(
            #[inline(always)]
            || self.index_blocks(kernel, bytes, base, index),
        )
    }

    #[inline(always)]
    fn index_blocks<K: Kernel>(&mut self, kernel: K, bytes: &[u8], base: usize, index: &mut Buffer<u32>) -> usize {
        index.reserve(bytes.len() + BLOCK);
        let mut entries = index.pen();
        let mut room = entries.rest();
        let room_len = room.len();
        let mut carry = self.carry;
        let mut seen = kernel.nothing_seen();
        let mut taken = 0;
        for block in bytes.as_chunks::<BLOCK>().0 {
            let masks = kernel.masks(block);
            let strings = carry.strings(kernel, block, &masks);
            // Tested as early as possible: until then the old state has to be kept beside the new.
            if masks.white & strings.outside != 0 {
                break;
            }
            let found;
            (carry, found) = strings.entries(kernel, block, &masks);
            seen = kernel.see(seen, block);
            // A slice that shrinks needs fewer checks than a `Pen`.
            let into = room.first_chunk_mut().expect("room was reserved");
            let count = kernel.positions(found.entries, (base + taken) as u32, into);
            room = &mut room[count..];
            taken += BLOCK;
        }
        let found = room_len - room.len();
        index.keep(found);
        self.finish(kernel, carry, &bytes[..taken], seen);
        taken
    }

    /// Indexes the last, short block of a text. Returns false, and changes nothing, if the block has whitespace to squeeze
    /// out.
    #[inline(never)]
    pub(crate) fn index_rest<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        base: usize,
        index: &mut Buffer<u32>,
    ) -> bool {
        let (block, real) = padded(bytes);
        index.reserve(BLOCK);
        let mut entries = index.pen();
        let (carry, found) = kernel.enter(
            #[inline(always)]
            || {
                let masks = kernel.masks(&block);
                let (carry, found) = self.carry.block(kernel, &block, &masks);
                extract(kernel, found.entries & real, base, &mut entries);
                (carry, found)
            },
        );
        if found.kept & real != real {
            return false;
        }
        let found = entries.written();
        index.keep(found);
        self.finish(kernel, carry, bytes, kernel.see(kernel.nothing_seen(), &block));
        true
    }

    /// Indexes whole blocks of `bytes` and appends them without whitespace to `text`. Appends one mask a block to `kept`:
    /// which of its bytes were appended.
    #[inline(never)]
    pub(crate) fn squeeze<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        text: &mut Buffer<u8>,
        index: &mut Buffer<u32>,
        kept: &mut Buffer<u64>,
    ) {
        kernel.enter(
            #[inline(always)]
            || self.squeeze_blocks(kernel, bytes, text, index, kept),
        )
    }

    #[inline(always)]
    fn squeeze_blocks<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        text: &mut Buffer<u8>,
        index: &mut Buffer<u32>,
        kept: &mut Buffer<u64>,
    ) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        debug_assert!(rest.is_empty());
        text.reserve(bytes.len() + BLOCK);
        index.reserve(bytes.len() + BLOCK);
        kept.reserve(blocks.len());
        let end = text.len() + text.pen().left();
        let (mut squeezed, mut entries, mut masks_kept) = (text.pen(), index.pen(), kept.pen());
        let (room, places, seen) = (squeezed.rest(), entries.rest(), kernel.nothing_seen());
        let (room_len, places_len) = (room.len(), places.len());
        let mut squeezing = Squeezing { kernel, carry: self.carry, seen, room, places, end };
        // Two blocks a round: the loop itself costs a twentieth of a block.
        let mut rest = bytes;
        let (pairs, last) = blocks.as_chunks::<2>();
        let (kept_pairs, kept_last) = masks_kept.rest()[..blocks.len()].as_chunks_mut::<2>();
        for ([first, second], [kept_first, kept_second]) in pairs.iter().zip(kept_pairs) {
            *kept_first = squeezing.block(first, &mut rest);
            *kept_second = squeezing.block(second, &mut rest);
        }
        for (block, kept) in last.iter().zip(kept_last) {
            *kept = squeezing.block(block, &mut rest);
        }
        let Squeezing { carry, mut seen, room, places, .. } = squeezing;
        let (bytes_kept, found) = (room_len - room.len(), places_len - places.len());
        text.keep(bytes_kept);
        index.keep(found);
        kept.keep(blocks.len());
        if !K::SEES_KEPT {
            seen = summary(kernel, text, text.len() - bytes_kept);
        }
        self.finish(kernel, carry, bytes, seen);
    }

    /// As [`squeeze`](Self::squeeze), for the last block of a text, which is shorter than [`BLOCK`].
    #[inline(never)]
    pub(crate) fn squeeze_rest<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        text: &mut Buffer<u8>,
        index: &mut Buffer<u32>,
        kept: &mut Buffer<u64>,
    ) {
        let (block, real) = padded(bytes);
        text.reserve(2 * BLOCK);
        index.reserve(BLOCK);
        let (mut squeezed, mut entries) = (text.pen(), index.pen());
        let (carry, found) = kernel.enter(
            #[inline(always)]
            || {
                let masks = kernel.masks(&block);
                let (carry, mut found) = self.carry.block(kernel, &block, &masks);
                // Where the text ends inside a string, the padding would count as part of it.
                found.kept &= real;
                found.entries &= real;
                let base = squeezed.at();
                let (places, len) = kernel.squeeze(&block, &block, found.kept, found.entries, squeezed.chunk());
                squeezed.keep(len);
                extract(kernel, places, base, &mut entries);
                (carry, found)
            },
        );
        let (bytes_kept, count) = (squeezed.written(), entries.written());
        text.keep(bytes_kept);
        index.keep(count);
        kept.push(found.kept);
        self.finish(kernel, carry, bytes, summary(kernel, text, text.len() - bytes_kept));
    }

    /// Takes over the state after `bytes`; `seen` summarises them without the whitespace outside strings.
    #[inline(always)]
    fn finish<K: Kernel>(&mut self, kernel: K, carry: Carry, bytes: &[u8], seen: K::Seen) {
        self.carry = carry;
        // The control characters that are allowed are whitespace outside strings: any other is an error.
        self.wrong |= carry.wrong != 0 || kernel.has_control(seen);
        if !kernel.is_ascii(seen) || !self.utf8.is_complete() {
            self.wrong |= !self.utf8.feed(bytes);
        }
    }
}

/// The state of [`Scanner::squeeze`] between blocks.
struct Squeezing<'a, K: Kernel> {
    kernel: K,
    carry: Carry,
    seen: K::Seen,
    /// The room left for text and for entries. Slices that shrink need fewer checks than `Pen`s.
    room: &'a mut [u8],
    places: &'a mut [u32],
    /// The offset in the text at which `room` ends.
    end: usize,
}

impl<K: Kernel> Squeezing<'_, K> {
    /// Indexes and squeezes the next block, with which `rest` begins. Returns the bytes that were kept.
    #[inline(always)]
    fn block(&mut self, block: &[u8; BLOCK], rest: &mut &[u8]) -> u64 {
        let Self { kernel, end, .. } = *self;
        let masks = kernel.masks(block);
        let (carry, Found { entries, kept }) = self.carry.block(kernel, block, &masks);
        self.carry = carry;
        self.seen = kernel.see_kept(self.seen, block, kept);
        let room = std::mem::take(&mut self.room);
        let base = end - room.len();
        let (entries, len) =
            kernel.squeeze(block, rest, kept, entries, room.first_chunk_mut().expect("room was reserved"));
        self.room = &mut room[len..];
        *rest = rest.get(BLOCK..).unwrap_or_default();
        let places = std::mem::take(&mut self.places);
        let count = kernel.positions(entries, base as u32, places.first_chunk_mut().expect("room was reserved"));
        self.places = &mut places[count..];
        kept
    }
}

impl Carry {
    /// Takes and returns the state by value, and passes it to nothing that is not inlined: so it stays in registers, which
    /// makes the scan a third faster.
    #[inline(always)]
    fn block<K: Kernel>(self, kernel: K, block: &[u8; BLOCK], masks: &Masks) -> (Self, Found) {
        self.strings(kernel, block, masks).entries(kernel, block, masks)
    }

    /// Finds the strings of a block.
    #[inline(always)]
    fn strings<K: Kernel>(mut self, kernel: K, block: &[u8; BLOCK], masks: &Masks) -> Strings {
        let mut escaped = 0;
        if masks.backslash != 0 || self.escapes.is_pending() {
            let wrong;
            (escaped, self.escapes, wrong) = self.escapes.rare_block(kernel, block, masks.backslash);
            self.wrong |= wrong;
        }
        let quotes = masks.quote & !escaped;
        let within = kernel.prefix_xor(quotes) ^ self.in_string;
        self.in_string = (within as i64 >> 63) as u64;
        Strings { carry: self, opening: quotes & within, outside: !(within | quotes) }
    }
}

/// A block whose strings are known.
struct Strings {
    carry: Carry,
    /// Quotes that begin a string.
    opening: u64,
    /// Bytes that are neither in a string nor a quote.
    outside: u64,
}

impl Strings {
    /// Finds the entries of the block, and checks its numbers.
    #[inline(always)]
    fn entries<K: Kernel>(self, kernel: K, block: &[u8; BLOCK], masks: &Masks) -> (Carry, Found) {
        let Self { mut carry, opening, outside } = self;
        let scalars = outside & masks.plain;
        let further = scalars & (scalars << 1 | number::goes_on(carry.number));
        let starts = scalars ^ further;
        if scalars | carry.number != 0 {
            let bad;
            (carry.number, bad) = number::block(carry.number, kernel, block, masks, scalars, starts);
            carry.wrong |= bad;
        }
        let found = Found { entries: masks.bracket & outside | opening | starts, kept: !(masks.white & outside) };
        (carry, found)
    }
}

/// Summarises a text from `new` on. This loop over squeezed text takes a third of the instructions of looking, block by
/// block, for control characters inside strings while the whitespace is still there.
#[inline(always)]
fn summary<K: Kernel>(kernel: K, text: &[u8], new: usize) -> K::Seen {
    kernel.enter(
        #[inline(always)]
        || {
            let (blocks, rest) = text[new..].as_chunks::<BLOCK>();
            let seen = blocks.iter().fold(kernel.nothing_seen(), |seen, block| kernel.see(seen, block));
            if rest.is_empty() {
                return seen;
            }
            // The last 64 bytes: some may be summarised twice, which does no harm.
            kernel.see(seen, &text.last_chunk().copied().unwrap_or_else(|| padded(rest).0))
        },
    )
}

/// Returns a short block with spaces after it, and the mask of what is not padding.
fn padded(bytes: &[u8]) -> ([u8; BLOCK], u64) {
    let mut block = [b' '; BLOCK];
    block[..bytes.len()].copy_from_slice(bytes);
    (block, (1 << bytes.len()) - 1)
}

/// Appends the position of every set bit. Callers keep texts shorter than 4 GiB.
#[inline(always)]
fn extract<K: Kernel>(kernel: K, entries: u64, base: usize, index: &mut Pen<'_, u32>) {
    let count = kernel.positions(entries, base as u32, index.chunk());
    index.keep(count);
}
