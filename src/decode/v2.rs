//! What version 2 adds to the machine (grammar/STC.md, sections 14 to 21).
//!
//! The machine's own containers are bits of its nesting. Those of version 2 need to remember more, so they have a frame
//! besides, with the depth at which they stand: when the innermost frame stands at the machine's depth, it decides
//! what comes next. A document of version 1 has no frames, and pays nothing.
//!
//! Output goes to one of three places: on, to whoever decodes; aside, into a header, while a constant is read; or
//! aside, into a row that has templates, until the row is complete and its holes can be filled.

use super::machine::{Byte, Machine, Role, State};
use super::names::{Anchored, NO_KEY, Name, Names, Shape, ShapeKeys, Store};
use super::output::{Aside, Output};
use super::schema::{Kind, NONE, Schema, TemplateReader};
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{COMMA, COUNT_DIGITS, LINE_FEED, is_white, starts_bare};
use crate::lexeme::{Lexeme, Sink as _};
use crate::nesting::Container;
use crate::options::Limits;

/// States that version 1 does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Two {
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
pub(super) enum Sigil {
    Text,
    Shape,
    Anchor,
    Alias,
}

/// A container that bits are not enough for.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The depth inside it.
    depth: usize,
    inside: Inside,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Inside {
    /// A table: rows still to come.
    Table { keyed: bool, left: u64 },
    /// A row or a tuple.
    Record(Record),
    /// An array whose direct elements may be tuples of this list.
    Array { list: u32 },
    /// A tuple of a shape: the key that comes next.
    Shape { next: u32 },
    /// An object whose keys become a shape.
    Label { name: u32, shape: Option<Shape>, width: usize },
    /// A constant or default in a header. Its depth is that around it.
    Value { default: bool, list: u32 },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) row: bool,
    /// The column that comes next.
    pub(super) column: u32,
    /// Has a key been written?
    pub(super) wrote: bool,
    /// The holes of the row that were there before.
    pub(super) holes: usize,
    /// Only in a dash over rows: it has begun, and has no cells.
    pub(super) begun: bool,
}

/// An anchored value that is not complete.
#[derive(Clone, Copy, Debug)]
struct OpenAnchor {
    name: u32,
    /// The depth outside of it.
    depth: usize,
    /// Where its text begins: in the anchors' store, or in the row that is held.
    start: usize,
    /// How deep it has gone.
    deepest: usize,
}

/// All that version 2 has to remember.
#[derive(Debug, Default)]
pub(super) struct Second {
    frames: Vec<Frame>,
    /// How many frames keep line feeds and tables out.
    inline: usize,
    pub(super) schema: Schema,
    template: TemplateReader,
    /// How deep the value of a header that is being read has gone.
    deepest: usize,

    name: Name,
    sigil_at: u64,
    definition: u32,
    dictionary: Names<(usize, usize)>,
    dictionary_text: Store,
    shapes: Names<Shape>,
    shape_keys: ShapeKeys,
    anchors: Names<Anchored>,
    open_anchors: Vec<OpenAnchor>,

    /// Where the row that is held has nothing yet.
    holes: Vec<Hole>,
    /// By column: the text of the last cell, in the row that is held.
    captured: Vec<(usize, usize)>,
    /// The column whose cell is being read, if a template names it, and where its text begins.
    capturing: Option<(u32, usize)>,
    filled: Vec<u8>,
}

/// A place in the row that is held, and the column whose text belongs there.
#[derive(Clone, Copy, Debug)]
struct Hole {
    at: usize,
    column: u32,
}

