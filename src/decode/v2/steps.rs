//! What version 2 adds to the machine (grammar/STC.md, sections 14 to 21).
//!
//! The machine's own containers are bits of its nesting. Those of version 2 need to remember more, so they have a frame
//! besides, with the depth at which they stand: when the innermost frame stands at the machine's depth, it decides
//! what comes next. A document of version 1 has no frames, and pays nothing.
//!
//! Output goes to one of three places: on, to whoever decodes; aside, into a header, while a constant is read; or
//! aside, into a row that has templates, until the row is complete and its holes can be filled.

use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{Role, Sigil, State, Step, V2State};
use crate::decode::v2::frames::{FrameKind, Record};
use crate::decode::v2::names::{NO_KEY, Name};
use crate::decode::v2::schema::{Kind, NONE, TemplateReader};
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{COMMA, COUNT_DIGITS, LINE_FEED, is_white, starts_bare};
use crate::json::nesting::Container;
use crate::options::Limits;

impl Machine {
    /// The list of tuples that may stand here, where a value may.
    pub(crate) fn tuple_list(&mut self) -> u32 {
        let depth = self.nesting.depth();
        match self.v2.at(depth).copied() {
            Some(FrameKind::Record(record)) if record.column != NONE => self.v2.schema.column(record.column).list,
            Some(FrameKind::Array { list } | FrameKind::Value { list, .. }) => list,
            _ => NONE,
        }
    }

    /// A byte of version 2 where a value may stand.
    pub(crate) fn value_v2(
        &mut self,
        byte: u8,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        let sigil = match byte {
            b'$' => Sigil::Reference,
            b'@' => Sigil::Shape,
            b'*' => Sigil::Copy,
            b'&' if !self.in_header() => Sigil::Anchor,
            b'(' => {
                let list = self.tuple_list();
                if list != NONE {
                    self.open_record(false, list, here, limits, out)?;
                    return Ok(Step::Consumed);
                }
                return Err(Error::new(ErrorKind::Syntax(self.expected()), here));
            }
            _ => return Err(Error::new(ErrorKind::Syntax(self.expected()), here)),
        };
        self.v2.name = Name::default();
        self.v2.sigil_at = here;
        self.state = State::V2(V2State::Name(sigil));
        Ok(Step::Consumed)
    }

    pub(crate) fn in_header(&self) -> bool {
        self.v2.frames.header_value().is_some()
    }

    /// A value's `[` has been read: its direct elements may be tuples if it is a cell.
    pub(crate) fn opened_array(&mut self, list: u32) {
        if list != NONE {
            let depth = self.nesting.depth();
            self.v2.push(depth, FrameKind::Array { list });
        }
    }

    /// The list for [`opened_array`](Self::opened_array), asked before the bracket is read.
    pub(crate) fn cell_list(&mut self) -> u32 {
        let depth = self.nesting.depth();
        match self.v2.at(depth) {
            Some(FrameKind::Record(_) | FrameKind::Value { .. }) => self.tuple_list(),
            _ => NONE,
        }
    }

    /// A container closes; its frame goes with it.
    pub(crate) fn leave(&mut self, here: u64) -> Result<(), Error> {
        let depth = self.nesting.depth();
        match self.v2.at(depth).copied() {
            Some(FrameKind::Label { shape: None, .. }) => {
                return Err(Error::new(ErrorKind::Syntax(Expected::Key), here));
            }
            Some(FrameKind::Label { name, shape: Some(shape), .. }) => {
                self.v2.shapes.complete(name, shape);
                self.v2.pop();
            }
            Some(FrameKind::Array { .. }) => self.v2.pop(),
            _ => {}
        }
        Ok(())
    }

    /// May a table, or a columnar value, stand in the array or object just opened?
    pub(crate) fn may_be_table(&mut self) -> bool {
        let depth = self.nesting.depth();
        !self.v2.is_inline() && !self.v2.is_anchored(depth) && self.v2.at(depth).is_none()
    }

