//! The state of the pass over one document: where it is, what it holds back, what the next byte must be.
//!
//! The steps are in [`analyze`](super::analyze), those of tables in [`table`](super::table), and the fast paths beside
//! them in [`fast_path`](super::fast_path).

use super::expansion::Expansion;
use super::shape::Shape;
use crate::error::Refused;
use crate::json::diagnose::Resume;
use crate::json::lexer::Kind;
use crate::json::nesting::Nesting;
use crate::options::{Limits, Options};

/// The result of a step.
pub(super) type Stepped = Result<Flow, Refused>;

/// Whether a step could be taken with the entries at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// The step was taken.
    Onward,
    /// The step needs an entry that has not been scanned yet.
    Starved,
}

/// What is at the cursor. Everything before it has been checked, up to and including the comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The document: nothing has been read.
    Start,
    /// A value.
    Value,
    /// A key, after a comma unless it is the object's first.
    Key { first: bool },
    /// The bracket that closes the innermost container.
    Close,
    /// An element of an array that may become compact.
    Element,
    /// A part of an array that may become columnar.
    Table(TableStep),
    /// The end of the text.
    End,
}

/// What of a table is at the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableStep {
    /// A key of the first row.
    FirstRow,
    /// The `{` of a further row.
    RowOpen,
    /// A key of a further row.
    Cell,
    /// The `}` of a row.
    RowClose,
}

/// The array that may become compact, while [`Next::Element`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Compact {
    /// Its `[` in the text.
    pub(super) open: usize,
    /// The kind of all elements so far.
    pub(super) kind: Kind,
    /// The number of elements so far.
    pub(super) count: u64,
}

/// The array that may become columnar, while [`Next::Table`].
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Its `[` in the text.
    pub(super) open: usize,
    /// Its `[` in the index.
    pub(super) cursor: usize,
    /// Where it begins in the output.
    pub(super) mark: usize,
    /// Where the row before the current one ends in the output, from the second row on.
    pub(super) row_mark: usize,
    /// The number of rows so far.
    pub(super) rows: u64,
    /// The next column of the current row.
    pub(super) column: usize,
    /// Bytes of the header's keys as they will be written.
    pub(super) header: usize,
    pub(super) shape: Shape,
}

/// The pass over one document, and the memory it keeps for the next.
#[derive(Debug)]
pub(super) struct Analyzer {
    pub(super) limits: Limits,
    /// An array longer than this is written plain.
    pub(super) window: usize,
    pub(super) nesting: Nesting,
    pub(super) next: Next,
    /// The index entry to look at next.
    pub(super) cursor: usize,
    /// Where the text begins that will be copied unchanged.
    pub(super) from: usize,
    pub(super) compact: Compact,
    pub(super) table: Table,
    /// Bytes of the document that were dropped before the text, and bytes of its STC that were dropped before the output.
    pub(super) text_before: u64,
    pub(super) stc_before: u64,
    /// Where in the output the document begins.
    pub(super) stc_start: usize,
}

impl Analyzer {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            limits: options.limits,
            // Offsets have 32 bits: no array is held that could exceed them.
            window: options.window.unwrap_or(usize::MAX).min(1 << 31),
            nesting: Nesting::default(),
            next: Next::Start,
            cursor: 0,
            from: 0,
            compact: Compact { open: 0, kind: Kind::Null, count: 0 },
            table: Table::default(),
            text_before: 0,
            stc_before: 0,
            stc_start: 0,
        }
    }

    /// Prepares for a document that will be written after what `out` holds. The memory is kept.
    pub(super) fn begin(&mut self, out: &[u8]) {
        self.text_before = 0;
        self.stc_before = 0;
        self.stc_start = out.len();
        self.nesting.clear();
        self.next = Next::Start;
        self.cursor = 0;
        self.from = 0;
    }

    /// Returns whether the document is complete.
    pub(super) fn is_done(&self) -> bool {
        self.next == Next::End
    }

    /// Returns the first byte of the text and the first entry that are still needed, after
    /// [`copy_certain`](Self::copy_certain).
    pub(super) fn first_needed(&self, index: &[u32]) -> (usize, usize) {
        match self.next {
            Next::Element => (self.compact.open, self.cursor),
            Next::Table(_) => (self.table.open, self.table.cursor),
            // After a compact or columnar array, `from` is past its bracket, where the cursor still is.
            _ => (index.get(self.cursor).map_or(self.from, |&entry| self.from.min(entry as usize)), self.cursor),
        }
    }

    /// Adjusts offsets after the first `bytes` of the text and the first `entries` of the index were dropped.
    pub(super) fn drop_input(&mut self, bytes: usize, entries: usize) {
        self.cursor -= entries;
        self.text_before += bytes as u64;
        match self.next {
            Next::Element => self.compact.open -= bytes,
            Next::Table(_) => {
                self.table.open -= bytes;
                self.table.cursor -= entries;
            }
            _ => self.from -= bytes,
        }
    }

    /// Returns how many bytes of the output cannot change any more.
    pub(super) fn certain_len(&self, out: &[u8]) -> usize {
        match self.next {
            Next::Table(_) => self.table.mark,
            _ => out.len(),
        }
    }

    /// Adjusts offsets to an output whose first `bytes` have been dropped. All of them were certain.
    pub(super) fn drop_output(&mut self, bytes: usize) {
        self.stc_before += bytes as u64;
        if let Next::Table(_) = self.next {
            self.table.mark -= bytes;
            self.table.row_mark = self.table.row_mark.saturating_sub(bytes);
        }
    }

    /// Returns whether the document's JSON may reach `end` when its STC reaches `written`.
    #[inline(always)]
    pub(super) fn may_expand(&self, end: usize, written: usize) -> bool {
        end as u64 <= self.expansion(written).reach(0)
    }

    /// Returns the limit on expansion for room that ends at `end` of the output.
    #[inline(always)]
    pub(super) fn expansion(&self, end: usize) -> Expansion {
        let stc = self.stc_before + (end - self.stc_start) as u64;
        Expansion { ratio: self.limits.ratio, json: self.text_before, stc }
    }

    /// Returns how far the text has been accepted, the containers open there and what must follow, for the slow reader to
    /// resume from.
    pub(super) fn resume_point(&self, index: &[u32]) -> (usize, Nesting, Resume) {
        let mut nesting = self.nesting.clone();
        let resume = match self.next {
            // The array has been opened, but its form is not decided: resume from its bracket.
            Next::Element | Next::Table(_) => {
                nesting.close();
                return (self.first_needed(index).0, nesting, Resume::Value);
            }
            Next::Start => return (0, nesting, Resume::Value),
            Next::Value => Resume::Value,
            Next::Key { first: true } => Resume::KeyOrClose,
            Next::Key { first: false } => Resume::Key,
            Next::Close | Next::End => Resume::After,
        };
        (index[self.cursor] as usize, nesting, resume)
    }
}
