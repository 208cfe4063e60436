//! What a document has given names to: strings, shapes, and values that come again.

use std::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::format::NAME_LETTERS;
use crate::json::lexer::Sink;
use crate::options::Limits;

/// A name: up to eight lower-case letters, as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    letters: [u8; NAME_LETTERS],
    length: usize,
}

impl Name {
    /// Adds a letter; false if there is no room for it.
    pub(crate) fn push(&mut self, letter: u8) -> bool {
        let room = self.length < NAME_LETTERS;
        if room {
            self.letters[self.length] = letter;
            self.length += 1;
        }
        room
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The name at `at`, and where it ends; none if there is none, or its end is not in `bytes`.
    pub(crate) fn at(bytes: &[u8], at: usize) -> Option<(Self, usize)> {
        let mut name = Self::default();
        let mut end = at;
        while bytes.get(end)?.is_ascii_lowercase() {
            if !name.push(bytes[end]) {
                return None;
            }
            end += 1;
        }
        (end > at).then_some((name, end))
    }

    fn key(&self) -> u64 {
        u64::from_le_bytes(self.letters)
    }
}

/// One name space. Names are looked up by sorting them, which needs no hash that somebody could flood; they are
/// mostly defined in order.
#[derive(Debug)]
pub(crate) struct Names<T> {
    /// By name.
    sorted: Vec<(u64, u32)>,
    values: Vec<Option<T>>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { sorted: Vec::new(), values: Vec::new() }
    }
}

impl<T: Clone> Names<T> {
    pub(crate) fn clear(&mut self) {
        self.sorted.clear();
        self.values.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// A new name, whose value is still to come. `offset` is its sigil's.
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

    pub(crate) fn complete(&mut self, number: u32, value: T) {
        self.values[number as usize] = Some(value);
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.values[number as usize].as_ref()
    }

    /// The number and the value of a name that is complete.
    pub(crate) fn find(&self, name: Name, offset: u64) -> Result<(u32, T), Error> {
        let place = self.sorted.binary_search_by_key(&name.key(), |&(key, _)| key).ok();
        let number = place.map(|place| self.sorted[place].1);
        let found = number.and_then(|number| Some((number, self.values[number as usize].clone()?)));
        found.ok_or(Error::new(ErrorKind::Name, offset))
    }
}

/// A text that grows up to a limit.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) text: Vec<u8>,
}

impl Store {
    /// A sink for it; the limit is that of headers.
    pub(crate) fn sink<'a>(&'a mut self, limits: &Limits) -> impl Sink + 'a {
        StoreSink { store: self, limit: limits.header }
    }
}

struct StoreSink<'a> {
    store: &'a mut Store,
    limit: usize,
}

impl Sink for StoreSink<'_> {
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let room = self.limit.saturating_sub(self.store.text.len());
        if bytes.len() > room {
            return Err(Error::new(ErrorKind::Header, offset + room as u64));
        }
        self.store.text.extend_from_slice(bytes);
        Ok(())
    }
}

/// A shape: the first and the last of its keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) head: u32,
    tail: u32,
}

/// The keys of all shapes. Shapes are read inside one another, so each key knows the next of its own.
#[derive(Debug, Default)]
pub(crate) struct ShapeKeys {
    /// Each key with its quotes and its colon.
    text: Vec<u8>,
    keys: Vec<ShapeKey>,
    /// Bytes that the limit counts.
    length: usize,
}

#[derive(Clone, Copy, Debug)]
struct ShapeKey {
    start: usize,
    end: usize,
    next: u32,
}

pub(crate) const NO_KEY: u32 = u32::MAX;

impl ShapeKeys {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.keys.clear();
        self.length = 0;
    }

    /// A key begins; of `shape`, which has `width` already.
    pub(crate) fn begin(
        &mut self,
        shape: Option<Shape>,
        width: usize,
        offset: u64,
        limits: &Limits,
    ) -> Result<Shape, Error> {
        if width >= limits.columns {
            return Err(Error::new(ErrorKind::Columns, offset));
        }
        let key = self.keys.len() as u32;
        self.keys.push(ShapeKey { start: self.text.len(), end: 0, next: NO_KEY });
        if let Some(shape) = shape {
            self.keys[shape.tail as usize].next = key;
        }
        Ok(Shape { head: shape.map_or(key, |shape| shape.head), tail: key })
    }

    pub(crate) fn quote(&mut self) {
        self.text.push(b'"');
    }

    pub(crate) fn end(&mut self) {
        self.text.push(b':');
        if let Some(key) = self.keys.last_mut() {
            key.end = self.text.len();
        }
    }

    /// How many bytes of keys the limit leaves room for.
    pub(crate) fn room(&self, limits: &Limits) -> usize {
        limits.header.saturating_sub(self.length)
    }

    /// The bytes of a key that has begun, all of them; there is room.
    pub(crate) fn whole(&mut self, key: &[u8], bare: bool) {
        self.length += key.len();
        if bare {
            self.text.push(b'"');
        }
        self.text.extend_from_slice(key);
        if bare {
            self.text.push(b'"');
        }
        self.end();
    }

    /// Bytes of a key that stand at `offset`.
    pub(crate) fn push(&mut self, bytes: &[u8], offset: u64, limits: &Limits) -> Result<(), Error> {
        let room = self.room(limits);
        if bytes.len() > room {
            return Err(Error::new(ErrorKind::Header, offset + room as u64));
        }
        self.length += bytes.len();
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    /// A key with its quotes and colon: a text, and where it is in that; and the key after it.
    pub(crate) fn place(&self, key: u32) -> (&[u8], usize, usize, u32) {
        let ShapeKey { start, end, next } = self.keys[key as usize];
        (&self.text, start, end, next)
    }
}

/// A value that is complete and may come again.
#[derive(Clone, Debug)]
pub(crate) struct Anchored {
    pub(crate) text: Range<usize>,
    /// How many levels it nests.
    pub(crate) height: usize,
}
