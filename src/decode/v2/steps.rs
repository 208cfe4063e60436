//! What version 2 adds to the machine (grammar/STC.md, sections 14 to 21).
//!
//! The machine's own containers are bits of its nesting. Those of version 2 need to remember more, so they have a frame
//! besides, with the depth at which they stand: when the innermost frame stands at the machine's depth, it decides
//! what comes next. A document of version 1 has no frames, and pays nothing.
//!
//! Output goes to one of three places: on, to whoever decodes; aside, into a header, while a constant is read; or
//! aside, into a row that has templates, until the row is complete and its holes can be filled.

use crate::decode::machine::{Byte, Machine, Role, State};
use crate::decode::output::Output;
use crate::decode::v2::names::{NO_KEY, Name};
use crate::decode::v2::schema::{Kind, NONE, TemplateReader};
use crate::decode::v2::state::{Inside, Record};
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{COMMA, COUNT_DIGITS, LINE_FEED, is_white, starts_bare};
use crate::json::nesting::Container;
use crate::options::Limits;

/// States that version 1 does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Two {
    /// The letters of a name, behind its sigil.
    Name(Sigil),
    /// The string of a definition, right behind `=`.
    Definition,
    /// The line feed behind it.
    DefinitionEnd,
    /// A container, right behind `&a`.
    Anchored,

    /// The count of a keyed table, from its second digit on.
    KeyedCount,
    AfterKeyedCount,
    /// The `{` right behind a keyed table's count.
    KeyedHeader,

    /// A key of a list of columns.
    ListKey,
    /// Behind a key: what the column is, or that it is complete.
    AfterListKey,
    /// The `{` right behind a key's dot.
    Splice,
    /// Behind `?`.
    AfterOptional,
    /// Behind a column that can only be complete; `default` if `=` may follow.
    AfterColumn {
        default: bool,
    },
    /// The string of a template.
    Template,
    ListColon,
    /// The line feed right behind a header.
    HeaderEnd,

    /// The first byte of a row.
    Row,
    /// The key of a row of a keyed table.
    RowKey,
    RowColon,
    Cell,
    /// Behind a cell, or where there is none: what ends the row, or the comma before the next.
    AfterCell,
    /// Behind a table's last line feed.
    AfterTable,

    /// A value of a shape's tuple.
    ShapeValue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sigil {
    Text,
    Shape,
    Anchor,
    Alias,
}

impl Machine {
    /// The list of tuples that may stand here, where a value may.
    pub(crate) fn tuple_list(&mut self) -> u32 {
        let depth = self.nesting.depth();
        match self.second.at(depth).copied() {
            Some(Inside::Record(record)) if record.column != NONE => self.second.schema.column(record.column).list,
            Some(Inside::Array { list } | Inside::Value { list, .. }) => list,
            _ => NONE,
        }
    }

