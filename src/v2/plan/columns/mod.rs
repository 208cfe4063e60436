//! The columns that objects share: a list of them for the rows of a table, and one for each column that holds objects.
//!
//! Objects are merged into a list one after the other. Most have the keys of the one before, so a key is first
//! compared with the column that is due; only where it is another one is it looked for. A list keeps one order that
//! every object agrees with; an object that does not, or has a key twice, is not merged.
//!
//! What a column holds is looked into only once two values differ: as long as all are the same, byte for byte, it
//! is a constant, and nobody needs to know what is inside. Then what was the same is merged once, with the weight of
//! all the objects that had it.

mod merge;

use hashbrown::HashTable;

use super::hash::Hasher;
use crate::v2::tree::{Place, Token, Tree};

pub(crate) type ColumnId = u32;
pub(crate) type ListId = u32;

pub(crate) const NONE: u32 = u32::MAX;

/// How deep tables look into rows: an object further down is written out. It also bounds how often a value can be
/// looked at when tables around it turn out not to pay.
pub(crate) const DEEPEST: u32 = 16;

/// Up to this many columns a key is looked for by comparing it with each.
const FEW: u32 = 12;

/// So many columns are compared before one is looked up.
const CLOSE: usize = 4;

/// How far apart columns are numbered, so that others fit between.
const GAP: u32 = 1 << 10;

/// How many columns may be numbered afresh for each token of a table. Every tenth that comes between the same two has all
/// numbered, so that 4,096 columns, which is the limit unless it is raised, take a hundred.
const PATIENCE: usize = 256;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Its key, where it was met first.
    pub(crate) key: Token,
    pub(crate) key_place: Place,
    /// How many objects have it.
    pub(crate) rows: u32,
    /// Are all values the same?
    pub(crate) same: bool,
    /// The value that may be the most frequent, all of them while they are the same, and how often it was met since it was
    /// chosen.
    pub(crate) likely: Token,
    pub(crate) likely_place: Place,
    pub(crate) hits: u32,
    /// One that may turn out to be more frequent, how often it was met since, and the votes it has left.
    rival: Token,
    rival_place: Place,
    rival_hits: u32,
    votes: u32,
    /// The columns of the objects in it, if it has any.
    pub(crate) list: ListId,
    /// Are there objects in it that are no tuples?
    pub(crate) leaves: bool,
    /// The list it stands in.
    pub(crate) owner: ListId,
    pub(crate) next: ColumnId,
    /// Numbers that grow along the list.
    rank: u32,
    /// How many columns before it some objects lack, once the table is decided on.
    pub(crate) optionals: u32,
    pub(crate) role: Role,
    /// Is an empty cell the likely value?
    pub(crate) default: bool,
    /// Is it part of a template, and so has to be a plain cell?
    pub(crate) stays: bool,
    /// What names for its objects save, as far as it had to be known.
    pub(crate) named: i64,
    /// Is its splice worth more than those?
    pub(crate) firm: bool,
}

/// How a column is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A cell a row.
    Cell,
    /// A cell a row, with tuples for objects.
    Nested,
    /// An object in every row, whose cells are the row's.
    Spliced,
    /// Once, in the header.
    Constant,
    /// In the header, filled from other columns; the number of its template.
    Template(u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) head: ColumnId,
    tail: ColumnId,
    width: u32,
    /// How many columns some objects lack, and how many all have, once the table is decided on.
    pub(crate) optionals: u32,
    pub(crate) required: u32,
    /// How many objects it stands for.
    pub(crate) objects: u32,
    /// The column it belongs to; none for the rows of a table.
    pub(crate) parent: ColumnId,
    level: u32,
    /// May some of its columns be templates?
    pub(crate) templates: bool,
    /// Are some of its objects elements of arrays?
    pub(crate) arrays: bool,
    /// Its number in the map, if its columns are there.
    serial: u32,
    /// What its keys look like, a bit for each [`look`]: a key without one there is new.
    looks: [u64; 4],
    /// Have all objects exactly its columns? Then keys need not be looked at again.
    pub(crate) regular: bool,
    /// Do all objects that were met agree with it?
    pub(crate) complete: bool,
    /// Are there objects, of its own or in its cells, that are no tuples?
    pub(crate) leaves: bool,
    /// What it saves, by [`cost`](super::cost).
    pub(crate) saving: i64,
    /// The list of the table's rows.
    pub(crate) root: ListId,
    /// Of that list: bytes of the header, as its limit counts them, and of the longest row.
    pub(crate) header: usize,
    pub(crate) longest: usize,
}

/// An object that waits to be merged.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    object: Token,
    list: ListId,
    weight: u32,
}

/// A column in the map.
#[derive(Clone, Copy, Debug)]
struct Mapped {
    hash: u64,
    serial: u32,
    column: ColumnId,
}

