//! Runs of the commonest thing in a document: members, in and out of objects, of lists of scalars and of lists of objects.
//!
//! One idea: `"key":` and ` key: ` are equally long. So a member with a bare key is copied as it stands, a [piece](super::piece) at a
//! time, and three bytes of it are changed. It is a function of its own, so that all it needs has a register; what comes
//! less often than once in three members or so has a function apart.

use super::Expansion;
use super::piece::{PIECE, Scalar, ending, has_next, is_odd, is_short, window};
use super::shape::Shape;
use crate::nesting::{Container, Nesting};
use crate::options::Limits;
use crate::scan::arch::{Kernel, SPAN};
use crate::span::put_rest;

/// All that a run needs, in one place: many arguments would go through memory, and be waited for there.
pub(super) struct Run<'a> {
    pub(super) text: &'a [u8],
    /// The entries that are left, from a key on. The text up to there has been written.
    pub(super) index: &'a [u32],
    /// Where to write.
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

/// The longest bare key that a piece has with its colon and the first byte of its value.
const LONGEST: usize = PIECE - 3;

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
        // A space in front, for all but the first.
        let mut lead = usize::from(!self.first);
        let stop = loop {
            let &[quote, _, next, ..] = index else { break Stop::Member };
            let (start, next) = (quote as usize + 1, next as usize);
            let Some(piece) = window(text, start) else { break Stop::Member };
            let mut length = kernel.identifier_len(beginning(piece));
            if length == SPAN {
                // A long one; of a longer one no end will be found.
                let rest = piece.last_chunk().expect("a piece is longer");
                length = (length + kernel.identifier_len(rest)).min(LONGEST);
            }
            // Of all that an identifier may hold only digits come before the letters. So does the quote of an empty key.
            if piece[0] <= b'9' || piece[length..length + 2] != *b"\":" {
                // A key as long as could be looked at may yet be bare.
                let taken = if length < LONGEST { self.quoted(kernel, lead, index, room) } else { None };
                let Some(Taken { entries, bytes, after }) = taken else { break Stop::Member };
                step(&mut index, entries, &mut room, bytes);
                lead = usize::from(after != After::Opened);
                if after != After::Brace {
                    continue;
                }
            } else {
                let Some(into) = room.first_chunk_mut() else { break Stop::Member };
                // What begins like a value behind the colon is the entry behind the key.
                let value = length + 2;
                let scalar = Scalar::of(piece[value]);
                let whole = next.wrapping_sub(start);
                let Some(ending) = ending(text, next) else { break Stop::Member };
                if !is_short(whole) {
                    let more = scalar.has_more(ending);
                    // So long, it should be a string, which cannot be odd.
                    if piece[value] != b'"' || !more && !scalar.is_last(ending) {
                        break Stop::Member;
                    }
                    put(piece, length, lead, into);
                    if !put_rest(&text[start..], whole, &mut room[lead..]) {
                        break Stop::Member;
                    }
                    step(&mut index, 2, &mut room, lead + whole);
                    lead = 1;
                    if more {
                        continue;
                    }
                } else if has_next(ending) && piece[value] != b'[' {
                    if scalar.has_more(ending) && !is_odd(piece, value, piece[whole - 2]) {
                        put(piece, length, lead, into);
                        step(&mut index, 2, &mut room, lead + whole);
                        lead = 1;
                        continue;
                    }
                    if piece[value] != b'{' || whole != value + 1 || self.nesting.depth() >= self.limits.depth {
                        break Stop::Member;
                    }
                    self.nesting.open(Container::Object);
                    put(piece, length, lead, into);
                    step(&mut index, 2, &mut room, lead + whole);
                    lead = 0;
                    continue;
                } else if scalar.is_last(ending) && !is_odd(piece, value, piece[whole - 1]) {
                    put(piece, length, lead, into);
                    if whole + 3 < PIECE && index.len() > 4 && piece[whole + 1] == b',' {
                        let outer = self.nesting.outer();
                        if piece[whole + 2] == b'"' && outer == Some(Container::Object) {
                            self.nesting.close();
                            step(&mut index, 3, &mut room, lead + whole + 2);
                            lead = 1;
                            continue;
                        }
                        // One object closed and another opened is as it was.
                        if piece[whole + 2..whole + 4] == *b"{\"" && outer == Some(Container::Array) {
                            step(&mut index, 4, &mut room, lead + whole + 3);
                            lead = 0;
                            continue;
                        }
                    }
                    step(&mut index, 2, &mut room, lead + whole);
                    lead = 1;
                } else {
                    // Right behind the colon, or it is not this key's.
                    let touches = whole == value + 1;
                    let key = Key { piece, length, lead };
                    let taken = if touches { self.bracketed(kernel, key, index, room) } else { None };
                    let Some(Taken { entries, bytes, after }) = taken else { break Stop::Member };
                    step(&mut index, entries, &mut room, bytes);
                    lead = usize::from(after != After::Opened);
                    if after != After::Brace {
                        continue;
                    }
                }
            }
            // At a brace.
            let Some(Taken { entries, bytes, after }) = self.close(index, room) else { break Stop::Brace };
            step(&mut index, entries, &mut room, bytes);
            lead = usize::from(after != After::Opened);
        };
        self.index = index;
        self.room = room;
        self.first = lead == 0;
        stop
    }

    /// A member whose key keeps its quotes, so that one more byte comes in front of the value; each no longer than a piece.
    #[inline(never)]
    fn quoted<K: Kernel>(&mut self, kernel: K, lead: usize, index: &[u32], room: &mut [u8]) -> Option<Taken> {
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
        let after = if scalar.has_more(ending) && !is_odd(from, 0, ending[5]) {
            After::Member
        } else if scalar.is_last(ending) && !is_odd(from, 0, ending[6]) {
            After::Brace
        } else {
            return self.bracketed(kernel, Key { piece, length, lead }, index, room);
        };
        put(piece, length, lead, room.first_chunk_mut()?);
        *room[lead + length + 2..].first_chunk_mut()? = *from;
        Some(Taken { entries: 2, bytes: lead + length + 2 + bytes, after })
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
        Some(Taken { entries, bytes, after })
    }
}

#[inline(always)]
fn beginning(piece: &[u8; PIECE]) -> &[u8; SPAN] {
    piece.first_chunk().expect("a piece is longer")
}

/// Writes a piece that begins with a key as it is to be written: a space in front, unless the key covers it, and the colon.
#[inline(always)]
pub(super) fn put(piece: &[u8; PIECE], length: usize, lead: usize, into: &mut [u8; PIECE + 2]) {
    into[0] = b' ';
    into[lead..lead + PIECE].copy_from_slice(piece);
    into[lead + length..lead + length + 2].copy_from_slice(b": ");
}

/// A key as it is to be written, with which `piece` begins, and whether a space comes before it.
pub(super) struct Key<'a> {
    pub(super) piece: &'a [u8; PIECE],
    pub(super) length: usize,
    pub(super) lead: usize,
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

/// Goes past some entries and what was written of them.
#[inline(always)]
fn step(index: &mut &[u32], entries: usize, room: &mut &mut [u8], bytes: usize) {
    *index = &index[entries..];
    *room = &mut std::mem::take(room)[bytes..];
}
