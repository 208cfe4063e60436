//! Runs of the commonest thing in a document: members whose values are scalars, objects or nothing in brackets.
//!
//! One idea: `"key":` and ` key: ` are equally long. So a member with a bare key is copied as it stands, a [piece](super::piece) at a
//! time, and three bytes of it are changed. It is a function of its own, so that all it needs has a register.

use super::piece::{PIECE, Scalar, ending, has_next, is_odd, is_short, put_rest, window};
use crate::nesting::{Container, Nesting};
use crate::scan::arch::{Kernel, SPAN};

/// All that a run needs, in one place: many arguments would go through memory, and be waited for there.
pub(super) struct Run<'a> {
    pub(super) text: &'a [u8],
    /// The entries that are left, from a key on. The text up to there has been written.
    pub(super) index: &'a [u32],
    /// Where to write.
    pub(super) room: &'a mut [u8],
    pub(super) nesting: &'a mut Nesting,
    /// How deep it may get.
    pub(super) depth: usize,
    /// Is the next member an object's first?
    pub(super) first: bool,
}

impl Run<'_> {
    /// Writes members for as long as they are plain. Objects are opened on the way, and closed if another member is
    /// behind them. True if the next entry is the brace that closes an object.
    #[inline(never)]
    pub(super) fn go<K: Kernel>(&mut self, kernel: K) -> bool {
        kernel.enter(
            #[inline(always)]
            || self.members(kernel),
        )
    }

    #[inline(always)]
    fn members<K: Kernel>(&mut self, kernel: K) -> bool {
        let text = self.text;
        let mut index = self.index;
        // Of every further member it is known when the one before it has been looked at.
        if index.first().and_then(|&place| text.get(place as usize)) != Some(&b'"') {
            return false;
        }
        let mut room = std::mem::take(&mut self.room);
        // A space in front, for all but the first.
        let mut lead = usize::from(!self.first);
        let at_brace = loop {
            let &[quote, _, next, ..] = index else { break false };
            let (start, next) = (quote as usize + 1, next as usize);
            let Some(piece) = window(text, start) else { break false };
            let length = kernel.identifier_len(beginning(piece));
            // Of all that an identifier may hold only digits come before the letters. So does the quote of an empty key.
            if piece[0] <= b'9' || piece[length..length + 2] != *b"\":" {
                // A key as long as could be looked at may yet be bare.
                let written = if length < SPAN { quoted(text, index, lead, room) } else { None };
                let Some((bytes, after)) = written else { break false };
                if after == After::Object {
                    if self.nesting.depth() >= self.depth {
                        break false;
                    }
                    self.nesting.open(Container::Object);
                }
                step(&mut index, 2, &mut room, bytes);
                lead = usize::from(after != After::Object);
                if after == After::Brace {
                    break true;
                }
                continue;
            }
            let Some(into) = room.first_chunk_mut() else { break false };
            // What begins like a value behind the colon is the entry behind the key.
            let value = length + 2;
            let scalar = Scalar::of(piece[value]);
            let whole = next.wrapping_sub(start);
            let Some(ending) = ending(text, next) else { break false };
            if !is_short(whole) {
                let more = scalar.has_more(ending);
                // So long, it should be a string, which cannot be odd.
                if piece[value] != b'"' || !more && !scalar.is_last(ending) {
                    break false;
                }
                put(piece, length, lead, into);
                if !put_rest(&text[start..], whole, &mut room[lead..]) {
                    break false;
                }
                step(&mut index, 2, &mut room, lead + whole);
                lead = 1;
                if more {
                    continue;
                }
                break true;
            }
            if has_next(ending) {
                if scalar.has_more(ending) && !is_odd(piece, value, piece[whole - 2]) {
                    put(piece, length, lead, into);
                    step(&mut index, 2, &mut room, lead + whole);
                    lead = 1;
                    continue;
                }
                if piece[value] != b'{' || whole != value + 1 || self.nesting.depth() >= self.depth {
                    break false;
                }
                self.nesting.open(Container::Object);
                put(piece, length, lead, into);
                step(&mut index, 2, &mut room, lead + whole);
                lead = 0;
                continue;
            }
            // The entry behind the value, and where it is.
            let (mut entries, mut end) = (2, whole);
            if !scalar.is_last(ending) || is_odd(piece, value, piece[whole - 1]) {
                let empty = piece[value..value + 2] == *b"[]" || piece[value..value + 2] == *b"{}";
                if !empty || whole != value + 1 || index.len() < 4 || self.nesting.depth() >= self.depth {
                    break false;
                }
                (entries, end) = (3, value + 2);
                if piece[end..end + 2] == *b",\"" {
                    put(piece, length, lead, into);
                    step(&mut index, entries, &mut room, lead + end + 1);
                    lead = 1;
                    continue;
                }
                if piece[end] != b'}' {
                    break false;
                }
            }
            put(piece, length, lead, into);
            let closes = end + 2 < PIECE && piece[end + 1..end + 3] == *b",\"" && index.len() > entries + 1;
            if closes && self.nesting.outer() == Some(Container::Object) {
                self.nesting.close();
                step(&mut index, entries + 1, &mut room, lead + end + 2);
                lead = 1;
                continue;
            }
            step(&mut index, entries, &mut room, lead + end);
            lead = 1;
            break true;
        };
        self.index = index;
        self.room = room;
        self.first = lead == 0;
        at_brace
    }
}