#[derive(Clone, Copy)]
pub(crate) struct Mark {
    columns: usize,
    lists: usize,
    merged: usize,
}

/// All lists of a document.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    lists: Vec<List>,
    /// How many lists have been put into the map.
    serials: u32,
    /// How many columns of the last table have been numbered afresh, and how many may be.
    pub(crate) numbered: usize,
    patience: usize,
    waiting: Vec<Waiting>,
    /// How many columns and lists there may be in a document, besides those of its last table, and how many columns with
    /// those.
    pub(crate) few: usize,
    most: usize,
    /// May containers be defaults? A decoder takes the depth of one into account wherever its list is, in arrays too,
    /// which may be further down than where it stood.
    pub(crate) deep_defaults: bool,
    /// Every object that was merged, with its list, if somebody wants to know.
    pub(crate) merged: Option<Vec<(ListId, Token)>>,
    /// Columns that the object being merged has in common with others, from where it first differed, and its values.
    matched: Vec<(ColumnId, Token)>,
    /// The columns of wide lists. Those of lists that were taken back stay in it until the document ends.
    map: HashTable<Mapped>,
    /// Keyed, so that nobody can choose keys that collide.
    hasher: Hasher,
}

impl Columns {
    pub(crate) fn clear(&mut self) {
        self.columns.clear();
        self.lists.clear();
        self.waiting.clear();
        self.map.clear();
        self.serials = 0;
        if let Some(merged) = &mut self.merged {
            merged.clear();
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

    /// How many lists there are; those of a table come after it.
    pub(crate) fn lists(&self) -> ListId {
        self.lists.len() as ListId
    }

    /// The columns of a list, in order.
    pub(crate) fn of(&self, list: ListId) -> impl Iterator<Item = ColumnId> + '_ {
        let mut at = self.list(list).head;
        std::iter::from_fn(move || {
            (at != NONE).then(|| {
                let column = at;
                at = self.column(column).next;
                column
            })
        })
    }

    /// Can the object be written as a tuple of this list, with which not all objects agree?
    pub(crate) fn fits(&self, tree: Tree<'_>, object: Token, list: ListId) -> bool {
        let List { objects, required, head, .. } = *self.list(list);
        let close = tree.close(object);
        let (mut at, mut due, mut found) = (object + 1, head, 0);
        while at < close {
            let Some(id) = self.seek(tree, list, due, tree.key_place(at)) else { return false };
            let column = self.column(id);
            // One that came before another, or before itself, is not in order.
            if due == NONE || column.rank < self.column(due).rank || column.rows == 0 {
                return false;
            }
            found += u32::from(column.rows == objects);
            due = column.next;
            at = tree.after(at + 1);
        }
        found == required && close > object + 1
    }

    /// The column of a key, as [`seek`](Self::seek) finds it, if the list has one that looks like it.
    #[inline(always)]
    fn seek_known(&self, tree: Tree<'_>, list: ListId, due: ColumnId, key: Place) -> Option<ColumnId> {
        let (word, bit) = look(tree, key);
        if self.list(list).looks[word] & bit == 0 { None } else { self.seek_far(tree, list, due, key) }
    }

    /// Apart, for most keys that are looked for are new, and what it needs would take their registers.
    #[inline(never)]
    fn seek_far(&self, tree: Tree<'_>, list: ListId, due: ColumnId, key: Place) -> Option<ColumnId> {
        self.seek(tree, list, due, key)
    }

    /// The column of a key: `due`, or one close behind it, or any of the list.
    #[inline(always)]
    pub(crate) fn seek(&self, tree: Tree<'_>, list: ListId, due: ColumnId, key: Place) -> Option<ColumnId> {
        let mut at = due;
        for _ in 0..CLOSE {
            if at == NONE {
                break;
            }
            let column = self.column(at);
            if tree.equal(column.key_place, key) {
                return Some(at);
            }
            at = column.next;
        }
        self.look_up(tree, list, key)
    }

    /// A place to [`forget`](Self::forget) back to.
    pub(crate) fn mark(&self) -> Mark {
        let merged = self.merged.as_ref().map_or(0, Vec::len);
        Mark { columns: self.columns.len(), lists: self.lists.len(), merged }
    }

    /// Takes back every table since the mark.
    pub(crate) fn forget(&mut self, mark: Mark) {
        self.columns.truncate(mark.columns);
        self.lists.truncate(mark.lists);
        if let Some(merged) = &mut self.merged {
            merged.truncate(mark.merged);
        }
    }

    /// What all tables save.
    pub(crate) fn saving(&self) -> i64 {
        self.lists.iter().filter(|list| list.parent == NONE).map(|list| list.saving).sum()
    }

    /// Bytes of the header of the table with this list, as the limit counts them; all its lists are decided.
    /// `mark` is from before the table.
    pub(crate) fn measure_header(&mut self, tree: Tree<'_>, table: ListId, mark: &Mark) -> usize {
        let length = self.columns[mark.columns..].iter().map(|column| {
            let value = match column.role {
                Role::Constant => tree.span(column.likely).len(),
                _ if column.default => tree.span(column.likely).len(),
                _ => 0,
            };
            tree.key(column.key).len() + value
        });
        let length = length.sum();
        self.list_mut(table).header = length;
        length
    }

    fn add_list(&mut self, parent: ColumnId, level: u32) -> ListId {
        let list = self.lists.len() as ListId;
        let root = if parent == NONE { list } else { self.list(self.column(parent).owner).root };
        self.lists.push(List {
            head: NONE,
            tail: NONE,
            width: 0,
            optionals: 0,
            required: 0,
            objects: 0,
            parent,
            level,
            templates: false,
            arrays: false,
            serial: NONE,
            looks: [0; 4],
            regular: true,
            complete: true,
            leaves: false,
            saving: 0,
            root,
            header: 0,
            longest: 0,
        });
        list
    }

    fn look_up(&self, tree: Tree<'_>, list: ListId, key: Place) -> Option<ColumnId> {
        let same = |column: ColumnId| tree.equal(self.column(column).key_place, key);
        let serial = self.list(list).serial;
        if serial == NONE {
            return self.of(list).find(|&column| same(column));
        }
        let hash = self.hasher.text(self.hasher.word(self.hasher.start(), u64::from(serial)), tree.at(key));
        self.map.find(hash, |mapped| mapped.serial == serial && same(mapped.column)).map(|mapped| mapped.column)
    }

    /// A new column for the key at `key`, behind `last` or, if there is none, in front of all.
    fn insert(&mut self, tree: Tree<'_>, list: ListId, last: ColumnId, key: Token) -> ColumnId {
        let column = self.columns.len() as ColumnId;
        let next = if last == NONE { self.list(list).head } else { self.column(last).next };
        let low = if last == NONE { 0 } else { self.column(last).rank };
        let rank = if next == NONE { low.saturating_add(GAP) } else { low + (self.column(next).rank - low) / 2 };
        self.columns.push(Column {
            key,
            key_place: tree.key_place(key),
            rows: 0,
            same: true,
            likely: NONE,
            likely_place: Place::default(),
            hits: 0,
            rival: NONE,
            rival_place: Place::default(),
            rival_hits: 0,
            votes: 0,
            list: NONE,
            leaves: false,
            owner: list,
            next,
            rank,
            optionals: 0,
            role: Role::Cell,
            default: false,
            stays: false,
            named: 0,
            firm: false,
        });
        if last == NONE {
            self.list_mut(list).head = column;
        } else {
            self.column_mut(last).next = column;
        }
        if next == NONE {
            self.list_mut(list).tail = column;
        }
        if rank == low || rank == u32::MAX {
            self.number(list);
        }
        let (word, bit) = look(tree, self.column(column).key_place);
        let columns = self.list_mut(list);
        columns.width += 1;
        columns.looks[word] |= bit;
        if columns.width > FEW {
            self.remember(tree, list, column);
        }
        column
    }

    /// Numbers the columns of a list afresh.
    fn number(&mut self, list: ListId) {
        let List { head: mut at, width, .. } = *self.list(list);
        self.numbered += width as usize;
        let mut rank = GAP;
        while at != NONE {
            let column = self.column_mut(at);
            column.rank = rank;
            at = column.next;
            rank = rank.saturating_add(GAP);
        }
    }

    /// Puts a column into the map, once its list is too wide to be searched.
    fn remember(&mut self, tree: Tree<'_>, list: ListId, column: ColumnId) {
        let List { serial, head, .. } = *self.list(list);
        if serial != NONE {
            self.put(tree, serial, column);
        } else {
            let serial = self.serials;
            self.serials += 1;
            self.list_mut(list).serial = serial;
            let mut at = head;
            while at != NONE {
                self.put(tree, serial, at);
                at = self.column(at).next;
            }
        }
    }

    fn put(&mut self, tree: Tree<'_>, serial: u32, column: ColumnId) {
        let key = tree.key(self.column(column).key);
        let hash = self.hasher.text(self.hasher.word(self.hasher.start(), u64::from(serial)), key);
        self.map.insert_unique(hash, Mapped { hash, serial, column }, |mapped| mapped.hash);
    }
}

/// What a key looks like, from afar: one bit of many.
#[inline(always)]
fn look(tree: Tree<'_>, key: Place) -> (usize, u64) {
    let text = tree.at(key);
    // Between the quotes, if there is anything.
    let (first, last) = (text[1], text[text.len() - 2]);
    let look = first.wrapping_mul(7) ^ last.wrapping_mul(37) ^ (text.len() as u8).wrapping_mul(11);
    (usize::from(look / 64), 1 << (look % 64))
}
