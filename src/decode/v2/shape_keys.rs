//! The keys of shapes (grammar/STC.md, section 18).
//!
//! The keys of all shapes lie in one text, in the order in which the document has them. A labelled object may hold others, so
//! the keys of one shape need not lie together: each key has the number of the next of its shape.

use crate::error::{Error, ErrorKind};
use crate::options::Limits;

/// The number of no key.
pub(crate) const NO_KEY: u32 = u32::MAX;

/// A shape: its first key and, while it grows, its last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) head: u32,
    tail: u32,
}

/// The keys of all shapes of a document.
#[derive(Debug, Default)]
pub(crate) struct ShapeKeys {
    /// Each key with its quotes and its colon.
    text: Vec<u8>,
    keys: Vec<ShapeKey>,
    /// The bytes that the limit counts: keys as written.
    length: usize,
}

/// A key: its range of the text, and the next key of its shape.
#[derive(Clone, Copy, Debug)]
struct ShapeKey {
    start: usize,
    end: usize,
    next: u32,
}

impl ShapeKeys {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.keys.clear();
        self.length = 0;
    }

    /// Begins a key, whose first byte is at `offset`, of a shape that has `width` keys already. Returns the shape with it.
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

    /// Appends bytes, the first of which is at `offset`, to the key that was begun last.
    pub(crate) fn push(&mut self, bytes: &[u8], offset: u64, limits: &Limits) -> Result<(), Error> {
        let room = self.room(limits);
        if bytes.len() > room {
            return Err(Error::new(ErrorKind::Header, offset + room as u64));
        }
        self.length += bytes.len();
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends a quote that the text leaves out.
    pub(crate) fn quote(&mut self) {
        self.text.push(b'"');
    }

    /// Ends the key that was begun last.
    pub(crate) fn end(&mut self) {
        self.text.push(b':');
        if let Some(key) = self.keys.last_mut() {
            key.end = self.text.len();
        }
    }

    /// Appends the whole of the key that was begun last, as written, and ends it. There must be room for it.
    pub(crate) fn push_whole(&mut self, key: &[u8], bare: bool) {
        self.length += key.len();
        if bare {
            self.quote();
        }
        self.text.extend_from_slice(key);
        if bare {
            self.quote();
        }
        self.end();
    }

    /// Returns how many bytes of keys the limit leaves (STC.md, 20.3).
    pub(crate) fn room(&self, limits: &Limits) -> usize {
        limits.header.saturating_sub(self.length)
    }

    /// Returns the text of all keys, the range of one key with its quotes and colon, and the number of the next.
    #[inline(always)]
    pub(crate) fn get(&self, key: u32) -> (&[u8], usize, usize, u32) {
        let ShapeKey { start, end, next } = self.keys[key as usize];
        (&self.text, start, end, next)
    }
}
