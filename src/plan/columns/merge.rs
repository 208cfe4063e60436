//! Merging: objects into the columns they share, one after the other, and what they hold into the lists below.

use std::ops::Range;

use super::{Column, ColumnId, Columns, DEEPEST, List, ListId, NONE, Waiting};
use crate::tree::{Place, Token, Tree};

impl Column {
    /// Boyer and Moore's vote among all values but the likely one, which keeps its count, and so its place, until
    /// somebody has been met more often.
    #[inline(always)]
    fn vote(&mut self, tree: Tree<'_>, value: Token, place: Place, weight: u32) {
        if tree.equal(self.likely_place, place) {
            self.hits += weight;
        } else if tree.equal(self.rival_place, place) {
            self.rival_hits += weight;
            self.votes += weight;
            if self.rival_hits > self.hits {
                std::mem::swap(&mut self.likely, &mut self.rival);
                std::mem::swap(&mut self.likely_place, &mut self.rival_place);
                std::mem::swap(&mut self.hits, &mut self.rival_hits);
            }
        } else if self.votes >= weight {
            self.votes -= weight;
        } else {
            (self.rival, self.rival_place) = (value, place);
            (self.rival_hits, self.votes) = (weight, weight - self.votes);
        }
    }
}

impl Columns {
    /// Merges `rows`, all of them objects, into a new list, with all that they hold. None if they do not agree.
    pub(crate) fn table(&mut self, tree: Tree<'_>, rows: impl Iterator<Item = Token>, most: usize) -> Option<ListId> {
        let mark = self.mark();
        if mark.columns + mark.lists > self.few {
            return None;
        }
        self.most = mark.columns + most;
        let list = self.add_list(NONE, 0);
        self.waiting.clear();
        let mut good = true;
        for row in rows {
            let length = tree.span(row).len();
            self.lists[list as usize].longest = self.lists[list as usize].longest.max(length);
            good = self.merge(tree, Waiting { object: row, list, weight: 1 }) && self.has_room();
            if !good {
                break;
            }
        }
        let mut at = 0;
        while good && at < self.waiting.len() {
            let waiting = self.waiting[at];
            // One that does not agree is written out in its place.
            let agrees = self.merge(tree, waiting);
            self.lists[list as usize].leaves |= !agrees;
            good = self.has_room();
            at += 1;
        }
        if !good {
            self.forget(mark);
            return None;
        }
        Some(list)
    }

    /// May the table in hand still grow?
    fn has_room(&self) -> bool {
        self.columns.len() <= self.most && self.waiting.len() <= 8 * self.few
    }

    /// Merges an object into its list; false, and nothing is changed that counts, if it does not agree with the order.
    fn merge(&mut self, tree: Tree<'_>, waiting: Waiting) -> bool {
        let Waiting { object, list, weight } = waiting;
        let List { head, level, .. } = *self.list(list);
        let (queue, close) = (self.waiting.len(), tree.close(object));
        // Most have all columns of the list and no other key, so a value is added as soon as its key is the one due.
        let (mut at, mut due, mut last) = (object + 1, head, NONE);
        while at < close && due != NONE {
            let column = &self.columns[due as usize];
            if !tree.equal(column.key_place, tree.key_place(at)) {
                break;
            }
            let next = column.next;
            at = self.add(tree, due, at + 1, weight, level);
            (last, due) = (due, next);
        }
        let aligned = at == close && due == NONE && last != NONE;
        if !aligned {
            // All other keys are looked at before a value is.
            let agrees = close > object + 1 && self.find(tree, list, at, close, due, last);
            let columns = &mut self.lists[list as usize];
            columns.regular &= agrees && columns.objects == 0 && self.matched.len() == columns.width as usize;
            columns.complete &= agrees;
            if !agrees {
                self.take_back(head, last, weight, queue, object..close);
                return false;
            }
            let matched = std::mem::take(&mut self.matched);
            for &(column, value) in &matched {
                self.add_found(tree, column, value, weight, level);
            }
            self.matched = matched;
        }
        self.lists[list as usize].objects += weight;
        if let Some(merged) = &mut self.merged {
            merged.push((list, object));
        }
        true
    }

