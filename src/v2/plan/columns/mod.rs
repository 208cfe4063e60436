//! The columns that objects share (STC.md, section 17): a list of them for the rows of a table, and one for each column
//! that holds objects.
//!
//! Objects are [merged](merge) into a list one after the other, and the list is the union of their keys. It keeps one order
//! that every object agrees with (section 21.2). Merging `{"a":1,"c":2}`, `{"a":1,"b":{"x":3},"c":4}` and `{"a":1,"c":5}`
//! gives the list `a,b?{x},c`: `a` is the same in all rows, `b` has one row and a list of its own with the column `x`.
//!
//! The values of a column are examined only once two of them differ. As long as all are the same, byte for byte, the column
//! is a constant and what is inside its value does not matter. At the first difference the common value is merged once, with
//! the weight of all the objects that had it.

mod lookup;
mod merge;

use bumpalo::Bump;

use super::fillings::Filling;
use super::hash::Hasher;
use crate::v2::arena::{ArenaTable, ArenaVec, FIRST_CAPACITY, SpillVec};
use crate::v2::tree::{TextRange, Token, Tree};

pub(crate) type ColumnId = u32;
pub(crate) type ListId = u32;

/// No column, no list or no token.
pub(crate) const NONE: u32 = u32::MAX;

/// The levels below a row in which columns are found. An object further down is written out. This also bounds how often a
/// value is examined if the tables around it turn out not to pay.
pub(crate) const MAX_LEVELS: u32 = 16;

/// The same of open lists. Tables that keep their keys pay less often, so more of them are tried, one inside the other.
pub(crate) const MAX_OPEN_LEVELS: u32 = 6;

/// A column of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Its key, where it came first.
    pub(crate) key: Token,
    pub(crate) key_range: TextRange,
    /// The number of objects that have it.
    pub(crate) rows: u32,
    /// Whether all values so far are the same.
    pub(crate) uniform: bool,
    /// The value that may be the most frequent (all values, while the column is uniform), and the times it came since it
    /// was chosen.
    pub(crate) frequent: Token,
    pub(crate) frequent_range: TextRange,
    pub(crate) frequent_count: u32,
    /// A value that may turn out to be more frequent, the times it came since it was chosen, and its votes.
    candidate: Token,
    candidate_range: TextRange,
    candidate_count: u32,
    votes: u32,
    /// The list of the objects in it, if there are any.
    pub(crate) nested: ListId,
    /// Whether some objects in it are written out.
    pub(crate) writes_objects: bool,
    /// The list it belongs to.
    pub(crate) list: ListId,
    pub(crate) next: ColumnId,
    /// Its place in the order of the list: ranks grow from column to column, with gaps.
    rank: u32,
    /// The number of optional columns before it in the list. Set by [`cost`](super::cost).
    pub(crate) optionals_before: u32,
    pub(crate) role: ColumnRole,
    /// Whether an empty cell stands for the frequent value (section 17.8).
    pub(crate) has_default: bool,
    /// Whether a template names it, so that it has to stay a plain column (section 17.6).
    pub(crate) in_template: bool,
    /// Its number among the filled columns (section 17.11); [`NONE`] if it is not filled.
    pub(crate) filling: u32,
    /// What anchors for its objects save, as far as it had to be computed.
    pub(crate) anchors_save: i64,
    /// Whether it stays spliced because that saves more than anchors for its objects.
    pub(crate) keeps_splice: bool,
    /// In open lists: whether some object has it out of order, and whether in some object such a key comes directly after it.
    pub(crate) displaced: bool,
    pub(crate) before_displaced: bool,
    /// Whether an open list names it. Set by [`open`](super::open).
    pub(crate) in_header: bool,
}

/// How a column is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnRole {
    /// `key`, `key?` or `key?=value`: a cell in each row.
    Cell,
    /// `key{…}` or `key?{…}`: a cell in each row, with tuples for objects (section 17.4).
    Nested,
    /// `key.{…}`: an object in each row, whose cells are cells of the row (section 17.9).
    Spliced,
    /// `key=value`: written once, in the header (section 17.3).
    Constant,
    /// `key~"…"`: in the header, filled from other columns (section 17.5). The number of the template.
    Template(u32),
}

