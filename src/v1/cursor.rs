//! What the fast paths share: a position in the input with the room for its output, and the reads and writes of a member.
//!
//! One idea: most members, with key, value and separator, fit in one [`BLOCK`]. Once a block is known to be inside the
//! text, no single read from it needs a check of its own, and most questions are comparisons of whole words.

use super::expansion::Expansion;
use crate::buffer::{BLOCK, Pen};
use crate::format::{COLON, MEMBER_SPACE};
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::span::{self, copy, is_bare};
use crate::options::Limits;

/// A position in the document and in its output. One struct, because many arguments would be passed through memory.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a [u8],
    /// The entries that are left.
    pub(super) index: &'a [u32],
    /// The room that is left for output.
    pub(super) room: &'a mut [u8],
    pub(super) limits: &'a Limits,
    /// Arrays longer than this stay plain.
    pub(super) window: usize,
    /// The limit on expansion for output that ends with `room`.
    pub(super) expansion: Expansion,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor at other entries of the same document, with other room that ends where this one's does.
    #[inline(always)]
    pub(super) fn at<'b>(&self, index: &'b [u32], room: &'b mut [u8]) -> Cursor<'b>
    where
        'a: 'b,
    {
        let Self { text, limits, window, expansion, .. } = *self;
        Cursor { text, index, room, limits, window, expansion }
    }
}

/// A block that begins after a key's quote, with that quote before it and what follows the longest key it can hold.
pub(super) const MEMBER_BLOCK: usize = BLOCK + 4;

/// As [`span::bytes_at`], with a single check where `at` is an entry: it has 32 bits, so that `at + N` cannot wrap.
#[inline(always)]
pub(super) fn bytes_at<const N: usize>(text: &[u8], at: usize) -> Option<&[u8; N]> {
    text.get(at..at.wrapping_add(N))?.first_chunk()
}

/// As [`ending`](crate::json::scalar::ending), of the entry `whole` bytes after the quote with which `member` begins; none
/// if that entry is not within the block.
#[inline(always)]
pub(super) fn ending_within(member: &[u8; MEMBER_BLOCK], whole: usize) -> Option<&[u8; 8]> {
    // One comparison checks both ends.
    if whole.wrapping_sub(7) > BLOCK - 6 { None } else { member[whole - 7..].first_chunk() }
}

/// Returns the next `N` entries as offsets, if there are so many and the text has [`SPAN`] bytes from the last of them on:
/// then every span that begins among them can be loaded whole.
#[inline(always)]
pub(super) fn ahead<const N: usize>(text: &[u8], index: &[u32], cursor: usize) -> Option<[usize; N]> {
    let entries: &[u32; N] = index.get(cursor..)?.first_chunk()?;
    let entries = entries.map(|entry| entry as usize);
    (entries[N - 1] + SPAN <= text.len()).then_some(entries)
}

/// Appends what an object has before a value (grammar/STC.md, section 8.3): a space unless it is the first, the key, the
/// colon.
#[inline(always)]
pub(super) fn write_key_and_colon<K: Kernel>(
    kernel: K,
    first: bool,
    text: &[u8],
    start: usize,
    value: usize,
    pen: &mut Pen<'_, u8>,
) {
    if !first {
        pen.write(&[MEMBER_SPACE]);
    }
    write_key(kernel, text, start, value, pen);
    pen.write(COLON);
}

/// Appends the key from `start` to the colon before `value`, bare if it is an identifier.
#[inline(always)]
pub(super) fn write_key<K: Kernel>(kernel: K, text: &[u8], start: usize, value: usize, pen: &mut Pen<'_, u8>) {
    let bare = usize::from(is_bare(kernel, text, start + 1, value - 2));
    copy(text, start + bare, value - 1 - bare, pen);
}

/// Returns whether `length` bytes at `at` of the text equal those at `start` of the table.
#[inline(always)]
pub(super) fn is_equal<K: Kernel>(
    kernel: K,
    text: &[u8],
    at: usize,
    table: &[u8],
    start: usize,
    length: usize,
) -> bool {
    match (span::bytes_at::<SPAN>(text, at), span::bytes_at::<SPAN>(table, start)) {
        (Some(left), Some(right)) if length < SPAN => kernel.equal_len(left, right) >= length,
        _ => text[at..at + length] == table[start..start + length],
    }
}
