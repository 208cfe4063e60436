//! The header of a table, column by column, and the values that stand in it.

use super::{Page, Walk};
use crate::format::{COUNT_DIGITS, decimal};
use crate::v2::plan::columns::{Column, ListId, NONE, Role};
use crate::v2::tree::Token;

impl<P: Page> Walk<'_, P> {
    /// The rest of a table's header, behind its first bracket.
    pub(super) fn header(&mut self, count: u32, list: ListId, close: u8) {
        let columns = self.columns;
        let mut digits = [0; COUNT_DIGITS + 1];
        self.page.put(decimal(u64::from(count), &mut digits));
        self.page.put(&[close, b'{']);
        // The list that is being written, and the column it has come to.
        let mut list = list;
        let mut at = columns.list(list).head;
        let mut fresh = true;
        loop {
            if at == NONE {
                self.page.put(b"}");
                let parent = columns.list(list).parent;
                if parent == NONE {
                    break;
                }
                let column = columns.column(parent);
                if column.default {
                    self.default(column, list);
                }
                list = column.owner;
                at = column.next;
                fresh = false;
                continue;
            }
            let column = columns.column(at);
            at = column.next;
            if column.rows == 0 {
                continue;
            }
            self.key(!fresh, column.key);
            fresh = false;
            if column.rows < columns.list(list).objects || column.default {
                self.page.put(b"?");
            }
            match column.role {
                Role::Cell if column.default => self.default(column, NONE),
                Role::Cell => {}
                Role::Constant => {
                    self.page.put(b"=");
                    self.dense(column.likely);
                }
                Role::Template(template) => {
                    self.page.put(b"~");
                    self.page.template(template);
                }
                Role::Nested | Role::Spliced => {
                    self.page.put(if column.role == Role::Spliced { b".{" } else { b"{" });
                    list = column.list;
                    at = columns.list(list).head;
                    fresh = true;
                }
            }
        }
        self.page.put(b":\n");
    }

    /// What an empty cell means.
    fn default(&mut self, column: &Column, list: ListId) {
        self.page.put(b"=");
        let below = self.stack.len();
        self.in_header = true;
        self.value(column.likely, list);
        while self.stack.len() > below {
            self.next();
        }
        self.in_header = false;
    }

    /// A value with nothing changed but its keys and strings.
    pub(super) fn dense(&mut self, value: Token) {
        let tree = self.tree;
        let (place, after) = tree.place(value);
        if after == value + 1 {
            return self.scalar(false, value, place);
        }
        // The text up to the next key or string is copied as it stands.
        let mut from = tree.start(value);
        for token in value..tree.after(value) {
            if tree.first(token) != b'"' {
                continue;
            }
            let start = tree.start(token);
            self.page.copy(false, tree.text, from, start);
            if tree.is_key(token) {
                self.key(false, token);
                from = tree.start(token + 1) - 1;
            } else {
                self.page.text(tree, token);
                from = tree.end(token);
            }
        }
        self.page.copy(false, tree.text, from, tree.end(value));
    }
}
