//! The columns of a table in the reading: what its header says, list by list.
//!
//! Texts, the keys as a row needs them, constants and templates, lie one behind the other in one buffer; columns and
//! lists are numbers into flat vectors. All of it is memory that the next table uses again.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Expected};
use crate::format::{continues_bare, starts_bare};
use crate::lexeme::Sink;
use crate::options::Limits;

pub(super) const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Schema {
    columns: Vec<Column>,
    lists: Vec<List>,
    /// Keys as `,"key":`, each followed by its constant or default as JSON or its template with quotes. So a run of
    /// constants is one piece, as a row needs it.
    pub(super) text: Vec<u8>,
    /// What stands between a template's literals.
    placeholders: Vec<Placeholder>,
    /// The lists that are open while the header is read.
    open: Vec<u32>,
    /// Bytes that the limit counts.
    length: usize,
    /// Column numbers, for sorting.
    order: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Its key, with quotes and colon.
    pub(super) key: Range<usize>,
    /// Where its key begins in the input.
    offset: u64,
    pub(super) kind: Kind,
    /// The columns of tuples in it.
    pub(super) list: u32,
    pub(super) next: u32,
    /// The next column that has a cell, and the constants before it or, if there is none, before the end.
    pub(super) next_cell: u32,
    pub(super) behind: (usize, usize),
    /// Are there templates as well?
    pub(super) stops: bool,
    /// Does a template name it?
    pub(super) named: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Cell,
    /// An empty cell leaves the key out.
    Optional,
    /// An empty cell is this value.
    Default(Range<usize>),
    /// No cell: always this value.
    Constant(Range<usize>),
    /// No cell: these placeholders and the text around them.
    Template {
        text: Range<usize>,
        placeholders: Range<usize>,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) head: u32,
    tail: u32,
    /// How many levels its constants and defaults nest.
    pub(super) height: usize,
    /// The first column that has a cell, and the constants before it.
    pub(super) first_cell: u32,
    pub(super) lead: (usize, usize),
    pub(super) lead_len: usize,
    /// Are there templates as well?
    pub(super) stops: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Placeholder {
    /// Its `${`, and where the text behind it goes on, in `text`.
    pub(super) start: usize,
    pub(super) end: usize,
    offset: u64,
    /// The column it stands for, once the header is complete.
    pub(super) column: u32,
}

impl Schema {
    /// A header begins.
    pub(super) fn begin(&mut self) {
        self.columns.clear();
        self.lists.clear();
        self.text.clear();
        self.placeholders.clear();
        self.open.clear();
        self.length = 0;
        self.open_list();
    }

    pub(super) fn column(&self, column: u32) -> &Column {
        &self.columns[column as usize]
    }

    pub(super) fn list(&self, list: u32) -> &List {
        &self.lists[list as usize]
    }

    pub(super) fn has_templates(&self) -> bool {
        !self.placeholders.is_empty()
    }

    pub(super) fn placeholders(&self, range: Range<usize>) -> &[Placeholder] {
        &self.placeholders[range]
    }

    /// A key begins at `offset`; its bytes follow.
    pub(super) fn begin_key(&mut self, offset: u64, limits: &Limits) -> Result<(), Error> {
        if self.columns.len() == limits.columns {
            return Err(Error::new(ErrorKind::Columns, offset));
        }
        self.text.push(b',');
        let start = self.text.len();
        let list = self.innermost();
        let column = self.columns.len() as u32;
        self.columns.push(Column {
            key: start..start,
            offset,
            kind: Kind::Cell,
            list: NONE,
            next: NONE,
            next_cell: NONE,
            behind: (0, 0),
            stops: false,
            named: false,
        });
        let List { head, tail, .. } = &mut self.lists[list as usize];
        let before = std::mem::replace(tail, column);
        if *head == NONE {
            *head = column;
        } else {
            self.columns[before as usize].next = column;
        }
        Ok(())
    }

    /// A key in one piece, with its quotes.
    pub(super) fn put_key(&mut self, quoted: &[u8]) {
        self.text.extend_from_slice(quoted);
    }

    /// Keys that took so many bytes of the header.
    pub(super) fn counted(&mut self, bytes: usize) {
        self.length += bytes;
    }

    /// A quote that the header leaves out.
    pub(super) fn quote(&mut self) {
        self.text.push(b'"');
    }

    pub(super) fn end_key(&mut self) {
        self.text.push(b':');
        let end = self.text.len();
        self.last().key.end = end;
    }

    /// The column that was read last.
    pub(super) fn last(&mut self) -> &mut Column {
        let last = self.lists[self.innermost() as usize].tail;
        &mut self.columns[last as usize]
    }

    fn innermost(&self) -> u32 {
        self.open.last().copied().unwrap_or(0)
    }

    /// The last column has a list of its own, which begins.
    pub(super) fn open_list(&mut self) {
        let list = self.lists.len() as u32;
        if !self.lists.is_empty() {
            self.last().list = list;
        }
        self.lists.push(List {
            head: NONE,
            tail: NONE,
            height: 0,
            first_cell: NONE,
            lead: (0, 0),
            lead_len: 0,
            stops: false,
        });
        self.open.push(list);
    }

    /// The innermost list is complete; true if it was the outermost.
    pub(super) fn close_list(&mut self) -> Result<bool, Error> {
        let list = self.innermost();
        self.check_distinct(list)?;
        self.resolve(list)?;
        self.link_cells(list);
        self.open.pop();
        Ok(self.open.is_empty())
    }

    /// The last column has a constant, or a default, which nests `height` levels.
    pub(super) fn set_value(&mut self, default: bool, value: &[u8], height: usize) {
        let start = self.text.len();
        self.text.extend_from_slice(value);
        let range = start..self.text.len();
        self.length += range.len();
        self.last().kind = if default { Kind::Default(range) } else { Kind::Constant(range) };
        let list = self.innermost();
        let list = &mut self.lists[list as usize];
        list.height = list.height.max(height);
    }

    /// How much of a constant the limit leaves room for.
    pub(super) fn room(&self, limits: &Limits) -> usize {
        limits.header.saturating_sub(self.length)
    }

    /// Where the bytes of a key go.
    pub(super) fn key_sink<'a>(&'a mut self, limits: &'a Limits) -> impl Sink + 'a {
        KeySink { schema: self, limit: limits.header }
    }

    /// Where the bytes of a template go, quotes and all. `reader` is kept between calls.
    pub(super) fn template_sink<'a>(
        &'a mut self,
        reader: &'a mut TemplateReader,
        limits: &'a Limits,
    ) -> impl Sink + 'a {
        TemplateSink { schema: self, reader, limit: limits.header }
    }

    /// The last column is a template.
    pub(super) fn end_template(&mut self, reader: &TemplateReader) {
        let text = reader.start..self.text.len();
        let placeholders = reader.placeholders..self.placeholders.len();
        self.last().kind = Kind::Template { text, placeholders };
    }

    fn body(&self, column: u32) -> &[u8] {
        let key = &self.text[self.column(column).key.clone()];
        &key[1..key.len() - 2]
    }

    fn columns_of(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.list(list).head;
        std::iter::from_fn(move || {
            (at != NONE).then(|| {
                let column = at;
                at = self.column(column).next;
                column
            })
        })
    }

    /// No key may stand twice in a list; sorting needs no hash that somebody could flood.
    fn check_distinct(&mut self, list: u32) -> Result<(), Error> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(self.columns_of(list));
        order.sort_unstable_by(|&one, &other| self.body(one).cmp(self.body(other)).then(one.cmp(&other)));
        let twice = order.windows(2).filter(|pair| self.body(pair[0]) == self.body(pair[1])).map(|pair| pair[1]).min();
        self.order = order;
        match twice {
            None => Ok(()),
            Some(column) => Err(Error::new(ErrorKind::DuplicateColumn, self.column(column).offset)),
        }
    }

    /// Finds for each column, and for the list, what comes before the next cell.
    fn link_cells(&mut self, list: u32) {
        // From the last column to the first: the constants that have gathered, and the cell they come before.
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(self.columns_of(list));
        let (mut next_cell, mut run, mut stops) = (NONE, (0, 0), false);
        for &id in order.iter().rev() {
            let column = &mut self.columns[id as usize];
            match &column.kind {
                Kind::Constant(value) => {
                    let end = if run.0 < run.1 { run.1 } else { value.end };
                    run = (column.key.start - 1, end);
                }
                Kind::Template { .. } => stops = true,
                _ => {
                    (column.next_cell, column.behind, column.stops) = (next_cell, run, stops);
                    (next_cell, run, stops) = (id, (0, 0), false);
                }
            }
        }
        self.order = order;
        let list = &mut self.lists[list as usize];
        (list.first_cell, list.lead, list.lead_len, list.stops) = (next_cell, run, run.1 - run.0, stops);
    }

    /// Finds the columns that the placeholders of a list name: plain ones of the same list. The list's columns are
    /// in order since [`check_distinct`](Self::check_distinct).
    fn resolve(&mut self, list: u32) -> Result<(), Error> {
        let mut at = self.list(list).head;
        while at != NONE {
            if let Kind::Template { placeholders, .. } = self.column(at).kind.clone() {
                for placeholder in placeholders {
                    let Placeholder { start, end, offset, .. } = self.placeholders[placeholder];
                    let name = &self.text[start + 2..end - 1];
                    let place = self.order.binary_search_by(|&column| self.body(column).cmp(name));
                    let column = place.ok().map(|place| self.order[place]).filter(|&column| {
                        let column = self.column(column);
                        column.kind == Kind::Cell && column.list == NONE
                    });
                    let column = column.ok_or(Error::new(ErrorKind::Placeholder, offset))?;
                    self.placeholders[placeholder].column = column;
                    self.columns[column as usize].named = true;
                }
            }
            at = self.column(at).next;
        }
        Ok(())
    }
}

