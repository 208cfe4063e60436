//! Name spaces (grammar/STC.md, section 14.2), and what a name means: a dictionary entry, a shape, or an anchored value.

use std::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::format::{NAME_BYTES, is_in_name};
use crate::json::lexer::Sink;
use crate::options::Limits;

/// A name: a letter, and up to 23 letters, digits, `_` and `-`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    bytes: [u8; NAME_BYTES],
    length: usize,
}

/// The bytes of a name as numbers: different names have different ones, and shorter ones come first.
type NameKey = (usize, [u64; NAME_BYTES / 8]);

impl Name {
    /// Appends a byte; returns false, and changes nothing, if the name is as long as it may be, or may not begin with it.
    pub(crate) fn push(&mut self, byte: u8) -> bool {
        let fits = self.length < NAME_BYTES && (self.length > 0 || byte.is_ascii_alphabetic());
        if fits {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
        fits
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the name at `at` and where it ends; none if there is no name, or if it may go on after the end of `bytes`.
    pub(crate) fn at(bytes: &[u8], at: usize) -> Option<(Self, usize)> {
        let mut name = Self::default();
        let mut end = at;
        while is_in_name(*bytes.get(end)?) {
            if !name.push(bytes[end]) {
                return None;
            }
            end += 1;
        }
        (end > at).then_some((name, end))
    }

    fn key(&self) -> NameKey {
        let (words, _) = self.bytes.as_chunks();
        (self.length, [words[0], words[1], words[2]].map(u64::from_be_bytes))
    }
}

/// One of the three name spaces: names, and a value for each that is complete.
///
/// Names are kept sorted and looked up by binary search: no hash, so no names can be chosen to collide. Encoders define them
/// in order, so a new name mostly goes to the end.
#[derive(Debug)]
pub(crate) struct NameSpace<T> {
    /// The names, sorted, with the numbers of their values.
    sorted: Vec<(NameKey, u32)>,
    /// In the order of the definitions; none while a value is not complete.
    values: Vec<Option<T>>,
}

impl<T> Default for NameSpace<T> {
    fn default() -> Self {
        Self { sorted: Vec::new(), values: Vec::new() }
    }
}

impl<T: Clone> NameSpace<T> {
    pub(crate) fn clear(&mut self) {
        self.sorted.clear();
        self.values.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Defines a name whose sigil is at `offset`; returns the number of its value, which [`complete`](Self::complete) sets.
    pub(crate) fn define(&mut self, name: Name, offset: u64, limits: &Limits) -> Result<u32, Error> {
        let Err(place) = self.sorted.binary_search_by_key(&name.key(), |&(key, _)| key) else {
            return Err(Error::new(ErrorKind::Name, offset));
        };
        if self.values.len() >= limits.columns {
            return Err(Error::new(ErrorKind::Columns, offset));
        }
        let number = self.values.len() as u32;
        self.sorted.insert(place, (name.key(), number));
        self.values.push(None);
        Ok(number)
    }

    /// Sets the value of a name, which can be used from now on.
    pub(crate) fn complete(&mut self, number: u32, value: T) {
        self.values[number as usize] = Some(value);
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.values[number as usize].as_ref()
    }

    /// Returns the value of a name whose sigil is at `offset`.
    pub(crate) fn find(&self, name: Name, offset: u64) -> Result<T, Error> {
        let place = self.sorted.binary_search_by_key(&name.key(), |&(key, _)| key).ok();
        let value = place.and_then(|place| self.values[self.sorted[place].1 as usize].clone());
        value.ok_or(Error::new(ErrorKind::Name, offset))
    }
}

/// The strings of the dictionary, one after the other, with their quotes (STC.md, 15.1).
#[derive(Debug, Default)]
pub(crate) struct DictionaryText {
    pub(crate) text: Vec<u8>,
}

impl DictionaryText {
    /// Returns the sink for the string of a definition. The limit is that on headers (20.3).
    pub(crate) fn sink<'a>(&'a mut self, limits: &Limits) -> impl Sink + 'a {
        DictionarySink { text: &mut self.text, limit: limits.header }
    }
}

struct DictionarySink<'a> {
    text: &'a mut Vec<u8>,
    limit: usize,
}

impl Sink for DictionarySink<'_> {
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let room = self.limit.saturating_sub(self.text.len());
        if bytes.len() > room {
            return Err(Error::new(ErrorKind::Header, offset + room as u64));
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }
}

/// An anchored value that is complete (STC.md, 19).
#[derive(Clone, Debug)]
pub(crate) struct AnchoredValue {
    /// Its range of the texts that the output keeps.
    pub(crate) text: Range<usize>,
    /// How many levels it nests.
    pub(crate) height: usize,
}
