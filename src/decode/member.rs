//! Runs of members with bare keys, in and out of objects.
//!
//! One idea: where the next member begins must be known soon, for nothing can be done about it before. So a member is
//! looked at in one piece of 64 bytes: its end is the second quote in it, or for what is no string the first comma or
//! brace, whatever the key may be. That all of it is good is found out meanwhile. To look for the key's end first and
//! from there for the value's took twice as long.

use super::sprint::lexeme_end;
use crate::lexeme::Kind;
use crate::nesting::{Container, Nesting};
use crate::scan::BLOCK;
use crate::scan::arch::{Kernel, SPAN};
use crate::span::{text_end, window};

/// All that a run needs, in one place.
pub(super) struct Run<'a> {
    pub(super) bytes: &'a [u8],
    /// How many of the bytes are the input's.
    pub(super) stop: usize,
    /// Where it stands: at a key.
    pub(super) at: usize,
    /// Where to write.
    pub(super) room: &'a mut [u8],
    pub(super) nesting: &'a mut Nesting,
    /// How deep it may get.
    pub(super) depth: usize,
    /// Down to there it may close what is open: what is deeper is as in version 1.
    pub(super) floor: usize,
    /// How many spaces there are behind a colon, and a comma between members.
    pub(super) space: usize,
}

/// Where a run has stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
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
const AHEAD: usize = BLOCK + SPAN + 8;

/// What a member may need.
const ROOM: usize = AHEAD + 8;

impl Run<'_> {
    #[inline(never)]
    pub(super) fn go<K: Kernel>(&mut self, kernel: K) -> Stop {
        kernel.enter(
            #[inline(always)]
            || self.members(kernel),
        )
    }

    #[inline(always)]
    fn members<K: Kernel>(&mut self, kernel: K) -> Stop {
        let Self { bytes, stop, mut at, depth, space, .. } = *self;
        let mut room = std::mem::take(&mut self.room);
        let mut stopped = Stop::Here;
        loop {
            let Some(ahead) = window::<AHEAD>(bytes, at) else { break };
            let Some(into) = room.first_chunk_mut::<ROOM>() else { break };
            let (Some(block), Some(body)) = (ahead.first_chunk::<BLOCK>(), ahead.first_chunk::<SPAN>()) else { break };
            let key = kernel.identifier_len(body);
            // Of all that an identifier may hold only digits come before the letters. So does the colon of an empty one.
            if key >= SPAN || body[0] <= b':' || ahead[key] != b':' || space == 1 && ahead[key + 1] != b' ' {
                break;
            }
            let value = key + 1 + space;
            into[0] = b'"';
            into[1..1 + SPAN].copy_from_slice(body);
            into[1 + key..3 + key].copy_from_slice(b"\":");
            into[3 + key..3 + key + BLOCK].copy_from_slice(&ahead[value..value + BLOCK]);
            let end = match ahead[value] {
                b'"' => {
                    // There is none in the key: the first is where the value begins.
                    let quotes = kernel.quotes_of_block(block);
                    let end = (quotes & quotes.wrapping_sub(1)).trailing_zeros() as usize;
                    if end < BLOCK && ahead[end] == b'"' {
                        end + 1
                    } else {
                        // Long, or with escapes.
                        let Some(end) = text_end(kernel, bytes, at + value) else { break };
                        let from = &bytes[at + value..];
                        if !put_rest(from, end - (at + value), &mut room[3 + key..]) {
                            break;
                        }
                        end - at
                    }
                }
                b'{' | b'[' => match &[ahead[value], ahead[value + 1]] {
                    b"{}" | b"[]" if self.nesting.depth() < depth => value + 2,
                    [b'{', _] if self.nesting.depth() < depth => {
                        self.nesting.open(Container::Object);
                        at += value + 1;
                        room = &mut std::mem::take(&mut room)[key + 4..];
                        stopped = Stop::First;
                        continue;
                    }
                    b"[{" if self.nesting.depth() + 1 < depth && ahead[value + 2] != b'}' => {
                        self.nesting.open(Container::Array);
                        self.nesting.open(Container::Object);
                        at += value + 2;
                        room = &mut std::mem::take(&mut room)[key + 5..];
                        stopped = Stop::First;
                        continue;
                    }
                    _ => break,
                },
                first => {
                    let ends = kernel.find(block, b',') | kernel.find(block, b'}');
                    let end = ends.trailing_zeros() as usize;
                    let good = Kind::of(first).and_then(|kind| lexeme_end(kernel, bytes, at + value, kind));
                    if end >= BLOCK || good != Some(at + end) {
                        break;
                    }
                    end
                }
            };
            let written = key + 3 + end - value;
            if at + end + 2 >= stop {
                break;
            }
            match window(bytes, at + end) {
                Some([b',', next]) if space == 0 || *next == b' ' => {
                    room[written] = b',';
                    at += end + 1 + space;
                    room = &mut std::mem::take(&mut room)[written + 1..];
                    stopped = Stop::Member;
                }
                Some([b'}', _]) => {
                    room = &mut std::mem::take(&mut room)[written..];
                    let (behind, bytes);
                    (behind, bytes, stopped) = self.close(at + end, room);
                    at = behind;
                    room = &mut std::mem::take(&mut room)[bytes..];
                    if stopped == Stop::Behind {
                        break;
                    }
                }
                _ => break,
            }
        }
        self.at = at;
        self.room = room;
        stopped
    }

    /// Brackets that close, from a brace on, and what is between them and the next key. Where that leads to, how many bytes
    /// have been written, and what is there.
    #[inline(never)]
    fn close(&mut self, mut at: usize, room: &mut [u8]) -> (usize, usize, Stop) {
        let mut written = 0;
        while let (Some(&[close, next, after]), Some(into)) =
            (window(&self.bytes[..self.stop], at), room[written..].first_chunk_mut::<4>())
        {
            let object = self.nesting.innermost() == Some(Container::Object);
            if close != if object { b'}' } else { b']' } {
                break;
            }
            *into = [close, next, after, 0];
            self.nesting.close();
            at += 1;
            written += 1;
            if self.nesting.depth() <= self.floor {
                break;
            }
            match (self.nesting.innermost(), next) {
                (Some(Container::Object), b',') if self.space == 0 || after == b' ' => {
                    return (at + 1 + self.space, written + 1, Stop::Member);
                }
                (Some(Container::Array), b',') if after == b'{' && self.nesting.depth() < self.depth => {
                    if self.bytes[at + 2] == b'}' {
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

/// What is longer than a block, from its second on, if text and room go on for long enough.
#[inline(always)]
fn put_rest(text: &[u8], length: usize, room: &mut [u8]) -> bool {
    if text.len() < length + BLOCK || room.len() < length + 2 * BLOCK {
        return false;
    }
    for at in (BLOCK..length).step_by(BLOCK) {
        let (Some(block), Some(into)) = (window::<BLOCK>(text, at), room[at..].first_chunk_mut()) else { return false };
        *into = *block;
    }
    true
}
