//! The machine: the decoder's state between two bytes, and what its [steps](crate::decode::steps) have in common.
//!
//! It is the whole decoder: fast paths only read common input sooner, and leave it in a state that it could have come to by itself.
//! What it reads it writes at once, except:
//!
//! - a character of several bytes, until its last;
//! - a name, until the byte after it (STC.md, 14.2);
//! - the digits of `[12`, until the byte after `]` tells whether they are a count (7.3);
//! - a header, whose keys, constants and templates are written with every row (6.2, 17);
//! - a row with templates, until it is complete (17.5);
//! - a word that may still be a literal (14.5);
//! - a key of an object of an open list, until it is known whether a constant comes before it (17.10).

use crate::decode::header::Header;
use crate::decode::output::Output;
use crate::decode::state::{LexemeRole, Sigil, State, Step, V2State};
use crate::decode::v2::context::V2Context;
use crate::error::{Error, ErrorKind, Expected};
use crate::format::COUNT_DIGITS;
use crate::json::lexer::{Kind, Lexeme, Sink};
use crate::json::nesting::{Container, Nesting};
use crate::options::Limits;

/// The decoder's state between two bytes.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) state: State,
    /// The open containers.
    pub(crate) nesting: Nesting,
    /// The lexeme that is being read, in [`State::Lexeme`].
    pub(crate) lexeme: Lexeme,
    /// Digits that are or may be a count.
    pub(crate) digits: [u8; COUNT_DIGITS],
    pub(crate) digits_len: usize,
    /// The offset of the first digit.
    pub(crate) digits_at: u64,
    /// The elements or rows still to come.
    pub(crate) left: u64,
    /// The kind of a compact array's elements, once the first is known.
    pub(crate) kind: Option<Kind>,
    /// The header of the columnar value that is being read.
    pub(crate) header: Header,
    /// The cells of its row so far.
    pub(crate) column: usize,
    /// What only version 2 needs.
    pub(crate) v2: V2Context,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            state: State::Value,
            nesting: Nesting::default(),
            lexeme: Lexeme::Literal(b""),
            digits: [0; COUNT_DIGITS],
            digits_len: 0,
            digits_at: 0,
            left: 0,
            kind: None,
            header: Header::default(),
            column: 0,
            v2: V2Context::default(),
        }
    }
}

