//! The fast paths: the common cases, many at a time.
//!
//! All of this could be removed without changing the output. Each fast path takes as many members, elements or rows as are
//! plainly good, with its state in registers, and stops before the first that is not, or where text or index end too
//! soon. The steps in [`analyze`](super::analyze) and [`table`](super::table) then decide. A fast path never refuses.
//!
//! The scanner has checked the inside of strings and numbers, so only what surrounds a scalar is left to check. Between
//! two entries there is one lexeme and separators; if the byte before the comma is no separator, it is the lexeme's
//! last.

use super::cursor::{Cursor, ahead, write_key_and_colon};
use super::members::{Members, Stop};
use super::rows::Rows;
use super::state::{Analyzer, Next, TableStep};
use super::whole_table::{TableOutcome, WholeTable};
use super::write;
use crate::buffer::{Buffer, Pen};
use crate::format::ROW_SEPARATOR;
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::number_arrays::{many_lists, numbers};
use crate::json::scan::arch::Kernel;
use crate::json::span::{bytes_at, copy};
use crate::json::tape::{follows, follows_element};
use crate::slow_path::count_slow_step;

impl Analyzer {
    /// Takes the fast path for what is at the cursor, if there is one. Returns whether there was any progress.
    #[inline(always)]
    pub(super) fn take_fast_path<K: Kernel>(
        &mut self,
        kernel: K,
        text: &[u8],
        index: &[u32],
        out: &mut Buffer<u8>,
    ) -> bool {
        let before = (self.cursor, self.next);
        let mut pen = out.pen();
        match self.next {
            Next::Key { first } => self.members(first, kernel, text, index, &mut pen),
            Next::Value => self.values(kernel, text, index, &mut pen),
            Next::Element => self.elements(kernel, text, index, &mut pen),
            Next::Close => {
                let mut cursor = self.cursor;
                self.next = self.close_all(&mut cursor, text, index);
                self.cursor = cursor;
            }
            Next::Table(TableStep::RowOpen) => self.rows(kernel, text, index, &mut pen),
            _ => {}
        }
        let written = pen.written();
        out.keep(written);
        (self.cursor, self.next) != before
    }

    /// Writes members of objects, from a key on, in and out of nested objects and arrays, up to an array that is not plain.
    #[inline(always)]
    fn members<K: Kernel>(&mut self, mut first: bool, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) {
        self.next = loop {
            let Some([start, ..]) = ahead::<3>(text, index, self.cursor) else { break Next::Key { first } };
            copy(text, self.from, start, pen);
            self.from = self.from.max(start);
            let (entries, stop) = self.plain_members(&mut first, kernel, text, &index[self.cursor..], pen);
            if entries > 0 {
                self.cursor += entries;
                self.from = index[self.cursor] as usize;
            }
            if entries > 0 && matches!(stop, Stop::Brace) {
                break Next::Close;
            }
            match self.member(first, kernel, text, index, pen) {
                Ok(of_object) => first = of_object,
                Err(next) => break next,
            }
        };
    }

    /// Writes [`Members`] from the first entry on, before which all has been written. Returns how many entries that took and
    /// where it stopped.
    #[inline(always)]
    fn plain_members<K: Kernel>(
        &mut self,
        first: &mut bool,
        kernel: K,
        text: &[u8],
        index: &[u32],
        pen: &mut Pen<'_, u8>,
    ) -> (usize, Stop) {
        let expansion = self.expansion(pen.at() + pen.left());
        if *first {
            // The fast path writes the brace itself. If that is not in the room any more, it begins with the next member.
            if pen.written() == 0 {
                return (0, Stop::Member);
            }
            pen.back_to(pen.at() - 1);
        }
        let room = pen.rest();
        let room_len = room.len();
        let cursor = Cursor { text, index, room, limits: &self.limits, window: self.window, expansion };
        let (nesting, shape) = (&mut self.nesting, &mut self.table.shape);
        let mut members = Members { cursor, nesting, shape, first: *first };
        let stop = members.write(kernel);
        let (left, written) = (members.cursor.index.len(), room_len - members.cursor.room.len());
        *first = members.first;
        pen.keep(written + usize::from(*first));
        (index.len() - left, stop)
    }

