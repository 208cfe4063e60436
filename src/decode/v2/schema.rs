//! The columns of a table in the reading: what its header says, list by list.
//!
//! Texts, the keys as a row needs them, constants and templates, lie one behind the other in one buffer; columns and
//! lists are numbers into flat vectors. All of it is memory that the next table uses again.

mod template;

use std::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::json::duplicate_keys::DuplicateKeys;
use crate::json::lexer::Sink;
use crate::options::Limits;
pub(crate) use template::TemplateReader;

pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Schema {
    columns: Vec<Column>,
    lists: Vec<List>,
    /// How many keys there are.
    keys: usize,
    /// Keys as `,"key":`, each followed by its constant or default as JSON or its template with quotes. So a run of
    /// constants is one piece, as a row needs it.
    pub(crate) text: Vec<u8>,
    /// What stands between a template's literals.
    placeholders: Vec<Placeholder>,
    /// The lists that are open while the header is read.
    open: Vec<u32>,
    /// Bytes that the limit counts.
    length: usize,
    /// Column numbers, for sorting.
    order: Vec<u32>,
    duplicates: DuplicateKeys,
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its key, with quotes and colon.
    pub(crate) key: Range<usize>,
    /// Where its key begins in the input.
    offset: u64,
    pub(crate) kind: Kind,
    /// The columns of tuples in it.
    pub(crate) list: u32,
    /// The column that a row has after it, be it of this list or of one spliced into it or around it.
    pub(crate) next: u32,
    /// The next column that has a cell, and what is written before it or, if there is none, before the end.
    pub(crate) next_cell: u32,
    pub(crate) behind: Piece,
    /// Does a template name it?
    pub(crate) named: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
    /// No cell of its own: an object begins, whose columns come next. It ends at this column.
    Splice {
        end: u32,
    },
    /// The end of such an object; its key is the brace.
    SpliceEnd,
}

/// What a row has between two cells: constants, and the braces of objects that are spliced in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece {
    /// Where it is in the text, one behind the other.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Does it begin with a comma, which an object's first key leaves out?
    comma: bool,
    /// How many more objects are open behind it than before it.
    pub(crate) rise: isize,
    /// Is a key the first of its object behind it?
    pub(crate) opens: bool,
    /// Are there templates as well, so that it has to be written column by column?
    pub(crate) stops: bool,
}

impl Piece {
    pub(crate) fn len(&self) -> usize {
        self.to - self.from
    }

    /// Where it begins behind something that was written, or not.
    #[inline(always)]
    pub(crate) fn start(&self, wrote: bool) -> usize {
        self.from + usize::from(self.comma && !wrote)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) head: u32,
    tail: u32,
    /// The column that it is spliced in at; none if it is that of rows or tuples.
    splice: u32,
    /// How many levels its constants, defaults and what is spliced in nest.
    pub(crate) height: usize,
    /// The first column that has a cell, and what is written before it.
    pub(crate) first_cell: u32,
    pub(crate) lead: Piece,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Placeholder {
    /// Its `${`, and where the text behind it goes on, in `text`.
    pub(crate) start: usize,
    pub(crate) end: usize,
    offset: u64,
    /// The column it stands for, once the header is complete.
    pub(crate) column: u32,
}

impl Column {
    /// Is another cell right behind it?
    #[inline(always)]
    pub(crate) fn leads_on(&self) -> bool {
        self.behind.len() == 0 && !self.behind.stops && self.next_cell != NONE && !self.named
    }
}

impl Schema {
    /// A header begins.
    pub(crate) fn begin(&mut self) {
        self.columns.clear();
        self.lists.clear();
        self.text.clear();
        self.placeholders.clear();
        self.open.clear();
        self.length = 0;
        self.keys = 0;
        self.open_list();
    }

    pub(crate) fn column(&self, column: u32) -> &Column {
        &self.columns[column as usize]
    }

    pub(crate) fn list(&self, list: u32) -> &List {
        &self.lists[list as usize]
    }

    pub(crate) fn has_templates(&self) -> bool {
        !self.placeholders.is_empty()
    }

    pub(crate) fn placeholders(&self, range: Range<usize>) -> &[Placeholder] {
        &self.placeholders[range]
    }

