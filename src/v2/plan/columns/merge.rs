//! Merging: objects into the columns they share, one after the other, and what they hold into the lists below.

use super::{Column, ColumnId, Columns, DEEPEST, ListId, NONE, PATIENCE, Waiting};
use crate::v2::tree::{Place, Token, Tree};

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
    /// Merges the values of `container`, all of them objects, into a new list, with all that they hold. None if they do not
    /// agree.
    pub(crate) fn table(&mut self, tree: Tree<'_>, container: Token, most: usize) -> Option<ListId> {
        let mark = self.mark();
        if mark.columns + mark.lists > self.few {
            return None;
        }
        self.most = mark.columns.saturating_add(most);
        self.numbered = 0;
        self.patience = PATIENCE * (tree.close(container) - container) as usize;
        let list = self.add_list(NONE, 0);
        self.waiting.clear();
        let mut good = true;
        for row in tree.values(container) {
            let length = tree.span(row).len();
            self.lists[list as usize].longest = self.lists[list as usize].longest.max(length);
            good = self.merge_row(tree, row, list) && self.has_room();
            if !good {
                break;
            }
        }
        let mut at = 0;
        while good && at < self.waiting.len() {
            let waiting = self.waiting[at];
            self.merge(tree, waiting);
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

    /// Merges a row into the list of its table; false, and the table is given up, if it does not agree with the order. So
    /// each value can be looked at with its key, for as long as the keys are those of the columns.
    fn merge_row(&mut self, tree: Tree<'_>, row: Token, list: ListId) -> bool {
        let close = tree.close(row);
        let columns = &mut self.lists[list as usize];
        columns.objects += 1;
        let mut due = columns.head;
        let mut at = row + 1;
        let mut last = NONE;
        while at < close
            && let Some(column) = self.columns.get(due as usize)
            && tree.equal(column.key_place, tree.key_place(at))
        {
            (last, due) = (due, column.next);
            at = self.add(tree, last, at + 1, 1, 0);
        }
        if let Some(merged) = &mut self.merged {
            merged.push((list, row));
        }
        at == close && due == NONE || self.merge_rest(tree, list, last, row, at)
    }

    /// The rest of a row, from `at` on, behind the column `last`.
    fn merge_rest(&mut self, tree: Tree<'_>, list: ListId, last: ColumnId, row: Token, at: Token) -> bool {
        if !self.find(tree, Waiting { object: row, list, weight: 1 }, last, at) {
            return false;
        }
        let columns = &mut self.lists[list as usize];
        columns.regular &= columns.objects == 1;
        self.add_matched(tree, 1, 0);
        true
    }

    /// Adds the values of an object to the columns that were there.
    fn add_matched(&mut self, tree: Tree<'_>, weight: u32, level: u32) {
        let matched = std::mem::take(&mut self.matched);
        for &(column, value) in &matched {
            self.add_found(tree, column, value, weight, level);
        }
        self.matched = matched;
    }

    /// Merges an object into its list. If it does not agree with the order nothing is changed that counts, and it is written
    /// out in its place. So all keys are looked at before a value of a column that others have.
    fn merge(&mut self, tree: Tree<'_>, waiting: Waiting) {
        let Waiting { object, list, weight } = waiting;
        let aligned = self.is_aligned(tree, object, list);
        if !aligned {
            let new = self.columns.len();
            if object + 1 == tree.close(object) || !self.find(tree, waiting, NONE, object + 1) {
                // The columns it has brought stay, without it.
                self.columns[new..].iter_mut().for_each(|column| column.rows = 0);
                let columns = &mut self.lists[list as usize];
                (columns.regular, columns.complete) = (false, false);
                return;
            }
            let columns = &mut self.lists[list as usize];
            columns.regular &= columns.objects == 0;
        }
        let columns = &mut self.lists[list as usize];
        columns.objects += weight;
        let (level, mut column) = (columns.level, columns.head);
        if let Some(merged) = &mut self.merged {
            merged.push((list, object));
        }
        if !aligned {
            return self.add_matched(tree, weight, level);
        }
        let close = tree.close(object);
        let mut at = object + 1;
        while at < close {
            let next = self.columns[column as usize].next;
            at = self.add(tree, column, at + 1, weight, level);
            column = next;
        }
    }

    /// Has the object all columns of the list, and no other key? Most have, and then there is nothing to look for.
    #[inline(always)]
    fn is_aligned(&self, tree: Tree<'_>, object: Token, list: ListId) -> bool {
        let close = tree.close(object);
        let mut due = self.list(list).head;
        let mut at = object + 1;
        while at < close && due != NONE {
            let column = &self.columns[due as usize];
            if !tree.equal(column.key_place, tree.key_place(at)) {
                return false;
            }
            due = column.next;
            at = tree.after(at + 1);
        }
        at == close && due == NONE && close > object + 1
    }

    /// Finds the columns of an object's keys, from `at` on, where they stand behind the column `last`. Those that are new
    /// are added, with its value; the others are `matched`.
    fn find(&mut self, tree: Tree<'_>, waiting: Waiting, mut last: ColumnId, mut at: Token) -> bool {
        let Waiting { object, list, weight } = waiting;
        let close = tree.close(object);
        self.matched.clear();
        let mut due = if last == NONE { self.list(list).head } else { self.column(last).next };
        while at < close {
            let key = tree.key_place(at);
            let (place, after) = tree.place(at + 1);
            let column = match self.seek_known(tree, list, due, key) {
                Some(column) if last == NONE || self.column(column).rank > self.column(last).rank => {
                    self.matched.push((column, at + 1));
                    column
                }
                Some(_) => return false,
                // One too many is enough for the table to be given up.
                None if self.columns.len() > self.most || self.numbered > self.patience => return false,
                None => {
                    let new = self.insert(tree, list, last, at);
                    let column = self.column_mut(new);
                    (column.rows, column.likely, column.likely_place) = (weight, at + 1, place);
                    new
                }
            };
            last = column;
            due = self.column(column).next;
            at = after;
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
        // One that an object brought which then did not agree.
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
        if level == DEEPEST {
            self.column_mut(column).leaves = true;
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
                    self.column_mut(column).leaves = true;
                }
            }
            if arrays {
                self.lists[list as usize].arrays = true;
            }
        }
    }
}
