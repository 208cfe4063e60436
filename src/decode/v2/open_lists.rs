//! Open lists (grammar/STC.md, section 17.10): what an object that is written with its own keys needs of its list.
//!
//! The columns that are no constants are kept in the order of the list, and the constants as one text after the list's own. So the
//! constants between any two columns are one range, however many columns are between them:
//!
//! ```text
//! list        {*,a,k=1,b,c,m=2,n=3,d}
//! constants   ,"k":1,"m":2,"n":3
//! constants   a: 0   b: 6   c: 6   d: 18   the bytes of constants that come before each column
//! ```
//!
//! An object that had `a` last and now has `d` gets the bytes from 0 to 18 before `d`.
//!
//! A key is mostly the next column or none. Else it is looked up among fingerprints that are sorted, so keys that are chosen to
//! collide cost no more than a binary search among the keys themselves.

use std::cmp::Ordering;
use std::ops::Range;

use crate::decode::v2::columns::{ColumnKind, NONE, TableColumn};

/// The open lists of a header.
#[derive(Debug, Default)]
pub(crate) struct OpenLists {
    lists: Vec<OpenList>,
    columns: Vec<OpenColumn>,
    /// The keys of all lists, constants included, those of a list together and sorted.
    keys: Vec<ColumnKey>,
}

/// An open list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenList {
    /// Its first column, and the one after its last.
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// The range of its keys.
    keys_start: usize,
    keys_end: usize,
    /// One bit for each key, by its fingerprint: a key whose bit is not set is not in the list.
    filter: u64,
    /// The range of its constants in the schema's text, each with a comma before it.
    pub(crate) constants: usize,
    pub(crate) constants_end: usize,
    /// The length of its longest key, with quotes.
    pub(crate) longest: usize,
}

/// A column of an open list that is no constant.
#[derive(Clone, Debug)]
struct OpenColumn {
    /// Its key in the schema's text, with quotes.
    key: Range<usize>,
    /// Where the constants before it end in the schema's text.
    constants_end: usize,
    lists: ValueLists,
}

/// The lists of columns that apply to the value of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueLists {
    /// The list of tuples, or [`NONE`].
    pub(crate) tuples: u32,
    /// The open list of objects, or [`NONE`].
    pub(crate) objects: u32,
}

/// A key of an open list, to be looked up.
#[derive(Clone, Copy, Debug)]
struct ColumnKey {
    fingerprint: u64,
    /// Its range of the schema's text, with quotes.
    start: usize,
    end: usize,
    /// Its column; [`NONE`] if it is a constant.
    column: u32,
}

/// What a key is to an open list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// No column of it.
    Absent,
    /// This column, which may come next; `constants_end` is where the constants before it end in the schema's text.
    Column { column: u32, constants_end: usize },
    /// A constant, or a column that comes too late.
    Taken,
}

impl OpenLists {
    pub(crate) fn clear(&mut self) {
        self.lists.clear();
        self.columns.clear();
        self.keys.clear();
    }

    /// Begins a list; returns its number.
    pub(crate) fn begin(&mut self) -> u32 {
        self.lists.push(OpenList::default());
        self.lists.len() as u32 - 1
    }

    /// Completes a list, whose columns are those in `order`; appends its constants to `text`.
    pub(crate) fn complete(&mut self, list: u32, columns: &[TableColumn], order: &[u32], text: &mut Vec<u8>) {
        let (first, constants, keys_start) = (self.columns.len() as u32, text.len(), self.keys.len());
        let (mut filter, mut longest) = (0, 0);
        for &number in order {
            let column = &columns[number as usize];
            // Without the colon.
            let key = column.key.start..column.key.end - 1;
            let fingerprint = fingerprint(&text[key.clone()]);
            filter |= filter_bit(fingerprint);
            longest = longest.max(key.len());
            let mut column_number = NONE;
            if let ColumnKind::Constant(value) = &column.kind {
                // With the comma before it.
                text.extend_from_within(key.start - 1..value.end);
            } else {
                column_number = self.columns.len() as u32;
                let lists = ValueLists { tuples: column.list, objects: column.object_list };
                self.columns.push(OpenColumn { key: key.clone(), constants_end: text.len(), lists });
            }
            let Range { start, end } = key;
            self.keys.push(ColumnKey { fingerprint, start, end, column: column_number });
        }
        let text_of = |key: &ColumnKey| &text[key.start..key.end];
        self.keys[keys_start..].sort_unstable_by(|one, other| {
            one.fingerprint.cmp(&other.fingerprint).then_with(|| text_of(one).cmp(text_of(other)))
        });
        let (end, constants_end, keys_end) = (self.columns.len() as u32, text.len(), self.keys.len());
        self.lists[list as usize] =
            OpenList { first, end, keys_start, keys_end, filter, constants, constants_end, longest };
    }

