//! The header of a table, column by column, and the values in it (STC.md, section 17.1).

use super::{Traversal, Visitor};
use crate::format::{
    CONSTANT_SIGN, COUNT_DIGITS, HEADER_CLOSE, HEADER_END, HEADER_OPEN, OPEN_MARK, OPTIONAL_SIGN, PLACEHOLDER_CLOSE,
    PLACEHOLDER_OPEN, QUOTE, SPLICE_OPEN, TEMPLATE_SIGN, decimal,
};
use crate::v2::plan::columns::filling::Filling;
use crate::v2::plan::columns::{Column, ColumnId, ColumnRole, List, ListId, NONE};
use crate::v2::tree::Token;

impl<V: Visitor> Traversal<'_, '_, V> {
    /// Visits a table's header after its first bracket: the count, the bracket `close` and the columns.
    pub(super) fn header(&mut self, count: u32, list: ListId, close: u8) {
        let columns = self.columns;
        let mut digits = [0; COUNT_DIGITS + 1];
        self.visitor.put(decimal(u64::from(count), &mut digits));
        self.visitor.put(&[close, HEADER_OPEN]);
        // The list that is being visited, and the column that comes next in it.
        let mut list = list;
        let (mut at, mut is_first) = self.begin_list(list);
        loop {
            if at == NONE {
                self.visitor.put(&[HEADER_CLOSE]);
                let parent = columns.list(list).parent;
                if parent == NONE {
                    break;
                }
                let column = columns.column(parent);
                if column.has_default {
                    self.default(column, list);
                }
                list = column.list;
                at = column.next;
                is_first = false;
                continue;
            }
            let column = columns.column(at);
            at = column.next;
            let is_open = columns.list(list).is_open;
            // A column that only objects left out of the list have, or that an open list does not name.
            if column.rows == 0 || is_open && !column.in_header {
                continue;
            }
            self.key(!is_first, column.key);
            is_first = false;
            if !is_open && (column.rows < columns.list(list).objects || column.has_default) {
                self.visitor.put(&[OPTIONAL_SIGN]);
            }
            if let Some(filling) = columns.filling(column) {
                self.filling(filling);
            }
            match column.role {
                ColumnRole::Cell if column.has_default => self.default(column, NONE),
                ColumnRole::Cell => {}
                ColumnRole::Constant => {
                    self.visitor.put(&[CONSTANT_SIGN]);
                    self.constant(column.frequent);
                }
                ColumnRole::Template(template) => {
                    self.visitor.put(&[TEMPLATE_SIGN]);
                    self.visitor.template(template);
                }
                ColumnRole::Nested | ColumnRole::Spliced => {
                    self.visitor.put(if column.role == ColumnRole::Spliced { SPLICE_OPEN } else { &[HEADER_OPEN] });
                    list = column.nested;
                    (at, is_first) = self.begin_list(list);
                }
            }
        }
        self.visitor.put(HEADER_END);
    }

    /// Begins a list, with the mark of an open one. Returns its first column, and whether nothing is before that.
    fn begin_list(&mut self, list: ListId) -> (ColumnId, bool) {
        let List { head, is_open, .. } = *self.columns.list(list);
        if is_open {
            self.visitor.put(&[OPEN_MARK]);
        }
        (head, !is_open)
    }

    /// Visits the default of a column (section 17.8). Tuples in it have the columns of `list`.
    fn default(&mut self, column: &Column, list: ListId) {
        self.visitor.put(&[CONSTANT_SIGN]);
        // A filled column's default keeps its quotes (section 17.11).
        if self.columns.filling(column).is_some() && self.tree.first(column.frequent) == b'"' {
            return self.visitor.string(self.tree, column.frequent, false);
        }
        if !self.tree.is_container(column.frequent) {
            return self.constant(column.frequent);
        }
        let below = self.stack.len();
        self.in_header = true;
        self.value(column.frequent, list);
        while self.stack.len() > below {
            self.next();
        }
        self.in_header = false;
    }

    /// Visits the template of a filled column (section 17.11).
    fn filling(&mut self, filling: &Filling) {
        let text = self.tree.text;
        self.visitor.put(&[TEMPLATE_SIGN, QUOTE]);
        self.visitor.copy(false, text, filling.start.0, filling.start.1);
        self.visitor.put(PLACEHOLDER_OPEN);
        self.visitor.put(&[PLACEHOLDER_CLOSE]);
        self.visitor.copy(false, text, filling.end.0, filling.end.1);
        self.visitor.put(&[QUOTE]);
    }

    /// Visits a constant.
    fn constant(&mut self, value: Token) {
        if self.tree.is_container(value) {
            self.dense_value(value);
        } else {
            self.scalar(false, value, self.tree.value_range(value).0);
        }
    }

    /// Visits a container whose text is copied, except for its keys and strings.
    pub(super) fn dense_value(&mut self, value: Token) {
        let tree = self.tree;
        // The offset from which the text has not been visited.
        let mut from = tree.start(value);
        for token in value..tree.after(value) {
            if tree.first(token) != b'"' {
                continue;
            }
            let start = tree.start(token);
            self.visitor.copy(false, tree.text, from, start);
            if tree.is_key(token) {
                self.key(false, token);
                from = tree.start(token + 1) - 1;
                continue;
            }
            if tree.is_key(token - 1) {
                self.scalar(false, token, tree.value_range(token).0);
            } else {
                self.visitor.string(tree, token, false);
            }
            from = tree.end(token);
        }
        self.visitor.copy(false, tree.text, from, tree.end(value));
    }
}
