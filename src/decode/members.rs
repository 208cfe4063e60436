//! Runs of members, in and out of objects and lists of objects, with bare keys or with quoted ones.
//!
//! One idea: where the next member begins must be known soon, for nothing can be done about it before. So a member is
//! looked at in one piece of 64 bytes: with a bare key its end is the second quote in it, or for what is no string the
//! first comma or brace. That all of it is good is found out meanwhile. To look for the key's end first and from there
//! for the value's took twice as long.

use crate::buffer::BLOCK;
use crate::decode::cursor::{Cursor, LOOKAHEAD};
use crate::json::lexer::Kind;
use crate::json::nesting::{Container, Nesting};
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::span::{put_rest, text_end, window};

/// All that a run needs, in one place.
pub(crate) struct Run<'a, K> {
    /// At a key.
    pub(crate) cursor: Cursor<'a, K>,
    /// Where to write.
    pub(crate) room: &'a mut [u8],
    pub(crate) nesting: &'a mut Nesting,
    /// Containers deeper than this are as in version 1, and may be closed here.
    pub(crate) boundary: usize,
    /// How many spaces there are behind a colon, and a comma between members.
    pub(crate) space: usize,
}

/// Where a run has stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Where it began.
    Here,
    /// At another member.
    Member,
    /// At the first member of an object.
    First,
    /// Behind a value.
    Behind,
}

/// What is looked at for a member: a block from its key on, and as much for its value.
const AHEAD: usize = 2 * BLOCK + 8;

// Where the input is so near its end that zeros are put behind it there is no run: none can be taken for input.
const _: () = assert!(AHEAD >= 2 * LOOKAHEAD);

/// What is written for a member, or scribbled behind it.
const ROOM: usize = 2 * BLOCK + 8;

