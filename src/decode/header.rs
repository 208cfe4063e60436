//! The header of a columnar value (STC.md, 6.2): the keys that every row gets back.
//!
//! Each key is kept as a row needs it, `{"first":` or `,"second":`, one after the other. So what a row has before a cell is one copy.

use crate::buffer::BLOCK;
use crate::error::{Error, ErrorKind};
use crate::json::duplicate_keys::DuplicateKeys;
use crate::json::lexer::Sink;
use crate::options::Limits;

/// The keys of the columnar value that is being read.
#[derive(Debug, Default)]
pub(crate) struct Header {
    /// The keys as rows need them, and padding after them once the header is complete.
    rendered: Vec<u8>,
    columns: Vec<HeaderColumn>,
    /// The bytes of the keys as the header writes them, for the limit (STC.md, 10.3).
    length: usize,
    /// The header's text from brace to brace, if a fast path read it at once.
    source: Vec<u8>,
    duplicates: DuplicateKeys,
}

/// A column of a header.
#[derive(Clone, Copy, Debug)]
struct HeaderColumn {
    /// Where its key ends in `rendered`; it begins where the one before ends.
    end: usize,
    /// The offset of its key in the document.
    offset: u64,
}

impl Header {
    /// Forgets the keys, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.rendered.clear();
        self.source.clear();
        self.columns.clear();
        self.length = 0;
    }

    /// Returns the number of columns.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns what a row has before the cell of `column`.
    pub(crate) fn before(&self, column: usize) -> &[u8] {
        let (start, end) = self.span(column);
        &self.rendered[start..end]
    }

    /// Returns the offset in the document of a column's key.
    pub(crate) fn offset(&self, column: usize) -> u64 {
        self.columns[column].offset
    }

    /// Returns the bytes of all keys as the header writes them.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Returns where [`before`](Self::before) is in [`rendered`](Self::rendered).
    #[inline(always)]
    pub(crate) fn span(&self, column: usize) -> (usize, usize) {
        (column.checked_sub(1).map_or(0, |left| self.columns[left].end), self.columns[column].end)
    }

    /// Returns all keys as rows need them, and padding, so that a block can be copied from each.
    #[inline(always)]
    pub(crate) fn rendered(&self) -> &[u8] {
        &self.rendered
    }

    /// Ends the header. `source` is its text from brace to brace, or empty if the caller does not have it at once.
    pub(crate) fn end(&mut self, source: &[u8]) {
        self.rendered.extend_from_slice(&[0; BLOCK]);
        self.source.extend_from_slice(source);
    }

    /// Returns whether `text` begins with the text of this header.
    #[inline(always)]
    pub(crate) fn is(&self, text: &[u8]) -> bool {
        !self.source.is_empty() && text.starts_with(&self.source)
    }

    /// Returns the length of this header's text.
    #[inline(always)]
    pub(crate) fn source_len(&self) -> usize {
        self.source.len()
    }

    /// Returns whether a further key of `length` bytes is within the limits.
    #[inline(always)]
    pub(crate) fn has_room(&self, length: usize, limits: &Limits) -> bool {
        self.columns.len() < limits.columns && length <= limits.header.saturating_sub(self.length)
    }

    /// Adds a whole key, bare or in quotes, at `offset` in the input. There must be [room](Self::has_room) for it.
    #[inline(always)]
    pub(crate) fn add_key(&mut self, key: &[u8], bare: bool, offset: u64) {
        let separator = if self.columns.is_empty() { b'{' } else { b',' };
        self.rendered.reserve(key.len() + 4);
        self.rendered.push(separator);
        if bare {
            self.rendered.push(b'"');
        }
        self.rendered.extend_from_slice(key);
        self.rendered.extend_from_slice(if bare { b"\":" } else { b":" });
        self.length += key.len();
        self.columns.push(HeaderColumn { end: self.rendered.len(), offset });
    }

    /// Begins a key, at `offset` in the document.
    pub(crate) fn begin_key(&mut self, offset: u64, limits: &Limits) -> Result<(), Error> {
        if self.columns.len() == limits.columns {
            return Err(Error::new(ErrorKind::Columns, offset));
        }
        let first = self.columns.is_empty();
        self.rendered.push(if first { b'{' } else { b',' });
        self.columns.push(HeaderColumn { end: 0, offset });
        Ok(())
    }

    /// Adds a quote that a bare key leaves out.
    pub(crate) fn quote(&mut self) {
        self.rendered.push(b'"');
    }

    /// Ends a key.
    pub(crate) fn end_key(&mut self) {
        self.rendered.push(b':');
        if let Some(column) = self.columns.last_mut() {
            column.end = self.rendered.len();
        }
    }

    /// Returns where the bytes of a key go, which checks the limit on a header's length.
    pub(crate) fn sink<'a>(&'a mut self, limits: &'a Limits) -> impl Sink + 'a {
        HeaderSink { header: self, limit: limits.header }
    }

    /// Rejects a key that occurs twice.
    pub(crate) fn check_distinct(&mut self) -> Result<(), Error> {
        let mut duplicates = std::mem::take(&mut self.duplicates);
        // Without the brace or comma before it.
        let duplicate = duplicates.find_first(self.columns.len(), |column| &self.before(column)[1..]);
        self.duplicates = duplicates;
        match duplicate {
            None => Ok(()),
            Some(column) => Err(Error::new(ErrorKind::DuplicateColumn, self.columns[column].offset)),
        }
    }
}

/// Appends to a header's last key.
struct HeaderSink<'a> {
    header: &'a mut Header,
    limit: usize,
}

impl Sink for HeaderSink<'_> {
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let room = self.limit.saturating_sub(self.header.length);
        if bytes.len() > room {
            return Err(Error::new(ErrorKind::Header, offset + room as u64));
        }
        self.header.length += bytes.len();
        self.header.rendered.extend_from_slice(bytes);
        Ok(())
    }
}
