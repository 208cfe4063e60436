//! The columns that objects share: a list of them for the rows of a table, and one for each column that holds objects.
//!
//! Objects are merged into a list one after the other. Most have the keys of the one before, so a key is first
//! compared with the column that is due; only where it is another one is it looked for. A list keeps one order that
//! every object agrees with; an object that does not, or has a key twice, is not merged.
//!
//! What a column holds is looked into only once two values differ: as long as all are the same, byte for byte, it
//! is a constant, and nobody needs to know what is inside. Then what was the same is merged once, with the weight of
//! all the objects that had it.

use hashbrown::HashTable;

use super::hash::Hasher;
use crate::tree::{Place, Token, Tree};

pub(crate) type ColumnId = u32;
pub(crate) type ListId = u32;

pub(crate) const NONE: u32 = u32::MAX;

/// How deep tables look into rows: an object further down is written out. It also bounds how often a value can be
/// looked at when tables around it turn out not to pay.
const DEEPEST: u32 = 16;

/// Up to this many columns a key is looked for by comparing it with each.
const FEW: u32 = 12;

/// So many columns are compared before one is looked up.
const CLOSE: usize = 4;

/// How far apart columns are numbered, so that others fit between.
const GAP: u32 = 1 << 10;

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
}

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
    /// Are some of its objects elements of arrays?
    pub(crate) arrays: bool,
    /// Its number in the map, if its columns are there.
    serial: u32,
    /// Have all objects exactly its columns? Then keys need not be looked at again.
    pub(crate) regular: bool,
    /// Do all objects that were met agree with it?
    complete: bool,
    /// Of a table's rows: are there objects in cells that are no tuples?
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
    waiting: Vec<Waiting>,
    /// Every object that was merged, with its list, if somebody wants to know.
    pub(crate) merged: Option<Vec<(ListId, Token)>>,
    /// Columns of the object being merged, and its values.
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

    /// Can the object be written as a tuple of this list?
    pub(crate) fn fits(&self, tree: Tree<'_>, object: Token, list: ListId) -> bool {
        let List { objects, complete, required, head, .. } = *self.list(list);
        if complete {
            return true;
        }
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
            arrays: false,
            serial: NONE,
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
            owner: list,
            next,
            rank,
            optionals: 0,
            role: Role::Cell,
            default: false,
            stays: false,
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
        self.list_mut(list).width += 1;
        self.remember(tree, list, column);
        column
    }

    /// Numbers the columns of a list afresh.
    fn number(&mut self, list: ListId) {
        let mut at = self.list(list).head;
        let mut rank = GAP;
        while at != NONE {
            let column = self.column_mut(at);
            column.rank = rank;
            at = column.next;
            rank += GAP;
        }
    }

    /// Puts a column into the map, once its list is too wide to be searched.
    fn remember(&mut self, tree: Tree<'_>, list: ListId, column: ColumnId) {
        let List { width, serial, head, .. } = *self.list(list);
        if serial != NONE {
            self.put(tree, serial, column);
        } else if width > FEW {
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
