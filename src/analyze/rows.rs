//! A table that lies whole in the text at hand, in one go.
//!
//! One idea: rows of one shape have their entries at equal distances. So the rows are counted by looking at every
//! row's braces only, before anything is written: most arrays that are no tables are found out there, and the count is
//! known when the header is written. What the window cuts off is for the steps and their roll-back.

use super::Analyzer;
use super::cells::Row;
use super::sprint::{ahead, key, key_len, same};
use crate::buffer::Pen;
use crate::format::{COLON, ROW_SEPARATOR};
use crate::nesting::Container;
use crate::scan::arch::Kernel;
use crate::span::{copy, window};
use crate::tape::follows;
use crate::write::v1 as write;

/// What has become of an array of objects. Whichever, the array itself has been opened unless nothing is known.
pub(super) enum Verdict {
    /// It has been written; its closing bracket is this entry.
    Table { bracket: usize },
    /// It stays as it is.
    Plain,
    /// Not enough of it is at hand, or something is wrong with it.
    Unknown,
}

impl Analyzer {
    /// Entry `cursor` is a `[` with a `{` right behind it.
    #[inline(always)]
    pub(super) fn whole_table<K: Kernel>(
        &mut self,
        cursor: usize,
        kernel: K,
        text: &[u8],
        index: &[u32],
        pen: &mut Pen<'_, u8>,
    ) -> Verdict {
        let Some([open, brace, first]) = ahead(text, index, cursor) else { return Verdict::Unknown };
        if self.nesting.depth() + 2 > self.limits.depth || first != brace + 1 || text[first] != b'"' {
            return Verdict::Unknown;
        }
        let verdict = self.table_at(open, cursor, kernel, text, index, pen);
        if !matches!(verdict, Verdict::Unknown) {
            self.nesting.open(Container::Array);
        }
        verdict
    }

    #[inline(always)]
    fn table_at<K: Kernel>(
        &mut self,
        open: usize,
        cursor: usize,
        kernel: K,
        text: &[u8],
        index: &[u32],
        pen: &mut Pen<'_, u8>,
    ) -> Verdict {
        // How many members has the first row, all scalar?
        let mut brace = cursor + 4;
        loop {
            let Some([value, next]) = ahead(text, index, brace - 1) else { return Verdict::Unknown };
            match (text[value], text[next]) {
                (b'{' | b'[', _) => return Verdict::Plain,
                (_, b'}') => break,
                (_, b'"') => brace += 2,
                _ => return Verdict::Unknown,
            }
        }
        // Every further row must have its braces in the same places.
        let first_brace = brace;
        let entries = brace - cursor;
        let mut count = 1;
        let bracket = loop {
            let Some([close, after]) = ahead(text, index, brace) else { return Verdict::Unknown };
            match text[after] {
                _ if text[close] != b'}' => return Verdict::Plain,
                b']' if after == close + 1 => break brace + 1,
                b'{' if after == close + 2 && text[close + 1] == b',' => {}
                _ => return Verdict::Plain,
            }
            count += 1;
            brace += entries;
        };
        if count == 1 {
            return Verdict::Plain;
        }

        // The first row gives the shape.
        self.table.shape.clear();
        let mut header = 0;
        for at in (cursor + 2..first_brace).step_by(2) {
            let Some([start, value, next]) = ahead(text, index, at) else { return Verdict::Unknown };
            if window(text, value.wrapping_sub(2)) != Some(b"\":") {
                return Verdict::Unknown;
            }
            let Some(more) = follows(text, value, next, b'}') else { return Verdict::Unknown };
            header += key_len(kernel, text, start, value);
            self.table.shape.push(start - open, value - open, next - usize::from(more) - open);
        }
        if self.table.shape.columns().len() > self.limits.columns || header > self.limits.header {
            return Verdict::Plain;
        }
        let end = index[bracket] as usize + 1;
        if end - open > self.window || !self.table.shape.is_distinct(&text[open..]) {
            return Verdict::Plain;
        }

        let mark = pen.at();
        write::count(count, pen);
        // The limit on expansion is reckoned without the count, which the steps do not know yet.
        let digits = pen.at() - mark - 2;
        self.header(open, kernel, text, pen);
        let mut row_mark = pen.at();
        let mut row = cursor + 1;
        for number in 0..count {
            let Some(places) = index.get(row..row + entries + 1) else { break };
            row += entries;
            if number > 0 {
                if !self.may_expand(places[entries] as usize, row_mark - digits) {
                    pen.back_to(mark);
                    return Verdict::Plain;
                }
                pen.write(ROW_SEPARATOR);
            }
            if self.row(kernel, text, places, open, pen).is_none() {
                pen.back_to(mark);
                return Verdict::Plain;
            }
            row_mark = pen.at();
        }
        Verdict::Table { bracket }
    }

    /// The keys of the first row, in braces, and a colon.
    #[inline(always)]
    fn header<K: Kernel>(&self, open: usize, kernel: K, text: &[u8], pen: &mut Pen<'_, u8>) {
        pen.write(b"{");
        for column in self.table.shape.columns() {
            let place = column.key();
            key(kernel, text, open + place.start, open + place.end, pen);
            pen.write(b",");
        }
        pen.back_to(pen.at() - 1);
        pen.write(b"}");
        pen.write(COLON);
    }

    /// Writes a row like the first, if it is one; returns the place of its closing brace. `places` are its entries, and
    /// the one behind it.
    #[inline(always)]
    pub(super) fn row<K: Kernel>(
        &self,
        kernel: K,
        text: &[u8],
        places: &[u32],
        open: usize,
        pen: &mut Pen<'_, u8>,
    ) -> Option<usize> {
        let columns = self.table.shape.columns();
        let &[brace, ref members @ .., _] = places else { return None };
        let mut key = *members.first()? as usize;
        if key != brace as usize + 1 || members.len() != 2 * columns.len() + 1 {
            return None;
        }
        let room = pen.rest();
        if let Some(bytes) = (Row { text, table: &text[open..], columns, places: members, room }).go(kernel) {
            pen.keep(bytes);
            return members.last().map(|&place| place as usize);
        }
        crate::walks();
        let mut last = true;
        for (column, pair) in columns.iter().zip(members[1..].as_chunks::<2>().0) {
            let [value, next] = pair.map(|place| place as usize);
            let first = column.key();
            let length = first.len();
            if value != key + length || !same(kernel, text, key, open + first.start, length) {
                return None;
            }
            last = !follows(text, value, next, b'}')?;
            // With its comma, which is STC's too.
            copy(text, value, next, pen);
            key = next;
        }
        last.then_some(key)
    }
}
