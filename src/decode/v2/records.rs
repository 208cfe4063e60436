//! Tables in the reading (grammar/STC.md, sections 16 and 17): the values of a header, then rows and tuples, cell by cell.

use crate::decode::machine::Machine;
use crate::decode::output::{Aside, Output};
use crate::decode::state::{State, Step, V2State};
use crate::decode::v2::frames::{FrameKind, Record};
use crate::decode::v2::schema::{Kind, NONE, Schema};
use crate::decode::v2::state::{Hole, V2Context};
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{COMMA, LINE_FEED, starts_bare};
use crate::json::nesting::Container;
use crate::options::Limits;

impl Machine {
    /// A header that version 1 has begun to read turns out to be version 2's.
    pub(crate) fn convert_header(&mut self, limits: &Limits) -> Result<(), Error> {
        let schema = &mut self.v2.schema;
        schema.begin();
        for column in 0..self.header.width() {
            let offset = self.header.offset(column);
            schema.begin_key(offset, limits)?;
            // Past the brace or comma that version 1 has before a key, and without its colon.
            let key = self.header.before(column);
            schema.put_key(&key[1..key.len() - 1]);
            schema.end_key();
        }
        schema.counted(self.header.length());
        let depth = self.nesting.depth();
        let left = self.left;
        self.v2.push(depth, FrameKind::Table { keyed: false, left });
        Ok(())
    }

    /// A constant or default begins, behind its `=`.
    pub(crate) fn begin_value(&mut self, default: bool, limits: &Limits, out: &mut Output<'_>) {
        let depth = self.nesting.depth();
        let schema = &mut self.v2.schema;
        let list = schema.last().list;
        let list = if default { list } else { NONE };
        let room = schema.room(limits);
        out.set_aside(Aside::Header, room);
        self.v2.push(depth, FrameKind::Value { default, list });
        self.v2.deepest = depth;
        self.state = State::Value;
    }

    pub(crate) fn template_done(&mut self) -> State {
        let V2Context { schema, template, .. } = &mut self.v2;
        schema.end_template(template);
        State::V2(V2State::AfterColumn { default: false })
    }

    pub(crate) fn begin_rows(&mut self) {
        self.v2.captures.clear();
        self.v2.holes.clear();
        self.state = State::V2(V2State::Row);
    }

