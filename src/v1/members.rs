//! Runs of the commonest thing in a document: members, in and out of objects, of lists of scalars and of lists of objects.
//!
//! One idea: `"key":` and ` key: ` are equally long. So a member with a bare key is copied as it stands, a [piece](super::block) at a
//! time, and three bytes of it are changed. It is a function of its own, so that all it needs has a register; what comes
//! less often than once in three members or so has a function apart.

use super::analyze::Expansion;
use super::block::{AROUND, PIECE, ending_within, window};
use super::shape::Shape;
use crate::json::nesting::{Container, Nesting};
use crate::json::scalar::{Scalar, ending};
use crate::json::scan::arch::Kernel;
use crate::json::span::put_rest;
use crate::options::Limits;

/// All that a run needs, in one place: many arguments would go through memory, and be waited for there.
pub(super) struct Run<'a> {
    pub(super) text: &'a [u8],
    /// The entries that are left, from a key on. The text up to there has been written.
    pub(super) index: &'a [u32],
    /// Where to write: if the next member is its object's first, from the brace on, which stands there.
    pub(super) room: &'a mut [u8],
    pub(super) nesting: &'a mut Nesting,
    pub(super) shape: &'a mut Shape,
    pub(super) limits: &'a Limits,
    /// How long a list may be that is not to stay as it is.
    pub(super) window: usize,
    pub(super) expansion: Expansion,
    /// Is the next member an object's first?
    pub(super) first: bool,
}

/// What a run has stopped at.
pub(super) enum Stop {
    /// A member that is not plain, or whatever stands in place of one.
    Member,
    /// The brace that closes an object, behind which comes something else than a key.
    Brace,
}

/// As many brackets as are closed at once.
const MANY: usize = 16;