    /// Writes the member at the cursor, which [`Members`] has left. Returns whether the key after it is an object's first; an error if
    /// no key follows, or if the steps have to write the member.
    #[inline(always)]
    fn member<K: Kernel>(
        &mut self,
        first: bool,
        kernel: K,
        text: &[u8],
        index: &[u32],
        pen: &mut Pen<'_, u8>,
    ) -> Result<bool, Next> {
        let stop = Err(Next::Key { first });
        let Some([start, value, next]) = ahead(text, index, self.cursor) else { return stop };
        count_slow_step();
        if bytes_at(text, value.wrapping_sub(2)) != Some(b"\":") {
            return stop;
        }
        if let Some(has_more) = follows(text, value, next, b'}') {
            write_key_and_colon(kernel, first, text, start, value, pen);
            self.from = value;
            self.cursor += 2;
            return if has_more { Ok(false) } else { Err(Next::Close) };
        }
        if next != value + 1 || self.nesting.depth() >= self.limits.depth {
            return stop;
        }
        let (container, after) = match (text[value], text[next]) {
            (b'{', b'"') => (Some(Container::Object), Ok(true)),
            (b'{', b'}') => (Some(Container::Object), Err(Next::Close)),
            (b'[', b']') => (Some(Container::Array), Err(Next::Close)),
            // The array is opened by `values`.
            (b'[', b'[' | b'{') => (None, Err(Next::Value)),
            _ => return stop,
        };
        write_key_and_colon(kernel, first, text, start, value, pen);
        self.from = value;
        self.cursor += 1;
        if let Some(container) = container {
            self.nesting.open(container);
            self.cursor += 1;
        }
        after
    }

