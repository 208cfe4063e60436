//! Members whose values have brackets: lists of scalars, lists of objects, and whatever is empty.

use super::block::{PIECE, window};
use super::members::{After, Key, Run, Taken, put};
use super::rows::{Grid, Verdict};
use super::write;
use crate::buffer::Pen;
use crate::format::COUNT_DIGITS;
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::number_arrays::numbers;
use crate::json::scan::arch::Kernel;
use crate::json::tape::{byte, follows_element};

impl Run<'_> {
    /// Writes the member at the first entries, if its value is in brackets of a common kind.
    #[inline(never)]
    pub(super) fn bracketed<K: Kernel>(
        &mut self,
        kernel: K,
        key: Key<'_>,
        index: &[u32],
        room: &mut [u8],
    ) -> Option<Taken> {
        let &[_, open, next, ..] = index else { return None };
        let (open, next) = (open as usize, next as usize);
        if next != open + 1 || self.nesting.depth() >= self.limits.depth {
            return None;
        }
        match self.text.get(open..)?.first_chunk()? {
            b"[]" | b"{}" => self.empty(key, index, room),
            b"{\"" => self.opened(key, b"{", room),
            b"[{" => self.objects(kernel, key, index, room),
            [b'[', _] => self.scalars(kernel, key, index, room),
            _ => None,
        }
    }

    /// Nothing in its brackets.
    #[inline(always)]
    fn empty(&self, key: Key<'_>, index: &[u32], room: &mut [u8]) -> Option<Taken> {
        let Key { piece, length, front } = key;
        let &[open, close, _] = index.get(1..)?.first_chunk()?;
        let (after, comma) = self.behind(close)?;
        put(piece, length, front, room.first_chunk_mut()?);
        let before = length + 3;
        *room.get_mut(before..)?.first_chunk_mut()? = *window::<4>(self.text, open as usize)?;
        Some(Taken { entries: 3, bytes: before + 2 + comma, after })
    }

    /// A key, and what opens its value: an object, or a list of them.
    #[inline(always)]
    fn opened(&mut self, key: Key<'_>, brackets: &[u8], room: &mut [u8]) -> Option<Taken> {
        let Key { piece, length, front } = key;
        put(piece, length, front, room.first_chunk_mut()?);
        let before = length + 3;
        let bytes = before + brackets.len();
        room.get_mut(before..bytes)?.copy_from_slice(brackets);
        if brackets.len() > 1 {
            self.nesting.open(Container::Array);
        }
        self.nesting.open(Container::Object);
        // The last brace is for the first member to write.
        Some(Taken { entries: 1 + brackets.len(), bytes: bytes - 1, after: After::Opened })
    }

    /// Objects with keys: a table, if it can be one, or else all up to the first key.
    #[inline(always)]
    fn objects<K: Kernel>(&mut self, kernel: K, key: Key<'_>, index: &[u32], room: &mut [u8]) -> Option<Taken> {
        let Key { piece, length, front } = key;
        if self.nesting.depth() + 2 > self.limits.depth {
            return None;
        }
        put(piece, length, front, room.first_chunk_mut()?);
        let before = length + 3;
        let Self { text, ref mut shape, limits, window, expansion, .. } = *self;
        let (index, into) = (&index[1..], &mut room[before..]);
        match (Grid { text, index, room: into, shape, limits, window, expansion }).go(kernel) {
            Verdict::Table { bracket, bytes } => {
                let &[close, _] = index.get(bracket..)?.first_chunk()?;
                let (after, comma) = self.behind(close)?;
                *room.get_mut(before + bytes)? = b',';
                Some(Taken { entries: bracket + 2, bytes: before + bytes + comma, after })
            }
            Verdict::Plain => self.opened(key, b"[{", room),
            Verdict::Unknown => None,
        }
    }

    /// Scalars. Those of one kind lose their brackets and are counted.
    #[inline(always)]
    fn scalars<K: Kernel>(&self, kernel: K, key: Key<'_>, index: &[u32], room: &mut [u8]) -> Option<Taken> {
        let Key { piece, length, front } = key;
        let text = self.text;
        let &[_, open, first, ..] = index else { return None };
        let open = open as usize;
        let kind = Kind::of(byte(text, first as usize))?;
        let mut alike = kind != Kind::Null;
        let mut entries = 2;
        if kind == Kind::Number {
            entries += numbers(kernel, text, &index[2..]);
        }
        loop {
            let &[element, next] = index.get(entries..)?.first_chunk()?;
            alike &= Kind::of(byte(text, element as usize)) == Some(kind);
            entries += 1;
            if !follows_element(text, element as usize, next as usize)? {
                break;
            }
        }
        let &[close, _] = index.get(entries..)?.first_chunk()?;
        let (after, comma) = self.behind(close)?;
        let close = close as usize;
        let counted = alike && close + 1 - open <= self.window;
        let (from, to) = if counted { (open + 1, close) } else { (open, close + 1) };
        // All of it, whichever way it is written, with a piece more.
        let most = 1 + length + COUNT_DIGITS + 4 + (to - from) + PIECE;
        if room.len() < most || text.len() < to + PIECE {
            return None;
        }
        put(piece, length, front, room.first_chunk_mut()?);
        let mut pen = Pen::of(room);
        pen.keep(1 + length);
        if counted {
            write::compact_count(entries as u64 - 2, &mut pen);
        } else {
            pen.keep(2);
        }
        let before = pen.written();
        let room = &mut room[before..];
        for at in (0..to - from).step_by(PIECE) {
            *room[at..].first_chunk_mut()? = *window::<PIECE>(text, from + at)?;
        }
        // What follows writes over it if it is one too many.
        room[to - from] = b',';
        Some(Taken { entries: entries + 1, bytes: before + to - from + comma, after })
    }

    /// What is behind the bracket at `close`, and how many commas.
    #[inline(always)]
    fn behind(&self, close: u32) -> Option<(After, usize)> {
        match window(self.text, close as usize + 1)? {
            b",\"" => Some((After::Member, 1)),
            [b'}', _] => Some((After::Brace, 0)),
            _ => None,
        }
    }
}
