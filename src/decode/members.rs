//! A fast path over members, in and out of objects and arrays of objects, with bare keys or quoted ones.
//!
//! The position of the next member must be known early, because nothing can start before it is. So a member is examined as one
//! block of 64 bytes from its key on. A string's end is found by counting quotes in a mask, any other value's end is the first
//! comma or brace; that the member is well-formed is checked beside, off the path to the next one.
//!
//! ```text
//! block    name: "ann", id: 7}
//! quotes   000000100010000000      the second one ends the value, at 10
//! next     after the comma and the space, at 13
//! ```
//!
//! Finding the key's end first and the value's end from there took twice as long.

use crate::buffer::BLOCK;
use crate::decode::cursor::{Cursor, LOOKAHEAD};
use crate::format::COMMA;
use crate::json::nesting::{Container, Nesting};
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::span::{bytes_at, copy_further_blocks, text_end};

/// A reader of members.
pub(crate) struct Members<'a, K> {
    /// At a key.
    pub(crate) cursor: Cursor<'a, K>,
    /// The output still to be written to.
    pub(crate) room: &'a mut [u8],
    pub(crate) nesting: &'a mut Nesting,
    /// Containers deeper than this are as in version 1, and may be closed here.
    pub(crate) boundary: usize,
    /// The spaces after a colon, and after a comma between members.
    pub(crate) space: usize,
    /// Whether other whitespace may be skipped.
    pub(crate) skips: bool,
}

/// Where the reader of members stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Where it began.
    Here,
    /// At a further member.
    Member,
    /// At the first member of an object.
    First,
    /// After a value.
    After,
}

/// The bytes that are examined for a member: a block from its key on, and a block from its value on.
const AHEAD: usize = 2 * BLOCK + 8;

// Padded input is shorter, so no member is read from padding.
const _: () = assert!(AHEAD >= 2 * LOOKAHEAD);

/// The room that a member's output needs, with what is stored after its end.
const ROOM: usize = 2 * BLOCK + 8;

/// The key of a member.
struct Key {
    /// Its length in the output, with quotes and colon.
    written: usize,
    /// The position in the block where its value begins.
    value: usize,
    /// The quotes of the block, without the key's own.
    quotes: u64,
}

