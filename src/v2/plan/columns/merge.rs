//! Merging: objects into the columns they share, one after the other, and their values into the lists below.
//!
//! A row that does not agree with the order of its table's list ends the attempt. The table is then merged once more, and such
//! rows are left out of its list. So is an object further down that does not agree with its list. What is left out is written out
//! in its place.
//!
//! Where rows keep their keys (section 17.10), objects need not agree on an order: a key that is out of order belongs to its
//! column all the same, and the column is marked as displaced. The columns that are not displaced have one order in all
//! objects: in each object their ranks grow from key to key, because a displaced key does not count as the last one.

use super::{Column, ColumnId, Columns, List, ListId, MAX_LEVELS, MAX_OPEN_LEVELS, NONE, Pending};
use crate::v2::arena::FIRST_CAPACITY;
use crate::v2::tree::{TextRange, Token, Tree};

/// The ranks that may be renewed for each token of a table. Up to 65,536 columns renew about ten each. Of more, the gaps that
/// [`spread`](Columns::spread) wants do not fit the numbers, and all ranks of a list are renewed at once.
const RENUMBERED_PER_TOKEN: usize = 256;

/// What the comparison of a key out of order with a key before it counts like: that many ranks renewed. So there are 16 for
/// each token of a table, enough for objects of 60 keys in any order.
const RENUMBERED_PER_COMPARISON: usize = 16;

/// The objects that may be pending, for each column that may be found.
const PENDING_PER_FOUND: usize = 8;

/// A sequence of keys that rows of a table have.
#[derive(Clone, Copy)]
struct Sequence {
    hash: u64,
    /// The rows that have it, and the first of them.
    rows: u32,
    first: Token,
}

/// The sequences of keys that are counted to find the most frequent one among rows that disagree.
const COUNTED_SEQUENCES: usize = 16;

/// The lists without a constant, one below the other, after which the columns of a table with an open list are searched no further.
const LISTS_WITHOUT_CONSTANTS: usize = 3;

impl Column {
    /// Counts a value, to find a frequent one in one pass (section 21.3, rule 4).
    ///
    /// Boyer and Moore's majority vote elects a candidate among all values but the frequent one. The frequent value keeps its
    /// place until the candidate has been counted more often.
    #[inline(always)]
    fn count(&mut self, tree: Tree<'_>, value: Token, range: TextRange, weight: u32) {
        if tree.same_bytes(self.frequent_range, range) {
            self.frequent_count += weight;
        } else if tree.same_bytes(self.candidate_range, range) {
            self.candidate_count += weight;
            self.votes += weight;
            if self.candidate_count > self.frequent_count {
                std::mem::swap(&mut self.frequent, &mut self.candidate);
                std::mem::swap(&mut self.frequent_range, &mut self.candidate_range);
                std::mem::swap(&mut self.frequent_count, &mut self.candidate_count);
            }
        } else if self.votes >= weight {
            self.votes -= weight;
        } else {
            (self.candidate, self.candidate_range) = (value, range);
            (self.candidate_count, self.votes) = (weight, weight - self.votes);
        }
    }
}

