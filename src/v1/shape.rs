//! The keys that the rows of a table share, as spans of the first row, and whether they can head one.
//!
//! Rows are told apart by comparing bytes with the first, so shapes are not looked up anywhere: to hash the keys of a
//! row costs more than to compare them. What is hashed, with a key of our own, are the keys of a wide first row, to
//! see that none stands twice; the set lives in an arena that is given back whole.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use bumpalo::Bump;
use hashbrown::HashTable;

use crate::json::duplicate_keys::{FEW, first_twice};

/// A column as the first row has it. Offsets are from the table's `[`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    key: u32,
    value: u32,
    end: u32,
}

impl Column {
    /// Its key, quotes, colon and all.
    pub(super) fn key(self) -> Range<usize> {
        self.key as usize..self.value as usize
    }

    /// Where its key begins.
    #[inline(always)]
    pub(super) fn key_start(self) -> usize {
        self.key as usize
    }

    /// How long its key is, with quotes and colon.
    #[inline(always)]
    pub(super) fn key_len(self) -> usize {
        self.value.wrapping_sub(self.key) as usize
    }

    /// The first row's value.
    pub(super) fn cell(self) -> Range<usize> {
        self.value as usize..self.end as usize
    }
}

/// The columns of a table in the making.
#[derive(Debug, Default)]
pub(super) struct Shape {
    columns: Vec<Column>,
    /// Only memory, while keys are compared.
    marks: Vec<u64>,
    /// Memory for the set that tells whether a wide row has a key twice; given back whole.
    arena: Bump,
    /// Keyed, so that nobody can choose keys that collide.
    hasher: RandomState,
}

impl Shape {
    pub(super) fn clear(&mut self) {
        self.columns.clear();
    }

    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Adds a column: where its key, its value and the value's end are, counted from the table's `[`.
    pub(super) fn push(&mut self, key: usize, value: usize, end: usize) {
        self.columns.push(Column { key: key as u32, value: value as u32, end: end as u32 });
    }

    /// Is every key of the table that begins at `table` different from every other?
    pub(super) fn is_distinct(&mut self, table: &[u8]) -> bool {
        let columns = &self.columns;
        let key = |column: &Column| &table[column.key()];
        if columns.len() <= FEW {
            let body = |at: usize| {
                let key = key(&columns[at]);
                &key[1..key.len() - 2]
            };
            return first_twice(columns.len(), body, &mut self.marks).is_none();
        }
        self.arena.reset();
        let mut seen: HashTable<&[u8], &Bump> = HashTable::with_capacity_in(columns.len(), &self.arena);
        columns.iter().all(|column| {
            let key = key(column);
            let hash = self.hasher.hash_one(key);
            let fresh = seen.find(hash, |&other| other == key).is_none();
            seen.insert_unique(hash, key, |&other| self.hasher.hash_one(other));
            fresh
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_key_that_stands_twice_in_narrow_and_in_wide_rows() {
        for width in [1, 2, FEW, FEW + 1, 500] {
            for twice in [false, true] {
                let mut shape = Shape::default();
                let mut table = Vec::new();
                for column in 0..width {
                    let name = if twice && column == width - 1 { 0 } else { column };
                    let start = table.len();
                    table.extend_from_slice(format!("\"k{name}\":").as_bytes());
                    shape.push(start, table.len(), table.len());
                }
                assert_eq!(shape.is_distinct(&table), !twice || width == 1, "{width} {twice}");
            }
        }
    }
}
