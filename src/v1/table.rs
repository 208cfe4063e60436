//! An array of objects, written as columnar for as long as it may be one.
//!
//! The first row gives the shape: its keys, in order. Every further row must have the same bytes where the first has
//! keys, so rows are compared and never hashed. Cells are written as rows go by, so that little is left to do when
//! the last row has come; the count before them is put in at the end. Whatever does not fit sends the pass back to
//! the array's first element and lets it stay plain.

use super::analyze::{Analyzer, Flow, Next, Stepped};
use super::shape::Shape;
use super::write;
use crate::buffer::BLOCK;
use crate::buffer::Buffer;
use crate::error::Refused;
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::tape::{byte, is_key, lexeme};

/// The array that may become columnar, while [`Next::Table`].
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Its `[` in the text.
    pub(super) open: usize,
    /// Its `[` in the index.
    pub(super) cursor: usize,
    /// Where it begins in the output.
    pub(super) mark: usize,
    /// Where the row before the current one ends in the output, from the second row on.
    pub(super) row_mark: usize,
    pub(super) rows: u64,
    /// The column that comes next.
    column: usize,
    /// Bytes of the header's keys as they will be written.
    pub(super) header: usize,
    pub(super) shape: Shape,
}

/// What of a table stands at the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A key of the first row.
    FirstRow,
    /// The `{` of a further row.
    RowOpen,
    /// A key of a further row.
    Cell,
    /// The `}` of a row.
    RowClose,
}

impl Analyzer {
    /// The cursor is at a `[` that may open and has an object with a key behind it.
    pub(super) fn begin_table(&mut self, open: usize, out: &[u8]) -> Stepped {
        if self.nesting.depth() + 2 > self.limits.depth {
            return Err(Refused);
        }
        self.nesting.open(Container::Array);
        self.table.open = open;
        self.table.cursor = self.cursor;
        self.table.mark = out.len();
        self.table.rows = 0;
        self.table.header = 0;
        self.table.shape.clear();
        self.cursor += 2;
        self.next = Next::Table(Part::FirstRow);
        Ok(Flow::Onward)
    }

    pub(super) fn table_part(&mut self, part: Part, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Stepped {
        let fits = match part {
            Part::FirstRow => self.first_row(text, index)?,
            Part::RowOpen => self.row_open(text, index),
            Part::Cell => self.cell(text, index, out)?,
            Part::RowClose => self.row_close(text, index, out),
        };
        match fits {
            Some(Flow::Starved) if text.len() - self.table.open <= self.window => Ok(Flow::Starved),
            Some(Flow::Onward) => Ok(Flow::Onward),
            _ => {
                self.not_columnar(text, out);
                Ok(Flow::Onward)
            }
        }
    }

    /// `None`: the array is not a table.
    fn first_row(&mut self, text: &[u8], index: &[u32]) -> Result<Option<Flow>, Refused> {
        let &[key, value, next, ..] = &index[self.cursor..] else { return Ok(Some(Flow::Starved)) };
        let (key, value, next) = (key as usize, value as usize, next as usize);
        if !is_key(text, key, value) {
            return Err(Refused);
        }
        if Kind::of(byte(text, value)).is_none() {
            return Ok(None);
        }
        let (_, end) = lexeme(text, value, next).ok_or(Refused)?;
        let table = &mut self.table;
        table.header += write::key_len(&text[key..value - 1]);
        if table.shape.columns().len() == self.limits.columns || table.header > self.limits.header {
            return Ok(None);
        }
        table.shape.push(key - table.open, value - table.open, end - table.open);
        self.cursor += 2;
        match byte(text, next) {
            b'}' if next == end => self.next = Next::Table(Part::RowClose),
            b'"' if next == end + 1 && text[end] == b',' => {}
            _ => return Err(Refused),
        }
        Ok(Some(Flow::Onward))
    }

    fn row_open(&mut self, text: &[u8], index: &[u32]) -> Option<Flow> {
        let &[open, key, ..] = &index[self.cursor..] else { return Some(Flow::Starved) };
        if key != open + 1 || byte(text, key as usize) != b'"' {
            return None;
        }
        self.table.column = 0;
        self.cursor += 1;
        self.next = Next::Table(Part::Cell);
        Some(Flow::Onward)
    }

    fn cell(&mut self, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Result<Option<Flow>, Refused> {
        let &[key, value, next, ..] = &index[self.cursor..] else { return Ok(Some(Flow::Starved)) };
        let (key, value, next) = (key as usize, value as usize, next as usize);
        let table = &mut self.table;
        let Some(column) = table.shape.columns().get(table.column) else { return Ok(None) };
        if text[key..value] != text[table.open..][column.key()] || Kind::of(byte(text, value)).is_none() {
            return Ok(None);
        }
        let (_, end) = lexeme(text, value, next).ok_or(Refused)?;
        table.column += 1;
        match byte(text, next) {
            b'}' if next == end => {
                if table.column < table.shape.columns().len() {
                    return Ok(None);
                }
                self.next = Next::Table(Part::RowClose);
            }
            b'"' if next == end + 1 && text[end] == b',' => {}
            _ => return Err(Refused),
        }
        if table.column > 1 {
            write::comma(out);
        }
        out.extend(&text[value..end]);
        self.cursor += 2;
        Ok(Some(Flow::Onward))
    }

    fn row_close(&mut self, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Option<Flow> {
        let &[close, next, ..] = &index[self.cursor..] else { return Some(Flow::Starved) };
        let (close, next) = (close as usize, next as usize);
        if self.table.rows > 0 && !self.may_expand(next, self.table.row_mark) {
            return None;
        }
        let table = &mut self.table;
        if byte(text, next) == b']' && next == close + 1 {
            if table.rows == 0 || next + 1 - table.open > self.window {
                return None;
            }
            table.rows += 1;
            write::columnar_count(table.mark, table.rows, out);
            self.from = next + 1;
            self.next = Next::Close;
        } else if byte(text, next) == b'{' && next == close + 2 && text[close + 1] == b',' {
            if table.rows == 0 {
                let whole = &text[table.open..];
                if !table.shape.is_distinct(whole) {
                    return None;
                }
                let columns = || table.shape.columns().iter();
                write::columnar_header(columns().map(|column| &whole[column.key()]), out);
                write::row(columns().map(|column| &whole[column.cell()]), out);
            }
            table.rows += 1;
            table.row_mark = out.len();
            write::row_separator(out);
            self.next = Next::Table(Part::RowOpen);
        } else {
            return None;
        }
        self.cursor += 1;
        Some(Flow::Onward)
    }

    /// Back to the first element: the array stays as it is.
    fn not_columnar(&mut self, text: &[u8], out: &mut Buffer<u8>) {
        out.truncate(self.table.mark);
        // Plain, no member grows by half: the worst is `"":[1],`, seven bytes that become ten.
        out.reserve((text.len() - self.table.open).div_ceil(2) * 3 + 2 * BLOCK);
        self.cursor = self.table.cursor + 1;
        self.from = self.table.open;
        self.next = Next::Value;
    }
}