impl Columns<'_> {
    /// Merges the values of `container`, all of them objects, into a new list, and everything inside them. Returns none if
    /// the objects do not agree on an order or have more than `max_columns` columns.
    pub(crate) fn merge_table(&mut self, tree: Tree<'_>, container: Token, max_columns: usize) -> Option<ListId> {
        let before = self.checkpoint();
        if before.columns + before.lists > self.max_found {
            return None;
        }
        // Few documents have more.
        self.columns.reserve_first((tree.len() / 4).clamp(FIRST_CAPACITY / 4, 2 * FIRST_CAPACITY));
        self.lists.reserve_first(FIRST_CAPACITY / 4);
        self.max_columns = before.columns.saturating_add(max_columns);
        self.renumbered = 0;
        self.max_renumbered = RENUMBERED_PER_TOKEN * (tree.close(container) - container) as usize;
        let list = self.add_list(NONE, 0);
        self.pending.clear();
        self.disagreed = false;
        if self.leaves_out_rows {
            self.begin_with_frequent_keys(tree, container, list);
        }
        let mut good = true;
        for row in tree.values(container) {
            let length = tree.value(row).len();
            self.lists[list as usize].longest_row = self.lists[list as usize].longest_row.max(length);
            good = self.merge_row(tree, row, list);
            self.disagreed |= !good;
            good &= self.has_room();
            // Flat rows without a constant are no table, and to merge the rest of them would take as long as to write them.
            let objects = self.lists[list as usize].objects;
            if self.open && objects > 1 && objects.is_power_of_two() && !self.has_constant(list) {
                good &= !tree.values(container).all(|row| tree.is_leaf(row));
            }
            if !good {
                break;
            }
        }
        let mut at = 0;
        while good && at < self.pending.len() {
            let pending = self.pending[at];
            self.merge_pending(tree, pending);
            good = self.has_room();
            at += 1;
        }
        if !good {
            self.roll_back(before);
            return None;
        }
        Some(list)
    }

    /// Gives a list without columns the keys of the row whose sequence of keys is the most frequent among the first
    /// [`COUNTED_SEQUENCES`] different ones, so that rows with other orders are the ones that are left out.
    #[cold]
    fn begin_with_frequent_keys(&mut self, tree: Tree<'_>, container: Token, list: ListId) {
        let mut sequences = [Sequence { hash: 0, rows: 0, first: NONE }; COUNTED_SEQUENCES];
        for row in tree.values(container) {
            let start = self.hasher.start();
            let hash = tree.values(row).fold(start, |hash, value| self.hasher.text(hash, tree.key(value - 1)));
            if let Some(found) = sequences.iter_mut().find(|found| found.rows == 0 || found.hash == hash) {
                let first = if found.rows == 0 { row } else { found.first };
                *found = Sequence { hash, rows: found.rows + 1, first };
            }
        }
        let most = sequences.iter().map(|sequence| sequence.rows).max();
        let frequent = sequences.iter().find(|sequence| Some(sequence.rows) == most);
        if let Some(&Sequence { first: object, .. }) = frequent {
            self.match_keys(tree, Pending { object, list, weight: 0 }, NONE, object + 1);
        }
    }

    /// Returns whether a list has objects that all have one value in some column.
    fn has_constant(&self, list: ListId) -> bool {
        let objects = self.list(list).objects;
        objects > 1 && self.of(list).map(|id| self.column(id)).any(|column| column.uniform && column.rows == objects)
    }

    /// Returns whether neither a list below a row nor the two lists around it have a constant, so that a table with an
    /// open list can do without it. Most nodes of a tree differ, and to merge them with all levels below them took a quarter of the time.
    fn is_without_constants(&self, list: ListId) -> bool {
        let mut lists = std::iter::successors(Some(list), |&list| self.list_around(list)).take(LISTS_WITHOUT_CONSTANTS);
        self.list(list).level as usize >= LISTS_WITHOUT_CONSTANTS - 1
            && self.list(list).objects > 1
            && lists.all(|list| !self.has_constant(list))
    }

    /// Returns the list around a list.
    fn list_around(&self, list: ListId) -> Option<ListId> {
        let parent = self.list(list).parent;
        (parent != NONE).then(|| self.column(parent).list)
    }

    /// Returns whether the table being merged may grow.
    fn has_room(&self) -> bool {
        self.columns.len() <= self.max_columns && self.pending.len() <= PENDING_PER_FOUND * self.max_found
    }

    /// Merges a row into the list of its table. Returns false if it does not agree with the order: then there is no table,
    /// so each value can be added as soon as its key has matched, without a look at the keys after it.
    fn merge_row(&mut self, tree: Tree<'_>, row: Token, list: ListId) -> bool {
        if self.leaves_out_rows {
            self.merge_pending(tree, Pending { object: row, list, weight: 1 });
            return true;
        }
        let columns = &mut self.lists[list as usize];
        columns.objects += 1;
        let head = columns.head;
        let (last, due, at) = self.merge_same_keys(tree, row, head, 1, 0);
        if let Some(merged) = &mut self.merged {
            merged.push((list, row));
        }
        at == tree.close(row) && due == NONE || self.merge_rest_of_row(tree, list, last, row, at)
    }

    /// Merges the members of a row from `at` on, whose columns come after `last`.
    fn merge_rest_of_row(&mut self, tree: Tree<'_>, list: ListId, last: ColumnId, row: Token, at: Token) -> bool {
        if !self.match_keys(tree, Pending { object: row, list, weight: 1 }, last, at) {
            return false;
        }
        let columns = &mut self.lists[list as usize];
        columns.regular &= columns.objects == 1;
        self.add_matched(tree, 1, 0);
        true
    }

    /// Merges an object below a row into its list. Unless the list is open, all keys are matched before the first value is added: if
    /// the object does not agree with the order, the columns of the list stay as they were.
    fn merge_pending(&mut self, tree: Tree<'_>, pending: Pending) {
        let Pending { object, list, weight } = pending;
        let objects = self.list(list).objects;
        if self.open && objects.is_power_of_two() && self.is_without_constants(list) {
            self.list_mut(list).complete = false;
        }
        if self.open {
            if self.list(list).complete {
                self.merge_open(tree, pending);
            }
            return;
        }
        let same_keys = self.has_same_keys(tree, object, list);
        if !same_keys {
            let new = self.columns.len();
            if object + 1 == tree.close(object) || !self.match_keys(tree, pending, NONE, object + 1) {
                // The columns that it added stay, with no object in them.
                (new..self.columns.len()).for_each(|column| self.columns[column].rows = 0);
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
        if !same_keys {
            return self.add_matched(tree, weight, level);
        }
        let close = tree.close(object);
        let mut at = object + 1;
        while at < close {
            let next = self.columns[column as usize].next;
            at = self.add_value(tree, column, at + 1, weight, level);
            column = next;
        }
    }

    /// Merges an object below a row into its list, which is open: like a row, without a look at the keys before their values
    /// are added. If the object does not agree with the list, the list is not used, so what becomes of its columns is no matter.
    fn merge_open(&mut self, tree: Tree<'_>, pending: Pending) {
        let Pending { object, list, weight } = pending;
        let List { level, head, objects, .. } = *self.list(list);
        let (last, due, at) = self.merge_same_keys(tree, object, head, weight, level);
        let close = tree.close(object);
        if at < close || due != NONE || close == object + 1 {
            let agrees = close > object + 1 && self.match_keys(tree, pending, last, at);
            let columns = self.list_mut(list);
            columns.regular &= agrees && objects == 0;
            columns.complete = agrees;
            if !agrees {
                return;
            }
            self.add_matched(tree, weight, level);
        }
        self.list_mut(list).objects += weight;
    }

    /// Adds the first values of an object to the columns from `due` on, for as long as each key is the one that is due. Returns
    /// the last column, the one that is due then, and the token after the values.
    #[inline(always)]
    fn merge_same_keys(
        &mut self,
        tree: Tree<'_>,
        object: Token,
        mut due: ColumnId,
        weight: u32,
        level: u32,
    ) -> (ColumnId, ColumnId, Token) {
        let close = tree.close(object);
        let (mut last, mut at) = (NONE, object + 1);
        while at < close && due != NONE {
            let column = self.column(due);
            if !tree.same_bytes(column.key_range, tree.key_range(at)) {
                break;
            }
            (last, due) = (due, column.next);
            at = self.add_value(tree, last, at + 1, weight, level);
        }
        (last, due, at)
    }

    /// Returns whether the object has all columns of the list and no other key, as most objects have.
    #[inline(always)]
    fn has_same_keys(&self, tree: Tree<'_>, object: Token, list: ListId) -> bool {
        let close = tree.close(object);
        let mut due = self.list(list).head;
        let mut at = object + 1;
        while at < close && due != NONE {
            let column = &self.columns[due as usize];
            if !tree.same_bytes(column.key_range, tree.key_range(at)) {
                return false;
            }
            due = column.next;
            at = tree.after(at + 1);
        }
        at == close && due == NONE && close > object + 1
    }

    /// Finds the columns of an object's keys, from the key `at` on, after the column `last`. A new key gets a column that
    /// holds the object's value; the columns of other keys are `matched`. Returns false if a key is out of order or there
    /// are too many.
    fn match_keys(&mut self, tree: Tree<'_>, pending: Pending, mut last: ColumnId, mut at: Token) -> bool {
        let Pending { object, list, weight } = pending;
        let close = tree.close(object);
        self.matched.clear();
        let mut due = if last == NONE { self.list(list).head } else { self.column(last).next };
        // The column of the key before.
        let mut before = last;
        while at < close {
            let key = tree.key_range(at);
            let (range, after) = tree.value_range(at + 1);
            let column = match self.find_if_known(tree, list, due, key) {
                Some(column) if self.is_after(column, last) => {
                    self.matched.push((column, at + 1));
                    column
                }
                Some(column) if self.may_displace(tree, object, at) => {
                    self.column_mut(column).displaced = true;
                    if before != NONE {
                        self.column_mut(before).before_displaced = true;
                    }
                    self.matched.push((column, at + 1));
                    (before, at) = (column, after);
                    continue;
                }
                Some(_) => return false,
                None if self.columns.len() > self.max_columns || self.renumbered > self.max_renumbered => return false,
                None => {
                    let new = self.insert(tree, list, last, at);
                    let column = self.column_mut(new);
                    (column.rows, column.frequent, column.frequent_range) = (weight, at + 1, range);
                    new
                }
            };
            (last, before) = (column, column);
            due = self.column(column).next;
            at = after;
        }
        true
    }

    /// Returns whether the key `at` of an object may be out of order: in an open list, and unless it repeats a key.
    #[cold]
    fn may_displace(&mut self, tree: Tree<'_>, object: Token, at: Token) -> bool {
        if !self.open {
            return false;
        }
        let key = tree.key_range(at);
        let mut earlier = object + 1;
        while earlier < at && !tree.same_bytes(tree.key_range(earlier), key) {
            self.renumbered += RENUMBERED_PER_COMPARISON;
            earlier = tree.after(earlier + 1);
        }
        earlier == at && self.renumbered <= self.max_renumbered
    }

    /// Adds the values of an object to the columns that were matched.
    fn add_matched(&mut self, tree: Tree<'_>, weight: u32, level: u32) {
        for at in 0..self.matched.len() {
            let (column, value) = self.matched[at];
            self.add_value_in_call(tree, column, value, weight, level);
        }
    }

    /// Calls [`add_value`](Self::add_value), not inlined once more.
    #[inline(never)]
    fn add_value_in_call(&mut self, tree: Tree<'_>, column: ColumnId, value: Token, weight: u32, level: u32) {
        self.add_value(tree, column, value, weight, level);
    }

    /// Adds a value to its column and returns the token after it.
    #[inline(always)]
    fn add_value(&mut self, tree: Tree<'_>, id: ColumnId, value: Token, weight: u32, level: u32) -> Token {
        let column = &mut self.columns[id as usize];
        let before = column.rows;
        column.rows += weight;
        let (range, after) = tree.value_range(value);
        // A column of an object that did not agree with the list.
        if before == 0 {
            (column.frequent, column.frequent_range) = (value, range);
            return after;
        }
        if column.uniform {
            if tree.same_bytes(column.frequent_range, range) {
                return after;
            }
            column.uniform = false;
            column.frequent_count = before;
            let first = column.frequent;
            self.add_objects_of(tree, id, first, before, level);
        }
        // Open lists have no defaults.
        if !self.open {
            self.columns[id as usize].count(tree, value, range, weight);
        }
        // A scalar has nothing inside.
        if after > value + 1 {
            self.add_objects_of(tree, id, value, weight, level);
        }
        after
    }

    /// Puts the objects of a value, which are the value itself or the elements of an array, among those to be merged.
    fn add_objects_of(&mut self, tree: Tree<'_>, column: ColumnId, value: Token, weight: u32, level: u32) {
        if !tree.has_object(value) {
            return;
        }
        if level == if self.open { MAX_OPEN_LEVELS } else { MAX_LEVELS } {
            self.column_mut(column).writes_objects = true;
            return;
        }
        let mut list = self.column(column).nested;
        let mut add = |this: &mut Self, object| {
            if list == NONE {
                list = this.add_list(column, level + 1);
                this.column_mut(column).nested = list;
            }
            this.pending.push(Pending { object, list, weight });
        };
        if tree.first(value) == b'{' {
            return add(self, value);
        }
        let mut in_arrays = false;
        for element in tree.values(value) {
            if tree.first(element) == b'{' {
                add(self, element);
                in_arrays = true;
            } else if tree.has_object(element) {
                self.column_mut(column).writes_objects = true;
            }
        }
        if in_arrays {
            self.lists[list as usize].in_arrays = true;
        }
    }
}

#[cfg(test)]
mod naive;
#[cfg(test)]
mod tests;
