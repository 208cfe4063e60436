//! The header of the table that is being read (grammar/STC.md, sections 16.1 and 17), list by list.
//!
//! All texts lie in one buffer in the order of the header, each key as `,"key":` followed by its constant, default or template.
//! So the constants between two cells are one range, which a row copies at once. The header `{id,n=1,at.{x,y?}}` has the text
//! `,"id":,"n":1,"at":{"x":,"y":}`; its columns are linked `id n at x y }`, the last being the end of the spliced object.
//!
//! A schema keeps its memory for the next table.

use crate::buffer::BLOCK;
use crate::decode::state::V2State;
use crate::decode::v2::columns::{
    ColumnKind, ColumnList, Filling, FixedText, NONE, Placeholder, TableColumn, TemplateText,
};
use crate::decode::v2::open_lists::OpenLists;
use crate::error::{Error, ErrorKind};
use crate::json::duplicate_keys::DuplicateKeys;
use crate::options::Limits;

/// The columns of a table.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    columns: Vec<TableColumn>,
    lists: Vec<ColumnList>,
    /// What objects of the open lists need of them.
    pub(crate) open_lists: OpenLists,
    /// How many keys all lists have together.
    keys: usize,
    /// Keys with a comma before them, each followed by its value or template; padding after them once the header is complete.
    pub(crate) text: Vec<u8>,
    placeholders: Vec<Placeholder>,
    pub(crate) fillings: Vec<Filling>,
    /// The lists whose `}` has not been read, outermost first. (Not those that are open in the sense of STC.md, 17.10.)
    unclosed: Vec<u32>,
    /// The bytes that the limit on headers counts (STC.md, 20.3).
    length: usize,
    /// The columns of one list, while it is closed.
    order: Vec<u32>,
    duplicates: DuplicateKeys,
}

impl Schema {
    /// Begins a header.
    pub(crate) fn begin(&mut self) {
        self.columns.clear();
        self.lists.clear();
        self.open_lists.clear();
        self.text.clear();
        self.placeholders.clear();
        self.fillings.clear();
        self.unclosed.clear();
        self.length = 0;
        self.keys = 0;
        self.add_list(NONE);
    }

    #[inline(always)]
    pub(crate) fn column(&self, column: u32) -> &TableColumn {
        &self.columns[column as usize]
    }

    #[inline(always)]
    pub(crate) fn list(&self, list: u32) -> &ColumnList {
        &self.lists[list as usize]
    }

    /// Returns whether rows have to be held: whether any template names a column.
    pub(crate) fn has_templates(&self) -> bool {
        !self.placeholders.is_empty()
    }

    pub(crate) fn placeholders(&self, text: TemplateText) -> &[Placeholder] {
        &self.placeholders[text.first..text.end]
    }

    pub(crate) fn placeholder_count(&self) -> usize {
        self.placeholders.len()
    }

    pub(crate) fn add_placeholder(&mut self, placeholder: Placeholder) {
        self.placeholders.push(placeholder);
    }

    /// Returns how many bytes the limit on headers leaves.
    #[inline(always)]
    pub(crate) fn room(&self, limits: &Limits) -> usize {
        limits.header.saturating_sub(self.length)
    }

    /// Appends bytes of a key or a template, which count against the limit on headers (STC.md, 20.3).
    pub(crate) fn push_text(&mut self, bytes: &[u8], offset: u64, limits: &Limits) -> Result<(), Error> {
        let room = self.room(limits);
        if bytes.len() > room {
            return Err(Error::new(ErrorKind::Header, offset + room as u64));
        }
        self.length += bytes.len();
        self.text.extend_from_slice(bytes);
        Ok(())
    }
}

/// Keys, values and lists, in the order in which a header has them.
impl Schema {
    /// Begins a key, whose first byte is at `offset`.
    #[inline(always)]
    pub(crate) fn begin_key(&mut self, offset: u64, limits: &Limits) -> Result<(), Error> {
        if self.keys >= limits.columns {
            return Err(Error::new(ErrorKind::Columns, offset));
        }
        self.keys += 1;
        // The first key of a spliced object directly follows the brace.
        let list = self.list(self.innermost());
        if list.splice == NONE || list.head != NONE {
            self.text.push(b',');
        }
        self.add_column(offset, ColumnKind::Cell);
        Ok(())
    }

