//! Checks the input for the fast paths, a segment of 32 KB at a time.
//!
//! A fast path copies strings without a look at their bodies, so it must know beforehand that they are UTF-8 and hold no control
//! characters. One pass over a segment, with SIMD, answers both for all of it. TAB, LF and CR are whitespace between tokens and
//! errors in strings, so where they occur the fast paths get one thing more: the position that a token must end before. A stray
//! TAB then costs a step or two, and not the whole segment:
//!
//! ```text
//! input     {"a":"x",<TAB>"b":"y"}
//! position  0       8 9
//! ```
//!
//! Up to the TAB every token must end before position 9, so a string that holds the TAB is not taken; after it, before the end of
//! the segment.

use crate::format::{LINE_FEED, is_white};
use crate::json::scan::arch::Kernel as _;
use crate::json::scan::{Choice, is_utf8, torn_len, with_kernel};

/// The bytes that are checked at once.
const SEGMENT: usize = 32 << 10;

/// A checked part of the input. All positions are those of the input.
#[derive(Default)]
pub(crate) struct Segment {
    /// The position up to which the input is checked.
    pub(crate) end: usize,
    /// The position up to which it is clean: UTF-8 with no control characters but TAB, LF and CR.
    pub(crate) clean: usize,
    /// The position of a TAB, LF or CR; the next one unless the reader is past it. `clean` if there are no more.
    control: usize,
    /// The same for TAB and CR alone.
    tab: usize,
}

impl Segment {
    /// Checks the input from `at` on.
    pub(crate) fn check(kernel: Choice, bytes: &[u8], at: usize) -> Self {
        let end = bytes.len().min(at + SEGMENT);
        let whole = &bytes[at..end - torn_len(&bytes[at..end])];
        let found = Found::among(kernel, whole);
        let good = !found.other && (!found.high || is_utf8(whole));
        let clean = if good { at + whole.len() } else { at };
        // A character that is cut in two begins the next segment.
        let end = if end < bytes.len() && clean > at { clean } else { end };
        let (control, tab) = if found.tab { (at, at) } else { (line_feed_from(&bytes[..clean], at), clean) };
        Self { end, clean, control, tab }
    }

    /// Returns the position that a token at `at` must end before.
    pub(crate) fn token_end(&mut self, bytes: &[u8], at: usize) -> usize {
        if self.control <= at {
            self.control = control_from(&bytes[..self.clean], at);
        }
        self.clean.min(self.control + 1)
    }

    /// Returns the same for a fast path that sees to line feeds by itself.
    pub(crate) fn row_end(&mut self, bytes: &[u8], at: usize) -> usize {
        if self.tab <= at {
            let next = memchr::memchr2(b'\t', b'\r', &bytes[at..self.clean]);
            self.tab = next.map_or(self.clean, |next| at + next);
        }
        self.clean.min(self.tab + 1)
    }
}

/// Returns the position of the first LF from `at` on; the end of the bytes if there is none.
fn line_feed_from(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(LINE_FEED, &bytes[at..]).map_or(bytes.len(), |next| at + next)
}

/// Returns the position of the first TAB, LF or CR from `at` on; the end of the bytes if there is none.
pub(crate) fn control_from(bytes: &[u8], at: usize) -> usize {
    memchr::memchr3(b'\t', LINE_FEED, b'\r', &bytes[at..]).map_or(bytes.len(), |next| at + next)
}

/// What there is among some bytes.
struct Found {
    /// TAB or CR.
    tab: bool,
    /// A control character that is no whitespace: an error wherever it is.
    other: bool,
    /// A byte that is not ASCII.
    high: bool,
}

impl Found {
    fn among(kernel: Choice, bytes: &[u8]) -> Self {
        // Every table of version 2 has line feeds. Few documents have other control characters, and need a second pass.
        let (control, high) = any(kernel, bytes, |byte| byte < 0x20 && byte != LINE_FEED, |byte| byte > 0x7F);
        let (tab, other) = if control {
            any(kernel, bytes, |byte| byte == b'\t' || byte == b'\r', |byte| byte < 0x20 && !is_white(byte))
        } else {
            (false, false)
        };
        Self { tab, other, high }
    }
}

/// Returns whether any byte has the one property, and whether any has the other.
fn any(
    kernel: Choice,
    bytes: &[u8],
    one: impl Fn(u8) -> bool + Copy,
    other: impl Fn(u8) -> bool + Copy,
) -> (bool, bool) {
    with_kernel!(kernel, kernel => kernel.enter(
        #[inline(always)]
        || {
            // A fold instead of a search: it has no early exit, so the compiler makes it SIMD. It does so for two flags, not for four:
            // with those the check took longer than all the rest.
            bytes.iter().fold((false, false), |found, &byte| (found.0 | one(byte), found.1 | other(byte)))
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_end_before_the_next_control_character() {
        let bytes = b"abc\tdef\nghi\rjkl";
        for kernel in Choice::available() {
            let mut segment = Segment::check(kernel, bytes, 0);
            assert_eq!((segment.end, segment.clean), (bytes.len(), bytes.len()));
            let ends: Vec<_> = (0..bytes.len()).map(|at| segment.token_end(bytes, at)).collect();
            assert_eq!(ends, [4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 15, 15, 15]);
            let ends: Vec<_> = (0..bytes.len()).map(|at| segment.row_end(bytes, at)).collect();
            assert_eq!(ends, [4, 4, 4, 4, 12, 12, 12, 12, 12, 12, 12, 12, 15, 15, 15]);
        }
    }

    #[test]
    fn a_segment_is_clean_or_it_is_not() {
        for kernel in Choice::available() {
            for (wrong, good) in
                [(&b"\x00"[..], false), (b"\x1F", false), (b"\xFF", false), (b"\x7F", true), ("é".as_bytes(), true)]
            {
                let mut bytes = vec![b'a'; 200];
                bytes.splice(100..101, wrong.iter().copied());
                let segment = Segment::check(kernel, &bytes, 50);
                let clean = if good { bytes.len() } else { 50 };
                assert_eq!((segment.end, segment.clean), (bytes.len(), clean), "{wrong:?}");
            }
        }
    }

    #[test]
    fn a_character_that_is_cut_in_two_begins_the_next_segment() {
        let mut bytes = vec![b'a'; SEGMENT - 1];
        bytes.extend("é and more".bytes());
        let segment = Segment::check(Choice::best(), &bytes, 0);
        assert_eq!((segment.end, segment.clean), (SEGMENT - 1, SEGMENT - 1));
    }
}