impl Second {
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.inline = 0;
        self.dictionary.clear();
        self.dictionary_text.text.clear();
        self.shapes.clear();
        self.shape_keys.clear();
        self.anchors.clear();
        self.open_anchors.clear();
        self.holes.clear();
        self.capturing = None;
    }

    /// Reads a lexeme that is not output.
    pub(super) fn feed(
        &mut self,
        lexeme: &mut Lexeme,
        role: Role,
        bytes: &[u8],
        here: u64,
        limits: &Limits,
    ) -> Result<(usize, bool), Error> {
        match role {
            Role::Definition => lexeme.feed(bytes, here, &mut self.dictionary_text.sink(limits)),
            Role::Template => lexeme.feed(bytes, here, &mut self.schema.template_sink(&mut self.template, limits)),
            _ => lexeme.feed(bytes, here, &mut self.schema.key_sink(limits)),
        }
    }

    /// Bytes of a bare key of a list of columns.
    pub(super) fn list_key(&mut self, bytes: &[u8], here: u64, limits: &Limits) -> Result<(), Error> {
        self.schema.key_sink(limits).copy(bytes, here)
    }

    pub(super) fn list_quote(&mut self) {
        self.schema.quote();
    }

    pub(super) fn list_key_ended(&mut self) {
        self.schema.end_key();
    }

    /// A header that version 1 has read to its end is complete.
    pub(super) fn end_header(&mut self) -> Result<(), Error> {
        self.schema.close_list().map(|_| ())
    }

    /// Is there nothing here that version 1 would have to know of?
    #[inline(always)]
    pub(super) fn is_idle(&self) -> bool {
        self.frames.is_empty() && self.open_anchors.is_empty()
    }

    /// The depth down to which containers are version 2's, and whether tables are kept out.
    #[inline(always)]
    pub(super) fn floor(&self) -> (usize, bool) {
        (self.frames.last().map_or(0, |frame| frame.depth), self.inline > 0)
    }

    /// May only spaces and tabs stand between lexemes?
    pub(super) fn is_inline(&self) -> bool {
        self.inline > 0
    }

    pub(super) fn push(&mut self, depth: usize, inside: Inside) {
        self.inline += usize::from(inside.is_inline());
        self.frames.push(Frame { depth, inside });
    }

    pub(super) fn pop(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.inline -= usize::from(frame.inside.is_inline());
        }
    }

    /// The frame that stands at `depth`, if the innermost one does.
    pub(super) fn at(&mut self, depth: usize) -> Option<&mut Inside> {
        self.frames.last_mut().filter(|frame| frame.depth == depth).map(|frame| &mut frame.inside)
    }

    /// Is the container inside of which the depth is `depth` the one that the innermost open anchor names?
    fn is_anchored(&self, depth: usize) -> bool {
        self.open_anchors.last().is_some_and(|anchor| anchor.depth + 1 == depth)
    }

    /// A container has been opened, `depth` inside.
    pub(super) fn opened(&mut self, depth: usize) {
        self.deepest = self.deepest.max(depth);
        if let Some(anchor) = self.open_anchors.last_mut() {
            anchor.deepest = anchor.deepest.max(depth);
        }
    }

    /// Bytes of a key of an object, with the quotes it has.
    pub(super) fn key_bytes(&mut self, depth: usize, bytes: &[u8], at: u64, limits: &Limits) -> Result<(), Error> {
        if matches!(self.at(depth), Some(Inside::Label { .. })) {
            self.shape_keys.push(bytes, at, limits)?;
        }
        Ok(())
    }

    /// A quote of such a key that the text leaves out.
    pub(super) fn key_quote(&mut self, depth: usize) {
        if matches!(self.at(depth), Some(Inside::Label { .. })) {
            self.shape_keys.quote();
        }
    }

    pub(super) fn key_ended(&mut self, depth: usize) {
        if matches!(self.at(depth), Some(Inside::Label { .. })) {
            self.shape_keys.end();
        }
    }

    /// A key of an object begins.
    pub(super) fn key_begins(&mut self, depth: usize, here: u64, limits: &Limits) -> Result<(), Error> {
        if let Some(&mut Inside::Label { name, shape, width }) = self.at(depth) {
            let shape = Some(self.shape_keys.begin(shape, width, here, limits)?);
            if let Some(label) = self.at(depth) {
                *label = Inside::Label { name, shape, width: width + 1 };
            }
        }
        Ok(())
    }
}

impl Inside {
    fn is_inline(self) -> bool {
        !matches!(self, Self::Label { .. } | Self::Table { .. })
    }
}

impl Machine {
    /// The list of tuples that may stand here, where a value may.
    fn tuple_list(&mut self) -> u32 {
        let depth = self.nesting.depth();
        match self.second.at(depth).copied() {
            Some(Inside::Record(record)) if record.column != NONE => self.second.schema.column(record.column).list,
            Some(Inside::Array { list } | Inside::Value { list, .. }) => list,
            _ => NONE,
        }
    }

