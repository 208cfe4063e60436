//! Writing STC 1 (grammar/STC.md, section 8): one pass from the tape to the output. A document has one text (section 8.1).
//!
//! [`Writer`] scans a batch of the input, lets the [analyzer](state::Analyzer) go as far as that batch allows, and drops
//! the text that is no longer needed. A document without whitespace is read from the caller's bytes; any other goes
//! through the tape's own text. Whole documents and streams use the same steps, so they give the same bytes.
//!
//! In this module a *table* is a columnar value of STC.md, section 6, and a *shape* the keys that its rows share. In STC.md
//! both words are for forms of version 2 (sections 16 and 18).

// The pass: checks the grammar and chooses the form of each array.
mod analyze;
// Members whose values are in brackets, for `members`.
mod arrays;
// What the fast paths share: a position in the input, and room for output.
mod cursor;
mod expansion;
// The fast paths: entry, and what `members`, `rows` and `whole_table` leave.
mod fast_path;
mod members;
// Rows after the first.
mod rows;
// The keys that the rows of a table share.
mod shape;
// The state of the pass.
mod state;
// Arrays of objects, step by step.
mod table;
// Tables that are complete in the text at hand.
mod whole_table;
// The spellings of STC 1.
mod write;

use crate::buffer::{BLOCK, Buffer};
use crate::error::Refused;
use crate::json::diagnose::Resume;
use crate::json::nesting::Nesting;
use crate::json::scan::arch::Kernel;
use crate::json::tape::{Indexed, Tape, trimmed};
use crate::options::Options;
use state::Analyzer;

/// A document of at most this many bytes goes through the tape's own text even if it has no whitespace: that text has
/// padding after it, so that fast paths take the last members too.
const MAX_SMALL: usize = 4 << 10;

/// Writes version 1.
#[derive(Debug)]
pub(crate) struct Writer {
    analyzer: Analyzer,
}

impl Writer {
    pub(crate) fn new(options: &Options) -> Self {
        Self { analyzer: Analyzer::new(options) }
    }

    /// Prepares for a document that will be written after what `out` holds.
    pub(crate) fn begin(&mut self, out: &[u8]) {
        self.analyzer.begin(out);
    }

    /// Encodes a whole document. Output past the limit is refused too.
    #[inline(always)]
    pub(crate) fn encode<K: Kernel>(
        &mut self,
        kernel: K,
        json: &[u8],
        tape: &mut Tape,
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        let json = trimmed(json);
        let max_len = options.limits.output.saturating_add(self.analyzer.stc_start as u64);
        if json.len() <= MAX_SMALL {
            self.encode_squeezed(kernel, json, tape, max_len, out)?;
        } else {
            self.encode_in_place(kernel, json, tape, max_len, out)?;
        }
        if self.analyzer.is_done() && tape.scanner.may_end() { Ok(()) } else { Err(Refused) }
    }

    /// Encodes the input that the tape has taken so far, and drops what is no longer needed.
    pub(crate) fn push<K: Kernel>(&mut self, kernel: K, tape: &mut Tape, out: &mut Buffer<u8>) -> Result<(), Refused> {
        self.advance(kernel, tape, out)?;
        let (bytes, entries) = self.analyzer.first_needed(&tape.index);
        // Moving what is kept costs its length, so it pays only when at least as much can be dropped.
        if bytes > tape.text.len() / 2 || entries > tape.index.len() / 2 {
            tape.forget(bytes, entries);
            self.analyzer.drop_input(bytes, entries);
        }
        Ok(())
    }

    /// Ends a document that came in chunks.
    #[inline(always)]
    pub(crate) fn finish<K: Kernel>(
        &mut self,
        kernel: K,
        tape: &mut Tape,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        tape.end(kernel);
        // The analyzer takes a last string for closed, so the scanner decides first.
        if !tape.scanner.may_end() {
            return Err(Refused);
        }
        self.push(kernel, tape, out)?;
        if self.analyzer.is_done() { Ok(()) } else { Err(Refused) }
    }

    /// Returns how many bytes of the output cannot change any more.
    pub(crate) fn certain_len(&self, out: &[u8]) -> usize {
        self.analyzer.certain_len(out)
    }

    /// Adjusts offsets to an output whose first `bytes` have been dropped. All of them were certain.
    pub(crate) fn drop_output(&mut self, bytes: usize) {
        self.analyzer.drop_output(bytes);
    }

    /// Returns where the slow reader resumes after a refusal: the offset in the text, the open containers, and what must
    /// follow.
    pub(crate) fn resume_point(&self, index: &[u32]) -> (usize, Nesting, Resume) {
        self.analyzer.resume_point(index)
    }

    /// Encodes from the caller's bytes up to the first block with whitespace, and from there through the tape's text.
    fn encode_in_place<K: Kernel>(
        &mut self,
        kernel: K,
        json: &[u8],
        tape: &mut Tape,
        max_len: u64,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        let mut at = 0;
        loop {
            let indexed = tape.index_in_place(kernel, json, &mut at);
            if tape.scanner.is_wrong() {
                return Err(Refused);
            }
            let scanned = &json[..at];
            self.analyzer.advance(kernel, at, scanned, &tape.index, out)?;
            self.analyzer.copy_certain(scanned, &tape.index, out);
            if indexed == Indexed::Ended {
                return Ok(());
            }
            if self.certain_len(out) as u64 > max_len {
                return Err(Refused);
            }
            let (needed, entries) = self.analyzer.first_needed(&tape.index);
            tape.index.drop_front(entries);
            if indexed == Indexed::Stopped {
                tape.hold(&json[needed..at], needed);
                self.analyzer.drop_input(needed, entries);
                return self.encode_squeezed(kernel, &json[at..], tape, max_len, out);
            }
            self.analyzer.drop_input(0, entries);
        }
    }

    /// Encodes through the tape's text.
    fn encode_squeezed<K: Kernel>(
        &mut self,
        kernel: K,
        mut json: &[u8],
        tape: &mut Tape,
        max_len: u64,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        while json.len() >= BLOCK {
            json = tape.take(kernel, json);
            // The caller has the whole document if an error must be found.
            tape.forget_input();
            // A rest shorter than a block is encoded together with what was just scanned.
            if json.len() < BLOCK {
                break;
            }
            self.push(kernel, tape, out)?;
            if self.certain_len(out) as u64 > max_len {
                return Err(Refused);
            }
        }
        tape.end_with(kernel, json);
        self.advance(kernel, tape, out)
    }

    /// Encodes as far as the tape's text allows.
    fn advance<K: Kernel>(&mut self, kernel: K, tape: &mut Tape, out: &mut Buffer<u8>) -> Result<(), Refused> {
        if tape.scanner.is_wrong() {
            return Err(Refused);
        }
        let len = tape.text.len();
        self.analyzer.advance(kernel, len, tape.text.padded(2 * BLOCK), &tape.index, out)?;
        self.analyzer.copy_certain(&tape.text, &tape.index, out);
        Ok(())
    }
}
