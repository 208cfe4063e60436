//! What version 2 adds to the machine (grammar/STC.md, sections 14 to 20): which byte does what, one byte at a time.
//!
//! Open containers of version 2 have a [frame](crate::decode::v2::frames) besides their bit of the nesting: when the innermost
//! frame is at the machine's depth, it decides what comes next. A document of version 1 has no frames.
//!
//! Output goes to one of three places: to the caller; into the header, while a constant or default is read; or into the held
//! row, if the table has templates, until the row is complete and its placeholders can be filled.

use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{Sigil, State, Step, V2State};
use crate::decode::v2::columns::NONE;
use crate::decode::v2::frames::{FrameKind, OpenTuple};
use crate::decode::v2::names::Name;
use crate::decode::v2::shape_keys::NO_KEY;
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{
    ANCHOR_SIGIL, COPY_SIGIL, DICTIONARY_SIGIL, SHAPE_SIGIL, TUPLE_OPEN, is_horizontal_white, is_white,
};
use crate::json::nesting::Container;
use crate::options::Limits;

/// Where a value begins.
impl Machine {
    /// Reads a byte that only version 2 has where a value may begin: a reference (STC.md, 15.3), a shape (18), an anchor or a
    /// copy (19), a tuple (17.4). Where only keys, elements of compact arrays or cells of version 1 may stand, these bytes are errors.
    pub(crate) fn value_v2(
        &mut self,
        byte: u8,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        let sigil = match byte {
            DICTIONARY_SIGIL => Sigil::Reference,
            SHAPE_SIGIL => Sigil::Shape,
            COPY_SIGIL => Sigil::Copy,
            // A header's value defines nothing (STC.md, 17.3).
            ANCHOR_SIGIL if !self.in_header_value() => Sigil::Anchor,
            TUPLE_OPEN if self.tuple_list() != NONE => {
                self.open_tuple(false, self.tuple_list(), here, limits, out)?;
                return Ok(Step::Consumed);
            }
            _ => return self.syntax_error(here),
        };
        self.v2.name = Name::default();
        self.v2.sigil_offset = here;
        self.state = State::V2(V2State::Name(sigil));
        Ok(Step::Consumed)
    }

    /// Returns the list of the tuple that may stand here, where a value may (STC.md, 17.4); [`NONE`] if none may.
    pub(crate) fn tuple_list(&self) -> u32 {
        match self.frame() {
            Some(FrameKind::Tuple(tuple)) if tuple.column != NONE => self.v2.schema.column(tuple.column).list,
            Some(FrameKind::ListedObject(object)) => self.v2.schema.open_lists.value_lists(object.member).tuples,
            Some(FrameKind::TupleArray { list } | FrameKind::HeaderValue { list, .. }) => list,
            _ => NONE,
        }
    }

    /// Returns the open list of the object that may stand here, where a value may (STC.md, 17.10); [`NONE`] if objects are plain.
    pub(crate) fn object_list(&self) -> u32 {
        match self.frame() {
            Some(FrameKind::Tuple(tuple)) if tuple.column != NONE => self.v2.schema.column(tuple.column).object_list,
            Some(FrameKind::ListedObject(object)) => self.v2.schema.open_lists.value_lists(object.member).objects,
            Some(FrameKind::ObjectArray { list }) => list,
            _ => NONE,
        }
    }

    /// Returns the frame of an array that begins here, if a list of columns applies to its direct elements.
    pub(crate) fn cell_array(&self) -> Option<FrameKind> {
        match self.frame()? {
            FrameKind::Tuple(_) | FrameKind::ListedObject(_) | FrameKind::HeaderValue { .. } => {}
            _ => return None,
        }
        match (self.tuple_list(), self.object_list()) {
            (NONE, NONE) => None,
            (NONE, list) => Some(FrameKind::ObjectArray { list }),
            (list, _) => Some(FrameKind::TupleArray { list }),
        }
    }

    /// Notes that an array has been opened, with what [`cell_array`](Self::cell_array) returned before.
    pub(crate) fn opened_array(&mut self, frame: Option<FrameKind>) {
        if let Some(frame) = frame {
            let depth = self.nesting.depth();
            self.v2.push(depth, frame);
        }
    }