    /// Appends a whole key of a header that was counted elsewhere, with its quotes.
    pub(crate) fn put_key(&mut self, quoted: &[u8]) {
        self.text.extend_from_slice(quoted);
    }

    /// Counts bytes of keys against the limit on headers.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.length += bytes;
    }

    /// Appends a quote that the header leaves out.
    pub(crate) fn quote(&mut self) {
        self.text.push(b'"');
    }

    /// Ends the key that was begun last.
    #[inline(always)]
    pub(crate) fn end_key(&mut self) {
        self.text.push(b':');
        let end = self.text.len();
        self.last().key.end = end;
    }

    /// Appends a whole key, as the header has it. There must be room for it.
    #[inline(always)]
    pub(crate) fn add_key(&mut self, key: &[u8], bare: bool, offset: u64, limits: &Limits) -> Result<(), Error> {
        self.begin_key(offset, limits)?;
        self.length += key.len();
        self.text.reserve(key.len() + 3);
        if bare {
            self.text.push(b'"');
        }
        self.text.extend_from_slice(key);
        if bare {
            self.text.push(b'"');
        }
        self.end_key();
        Ok(())
    }

    /// Gives the last column a constant, or a default, in parts, that nests `height` levels.
    pub(crate) fn set_value<const N: usize>(&mut self, default: bool, value: [&[u8]; N], height: usize) {
        let start = self.text.len();
        value.iter().for_each(|part| self.text.extend_from_slice(part));
        let range = start..self.text.len();
        self.length += range.len();
        self.last().kind = if default { ColumnKind::Default(range) } else { ColumnKind::Constant(range) };
        let list = self.innermost() as usize;
        self.lists[list].height = self.lists[list].height.max(height);
    }

    /// Returns whether the last column of the innermost list is filled.
    #[inline(always)]
    pub(crate) fn last_is_filled(&self) -> bool {
        self.columns.get(self.list(self.innermost()).tail as usize).is_some_and(|last| last.filling != NONE)
    }

    /// Returns the last column of the innermost list.
    #[inline(always)]
    pub(crate) fn last(&mut self) -> &mut TableColumn {
        let last = self.lists[self.innermost() as usize].tail;
        &mut self.columns[last as usize]
    }

    #[inline(always)]
    fn innermost(&self) -> u32 {
        self.unclosed.last().copied().unwrap_or(0)
    }

    /// Adds a column to the innermost list; its text begins here.
    #[inline(always)]
    fn add_column(&mut self, offset: u64, kind: ColumnKind) {
        let start = self.text.len();
        let list = self.innermost();
        let column = self.columns.len() as u32;
        self.columns.push(TableColumn {
            key: start..start,
            offset,
            kind,
            list: NONE,
            object_list: NONE,
            next: NONE,
            next_cell: NONE,
            fixed_after: FixedText::default(),
            in_template: false,
            filling: NONE,
        });
        let ColumnList { head, tail, .. } = &mut self.lists[list as usize];
        let before = std::mem::replace(tail, column);
        if *head == NONE {
            *head = column;
        } else {
            self.columns[before as usize].next = column;
        }
    }

    /// Begins the list of the tuples, or of the objects, in the last column.
    pub(crate) fn begin_nested_list(&mut self) {
        self.last().list = self.lists.len() as u32;
        self.add_list(NONE);
    }

    /// Opens the list of the object that is spliced in at the last column (STC.md, 17.9).
    pub(crate) fn open_splice(&mut self) {
        self.text.push(b'{');
        self.last().kind = ColumnKind::Splice { end: NONE };
        let column = self.lists[self.innermost() as usize].tail;
        self.add_list(column);
    }

    /// Returns whether the `*` of an open list may stand here: before the first column of a list that is not spliced in.
    pub(crate) fn may_be_marked(&self) -> bool {
        let list = self.list(self.innermost());
        list.head == NONE && list.splice == NONE && list.open_list == NONE
    }

    /// Makes the innermost list, which has no columns yet, an open one (STC.md, 17.10).
    pub(crate) fn mark_open(&mut self) {
        let list = self.innermost();
        self.lists[list as usize].open_list = self.open_lists.begin();
        self.lists[list as usize].holds_open = true;
        if let Some(&around) = self.unclosed.len().checked_sub(2).and_then(|around| self.unclosed.get(around)) {
            let column = self.lists[around as usize].tail as usize;
            (self.columns[column].list, self.columns[column].object_list) = (NONE, list);
        }
    }

    /// Returns whether the innermost list is open (STC.md, 17.10).
    #[inline(always)]
    pub(crate) fn in_open_list(&self) -> bool {
        self.list(self.innermost()).open_list != NONE
    }

    /// Returns whether rows are objects of an open list.
    #[inline(always)]
    pub(crate) fn has_open_rows(&self) -> bool {
        self.list(0).open_list != NONE
    }

    fn add_list(&mut self, splice: u32) {
        let list = self.lists.len() as u32;
        let (first_cell, fixed_before) = (NONE, FixedText::default());
        self.lists.push(ColumnList {
            head: NONE,
            tail: NONE,
            splice,
            height: 0,
            first_cell,
            fixed_before,
            open_list: NONE,
            holds_open: false,
        });
        self.unclosed.push(list);
    }

    /// Closes the innermost list; returns whether it was the outermost. On an error nothing has changed.
    pub(crate) fn close_list(&mut self) -> Result<bool, Error> {
        let list = self.innermost();
        self.check_distinct(list)?;
        let ColumnList { splice, open_list, holds_open, .. } = *self.list(list);
        if open_list == NONE {
            self.resolve_placeholders(list)?;
        }
        self.unclosed.pop();
        let outermost = self.unclosed.is_empty();
        if open_list != NONE {
            self.open_lists.complete(open_list, &self.columns, &self.order, &mut self.text);
        } else if splice == NONE {
            self.link_cells(list);
        } else {
            self.close_splice(list);
        }
        match self.unclosed.last() {
            Some(&around) => self.lists[around as usize].holds_open |= holds_open,
            // So that a block can be copied from each key and constant: near the end of the text each copy was a call.
            None => self.text.extend_from_slice(&[0; BLOCK]),
        }
        Ok(outermost)
    }

    /// Returns the state after the `}` of a list. A default may follow the list of an optional column (STC.md, 17.8).
    pub(crate) fn after_list(&mut self, outermost: bool) -> V2State {
        if outermost {
            V2State::ListColon
        } else {
            let TableColumn { kind, list, object_list, .. } = self.last();
            let (optional, list) = (*kind == ColumnKind::Optional, (*list).min(*object_list));
            V2State::AfterColumn {
                default: optional && !self.lists.get(list as usize).is_some_and(|list| list.holds_open),
            }
        }
    }

    /// Puts the columns of a list between the column that it is spliced in at and a new column, the end of the object.
    fn close_splice(&mut self, list: u32) {
        let ColumnList { head, tail, splice, height, .. } = *self.list(list);
        let end = self.columns.len() as u32;
        self.columns[tail as usize].next = end;
        self.columns[splice as usize].kind = ColumnKind::Splice { end };
        // Added to the list around it, the end directly follows the splice; the spliced columns then go between the two.
        self.add_column(0, ColumnKind::SpliceEnd);
        self.text.push(b'}');
        self.columns[end as usize].key.end = self.text.len();
        self.columns[splice as usize].next = head;
        let around = self.innermost() as usize;
        self.lists[around].height = self.lists[around].height.max(1 + height);
    }
}