impl Machine {
    /// Forgets the document, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.state = State::Value;
        self.nesting.clear();
        self.v2.clear();
    }

    /// Ends the document at `offset`, the length of the input; rejects it if it is not complete (STC.md, 9.2).
    pub(crate) fn end(&mut self, offset: u64, limits: &Limits, out: &mut Output<'_>) -> Result<(), Error> {
        match self.state {
            State::V2(V2State::Name(sigil @ (Sigil::Reference | Sigil::Copy))) => {
                self.name_ended(sigil, offset, limits, out)?
            }
            State::Lexeme(role) => {
                self.lexeme.end(offset)?;
                self.lexeme_done(role, offset, out)?;
            }
            State::Closed => self.only_element(offset, out)?,
            _ => {}
        }
        match self.expected() {
            Expected::End => Ok(()),
            // What is open shows that the text was cut (STC.md, 10.4).
            expected => Err(Error::new(ErrorKind::Truncated(expected), offset)),
        }
    }

    /// Begins a lexeme with its first byte, which is read again as part of it.
    pub(crate) fn begin_lexeme(&mut self, role: LexemeRole, first: u8, here: u64) -> Result<Step, Error> {
        self.lexeme = Lexeme::starting(first).ok_or(Error::new(ErrorKind::Syntax(self.expected()), here))?;
        self.state = State::Lexeme(role);
        Ok(Step::Reconsume)
    }

    /// Ends a lexeme or bare key; the byte after it is at `here`.
    pub(crate) fn lexeme_done(&mut self, role: LexemeRole, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        self.state = match role {
            LexemeRole::Value => State::After,
            LexemeRole::Key => {
                self.v2.key_ended(self.nesting.depth());
                State::AfterKey
            }
            LexemeRole::Definition => self.defined(),
            LexemeRole::ColumnKey => {
                self.v2.column_key_ended();
                State::V2(V2State::AfterColumnKey)
            }
            LexemeRole::Template => self.template_done(),
            LexemeRole::RowKey => State::V2(V2State::RowColon),
            LexemeRole::ListedKey => self.listed_key_done(here, out)?,
            LexemeRole::HeaderKey => {
                self.header.end_key();
                State::AfterHeaderKey
            }
            LexemeRole::Element => {
                self.left -= 1;
                if self.left > 0 { State::AfterElement } else { self.close_counted(b"]", here, out)? }
            }
            LexemeRole::Cell => {
                self.column += 1;
                let row_ends = self.column == self.header.width();
                self.left -= u64::from(row_ends);
                match (row_ends, self.left) {
                    (false, _) => State::AfterCell,
                    (true, 0) => self.close_counted(b"}]", here, out)?,
                    (true, _) => {
                        out.write(b"}", here)?;
                        State::AfterCell
                    }
                }
            }
        };
        Ok(())
    }

    /// Closes an array that ends with its count (STC.md, 5.3 and 6.5).
    fn close_counted(&mut self, written: &[u8], here: u64, out: &mut Output<'_>) -> Result<State, Error> {
        out.write(written, here)?;
        self.nesting.close();
        Ok(State::After)
    }

    /// Opens a container, if the limit on depth allows it.
    pub(crate) fn open(
        &mut self,
        container: Container,
        written: &[u8],
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        self.check_depth(1, here, limits)?;
        out.write(written, here)?;
        self.nesting.open(container);
        self.v2.opened(self.nesting.depth());
        Ok(())
    }

    /// Closes the innermost container with its bracket.
    pub(crate) fn close(&mut self, bracket: u8, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let state = self.leave(here, out)?;
        out.write(&[bracket], here)?;
        self.nesting.close();
        self.state = state;
        Ok(())
    }

    /// Ends `[12]`, which is an array; the byte after its bracket is at `here`.
    pub(crate) fn only_element(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        out.copy(&self.digits[..self.digits_len], self.digits_at)?;
        self.close(b']', here - 1, out)
    }

    /// Begins what is or may be a count.
    pub(crate) fn begin_digits(&mut self, first: u8, here: u64) {
        self.digits[0] = first;
        self.digits_len = 1;
        self.digits_at = here;
    }

    /// Adds a digit to it.
    pub(crate) fn push_digit(&mut self, digit: u8) {
        self.digits[self.digits_len] = digit;
        self.digits_len += 1;
    }

    /// Returns the digits as a number, which fits: a count has at most 19.
    pub(crate) fn count(&self) -> u64 {
        self.digits[..self.digits_len].iter().fold(0, |count, digit| count * 10 + u64::from(digit - b'0'))
    }

    /// Returns what may come next, for an error.
    pub(crate) fn expected(&self) -> Expected {
        match self.state {
            State::Value => Expected::Value,
            State::First => Expected::ValueOrClose,
            State::Key { first: true } => Expected::KeyOrClose,
            State::Key { first: false } => Expected::Key,
            State::AfterKey | State::Bare(LexemeRole::Key | LexemeRole::ListedKey) => Expected::ColonOrCount,
            State::Digits | State::AfterDigits => Expected::CommaOrBracket,
            State::Count if self.digits_len == 0 || self.digits_len == COUNT_DIGITS => Expected::Count,
            State::Count | State::AfterCount => Expected::CountClose,
            State::CountClosed | State::CompactColon | State::HeaderColon => Expected::HeaderColon,
            State::Element => Expected::SameKind,
            State::AfterElement => Expected::Comma,
            State::HeaderKey => Expected::Key,
            State::Bare(LexemeRole::ColumnKey) => Expected::ColumnEnd,
            State::Bare(LexemeRole::RowKey) => Expected::Colon,
            State::Bare(LexemeRole::Value) => self.expected_after(),
            State::AfterHeaderKey | State::Bare(_) => Expected::CommaOrHeaderClose,
            State::Cell | State::ColumnarOrTable => Expected::Cell,
            State::V2(two) => self.expected_v2(two),
            State::AfterCell if self.column < self.header.width() => Expected::Comma,
            State::AfterCell => Expected::Slash,
            State::After | State::Closed | State::Lexeme(_) => self.expected_after(),
        }
    }

    /// Returns what may come after a value, for an error.
    fn expected_after(&self) -> Expected {
        self.expected_after_value().unwrap_or(match self.nesting.innermost() {
            Some(Container::Object) => Expected::CommaOrBrace,
            Some(Container::Array) => Expected::CommaOrBracket,
            None => Expected::End,
        })
    }
}
