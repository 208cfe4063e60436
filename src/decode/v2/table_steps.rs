//! Rows and tuples, cell by cell (grammar/STC.md, sections 16 and 17).
//!
//! A row and a tuple are read the same way: each cell is given the key of its column, and the columns without a cell are written
//! where the header has them. They differ in what ends them, LF or `)`, and in what comes after.

use crate::decode::machine::Machine;
use crate::decode::output::{Aside, Output};
use crate::decode::state::{LexemeRole, State, Step, V2State};
use crate::decode::v2::columns::{ColumnKind, NONE, TemplateText};
use crate::decode::v2::context::{Insertion, V2Context};
use crate::decode::v2::frames::{FrameKind, OpenTuple};
use crate::decode::v2::schema::Schema;
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{
    ANCHOR_SIGIL, COMMA, COPY_SIGIL, DICTIONARY_SIGIL, LINE_FEED, SHAPE_SIGIL, TUPLE_OPEN, WHOLE_ROW_SIGN, starts_bare,
    starts_bare_string, starts_word,
};
use crate::json::nesting::Container;
use crate::options::Limits;

/// Rows (STC.md, 16).
impl Machine {
    /// Reads a byte of a table's rows, or after the last.
    pub(crate) fn step_table(
        &mut self,
        state: V2State,
        byte: u8,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        match (state, byte) {
            (V2State::Row, _) => self.begin_row(byte, here, limits, out),
            (V2State::RowKey, b'"') => self.begin_lexeme(LexemeRole::RowKey, byte, here),
            (V2State::RowKey, _) if starts_bare(byte) => {
                out.write(b"\"", here)?;
                self.state = State::Bare(LexemeRole::RowKey);
                Ok(Step::Reconsume)
            }
            (V2State::RowColon, b':') => {
                out.write(b":", here)?;
                self.state = State::V2(V2State::RowStart);
                Ok(Step::Consumed)
            }
            (V2State::RowStart, _) => self.start_row(byte, here, limits, out),
            (V2State::RowObject, b'{') => {
                self.open_listed(true, 0, here, limits, out)?;
                Ok(Step::Consumed)
            }
            (V2State::RowEnd, LINE_FEED) => {
                self.end_row(here, out)?;
                Ok(Step::Consumed)
            }
            (V2State::Cell, _) => self.cell(byte, here, out),
            (V2State::AfterCell, _) => self.after_cell(byte, here, out),
            (V2State::AfterTable, _) => self.after_table(byte, here, out),
            _ => self.syntax_error(here),
        }
    }