    /// A byte of version 2 where a value may stand.
    pub(super) fn value_two(
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

    fn in_header(&self) -> bool {
        self.second.frames.iter().rev().any(|frame| matches!(frame.inside, Inside::Value { .. }))
    }

    /// A value's `[` has been read: its direct elements may be tuples if it is a cell.
    pub(super) fn opened_array(&mut self, list: u32) {
        if list != NONE {
            let depth = self.nesting.depth();
            self.second.push(depth, Inside::Array { list });
        }
    }

    /// The list for [`opened_array`](Self::opened_array), asked before the bracket is read.
    pub(super) fn cell_list(&mut self) -> u32 {
        let depth = self.nesting.depth();
        match self.second.at(depth) {
            Some(Inside::Record(_) | Inside::Value { .. }) => self.tuple_list(),
            _ => NONE,
        }
    }

    /// A container closes; its frame goes with it.
    pub(super) fn leave(&mut self, here: u64) -> Result<(), Error> {
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
    pub(super) fn may_be_table(&mut self) -> bool {
        let depth = self.nesting.depth();
        !self.second.is_inline() && !self.second.is_anchored(depth) && self.second.at(depth).is_none()
    }

    /// A value is complete; the byte behind it is at `here`.
    pub(super) fn value_done(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let depth = self.nesting.depth();
        while let Some(&anchor) = self.second.open_anchors.last().filter(|anchor| anchor.depth == depth) {
            self.second.open_anchors.pop();
            let text = out.end_anchor(anchor.start, here)?;
            self.second.anchors.complete(anchor.name, Anchored { text, height: anchor.deepest - depth });
            if let Some(outer) = self.second.open_anchors.last_mut() {
                outer.deepest = outer.deepest.max(anchor.deepest);
            }
        }
        Ok(())
    }

    /// What comes behind a value, if the container around it is one of version 2; none if it is not.
    pub(super) fn after_two(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Option<Result<Byte, Error>> {
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
                self.second.filled = out.take_aside();
                self.second.schema.set_value(default, &self.second.filled, height);
                self.second.filled.clear();
                self.second.pop();
                self.state = State::Two(Two::AfterColumn { default: false });
                Some(Ok(Byte::Again))
            }
            Inside::Array { .. } | Inside::Label { .. } | Inside::Table { .. } => None,
        }
    }

    fn after_shape_value(&mut self, next: u32, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Byte, Error> {
        match byte {
            COMMA if next != NO_KEY => {
                out.write(b",", here)?;
                self.state = State::Two(Two::ShapeValue);
                Ok(Byte::Taken)
            }
            b')' if next == NO_KEY => {
                self.second.pop();
                self.close(b'}', here, out)?;
                Ok(Byte::Taken)
            }
            _ => {
                let expected = if next == NO_KEY { Expected::TupleClose } else { Expected::Comma };
                Err(Error::new(ErrorKind::Count(expected), here))
            }
        }
    }

    /// Which whitespace may be skipped in a state of version 2.
    pub(super) fn may_skip_two(&self, two: Two, byte: u8) -> bool {
        let blank = matches!(byte, b' ' | b'\t');
        match two {
            Two::Name(_) | Two::Definition | Two::DefinitionEnd | Two::Anchored | Two::KeyedCount => false,
            Two::KeyedHeader | Two::HeaderEnd => false,
            Two::AfterKeyedCount | Two::ListKey | Two::AfterListKey | Two::AfterOptional => is_white(byte),
            Two::AfterColumn { .. } | Two::ListColon | Two::AfterTable => is_white(byte),
            Two::Row => false,
            Two::Template | Two::RowKey | Two::RowColon | Two::Cell | Two::AfterCell | Two::ShapeValue => blank,
        }
    }

    /// A byte in a state of version 2.
    pub(super) fn step_two(
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

    fn wrong(&self, here: u64) -> Result<Byte, Error> {
        Err(Error::new(ErrorKind::Syntax(self.expected()), here))
    }

    // ---- Names

    /// A name is complete; `byte` comes behind it, if anything does.
    pub(super) fn named(
        &mut self,
        sigil: Sigil,
        byte: Option<u8>,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Byte, Error> {
        let (name, offset) = (self.second.name, self.second.sigil_at);
        match (sigil, byte) {
            (Sigil::Text, Some(b'=')) if self.nesting.depth() == 0 && self.second.is_idle() => {
                self.second.definition = self.second.dictionary.define(name, offset, limits)?;
                self.state = State::Two(Two::Definition);
                Ok(Byte::Taken)
            }
            (Sigil::Text, _) => {
                let (_, (start, end)) = self.second.dictionary.find(name, offset)?;
                // Between the quotes of the definition.
                let joined = byte == Some(b'"');
                let end = if joined { end - 1 } else { end };
                out.write(&self.second.dictionary_text.text[start..end], here)?;
                if joined {
                    self.lexeme = Lexeme::text_body();
                    self.state = State::Lexeme(Role::Value);
                    return Ok(Byte::Taken);
                }
                self.state = State::After;
                Ok(Byte::Again)
            }
            (Sigil::Alias, _) => {
                let (_, Anchored { text, height }) = self.second.anchors.find(name, offset)?;
                self.check_depth(height, offset, limits)?;
                self.second.opened(self.nesting.depth() + height);
                out.copy_anchored(text, here)?;
                self.state = State::After;
                Ok(Byte::Again)
            }
            (Sigil::Anchor, Some(_)) => {
                let number = self.second.anchors.define(name, offset, limits)?;
                let depth = self.nesting.depth();
                let start = out.begin_anchor();
                self.second.open_anchors.push(OpenAnchor { name: number, depth, start, deepest: depth });
                self.state = State::Two(Two::Anchored);
                Ok(Byte::Again)
            }
            (Sigil::Shape, Some(b'(')) => {
                let (_, shape) = self.second.shapes.find(name, offset)?;
                self.open(Container::Object, b"{", here, limits, out)?;
                let depth = self.nesting.depth();
                self.second.push(depth, Inside::Shape { next: shape.head });
                self.state = State::Two(Two::ShapeValue);
                Ok(Byte::Taken)
            }
            (Sigil::Shape, Some(b'{')) if !self.in_header() => {
                let name = self.second.shapes.define(name, offset, limits)?;
                self.open(Container::Object, b"{", here, limits, out)?;
                let depth = self.nesting.depth();
                self.second.push(depth, Inside::Label { name, shape: None, width: 0 });
                self.state = State::Key { first: true };
                Ok(Byte::Taken)
            }
            _ => self.wrong(here),
        }
    }

    /// The input has ended behind a name.
    pub(super) fn name_ended(
        &mut self,
        sigil: Sigil,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let unfinished = Err(Error::new(ErrorKind::Truncated(Expected::Name), here));
        if self.second.name.is_empty() {
            return unfinished;
        }
        // What is not defined may be the beginning of a name that is.
        self.named(sigil, None, here, limits, out).map(|_| ()).or(unfinished)?;
        self.value_done(here, out)
    }

    /// The string of a definition is complete.
    pub(super) fn defined(&mut self) -> State {
        let Second { dictionary, dictionary_text, definition, .. } = &mut self.second;
        let end = dictionary_text.text.len();
        let start = definition.checked_sub(1).and_then(|before| dictionary.get(before)).map_or(0, |&(_, end)| end);
        dictionary.complete(*definition, (start, end));
        State::Two(Two::DefinitionEnd)
    }

    /// The key of the shape's value that comes next.
    fn shape_key(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let depth = self.nesting.depth();
        if let Some(&mut Inside::Shape { next }) = self.second.at(depth) {
            let (key, behind) = self.second.shape_keys.key(next);
            out.write(key, here)?;
            if let Some(inside) = self.second.at(depth) {
                *inside = Inside::Shape { next: behind };
            }
        }
        Ok(())
    }

    // ---- Headers

    /// A header that version 1 has begun to read turns out to be version 2's.
    pub(super) fn convert_header(&mut self, limits: &Limits) -> Result<(), Error> {
        let schema = &mut self.second.schema;
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
        self.second.push(depth, Inside::Table { keyed: false, left });
        Ok(())
    }

    /// A constant or default begins, behind its `=`.
    fn begin_value(&mut self, default: bool, limits: &Limits, out: &mut Output<'_>) {
        let depth = self.nesting.depth();
        let schema = &mut self.second.schema;
        let list = schema.last().list;
        let list = if default { list } else { NONE };
        let room = schema.room(limits);
        out.set_aside(Aside::Header, std::mem::take(&mut self.second.filled), room);
        self.second.push(depth, Inside::Value { default, list });
        self.second.deepest = depth;
        self.state = State::Value;
    }

    pub(super) fn template_done(&mut self) -> State {
        let Second { schema, template, .. } = &mut self.second;
        schema.end_template(template);
        State::Two(Two::AfterColumn { default: false })
    }

    // ---- Rows

    pub(super) fn begin_rows(&mut self) {
        self.second.captured.clear();
        self.second.holes.clear();
        self.state = State::Two(Two::Row);
    }

    /// The first byte of a row has come.
    fn begin_row(&mut self, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<Byte, Error> {
        let depth = self.nesting.depth();
        let Some(&mut Inside::Table { keyed, .. }) = self.second.at(depth) else { return self.wrong(here) };
        self.check_depth(1 + self.second.schema.list(0).height, here, limits)?;
        if keyed {
            self.state = State::Two(Two::RowKey);
        } else {
            self.open_row(here, limits, out)?;
        }
        Ok(Byte::Again)
    }

    /// The object of a row begins; if the row has templates, it is set aside.
    fn open_row(&mut self, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<(), Error> {
        if self.second.schema.has_templates() {
            out.set_aside(Aside::Row, std::mem::take(&mut self.second.filled), limits.row);
        }
        self.open_record(true, 0, here, limits, out)
    }

    /// May this many levels more be open? The value of a header counts for itself, since it is not known yet how deep
    /// it will stand.
    pub(super) fn check_depth(&self, levels: usize, here: u64, limits: &Limits) -> Result<(), Error> {
        let header = self.second.frames.iter().rev().find(|frame| matches!(frame.inside, Inside::Value { .. }));
        let depth = self.nesting.depth() - header.map_or(0, |frame| frame.depth);
        if depth + levels > limits.depth { Err(Error::new(ErrorKind::Depth, here)) } else { Ok(()) }
    }

    /// A row or a tuple begins: everything up to its first cell is written.
    fn open_record(
        &mut self,
        row: bool,
        list: u32,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let height = self.second.schema.list(list).height;
        self.check_depth(1 + height, here, limits)?;
        self.open(Container::Object, b"{", here, limits, out)?;
        let depth = self.nesting.depth();
        self.second.opened(depth + height);
        let column = self.second.schema.list(list).head;
        let holes = self.second.holes.len();
        let record = Record { row, column, wrote: false, holes, begun: false };
        self.second.push(depth, Inside::Record(record));
        self.fill_columns(here, out)?;
        self.state = State::Two(Two::Cell);
        Ok(())
    }

    pub(super) fn record(&self) -> Record {
        let frame = self.second.frames.last().filter(|frame| frame.depth == self.nesting.depth());
        match frame.map(|frame| frame.inside) {
            Some(Inside::Record(record)) => record,
            // Only asked for inside one.
            _ => Record { row: false, column: NONE, wrote: false, holes: 0, begun: false },
        }
    }

    pub(super) fn set_record(&mut self, record: Record) {
        let depth = self.nesting.depth();
        if let Some(inside) = self.second.at(depth) {
            *inside = Inside::Record(record);
        }
    }

    fn next_column(&mut self) {
        let mut record = self.record();
        record.column = self.second.schema.column(record.column).next;
        self.set_record(record);
    }

    /// Writes the columns that have no cell, up to the next that has.
    fn fill_columns(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let mut record = self.record();
        while record.column != NONE {
            let schema = &self.second.schema;
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
                        self.second.holes.push(Hole { at: out.aside().len(), column: placeholder.column });
                        from = placeholder.end;
                    }
                    out.write(&schema.text[from..text.end], here)?;
                }
                _ => break,
            }
            record.column = column.next;
        }
        self.set_record(record);
        Ok(())
    }

    /// A byte where a cell may stand.
    fn cell(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Byte, Error> {
        let mut record = self.record();
        if record.column == NONE {
            // All columns are in the header.
            self.state = State::Two(Two::AfterCell);
            return Ok(Byte::Again);
        }
        let schema = &self.second.schema;
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
            self.state = State::Two(Two::AfterCell);
            return Ok(Byte::Again);
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
        self.second.capturing = named.then(|| (record.column, out.aside().len()));
        self.state = State::Value;
        Ok(Byte::Again)
    }

    /// A value that a template names is complete.
    fn capture(&mut self, out: &mut Output<'_>) {
        if let Some((column, start)) = self.second.capturing.take() {
            let end = out.aside().len();
            let quoted = out.aside()[start] == b'"';
            let captured = &mut self.second.captured;
            if captured.len() <= column as usize {
                captured.resize(column as usize + 1, (0, 0));
            }
            captured[column as usize] = if quoted { (start + 1, end - 1) } else { (start, end) };
        }
    }

    /// A byte behind a cell.
    fn after_cell(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Byte, Error> {
        let record = self.record();
        if record.column != NONE {
            if byte != COMMA {
                return Err(Error::new(ErrorKind::Count(Expected::Comma), here));
            }
            self.state = State::Two(Two::Cell);
            return Ok(Byte::Taken);
        }
        let end = if record.row { LINE_FEED } else { b')' };
        if byte != end {
            return Err(Error::new(ErrorKind::Count(self.expected()), here));
        }
        out.write(b"}", here)?;
        self.fill_holes(record, here, out)?;
        self.second.pop();
        self.nesting.close();
        if !record.row {
            self.state = State::After;
            return Ok(Byte::Taken);
        }
        self.end_row(here, out)?;
        Ok(Byte::Taken)
    }

    /// A row's line feed has been read.
    fn end_row(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        if self.second.schema.has_templates() {
            self.second.filled = out.take_aside();
            out.release(&self.second.filled, here)?;
            self.second.filled.clear();
            self.second.holes.clear();
        }
        let depth = self.nesting.depth();
        let Some(Inside::Table { keyed, left }) = self.second.at(depth) else { return Ok(()) };
        *left -= 1;
        if *left > 0 {
            out.write(b",", here)?;
            self.state = State::Two(Two::Row);
            return Ok(());
        }
        let bracket: &[u8] = if *keyed { b"}" } else { b"]" };
        out.write(bracket, here)?;
        self.second.pop();
        self.nesting.close();
        self.state = State::Two(Two::AfterTable);
        Ok(())
    }

    /// A record is complete, and with it all that its holes need. Those of records inside it have been filled.
    fn fill_holes(&mut self, record: Record, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let Second { holes, captured, filled, .. } = &mut self.second;
        let own = &holes[record.holes..];
        if own.is_empty() {
            return Ok(());
        }
        let text = |hole: &Hole| captured[hole.column as usize];
        out.grow(own.iter().map(|hole| text(hole).1 - text(hole).0).sum(), here)?;
        let row = std::mem::take(out.aside());
        filled.clear();
        let mut from = 0;
        for hole in own {
            filled.extend_from_slice(&row[from..hole.at]);
            let (start, end) = text(hole);
            filled.extend_from_slice(&row[start..end]);
            from = hole.at;
        }
        filled.extend_from_slice(&row[from..]);
        holes.truncate(record.holes);
        *out.aside() = std::mem::replace(filled, row);
        Ok(())
    }

    /// Behind a table: the line feed was the comma too.
    fn after_table(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Byte, Error> {
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
        Ok(Byte::Again)
    }

    /// What may come next in a state of version 2.
    pub(super) fn expected_two(&self, two: Two) -> Expected {
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
            Two::ListKey => Expected::Key,
            Two::AfterListKey | Two::AfterOptional | Two::AfterColumn { .. } => Expected::ColumnEnd,
            Two::ListColon => Expected::HeaderColon,
            Two::Row | Two::Cell => Expected::TableCell,
            Two::RowKey => Expected::Key,
            Two::RowColon => Expected::Colon,
            Two::AfterCell => match record {
                Some(record) if record.column != NONE => Expected::Comma,
                Some(record) if !record.row => Expected::TupleClose,
                _ => Expected::LineFeed,
            },
            Two::AfterTable => match self.nesting.innermost() {
                Some(Container::Object) => Expected::KeyOrClose,
                Some(Container::Array) => Expected::ValueOrClose,
                None => Expected::End,
            },
            Two::ShapeValue => Expected::Value,
        }
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
