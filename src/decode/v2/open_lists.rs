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
//! An object of an open list, and its keys and rows, are called *listed* here and in the files beside this one.
//!
//! Most keys are no column, which one bit of a filter tells, or the next column. Any other key is looked up by binary search: the
//! keys of the list are sorted by a word of eight bytes, and those with equal words by the keys themselves. So hostile keys cost
//! no more than a binary search each (section 10.5).

use std::ops::Range;

use crate::decode::v2::columns::{ColumnKind, NONE, TableColumn};
use crate::json::span::bytes_at;

/// The open lists of a header.
#[derive(Debug, Default)]
pub(crate) struct OpenLists {
    lists: Vec<OpenList>,
    columns: Vec<OpenColumn>,
    /// The keys of all lists, constants included, those of a list together and sorted.
    keys: Vec<SortedKey>,
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
    /// One bit for each key, by its word: a key whose bit is not set is not in the list.
    filter: u64,
    /// The range of its constants in the schema's text, each with a comma before it.
    pub(crate) constants: usize,
    pub(crate) constants_end: usize,
    /// The length of its longest key, without quotes.
    pub(crate) longest: usize,
}

/// A column of an open list that is no constant.
#[derive(Clone, Debug)]
struct OpenColumn {
    /// Its key in the schema's text, without quotes.
    key: Range<usize>,
    /// The word of its key.
    word: u64,
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
struct SortedKey {
    word: u64,
    /// Its range of the schema's text, without quotes.
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
    /// A column that is not too late: it comes after all columns that the object has had. The constants before it end at
    /// `constants_end` of the header's text.
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
            // Without the quotes and the colon.
            let key = column.key.start + 1..column.key.end - 2;
            let word = key_word(&text[key.clone()]);
            filter |= filter_bit(word);
            longest = longest.max(key.len());
            let mut column_number = NONE;
            if let ColumnKind::Constant(value) = &column.kind {
                // With the comma before it.
                text.extend_from_within(column.key.start - 1..value.end);
            } else {
                column_number = self.columns.len() as u32;
                let lists = ValueLists { tuples: column.list, objects: column.object_list };
                self.columns.push(OpenColumn { key: key.clone(), word, constants_end: text.len(), lists });
            }
            let Range { start, end } = key;
            self.keys.push(SortedKey { word, start, end, column: column_number });
        }
        let text_of = |key: &SortedKey| &text[key.start..key.end];
        self.keys[keys_start..]
            .sort_unstable_by(|one, other| one.word.cmp(&other.word).then_with(|| text_of(one).cmp(text_of(other))));
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

    /// Returns what a key, without its quotes, is to a list of which no column before `next` may follow. `word` is the key's.
    #[inline(always)]
    pub(crate) fn find(&self, list: &OpenList, next: u32, word: u64, key: &[u8], text: &[u8]) -> Listed {
        if list.filter & filter_bit(word) == 0 {
            return Listed::Absent;
        }
        if next < list.end
            && let column = &self.columns[next as usize]
            && column.word == word
            && is_key(&text[column.key.clone()], key)
        {
            return Listed::Column { column: next, constants_end: column.constants_end };
        }
        self.look_up(list, next, word, key, text)
    }

    #[inline(never)]
    fn look_up(&self, list: &OpenList, next: u32, word: u64, key: &[u8], text: &[u8]) -> Listed {
        let order = |other: &SortedKey| {
            count_comparison();
            other.word.cmp(&word).then_with(|| text[other.start..other.end].cmp(key))
        };
        let keys = &self.keys[list.keys_start..list.keys_end];
        match keys.binary_search_by(order).map(|place| keys[place].column) {
            Err(_) => Listed::Absent,
            Ok(NONE) => Listed::Taken,
            Ok(column) if column < next => Listed::Taken,
            Ok(column) => Listed::Column { column, constants_end: self.columns[column as usize].constants_end },
        }
    }
}

#[inline(always)]
fn is_key(column: &[u8], key: &[u8]) -> bool {
    count_comparison();
    column == key
}

/// Returns what tells most keys apart: the first eight bytes, the last eight, and the length.
pub(crate) fn key_word(key: &[u8]) -> u64 {
    match (key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last)) => long_key_word(first, last, key.len()),
        _ => key.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// Returns the same for the key of `length` bytes at `at`; none if `bytes` has less than eight bytes from there on.
#[inline(always)]
pub(crate) fn key_word_at(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let first = bytes_at(bytes, at)?;
    if length >= 8 {
        return Some(long_key_word(first, bytes_at(bytes, at + length - 8)?, length));
    }
    Some(u64::from_le_bytes(*first) & !(u64::MAX << (8 * length)))
}

#[inline(always)]
fn long_key_word(first: &[u8; 8], last: &[u8; 8], length: usize) -> u64 {
    u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29) ^ (length as u64) << 56
}

/// Returns the bit of a key in the filter of its list.
#[inline(always)]
fn filter_bit(word: u64) -> u64 {
    1 << (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58)
}

/// Test hook: counts the keys that were compared.
#[inline(always)]
fn count_comparison() {
    #[cfg(test)]
    tests::COMPARISONS.with(|count| count.set(count.get() + 1));
}

#[cfg(test)]
mod tests {
    use super::{key_word, key_word_at};
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
    fn a_key_costs_a_binary_search_however_wide_the_list_is() {
        let keys = |name: &dyn Fn(usize) -> String, from: usize, step: usize| {
            (from..4000).step_by(step).map(name).collect::<Vec<_>>()
        };
        let short = |at: usize| format!("k{at:04}");
        // Keys that have the same word.
        let same = |at: usize| format!("same_beginning_{at:04}_and_end");
        for (name, odd) in [(&short as &dyn Fn(usize) -> String, false), (&same, false), (&same, true)] {
            let list = keys(name, 0, 2);
            for row in
                [keys(name, usize::from(odd), 2), keys(name, usize::from(odd), 4), keys(name, usize::from(odd), 6)]
            {
                let count = comparisons(&list, &row);
                assert!((row.len()..=13 * row.len()).contains(&count), "{count} for {} keys", row.len());
            }
        }
        // In the order of the list, each key is compared with the next column alone.
        assert_eq!(comparisons(&keys(&short, 0, 1), &keys(&short, 0, 1)), 4000);
    }

    #[test]
    fn a_key_has_one_word() {
        let bytes = b"abcdefghijklmnopqrstuvwxyz";
        for at in 0..8 {
            for length in 0..16 {
                assert_eq!(key_word_at(bytes, at, length), Some(key_word(&bytes[at..at + length])));
            }
        }
        assert_eq!(key_word_at(bytes, 20, 3), None);
    }
}