    #[inline(always)]
    pub(crate) fn list(&self, list: u32) -> &OpenList {
        &self.lists[list as usize]
    }

    /// Returns the lists that apply to the value of a column, or of no column.
    #[inline(always)]
    pub(crate) fn value_lists(&self, column: u32) -> ValueLists {
        let none = ValueLists { tuples: NONE, objects: NONE };
        self.columns.get(column as usize).map_or(none, |column| column.lists)
    }

    /// Returns what a key, with its quotes, is to a list of which no column before `next` may follow.
    pub(crate) fn find(&self, list: u32, next: u32, key: &[u8], text: &[u8]) -> Listed {
        let list = self.list(list);
        let found = |column: u32| {
            let constants_end = self.columns[column as usize].constants_end;
            Listed::Column { column, constants_end }
        };
        if next < list.end && is_key(text, &self.columns[next as usize].key, key) {
            return found(next);
        }
        let fingerprint = fingerprint(key);
        if list.filter & filter_bit(fingerprint) == 0 {
            return Listed::Absent;
        }
        let order = |other: &ColumnKey| match other.fingerprint.cmp(&fingerprint) {
            Ordering::Equal => compare(&text[other.start..other.end], key),
            order => order,
        };
        let keys = &self.keys[list.keys_start..list.keys_end];
        match keys.binary_search_by(order).map(|place| keys[place].column) {
            Err(_) => Listed::Absent,
            Ok(column) if column != NONE && column >= next => found(column),
            Ok(_) => Listed::Taken,
        }
    }
}

/// Returns whether a key is the one at a place in the schema's text.
#[inline(always)]
fn is_key(text: &[u8], place: &Range<usize>, key: &[u8]) -> bool {
    count_comparison();
    text[place.clone()] == *key
}

fn compare(one: &[u8], other: &[u8]) -> Ordering {
    count_comparison();
    one.cmp(other)
}

/// Returns what tells most keys apart: the first eight bytes, the last eight, and the length.
#[inline(always)]
fn fingerprint(key: &[u8]) -> u64 {
    let ends = match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29),
        _ => key.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    ends ^ (key.len() as u64) << 56
}

/// Returns the bit of a fingerprint.
#[inline(always)]
fn filter_bit(fingerprint: u64) -> u64 {
    1 << (fingerprint.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58)
}

/// Test hook: counts the keys that were compared.
#[inline(always)]
fn count_comparison() {
    #[cfg(test)]
    tests::COMPARISONS.with(|count| count.set(count.get() + 1));
}

#[cfg(test)]
mod tests {
    use crate::Decoder;

    std::thread_local! {
        pub(super) static COMPARISONS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    /// Decodes a table of one row byte by byte, and returns how many keys were compared.
    fn comparisons(list: &[String], row: &[String]) -> usize {
        let members: Vec<_> = row.iter().map(|key| format!("{key}:1")).collect();
        let stc = format!("[1]{{*,{}}}:\n{{{}}}\n", list.join(","), members.join(","));
        let (mut decoder, mut json) = (Decoder::new(), Vec::new());
        COMPARISONS.set(0);
        for byte in stc.as_bytes().chunks(1) {
            decoder.push(byte, &mut json).expect("it is STC");
        }
        decoder.finish(&mut json).expect("it is STC");
        COMPARISONS.get()
    }

    #[test]
    fn a_key_costs_a_few_comparisons_however_wide_the_list_is() {
        let keys =
            |kind: &str, step: usize| (0..4000).step_by(step).map(|at| format!("{kind}{at:04}")).collect::<Vec<_>>();
        let list = keys("k", 1);
        for row in [keys("k", 1), keys("k", 2), keys("k", 3), keys("x", 1)] {
            let count = comparisons(&list, &row);
            assert!(count >= row.len() - 1 && count <= 3 * row.len(), "{count} for {} keys", row.len());
        }
    }

    #[test]
    fn keys_that_are_chosen_to_collide_cost_a_binary_search() {
        let keys = |from: usize| {
            (from..from + 4000).step_by(2).map(|at| format!("same_beginning_{at:04}_and_end")).collect::<Vec<_>>()
        };
        for row in [keys(0), keys(1)] {
            let count = comparisons(&keys(0), &row);
            assert!(count <= 13 * row.len(), "{count} for {} keys", row.len());
        }
    }
}
