//! The cursor that every fast path of the decoder reads with, and the questions they all ask of the input.
//!
//! A fast path reads clean input: UTF-8 whose only control characters are TAB, LF and CR, checked beforehand by
//! [`Segment`](crate::decode::segment::Segment). Tokens must end before [`Cursor::end`], so none of those is in a string, and the
//! end of a string is its closing quote. A fast path takes whole tokens and stops before anything else, or before a token that
//! does not end in the bytes at hand; the machine then reads that one byte by byte, and alone decides what is an error.

use crate::buffer::{BLOCK, Pen};
use crate::decode::segment::control_from;
use crate::format::{COMMA, COUNT_DIGITS, is_literal, is_white, starts_bare_string};
use crate::json::lexer::Kind;
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::span::{bare_string_len, bytes_at, copy, number_len, text_end};
use crate::options::Limits;

/// The bytes that must follow a token's first byte, so that a kernel can load whole spans there.
pub(crate) const LOOKAHEAD: usize = BLOCK;

/// The room that the output of any token may need besides the token's own length.
pub(crate) const SLACK: usize = 3 * SPAN;

/// A position in clean input. Its fields stay in registers as long as no function gets a reference to it that the compiler does
/// not inline. So its methods, and the closures that take it, are `inline(always)`; other functions get a copy or fields of it.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a, K> {
    pub(crate) kernel: K,
    pub(crate) bytes: &'a [u8],
    /// The position in `bytes` of the next byte to read.
    pub(crate) at: usize,
    /// The position that tokens must end before: after the next TAB, LF or CR, or [`stop`](Self::stop).
    pub(crate) end: usize,
    /// The end of the input. What `bytes` has after it is padding.
    pub(crate) stop: usize,
    /// The offset in the document of the first of `bytes`.
    pub(crate) base: u64,
    pub(crate) limits: &'a Limits,
}

impl<'a, K: Kernel> Cursor<'a, K> {
    /// Returns the offset in the document of the next byte.
    #[inline(always)]
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Returns the next byte. There must be one.
    #[inline(always)]
    pub(crate) fn byte(&self) -> u8 {
        self.bytes[self.at]
    }

