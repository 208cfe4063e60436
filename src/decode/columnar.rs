//! Version 1's compact and columnar values, many elements and cells at a time, in input that is clean: a part of the
//! [`sprint`](crate::decode::fast_path), and under its rules.

use crate::buffer::Pen;
use crate::decode::fast_path::{SLACK, SPRINT, key_end, lexeme_end};
use crate::decode::machine::Machine;
use crate::decode::state::State;
use crate::format::{COLON, COUNT_DIGITS, ROW_SEPARATOR};
use crate::json::lexer::Kind;
use crate::json::scan::arch::Kernel;
use crate::json::span::{copy, number_len, text_end};
use crate::options::Limits;

impl Machine {
    /// The count and the header of a columnar value, after its `[`, up to its first cell; false if it is none, or
    /// one for the machine.
    #[inline(always)]
    pub(crate) fn header<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        at: &mut usize,
        offset: u64,
        limits: &Limits,
    ) -> bool {
        let Some((count, close)) = count(bytes, *at) else { return false };
        let open = close + 1;
        if !bytes[close..].starts_with(b"]{") || self.nesting.depth() >= limits.depth {
            return false;
        }
        // Tables of one shape come in numbers: the header before may be this one to the letter.
        let end = if self.header.is(&bytes[open..]) {
            open + self.header.source_len()
        } else {
            match self.new_header(kernel, bytes, open, offset, limits) {
                Some(end) => end,
                None => return false,
            }
        };
        if !bytes[end..].starts_with(COLON) {
            return false;
        }
        self.left = count;
        self.column = 0;
        *at = end + COLON.len();
        true
    }

    /// Reads the header whose brace is at `open`; where it ends.
    fn new_header<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        open: usize,
        offset: u64,
        limits: &Limits,
    ) -> Option<usize> {
        self.header.clear();
        let mut at = open + 1;
        loop {
            let (end, bare) = key_end(kernel, bytes, at)?;
            self.header.begin(offset + at as u64, limits).ok()?;
            self.header.key(&bytes[at..end], bare, offset + at as u64, limits).ok()?;
            at = end + 1;
            match bytes.get(end)? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
        self.header.check_distinct().ok()?;
        self.header.end(&bytes[open..at]);
        Some(at)
    }

    /// Elements of a compact array, one behind the other.
    #[inline(always)]
    pub(crate) fn elements<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        stop: usize,
        at: &mut usize,
        pen: &mut Pen<'_, u8>,
    ) -> State {
        let Some(kind) = Kind::of(bytes[*at]).filter(|&kind| self.kind.is_none_or(|same| same == kind)) else {
            return State::Element;
        };
        match kind {
            Kind::Text => self
                .alike(bytes, stop, at, pen, |at| (bytes[at] == b'"').then(|| text_end(kernel, bytes, at)).flatten()),
            Kind::Number => self.alike(bytes, stop, at, pen, |at| Some(at + number_len(kernel, bytes, at)?)),
            Kind::Boolean => self.alike(bytes, stop, at, pen, |at| {
                matches!(bytes[at], b't' | b'f').then(|| lexeme_end(kernel, bytes, at, kind)).flatten()
            }),
            Kind::Null => State::Element,
        }
    }

    /// Elements that `ends` knows the end of; the first one's kind is that of all.
    #[inline(always)]
    fn alike(
        &mut self,
        bytes: &[u8],
        stop: usize,
        at: &mut usize,
        pen: &mut Pen<'_, u8>,
        ends: impl Fn(usize) -> Option<usize>,
    ) -> State {
        let (mut here, mut left) = (*at, self.left);
        let kind = Kind::of(bytes[here]);
        let state = loop {
            let Some(end) = ends(here) else { break State::Element };
            if end >= stop || end + SPRINT > bytes.len() || end - here + SLACK > pen.left() {
                break State::Element;
            }
            if left == 1 {
                copy(bytes, here, end, pen);
                pen.write(b"]");
                self.nesting.close();
                here = end;
                break State::After;
            }
            if bytes[end] != b',' {
                break State::Element;
            }
            // With its comma.
            copy(bytes, here, end + 1, pen);
            here = end + 1;
            left -= 1;
        };
        if here > *at {
            (*at, self.left, self.kind) = (here, left, kind);
        }
        state
    }

    /// Cells of a columnar value, row by row.
    #[inline(always)]
    pub(crate) fn cells<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        stop: usize,
        at: &mut usize,
        pen: &mut Pen<'_, u8>,
    ) -> State {
        let keys = self.header.rendered();
        let width = self.header.width();
        let mut column = self.column;
        let state = loop {
            let Some(end) = Kind::of(bytes[*at]).and_then(|kind| lexeme_end(kernel, bytes, *at, kind)) else {
                break State::Cell;
            };
            let (from, to) = self.header.span(column);
            if end >= stop || end + SPRINT > bytes.len() || end - *at + to - from + SLACK > pen.left() {
                break State::Cell;
            }
            let more = column + 1 < width;
            let last = !more && self.left == 1;
            let separator = if more { &b","[..] } else { ROW_SEPARATOR };
            if !last && !bytes[end..].starts_with(separator) {
                break State::Cell;
            }
            copy(keys, from, to, pen);
            copy(bytes, *at, end, pen);
            if more {
                column += 1;
                *at = end + 1;
                continue;
            }
            self.left -= 1;
            column = 0;
            if last {
                pen.write(b"}]");
                self.nesting.close();
                *at = end;
                break State::After;
            }
            pen.write(b"},");
            *at = end + ROW_SEPARATOR.len();
        };
        self.column = column;
        state
    }
}

/// May what stands at `end`, behind digits, make them the count of a columnar value?
#[inline(always)]
pub(crate) fn may_head(bytes: &[u8], end: usize) -> bool {
    match bytes.get(end..) {
        Some([b',', ..]) => false,
        Some([b']', next, ..]) => *next == b'{',
        _ => true,
    }
}

/// The count at `at`, and where it ends.
#[inline(always)]
pub(crate) fn count(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let digits = bytes[at..].iter().take(COUNT_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=COUNT_DIGITS).contains(&digits) || bytes[at] == b'0' {
        return None;
    }
    let digits = &bytes[at..at + digits];
    Some((digits.iter().fold(0, |count, digit| count * 10 + u64::from(digit - b'0')), at + digits.len()))
}