    /// A key begins at `offset`; its bytes follow.
    pub(crate) fn begin_key(&mut self, offset: u64, limits: &Limits) -> Result<(), Error> {
        if self.keys == limits.columns {
            return Err(Error::new(ErrorKind::Columns, offset));
        }
        self.keys += 1;
        // The brace of an object that is spliced in may be written together with its first key.
        let list = self.list(self.innermost());
        if list.splice == NONE || list.head != NONE {
            self.text.push(b',');
        }
        self.add_column(offset, Kind::Cell);
        Ok(())
    }

    /// A column at the end of the innermost list, whose text begins here.
    fn add_column(&mut self, offset: u64, kind: Kind) {
        let start = self.text.len();
        let list = self.innermost();
        let column = self.columns.len() as u32;
        self.columns.push(Column {
            key: start..start,
            offset,
            kind,
            list: NONE,
            next: NONE,
            next_cell: NONE,
            behind: Piece::default(),
            named: false,
        });
        let List { head, tail, .. } = &mut self.lists[list as usize];
        let before = std::mem::replace(tail, column);
        if *head == NONE {
            *head = column;
        } else {
            self.columns[before as usize].next = column;
        }
    }

    /// A key in one piece, with its quotes.
    pub(crate) fn put_key(&mut self, quoted: &[u8]) {
        self.text.extend_from_slice(quoted);
    }

    /// Keys that took so many bytes of the header.
    pub(crate) fn counted(&mut self, bytes: usize) {
        self.length += bytes;
    }

    /// A quote that the header leaves out.
    pub(crate) fn quote(&mut self) {
        self.text.push(b'"');
    }

    pub(crate) fn end_key(&mut self) {
        self.text.push(b':');
        let end = self.text.len();
        self.last().key.end = end;
    }

    /// The column that was read last.
    pub(crate) fn last(&mut self) -> &mut Column {
        let last = self.lists[self.innermost() as usize].tail;
        &mut self.columns[last as usize]
    }

    fn innermost(&self) -> u32 {
        self.open.last().copied().unwrap_or(0)
    }

    /// The last column has a list of its own, which begins.
    pub(crate) fn open_list(&mut self) {
        let list = self.lists.len() as u32;
        if !self.lists.is_empty() {
            self.last().list = list;
        }
        self.add_list(NONE);
    }

    /// The last column's object is spliced in; its list begins.
    pub(crate) fn open_splice(&mut self) {
        self.text.push(b'{');
        self.last().kind = Kind::Splice { end: NONE };
        let column = self.lists[self.innermost() as usize].tail;
        self.add_list(column);
    }

    fn add_list(&mut self, splice: u32) {
        let list = self.lists.len() as u32;
        let (first_cell, lead) = (NONE, Piece::default());
        self.lists.push(List { head: NONE, tail: NONE, splice, height: 0, first_cell, lead });
        self.open.push(list);
    }

    /// The innermost list is complete; true if it was the outermost.
    pub(crate) fn close_list(&mut self) -> Result<bool, Error> {
        let list = self.innermost();
        self.check_distinct(list)?;
        self.resolve(list)?;
        self.open.pop();
        if self.list(list).splice == NONE {
            self.link_cells(list);
        } else {
            self.close_splice(list);
        }
        Ok(self.open.is_empty())
    }

    /// Puts the columns of a list where they are spliced in.
    fn close_splice(&mut self, list: u32) {
        let List { head, tail, splice, height, .. } = *self.list(list);
        let end = self.columns.len() as u32;
        self.columns[tail as usize].next = end;
        self.columns[splice as usize].kind = Kind::Splice { end };
        // As the last column of the list around, it comes behind the one it is spliced in at; the others go between.
        self.add_column(0, Kind::SpliceEnd);
        self.text.push(b'}');
        self.columns[end as usize].key.end = self.text.len();
        self.columns[splice as usize].next = head;
        let around = self.innermost();
        let around = &mut self.lists[around as usize];
        around.height = around.height.max(1 + height);
    }

