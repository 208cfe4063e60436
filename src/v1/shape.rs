//! The keys that the rows of a table share, as spans of the first row.
//!
//! Rows are compared with the first row's bytes, so shapes are never looked up: hashing the keys of a row costs more
//! than comparing them.

use std::ops::Range;

use crate::json::duplicate_keys::DuplicateKeys;

/// A column as the first row has it. Offsets count from the table's `[`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeColumn {
    key: u32,
    value: u32,
    end: u32,
}

impl ShapeColumn {
    /// Returns the span of its key, with quotes and colon.
    pub(super) fn key(self) -> Range<usize> {
        self.key as usize..self.value as usize
    }

    /// Returns where its key begins.
    #[inline(always)]
    pub(super) fn key_start(self) -> usize {
        self.key as usize
    }

    /// Returns the length of its key, with quotes and colon.
    #[inline(always)]
    pub(super) fn key_len(self) -> usize {
        self.value.wrapping_sub(self.key) as usize
    }

    /// Returns the span of the first row's value.
    pub(super) fn cell(self) -> Range<usize> {
        self.value as usize..self.end as usize
    }
}

/// The columns of the table that is being read.
#[derive(Debug, Default)]
pub(super) struct Shape {
    columns: Vec<ShapeColumn>,
    duplicates: DuplicateKeys,
}

impl Shape {
    pub(super) fn clear(&mut self) {
        self.columns.clear();
    }

    pub(super) fn columns(&self) -> &[ShapeColumn] {
        &self.columns
    }

    /// Adds a column, by the offsets of its key, its value and the value's end.
    pub(super) fn push(&mut self, key: usize, value: usize, end: usize) {
        self.columns.push(ShapeColumn { key: key as u32, value: value as u32, end: end as u32 });
    }

    /// Returns whether no key occurs twice. `table` is the text from the table's `[` on.
    pub(super) fn is_distinct(&mut self, table: &[u8]) -> bool {
        let columns = &self.columns;
        // Without the quotes and the colon, which all keys have.
        let body = |at: usize| {
            let key = &table[columns[at].key()];
            &key[1..key.len() - 2]
        };
        self.duplicates.find_first(columns.len(), body).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_duplicate_key_in_narrow_and_in_wide_rows() {
        for width in [1, 2, 32, 33, 500] {
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
