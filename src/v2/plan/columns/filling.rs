//! The template of a filled column (STC.md, section 17.11), and what a cell has of a string. A leaf: the plan, the traversal and
//! `explain` share it.

use crate::format::{PLACEHOLDER_CLOSE, PLACEHOLDER_OPEN, QUOTE, continues_bare_string, is_literal, starts_word};
use crate::v2::tree::TextRange;

/// What the strings of a column begin and end with, as ranges of the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    pub(crate) start: (usize, usize),
    pub(crate) end: (usize, usize),
}

impl Filling {
    /// Returns the part of a string, which is a range of the text with its quotes, that is a word in the cell; none if the string
    /// has to be written whole.
    pub(crate) fn word(&self, text: &[u8], string: TextRange) -> Option<(usize, usize)> {
        let (from, to) = (string.start() + 1, string.end() - 1);
        let (start, end) = (&text[self.start.0..self.start.1], &text[self.end.0..self.end.1]);
        let word = text[from..to].strip_prefix(start)?.strip_suffix(end)?;
        let good = starts_word(*word.first()?) && word.iter().all(|&byte| continues_bare_string(byte));
        (good && !is_literal(word)).then(|| (from + start.len(), to - end.len()))
    }
}

/// The string that the ranges were taken from, for what explains them.
impl Filling {
    /// Returns the template, with its quotes.
    pub(crate) fn template(&self, text: &[u8]) -> Vec<u8> {
        let (start, end) = (&text[self.start.0..self.start.1], &text[self.end.0..self.end.1]);
        [&[QUOTE], start, PLACEHOLDER_OPEN, &[PLACEHOLDER_CLOSE], end, &[QUOTE]].concat()
    }

    /// Returns the string, with its quotes.
    pub(crate) fn string<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start.0 - 1..self.end.1 + 1]
    }

    /// Returns the part of it that is in the cell.
    pub(crate) fn cell<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start.1..self.end.0]
    }
}
