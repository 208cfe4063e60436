//! Fast path: a table that is complete in the text at hand, written at once.
//!
//! One idea: rows of one shape have their entries at equal distances. So the rows are counted by looking at every row's
//! braces only, before anything is written. Most arrays that are not tables are found there, and the count is known when
//! the header is written. A table that is cut off by the end of the text is left to the steps of
//! [`table`](super::table), which can roll back.
//!
//! ```text
//! text     [  {  "id":  7  ,"n":  8  }  ,{  "id":  9  ,"n":  1  }  ]
//! entries  0  1  2      3  4      5  6  7   8      9  10     11 12 13      six entries a row: the braces are 1, 6, 7, 12
//! ```

use super::cursor::{Cursor, ahead, write_key};
use super::rows::Rows;
use super::shape::Shape;
use super::write;
use crate::buffer::Pen;
use crate::format::{COLON, COMMA, HEADER_CLOSE, HEADER_OPEN};
use crate::json::scan::arch::Kernel;
use crate::json::span::bytes_at;

/// The fast path over one table.
pub(super) struct WholeTable<'a> {
    /// At the `[`, with a `{` right after it.
    pub(super) cursor: Cursor<'a>,
    pub(super) shape: &'a mut Shape,
}

/// The form of an array of objects.
pub(super) enum TableOutcome {
    /// Columnar, and written in so many bytes; its closing bracket is this entry, counted from the opening one.
    Written { bracket: usize, bytes: usize },
    /// Plain, and not written.
    Plain,
    /// Unknown: the array is not complete in the text at hand, or not JSON.
    Unknown,
}

impl WholeTable<'_> {
    /// Writes the array if it is columnar (grammar/STC.md, section 8.6).
    #[inline(never)]
    pub(super) fn write<K: Kernel>(&mut self, kernel: K) -> TableOutcome {
        kernel.enter(
            #[inline(always)]
            || self.write_table(kernel),
        )
    }

    #[inline(always)]
    fn write_table<K: Kernel>(&mut self, kernel: K) -> TableOutcome {
        let (text, index, limits) = (self.cursor.text, self.cursor.index, self.cursor.limits);
        let Some([open, brace, first]) = ahead(text, index, 0) else { return TableOutcome::Unknown };
        if first != brace + 1 || text[first] != b'"' {
            return TableOutcome::Unknown;
        }
        let Braces { count, entries, bracket } = match find_braces(text, index) {
            Ok(braces) => braces,
            Err(outcome) => return outcome,
        };
        let keys = &index[2..entries];
        if index[bracket] as usize + 1 - open > self.cursor.window || keys.len() / 2 > limits.columns {
            return TableOutcome::Plain;
        }

        let mut pen = Pen::of(&mut *self.cursor.room);
        write::count(count, &mut pen);
        // The limit on expansion leaves out the count's digits, which the steps of `table` do not know yet.
        let expansion = self.cursor.expansion.without(pen.written() - 2);
        let mut header = 0;
        self.shape.clear();
        pen.write(&[HEADER_OPEN]);
        for pair in keys.as_chunks::<2>().0 {
            let [start, value] = pair.map(|place| place as usize);
            if bytes_at(text, value.wrapping_sub(2)) != Some(b"\":") {
                return TableOutcome::Unknown;
            }
            self.shape.push(start - open, value - open, value - open);
            let before = pen.written();
            write_key(kernel, text, start, value, &mut pen);
            header += pen.written() - before;
            pen.write(&[COMMA]);
        }
        // The brace takes the place of the last comma.
        pen.back_to(pen.at() - 1);
        pen.write(&[HEADER_CLOSE]);
        pen.write(COLON);
        let written = pen.written();
        let table = &text[open..];
        if header > limits.header || !self.shape.is_distinct(table) {
            return TableOutcome::Plain;
        }

        let room = std::mem::take(&mut self.cursor.room);
        let room_len = room.len();
        let mut cursor = self.cursor.at(&index[1..bracket + 1], &mut room[written..]);
        cursor.expansion = expansion;
        let mut rows = Rows { cursor, table, columns: self.shape.columns(), writes_last: true, reach: u64::MAX };
        if rows.write(kernel) != count {
            return TableOutcome::Plain;
        }
        TableOutcome::Written { bracket, bytes: room_len - rows.cursor.room.len() }
    }
}

/// The layout of an array of objects that may be a table.
struct Braces {
    /// The number of rows.
    count: u64,
    /// The number of entries a row.
    entries: usize,
    /// The entry of the closing bracket.
    bracket: usize,
}

/// Checks that the braces of all rows are at equal distances. The first entries are `[`, `{` and a key.
#[inline(always)]
fn find_braces(text: &[u8], index: &[u32]) -> Result<Braces, TableOutcome> {
    // The first row: scalars only, up to its closing brace.
    let mut brace = 4;
    loop {
        let Some([value, next]) = ahead(text, index, brace - 1) else { return Err(TableOutcome::Unknown) };
        match (text[value], text[next]) {
            (b'{' | b'[', _) => return Err(TableOutcome::Plain),
            (_, b'}') => break,
            (_, b'"') => brace += 2,
            _ => return Err(TableOutcome::Unknown),
        }
    }
    // Every further row must have its braces in the same places.
    let entries = brace;
    let mut count = 1;
    loop {
        let Some([close, after]) = ahead(text, index, brace) else { return Err(TableOutcome::Unknown) };
        match text[after] {
            _ if text[close] != b'}' => return Err(TableOutcome::Plain),
            b']' if after == close + 1 && count > 1 => return Ok(Braces { count, entries, bracket: brace + 1 }),
            b'{' if after == close + 2 && text[close + 1] == b',' => {}
            _ => return Err(TableOutcome::Plain),
        }
        count += 1;
        brace += entries;
    }
}