impl Run<'_> {
    /// Writes members for as long as they are plain, and the brackets between them.
    #[inline(never)]
    pub(super) fn go<K: Kernel>(&mut self, kernel: K) -> Stop {
        kernel.enter(
            #[inline(always)]
            || self.members(kernel),
        )
    }

    #[inline(always)]
    fn members<K: Kernel>(&mut self, kernel: K) -> Stop {
        let text = self.text;
        let mut index = self.index;
        // Of every further member it is known when the one before it has been looked at.
        if index.first().and_then(|&place| text.get(place as usize)) != Some(&b'"') {
            return Stop::Member;
        }
        let mut room = std::mem::take(&mut self.room);
        let mut front = if self.first { BRACE } else { SPACE };
        let stop = loop {
            let &[quote, _, next, ..] = index else { break Stop::Member };
            let (quote, next) = (quote as usize, next as usize);
            let Some(around): Option<&[u8; AROUND]> = window(text, quote) else { break Stop::Member };
            let piece = around[1..].first_chunk().expect("a piece is shorter");
            let length = kernel.identifier_len_of_block(piece);
            // Of all that an identifier may hold only digits come before the letters. So does the quote of an empty key.
            let taken = if piece[0] <= b'9' || around[length + 1..length + 3] != *b"\":" {
                // A key as long as could be looked at may yet be bare.
                if length < PIECE { self.quoted(kernel, front, index, room) } else { None }
            } else {
                let Some(into) = room.first_chunk_mut() else { break Stop::Member };
                // What begins like a value behind the colon is the entry behind the key.
                let value = length + 3;
                let scalar = Scalar::of(around[value]);
                let whole = next.wrapping_sub(quote);
                if let Some(ending) = ending_within(around, whole) {
                    if scalar.has_more(ending) {
                        put(piece, length, front, into);
                        step(&mut index, 2, &mut room, whole);
                        front = SPACE;
                        continue;
                    }
                    if scalar.is_last(ending) {
                        put(piece, length, front, into);
                        // What has been copied reaches so far.
                        if whole + 2 <= PIECE && index.len() > 4 && around[whole + 1] == b',' {
                            let outer = self.nesting.outer();
                            if around[whole + 2] == b'"' && outer == Some(Container::Object) {
                                self.nesting.close();
                                step(&mut index, 3, &mut room, whole + 2);
                                front = SPACE;
                                continue;
                            }
                            // One object closed and another opened is as it was.
                            if around[whole + 2..whole + 4] == *b"{\"" && outer == Some(Container::Array) {
                                step(&mut index, 4, &mut room, whole + 2);
                                front = BRACE;
                                continue;
                            }
                        }
                        Some(Taken { entries: 2, bytes: whole, after: After::Brace })
                    } else if window(around, value) == Some(b"{\"") && self.nesting.depth() < self.limits.depth {
                        self.nesting.open(Container::Object);
                        put(piece, length, front, into);
                        step(&mut index, 2, &mut room, whole - 1);
                        front = BRACE;
                        continue;
                    } else if whole == value + 1 {
                        self.bracketed(kernel, Key { piece, length, front }, index, room)
                    } else {
                        // Not right behind the colon, so not this key's.
                        None
                    }
                } else if around[value] == b'"'
                    && whole.wrapping_sub(PIECE) <= PIECE
                    && let Some(further) = window::<{ 1 + 2 * PIECE }>(text, quote)
                    && let Some(into) = room.first_chunk_mut::<{ 1 + 2 * PIECE }>()
                {
                    // Strings of this length are common too.
                    let ending = further[whole - 7..].first_chunk().expect("it is longer");
                    let string = Scalar::of(b'"');
                    let more = string.has_more(ending);
                    if !more && !string.is_last(ending) {
                        break Stop::Member;
                    }
                    into[1 + PIECE..].copy_from_slice(&further[1 + PIECE..]);
                    put(piece, length, front, into.first_chunk_mut().expect("it is longer"));
                    if more {
                        step(&mut index, 2, &mut room, whole);
                        front = SPACE;
                        continue;
                    }
                    Some(Taken { entries: 2, bytes: whole, after: After::Brace })
                } else {
                    self.other(kernel, Key { piece, length, front }, index, room)
                }
            };
            let Some(Taken { entries, bytes, after }) = taken else { break Stop::Member };
            step(&mut index, entries, &mut room, bytes);
            front = after.front();
            if after != After::Brace {
                continue;
            }
            // At a brace.
            let Some(Taken { entries, bytes, after }) = self.close(index, room) else { break Stop::Brace };
            step(&mut index, entries, &mut room, bytes);
            front = after.front();
        };
        self.index = index;
        self.room = room;
        self.first = front == BRACE;
        stop
    }

    /// A member with a bare key that is shorter or longer than most.
    #[inline(never)]
    fn other<K: Kernel>(&mut self, kernel: K, key: Key<'_>, index: &[u32], room: &mut [u8]) -> Option<Taken> {
        let Key { piece, length, front } = key;
        let &[quote, _, next, ..] = index else { return None };
        let (text, next) = (self.text.get(quote as usize + 1..)?, next as usize);
        let whole = next.checked_sub(quote as usize + 1)?;
        let (ending, scalar) = (ending(self.text, next)?, Scalar::of(*text.get(length + 2)?));
        let after = if scalar.has_more(ending) {
            After::Member
        } else if scalar.is_last(ending) {
            After::Brace
        } else if whole == length + 3 {
            return self.bracketed(kernel, key, index, room);
        } else {
            return None;
        };
        if whole > PIECE && !put_rest(text, whole, room.get_mut(1..)?) {
            return None;
        }
        put(piece, length, front, room.first_chunk_mut()?);
        Some(Taken { entries: 2, bytes: 1 + whole, after })
    }

    /// A member whose key keeps its quotes, so that one more byte comes in front of the value; each no longer than a piece.
    #[inline(never)]
    fn quoted<K: Kernel>(&mut self, kernel: K, front: u8, index: &[u32], room: &mut [u8]) -> Option<Taken> {
        let &[quote, value, next, ..] = index else { return None };
        let [quote, value, next] = [quote, value, next].map(|place| place as usize);
        let (piece, from): (&[u8; PIECE], &[u8; PIECE]) = (window(self.text, quote)?, window(self.text, value)?);
        // With its quotes, without its colon.
        let length = value.checked_sub(quote + 1)?;
        let bytes = next.checked_sub(value)?;
        if !(2..PIECE).contains(&length) || bytes > PIECE || piece[length - 1..length + 1] != *b"\":" {
            return None;
        }
        let (ending, scalar) = (ending(self.text, next)?, Scalar::of(from[0]));
        let after = if scalar.has_more(ending) {
            After::Member
        } else if scalar.is_last(ending) {
            After::Brace
        } else {
            return self.bracketed(kernel, Key { piece, length, front }, index, room);
        };
        put(piece, length, front, room.first_chunk_mut()?);
        *room[length + 3..].first_chunk_mut()? = *from;
        Some(Taken { entries: 2, bytes: length + 3 + bytes, after })
    }

    /// Past the brackets that close, from the brace at the first entry on, to the next key: of the same object, or of the
    /// next in a list. None, and nothing done, if something else comes.
    #[inline(never)]
    fn close(&mut self, index: &[u32], room: &mut [u8]) -> Option<Taken> {
        let text = self.text;
        let brace = *index.first()? as usize;
        let mut levels = 0;
        let after = loop {
            let &[close, next] = index.get(levels..)?.first_chunk()?;
            let outer = self.nesting.around(levels)?;
            levels += 1;
            let around: &[u8; 3] = window(text, close as usize)?;
            match (outer, around, next.wrapping_sub(close)) {
                (Container::Object, [_, b'}', _], 1) | (Container::Array, [_, b']', _], 1) => {}
                (Container::Object, [_, b',', b'"'], 2) => break After::Member,
                (Container::Array, [_, b',', b'{'], 2) => break After::Opened,
                _ => return None,
            }
        };
        let opens = after == After::Opened;
        let entries = levels + usize::from(opens);
        let key = *index.get(entries)? as usize;
        let bytes = key - brace;
        // As deep as the one that has been closed, so not too deep.
        if opens && window(text, key - 1) != Some(b"{\"") || bytes > MANY {
            return None;
        }
        *room.first_chunk_mut()? = *window::<MANY>(text, brace)?;
        // One object closed and another opened is as it was.
        if !opens || levels > 1 {
            self.nesting.close_levels(levels);
            if opens {
                self.nesting.open(Container::Object);
            }
        }
        Some(Taken { entries, bytes: bytes - usize::from(opens), after })
    }
}