    /// The last column has a constant, or a default, which nests `height` levels.
    pub(crate) fn set_value(&mut self, default: bool, value: &[u8], height: usize) {
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
    pub(crate) fn room(&self, limits: &Limits) -> usize {
        limits.header.saturating_sub(self.length)
    }

    /// Where the bytes of a key go.
    pub(crate) fn key_sink<'a>(&'a mut self, limits: &'a Limits) -> impl Sink + 'a {
        KeySink { schema: self, limit: limits.header }
    }

    fn body(&self, column: u32) -> &[u8] {
        let key = &self.text[self.column(column).key.clone()];
        &key[1..key.len() - 2]
    }

    /// The columns of a list itself, without those of lists that are spliced in.
    fn columns_of(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.list(list).head;
        std::iter::from_fn(move || {
            (at != NONE).then(|| {
                let column = at;
                at = self.after(column);
                column
            })
        })
    }

    /// No key may stand twice in a list. Many are sorted, which needs no hash that somebody could flood.
    fn check_distinct(&mut self, list: u32) -> Result<(), Error> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(self.columns_of(list));
        // Templates look their columns up in the order.
        if self.placeholders.is_empty() {
            let mut duplicates = std::mem::take(&mut self.duplicates);
            let twice = duplicates.find_first(order.len(), |at| self.body(order[at])).map(|at| order[at]);
            (self.order, self.duplicates) = (order, duplicates);
            return twice.map_or(Ok(()), |column| Err(self.stands_twice(column)));
        }
        order.sort_unstable_by(|&one, &other| self.body(one).cmp(self.body(other)).then(one.cmp(&other)));
        let twice = order.windows(2).filter(|pair| self.body(pair[0]) == self.body(pair[1])).map(|pair| pair[1]).min();
        self.order = order;
        match twice {
            None => Ok(()),
            Some(column) => Err(self.stands_twice(column)),
        }
    }

    fn stands_twice(&self, column: u32) -> Error {
        Error::new(ErrorKind::DuplicateColumn, self.column(column).offset)
    }

    /// Finds for each column, and for the list, what comes before the next cell.
    fn link_cells(&mut self, list: u32) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let mut at = self.list(list).head;
        while at != NONE {
            order.push(at);
            at = self.column(at).next;
        }
        // From the last column to the first: what has gathered, and the cell it comes before.
        let (mut next_cell, mut piece) = (NONE, Piece::default());
        for &id in order.iter().rev() {
            let column = &mut self.columns[id as usize];
            let (from, to, rise) = match &column.kind {
                Kind::Constant(value) => (column.key.start, value.end, 0),
                Kind::Splice { .. } => (column.key.start, column.key.end + 1, 1),
                Kind::SpliceEnd => (column.key.start, column.key.end, -1),
                Kind::Template { .. } => {
                    piece.stops = true;
                    continue;
                }
                Kind::Cell | Kind::Optional | Kind::Default(_) => {
                    (column.next_cell, column.behind) = (next_cell, piece);
                    (next_cell, piece) = (id, Piece::default());
                    continue;
                }
            };
            piece.comma = rise >= 0 && self.text[from - 1] == b',';
            if piece.from == piece.to {
                (piece.to, piece.opens) = (to, rise > 0);
            }
            piece.from = from - usize::from(piece.comma);
            piece.rise += rise;
        }
        self.order = order;
        let list = &mut self.lists[list as usize];
        (list.first_cell, list.lead) = (next_cell, piece);
    }

    /// Finds the columns that the placeholders of a list name: plain ones of the same list. The list's columns are
    /// in order since [`check_distinct`](Self::check_distinct).
    fn resolve(&mut self, list: u32) -> Result<(), Error> {
        if self.placeholders.is_empty() {
            return Ok(());
        }
        // The order of the text: by offset the first that is wrong is told.
        let mut at = self.list(list).head;
        while at != NONE {
            if let Kind::Template { placeholders, .. } = self.column(at).kind.clone() {
                for placeholder in placeholders {
                    self.resolve_placeholder(placeholder)?;
                }
            }
            at = self.after(at);
        }
        Ok(())
    }

    /// The column behind this one in its own list.
    fn after(&self, column: u32) -> u32 {
        let last = match self.column(column).kind {
            Kind::Splice { end } => end,
            _ => column,
        };
        self.column(last).next
    }

    fn resolve_placeholder(&mut self, placeholder: usize) -> Result<(), Error> {
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