#[inline(always)]
fn beginning(piece: &[u8; PIECE]) -> &[u8; SPAN] {
    piece.first_chunk().expect("a piece is longer")
}

/// Writes a piece that begins with the body of a bare key: a space in front, unless the key covers it, and the colon.
#[inline(always)]
fn put(piece: &[u8; PIECE], length: usize, lead: usize, into: &mut [u8; PIECE + 1]) {
    into[0] = b' ';
    into[lead..lead + PIECE].copy_from_slice(piece);
    into[lead + length..lead + length + 2].copy_from_slice(b": ");
}

/// What is behind a member, or behind what has been written of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Member,
    Brace,
    /// It is an object, of which the brace has been written.
    Object,
}

/// A member whose key keeps its quotes, so that one more byte comes in front of the value; each no longer than a piece.
/// How many bytes have been written, and what is behind?
#[inline(never)]
fn quoted(text: &[u8], index: &[u32], lead: usize, room: &mut [u8]) -> Option<(usize, After)> {
    let &[quote, value, next, ..] = index else { return None };
    let [quote, value, next] = [quote, value, next].map(|place| place as usize);
    let (key, from): (&[u8; PIECE], &[u8; PIECE]) = (window(text, quote)?, window(text, value)?);
    let (length, bytes) = (value.checked_sub(quote)?, next.checked_sub(value)?);
    let into: &mut [u8; 2 * PIECE + 2] = room.first_chunk_mut()?;
    if !(3..=PIECE).contains(&length) || bytes > PIECE || key[length - 2..length] != *b"\":" {
        return None;
    }
    let (ending, scalar) = (ending(text, next)?, Scalar::of(from[0]));
    let after = if scalar.has_more(ending) && !is_odd(from, 0, ending[5]) {
        After::Member
    } else if scalar.is_last(ending) && !is_odd(from, 0, ending[6]) {
        After::Brace
    } else if from[..2] == *b"{\"" && bytes == 1 {
        After::Object
    } else {
        return None;
    };
    into[0] = b' ';
    into[lead..lead + PIECE].copy_from_slice(key);
    into[lead + length] = b' ';
    into[lead + length + 1..lead + length + 1 + PIECE].copy_from_slice(from);
    Some((lead + length + 1 + bytes, after))
}

/// Goes past some entries and what was written of them.
#[inline(always)]
fn step(index: &mut &[u32], entries: usize, room: &mut &mut [u8], bytes: usize) {
    *index = &index[entries..];
    *room = &mut std::mem::take(room)[bytes..];
}
