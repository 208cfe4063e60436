//! A columnar header: the keys that every row is given back.

use crate::error::{Error, ErrorKind};
use crate::json::duplicate_keys::DuplicateKeys;
use crate::json::lexer::Sink;
use crate::json::scan::arch::SPAN;
use crate::options::Limits;

/// The keys of the columnar value being read, each as a row needs it: `{"first":` and then `,"second":`.
#[derive(Debug, Default)]
pub(crate) struct Header {
    rendered: Vec<u8>,
    columns: Vec<Column>,
    /// Bytes of the keys as the header has them.
    length: usize,
    /// Its text, if it came in one piece.
    source: Vec<u8>,
    duplicates: DuplicateKeys,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    /// Where it ends in `rendered`; it begins where the one before ends.
    end: usize,
    /// Where its key begins in the input.
    offset: u64,
}

impl Header {
    pub(crate) fn clear(&mut self) {
        self.rendered.clear();
        self.source.clear();
        self.columns.clear();
        self.length = 0;
    }

    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// What a row has before the value in `column`.
    pub(crate) fn before(&self, column: usize) -> &[u8] {
        let (start, end) = self.span(column);
        &self.rendered[start..end]
    }

    /// Where the key of `column` begins in the input.
    pub(crate) fn offset(&self, column: usize) -> u64 {
        self.columns[column].offset
    }

    /// Bytes of all keys as the header has them.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Where that is in [`rendered`](Self::rendered).
    #[inline(always)]
    pub(crate) fn span(&self, column: usize) -> (usize, usize) {
        (column.checked_sub(1).map_or(0, |left| self.columns[left].end), self.columns[column].end)
    }

    /// All keys, one behind the other, and some more, so that each can be loaded in one piece.
    #[inline(always)]
    pub(crate) fn rendered(&self) -> &[u8] {
        &self.rendered
    }

    /// The header is complete. `source` is its text from brace to brace, if somebody has it in one piece.
    pub(crate) fn end(&mut self, source: &[u8]) {
        self.rendered.extend_from_slice(&[0; SPAN]);
        self.source.extend_from_slice(source);
    }

    /// Does `text` begin with this very header?
    #[inline(always)]
    pub(crate) fn is(&self, text: &[u8]) -> bool {
        !self.source.is_empty() && text.starts_with(&self.source)
    }

    #[inline(always)]
    pub(crate) fn source_len(&self) -> usize {
        self.source.len()
    }

    /// Whether a further key of `length` bytes is within the limits.
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
        self.columns.push(Column { end: self.rendered.len(), offset });
    }

    /// A key begins at `offset`.
    pub(crate) fn begin(&mut self, offset: u64, limits: &Limits) -> Result<(), Error> {
        if self.columns.len() == limits.columns {
            return Err(Error::new(ErrorKind::Columns, offset));
        }
        let first = self.columns.is_empty();
        self.rendered.push(if first { b'{' } else { b',' });
        self.columns.push(Column { end: 0, offset });
        Ok(())
    }

    /// A quote that the header leaves out.
    pub(crate) fn quote(&mut self) {
        self.rendered.push(b'"');
    }

    /// The key is complete.
    pub(crate) fn finish(&mut self) {
        self.rendered.push(b':');
        if let Some(column) = self.columns.last_mut() {
            column.end = self.rendered.len();
        }
    }

    /// Where the sink for a quoted key's bytes, or a bare one's, checks the limit.
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
