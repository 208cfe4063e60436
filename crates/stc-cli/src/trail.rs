//! The most recent bytes of a stream, with the line and column where they begin.
//!
//! An error in a stream is an offset into bytes that are mostly no longer in memory. Line feeds and characters are counted
//! as bytes are dropped from the front, so that line and column stay exact in constant memory.

use std::io::{self, Read, Write};

/// Bytes that are kept at least. An error may point to the start of a columnar header (256 KiB by default).
const KEPT_BYTES: usize = 512 << 10;

/// Bytes that are read after a place to show what follows: more than a terminal's line.
const AHEAD: u64 = 4 << 10;

/// A place in a text, and the known part of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// Counts from 1.
    pub(crate) line: u64,
    /// Counts from 1, in characters.
    pub(crate) column: u64,
    /// The line before the place; its beginning may be missing.
    pub(crate) before: &'a [u8],
    /// The line from the place on; its end may be missing.
    pub(crate) after: &'a [u8],
}

impl<'a> Place<'a> {
    /// Returns the place `offset` bytes into `text`, or its end if it is shorter.
    pub(crate) fn within(text: &'a [u8], offset: u64) -> Self {
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
        Start { line: 1, column: 1 }.place(text, at)
    }
}

/// The line and column of the first byte of a text.
#[derive(Clone, Copy, Debug)]
struct Start {
    line: u64,
    column: u64,
}

impl Start {
    fn place(self, text: &[u8], at: usize) -> Place<'_> {
        let Self { line, column } = self.after(&text[..at]);
        let from = memchr::memrchr(b'\n', &text[..at]).map_or(0, |feed| feed + 1);
        let to = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |feed| at + feed);
        Place { line, column, before: &text[from..at], after: &text[at..to] }
    }

    /// Returns the line and column after `text`.
    fn after(self, text: &[u8]) -> Self {
        let feeds = memchr::memchr_iter(b'\n', text).count() as u64;
        let (column, rest) = match memchr::memrchr(b'\n', text) {
            Some(feed) => (1, &text[feed + 1..]),
            None => (self.column, text),
        };
        // Continuation bytes of UTF-8 do not start a character.
        let characters = rest.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64;
        Self { line: self.line + feeds, column: column + characters }
    }
}

/// The most recent bytes of a stream.
#[derive(Debug)]
pub(crate) struct Trail {
    bytes: Vec<u8>,
    /// Bytes of the stream before `bytes`.
    offset: u64,
    start: Start,
    /// Never cut inside a line: an error may be at the first byte of a long line.
    whole_lines: bool,
    /// The length at which the front is dropped next.
    cut_at: usize,
}

impl Trail {
    pub(crate) fn new(whole_lines: bool) -> Self {
        let start = Start { line: 1, column: 1 };
        Self { bytes: Vec::new(), offset: 0, start, whole_lines, cut_at: 2 * KEPT_BYTES }
    }

    /// Reads a stream from its start and keeps the bytes around an offset.
    pub(crate) fn around(offset: u64, stream: impl Read) -> io::Result<Self> {
        let mut trail = Self::new(false);
        io::copy(&mut stream.take(offset.saturating_add(AHEAD)), &mut trail)?;
        Ok(trail)
    }

    /// Records the next bytes of the stream.
    pub(crate) fn record(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= self.cut_at {
            self.cut();
        }
    }

    /// Returns the place at an offset of the stream, unless it has been dropped.
    pub(crate) fn place(&self, offset: u64) -> Option<Place<'_>> {
        let at = usize::try_from(offset.checked_sub(self.offset)?).ok()?.min(self.bytes.len());
        Some(self.start.place(&self.bytes, at))
    }

    /// Returns the line of the first kept byte: a dropped place is on it or before it.
    pub(crate) fn first_line(&self) -> u64 {
        self.start.line
    }

    fn cut(&mut self) {
        let mut end = self.bytes.len() - KEPT_BYTES;
        if self.whole_lines {
            end = memchr::memrchr(b'\n', &self.bytes[..end]).map_or(0, |feed| feed + 1);
        }
        self.start = self.start.after(&self.bytes[..end]);
        self.offset += end as u64;
        self.bytes.drain(..end);
        // Twice the rest, so that a line of a gigabyte is searched and moved a few times, not at every chunk.
        self.cut_at = 2 * self.bytes.len().max(KEPT_BYTES);
    }
}

impl Write for Trail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.record(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_does_not_depend_on_dropped_bytes() {
        let text: Vec<u8> = (0..200_000).flat_map(|n| format!("{n}é\n").into_bytes()).collect();
        let mut trail = Trail::new(false);
        text.chunks(7919).for_each(|chunk| trail.record(chunk));
        assert!(trail.bytes.len() <= 2 * KEPT_BYTES + 7919);
        for offset in [text.len(), text.len() - 1, text.len() - 12, text.len() - 70_001] {
            let (kept, whole) = (trail.place(offset as u64).unwrap(), Place::within(&text, offset as u64));
            assert_eq!(kept, whole);
        }
        assert_eq!(trail.place(5), None);
        for offset in [0, 5, text.len() / 2, text.len()] {
            let trail = Trail::around(offset as u64, &text[..]).unwrap();
            assert!(trail.bytes.len() <= 4 * KEPT_BYTES);
            assert_eq!(trail.place(offset as u64).unwrap(), Place::within(&text, offset as u64));
        }
    }

    #[test]
    fn a_very_long_line_has_columns() {
        let text = "é".repeat(1 << 20);
        let mut trail = Trail::new(false);
        text.as_bytes().chunks(10_000).for_each(|chunk| trail.record(chunk));
        let place = trail.place(text.len() as u64).unwrap();
        assert_eq!((place.line, place.column), (1, (1 << 20) + 1));
    }

    #[test]
    fn lines_stay_whole() {
        let text = format!("1\n{}", "x".repeat(2 << 20));
        let mut trail = Trail::new(true);
        text.as_bytes().chunks(10_000).for_each(|chunk| trail.record(chunk));
        let place = trail.place(2).unwrap();
        assert_eq!((place.line, place.column, place.after.len()), (2, 1, 2 << 20));
    }
}