impl<K: Kernel> Members<'_, K> {
    /// Reads members as long as they have a plain form, and the brackets between them.
    #[inline(always)]
    pub(crate) fn read(&mut self) -> Stop {
        let mut stopped = Stop::Here;
        loop {
            // Bare and quoted keys have code of their own: with both in one loop, bare keys took a third longer.
            let quoted = self.cursor.bytes.get(self.cursor.at) == Some(&b'"');
            match if quoted { self.read_alike::<true>() } else { self.read_alike::<false>() } {
                Stop::Here => return stopped,
                Stop::After => return Stop::After,
                other => stopped = other,
            }
        }
    }

    /// Reads members as long as their keys are of one kind.
    #[inline(never)]
    fn read_alike<const QUOTED: bool>(&mut self) -> Stop {
        self.cursor.kernel.enter(
            #[inline(always)]
            || {
                let mut at = self.cursor.at;
                let mut room = std::mem::take(&mut self.room);
                let mut stopped = Stop::Here;
                while stopped != Stop::After
                    && let Some(now) = self.member::<QUOTED>(&mut at, &mut room)
                {
                    stopped = now;
                }
                self.cursor.at = at;
                self.room = room;
                stopped
            },
        )
    }

    /// Reads a member, or what opens its value; returns none, and does nothing, if the member is not for this path.
    #[inline(always)]
    fn member<const QUOTED: bool>(&mut self, at: &mut usize, room: &mut &mut [u8]) -> Option<Stop> {
        let Cursor { bytes, limits, .. } = self.cursor;
        let ahead: &[u8; AHEAD] = bytes_at(bytes, *at)?;
        let into: &mut [u8; ROOM] = room.first_chunk_mut()?;
        let Key { written: key, value, quotes } =
            if QUOTED { self.quoted_key(ahead, into)? } else { self.bare_key(ahead, into)? };
        if self.space == 1 && ahead[value - 1] != b' ' {
            return None;
        }
        into[key..key + BLOCK].copy_from_slice(&ahead[value..value + BLOCK]);
        let end = match ahead[value] {
            b'"' => {
                // The first quote that is left opens the value.
                let end = (quotes & quotes.wrapping_sub(1)).trailing_zeros() as usize;
                if end < BLOCK && ahead[end] == b'"' {
                    end + 1
                } else {
                    self.long_string(*at + value, &mut room[key..])? - *at
                }
            }
            b'{' | b'[' => match &[ahead[value], ahead[value + 1]] {
                b"{}" | b"[]" if self.nesting.depth() < limits.depth => {
                    self.nesting.reach(1);
                    value + 2
                }
                _ => {
                    let (first, opened) = self.open(*at + value, &mut room[key..])?;
                    *at = first;
                    advance(room, key + opened);
                    return Some(Stop::First);
                }
            },
            _ if value < BLOCK => self.other_end::<QUOTED>(ahead, *at, value)?,
            _ => return None,
        };
        if *at + end >= self.cursor.end {
            return None;
        }
        let written = key + end - value;
        let [next, after] = *bytes_at(bytes, *at + end)?;
        if next == COMMA {
            *at = self.next_member(*at + end + 1, after)?;
            room[written] = COMMA;
            advance(room, written + 1);
            return Some(Stop::Member);
        }
        let close = if next == b'}' { *at + end } else { self.closing_brace(*at + end)? };
        advance(room, written);
        let (next, written, stopped) = self.close(close, room);
        *at = next;
        advance(room, written);
        Some(stopped)
    }

    /// Reads a quoted key, and writes it with its colon.
    #[inline(always)]
    fn quoted_key(&self, ahead: &[u8; AHEAD], into: &mut [u8; ROOM]) -> Option<Key> {
        let block: &[u8; BLOCK] = ahead.first_chunk()?;
        let mut quotes = self.cursor.kernel.quotes_of_block(block);
        if block[0] != b'"' {
            return None;
        }
        quotes &= quotes.wrapping_sub(1);
        let close = quotes.trailing_zeros() as usize;
        if close >= BLOCK || ahead[close..close + 2] != *b"\":" {
            return None;
        }
        into[..BLOCK].copy_from_slice(block);
        into[close + 1] = b':';
        let quotes = quotes & quotes.wrapping_sub(1);
        Some(Key { written: close + 2, value: close + 2 + self.space, quotes })
    }

    /// Reads a bare key, and writes it in quotes with its colon.
    #[inline(always)]
    fn bare_key(&self, ahead: &[u8; AHEAD], into: &mut [u8; ROOM]) -> Option<Key> {
        let block: &[u8; BLOCK] = ahead.first_chunk()?;
        let body: &[u8; SPAN] = ahead.first_chunk()?;
        let kernel = self.cursor.kernel;
        let quotes = kernel.quotes_of_block(block);
        let mut length = kernel.identifier_len(body);
        into[0] = b'"';
        into[1..1 + SPAN].copy_from_slice(body);
        if length == SPAN {
            // A key longer than a block has no colon where one is expected below.
            let rest: &[u8; SPAN] = block.last_chunk()?;
            length += kernel.identifier_len(rest);
            into[1 + SPAN..1 + BLOCK].copy_from_slice(rest);
        }
        // Of the bytes of an identifier only digits are less than a colon. The first byte of an empty key is the colon.
        if body[0] <= b':' || ahead[length] != b':' {
            return None;
        }
        into[1 + length..3 + length].copy_from_slice(b"\":");
        Some(Key { written: length + 3, value: length + 1 + self.space, quotes })
    }

    /// Returns where the string at `at` ends, which is long or has escapes, and writes it from its second block on.
    #[inline(always)]
    fn long_string(&self, at: usize, room: &mut [u8]) -> Option<usize> {
        let end = text_end(self.cursor.kernel, self.cursor.bytes, at)?;
        copy_further_blocks(&self.cursor.bytes[at..], end - at, room).then_some(end)
    }

    /// Returns where the number or literal ends that begins at `value` in the block at `at`.
    #[inline(always)]
    fn other_end<const QUOTED: bool>(&self, ahead: &[u8; AHEAD], at: usize, value: usize) -> Option<usize> {
        let block: &[u8; BLOCK] = ahead.first_chunk()?;
        let ends = self.cursor.kernel.find(block, COMMA) | self.cursor.kernel.find(block, b'}');
        // A bare key holds neither.
        let end = (if QUOTED { ends >> value << value } else { ends }).trailing_zeros() as usize;
        let good = self.cursor.scalar_end(at + value)?;
        if good == at + end {
            return Some(end);
        }
        // Whitespace before the comma or brace.
        (self.skips && *self.cursor.bytes.get(good)? <= b' ').then_some(good - at)
    }

    /// Returns the position of the member after a comma; `at` is after the comma, and `next` is the byte there.
    #[inline(always)]
    fn next_member(&mut self, at: usize, next: u8) -> Option<usize> {
        // A branch, so that the position does not wait for the byte.
        if if self.space == 0 { next > b' ' } else { next == b' ' } {
            return Some(at + self.space);
        }
        self.skips.then(|| self.skip_white(at))
    }

    /// Skips whitespace, and returns the position after it.
    #[inline(never)]
    fn skip_white(&mut self, at: usize) -> usize {
        let cursor = self.cursor;
        let (next, end) = cursor.kernel.enter(
            #[inline(always)]
            || cursor.skip_white(at),
        );
        self.cursor.end = end;
        next
    }

    /// Returns the position of the brace that comes after the whitespace at `at`; none, and nothing is skipped, if none does.
    #[inline(never)]
    fn closing_brace(&mut self, at: usize) -> Option<usize> {
        let end = self.cursor.end;
        let brace = if self.skips { self.skip_white(at) } else { at };
        if self.cursor.bytes.get(brace) != Some(&b'}') {
            self.cursor.end = end;
            return None;
        }
        Some(brace)
    }

    /// Opens the object at `at`, or the array there and its first object. Returns the position of the object's first member, and
    /// how many brackets have been written; none, and nothing is done, if it is another array or an empty object.
    #[inline(always)]
    fn open(&mut self, at: usize, room: &mut [u8]) -> Option<(usize, usize)> {
        let array = self.cursor.bytes[at] == b'[';
        let opened = 1 + usize::from(array);
        if at >= self.cursor.end || self.nesting.depth() + opened > self.cursor.limits.depth {
            return None;
        }
        let first = self.first_member(at + usize::from(array))?;
        if array {
            self.nesting.open(Container::Array);
            room[..2].copy_from_slice(b"[{");
        }
        self.nesting.open(Container::Object);
        Some((first, opened))
    }

    /// Closes containers, from a brace on, as many as end here, and reads what is between them and the next key if there is one.
    /// Returns the position after that, how many bytes have been written, and what is there.
    #[inline(never)]
    fn close(&mut self, mut at: usize, room: &mut [u8]) -> (usize, usize, Stop) {
        let mut written = 0;
        let bytes = self.cursor.bytes;
        while let (Some(&[close, next, after]), Some(into)) =
            (bytes_at(bytes, at), room[written..].first_chunk_mut::<4>())
        {
            if close <= b' ' && self.skips {
                at = self.skip_white(at);
                if bytes.get(at).is_none_or(|&byte| byte <= b' ') {
                    break;
                }
                continue;
            }
            let object = self.nesting.innermost() == Some(Container::Object);
            if close != if object { b'}' } else { b']' } {
                break;
            }
            *into = [close, COMMA, b'{', 0];
            self.nesting.close();
            at += 1;
            written += 1;
            if self.nesting.depth() <= self.boundary {
                break;
            }
            match (self.nesting.innermost(), next) {
                (Some(Container::Object), COMMA) => {
                    let Some(member) = self.next_member(at + 1, after) else { break };
                    return (member, written + 1, Stop::Member);
                }
                // An object as deep as the one that was closed, so not too deep.
                (Some(Container::Array), COMMA) => {
                    let Some(member) = self.first_member(at + 1) else { break };
                    self.nesting.open(Container::Object);
                    return (member, written + 2, Stop::First);
                }
                _ => {}
            }
        }
        (at, written, Stop::After)
    }

    /// Returns the position of the first member of the object at `at`; none, and nothing is skipped, if there is no such object
    /// or it is empty.
    #[inline(always)]
    fn first_member(&mut self, at: usize) -> Option<usize> {
        let (bytes, end) = (self.cursor.bytes, self.cursor.end);
        let mut skipped = |at: usize| {
            let white = *bytes.get(at)? <= b' ' && self.skips;
            Some(if white { self.skip_white(at) } else { at })
        };
        let object = skipped(at).filter(|&at| bytes.get(at) == Some(&b'{'));
        let first = object.and_then(|at| skipped(at + 1));
        let first = first.filter(|&at| bytes.get(at).is_some_and(|&byte| byte != b'}'));
        if first.is_none() {
            self.cursor.end = end;
        }
        first
    }
}

/// Goes past what was written.
#[inline(always)]
fn advance(room: &mut &mut [u8], bytes: usize) {
    *room = &mut std::mem::take(room)[bytes..];
}
