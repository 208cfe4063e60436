//! The keys that the rows of a table share, as spans of the first row, and whether they can head one.
//!
//! Rows are told apart by comparing bytes with the first, so shapes are not looked up anywhere: to hash the keys of a
//! row costs more than to compare them. What is hashed, with a key of our own, are the keys of a wide first row, to
//! see that none stands twice; the set lives in an arena that is given back whole.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use bumpalo::Bump;
use hashbrown::HashTable;

/// Up to this many keys it is cheaper to compare every pair than to hash.
const FEW: usize = 32;

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
    /// A few bytes of each key and its length, while keys are compared.
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
            // Keys that are the same have the same mark; those that only share it are compared.
            self.marks.clear();
            self.marks.extend(columns.iter().map(|column| mark(key(column))));
            return (1..columns.len()).all(|at| {
                let alike = self.marks[..at].iter().fold(0, |alike, &other| alike + u32::from(other == self.marks[at]));
                alike == 0 || columns[..at].iter().all(|other| key(&columns[at]) != key(other))
            });
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

/// What tells most keys apart: the first seven bytes, the last seven but for quote and colon, and the length.
#[inline(always)]
fn mark(key: &[u8]) -> u64 {
    let ends = match (key.first_chunk::<8>(), key[..key.len() - 2].last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            u64::from_le_bytes(*first).rotate_left(32) ^ u64::from_le_bytes(*last).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        }
        _ => key.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    ends ^ key.len() as u64
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
