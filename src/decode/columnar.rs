//! Version 1's compact and columnar values, many elements and cells at a time, in input that is clean: a part of the
//! [`sprint`](crate::decode::fast_path), and under its rules.

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, LOOKAHEAD, SLACK};
use crate::decode::machine::Machine;
use crate::decode::state::State;
use crate::format::{COLON, ROW_SEPARATOR};
use crate::json::lexer::Kind;
use crate::json::scan::arch::Kernel;
use crate::json::span::copy;

impl Machine {
    /// The count and the header of a columnar value, after its `[`, up to its first cell; false if it is none, or
    /// one for the machine.
    #[inline(always)]
    pub(crate) fn header<K: Kernel>(&mut self, cursor: &mut Cursor<'_, K>) -> bool {
        let Cursor { bytes, at, limits, .. } = *cursor;
        let Some((count, close)) = cursor.count(at) else { return false };
        let open = close + 1;
        if !bytes[close..].starts_with(b"]{") || self.nesting.depth() >= limits.depth {
            return false;
        }
        // Tables of one shape come in numbers: the header before may be this one to the letter.
        let end = if self.header.is(&bytes[open..]) {
            open + self.header.source_len()
        } else {
            match self.new_header(Cursor { at: open, ..*cursor }) {
                Some(end) => end,
                None => return false,
            }
        };
        if !bytes[end..].starts_with(COLON) {
            return false;
        }
        self.left = count;
        self.column = 0;
        cursor.at = end + COLON.len();
        true
    }

    /// Reads the header from its brace on; returns where it ends.
    fn new_header<K: Kernel>(&mut self, mut cursor: Cursor<'_, K>) -> Option<usize> {
        let Cursor { bytes, at: open, limits, .. } = cursor;
        self.header.clear();
        cursor.at += 1;
        loop {
            let (end, bare) = cursor.key_end(cursor.at)?;
            self.header.begin(cursor.offset(), limits).ok()?;
            self.header.key(&bytes[cursor.at..end], bare, cursor.offset(), limits).ok()?;
            cursor.at = end + 1;
            match bytes.get(end)? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
        self.header.check_distinct().ok()?;
        self.header.end(&bytes[open..cursor.at]);
        Some(cursor.at)
    }

    /// Elements of a compact array, one behind the other.
    #[inline(always)]
    pub(crate) fn elements<K: Kernel>(&mut self, cursor: &mut Cursor<'_, K>, pen: &mut Pen<'_, u8>) -> State {
        let Some(kind) = Kind::of(cursor.byte()).filter(|&kind| self.kind.is_none_or(|same| same == kind)) else {
            return State::Element;
        };
        match kind {
            Kind::Text => {
                self.alike(cursor, pen, |cursor, at| (cursor.bytes[at] == b'"').then(|| cursor.text_end(at)).flatten())
            }
            Kind::Number => self.alike(cursor, pen, |cursor, at| cursor.number_end(at)),
            Kind::Boolean => self.alike(cursor, pen, |cursor, at| {
                matches!(cursor.bytes[at], b't' | b'f').then(|| cursor.lexeme_end(at, Kind::Boolean)).flatten()
            }),
            Kind::Null => State::Element,
        }
    }

    /// Elements that `ends` knows the end of; the first one's kind is that of all.
    #[inline(always)]
    fn alike<K: Kernel>(
        &mut self,
        cursor: &mut Cursor<'_, K>,
        pen: &mut Pen<'_, u8>,
        ends: impl Fn(&Cursor<'_, K>, usize) -> Option<usize>,
    ) -> State {
        let bytes = cursor.bytes;
        let (mut here, mut left) = (cursor.at, self.left);
        let kind = Kind::of(bytes[here]);
        let state = loop {
            let Some(end) = ends(cursor, here) else { break State::Element };
            if end >= cursor.end || end + LOOKAHEAD > bytes.len() || end - here + SLACK > pen.left() {
                break State::Element;
            }
            if left == 1 {
                cursor.copy(here, end, pen);
                pen.write(b"]");
                self.nesting.close();
                here = end;
                break State::After;
            }
            if bytes[end] != b',' {
                break State::Element;
            }
            // With its comma.
            cursor.copy(here, end + 1, pen);
            here = end + 1;
            left -= 1;
        };
        if here > cursor.at {
            (cursor.at, self.left, self.kind) = (here, left, kind);
        }
        state
    }

    /// Cells of a columnar value, row by row.
    #[inline(always)]
    pub(crate) fn cells<K: Kernel>(&mut self, cursor: &mut Cursor<'_, K>, pen: &mut Pen<'_, u8>) -> State {
        let keys = self.header.rendered();
        let width = self.header.width();
        let mut column = self.column;
        let state = loop {
            let at = cursor.at;
            let Some(end) = cursor.scalar_end(at) else { break State::Cell };
            let (from, to) = self.header.span(column);
            if end >= cursor.end || end + LOOKAHEAD > cursor.bytes.len() || end - at + to - from + SLACK > pen.left() {
                break State::Cell;
            }
            let more = column + 1 < width;
            let last = !more && self.left == 1;
            let separator = if more { &b","[..] } else { ROW_SEPARATOR };
            if !last && !cursor.bytes[end..].starts_with(separator) {
                break State::Cell;
            }
            copy(keys, from, to, pen);
            cursor.copy(at, end, pen);
            if more {
                column += 1;
                cursor.at = end + 1;
                continue;
            }
            self.left -= 1;
            column = 0;
            if last {
                pen.write(b"}]");
                self.nesting.close();
                cursor.at = end;
                break State::After;
            }
            pen.write(b"},");
            cursor.at = end + ROW_SEPARATOR.len();
        };
        self.column = column;
        state
    }
}

/// May what stands at `end`, behind digits, make them the count of a columnar value?
#[inline(always)]
pub(crate) fn may_head(bytes: &[u8], end: usize) -> bool {
    match bytes.get(end..) {
        Some([b',', ..]) => false,
        Some([b']', next, ..]) => *next == b'{',
        _ => true,
    }
}
