//! Feeds the machine: many tokens at a time where the input is clean and a fast path knows the state, else byte by byte.

use crate::decode::cursor::{Cursor, LOOKAHEAD};
use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::segment::Segment;
use crate::decode::state::{LexemeRole, State, Step, V2State};
use crate::decode::v2::context::BoundaryKind;
use crate::error::Error;
use crate::format::continues_bare;
use crate::json::lexer::Sink;
use crate::json::scan::{Choice, with_kernel};
use crate::options::Limits;

/// What reads the next bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Path {
    /// The machine, a byte or a lexeme at a time.
    Slow,
    /// The fast path over tokens that both versions have, and over version 1's own.
    Tokens,
    /// The fast path over the columns of a header of version 2.
    Columns,
    /// The fast path over the rows of version 2.
    Rows,
}

impl Machine {
    /// Reads `bytes`, which begin at `offset` in the document, until they end or `out` is full. Returns how many were read.
    pub(crate) fn feed(
        &mut self,
        kernel: Choice,
        bytes: &[u8],
        offset: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<usize, Error> {
        let mut at = 0;
        let mut segment = Segment::default();
        // The position from which a fast path is tried again, and how far that was from where one last took nothing.
        let (mut again, mut distance) = (0, 0);
        while at < bytes.len() && !out.is_full() {
            if at >= segment.end {
                segment = Segment::check(kernel, bytes, at);
            }
            let may_be_fast = at >= again && at < segment.clean;
            let path = if may_be_fast { self.path(bytes[at], out) } else { Path::Slow };
            if path == Path::Slow {
                crate::slow_path::count_slow_step();
                at += self.slow_step(&bytes[at..], offset + at as u64, limits, out)?;
                continue;
            }
            let came = at;
            let clean = segment.clean;
            let end = if path == Path::Rows { segment.row_end(bytes, at) } else { segment.token_end(bytes, at) };
            self.nesting.watch();
            at = with_kernel!(kernel, kernel => {
                let cursor = Cursor { kernel, bytes: &bytes[..clean], at, end, stop: clean, base: offset, limits };
                match path {
                    Path::Rows => self.fast_rows(cursor, out),
                    Path::Columns => self.fast_columns(cursor),
                    _ => self.fast_tokens(cursor, out),
                }
            });
            self.v2.opened(self.nesting.peak());
            // A fast path that takes nothing is tried again after the next byte, then after three more, seven more and so on:
            // what it does not know may be a single byte, or a spacing in which it never takes anything.
            distance = if at == came { LOOKAHEAD.min(2 * distance + 1) } else { 0 };
            // Another fast path may continue at once.
            let other = at > came && at < segment.clean && self.path(bytes[at], out) != path;
            again = if other { at } else { at + distance.max(1) };
        }
        Ok(at)
    }

    /// Returns what reads the next byte.
    #[inline(always)]
    fn path(&self, byte: u8, out: &Output<'_>) -> Path {
        // Of the values in a header only containers are worth a fast path: the others are short.
        if out.in_header() && !matches!(byte, b'{' | b'[') && !self.is_inside_boundary() {
            return Path::Slow;
        }
        match self.state {
            State::V2(V2State::Cell) => Path::Rows,
            // The machine begins a row with templates.
            State::V2(V2State::Row | V2State::RowEnd) if self.v2.schema.has_templates() => Path::Slow,
            State::V2(V2State::Row) if !self.v2.schema.has_open_rows() => Path::Rows,
            State::V2(V2State::Row | V2State::RowEnd) => Path::Tokens,
            State::V2(V2State::ColumnKey | V2State::AfterColumnKey) => Path::Columns,
            State::V2(V2State::AfterOptional | V2State::AfterColumn { .. }) => Path::Columns,
            // A header without keys yet may be a table's.
            State::HeaderKey if self.header.width() == 0 => Path::Columns,
            State::Value | State::V2(V2State::ShapeValue) => Path::Tokens,
            State::First | State::Key { .. } | State::After | State::Element => self.tokens_if_plain(),
            State::Cell | State::HeaderColon => self.tokens_if_plain(),
            _ => Path::Slow,
        }
    }

    /// Returns the fast path over tokens if it knows the innermost container.
    #[inline(always)]
    fn tokens_if_plain(&self) -> Path {
        let known = self.is_inside_boundary() || self.v2.boundary().kind != BoundaryKind::Other;
        if known || self.v2.is_idle() { Path::Tokens } else { Path::Slow }
    }

    /// Returns whether the innermost container is one that version 1 has.
    #[inline(always)]
    fn is_inside_boundary(&self) -> bool {
        self.nesting.depth() > self.v2.boundary().depth
    }

    /// Reads a byte, or as much of a lexeme or bare key as there is, from the beginning of `bytes`; it is at `here` in the
    /// document. Returns how many bytes were read.
    fn slow_step(&mut self, bytes: &[u8], here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<usize, Error> {
        match self.state {
            State::Lexeme(role) => self.lexeme_step(role, bytes, here, limits, out),
            State::Bare(LexemeRole::Value) => self.bare_string_step(bytes, here, out),
            State::Bare(role) => self.bare_key_step(role, bytes, here, limits, out),
            _ => {
                let byte = bytes[0];
                let consumed = self.may_skip(byte) || self.step(byte, here, limits, out)? == Step::Consumed;
                Ok(usize::from(consumed))
            }
        }
    }

    /// Reads the rest of a lexeme, as far as there is input.
    fn lexeme_step(
        &mut self,
        role: LexemeRole,
        bytes: &[u8],
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<usize, Error> {
        let (read, done) = match role {
            LexemeRole::HeaderKey => self.lexeme.feed(bytes, here, &mut self.header.sink(limits))?,
            LexemeRole::Definition | LexemeRole::ColumnKey | LexemeRole::Template => {
                self.v2.feed(&mut self.lexeme, role, bytes, here, limits)?
            }
            LexemeRole::ListedKey => self.lexeme.feed(bytes, here, &mut self.v2.listed_key.sink(out))?,
            // No further than the limit on keys, so that of two errors the first is found.
            LexemeRole::Key => {
                let most = self.v2.key_room(self.nesting.depth(), limits).saturating_add(1);
                self.lexeme.feed(&bytes[..bytes.len().min(most)], here, out)?
            }
            _ => self.lexeme.feed(bytes, here, out)?,
        };
        if role == LexemeRole::Key {
            self.v2.key_bytes(self.nesting.depth(), &bytes[..read], here, limits)?;
        }
        if done {
            self.lexeme_done(role, here + read as u64, out)?;
        }
        Ok(read)
    }

    /// Reads the rest of a bare key, as far as there is input, and writes the quote that ends it.
    fn bare_key_step(
        &mut self,
        role: LexemeRole,
        bytes: &[u8],
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<usize, Error> {
        let read = bytes.iter().take_while(|&&byte| continues_bare(byte)).count();
        let key = &bytes[..read];
        match role {
            LexemeRole::HeaderKey => self.header.sink(limits).copy(key, here)?,
            LexemeRole::ColumnKey => self.v2.column_key(key, here, limits)?,
            LexemeRole::ListedKey => self.v2.listed_key.sink(out).copy(key, here)?,
            _ => out.copy(key, here)?,
        }
        if role == LexemeRole::Key {
            self.v2.key_bytes(self.nesting.depth(), key, here, limits)?;
        }
        if read < bytes.len() {
            let end = here + read as u64;
            match role {
                LexemeRole::HeaderKey => self.header.quote(),
                LexemeRole::ColumnKey => self.v2.column_quote(),
                LexemeRole::ListedKey => self.v2.listed_key.sink(out).copy(b"\"", end)?,
                _ => out.write(b"\"", end)?,
            }
            if role == LexemeRole::Key {
                self.v2.key_quote(self.nesting.depth());
            }
            self.lexeme_done(role, end, out)?;
        }
        Ok(read)
    }
}