    /// What comes behind a value, if the container around it is one of version 2; none if it is not.
    pub(crate) fn after_v2(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Option<Result<Step, Error>> {
        let depth = self.nesting.depth();
        match self.v2.at(depth).copied()? {
            FrameKind::Record(_) => {
                self.capture(out);
                self.next_column();
                let settled = self.fill_columns(here, out);
                self.state = State::V2(V2State::AfterCell);
                Some(settled.map(|()| Step::Reconsume))
            }
            FrameKind::Shape { next } => Some(self.after_shape_value(next, byte, here, out)),
            FrameKind::Value { default, .. } => {
                let height = self.v2.deepest - depth;
                self.v2.schema.set_value(default, out.aside(), height);
                out.end_aside();
                self.v2.pop();
                self.state = State::V2(V2State::AfterColumn { default: false });
                Some(Ok(Step::Reconsume))
            }
            FrameKind::Array { .. } | FrameKind::Label { .. } | FrameKind::Table { .. } => None,
        }
    }

    /// Which whitespace may be skipped in a state of version 2.
    pub(crate) fn may_skip_v2(&self, two: V2State, byte: u8) -> bool {
        let blank = matches!(byte, b' ' | b'\t');
        match two {
            V2State::Name(_)
            | V2State::Definition
            | V2State::DefinitionEnd
            | V2State::Anchored
            | V2State::KeyedCount => false,
            V2State::KeyedHeader | V2State::HeaderEnd | V2State::Splice => false,
            V2State::AfterKeyedCount | V2State::ListKey | V2State::AfterListKey | V2State::AfterOptional => {
                is_white(byte)
            }
            V2State::AfterColumn { .. } | V2State::ListColon | V2State::AfterTable => is_white(byte),
            V2State::Row => false,
            V2State::Template
            | V2State::RowKey
            | V2State::RowColon
            | V2State::Cell
            | V2State::AfterCell
            | V2State::ShapeValue => blank,
        }
    }

    /// A byte in a state of version 2.
    pub(crate) fn step_v2(
        &mut self,
        two: V2State,
        byte: u8,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        match (two, byte) {
            (V2State::Name(_), b'a'..=b'z') if self.v2.name.push(byte) => {}
            (V2State::Name(_), b'a'..=b'z') => return self.wrong(here),
            (V2State::Name(_), _) if self.v2.name.is_empty() => return self.wrong(here),
            (V2State::Name(sigil), _) => return self.named(sigil, Some(byte), here, limits, out),
            (V2State::Definition, b'"') => return self.begin_lexeme(Role::Definition, byte, here),
            (V2State::DefinitionEnd, LINE_FEED) => self.state = State::Value,
            (V2State::Anchored, b'{' | b'[' | b'@') => {
                self.state = State::Value;
                return Ok(Step::Reconsume);
            }
            (V2State::Anchored, b'(') if self.tuple_list() != NONE => {
                self.state = State::Value;
                return Ok(Step::Reconsume);
            }

            (V2State::KeyedCount, b'0'..=b'9') if self.digits_len < COUNT_DIGITS => self.push_digit(byte),
            (V2State::KeyedCount | V2State::AfterKeyedCount, b'}') => self.state = State::V2(V2State::KeyedHeader),
            (V2State::KeyedCount, _) if is_white(byte) => self.state = State::V2(V2State::AfterKeyedCount),
            (V2State::KeyedHeader, b'{') => {
                self.check_depth(1, here, limits)?;
                let (left, depth) = (self.count(), self.nesting.depth());
                self.v2.schema.begin();
                self.v2.push(depth, FrameKind::Table { keyed: true, left });
                self.state = State::V2(V2State::ListKey);
            }

            (V2State::ListKey, b'"') => {
                self.v2.schema.begin_key(here, limits)?;
                return self.begin_lexeme(Role::ListKey, byte, here);
            }
            (V2State::ListKey, _) if starts_bare(byte) => {
                self.v2.schema.begin_key(here, limits)?;
                self.v2.schema.quote();
                self.state = State::Bare(Role::ListKey);
                return Ok(Step::Reconsume);
            }
            (V2State::AfterListKey, b'?') => {
                self.v2.schema.last().kind = Kind::Optional;
                self.state = State::V2(V2State::AfterOptional);
            }
            (V2State::AfterListKey | V2State::AfterOptional, b'{') => {
                self.v2.schema.open_list();
                self.state = State::V2(V2State::ListKey);
            }
            (V2State::AfterListKey, b'.') => self.state = State::V2(V2State::Splice),
            (V2State::Splice, b'{') => {
                self.v2.schema.open_splice();
                self.state = State::V2(V2State::ListKey);
            }
            (V2State::AfterListKey, b'=') => self.begin_value(false, limits, out),
            (V2State::AfterOptional | V2State::AfterColumn { default: true }, b'=') => {
                self.begin_value(true, limits, out)
            }
            (V2State::AfterListKey, b'~') => {
                self.v2.template = TemplateReader::new(&self.v2.schema);
                self.state = State::V2(V2State::Template);
            }
            (V2State::Template, b'"') => return self.begin_lexeme(Role::Template, byte, here),
            (V2State::AfterListKey | V2State::AfterOptional | V2State::AfterColumn { .. }, COMMA) => {
                self.state = State::V2(V2State::ListKey);
            }
            (V2State::AfterListKey | V2State::AfterOptional | V2State::AfterColumn { .. }, b'}') => {
                self.state = State::V2(if self.v2.schema.close_list()? {
                    V2State::ListColon
                } else {
                    V2State::AfterColumn { default: self.v2.schema.last().kind == Kind::Optional }
                });
            }
            (V2State::ListColon, b':') => self.state = State::V2(V2State::HeaderEnd),
            (V2State::HeaderEnd, LINE_FEED) => self.begin_rows(),

            (V2State::Row, _) => return self.begin_row(here, limits, out),
            (V2State::RowKey, b'"') => return self.begin_lexeme(Role::RowKey, byte, here),
            (V2State::RowKey, _) if starts_bare(byte) => {
                out.write(b"\"", here)?;
                self.state = State::Bare(Role::RowKey);
                return Ok(Step::Reconsume);
            }
            (V2State::RowColon, b':') => {
                out.write(b":", here)?;
                self.open_row(here, limits, out)?;
            }
            (V2State::Cell, _) => return self.cell(byte, here, out),
            (V2State::AfterCell, _) => return self.after_cell(byte, here, out),
            (V2State::AfterTable, _) => return self.after_table(byte, here, out),
            (V2State::ShapeValue, _) => {
                self.shape_key(here, out)?;
                self.state = State::Value;
                return Ok(Step::Reconsume);
            }
            _ => return self.wrong(here),
        }
        Ok(Step::Consumed)
    }

    pub(crate) fn wrong(&self, here: u64) -> Result<Step, Error> {
        Err(Error::new(ErrorKind::Syntax(self.expected()), here))
    }

    /// What may come behind a value, if the container around it is one of version 2.
    pub(crate) fn expected_after_value(&self) -> Option<Expected> {
        let frame = self.v2.frames.innermost().filter(|frame| frame.depth == self.nesting.depth())?;
        match frame.kind {
            FrameKind::Record(Record { row, column, .. }) => {
                // The value is this column's; the next has not been looked for.
                let last = column == NONE || self.v2.schema.column(column).next_cell == NONE;
                Some(after_cell(last, row))
            }
            FrameKind::Shape { next } => Some(after_cell(next == NO_KEY, false)),
            FrameKind::Value { .. } => Some(Expected::ColumnEnd),
            FrameKind::Table { .. } | FrameKind::Array { .. } | FrameKind::Label { .. } => None,
        }
    }

    /// What may come next in a state of version 2.
    pub(crate) fn expected_v2(&self, two: V2State) -> Expected {
        let record = self.v2.frames.innermost().and_then(|frame| match frame.kind {
            FrameKind::Record(record) => Some(record),
            _ => None,
        });
        match two {
            V2State::Name(Sigil::Shape) if !self.v2.name.is_empty() => Expected::ShapeOpen,
            V2State::Name(_) => Expected::Name,
            V2State::Definition | V2State::Template => Expected::String,
            V2State::DefinitionEnd | V2State::HeaderEnd => Expected::LineFeed,
            V2State::Anchored => Expected::Container,
            V2State::KeyedCount | V2State::AfterKeyedCount => Expected::KeyedCountClose,
            V2State::KeyedHeader => Expected::HeaderOpen,
            V2State::Splice => Expected::SpliceOpen,
            V2State::ListKey => Expected::Key,
            V2State::AfterListKey | V2State::AfterOptional | V2State::AfterColumn { .. } => Expected::ColumnEnd,
            V2State::ListColon => Expected::HeaderColon,
            V2State::Row | V2State::Cell => Expected::TableCell,
            V2State::RowKey => Expected::Key,
            V2State::RowColon => Expected::Colon,
            V2State::AfterCell => {
                record.map_or(Expected::LineFeed, |record| after_cell(record.column == NONE, record.row))
            }
            V2State::AfterTable => match self.nesting.innermost() {
                Some(Container::Object) => Expected::KeyOrClose,
                Some(Container::Array) => Expected::ValueOrClose,
                None => Expected::End,
            },
            V2State::ShapeValue => Expected::Value,
        }
    }
}

/// What comes behind a cell, or a value of a shape.
fn after_cell(last: bool, row: bool) -> Expected {
    match (last, row) {
        (false, _) => Expected::Comma,
        (true, true) => Expected::LineFeed,
        (true, false) => Expected::TupleClose,
    }
}