impl<K: Kernel> Run<'_, K> {
    /// Writes members for as long as they are plain, and the brackets between them.
    #[inline(always)]
    pub(crate) fn go(&mut self) -> Stop {
        let mut stopped = Stop::Here;
        loop {
            // Each in code of its own: with both in one, bare keys took a third longer.
            let quoted = self.cursor.bytes.get(self.cursor.at) == Some(&b'"');
            match if quoted { self.run::<true>() } else { self.run::<false>() } {
                Stop::Here => return stopped,
                Stop::Behind => return Stop::Behind,
                other => stopped = other,
            }
        }
    }

    /// The same with keys of one kind.
    #[inline(never)]
    fn run<const QUOTED: bool>(&mut self) -> Stop {
        self.cursor.kernel.enter(
            #[inline(always)]
            || self.members::<QUOTED>(),
        )
    }

    #[inline(always)]
    fn members<const QUOTED: bool>(&mut self) -> Stop {
        let mut at = self.cursor.at;
        let mut room = std::mem::take(&mut self.room);
        let mut stopped = Stop::Here;
        while stopped != Stop::Behind
            && let Some(now) = self.member::<QUOTED>(&mut at, &mut room)
        {
            stopped = now;
        }
        self.cursor.at = at;
        self.room = room;
        stopped
    }

    /// A member, or what opens its value; none, and nothing done, if it is not plain.
    #[inline(always)]
    fn member<const QUOTED: bool>(&mut self, at: &mut usize, room: &mut &mut [u8]) -> Option<Stop> {
        let Cursor { kernel, bytes, limits, .. } = self.cursor;
        let (depth, space) = (limits.depth, self.space);
        let ahead: &[u8; AHEAD] = window(bytes, *at)?;
        let into: &mut [u8; ROOM] = room.first_chunk_mut()?;
        let block: &[u8; BLOCK] = ahead.first_chunk()?;
        let body: &[u8; SPAN] = ahead.first_chunk()?;
        let mut quotes = kernel.quotes_of_block(block);
        // How long the key is in the output, with its colon, and where the value begins.
        let (key, value);
        if QUOTED {
            if body[0] != b'"' {
                return None;
            }
            quotes &= quotes.wrapping_sub(1);
            let close = quotes.trailing_zeros() as usize;
            if close >= BLOCK || ahead[close..close + 2] != *b"\":" {
                return None;
            }
            quotes &= quotes.wrapping_sub(1);
            (key, value) = (close + 2, close + 2 + space);
            into[..BLOCK].copy_from_slice(block);
            into[close + 1] = b':';
        } else {
            let mut length = kernel.identifier_len(body);
            into[0] = b'"';
            into[1..1 + SPAN].copy_from_slice(body);
            if length == SPAN {
                // A long one; of a longer one no colon will be found.
                let rest: &[u8; SPAN] = block.last_chunk()?;
                length += kernel.identifier_len(rest);
                into[1 + SPAN..1 + BLOCK].copy_from_slice(rest);
            }
            // Of all that an identifier may hold only digits come before the letters. So does the colon of an empty one.
            if body[0] <= b':' || ahead[length] != b':' {
                return None;
            }
            (key, value) = (length + 3, length + 1 + space);
            into[1 + length..3 + length].copy_from_slice(b"\":");
        }
        if space == 1 && ahead[value - 1] != b' ' {
            return None;
        }
        into[key..key + BLOCK].copy_from_slice(&ahead[value..value + BLOCK]);
        let end = match ahead[value] {
            b'"' => {
                // The first that is left is where the value begins.
                let end = (quotes & quotes.wrapping_sub(1)).trailing_zeros() as usize;
                if end < BLOCK && ahead[end] == b'"' {
                    end + 1
                } else {
                    // Long, or with escapes.
                    let end = text_end(kernel, bytes, *at + value)?;
                    if !put_rest(&bytes[*at + value..], end - (*at + value), &mut room[key..]) {
                        return None;
                    }
                    end - *at
                }
            }
            b'{' | b'[' => match &[ahead[value], ahead[value + 1]] {
                b"{}" | b"[]" if self.nesting.depth() < depth => {
                    self.nesting.reach(1);
                    value + 2
                }
                [b'{', _] if self.nesting.depth() < depth => {
                    self.nesting.open(Container::Object);
                    *at += value + 1;
                    step(room, key + 1);
                    return Some(Stop::First);
                }
                b"[{" if self.nesting.depth() + 1 < depth && ahead[value + 2] != b'}' => {
                    self.nesting.open(Container::Array);
                    self.nesting.open(Container::Object);
                    *at += value + 2;
                    step(room, key + 2);
                    return Some(Stop::First);
                }
                _ => return None,
            },
            first if value < BLOCK => {
                let ends = kernel.find(block, b',') | kernel.find(block, b'}');
                // In a bare key there are none.
                let end = (if QUOTED { ends >> value << value } else { ends }).trailing_zeros() as usize;
                let good = Kind::of(first).and_then(|kind| self.cursor.lexeme_end(*at + value, kind));
                if good != Some(*at + end) {
                    return None;
                }
                end
            }
            _ => return None,
        };
        let written = key + end - value;
        match window(bytes, *at + end)? {
            [b',', next] if space == 0 || *next == b' ' => {
                room[written] = b',';
                *at += end + 1 + space;
                step(room, written + 1);
                Some(Stop::Member)
            }
            [b'}', _] => {
                step(room, written);
                let (behind, bytes, stopped) = self.close(*at + end, room);
                *at = behind;
                step(room, bytes);
                Some(stopped)
            }
            _ => None,
        }
    }

    /// Brackets that close, from a brace on, as many as can be, and what is between them and the next key if one comes. Where
    /// that leads to, how many bytes have been written, and what is there.
    #[inline(never)]
    fn close(&mut self, mut at: usize, room: &mut [u8]) -> (usize, usize, Stop) {
        let mut written = 0;
        while let (Some(&[close, next, after]), Some(into)) =
            (window(self.cursor.bytes, at), room[written..].first_chunk_mut::<4>())
        {
            let object = self.nesting.innermost() == Some(Container::Object);
            if close != if object { b'}' } else { b']' } {
                break;
            }
            *into = [close, next, after, 0];
            self.nesting.close();
            at += 1;
            written += 1;
            if self.nesting.depth() <= self.boundary {
                break;
            }
            match (self.nesting.innermost(), next) {
                (Some(Container::Object), b',') if self.space == 0 || after == b' ' => {
                    return (at + 1 + self.space, written + 1, Stop::Member);
                }
                // As deep as the one that has been closed, so not too deep.
                (Some(Container::Array), b',') if after == b'{' => {
                    if self.cursor.bytes.get(at + 2).is_none_or(|&first| first == b'}') {
                        break;
                    }
                    self.nesting.open(Container::Object);
                    return (at + 2, written + 2, Stop::First);
                }
                _ => {}
            }
        }
        (at, written, Stop::Behind)
    }
}

/// Goes past what was written.
#[inline(always)]
fn step(room: &mut &mut [u8], bytes: usize) {
    *room = &mut std::mem::take(room)[bytes..];
}