    /// Returns the input that tokens may be in.
    #[inline(always)]
    pub(crate) fn within(&self) -> &'a [u8] {
        &self.bytes[..self.end]
    }

    /// Returns whether a kernel can load spans at the next byte.
    #[inline(always)]
    pub(crate) fn has_lookahead(&self) -> bool {
        self.at + LOOKAHEAD <= self.bytes.len()
    }

    /// Returns the position after the whitespace at `at`, if there is any, and the position that a token there must end before.
    /// A line feed and its indentation are one load and four comparisons:
    ///
    /// ```text
    /// block     \n    "id": 1,\n    "name": "x"
    /// white     11111000001000 11111       1
    /// control   10000000000000 10000
    /// skipped   5 bytes, the trailing ones of white; the next control character is 9 bytes on
    /// ```
    #[inline(always)]
    pub(crate) fn skip_white(&self, at: usize) -> (usize, usize) {
        Self { at, ..*self }.white_end()
    }

    /// Does the same at the cursor's own position. In minified text it is not needed, so it is not inlined.
    #[inline(never)]
    fn white_end(self) -> (usize, usize) {
        self.kernel.enter(
            #[inline(always)]
            || {
                let mut at = self.at;
                while let Some(block) = bytes_at::<BLOCK>(self.bytes, at) {
                    let find = |byte| self.kernel.find(block, byte);
                    let control = find(b'\t') | find(b'\n') | find(b'\r');
                    let skipped = (control | find(b' ')).trailing_ones() as usize;
                    at += skipped;
                    if skipped < BLOCK {
                        let next = control >> skipped;
                        let near = at + next.trailing_zeros() as usize + 1;
                        return (at, if next != 0 { near } else { self.token_end(at) });
                    }
                }
                let rest = &self.bytes[at.min(self.stop)..self.stop];
                at += rest.iter().take_while(|&&byte| is_white(byte)).count();
                (at, self.token_end(at))
            },
        )
    }

    /// Returns the position that a token at `at` must end before.
    #[inline(always)]
    pub(crate) fn token_end(&self, at: usize) -> usize {
        // Without this, spaces in a long line would each cost a search for its end.
        if at < self.end {
            return self.end;
        }
        self.stop.min(control_from(&self.bytes[..self.stop], at.min(self.stop)) + 1)
    }

    /// Returns where the scalar at `at` ends; none if there is none, or its end cannot be told here.
    #[inline(always)]
    pub(crate) fn scalar_end(&self, at: usize) -> Option<usize> {
        self.lexeme_end(at, Kind::of(*self.bytes.get(at)?)?)
    }

    /// Returns where the scalar at `at` ends, which directly follows a key, and whether it is a bare string (STC.md, 14.5).
    #[inline(always)]
    pub(crate) fn member_end(&self, at: usize) -> Option<(usize, bool)> {
        match Kind::of(*self.bytes.get(at)?) {
            Some(kind @ (Kind::Text | Kind::Number)) => Some((self.lexeme_end(at, kind)?, false)),
            _ => self.word_end(at),
        }
    }

    /// Returns where the word at `at` ends, and whether it is a bare string: else it is a literal.
    #[inline(always)]
    pub(crate) fn word_end(&self, at: usize) -> Option<(usize, bool)> {
        let end = at + bare_string_len(self.kernel, self.bytes, at)?;
        let good = starts_bare_string(self.bytes[at]) && end < self.end;
        good.then(|| (end, !is_literal(&self.bytes[at..end])))
    }

    /// Returns where the word ends that is at `at` in the cell of a filled column (STC.md, 17.11).
    #[inline(always)]
    pub(crate) fn filled_word_end(&self, at: usize) -> Option<usize> {
        let end = at + bare_string_len(self.kernel, self.bytes, at)?;
        (end < self.end).then_some(end)
    }

    /// Returns where the lexeme at `at` ends, if it is of this kind.
    #[inline(always)]
    pub(crate) fn lexeme_end(&self, at: usize, kind: Kind) -> Option<usize> {
        match kind {
            Kind::Text => self.text_end(at),
            Kind::Number => self.number_end(at),
            Kind::Boolean => self.boolean_end(at),
            Kind::Null => self.literal_end(at, b"null"),
        }
    }

    /// Returns where the string ends whose opening quote is at `at`.
    #[inline(always)]
    pub(crate) fn text_end(&self, at: usize) -> Option<usize> {
        let end = text_end(self.kernel, self.bytes, at)?;
        (end < self.end).then_some(end)
    }

    /// Returns where the number at `at` ends.
    #[inline(always)]
    pub(crate) fn number_end(&self, at: usize) -> Option<usize> {
        let end = at + number_len(self.kernel, self.bytes, at)?;
        (end < self.end).then_some(end)
    }

    /// Returns where the `true` or `false` at `at` ends.
    #[inline(always)]
    pub(crate) fn boolean_end(&self, at: usize) -> Option<usize> {
        if self.bytes[at] == b't' { self.literal_end(at, b"true") } else { self.literal_end(at, b"false") }
    }

    /// Returns where the literal at `at` ends, if it is this word.
    #[inline(always)]
    fn literal_end<const N: usize>(&self, at: usize, word: &[u8; N]) -> Option<usize> {
        (bytes_at(self.bytes, at) == Some(word) && at + N < self.end).then_some(at + N)
    }

    /// Returns where the key at `at` ends, and whether it is bare (STC.md, 4.1).
    #[inline(always)]
    pub(crate) fn key_end(&self, at: usize) -> Option<(usize, bool)> {
        let body: &[u8; SPAN] = self.bytes.get(at..)?.first_chunk()?;
        if body[0] == b'"' {
            return Some((self.text_end(at)?, false));
        }
        let mut length = self.kernel.identifier_len(body);
        // Few keys are longer than a span, but byte by byte they took ten times as long.
        let mut further = length;
        while further == SPAN {
            further = self.kernel.identifier_len(self.bytes.get(at + length..)?.first_chunk()?);
            length += further;
        }
        (length > 0 && !body[0].is_ascii_digit() && at + length < self.end).then_some((at + length, true))
    }

    /// Returns the count at `at`, and where it ends (STC.md, 7.1).
    #[inline(always)]
    pub(crate) fn count(&self, at: usize) -> Option<(u64, usize)> {
        let rest = &self.bytes[at..];
        let length = rest.iter().take(COUNT_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=COUNT_DIGITS).contains(&length) || rest[0] == b'0' {
            return None;
        }
        Some((rest[..length].iter().fold(0, |count, digit| count * 10 + u64::from(digit - b'0')), at + length))
    }

    /// Reads further elements of an array, each with the comma before it, as long as they are scalars.
    #[inline(always)]
    pub(crate) fn further_elements(&mut self, skips: bool, pen: &mut Pen<'_, u8>) {
        while self.at + LOOKAHEAD < self.bytes.len() && self.byte() == COMMA {
            let at = self.at;
            let mut next = Self { at: at + 1, ..*self };
            let white = next.byte() <= b' ' && skips;
            if white {
                (next.at, next.end) = next.skip_white(next.at);
            }
            let Some(end) = next.scalar_end(next.at) else { break };
            if end - at + SLACK > pen.left() {
                break;
            }
            if white {
                pen.write(b",");
                next.copy(next.at, end, pen);
            } else {
                next.copy(at, end, pen);
            }
            (self.at, self.end) = (end, next.end);
        }
    }

    /// Appends the input between two positions.
    #[inline(always)]
    pub(crate) fn copy(&self, from: usize, to: usize, pen: &mut Pen<'_, u8>) {
        copy(self.bytes, from, to, pen);
    }

    /// Appends the scalar between two positions, in quotes if it is bare.
    #[inline(always)]
    pub(crate) fn copy_scalar(&self, from: usize, to: usize, bare: bool, pen: &mut Pen<'_, u8>) {
        if !bare {
            return self.copy(from, to, pen);
        }
        pen.write(b"\"");
        self.copy(from, to, pen);
        pen.write(b"\"");
    }

    /// Appends the key between two positions, in quotes, with its colon.
    #[inline(always)]
    pub(crate) fn copy_key(&self, from: usize, to: usize, bare: bool, pen: &mut Pen<'_, u8>) {
        if let Some(body) = self.bytes[from..].first_chunk::<SPAN>()
            && bare
            && to - from < SPAN
        {
            return write_short_key(body, to - from, pen);
        }
        let quote = if bare { &b"\""[..] } else { b"" };
        pen.write(quote);
        self.copy(from, to, pen);
        pen.write(quote);
        pen.write(b":");
    }
}

/// Appends a bare key shorter than a span, in quotes, with its colon: in one wide store.
#[inline(always)]
fn write_short_key(body: &[u8; SPAN], length: usize, pen: &mut Pen<'_, u8>) {
    let room = pen.chunk::<{ SPAN + SPAN }>();
    room[0] = b'"';
    room[1..1 + SPAN].copy_from_slice(body);
    room[1 + length..3 + length].copy_from_slice(b"\":");
    pen.keep(length + 3);
}
