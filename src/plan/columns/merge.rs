//! Merging: objects into the columns they share, one after the other, and what they hold into the lists below.

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
        let list = self.add_list(NONE, 0);
        self.waiting.clear();
        let mut good = true;
        for row in rows {
            let length = tree.span(row).len();
            self.lists[list as usize].longest = self.lists[list as usize].longest.max(length);
            good =
                self.merge(tree, Waiting { object: row, list, weight: 1 }) && self.columns.len() - mark.columns <= most;
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
            good = self.columns.len() - mark.columns <= most;
            at += 1;
        }
        if !good {
            self.forget(mark);
            return None;
        }
        Some(list)
    }

    /// Merges an object into its list; false, and nothing is changed that counts, if it does not agree with the order.
    fn merge(&mut self, tree: Tree<'_>, waiting: Waiting) -> bool {
        let Waiting { object, list, weight } = waiting;
        let List { head, level, objects, .. } = *self.list(list);
        let close = tree.close(object);
        let waits = self.waiting.len();
        // Most have the columns of the list, one after the other, and nothing has to be looked for.
        let (mut last, mut due, mut at) = (NONE, head, object + 1);
        while at < close && due != NONE {
            let column = &self.columns[due as usize];
            if !tree.equal(column.key_place, tree.key_place(at)) {
                break;
            }
            (last, due) = (due, column.next);
            at = self.add(tree, last, at + 1, weight, level);
        }
        let mut regular = due == NONE;
        if at < close || close == object + 1 {
            if !self.find(tree, at, close, list, last) {
                self.take_back(tree, object, at, list, weight);
                self.waiting.truncate(waits);
                return false;
            }
            regular = objects == 0 && head == NONE;
            let matched = std::mem::take(&mut self.matched);
            for &(column, value) in &matched {
                self.add_found(tree, column, value, weight, level);
            }
            self.matched = matched;
        }
        let list_of = &mut self.lists[list as usize];
        list_of.regular &= regular;
        list_of.objects += weight;
        if let Some(merged) = &mut self.merged {
            merged.push((list, object));
        }
        true
    }

    /// The object does not agree after all: the columns of its keys before `end` forget that they are in it. A value that
    /// is not the same as the others, or is taken for likely, may stay so; that costs a few bytes at the most.
    #[cold]
    fn take_back(&mut self, tree: Tree<'_>, object: Token, end: Token, list: ListId, weight: u32) {
        // It may have added columns that nobody has.
        let list_of = &mut self.lists[list as usize];
        (list_of.regular, list_of.complete) = (false, false);
        let (mut at, mut id) = (object + 1, self.list(list).head);
        while at < end {
            let column = self.column_mut(id);
            column.rows -= weight;
            column.hits = column.hits.min(column.rows);
            id = column.next;
            at = tree.after(at + 1);
        }
    }

    /// Finds the columns of an object's keys from `at` on, behind the column `last`, and adds those that are new.
    fn find(&mut self, tree: Tree<'_>, mut at: Token, close: Token, list: ListId, mut last: ColumnId) -> bool {
        self.matched.clear();
        if at == close {
            return false;
        }
        let mut due = if last == NONE { self.list(list).head } else { self.column(last).next };
        while at < close {
            let found = match self.seek(tree, list, due, tree.key_place(at)) {
                Some(column) if last == NONE || self.column(column).rank > self.column(last).rank => column,
                Some(_) => return false,
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