    /// A byte of version 2 where a value may stand.
    pub(crate) fn value_two(
        &mut self,
        byte: u8,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Byte, Error> {
        let sigil = match byte {
            b'$' => Sigil::Text,
            b'@' => Sigil::Shape,
            b'*' => Sigil::Alias,
            b'&' if !self.in_header() => Sigil::Anchor,
            b'(' => {
                let list = self.tuple_list();
                if list != NONE {
                    self.open_record(false, list, here, limits, out)?;
                    return Ok(Byte::Taken);
                }
                return Err(Error::new(ErrorKind::Syntax(self.expected()), here));
            }
            _ => return Err(Error::new(ErrorKind::Syntax(self.expected()), here)),
        };
        self.second.name = Name::default();
        self.second.sigil_at = here;
        self.state = State::Two(Two::Name(sigil));
        Ok(Byte::Taken)
    }

    pub(crate) fn in_header(&self) -> bool {
        self.second.frames.iter().rev().any(|frame| matches!(frame.inside, Inside::Value { .. }))
    }

    /// A value's `[` has been read: its direct elements may be tuples if it is a cell.
    pub(crate) fn opened_array(&mut self, list: u32) {
        if list != NONE {
            let depth = self.nesting.depth();
            self.second.push(depth, Inside::Array { list });
        }
    }

    /// The list for [`opened_array`](Self::opened_array), asked before the bracket is read.
    pub(crate) fn cell_list(&mut self) -> u32 {
        let depth = self.nesting.depth();
        match self.second.at(depth) {
            Some(Inside::Record(_) | Inside::Value { .. }) => self.tuple_list(),
            _ => NONE,
        }
    }

    /// A container closes; its frame goes with it.
    pub(crate) fn leave(&mut self, here: u64) -> Result<(), Error> {
        let depth = self.nesting.depth();
        match self.second.at(depth).copied() {
            Some(Inside::Label { shape: None, .. }) => {
                return Err(Error::new(ErrorKind::Syntax(Expected::Key), here));
            }
            Some(Inside::Label { name, shape: Some(shape), .. }) => {
                self.second.shapes.complete(name, shape);
                self.second.pop();
            }
            Some(Inside::Array { .. }) => self.second.pop(),
            _ => {}
        }
        Ok(())
    }

    /// May a table, or a columnar value, stand in the array or object just opened?
    pub(crate) fn may_be_table(&mut self) -> bool {
        let depth = self.nesting.depth();
        !self.second.is_inline() && !self.second.is_anchored(depth) && self.second.at(depth).is_none()
    }

    /// What comes behind a value, if the container around it is one of version 2; none if it is not.
    pub(crate) fn after_two(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Option<Result<Byte, Error>> {
        let depth = self.nesting.depth();
        match self.second.at(depth).copied()? {
            Inside::Record(_) => {
                self.capture(out);
                self.next_column();
                let settled = self.fill_columns(here, out);
                self.state = State::Two(Two::AfterCell);
                Some(settled.map(|()| Byte::Again))
            }
            Inside::Shape { next } => Some(self.after_shape_value(next, byte, here, out)),
            Inside::Value { default, .. } => {
                let height = self.second.deepest - depth;
                self.second.schema.set_value(default, out.aside(), height);
                out.end_aside();
                self.second.pop();
                self.state = State::Two(Two::AfterColumn { default: false });
                Some(Ok(Byte::Again))
            }
            Inside::Array { .. } | Inside::Label { .. } | Inside::Table { .. } => None,
        }
    }

    /// Which whitespace may be skipped in a state of version 2.
    pub(crate) fn may_skip_two(&self, two: Two, byte: u8) -> bool {
        let blank = matches!(byte, b' ' | b'\t');
        match two {
            Two::Name(_) | Two::Definition | Two::DefinitionEnd | Two::Anchored | Two::KeyedCount => false,
            Two::KeyedHeader | Two::HeaderEnd | Two::Splice => false,
            Two::AfterKeyedCount | Two::ListKey | Two::AfterListKey | Two::AfterOptional => is_white(byte),
            Two::AfterColumn { .. } | Two::ListColon | Two::AfterTable => is_white(byte),
            Two::Row => false,
            Two::Template | Two::RowKey | Two::RowColon | Two::Cell | Two::AfterCell | Two::ShapeValue => blank,
        }
    }

    /// A byte in a state of version 2.
    pub(crate) fn step_two(
        &mut self,
        two: Two,
        byte: u8,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Byte, Error> {
        match (two, byte) {
            (Two::Name(_), b'a'..=b'z') if self.second.name.push(byte) => {}
            (Two::Name(_), b'a'..=b'z') => return self.wrong(here),
            (Two::Name(_), _) if self.second.name.is_empty() => return self.wrong(here),
            (Two::Name(sigil), _) => return self.named(sigil, Some(byte), here, limits, out),
            (Two::Definition, b'"') => return self.begin_lexeme(Role::Definition, byte, here),
            (Two::DefinitionEnd, LINE_FEED) => self.state = State::Value,
            (Two::Anchored, b'{' | b'[' | b'@') => {
                self.state = State::Value;
                return Ok(Byte::Again);
            }
            (Two::Anchored, b'(') if self.tuple_list() != NONE => {
                self.state = State::Value;
                return Ok(Byte::Again);
            }

            (Two::KeyedCount, b'0'..=b'9') if self.digits_len < COUNT_DIGITS => self.push_digit(byte),
            (Two::KeyedCount | Two::AfterKeyedCount, b'}') => self.state = State::Two(Two::KeyedHeader),
            (Two::KeyedCount, _) if is_white(byte) => self.state = State::Two(Two::AfterKeyedCount),
            (Two::KeyedHeader, b'{') => {
                self.check_depth(1, here, limits)?;
                let (left, depth) = (self.count(), self.nesting.depth());
                self.second.schema.begin();
                self.second.push(depth, Inside::Table { keyed: true, left });
                self.state = State::Two(Two::ListKey);
            }

            (Two::ListKey, b'"') => {
                self.second.schema.begin_key(here, limits)?;
                return self.begin_lexeme(Role::ListKey, byte, here);
            }
            (Two::ListKey, _) if starts_bare(byte) => {
                self.second.schema.begin_key(here, limits)?;
                self.second.schema.quote();
                self.state = State::Bare(Role::ListKey);
                return Ok(Byte::Again);
            }
            (Two::AfterListKey, b'?') => {
                self.second.schema.last().kind = Kind::Optional;
                self.state = State::Two(Two::AfterOptional);
            }
            (Two::AfterListKey | Two::AfterOptional, b'{') => {
                self.second.schema.open_list();
                self.state = State::Two(Two::ListKey);
            }
            (Two::AfterListKey, b'.') => self.state = State::Two(Two::Splice),
            (Two::Splice, b'{') => {
                self.second.schema.open_splice();
                self.state = State::Two(Two::ListKey);
            }
            (Two::AfterListKey, b'=') => self.begin_value(false, limits, out),
            (Two::AfterOptional | Two::AfterColumn { default: true }, b'=') => self.begin_value(true, limits, out),
            (Two::AfterListKey, b'~') => {
                self.second.template = TemplateReader::new(&self.second.schema);
                self.state = State::Two(Two::Template);
            }
            (Two::Template, b'"') => return self.begin_lexeme(Role::Template, byte, here),
            (Two::AfterListKey | Two::AfterOptional | Two::AfterColumn { .. }, COMMA) => {
                self.state = State::Two(Two::ListKey);
            }
            (Two::AfterListKey | Two::AfterOptional | Two::AfterColumn { .. }, b'}') => {
                self.state = State::Two(if self.second.schema.close_list()? {
                    Two::ListColon
                } else {
                    Two::AfterColumn { default: self.second.schema.last().kind == Kind::Optional }
                });
            }
            (Two::ListColon, b':') => self.state = State::Two(Two::HeaderEnd),
            (Two::HeaderEnd, LINE_FEED) => self.begin_rows(),

            (Two::Row, _) => return self.begin_row(here, limits, out),
            (Two::RowKey, b'"') => return self.begin_lexeme(Role::RowKey, byte, here),
            (Two::RowKey, _) if starts_bare(byte) => {
                out.write(b"\"", here)?;
                self.state = State::Bare(Role::RowKey);
                return Ok(Byte::Again);
            }
            (Two::RowColon, b':') => {
                out.write(b":", here)?;
                self.open_row(here, limits, out)?;
            }
            (Two::Cell, _) => return self.cell(byte, here, out),
            (Two::AfterCell, _) => return self.after_cell(byte, here, out),
            (Two::AfterTable, _) => return self.after_table(byte, here, out),
            (Two::ShapeValue, _) => {
                self.shape_key(here, out)?;
                self.state = State::Value;
                return Ok(Byte::Again);
            }
            _ => return self.wrong(here),
        }
        Ok(Byte::Taken)
    }

    pub(crate) fn wrong(&self, here: u64) -> Result<Byte, Error> {
        Err(Error::new(ErrorKind::Syntax(self.expected()), here))
    }

    /// What may come behind a value, if the container around it is one of version 2.
    pub(crate) fn expected_behind_value(&self) -> Option<Expected> {
        let frame = self.second.frames.last().filter(|frame| frame.depth == self.nesting.depth())?;
        match frame.inside {
            Inside::Record(Record { row, column, .. }) => {
                // The value is this column's; the next has not been looked for.
                let last = column == NONE || self.second.schema.column(column).next_cell == NONE;
                Some(after_cell(last, row))
            }
            Inside::Shape { next } => Some(after_cell(next == NO_KEY, false)),
            Inside::Value { .. } => Some(Expected::ColumnEnd),
            Inside::Table { .. } | Inside::Array { .. } | Inside::Label { .. } => None,
        }
    }

    /// What may come next in a state of version 2.
    pub(crate) fn expected_two(&self, two: Two) -> Expected {
        let record = self.second.frames.last().and_then(|frame| match frame.inside {
            Inside::Record(record) => Some(record),
            _ => None,
        });
        match two {
            Two::Name(Sigil::Shape) if !self.second.name.is_empty() => Expected::ShapeOpen,
            Two::Name(_) => Expected::Name,
            Two::Definition | Two::Template => Expected::String,
            Two::DefinitionEnd | Two::HeaderEnd => Expected::LineFeed,
            Two::Anchored => Expected::Container,
            Two::KeyedCount | Two::AfterKeyedCount => Expected::KeyedCountClose,
            Two::KeyedHeader => Expected::HeaderOpen,
            Two::Splice => Expected::SpliceOpen,
            Two::ListKey => Expected::Key,
            Two::AfterListKey | Two::AfterOptional | Two::AfterColumn { .. } => Expected::ColumnEnd,
            Two::ListColon => Expected::HeaderColon,
            Two::Row | Two::Cell => Expected::TableCell,
            Two::RowKey => Expected::Key,
            Two::RowColon => Expected::Colon,
            Two::AfterCell => record.map_or(Expected::LineFeed, |record| after_cell(record.column == NONE, record.row)),
            Two::AfterTable => match self.nesting.innermost() {
                Some(Container::Object) => Expected::KeyOrClose,
                Some(Container::Array) => Expected::ValueOrClose,
                None => Expected::End,
            },
            Two::ShapeValue => Expected::Value,
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
