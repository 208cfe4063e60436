//! Steps over an array of objects, written as columnar for as long as it may become one (grammar/STC.md, section 8.6).
//!
//! The first row gives the shape: its keys, in order. Every further row must have the same bytes where the first has
//! keys, so rows are compared and never hashed. Cells are written row by row, and the count is inserted into the header
//! after the last row. Anything that does not fit sends the pass back to the array's first element, and the array is
//! written plain.

use super::state::{Analyzer, Flow, Next, Stepped, TableStep};
use super::write;
use crate::buffer::{BLOCK, Buffer};
use crate::error::Refused;
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::tape::{byte, is_key, lexeme};

impl Analyzer {
    /// Begins a table at the cursor: a `[` that may be opened, followed by an object with a key.
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
        self.next = Next::Table(TableStep::FirstRow);
        Ok(Flow::Onward)
    }

    /// Takes a step in a table, or returns to the array's first element.
    pub(super) fn table_step(&mut self, step: TableStep, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Stepped {
        let fits = match step {
            TableStep::FirstRow => self.first_row(text, index)?,
            TableStep::RowOpen => self.row_open(text, index),
            TableStep::Cell => self.cell(text, index, out)?,
            TableStep::RowClose => self.row_close(text, index, out),
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

    // The four steps return `None` if the array is not a table.

    /// Reads a member of the first row.
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
            b'}' if next == end => self.next = Next::Table(TableStep::RowClose),
            b'"' if next == end + 1 && text[end] == b',' => {}
            _ => return Err(Refused),
        }
        Ok(Some(Flow::Onward))
    }

    /// Opens a further row.
    fn row_open(&mut self, text: &[u8], index: &[u32]) -> Option<Flow> {
        let &[open, key, ..] = &index[self.cursor..] else { return Some(Flow::Starved) };
        if key != open + 1 || byte(text, key as usize) != b'"' {
            return None;
        }
        self.table.column = 0;
        self.cursor += 1;
        self.next = Next::Table(TableStep::Cell);
        Some(Flow::Onward)
    }

    /// Reads a member of a further row and writes its cell.
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
                self.next = Next::Table(TableStep::RowClose);
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

    /// Closes a row. After the first row, writes the header; after the last, inserts the count.
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
            self.next = Next::Table(TableStep::RowOpen);
        } else {
            return None;
        }
        self.cursor += 1;
        Some(Flow::Onward)
    }

    /// Returns to the first element: the array stays plain.
    fn not_columnar(&mut self, text: &[u8], out: &mut Buffer<u8>) {
        out.truncate(self.table.mark);
        // In a plain array no member grows by more than half: the worst is `"":[1],`, seven bytes that become ten.
        out.reserve((text.len() - self.table.open).div_ceil(2) * 3 + 2 * BLOCK);
        self.cursor = self.table.cursor + 1;
        self.from = self.table.open;
        self.next = Next::Value;
    }
}