    /// Takes back what was added to the columns from `head` to `last`, and those of its `tokens` that wait since `queue`
    /// had that length; other objects' may, too, which had been the same so far. That it had a vote, and made a column's
    /// values differ, stays: at worst something is written out.
    #[cold]
    fn take_back(&mut self, head: ColumnId, last: ColumnId, weight: u32, queue: usize, tokens: Range<Token>) {
        let mut kept = queue;
        for at in queue..self.waiting.len() {
            if !tokens.contains(&self.waiting[at].object) {
                self.waiting[kept] = self.waiting[at];
                kept += 1;
            }
        }
        self.waiting.truncate(kept);
        let mut at = if last == NONE { NONE } else { head };
        while at != NONE {
            let column = &mut self.columns[at as usize];
            column.rows -= weight;
            at = if at == last { NONE } else { column.next };
        }
    }

    /// Finds the columns of an object's keys from `at` on, the last before that being `last`, and adds those that are
    /// new.
    fn find(
        &mut self,
        tree: Tree<'_>,
        list: ListId,
        mut at: Token,
        close: Token,
        mut due: ColumnId,
        mut last: ColumnId,
    ) -> bool {
        self.matched.clear();
        while at < close {
            let found = match self.seek(tree, list, due, tree.key_place(at)) {
                Some(column) if last == NONE || self.column(column).rank > self.column(last).rank => column,
                Some(_) => return false,
                // One too many is enough for the table to be given up.
                None if self.columns.len() > self.most => return false,
                None => self.insert(tree, list, last, at),
            };
            self.matched.push((found, at + 1));
            last = found;
            due = self.column(found).next;
            at = tree.after(at + 1);
        }
        true
    }

    /// Adds a value to a column that had to be looked for.
    #[inline(never)]
    fn add_found(&mut self, tree: Tree<'_>, column: ColumnId, value: Token, weight: u32, level: u32) {
        self.add(tree, column, value, weight, level);
    }

    /// Adds a value to its column; returns the token behind it.
    #[inline(always)]
    fn add(&mut self, tree: Tree<'_>, id: ColumnId, value: Token, weight: u32, level: u32) -> Token {
        let column = &mut self.columns[id as usize];
        let before = column.rows;
        column.rows += weight;
        let (place, after) = tree.place(value);
        if before == 0 {
            (column.likely, column.likely_place) = (value, place);
            return after;
        }
        if column.same {
            if tree.equal(column.likely_place, place) {
                return after;
            }
            column.same = false;
            column.hits = before;
            let first = column.likely;
            self.look_into(tree, id, first, before, level);
        }
        self.columns[id as usize].vote(tree, value, place, weight);
        // A scalar has nothing inside.
        if after > value + 1 {
            self.look_into(tree, id, value, weight, level);
        }
        after
    }

    /// Has the objects of a value merged: itself, or the elements of an array.
    fn look_into(&mut self, tree: Tree<'_>, column: ColumnId, value: Token, weight: u32, level: u32) {
        if !tree.is_container(value) || tree.is_flat(value) {
            return;
        }
        let root = self.list(self.column(column).owner).root;
        if level == DEEPEST {
            self.lists[root as usize].leaves = true;
            return;
        }
        let mut list = self.column(column).list;
        let mut wait = |this: &mut Self, object| {
            if list == NONE {
                list = this.add_list(column, level + 1);
                this.column_mut(column).list = list;
            }
            this.waiting.push(Waiting { object, list, weight });
        };
        if tree.first(value) == b'{' {
            wait(self, value);
        } else {
            let mut arrays = false;
            for element in tree.values(value) {
                if tree.first(element) == b'{' {
                    wait(self, element);
                    arrays = true;
                } else if tree.is_container(element) && !tree.is_flat(element) {
                    self.lists[root as usize].leaves = true;
                }
            }
            if arrays {
                self.lists[list as usize].arrays = true;
            }
        }
    }
}