/// A list of columns, and what is known of the objects it stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) head: ColumnId,
    tail: ColumnId,
    width: u32,
    /// The number of columns that some objects lack, and that all have. Set by [`cost`](super::cost).
    pub(crate) optional_columns: u32,
    pub(crate) required_columns: u32,
    pub(crate) objects: u32,
    /// The column it belongs to; none for the rows of a table.
    pub(crate) parent: ColumnId,
    level: u32,
    /// Whether some of its columns may be templates.
    pub(crate) may_have_templates: bool,
    /// Whether some of its columns may be filled.
    pub(crate) may_be_filled: bool,
    /// Whether some of its objects are elements of arrays.
    pub(crate) in_arrays: bool,
    /// Its number in the map, if its columns are there.
    map_id: u32,
    /// A Bloom filter of its keys: a key whose bit is not set is new.
    key_filter: [u64; 4],
    /// Whether all objects have exactly its columns, so that their keys need not be compared again.
    pub(crate) regular: bool,
    /// Whether all objects agree with it, and, in a table with an open list, whether all have been merged.
    pub(crate) complete: bool,
    /// Whether its objects keep their keys (section 17.10). Set by [`open`](super::open).
    pub(crate) is_open: bool,
    /// Whether some of its objects, or objects in its cells, are written out.
    pub(crate) writes_objects: bool,
    /// What it saves, by [`cost`](super::cost).
    pub(crate) saving: i64,
    /// The list of the table's rows.
    pub(crate) root: ListId,
    /// Of that list: the bytes of the header, as its limit counts them, and of the longest row.
    pub(crate) header_bytes: usize,
    pub(crate) longest_row: usize,
}

/// An object that is still to be merged into its list, and the number of equal objects it stands for.
#[derive(Clone, Copy, Debug)]
struct Pending {
    object: Token,
    list: ListId,
    weight: u32,
}

/// A column of a wide list, in the map.
#[derive(Clone, Copy, Debug)]
struct MapEntry {
    hash: u64,
    map_id: u32,
    column: ColumnId,
}

/// The state of [`Columns`] before a table, to return to if the table does not pay.
#[derive(Clone, Copy)]
pub(crate) struct Checkpoint {
    columns: usize,
    lists: usize,
    merged: usize,
}

/// The columns and lists of a document that has many, in memory that is reused.
#[derive(Debug, Default)]
pub(crate) struct ColumnMemory {
    columns: Vec<Column>,
    lists: Vec<List>,
}

/// All lists of a document.
pub(crate) struct Columns<'a> {
    columns: SpillVec<'a, Column>,
    lists: SpillVec<'a, List>,
    fillings: ArenaVec<'a, Filling>,
    /// The number of lists that have been put into the map.
    map_ids: u32,
    /// The columns of the last table that have been given a new rank, and the most that may be.
    pub(crate) renumbered: usize,
    max_renumbered: usize,
    pending: ArenaVec<'a, Pending>,
    /// The most columns and lists of a document before its last table, and the most columns with that table.
    max_found: usize,
    max_columns: usize,
    /// Whether containers may be defaults. A decoder counts the depth of a default wherever its list is used, in arrays too,
    /// which may be further down than the place the value was taken from (section 20.2).
    pub(crate) container_defaults: bool,
    /// Whether rows keep their keys, so that they need not agree on an order (section 17.10).
    pub(crate) open: bool,
    /// Whether rows of the table being merged may be left out of its list, as values of their own (section 16.7).
    pub(crate) leaves_out_rows: bool,
    /// Whether a row of the last table did not agree with the order of the rows before it.
    pub(crate) disagreed: bool,
    /// Whether some column got a default instead of a splice that saves more, because its objects may get anchors. Set by
    /// [`cost`](super::cost), and kept if the table does not pay.
    pub(crate) kept_for_anchors: bool,
    /// Every object that was merged, with its list, if templates are to be found.
    pub(crate) merged: Option<ArenaVec<'a, (ListId, Token)>>,
    /// The columns that the object being merged shares with others, from its first difference on, and its values.
    matched: ArenaVec<'a, (ColumnId, Token)>,
    /// The columns of wide lists. Those of a table that was taken back stay until the document ends.
    map: ArenaTable<'a, MapEntry>,
    /// Keyed, so that a sender cannot choose keys that collide.
    hasher: Hasher,
}