struct KeySink<'a> {
    schema: &'a mut Schema,
    limit: usize,
}

impl Sink for KeySink<'_> {
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let room = self.limit.saturating_sub(self.schema.length);
        if bytes.len() > room {
            return Err(Error::new(ErrorKind::Header, offset + room as u64));
        }
        self.schema.length += bytes.len();
        self.schema.text.extend_from_slice(bytes);
        Ok(())
    }
}

/// Where in a template the reading is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TemplateReader {
    /// Where its text and its placeholders begin in the schema.
    start: usize,
    placeholders: usize,
    part: TemplatePart,
    /// The `$` of the placeholder being read, in the text and in the input.
    dollar: usize,
    dollar_offset: u64,
    opened: bool,
    escaped: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum TemplatePart {
    #[default]
    Literal,
    /// Behind a `$`.
    Dollar,
    /// Behind `${`.
    Open,
    Name,
}

impl TemplateReader {
    /// A template begins.
    pub(super) fn new(schema: &Schema) -> Self {
        Self { start: schema.text.len(), placeholders: schema.placeholders.len(), ..Self::default() }
    }
}

struct TemplateSink<'a> {
    schema: &'a mut Schema,
    reader: &'a mut TemplateReader,
    limit: usize,
}

impl Sink for TemplateSink<'_> {
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        for (&byte, at) in bytes.iter().zip(offset..) {
            self.byte(byte, at)?;
        }
        Ok(())
    }
}

