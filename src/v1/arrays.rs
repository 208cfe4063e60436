//! Fast path: members whose values are in brackets. Arrays of scalars, arrays of objects, and empty containers.

use super::cursor::bytes_at;
use super::members::{Consumed, Follows, Key, Members, write_key};
use super::whole_table::{TableOutcome, WholeTable};
use super::write;
use crate::buffer::{BLOCK, Pen};
use crate::format::{ARRAY_OPEN, COLON, COMMA, COUNT_DIGITS, OBJECT_OPEN};
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::number_arrays::numbers;
use crate::json::scan::arch::Kernel;
use crate::json::tape::{byte, follows_element};

impl Members<'_> {
    /// Writes the member at the first entries, if its value is in brackets of a common kind.
    #[inline(never)]
    pub(super) fn bracketed<K: Kernel>(
        &mut self,
        kernel: K,
        key: Key<'_>,
        index: &[u32],
        room: &mut [u8],
    ) -> Option<Consumed> {
        let &[_, open, next, ..] = index else { return None };
        let (open, next) = (open as usize, next as usize);
        if next != open + 1 || self.nesting.depth() >= self.cursor.limits.depth {
            return None;
        }
        match self.cursor.text.get(open..)?.first_chunk()? {
            b"[]" | b"{}" => self.empty(key, index, room),
            b"{\"" => self.opened(key, &[OBJECT_OPEN], room),
            b"[{" => self.objects(kernel, key, index, room),
            [b'[', _] => self.scalars(kernel, key, index, room),
            _ => None,
        }
    }

    /// Writes an empty object or array (grammar/STC.md, sections 8.3 and 8.4).
    #[inline(always)]
    fn empty(&self, key: Key<'_>, index: &[u32], room: &mut [u8]) -> Option<Consumed> {
        let &[open, close, _] = index.get(1..)?.first_chunk()?;
        let (then, comma) = self.after_bracket(close)?;
        write_key(&key, room.first_chunk_mut()?);
        let before = 1 + key.length + COLON.len();
        *room.get_mut(before..)?.first_chunk_mut()? = *bytes_at::<4>(self.cursor.text, open as usize)?;
        Some(Consumed { entries: 3, bytes: before + 2 + comma, then })
    }

    /// Writes a key and the brackets that open its value: an object, or an array of objects that stays plain.
    #[inline(always)]
    fn opened(&mut self, key: Key<'_>, brackets: &[u8], room: &mut [u8]) -> Option<Consumed> {
        write_key(&key, room.first_chunk_mut()?);
        let before = 1 + key.length + COLON.len();
        let bytes = before + brackets.len();
        room.get_mut(before..bytes)?.copy_from_slice(brackets);
        if brackets.len() > 1 {
            self.nesting.open(Container::Array);
        }
        self.nesting.open(Container::Object);
        // The last brace is the prefix of the first member, which writes it.
        Some(Consumed { entries: 1 + brackets.len(), bytes: bytes - 1, then: Follows::FirstMember })
    }

    /// Writes an array of objects: a table if it can be one (grammar/STC.md, section 8.6), else all up to the first key.
    #[inline(always)]
    fn objects<K: Kernel>(&mut self, kernel: K, key: Key<'_>, index: &[u32], room: &mut [u8]) -> Option<Consumed> {
        if self.nesting.depth() + 2 > self.cursor.limits.depth {
            return None;
        }
        write_key(&key, room.first_chunk_mut()?);
        let before = 1 + key.length + COLON.len();
        let index = &index[1..];
        let cursor = self.cursor.at(index, &mut room[before..]);
        match (WholeTable { cursor, shape: self.shape }).write(kernel) {
            TableOutcome::Written { bracket, bytes } => {
                let &[close, _] = index.get(bracket..)?.first_chunk()?;
                let (then, comma) = self.after_bracket(close)?;
                *room.get_mut(before + bytes)? = COMMA;
                Some(Consumed { entries: bracket + 2, bytes: before + bytes + comma, then })
            }
            TableOutcome::Plain => self.opened(key, &[ARRAY_OPEN, OBJECT_OPEN], room),
            TableOutcome::Unknown => None,
        }
    }

    /// Writes an array of scalars: compact if they are all of one kind (grammar/STC.md, section 8.5).
    #[inline(always)]
    fn scalars<K: Kernel>(&self, kernel: K, key: Key<'_>, index: &[u32], room: &mut [u8]) -> Option<Consumed> {
        let text = self.cursor.text;
        let &[_, open, first, ..] = index else { return None };
        let open = open as usize;
        let kind = Kind::of(byte(text, first as usize))?;
        let mut of_one_kind = kind != Kind::Null;
        let mut entries = 2;
        if kind == Kind::Number {
            entries += numbers(kernel, text, &index[2..]);
        }
        loop {
            let &[element, next] = index.get(entries..)?.first_chunk()?;
            of_one_kind &= Kind::of(byte(text, element as usize)) == Some(kind);
            entries += 1;
            if !follows_element(text, element as usize, next as usize)? {
                break;
            }
        }
        let &[close, _] = index.get(entries..)?.first_chunk()?;
        let (then, comma) = self.after_bracket(close)?;
        let close = close as usize;
        let compact = of_one_kind && close + 1 - open <= self.cursor.window;
        let (from, to) = if compact { (open + 1, close) } else { (open, close + 1) };
        // The longest that either form can be, and a block more, because whole blocks are copied.
        let max_len = 1 + key.length + COUNT_DIGITS + 4 + (to - from) + BLOCK;
        if room.len() < max_len || text.len() < to + BLOCK {
            return None;
        }
        write_key(&key, room.first_chunk_mut()?);
        let mut pen = Pen::of(room);
        pen.keep(1 + key.length);
        if compact {
            write::compact_count(entries as u64 - 2, &mut pen);
        } else {
            pen.keep(COLON.len());
        }
        let before = pen.written();
        let room = &mut room[before..];
        for at in (0..to - from).step_by(BLOCK) {
            *room[at..].first_chunk_mut()? = *bytes_at::<BLOCK>(text, from + at)?;
        }
        // Overwritten by what follows if there is no comma.
        room[to - from] = COMMA;
        Some(Consumed { entries: entries + 1, bytes: before + to - from + comma, then })
    }

    /// Returns what follows the bracket at `close`, and how many commas are between the two: one before a member, none before a
    /// brace. Returns none if something else follows.
    #[inline(always)]
    fn after_bracket(&self, close: u32) -> Option<(Follows, usize)> {
        match bytes_at(self.cursor.text, close as usize + 1)? {
            b",\"" => Some((Follows::Member, 1)),
            [b'}', _] => Some((Follows::Brace, 0)),
            _ => None,
        }
    }
}
