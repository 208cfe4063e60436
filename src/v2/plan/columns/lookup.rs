//! Finding the column of a key, and adding a column for a new one.
//!
//! Most objects have the keys of the object before, so a key is first compared with the column that is due and a few after
//! it. Only then is the list searched: a narrow one column by column, a wide one by a hash map that all lists share.

use super::{Column, ColumnId, ColumnRole, Columns, List, ListId, MapEntry, NONE};
use crate::v2::tree::{TextRange, Token, Tree};

/// Lists of at most this width are searched by comparing the key with each column: most keys are found nearby or are not in the
/// filter, so that few are searched for, and to put all columns into a map costs more.
const MAX_SCANNED_WIDTH: u32 = 32;

/// The first capacity of the map: to grow it from nothing takes several steps, each of which moves all entries.
const FIRST_MAP_CAPACITY: usize = 2 * MAX_SCANNED_WIDTH as usize;

/// The columns, from the one that is due on, that are compared before the list is searched.
const NEARBY_COLUMNS: usize = 4;

/// The distance of the ranks of two columns that are added one after the other, so that others fit between them.
const RANK_GAP: u32 = 1 << 10;

impl Columns<'_> {
    /// Returns whether the object can be written as a tuple of this list, with which not all objects agree.
    pub(crate) fn agrees(&self, tree: Tree<'_>, object: Token, list: ListId) -> bool {
        let List { objects, required_columns, head, .. } = *self.list(list);
        let close = tree.close(object);
        let (mut at, mut due, mut required) = (object + 1, head, 0);
        while at < close {
            let Some(id) = self.find(tree, list, due, tree.key_range(at)) else { return false };
            let column = self.column(id);
            // A key out of order, a key that comes twice, or a column that only objects left out of the list have.
            if due == NONE || column.rank < self.column(due).rank || column.rows == 0 {
                return false;
            }
            required += u32::from(column.rows == objects);
            due = column.next;
            at = tree.after(at + 1);
        }
        required == required_columns && close > object + 1
    }

    /// Returns whether a column comes after another in their list; any column comes after none.
    #[inline(always)]
    pub(super) fn is_after(&self, column: ColumnId, before: ColumnId) -> bool {
        before == NONE || self.column(column).rank > self.column(before).rank
    }

    /// Returns the column of a key, as [`find`](Self::find) does, for keys of which most are new: the filter of the list is
    /// tested first.
    #[inline(always)]
    pub(super) fn find_if_known(
        &self,
        tree: Tree<'_>,
        list: ListId,
        due: ColumnId,
        key: TextRange,
    ) -> Option<ColumnId> {
        let (word, bit) = filter_bit(tree, key);
        if self.list(list).key_filter[word] & bit == 0 { None } else { self.find_in_call(tree, list, due, key) }
    }

    /// Calls [`find`](Self::find), not inlined: most keys are new, and what the search needs would take registers from them.
    #[inline(never)]
    fn find_in_call(&self, tree: Tree<'_>, list: ListId, due: ColumnId, key: TextRange) -> Option<ColumnId> {
        self.find(tree, list, due, key)
    }

    /// Returns the column of a key: `due`, one of the next few, or any of the list.
    #[inline(always)]
    pub(crate) fn find(&self, tree: Tree<'_>, list: ListId, due: ColumnId, key: TextRange) -> Option<ColumnId> {
        let mut at = due;
        for _ in 0..NEARBY_COLUMNS {
            if at == NONE {
                break;
            }
            let column = self.column(at);
            if tree.same_bytes(column.key_range, key) {
                return Some(at);
            }
            at = column.next;
        }
        self.search(tree, list, key)
    }

    fn search(&self, tree: Tree<'_>, list: ListId, key: TextRange) -> Option<ColumnId> {
        let same = |column: ColumnId| tree.same_bytes(self.column(column).key_range, key);
        let map_id = self.list(list).map_id;
        if map_id == NONE {
            return self.of(list).find(|&column| same(column));
        }
        let hash = self.hash(map_id, tree.bytes(key));
        self.map.find(hash, |entry| entry.map_id == map_id && same(entry.column)).map(|entry| entry.column)
    }

    /// Adds a column for the key, after the column `last` or, if that is none, before all others.
    pub(super) fn insert(&mut self, tree: Tree<'_>, list: ListId, last: ColumnId, key: Token) -> ColumnId {
        let column = self.columns.len() as ColumnId;
        let next = if last == NONE { self.list(list).head } else { self.column(last).next };
        let low = if last == NONE { 0 } else { self.column(last).rank };
        let rank = if next == NONE { low.saturating_add(RANK_GAP) } else { low + (self.column(next).rank - low) / 2 };
        self.columns.push(Column {
            key,
            key_range: tree.key_range(key),
            rows: 0,
            uniform: true,
            frequent: NONE,
            frequent_range: TextRange::default(),
            frequent_count: 0,
            candidate: NONE,
            candidate_range: TextRange::default(),
            candidate_count: 0,
            votes: 0,
            nested: NONE,
            writes_objects: false,
            list,
            next,
            rank,
            optionals_before: 0,
            role: ColumnRole::Cell,
            has_default: false,
            in_template: false,
            filling: NONE,
            anchors_save: 0,
            keeps_splice: false,
            displaced: false,
            before_displaced: false,
            in_header: false,
        });
        if last == NONE {
            self.list_mut(list).head = column;
        } else {
            self.column_mut(last).next = column;
        }
        if next == NONE {
            self.list_mut(list).tail = column;
        }
        if rank == low {
            self.spread(list, column, low);
        } else if rank == u32::MAX {
            self.renumber(list);
        }
        let (word, bit) = filter_bit(tree, self.column(column).key_range);
        let columns = self.list_mut(list);
        columns.width += 1;
        columns.key_filter[word] |= bit;
        if columns.width > MAX_SCANNED_WIDTH {
            self.add_to_map(tree, list, column);
        }
        column
    }

    /// Gives a new column a rank above `low`, the rank of the column before it, where no rank is left between that and the
    /// next one.
    ///
    /// The ranks of the new column and of some after it are renewed, evenly between `low` and the first column that is more
    /// than the square of its distance above `low`. So the more columns are renewed, the wider are the gaps between them, and
    /// the more columns are added before they are renewed again. This is the algorithm of Dietz and Sleator for the order of
    /// a list; it renews about ten ranks for each of 4,096 columns that are added at the same place. With `low` 5:
    ///
    /// ```text
    /// before     5, new, 6, 7, 9, 40        7 <= 5 + 3 * 3, 9 <= 5 + 4 * 4, 40 > 5 + 5 * 5
    /// after      5, 12, 19, 26, 33, 40
    /// ```
    pub(super) fn spread(&mut self, list: ListId, new: ColumnId, low: u32) {
        let low = u64::from(low);
        let (mut at, mut distance) = (self.column(new).next, 2);
        while at != NONE && u64::from(self.column(at).rank) <= low + distance * distance {
            at = self.column(at).next;
            distance += 1;
        }
        let end = match at {
            NONE => low + distance * u64::from(RANK_GAP).max(2 * distance),
            _ => u64::from(self.column(at).rank),
        };
        if end > u64::from(u32::MAX) {
            return self.renumber(list);
        }
        self.renumbered += distance as usize;
        let mut at = new;
        for place in 1..distance {
            let column = self.column_mut(at);
            column.rank = (low + (end - low) * place / distance) as u32;
            at = column.next;
        }
    }

    /// Gives the columns of a list new ranks, [`RANK_GAP`] apart.
    fn renumber(&mut self, list: ListId) {
        let List { head: mut at, width, .. } = *self.list(list);
        self.renumbered += width as usize;
        let mut rank = RANK_GAP;
        while at != NONE {
            let column = self.column_mut(at);
            column.rank = rank;
            at = column.next;
            rank = rank.saturating_add(RANK_GAP);
        }
    }

    /// Adds a column of a wide list to the map, and with the first one all columns before it.
    fn add_to_map(&mut self, tree: Tree<'_>, list: ListId, column: ColumnId) {
        let List { map_id, head, .. } = *self.list(list);
        if map_id != NONE {
            return self.add_entry(tree, map_id, column);
        }
        if self.map_ids == 0 {
            self.map.reserve(FIRST_MAP_CAPACITY, |entry| entry.hash);
        }
        let map_id = self.map_ids;
        self.map_ids += 1;
        self.list_mut(list).map_id = map_id;
        let mut at = head;
        while at != NONE {
            self.add_entry(tree, map_id, at);
            at = self.column(at).next;
        }
    }

    fn add_entry(&mut self, tree: Tree<'_>, map_id: u32, column: ColumnId) {
        let hash = self.hash(map_id, tree.key(self.column(column).key));
        self.map.insert_unique(hash, MapEntry { hash, map_id, column }, |entry| entry.hash);
    }

    fn hash(&self, map_id: u32, key: &[u8]) -> u64 {
        self.hasher.text(self.hasher.word(self.hasher.start(), u64::from(map_id)), key)
    }
}

/// Returns the bit of a key in the [filter](List::key_filter) of a list, from its first and last byte and its length.
#[inline(always)]
fn filter_bit(tree: Tree<'_>, key: TextRange) -> (usize, u64) {
    let text = tree.bytes(key);
    // The bytes next to the quotes; of an empty key, the quotes.
    let (first, last) = (text[1], text[text.len() - 2]);
    let bit = first.wrapping_mul(7) ^ last.wrapping_mul(37) ^ (text.len() as u8).wrapping_mul(11);
    (usize::from(bit / 64), 1 << (bit % 64))
}
