//! The slow reader of JSON: finds where and why a text is refused (grammar/STC.md, sections 9.1 and 9.2).
//!
//! The fast pass only refuses. This state machine then reads the same bytes one at a time, holds nothing but the open
//! containers, and returns the first byte at which the text is no longer the beginning of a JSON text; a byte order mark is
//! none (section 8.8). It can resume in the middle, at any byte where the fast pass knows what must follow.

use crate::error::{Error, ErrorKind, Expected};
use crate::format::is_white;
use crate::json::lexer::{Discard, Lexeme};
use crate::json::nesting::{Container, Nesting};

/// A strict reader of RFC 8259 that takes its input in chunks.
pub(crate) struct Checker {
    nesting: Nesting,
    depth: usize,
    state: State,
    /// The lexeme being read, in [`State::Lexeme`].
    lexeme: Lexeme,
}

/// What must follow where a reader resumes in the middle of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    Value,
    /// A key, after a comma.
    Key,
    /// A key or `}`, right after `{`.
    KeyOrClose,
    /// What follows a value: a comma, a closing bracket or the end.
    After,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    Colon,
    /// After a value, or at the end.
    After,
    Lexeme {
        key: bool,
    },
}

impl Checker {
    /// Creates a reader for a document from its beginning, with at most `depth` containers open.
    pub(crate) fn new(depth: usize) -> Self {
        Self::resume(Nesting::default(), Resume::Value, depth)
    }

    /// Creates a reader that resumes where the fast pass stopped.
    pub(crate) fn resume(nesting: Nesting, at: Resume, depth: usize) -> Self {
        let state = match at {
            Resume::Value => State::Value,
            Resume::Key => State::Key,
            Resume::KeyOrClose => State::KeyOrClose,
            Resume::After => State::After,
        };
        Self { nesting, depth, state, lexeme: Lexeme::Literal(b"") }
    }

    /// Reads the next bytes, which are at `offset`.
    pub(crate) fn feed(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let mut at = 0;
        while at < bytes.len() {
            if let State::Lexeme { key } = self.state {
                let (taken, done) = self.lexeme.feed(&bytes[at..], offset + at as u64, &mut Discard)?;
                at += taken;
                if done {
                    self.state = if key { State::Colon } else { State::After };
                }
            } else {
                let byte = bytes[at];
                if !is_white(byte) && !self.structure(byte, offset + at as u64)? {
                    continue;
                }
                at += 1;
            }
        }
        Ok(())
    }

    /// Ends the input at `offset`.
    pub(crate) fn end(&self, offset: u64) -> Result<(), Error> {
        if let State::Lexeme { key } = self.state {
            self.lexeme.end(offset)?;
            if !key && self.nesting.depth() == 0 {
                return Ok(());
            }
        }
        match self.expected() {
            Expected::End => Ok(()),
            expected => Err(Error::new(ErrorKind::Truncated(expected), offset)),
        }
    }

    /// Takes a byte between lexemes. Returns false if it begins a lexeme, which is then read from this byte on.
    fn structure(&mut self, byte: u8, offset: u64) -> Result<bool, Error> {
        match (self.state, byte) {
            (State::Value | State::ValueOrClose, b'{') => self.open(Container::Object, offset)?,
            (State::Value | State::ValueOrClose, b'[') => self.open(Container::Array, offset)?,
            (State::ValueOrClose, b']') | (State::KeyOrClose, b'}') => self.close(),
            (State::Colon, b':') => self.state = State::Value,
            (State::Key | State::KeyOrClose, b'"') => return Ok(self.begin(byte, true)),
            (State::Value | State::ValueOrClose, _) if Lexeme::starting(byte).is_some() => {
                return Ok(self.begin(byte, false));
            }
            (State::After, _) => match (self.nesting.innermost(), byte) {
                (Some(Container::Object), b'}') | (Some(Container::Array), b']') => self.close(),
                (Some(Container::Object), b',') => self.state = State::Key,
                (Some(Container::Array), b',') => self.state = State::Value,
                _ => return Err(Error::new(ErrorKind::Syntax(self.expected()), offset)),
            },
            _ => return Err(Error::new(ErrorKind::Syntax(self.expected()), offset)),
        }
        Ok(true)
    }

    /// Begins a lexeme. Returns false, as [`structure`](Self::structure) does then.
    fn begin(&mut self, first: u8, key: bool) -> bool {
        if let Some(lexeme) = Lexeme::starting(first) {
            self.lexeme = lexeme;
            self.state = State::Lexeme { key };
        }
        false
    }

    fn open(&mut self, container: Container, offset: u64) -> Result<(), Error> {
        if self.nesting.depth() == self.depth {
            return Err(Error::new(ErrorKind::Depth, offset));
        }
        self.nesting.open(container);
        self.state = match container {
            Container::Object => State::KeyOrClose,
            Container::Array => State::ValueOrClose,
        };
        Ok(())
    }

    fn close(&mut self) {
        self.nesting.close();
        self.state = State::After;
    }

    /// Returns what may follow, for an error.
    fn expected(&self) -> Expected {
        match (self.state, self.nesting.innermost()) {
            (State::Value, _) => Expected::Value,
            (State::ValueOrClose, _) => Expected::ValueOrClose,
            (State::Key, _) => Expected::QuotedKey,
            (State::KeyOrClose, _) => Expected::QuotedKeyOrClose,
            (State::Colon | State::Lexeme { key: true }, _) => Expected::Colon,
            (State::After | State::Lexeme { key: false }, Some(Container::Object)) => Expected::CommaOrBrace,
            (State::After | State::Lexeme { key: false }, Some(Container::Array)) => Expected::CommaOrBracket,
            (State::After | State::Lexeme { key: false }, None) => Expected::End,
        }
    }
}