/// What is found out when a list is closed.
impl Schema {
    /// Returns the body of a column's key.
    fn body(&self, column: u32) -> &[u8] {
        let key = &self.text[self.column(column).key.clone()];
        &key[1..key.len() - 2]
    }

    /// Returns the column after this one in its own list.
    fn next_in_list(&self, column: u32) -> u32 {
        let last = match self.column(column).kind {
            ColumnKind::Splice { end } => end,
            _ => column,
        };
        self.column(last).next
    }

    /// Rejects a key that occurs twice in a list (STC.md, 17.7), and leaves the list's own columns in `order`.
    fn check_distinct(&mut self, list: u32) -> Result<(), Error> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let mut column = self.list(list).head;
        while column != NONE {
            order.push(column);
            column = self.next_in_list(column);
        }
        let mut duplicates = std::mem::take(&mut self.duplicates);
        let duplicate = duplicates.find_first(order.len(), |at| self.body(order[at])).map(|at| order[at]);
        (self.order, self.duplicates) = (order, duplicates);
        match duplicate {
            None => Ok(()),
            Some(column) => Err(Error::new(ErrorKind::DuplicateColumn, self.column(column).offset)),
        }
    }

    /// Finds the columns that the placeholders of a list name (STC.md, 17.6). The list's columns are in `order`.
    fn resolve_placeholders(&mut self, list: u32) -> Result<(), Error> {
        if self.placeholders.is_empty() {
            return Ok(());
        }
        let mut by_key = std::mem::take(&mut self.order);
        by_key.sort_unstable_by(|&one, &other| self.body(one).cmp(self.body(other)));
        // In the order of the text, so that the first wrong placeholder is reported.
        let mut column = self.list(list).head;
        let mut resolved = Ok(());
        while column != NONE && resolved.is_ok() {
            let TableColumn { kind, filling, .. } = self.column(column);
            let placeholders = match (kind, self.fillings.get(*filling as usize)) {
                (ColumnKind::Template(text), _) => text.first..text.end,
                (_, Some(filling)) => filling.before.first..filling.after.end,
                _ => 0..0,
            };
            resolved = placeholders.into_iter().try_for_each(|number| self.resolve_placeholder(number, &by_key));
            column = self.next_in_list(column);
        }
        self.order = by_key;
        resolved
    }

    /// Finds the column that a placeholder names. An error is at its `$` (STC.md, 20.1).
    fn resolve_placeholder(&mut self, number: usize, by_key: &[u32]) -> Result<(), Error> {
        let Placeholder { start, end, offset, .. } = self.placeholders[number];
        let name = &self.text[start + 2..end - 1];
        let place = by_key.binary_search_by(|&column| self.body(column).cmp(name));
        let column = place.ok().map(|place| by_key[place]).filter(|&column| {
            let column = self.column(column);
            let is_plain = column.list == NONE && column.object_list == NONE && column.filling == NONE;
            column.kind == ColumnKind::Cell && is_plain
        });
        let column = column.ok_or(Error::new(ErrorKind::Placeholder, offset))?;
        self.placeholders[number].column = column;
        self.columns[column as usize].in_template = true;
        Ok(())
    }

    /// Finds, for a list and for each of its columns that has a cell, the next such column and the fixed text before its cell.
    fn link_cells(&mut self, list: u32) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let mut column = self.list(list).head;
        while column != NONE {
            order.push(column);
            column = self.column(column).next;
        }
        // From the last column to the first: `fixed` grows to the left until it meets a cell.
        let (mut next_cell, mut fixed) = (NONE, FixedText::default());
        for &number in order.iter().rev() {
            let column = &mut self.columns[number as usize];
            let (from, to, depth_change) = match &column.kind {
                ColumnKind::Constant(value) => (column.key.start, value.end, 0),
                ColumnKind::Splice { .. } => (column.key.start, column.key.end + 1, 1),
                ColumnKind::SpliceEnd => (column.key.start, column.key.end, -1),
                ColumnKind::Template(_) => {
                    fixed.has_template = true;
                    continue;
                }
                ColumnKind::Cell | ColumnKind::Optional | ColumnKind::Default(_) => {
                    (column.next_cell, column.fixed_after) = (next_cell, fixed);
                    (next_cell, fixed) = (number, FixedText::default());
                    continue;
                }
            };
            fixed.has_comma = depth_change >= 0 && self.text[from - 1] == b',';
            if fixed.is_empty() {
                (fixed.to, fixed.ends_open) = (to, depth_change > 0);
            }
            fixed.from = from - usize::from(fixed.has_comma);
            fixed.depth_change += depth_change;
        }
        self.order = order;
        let list = &mut self.lists[list as usize];
        (list.first_cell, list.fixed_before) = (next_cell, fixed);
    }
}
