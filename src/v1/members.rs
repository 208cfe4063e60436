//! Fast path: members of objects, including those that open and close objects and arrays of objects.
//!
//! One idea: `"key":` and ` key: ` are equally long. So a member with a bare key is copied unchanged, a block at a time,
//! and three bytes of it are overwritten:
//!
//! ```text
//! in    "id":7,"name":"x"}
//! out    id: 7, name: "x"}      the quotes became spaces, `":` became `: `
//! ```
//!
//! The byte that takes the first quote's place is the member's prefix: a space, or the `{` of the object if the member is
//! its first. The loop is a function of its own, so that all it needs has a register; what occurs less often than once in
//! three members or so is outlined.

use super::cursor::{Cursor, MEMBER_BLOCK, bytes_at, ending_within};
use super::shape::Shape;
use crate::buffer::BLOCK;
use crate::format::{COLON, MEMBER_SPACE, OBJECT_OPEN};
use crate::json::nesting::{Container, Nesting};
use crate::json::scalar::{Scalar, ending};
use crate::json::scan::arch::Kernel;
use crate::json::span::copy_further_blocks;

/// The fast path over members.
pub(super) struct Members<'a> {
    /// At a key; the text up to there has been written. If the key is its object's first, the room begins with the brace.
    pub(super) cursor: Cursor<'a>,
    pub(super) nesting: &'a mut Nesting,
    pub(super) shape: &'a mut Shape,
    /// Whether the next member is its object's first.
    pub(super) first: bool,
}

/// Where [`Members`] has stopped.
pub(super) enum Stop {
    /// At a member that needs the slow path, or at something else in place of a member.
    Member,
    /// At the brace that closes an object and is not followed by a key.
    Brace,
}

/// A key as it will be written, with which `block` begins, and the byte before it.
pub(super) struct Key<'a> {
    pub(super) block: &'a [u8; BLOCK],
    pub(super) length: usize,
    pub(super) prefix: u8,
}

/// How many entries have been read and how many bytes have been written for them.
pub(super) struct Consumed {
    pub(super) entries: usize,
    pub(super) bytes: usize,
    pub(super) then: Follows,
}

/// What follows a member.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// Another member.
    Member,
    /// The brace that closes the object.
    Brace,
    /// The first member of an object that has just been opened.
    FirstMember,
}

impl Follows {
    /// Returns the prefix of the next member.
    #[inline(always)]
    fn prefix(self) -> u8 {
        if self == Self::FirstMember { OBJECT_OPEN } else { MEMBER_SPACE }
    }
}

/// The bytes of closing brackets, comma and opening brace that [`Members::close`] copies at once.
const MAX_CLOSING: usize = 16;