impl<'a> Columns<'a> {
    /// Returns an empty set of lists in which at most `max_found` columns and lists come before the last table. With
    /// `references`, merged objects are recorded.
    pub(crate) fn new(
        arena: &'a Bump,
        memory: &'a mut ColumnMemory,
        hasher: Hasher,
        max_found: usize,
        container_defaults: bool,
        references: bool,
    ) -> Self {
        Self {
            columns: SpillVec::new_in(arena, &mut memory.columns),
            lists: SpillVec::new_in(arena, &mut memory.lists),
            fillings: ArenaVec::new_in(arena),
            map_ids: 0,
            renumbered: 0,
            max_renumbered: 0,
            pending: ArenaVec::with_capacity_in(FIRST_CAPACITY, arena),
            max_found,
            max_columns: 0,
            container_defaults,
            open: false,
            leaves_out_rows: false,
            disagreed: false,
            kept_for_anchors: false,
            merged: references.then(|| ArenaVec::with_capacity_in(FIRST_CAPACITY, arena)),
            matched: ArenaVec::with_capacity_in(FIRST_CAPACITY, arena),
            map: ArenaTable::new_in(arena),
            hasher,
        }
    }

    #[inline(always)]
    pub(crate) fn column(&self, column: ColumnId) -> &Column {
        &self.columns[column as usize]
    }

    pub(crate) fn column_mut(&mut self, column: ColumnId) -> &mut Column {
        &mut self.columns[column as usize]
    }

    #[inline(always)]
    pub(crate) fn list(&self, list: ListId) -> &List {
        &self.lists[list as usize]
    }

    pub(crate) fn list_mut(&mut self, list: ListId) -> &mut List {
        &mut self.lists[list as usize]
    }

    /// Returns the number of lists. Those of a table follow the list of its rows.
    pub(crate) fn list_count(&self) -> ListId {
        self.lists.len() as ListId
    }

    /// Returns the columns of a list, in order.
    pub(crate) fn of(&self, list: ListId) -> impl Iterator<Item = ColumnId> {
        let mut at = self.list(list).head;
        std::iter::from_fn(move || {
            (at != NONE).then(|| {
                let column = at;
                at = self.column(column).next;
                column
            })
        })
    }

    /// Makes a column a filled one.
    pub(crate) fn fill(&mut self, column: ColumnId, filling: Filling) {
        self.column_mut(column).filling = self.fillings.len() as u32;
        self.fillings.push(filling);
    }

    /// Returns what the strings of a column begin and end with, if it is filled.
    #[inline(always)]
    pub(crate) fn filling(&self, column: &Column) -> Option<&Filling> {
        if column.filling == NONE { None } else { self.fillings.get(column.filling as usize) }
    }

    /// Returns whether lists inside rows may have filled columns.
    pub(crate) fn may_fill_inside_rows(&self) -> bool {
        self.lists.iter_from(0).any(|list| list.may_be_filled && list.parent != NONE)
    }

    /// Returns a state to [roll back](Self::roll_back) to.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let merged = self.merged.as_ref().map_or(0, |merged| merged.len());
        Checkpoint { columns: self.columns.len(), lists: self.lists.len(), merged }
    }

    /// Removes every table since the checkpoint.
    pub(crate) fn roll_back(&mut self, checkpoint: Checkpoint) {
        self.columns.truncate(checkpoint.columns);
        self.lists.truncate(checkpoint.lists);
        if let Some(merged) = &mut self.merged {
            merged.truncate(checkpoint.merged);
        }
    }

    /// Returns what all tables save.
    pub(crate) fn saving(&self) -> i64 {
        self.lists.iter_from(0).filter(|list| list.parent == NONE).map(|list| list.saving).sum()
    }

    /// Stores and returns the bytes of a table's header, as the limit of section 20.3 counts them. The roles of its columns
    /// are decided; `before` is from before the table.
    pub(crate) fn measure_header(&mut self, tree: Tree<'_>, table: ListId, before: &Checkpoint) -> usize {
        let bytes = self.columns.iter_from(before.columns).map(|column| {
            let in_header = column.role == ColumnRole::Constant || column.has_default;
            tree.key(column.key).len() + if in_header { tree.value(column.frequent).len() } else { 0 }
        });
        let bytes = bytes.sum();
        self.list_mut(table).header_bytes = bytes;
        bytes
    }

    fn add_list(&mut self, parent: ColumnId, level: u32) -> ListId {
        let list = self.lists.len() as ListId;
        let root = if parent == NONE { list } else { self.list(self.column(parent).list).root };
        self.lists.push(List {
            head: NONE,
            tail: NONE,
            width: 0,
            optional_columns: 0,
            required_columns: 0,
            objects: 0,
            parent,
            level,
            may_have_templates: false,
            may_be_filled: false,
            in_arrays: false,
            map_id: NONE,
            key_filter: [0; 4],
            regular: true,
            complete: true,
            is_open: false,
            writes_objects: false,
            saving: 0,
            root,
            header_bytes: 0,
            longest_row: 0,
        });
        list
    }
}