    /// Returns whether the array or object just opened may become a table or columnar value: not inside inline values (STC.md,
    /// 14.4), after an anchor (19.1) or after a shape's name (18.1).
    pub(crate) fn may_be_table(&self) -> bool {
        !self.v2.is_inline() && !self.v2.is_anchored(self.nesting.depth()) && self.frame().is_none()
    }

    /// Returns whether a constant or default of a header is being read.
    pub(crate) fn in_header_value(&self) -> bool {
        self.v2.frames.header_value().is_some()
    }

    /// Returns the frame of the container that the machine is in, if it has one.
    pub(crate) fn frame(&self) -> Option<FrameKind> {
        self.v2.frames.innermost().filter(|frame| frame.depth == self.nesting.depth()).map(|frame| frame.kind)
    }
}

/// Where a value ends.
impl Machine {
    /// Takes away the frame of the container that a bracket closes; returns the state after the bracket.
    pub(crate) fn leave(&mut self, here: u64, out: &mut Output<'_>) -> Result<State, Error> {
        match self.frame() {
            // A shape has at least one key (STC.md, 18.1).
            Some(FrameKind::LabelledObject { shape: None, .. }) => {
                return Err(Error::new(ErrorKind::Syntax(Expected::Key), here));
            }
            Some(FrameKind::LabelledObject { name, shape: Some(shape), .. }) => {
                self.v2.shapes.complete(name, shape);
                self.v2.pop();
            }
            Some(FrameKind::TupleArray { .. } | FrameKind::ObjectArray { .. }) => self.v2.pop(),
            Some(FrameKind::ListedObject(object)) => return self.leave_listed(object, here, out),
            _ => {}
        }
        Ok(State::After)
    }

    /// Reads the byte after a value, if the container around the value is one of version 2; returns none if it is not.
    pub(crate) fn after_v2(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Option<Result<Step, Error>> {
        match self.frame()? {
            FrameKind::Tuple(_) => {
                self.end_cell_text(out);
                self.next_column();
                let written = self.write_fixed_columns(here, out);
                self.state = State::V2(V2State::AfterCell);
                Some(written.map(|()| Step::Reconsume))
            }
            FrameKind::WholeRow => Some(self.end_whole_row(byte, here, out)),
            FrameKind::ShapeTuple { next } => Some(self.after_shape_value(next, byte, here, out)),
            FrameKind::HeaderValue { default, .. } => {
                self.end_header_value(default, out);
                Some(Ok(Step::Reconsume))
            }
            FrameKind::TupleArray { .. } | FrameKind::ObjectArray { .. } | FrameKind::ListedObject(_) => None,
            FrameKind::LabelledObject { .. } | FrameKind::Table { .. } => None,
        }
    }
}

/// The states of version 2.
impl Machine {
    /// Returns whether a byte is whitespace that may stand before what a state expects: in rows only SP and TAB (STC.md, 16.3).
    pub(crate) fn may_skip_v2(&self, state: V2State, byte: u8) -> bool {
        let horizontal = is_horizontal_white(byte);
        match state {
            V2State::Name(_) | V2State::Definition | V2State::DefinitionEnd | V2State::Anchored => false,
            V2State::KeyedCount | V2State::KeyedHeader | V2State::HeaderEnd | V2State::Splice | V2State::Row => false,
            V2State::RowStart => false,
            V2State::MemberCount | V2State::AfterKeyedCount | V2State::ColumnKey | V2State::AfterMark => is_white(byte),
            V2State::AfterColumnKey | V2State::AfterOptional => is_white(byte),
            V2State::AfterColumn { .. } | V2State::ListColon | V2State::AfterTable => is_white(byte),
            V2State::Template | V2State::RowKey | V2State::RowColon => horizontal,
            V2State::RowObject | V2State::RowEnd => horizontal,
            V2State::Cell | V2State::AfterCell | V2State::ShapeValue => horizontal,
        }
    }