impl Members<'_> {
    /// Writes members for as long as they are plain, and the brackets between them.
    #[inline(never)]
    pub(super) fn write<K: Kernel>(&mut self, kernel: K) -> Stop {
        kernel.enter(
            #[inline(always)]
            || self.write_members(kernel),
        )
    }

    #[inline(always)]
    fn write_members<K: Kernel>(&mut self, kernel: K) -> Stop {
        let text = self.cursor.text;
        let mut index = self.cursor.index;
        // That every further entry is a key is known from the member before it.
        if index.first().and_then(|&place| text.get(place as usize)) != Some(&b'"') {
            return Stop::Member;
        }
        let mut room = std::mem::take(&mut self.cursor.room);
        let mut prefix = if self.first { OBJECT_OPEN } else { MEMBER_SPACE };
        let stop = loop {
            let &[quote, _, next, ..] = index else { break Stop::Member };
            let (quote, next) = (quote as usize, next as usize);
            let Some(member): Option<&[u8; MEMBER_BLOCK]> = bytes_at(text, quote) else { break Stop::Member };
            let block = member[1..].first_chunk().expect("a block is shorter");
            let length = kernel.identifier_len_of_block(block);
            // Of the bytes of an identifier only digits are below the letters. So is the quote of an empty key.
            let consumed = if block[0] <= b'9' || member[length + 1..length + 3] != *b"\":" {
                // A key that fills the block may still be bare.
                if length < BLOCK { self.quoted(kernel, prefix, index, room) } else { None }
            } else {
                let Some(into) = room.first_chunk_mut() else { break Stop::Member };
                let key = Key { block, length, prefix };
                // The byte after the colon begins the value if the value is the next entry, which `ending` proves.
                let scalar = Scalar::of(member[length + 3]);
                let whole = next.wrapping_sub(quote);
                match ending_within(member, whole) {
                    Some(ending) if scalar.has_more(ending) => {
                        write_key(&key, into);
                        step(&mut index, 2, &mut room, whole);
                        prefix = MEMBER_SPACE;
                        continue;
                    }
                    Some(ending) if scalar.is_last(ending) => {
                        write_key(&key, into);
                        Some(self.after_last(member, whole, index))
                    }
                    Some(_) => self.opening(kernel, key, member, index, room),
                    None => self.longer(kernel, key, member, index, room),
                }
            };
            let Some(Consumed { entries, bytes, then }) = consumed else { break Stop::Member };
            step(&mut index, entries, &mut room, bytes);
            prefix = then.prefix();
            if then != Follows::Brace {
                continue;
            }
            let Some(Consumed { entries, bytes, then }) = self.close(index, room) else { break Stop::Brace };
            step(&mut index, entries, &mut room, bytes);
            prefix = then.prefix();
        };
        self.cursor.index = index;
        self.cursor.room = room;
        self.first = prefix == OBJECT_OPEN;
        stop
    }

    /// Takes what follows the last member of an object, if it is `},"` or `},{"` and has been copied with the member's block.
    #[inline(always)]
    fn after_last(&mut self, member: &[u8; MEMBER_BLOCK], whole: usize, index: &[u32]) -> Consumed {
        if whole + 2 <= BLOCK && index.len() > 4 && member[whole + 1] == b',' {
            let outer = self.nesting.outer();
            if member[whole + 2] == b'"' && outer == Some(Container::Object) {
                self.nesting.close();
                return Consumed { entries: 3, bytes: whole + 2, then: Follows::Member };
            }
            // Closing an object and opening another leaves the nesting as it was.
            if member[whole + 2..whole + 4] == *b"{\"" && outer == Some(Container::Array) {
                return Consumed { entries: 4, bytes: whole + 2, then: Follows::FirstMember };
            }
        }
        Consumed { entries: 2, bytes: whole, then: Follows::Brace }
    }

    /// Writes a member whose value is no scalar.
    #[inline(always)]
    fn opening<K: Kernel>(
        &mut self,
        kernel: K,
        key: Key<'_>,
        member: &[u8; MEMBER_BLOCK],
        index: &[u32],
        room: &mut [u8],
    ) -> Option<Consumed> {
        let &[quote, _, next, ..] = index else { return None };
        let (value, whole) = (key.length + 3, next.wrapping_sub(quote) as usize);
        if bytes_at(member, value) == Some(b"{\"") && self.nesting.depth() < self.cursor.limits.depth {
            self.nesting.open(Container::Object);
            write_key(&key, room.first_chunk_mut()?);
            return Some(Consumed { entries: 2, bytes: whole - 1, then: Follows::FirstMember });
        }
        // If the next entry is further on, what follows the colon is not the value.
        if whole == value + 1 { self.bracketed(kernel, key, index, room) } else { None }
    }

    /// Writes a member for which [`ending_within`] is none: it ends after its block, or in the first seven bytes. Strings that
    /// end in a second block are common, so they come first.
    #[inline(always)]
    fn longer<K: Kernel>(
        &mut self,
        kernel: K,
        key: Key<'_>,
        member: &[u8; MEMBER_BLOCK],
        index: &[u32],
        room: &mut [u8],
    ) -> Option<Consumed> {
        let &[quote, _, next, ..] = index else { return None };
        let whole = next.wrapping_sub(quote) as usize;
        if member[key.length + 3] == b'"'
            && whole.wrapping_sub(BLOCK) <= BLOCK
            && let Some(two_blocks) = bytes_at::<{ 1 + 2 * BLOCK }>(self.cursor.text, quote as usize)
            && let Some(into) = room.first_chunk_mut::<{ 1 + 2 * BLOCK }>()
        {
            let ending = two_blocks[whole - 7..].first_chunk().expect("the blocks are longer");
            let then = follows(Scalar::of(b'"'), ending)?;
            into[1 + BLOCK..].copy_from_slice(&two_blocks[1 + BLOCK..]);
            write_key(&key, into.first_chunk_mut().expect("the room is longer"));
            return Some(Consumed { entries: 2, bytes: whole, then });
        }
        self.other(kernel, key, index, room)
    }

    /// Writes a member of any length with a bare key.
    #[inline(never)]
    fn other<K: Kernel>(&mut self, kernel: K, key: Key<'_>, index: &[u32], room: &mut [u8]) -> Option<Consumed> {
        let &[quote, _, next, ..] = index else { return None };
        let (text, next) = (self.cursor.text.get(quote as usize + 1..)?, next as usize);
        let whole = next.checked_sub(quote as usize + 1)?;
        let (ending, scalar) = (ending(self.cursor.text, next)?, Scalar::of(*text.get(key.length + 2)?));
        let Some(then) = follows(scalar, ending) else {
            return if whole == key.length + 3 { self.bracketed(kernel, key, index, room) } else { None };
        };
        if whole > BLOCK && !copy_further_blocks(text, whole, room.get_mut(1..)?) {
            return None;
        }
        write_key(&key, room.first_chunk_mut()?);
        Some(Consumed { entries: 2, bytes: 1 + whole, then })
    }

    /// Writes a member whose key keeps its quotes, so that the value moves by one byte. Key and value fit in a block each.
    #[inline(never)]
    fn quoted<K: Kernel>(&mut self, kernel: K, prefix: u8, index: &[u32], room: &mut [u8]) -> Option<Consumed> {
        let &[quote, value, next, ..] = index else { return None };
        let [quote, value, next] = [quote, value, next].map(|place| place as usize);
        let text = self.cursor.text;
        let (block, from): (&[u8; BLOCK], &[u8; BLOCK]) = (bytes_at(text, quote)?, bytes_at(text, value)?);
        // With the quotes, without the colon.
        let length = value.checked_sub(quote + 1)?;
        let bytes = next.checked_sub(value)?;
        if !(2..BLOCK).contains(&length) || bytes > BLOCK || block[length - 1..length + 1] != *b"\":" {
            return None;
        }
        let key = Key { block, length, prefix };
        let Some(then) = follows(Scalar::of(from[0]), ending(text, next)?) else {
            return self.bracketed(kernel, key, index, room);
        };
        write_key(&key, room.first_chunk_mut()?);
        *room[length + 3..].first_chunk_mut()? = *from;
        Some(Consumed { entries: 2, bytes: length + 3 + bytes, then })
    }

    /// Copies closing brackets, from the brace at the first entry on, up to the next key: of the same object, or of the next
    /// object in an array. Returns none, and changes nothing, if something else follows.
    #[inline(never)]
    fn close(&mut self, index: &[u32], room: &mut [u8]) -> Option<Consumed> {
        let text = self.cursor.text;
        let brace = *index.first()? as usize;
        let mut levels = 0;
        let then = loop {
            let &[close, next] = index.get(levels..)?.first_chunk()?;
            let outer = self.nesting.around(levels)?;
            levels += 1;
            let around: &[u8; 3] = bytes_at(text, close as usize)?;
            match (outer, around, next.wrapping_sub(close)) {
                (Container::Object, [_, b'}', _], 1) | (Container::Array, [_, b']', _], 1) => {}
                (Container::Object, [_, b',', b'"'], 2) => break Follows::Member,
                (Container::Array, [_, b',', b'{'], 2) => break Follows::FirstMember,
                _ => return None,
            }
        };
        let opens = then == Follows::FirstMember;
        let entries = levels + usize::from(opens);
        let key = *index.get(entries)? as usize;
        let bytes = key - brace;
        // The new object is as deep as the one that was closed, so not too deep.
        if opens && bytes_at(text, key - 1) != Some(b"{\"") || bytes > MAX_CLOSING {
            return None;
        }
        *room.first_chunk_mut()? = *bytes_at::<MAX_CLOSING>(text, brace)?;
        // Closing an object and opening another leaves the nesting as it was.
        if !opens || levels > 1 {
            self.nesting.close_levels(levels);
            if opens {
                self.nesting.open(Container::Object);
            }
        }
        Some(Consumed { entries, bytes: bytes - usize::from(opens), then })
    }
}

/// Writes the block that begins with a key, with the prefix before it, and the colon after the key.
#[inline(always)]
pub(super) fn write_key(key: &Key<'_>, into: &mut [u8; BLOCK + 3]) {
    let &Key { block, length, prefix } = key;
    into[0] = prefix;
    into[1..1 + BLOCK].copy_from_slice(block);
    into[1 + length..1 + length + COLON.len()].copy_from_slice(COLON);
}

/// Returns what follows a scalar with this ending, if it is a good one.
#[inline(always)]
fn follows(scalar: &Scalar, ending: &[u8; 8]) -> Option<Follows> {
    if scalar.has_more(ending) {
        Some(Follows::Member)
    } else if scalar.is_last(ending) {
        Some(Follows::Brace)
    } else {
        None
    }
}

/// Skips entries that have been read and room that has been written.
#[inline(always)]
fn step(index: &mut &[u32], entries: usize, room: &mut &mut [u8], bytes: usize) {
    *index = &index[entries..];
    *room = &mut std::mem::take(room)[bytes..];
}