    /// The first byte of a row has come.
    pub(crate) fn begin_row(&mut self, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<Step, Error> {
        let depth = self.nesting.depth();
        let Some(&mut FrameKind::Table { keyed, .. }) = self.v2.at(depth) else { return self.wrong(here) };
        self.check_depth(1 + self.v2.schema.list(0).height, here, limits)?;
        if keyed {
            self.state = State::V2(V2State::RowKey);
        } else {
            self.open_row(here, limits, out)?;
        }
        Ok(Step::Reconsume)
    }

    /// The object of a row begins; if the row has templates, it is set aside.
    pub(crate) fn open_row(&mut self, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<(), Error> {
        if self.v2.schema.has_templates() {
            out.set_aside(Aside::Row, limits.row);
        }
        self.open_record(true, 0, here, limits, out)
    }

    /// May this many levels more be open? The value of a header counts for itself, since it is not known yet how deep
    /// it will stand.
    pub(crate) fn check_depth(&self, levels: usize, here: u64, limits: &Limits) -> Result<(), Error> {
        let depth = self.nesting.depth() - self.v2.frames.header_value().unwrap_or(0);
        if depth + levels > limits.depth { Err(Error::new(ErrorKind::Depth, here)) } else { Ok(()) }
    }

    /// A row or a tuple begins: everything up to its first cell is written.
    pub(crate) fn open_record(
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
        let holes = self.v2.holes.len();
        let record = Record { row, column, wrote: false, holes, begun: false };
        self.v2.push(depth, FrameKind::Record(record));
        self.fill_columns(here, out)?;
        self.state = State::V2(V2State::Cell);
        Ok(())
    }

    pub(crate) fn record(&self) -> Record {
        let frame = self.v2.frames.innermost().filter(|frame| frame.depth == self.nesting.depth());
        match frame.map(|frame| frame.kind) {
            Some(FrameKind::Record(record)) => record,
            // Only asked for inside one.
            _ => Record { row: false, column: NONE, wrote: false, holes: 0, begun: false },
        }
    }

    pub(crate) fn set_record(&mut self, record: Record) {
        let depth = self.nesting.depth();
        if let Some(kind) = self.v2.at(depth) {
            *kind = FrameKind::Record(record);
        }
    }

    pub(crate) fn next_column(&mut self) {
        let mut record = self.record();
        record.column = self.v2.schema.column(record.column).next;
        self.set_record(record);
    }

    /// Writes the columns that have no cell, up to the next that has.
    pub(crate) fn fill_columns(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let mut record = self.record();
        while record.column != NONE {
            let schema = &self.v2.schema;
            let column = schema.column(record.column);
            match &column.kind {
                Kind::Constant(range) => {
                    write_key(schema, record.column, &mut record.wrote, here, out)?;
                    out.write(&schema.text[range.clone()], here)?;
                }
                Kind::Template { text, placeholders } => {
                    write_key(schema, record.column, &mut record.wrote, here, out)?;
                    let mut from = text.start;
                    for placeholder in schema.placeholders(placeholders.clone()) {
                        out.write(&schema.text[from..placeholder.start], here)?;
                        self.v2.holes.push(Hole { at: out.aside().len(), column: placeholder.column });
                        from = placeholder.end;
                    }
                    out.write(&schema.text[from..text.end], here)?;
                }
                Kind::Splice { .. } => {
                    write_key(schema, record.column, &mut record.wrote, here, out)?;
                    out.write(b"{", here)?;
                    record.wrote = false;
                    self.nesting.open(Container::Object);
                }
                Kind::SpliceEnd => {
                    out.write(b"}", here)?;
                    record.wrote = true;
                    self.nesting.close();
                }
                Kind::Cell | Kind::Optional | Kind::Default(_) => break,
            }
            record.column = column.next;
        }
        self.v2.record_at(self.nesting.depth());
        self.set_record(record);
        Ok(())
    }

    /// A byte where a cell may stand.
    pub(crate) fn cell(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        let mut record = self.record();
        if record.column == NONE {
            // All columns are in the header.
            self.state = State::V2(V2State::AfterCell);
            return Ok(Step::Reconsume);
        }
        let schema = &self.v2.schema;
        let column = schema.column(record.column);
        let empty = byte == COMMA || byte == if record.row { LINE_FEED } else { b')' };
        if empty {
            match &column.kind {
                Kind::Optional => {}
                Kind::Default(range) => {
                    write_key(schema, record.column, &mut record.wrote, here, out)?;
                    out.write(&schema.text[range.clone()], here)?;
                }
                _ => return self.wrong(here),
            }
            self.set_record(record);
            self.next_column();
            self.fill_columns(here, out)?;
            self.state = State::V2(V2State::AfterCell);
            return Ok(Step::Reconsume);
        }
        if column.named {
            if !matches!(byte, b'"' | b'$' | b'-' | b'0'..=b'9') {
                return Err(Error::new(ErrorKind::Syntax(Expected::TextOrNumber), here));
            }
        } else if !starts_inline(byte, column.list != NONE) {
            return self.wrong(here);
        }
        let named = column.named;
        write_key(schema, record.column, &mut record.wrote, here, out)?;
        self.set_record(record);
        self.v2.capturing = named.then(|| (record.column, out.aside().len()));
        self.state = State::Value;
        Ok(Step::Reconsume)
    }

    /// A value that a template names is complete.
    pub(crate) fn capture(&mut self, out: &mut Output<'_>) {
        if let Some((column, start)) = self.v2.capturing.take() {
            let text = out.aside();
            self.v2.captured(column, text[start] == b'"', start, text.len());
        }
    }

    /// A byte behind a cell.
    pub(crate) fn after_cell(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        let record = self.record();
        if record.column != NONE {
            if byte != COMMA {
                return Err(Error::new(ErrorKind::Count(Expected::Comma), here));
            }
            self.state = State::V2(V2State::Cell);
            return Ok(Step::Consumed);
        }
        let end = if record.row { LINE_FEED } else { b')' };
        if byte != end {
            return Err(Error::new(ErrorKind::Count(self.expected()), here));
        }
        out.write(b"}", here)?;
        self.fill_holes(record, here, out)?;
        self.v2.pop();
        self.nesting.close();
        if !record.row {
            self.state = State::After;
            return Ok(Step::Consumed);
        }
        self.end_row(here, out)?;
        Ok(Step::Consumed)
    }

    /// A row's line feed has been read.
    pub(crate) fn end_row(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        if self.v2.schema.has_templates() {
            out.release(here)?;
            self.v2.holes.clear();
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

    /// A record is complete, and with it all that its holes need. Those of records inside it have been filled.
    pub(crate) fn fill_holes(&mut self, record: Record, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let V2Context { holes, captures, .. } = &mut self.v2;
        let own = &holes[record.holes..];
        if own.is_empty() {
            return Ok(());
        }
        let piece = |hole: &Hole| {
            let (start, end) = captures[hole.column as usize];
            (hole.at, start..end)
        };
        out.fill(own.iter().map(piece), here)?;
        holes.truncate(record.holes);
        Ok(())
    }

    /// Behind a table: the line feed was the comma too.
    pub(crate) fn after_table(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        match (self.nesting.innermost(), byte) {
            (Some(Container::Object), b'}') | (Some(Container::Array), b']') => {
                self.state = State::After;
            }
            (Some(Container::Object), _) if byte == b'"' || starts_bare(byte) => {
                out.write(b",", here)?;
                self.state = State::Key { first: false };
            }
            (Some(Container::Array), _) if starts_inline(byte, false) => {
                out.write(b",", here)?;
                self.state = State::Value;
            }
            _ => return self.wrong(here),
        }
        Ok(Step::Reconsume)
    }
}

/// The key of a column, with the comma before it.
fn write_key(schema: &Schema, column: u32, wrote: &mut bool, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
    if std::mem::replace(wrote, true) {
        out.write(b",", here)?;
    }
    out.write(&schema.text[schema.column(column).key.clone()], here)
}

/// May a value begin with this byte?
fn starts_inline(byte: u8, tuple: bool) -> bool {
    matches!(byte, b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b'{' | b'[' | b'$' | b'@' | b'&' | b'*')
        || tuple && byte == b'('
}
