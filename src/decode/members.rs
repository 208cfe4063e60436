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
const MEMBER_INPUT: usize = 2 * BLOCK + 8;

// Padded input is shorter, so no member is read from padding.
const _: () = assert!(MEMBER_INPUT >= 2 * LOOKAHEAD);

/// The room that a member's output needs, with what is stored after its end.
const MEMBER_OUTPUT: usize = 2 * BLOCK + 8;

/// The key of a member.
struct Key {
    /// Its length in the output, with quotes and colon.
    written: usize,
    /// The position in the block where its value begins.
    value: usize,
    /// The quotes of the block, without the key's own.
    quotes: u64,
}

/// What was opened.
enum Opened {
    /// An empty container, which is closed too.
    Empty,
    /// An object, as the first of an array if there are two brackets; `first` is the position of its first member.
    Object { first: usize, brackets: usize },
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
        let bytes = self.cursor.bytes;
        let ahead: &[u8; MEMBER_INPUT] = bytes_at(bytes, *at)?;
        let into: &mut [u8; MEMBER_OUTPUT] = room.first_chunk_mut()?;
        let Key { written: key, value, quotes } =
            if QUOTED { self.quoted_key(ahead, into)? } else { self.bare_key(ahead, into)? };
        if self.space == 1 && ahead[value - 1] != b' ' {
            return None;
        }
        into[key..key + BLOCK].copy_from_slice(&ahead[value..value + BLOCK]);
        let mut quotes_written = 0;
        let end = match ahead[value] {
            b'"' => {
                // The first quote that is left opens the value.
                let end = (quotes & quotes.wrapping_sub(1)).trailing_zeros() as usize;
                let end = if end < BLOCK && ahead[end] == b'"' {
                    end + 1
                } else {
                    self.long_string(*at + value, &mut room[key..])? - *at
                };
                if *at + end >= self.cursor.end {
                    return None;
                }
                end
            }
            b'{' | b'[' => match self.open(*at + value, &mut room[key..])? {
                Opened::Empty => value + 2,
                Opened::Object { first, brackets } => {
                    *at = first;
                    advance(room, key + brackets);
                    return Some(Stop::First);
                }
            },
            b'A'..=b'Z' | b'a'..=b'z' => {
                let (end, bare) = self.cursor.word_end(*at + value)?;
                if bare {
                    quotes_written = self.bare_string(*at + value, end, &mut room[key..])?;
                }
                end - *at
            }
            _ if value < BLOCK => self.number_end::<QUOTED>(ahead, *at, value)?,
            _ => return None,
        };
        let written = key + quotes_written + end - value;
        match bytes_at(bytes, *at + end)? {
            [COMMA, next] => {
                room[written] = COMMA;
                *at = self.after_comma(*at + end + 1, *next)?;
                advance(room, written + 1);
                Some(Stop::Member)
            }
            [next, _] => {
                let brace = if *next == b'}' { *at + end } else { self.closing_brace(*at + end)? };
                advance(room, written);
                let (next, written, stopped) = self.close(brace, room);
                *at = next;
                advance(room, written);
                Some(stopped)
            }
        }
    }

    /// Reads a quoted key, and writes it with its colon.
    #[inline(always)]
    fn quoted_key(&self, ahead: &[u8; MEMBER_INPUT], into: &mut [u8; MEMBER_OUTPUT]) -> Option<Key> {
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
    fn bare_key(&self, ahead: &[u8; MEMBER_INPUT], into: &mut [u8; MEMBER_OUTPUT]) -> Option<Key> {
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

    /// Writes the bare string from `at` to `end` in quotes; returns how many quotes those are.
    #[inline(always)]
    fn bare_string(&self, at: usize, end: usize, room: &mut [u8]) -> Option<usize> {
        let (body, length) = (&self.cursor.bytes[at..], end - at);
        let (quote, room) = room.split_first_mut()?;
        *quote = b'"';
        *room.first_chunk_mut::<BLOCK>()? = *body.first_chunk()?;
        if length > BLOCK && !copy_further_blocks(body, length, room) {
            return None;
        }
        *room.get_mut(length)? = b'"';
        Some(2)
    }

    /// Returns where the number ends that begins at `value` in the block at `at`.
    #[inline(always)]
    fn number_end<const QUOTED: bool>(&self, ahead: &[u8; MEMBER_INPUT], at: usize, value: usize) -> Option<usize> {
        let block: &[u8; BLOCK] = ahead.first_chunk()?;
        let ends = self.cursor.kernel.find(block, COMMA) | self.cursor.kernel.find(block, b'}');
        // A bare key holds neither.
        let end = (if QUOTED { ends >> value << value } else { ends }).trailing_zeros() as usize;
        let good = self.cursor.number_end(at + value)?;
        if good == at + end {
            return Some(end);
        }
        // Whitespace before the comma or brace.
        (self.skips && *self.cursor.bytes.get(good)? <= b' ').then_some(good - at)
    }

    /// Returns the position of the member after a comma; `at` is after the comma, and `next` is the byte there.
    #[inline(always)]
    fn after_comma(&mut self, at: usize, next: u8) -> Option<usize> {
        // A branch, so that the position does not wait for the byte. Without spaces the next member is tried at once.
        if self.space == 0 || next == b' ' {
            return Some(at + self.space);
        }
        self.skips.then(|| self.skip_white(at))
    }

    /// Skips whitespace, and returns the position after it.
    #[inline(never)]
    fn skip_white(&mut self, at: usize) -> usize {
        let (next, end) = self.cursor.skip_white(at);
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

    /// Opens the object at `at`, or the array there and its first object; returns none, and does nothing, if it is another array.
    #[inline(always)]
    fn open(&mut self, at: usize, room: &mut [u8]) -> Option<Opened> {
        let [bracket, next, after] = *bytes_at(self.cursor.bytes, at)?;
        let room_below = self.cursor.limits.depth.saturating_sub(self.nesting.depth());
        if at >= self.cursor.end || room_below == 0 {
            return None;
        }
        match (bracket, next) {
            (b'{', b'}') | (b'[', b']') => {
                self.nesting.reach(1);
                Some(Opened::Empty)
            }
            (b'{', b'!'..) => {
                self.nesting.open(Container::Object);
                Some(Opened::Object { first: at + 1, brackets: 1 })
            }
            (b'[', b'{') if after > b' ' && after != b'}' && room_below > 1 => {
                self.nesting.open(Container::Array);
                self.nesting.open(Container::Object);
                Some(Opened::Object { first: at + 2, brackets: 2 })
            }
            (_, ..=b' ') | (b'[', b'{') if self.skips => self.open_spaced(at, room),
            _ => None,
        }
    }

    /// Does the same where whitespace comes after a bracket.
    #[inline(never)]
    fn open_spaced(&mut self, at: usize, room: &mut [u8]) -> Option<Opened> {
        let array = self.cursor.bytes[at] == b'[';
        let brackets = 1 + usize::from(array);
        if self.nesting.depth() + brackets > self.cursor.limits.depth {
            return None;
        }
        let first = self.first_member(at + usize::from(array))?;
        if array {
            self.nesting.open(Container::Array);
            room[..2].copy_from_slice(b"[{");
        }
        self.nesting.open(Container::Object);
        Some(Opened::Object { first, brackets })
    }

    /// Closes containers, from a brace on, as many as end here, and reads what is between them and the next key if there is one.
    /// Returns the position after that, how many bytes have been written, and what is there. Whitespace is left to a function that
    /// is called last: with calls inside this loop, every object took 40 instructions more.
    #[inline(never)]
    fn close(&mut self, mut at: usize, room: &mut [u8]) -> (usize, usize, Stop) {
        let mut written = 0;
        let bytes = self.cursor.bytes;
        while let (Some(&[close, next, after]), Some(into)) =
            (bytes_at(bytes, at), room[written..].first_chunk_mut::<4>())
        {
            let object = self.nesting.innermost() == Some(Container::Object);
            if close != if object { b'}' } else { b']' } {
                break;
            }
            *into = [close, COMMA, b'{', 0];
            self.nesting.close();
            at += 1;
            written += 1;
            if self.nesting.depth() <= self.boundary {
                return (at, written, Stop::After);
            }
            match (self.nesting.innermost(), next) {
                (Some(Container::Object), COMMA) if self.space == 0 || after == b' ' => {
                    return (at + 1 + self.space, written + 1, Stop::Member);
                }
                // An object as deep as the one that was closed, so not too deep.
                (Some(Container::Array), COMMA) if after == b'{' => {
                    if bytes.get(at + 2).is_none_or(|&first| first <= b' ' || first == b'}') {
                        break;
                    }
                    self.nesting.open(Container::Object);
                    return (at + 2, written + 2, Stop::First);
                }
                (_, COMMA) => break,
                _ => {}
            }
        }
        if self.skips { self.close_spaced(at, written, room) } else { (at, written, Stop::After) }
    }

    /// Does the rest of [`close`](Self::close) for text with whitespace; returns the same.
    #[inline(never)]
    fn close_spaced(&mut self, mut at: usize, mut written: usize, room: &mut [u8]) -> (usize, usize, Stop) {
        let bytes = self.cursor.bytes;
        while let Some(into) = room[written..].first_chunk_mut::<2>() {
            at = self.skip_white(at);
            match (self.nesting.innermost(), bytes.get(at)) {
                (Some(Container::Object), Some(b'}')) => into[0] = b'}',
                (Some(Container::Array), Some(b']')) => into[0] = b']',
                (Some(Container::Object), Some(&COMMA)) => {
                    into[0] = COMMA;
                    return (self.skip_white(at + 1), written + 1, Stop::Member);
                }
                (Some(Container::Array), Some(&COMMA)) => {
                    let Some(member) = self.first_member(at + 1) else { break };
                    *into = *b",{";
                    self.nesting.open(Container::Object);
                    return (member, written + 2, Stop::First);
                }
                _ => break,
            }
            self.nesting.close();
            at += 1;
            written += 1;
            if self.nesting.depth() <= self.boundary {
                break;
            }
        }
        (at, written, Stop::After)
    }

    /// Returns the position of the first member of the object at `at`, where whitespace may come before and after the brace; none,
    /// and nothing is skipped, if there is no such object or it is empty.
    #[inline(never)]
    fn first_member(&mut self, at: usize) -> Option<usize> {
        let (bytes, end) = (self.cursor.bytes, self.cursor.end);
        let mut first = self.skip_white(at);
        if bytes.get(first) == Some(&b'{') {
            first = self.skip_white(first + 1);
            if bytes.get(first).is_some_and(|&byte| byte != b'}') {
                return Some(first);
            }
        }
        self.cursor.end = end;
        None
    }
}

/// Goes past what was written.
#[inline(always)]
fn advance(room: &mut &mut [u8], bytes: usize) {
    *room = &mut std::mem::take(room)[bytes..];
}