impl TemplateSink<'_> {
    fn byte(&mut self, byte: u8, at: u64) -> Result<(), Error> {
        let Self { schema, reader, limit } = self;
        let wrong = |expected| Err(Error::new(ErrorKind::Syntax(expected), at));
        if schema.length == *limit {
            return Err(Error::new(ErrorKind::Header, at));
        }
        schema.length += 1;
        let here = schema.text.len();
        schema.text.push(byte);
        let escaped = std::mem::replace(&mut reader.escaped, false);
        reader.part = match (reader.part, byte) {
            (TemplatePart::Literal, b'\\') if !escaped => {
                reader.escaped = true;
                TemplatePart::Literal
            }
            (TemplatePart::Literal | TemplatePart::Dollar, b'"') if !escaped => {
                // The first is the opening one.
                if std::mem::replace(&mut reader.opened, true) && schema.placeholders.len() == reader.placeholders {
                    return wrong(Expected::Placeholder);
                }
                TemplatePart::Literal
            }
            (TemplatePart::Literal | TemplatePart::Dollar, b'$') if !escaped => {
                (reader.dollar, reader.dollar_offset) = (here, at);
                TemplatePart::Dollar
            }
            (TemplatePart::Dollar, b'{') => TemplatePart::Open,
            (TemplatePart::Dollar, b'\\') => {
                reader.escaped = true;
                TemplatePart::Literal
            }
            (TemplatePart::Literal | TemplatePart::Dollar, _) => TemplatePart::Literal,
            (TemplatePart::Open, _) if starts_bare(byte) => TemplatePart::Name,
            (TemplatePart::Name, _) if continues_bare(byte) => TemplatePart::Name,
            (TemplatePart::Name, b'}') => {
                let (start, offset) = (reader.dollar, reader.dollar_offset);
                schema.placeholders.push(Placeholder { start, end: here + 1, offset, column: NONE });
                TemplatePart::Literal
            }
            (TemplatePart::Open, _) => return wrong(Expected::BareKey),
            (TemplatePart::Name, _) => return wrong(Expected::PlaceholderClose),
        };
        Ok(())
    }
}