    /// Begins a row, at its first byte.
    fn begin_row(&mut self, byte: u8, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<Step, Error> {
        let depth = self.nesting.depth();
        let Some(&mut FrameKind::Table { keyed, .. }) = self.v2.at(depth) else { return self.syntax_error(here) };
        self.check_depth(1 + self.v2.schema.list(0).height, here, limits)?;
        if !keyed {
            return self.start_row(byte, here, limits, out);
        }
        self.state = State::V2(V2State::RowKey);
        Ok(Step::Reconsume)
    }

    /// Opens the object of a row, before its first cell, or begins a row that is a value. A row with templates is held until it is
    /// complete.
    fn start_row(&mut self, byte: u8, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<Step, Error> {
        if self.v2.schema.has_templates() {
            out.set_aside(Aside::Row, limits.row);
        }
        if self.v2.schema.has_open_rows() {
            self.state = State::V2(V2State::RowObject);
        } else if byte == WHOLE_ROW_SIGN {
            let depth = self.nesting.depth();
            self.v2.push(depth, FrameKind::WholeRow);
            self.state = State::Value;
            return Ok(Step::Consumed);
        } else {
            self.open_tuple(true, 0, here, limits, out)?;
        }
        Ok(Step::Reconsume)
    }

    /// Reads the byte after the value of a row that is one (STC.md, 16.7): its line feed.
    pub(crate) fn end_whole_row(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        if byte != LINE_FEED {
            return self.syntax_error(here);
        }
        self.v2.pop();
        self.end_row(here, out)?;
        Ok(Step::Consumed)
    }

    /// Ends a row, at its line feed, and after the last row the table.
    fn end_row(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        if self.v2.schema.has_templates() {
            out.release(here)?;
            self.v2.insertions.clear();
        }
        let depth = self.nesting.depth();
        let Some(FrameKind::Table { keyed, left }) = self.v2.at(depth) else { return Ok(()) };
        *left -= 1;
        if *left > 0 {
            out.write(b",", here)?;
            self.state = State::V2(V2State::Row);
            return Ok(());
        }
        let bracket: &[u8] = if *keyed { b"}" } else { b"]" };
        out.write(bracket, here)?;
        self.v2.pop();
        self.nesting.close();
        self.state = State::V2(V2State::AfterTable);
        Ok(())
    }

    /// Reads the byte after a table: its last line feed was the comma too (STC.md, 16.4).
    fn after_table(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        match (self.nesting.innermost(), byte) {
            (Some(Container::Object), b'}') | (Some(Container::Array), b']') => {
                self.state = State::After;
            }
            (Some(Container::Object), _) if byte == b'"' || starts_bare(byte) => {
                out.write(b",", here)?;
                self.state = State::Key { first: false };
            }
            (Some(Container::Array), _) if starts_inline_value(byte) => {
                out.write(b",", here)?;
                self.state = State::Value;
            }
            _ => return self.syntax_error(here),
        }
        Ok(Step::Reconsume)
    }
}

/// Tuples, and rows as tuples (STC.md, 16.2 and 17.4).
impl Machine {
    /// Rejects `levels` more levels than may be open (STC.md, 20.2). The levels of a header's value are counted from that value
    /// alone, because it is not known yet at which depths the value will stand.
    pub(crate) fn check_depth(&self, levels: usize, here: u64, limits: &Limits) -> Result<(), Error> {
        let depth = self.nesting.depth() - self.v2.frames.header_value().unwrap_or(0);
        if depth + levels > limits.depth { Err(Error::new(ErrorKind::Depth, here)) } else { Ok(()) }
    }

    /// Opens the object of a row or tuple, and writes everything up to its first cell.
    pub(crate) fn open_tuple(
        &mut self,
        row: bool,
        list: u32,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let height = self.v2.schema.list(list).height;
        self.check_depth(1 + height, here, limits)?;
        self.open(Container::Object, b"{", here, limits, out)?;
        let depth = self.nesting.depth();
        self.v2.opened(depth + height);
        let column = self.v2.schema.list(list).head;
        let insertions = self.v2.insertions.len();
        self.v2.push(depth, FrameKind::Tuple(OpenTuple { row, column, has_key: false, insertions }));
        self.write_fixed_columns(here, out)?;
        self.state = State::V2(V2State::Cell);
        Ok(())
    }

    /// Returns the row or tuple that the machine is in. It must be in one.
    pub(crate) fn tuple(&self) -> OpenTuple {
        let frame = self.v2.frames.innermost().filter(|frame| frame.depth == self.nesting.depth());
        match frame.map(|frame| frame.kind) {
            Some(FrameKind::Tuple(tuple)) => tuple,
            _ => OpenTuple { row: false, column: NONE, has_key: false, insertions: 0 },
        }
    }

    pub(crate) fn set_tuple(&mut self, tuple: OpenTuple) {
        let depth = self.nesting.depth();
        if let Some(kind) = self.v2.at(depth) {
            *kind = FrameKind::Tuple(tuple);
        }
    }

    /// Moves the tuple on to its next column.
    pub(crate) fn next_column(&mut self) {
        let mut tuple = self.tuple();
        tuple.column = self.v2.schema.column(tuple.column).next;
        self.set_tuple(tuple);
    }

    /// Writes the columns that have no cell, up to the next that has: constants (STC.md, 17.3), templates (17.5), splices (17.9).
    pub(crate) fn write_fixed_columns(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let mut tuple = self.tuple();
        while tuple.column != NONE {
            let schema = &self.v2.schema;
            let column = schema.column(tuple.column);
            match &column.kind {
                ColumnKind::Constant(range) => {
                    write_key(schema, &mut tuple, here, out)?;
                    out.write(&schema.text[range.clone()], here)?;
                }
                ColumnKind::Template(text) => {
                    write_key(schema, &mut tuple, here, out)?;
                    write_template(schema, &mut self.v2.insertions, *text, here, out)?;
                }
                ColumnKind::Splice { .. } => {
                    write_key(schema, &mut tuple, here, out)?;
                    out.write(b"{", here)?;
                    tuple.has_key = false;
                    self.nesting.open(Container::Object);
                }
                ColumnKind::SpliceEnd => {
                    out.write(b"}", here)?;
                    tuple.has_key = true;
                    self.nesting.close();
                }
                ColumnKind::Cell | ColumnKind::Optional | ColumnKind::Default(_) => break,
            }
            tuple.column = column.next;
        }
        self.v2.move_tuple(self.nesting.depth());
        self.set_tuple(tuple);
        Ok(())
    }

    /// Reads the first byte of a cell, or the byte after an empty one.
    fn cell(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        let mut tuple = self.tuple();
        if tuple.column == NONE {
            // No column of the list has a cell.
            self.state = State::V2(V2State::AfterCell);
            return Ok(Step::Reconsume);
        }
        if byte == COMMA || byte == tuple.end() {
            return self.empty_cell(tuple, here, out);
        }
        let schema = &self.v2.schema;
        let column = schema.column(tuple.column);
        if column.filling != NONE && starts_word(byte) {
            let filling = column.filling;
            write_key(schema, &mut tuple, here, out)?;
            self.set_tuple(tuple);
            return self.begin_word(Some(filling), byte, here, out);
        }
        if column.in_template {
            if !starts_template_cell(byte) && !starts_bare_string(byte) {
                return Err(Error::new(ErrorKind::Syntax(Expected::StringOrNumber), here));
            }
        } else if !starts_cell(byte, column.list != NONE) {
            return self.syntax_error(here);
        }
        let in_template = column.in_template;
        write_key(schema, &mut tuple, here, out)?;
        self.set_tuple(tuple);
        self.v2.open_cell_text = in_template.then(|| (tuple.column, out.aside().len()));
        self.state = State::Value;
        Ok(Step::Reconsume)
    }

    /// Reads an empty cell: its key is left out (STC.md, 17.2), or has the default (17.8).
    fn empty_cell(&mut self, mut tuple: OpenTuple, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        let schema = &self.v2.schema;
        match &schema.column(tuple.column).kind {
            ColumnKind::Optional => {}
            ColumnKind::Default(range) => {
                write_key(schema, &mut tuple, here, out)?;
                out.write(&schema.text[range.clone()], here)?;
            }
            _ => return self.syntax_error(here),
        }
        self.set_tuple(tuple);
        self.next_column();
        self.write_fixed_columns(here, out)?;
        self.state = State::V2(V2State::AfterCell);
        Ok(Step::Reconsume)
    }

    /// Notes the text of a cell that is complete, if a template names its column.
    pub(crate) fn end_cell_text(&mut self, out: &mut Output<'_>) {
        if let Some((column, start)) = self.v2.open_cell_text.take() {
            let text = out.aside();
            self.v2.keep_cell_text(column, text[start] == b'"', start, text.len());
        }
    }

    /// Reads the byte after a cell: a comma, or the end of the row or tuple (STC.md, 16.2).
    fn after_cell(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        let tuple = self.tuple();
        if tuple.column != NONE {
            if byte != COMMA {
                return Err(Error::new(ErrorKind::Count(Expected::Comma), here));
            }
            self.state = State::V2(V2State::Cell);
            return Ok(Step::Consumed);
        }
        if byte != tuple.end() {
            return Err(Error::new(ErrorKind::Count(self.expected()), here));
        }
        out.write(b"}", here)?;
        self.fill_templates(tuple, here, out)?;
        self.v2.pop();
        self.nesting.close();
        if tuple.row {
            self.end_row(here, out)?;
        } else {
            self.state = State::After;
        }
        Ok(Step::Consumed)
    }

    /// Fills the placeholders of a tuple that is complete (STC.md, 17.6). Those of tuples inside it have been filled before.
    fn fill_templates(&mut self, tuple: OpenTuple, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let V2Context { insertions, cell_texts, .. } = &mut self.v2;
        let own = &insertions[tuple.insertions..];
        if own.is_empty() {
            return Ok(());
        }
        let text_of = |insertion: &Insertion| {
            let (start, end) = cell_texts[insertion.column as usize];
            (insertion.at, start..end)
        };
        out.fill(own.iter().map(text_of), here)?;
        insertions.truncate(tuple.insertions);
        Ok(())
    }
}

/// Writes a part of a template, and notes the placeholders in it.
pub(crate) fn write_template(
    schema: &Schema,
    insertions: &mut Vec<Insertion>,
    text: TemplateText,
    here: u64,
    out: &mut Output<'_>,
) -> Result<(), Error> {
    let mut from = text.from;
    for placeholder in schema.placeholders(text) {
        out.write(&schema.text[from..placeholder.start], here)?;
        insertions.push(Insertion { at: out.aside().len(), column: placeholder.column });
        from = placeholder.end;
    }
    out.write(&schema.text[from..text.to], here)
}

/// Writes the key of a tuple's column, with the comma before it.
fn write_key(schema: &Schema, tuple: &mut OpenTuple, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
    if std::mem::replace(&mut tuple.has_key, true) {
        out.write(b",", here)?;
    }
    out.write(&schema.text[schema.column(tuple.column).key.clone()], here)
}

/// Returns whether an inline value may begin with this byte (STC.md, 14.4).
fn starts_inline_value(byte: u8) -> bool {
    let sigils = [DICTIONARY_SIGIL, SHAPE_SIGIL, ANCHOR_SIGIL, COPY_SIGIL];
    byte.is_ascii_digit() || matches!(byte, b'"' | b'-' | b't' | b'f' | b'n' | b'{' | b'[') || sigils.contains(&byte)
}

/// Returns whether a cell may begin with this byte: with an inline value, a bare string (STC.md, 14.5), or with a tuple if `tuple`.
fn starts_cell(byte: u8, tuple: bool) -> bool {
    starts_inline_value(byte) || starts_bare_string(byte) || tuple && byte == TUPLE_OPEN
}

/// Returns whether the cell of a column that a template names may begin with this byte: a string, reference or number (STC.md,
/// 17.6).
#[inline(always)]
pub(crate) fn starts_template_cell(byte: u8) -> bool {
    matches!(byte, b'"' | DICTIONARY_SIGIL | b'-' | b'0'..=b'9')
}