    /// Writes the array at the first entry, a `[` with a `{` right after it, if it is a table. Opens the array unless the
    /// outcome is unknown.
    #[inline(always)]
    fn whole_table<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) -> TableOutcome {
        if self.nesting.depth() + 2 > self.limits.depth {
            return TableOutcome::Unknown;
        }
        let expansion = self.expansion(pen.at() + pen.left());
        let cursor = Cursor { text, index, room: pen.rest(), limits: &self.limits, window: self.window, expansion };
        let outcome = WholeTable { cursor, shape: &mut self.table.shape }.write(kernel);
        match outcome {
            TableOutcome::Unknown => return outcome,
            TableOutcome::Plain => {}
            TableOutcome::Written { bytes, .. } => pen.keep(bytes),
        }
        self.nesting.open(Container::Array);
        outcome
    }

    /// Skips values of arrays, in and out of nested arrays, up to an object with a key. The value of a member or of the
    /// document is left to the steps unless it opens a container.
    #[inline(always)]
    fn values<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) {
        let mut cursor = self.cursor;
        let mut in_array = self.nesting.innermost() == Some(Container::Array);
        if in_array {
            cursor += self.numbers(kernel, text, &index[cursor..]);
        }
        self.next = loop {
            let Some([start, next]) = ahead(text, index, cursor) else { break Next::Value };
            match if in_array { follows_element(text, start, next) } else { None } {
                Some(true) => {
                    cursor += 1;
                    continue;
                }
                Some(false) => cursor += 1,
                None if next == start + 1 && self.nesting.depth() < self.limits.depth => {
                    match (text[start], text[next]) {
                        (b'{', b'"') => {
                            self.nesting.open(Container::Object);
                            cursor += 1;
                            break Next::Key { first: true };
                        }
                        (b'[', b'{') => {
                            copy(text, self.from, start, pen);
                            self.from = self.from.max(start);
                            match self.whole_table(kernel, text, &index[cursor..], pen) {
                                TableOutcome::Written { bracket, .. } => {
                                    cursor += bracket;
                                    self.from = index[cursor] as usize + 1;
                                }
                                TableOutcome::Plain => {
                                    self.nesting.open(Container::Object);
                                    cursor += 2;
                                    break Next::Key { first: true };
                                }
                                TableOutcome::Unknown => break Next::Value,
                            }
                        }
                        (b'{', b'}') => {
                            self.nesting.open(Container::Object);
                            cursor += 1;
                        }
                        (b'[', b']') => {
                            self.nesting.open(Container::Array);
                            cursor += 1;
                        }
                        (b'[', first) if first == b'[' || Kind::of(first).is_some() => {
                            self.nesting.open(Container::Array);
                            in_array = true;
                            cursor += 1;
                            if first != b'[' {
                                cursor += self.numbers(kernel, text, &index[cursor..]);
                            }
                            continue;
                        }
                        _ => break Next::Value,
                    }
                }
                None => break Next::Value,
            }
            // The cursor is at a closing bracket.
            match self.close_all(&mut cursor, text, index) {
                Next::Value => in_array = true,
                other => break other,
            }
        };
        self.cursor = cursor;
    }

    /// Returns how many entries can be skipped: numbers of the innermost array, and of its siblings if it is an element of
    /// an array.
    #[inline(always)]
    fn numbers<K: Kernel>(&self, kernel: K, text: &[u8], index: &[u32]) -> usize {
        if self.nesting.outer() == Some(Container::Array) {
            many_lists(kernel, text, index)
        } else {
            numbers(kernel, text, index)
        }
    }

    /// Skips the bracket at the cursor, which closes the innermost container, and those that follow it. Returns what comes
    /// then.
    #[inline(always)]
    fn close_all(&mut self, cursor: &mut usize, text: &[u8], index: &[u32]) -> Next {
        while let Some([close, after]) = ahead(text, index, *cursor) {
            let comma = after == close + 2 && text[close + 1] == b',';
            let next = match (self.nesting.outer(), text[after]) {
                (Some(Container::Object), b'"') if comma => Next::Key { first: false },
                (Some(Container::Object), b'}') | (Some(Container::Array), b']') if after == close + 1 => Next::Close,
                (Some(Container::Array), _) if comma => Next::Value,
                _ => break,
            };
            self.nesting.close();
            *cursor += 1;
            if next != Next::Close {
                return next;
            }
        }
        Next::Close
    }

    /// Reads elements of an array that may become compact, and writes the array if they are its last.
    #[inline(always)]
    fn elements<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) {
        let (open, kind) = (self.compact.open, self.compact.kind);
        let mut cursor = self.cursor;
        if kind == Kind::Number {
            cursor += numbers(kernel, text, &index[cursor..]);
        }
        while let Some([start, next]) = ahead(text, index, cursor) {
            if Kind::of(text[start]) != Some(kind) {
                break;
            }
            match follows_element(text, start, next) {
                Some(true) => cursor += 1,
                Some(false) if next + 1 - open <= self.window => {
                    let count = self.compact.count + (cursor - self.cursor) as u64 + 1;
                    write::compact_count(count, pen);
                    copy(text, open + 1, next, pen);
                    self.from = next + 1;
                    self.cursor = cursor + 1;
                    self.next = Next::Close;
                    return;
                }
                _ => break,
            }
        }
        self.compact.count += (cursor - self.cursor) as u64;
        self.cursor = cursor;
    }

    /// Writes rows of a table that have the shape of the first and are not the last.
    #[inline(always)]
    fn rows<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) {
        let expansion = self.expansion(pen.at() + pen.left());
        let table = &self.table;
        let reach = self.expansion(table.row_mark).reach(0);
        let (index, room) = (&index[self.cursor..], pen.rest());
        let (entries, room_len) = (index.len(), room.len());
        let cursor = Cursor { text, index, room, limits: &self.limits, window: self.window, expansion };
        let (columns, table) = (table.shape.columns(), &text[table.open..]);
        let mut rows = Rows { cursor, table, columns, writes_last: false, reach };
        let count = rows.write(kernel);
        let (entries, written) = (entries - rows.cursor.index.len(), room_len - rows.cursor.room.len());
        if count == 0 {
            return;
        }
        pen.keep(written);
        self.cursor += entries;
        self.table.row_mark = pen.at() - ROW_SEPARATOR.len();
        self.table.rows += count;
    }
}
