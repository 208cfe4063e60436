//! The fast paths over version 1's own forms: compact arrays (STC.md, section 5) and columnar values (section 6). Parts of the
//! [fast path over tokens](crate::decode::fast_path), by the same rules: each takes what is common, and stops before the rest.

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, LOOKAHEAD, SLACK};
use crate::decode::machine::Machine;
use crate::decode::state::State;
use crate::format::{COMMA, COUNT_CLOSE, DENSE_COLON, HEADER_CLOSE, HEADER_OPEN, LINE_FEED, ROW_SEPARATOR};
use crate::json::lexer::Kind;
use crate::json::scan::arch::Kernel;
use crate::json::span::copy;

impl Machine {
    /// Reads the count and the header of a columnar value or a table, after its `[`, as far as the fast path can. Returns the next
    /// state; none, and nothing is done, if no header begins here.
    #[inline(always)]
    pub(crate) fn header<K: Kernel>(&mut self, cursor: &mut Cursor<'_, K>) -> Option<State> {
        let Cursor { bytes, at, limits, .. } = *cursor;
        // First how the number ends: most are elements of an array.
        let end = cursor.number_end(at)?;
        if !bytes[end..].starts_with(&[COUNT_CLOSE, HEADER_OPEN]) || self.nesting.depth() >= limits.depth {
            return None;
        }
        let (count, close) = cursor.count(at).filter(|&(_, close)| close == end)?;
        self.left = count;
        let open = close + 1;
        // Tables with the same columns often come in numbers: this header may be the same text as the last one.
        if self.header.is(&bytes[open..cursor.end]) {
            cursor.at = open + self.header.source_len();
            return Some(State::HeaderColon);
        }
        self.header.clear();
        cursor.at = open + 1;
        // A header at the end of its line is a table's (STC.md, 16.1): the fast path over columns reads it.
        if cursor.within().ends_with(&[HEADER_CLOSE, DENSE_COLON, LINE_FEED]) {
            return Some(State::HeaderKey);
        }
        let state;
        (cursor.at, state) = self.header_keys(*cursor);
        Some(state)
    }

    /// Reads the keys of a header (STC.md, 6.2) after its `{`, and its `}` if only keys and commas are before it. Returns the position
    /// and the state it came to.
    #[inline(never)]
    fn header_keys<K: Kernel>(&mut self, cursor: Cursor<'_, K>) -> (usize, State) {
        cursor.kernel.enter(
            #[inline(always)]
            || {
                let Cursor { bytes, at: start, limits, .. } = cursor;
                let mut at = start;
                // The machine, which reads what stays unread here, finds a limit or a duplicate at the right byte.
                while let Some((end, bare)) = cursor.key_end(at)
                    && self.header.has_room(end - at, limits)
                {
                    self.header.add_key(&bytes[at..end], bare, cursor.base + at as u64);
                    match bytes[end] {
                        COMMA => at = end + 1,
                        b'}' if self.header.check_distinct().is_ok() => {
                            self.header.end(&bytes[start - 1..=end]);
                            return (end + 1, State::HeaderColon);
                        }
                        _ => return (end, State::AfterHeaderKey),
                    }
                }
                (at, State::HeaderKey)
            },
        )
    }

    /// Reads elements of a compact array; returns none if the first is not for this path.
    #[inline(always)]
    pub(crate) fn elements<K: Kernel>(&mut self, cursor: &mut Cursor<'_, K>, pen: &mut Pen<'_, u8>) -> Option<State> {
        let kind = Kind::of(cursor.byte()).filter(|&kind| self.kind.is_none_or(|same| same == kind))?;
        match kind {
            Kind::Text => self.alike(
                cursor,
                pen,
                #[inline(always)]
                |cursor, at| if cursor.bytes[at] == b'"' { cursor.text_end(at) } else { None },
            ),
            Kind::Number => self.alike(
                cursor,
                pen,
                #[inline(always)]
                |cursor, at| cursor.number_end(at),
            ),
            Kind::Boolean => self.alike(
                cursor,
                pen,
                #[inline(always)]
                |cursor, at| cursor.boolean_end(at),
            ),
            Kind::Null => None,
        }
    }

    /// Reads elements whose end `ends` returns; they are of the first one's kind.
    #[inline(always)]
    fn alike<K: Kernel>(
        &mut self,
        cursor: &mut Cursor<'_, K>,
        pen: &mut Pen<'_, u8>,
        ends: impl Fn(&Cursor<'_, K>, usize) -> Option<usize>,
    ) -> Option<State> {
        let bytes = cursor.bytes;
        let (mut here, mut left) = (cursor.at, self.left);
        let kind = Kind::of(bytes[here]);
        let state = loop {
            let Some(end) = ends(cursor, here) else { break State::Element };
            if end + LOOKAHEAD > bytes.len() || end - here + SLACK > pen.left() {
                break State::Element;
            }
            if left == 1 {
                cursor.copy(here, end, pen);
                pen.write(b"]");
                self.nesting.close();
                here = end;
                break State::After;
            }
            if bytes[end] != COMMA {
                break State::Element;
            }
            // With its comma.
            cursor.copy(here, end + 1, pen);
            here = end + 1;
            left -= 1;
        };
        (here > cursor.at).then(|| {
            (cursor.at, self.left, self.kind) = (here, left, kind);
            state
        })
    }

    /// Reads cells of a columnar value, row after row (STC.md, 6.3); returns none if the first is not for this path.
    #[inline(always)]
    pub(crate) fn cells<K: Kernel>(&mut self, cursor: &mut Cursor<'_, K>, pen: &mut Pen<'_, u8>) -> Option<State> {
        let came = cursor.at;
        let keys = self.header.rendered();
        let width = self.header.width();
        let mut column = self.column;
        let state = loop {
            let at = cursor.at;
            let Some(end) = cursor.scalar_end(at) else { break State::Cell };
            let (from, to) = self.header.span(column);
            if end + LOOKAHEAD > cursor.bytes.len() || end - at + to - from + SLACK > pen.left() {
                break State::Cell;
            }
            let more = column + 1 < width;
            let last = !more && self.left == 1;
            // Each comparison has a fixed length: one of either length is a call, and took a fifth of the time.
            let row_ends = last || cursor.bytes[end..].starts_with(ROW_SEPARATOR);
            if !(if more { cursor.bytes[end] == COMMA } else { row_ends }) {
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
        (cursor.at > came).then_some(state)
    }
}

/// Returns whether the bytes at `end`, after digits, may make those the count of a columnar value (STC.md, 7.3).
#[inline(always)]
pub(crate) fn may_begin_table(bytes: &[u8], end: usize) -> bool {
    match bytes.get(end..) {
        Some([COMMA, ..]) => false,
        Some([COUNT_CLOSE, next, ..]) => *next == HEADER_OPEN,
        _ => true,
    }
}