    /// Reads a byte in a state of version 2.
    pub(crate) fn step_v2(
        &mut self,
        state: V2State,
        byte: u8,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        match state {
            V2State::Name(_) | V2State::Definition | V2State::DefinitionEnd | V2State::Anchored => {
                self.step_name(state, byte, here, limits, out)
            }
            V2State::ShapeValue => {
                self.write_shape_key(here, out)?;
                self.state = State::Value;
                Ok(Step::Reconsume)
            }
            V2State::MemberCount | V2State::KeyedCount | V2State::AfterKeyedCount | V2State::KeyedHeader => {
                self.step_keyed_count(state, byte, here, limits)
            }
            V2State::ColumnKey
            | V2State::AfterMark
            | V2State::AfterColumnKey
            | V2State::Splice
            | V2State::AfterOptional
            | V2State::AfterColumn { .. }
            | V2State::Template
            | V2State::ListColon
            | V2State::HeaderEnd => self.step_header(state, byte, here, limits, out),
            V2State::Row
            | V2State::RowKey
            | V2State::RowColon
            | V2State::RowStart
            | V2State::RowObject
            | V2State::RowEnd
            | V2State::Cell
            | V2State::AfterCell
            | V2State::AfterTable => self.step_table(state, byte, here, limits, out),
        }
    }

    /// Returns the error that the byte at `here` is not what the state expects: the offset of every syntax error (STC.md, 9.2).
    pub(crate) fn syntax_error(&self, here: u64) -> Result<Step, Error> {
        Err(Error::new(ErrorKind::Syntax(self.expected()), here))
    }

    /// Returns what may come after a value, if the container around the value is one of version 2.
    pub(crate) fn expected_after_value(&self) -> Option<Expected> {
        match self.frame()? {
            FrameKind::Tuple(OpenTuple { row, column, .. }) => {
                // The value is this column's: the next one has not been looked for yet.
                let last = column == NONE || self.v2.schema.column(column).next_cell == NONE;
                Some(expected_after_cell(last, row))
            }
            FrameKind::WholeRow => Some(Expected::LineFeed),
            FrameKind::ShapeTuple { next } => Some(expected_after_cell(next == NO_KEY, false)),
            FrameKind::HeaderValue { .. } => Some(Expected::ColumnEnd),
            FrameKind::TupleArray { .. } | FrameKind::ObjectArray { .. } | FrameKind::ListedObject(_) => None,
            FrameKind::LabelledObject { .. } | FrameKind::Table { .. } => None,
        }
    }

    /// Returns what may come next in a state of version 2.
    pub(crate) fn expected_v2(&self, state: V2State) -> Expected {
        match state {
            V2State::Name(Sigil::Shape) if !self.v2.name.is_empty() => Expected::ShapeOpen,
            V2State::Name(_) => Expected::Name,
            V2State::Definition | V2State::Template => Expected::String,
            V2State::DefinitionEnd | V2State::HeaderEnd => Expected::LineFeed,
            V2State::Anchored => Expected::Container,
            V2State::MemberCount => Expected::Count,
            V2State::KeyedCount | V2State::AfterKeyedCount => Expected::KeyedCountClose,
            V2State::KeyedHeader => Expected::HeaderOpen,
            V2State::Splice => Expected::SpliceOpen,
            V2State::ColumnKey | V2State::RowKey => Expected::Key,
            V2State::AfterMark | V2State::AfterColumnKey | V2State::AfterOptional => Expected::ColumnEnd,
            V2State::AfterColumn { .. } => Expected::ColumnEnd,
            V2State::ListColon => Expected::HeaderColon,
            V2State::Row | V2State::RowStart if self.v2.schema.has_open_rows() => Expected::RowObject,
            V2State::RowObject => Expected::RowObject,
            V2State::RowEnd => Expected::LineFeed,
            V2State::Row | V2State::RowStart | V2State::Cell => Expected::TableCell,
            V2State::RowColon => Expected::Colon,
            V2State::AfterCell => match self.v2.frames.innermost().map(|frame| frame.kind) {
                Some(FrameKind::Tuple(tuple)) => expected_after_cell(tuple.column == NONE, tuple.row),
                _ => Expected::LineFeed,
            },
            V2State::AfterTable => match self.nesting.innermost() {
                Some(Container::Object) => Expected::KeyOrClose,
                Some(Container::Array) => Expected::ValueOrClose,
                None => Expected::End,
            },
            V2State::ShapeValue => Expected::Value,
        }
    }
}

/// Returns what comes after a cell, or after a value of a shape's tuple.
fn expected_after_cell(last: bool, row: bool) -> Expected {
    match (last, row) {
        (false, _) => Expected::Comma,
        (true, true) => Expected::LineFeed,
        (true, false) => Expected::TupleClose,
    }
}