/// Writes a piece that begins with a key as it is to be written: with something in front, and the colon.
#[inline(always)]
pub(super) fn put(piece: &[u8; PIECE], length: usize, front: u8, into: &mut [u8; PIECE + 3]) {
    into[0] = front;
    into[1..1 + PIECE].copy_from_slice(piece);
    into[1 + length..3 + length].copy_from_slice(b": ");
}

/// In front of a member: the brace, of the first, which stays unwritten until then.
const BRACE: u8 = b'{';
/// In front of any other.
const SPACE: u8 = b' ';

/// A key as it is to be written, with which `piece` begins, and what comes in front of it.
pub(super) struct Key<'a> {
    pub(super) piece: &'a [u8; PIECE],
    pub(super) length: usize,
    pub(super) front: u8,
}

/// What has been taken and written.
pub(super) struct Taken {
    pub(super) entries: usize,
    pub(super) bytes: usize,
    pub(super) after: After,
}

/// What is behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// Another member.
    Member,
    /// The brace that closes the object.
    Brace,
    /// The first member of an object that has been opened.
    Opened,
}

impl After {
    /// What comes in front of the next member.
    #[inline(always)]
    fn front(self) -> u8 {
        if self == Self::Opened { BRACE } else { SPACE }
    }
}

/// Goes past some entries and what was written of them.
#[inline(always)]
fn step(index: &mut &[u32], entries: usize, room: &mut &mut [u8], bytes: usize) {
    *index = &index[entries..];
    *room = &mut std::mem::take(room)[bytes..];
}
