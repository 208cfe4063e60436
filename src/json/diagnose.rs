//! The slow reader of JSON: where exactly, and why, a text is refused.
//!
//! The encoder's fast pass answers only "no". This one then reads the same bytes one at a time, by a state machine
//! that holds no more than the open containers, and says at which byte the text stopped being the beginning of a
//! JSON text. It can start in the middle, at any byte where the fast pass knows how things stand.

use crate::error::{Error, ErrorKind, Expected};
use crate::format::is_white;
use crate::json::lexer::{Discard, Lexeme};
use crate::json::nesting::{Container, Nesting};

/// A strict reader of RFC 8259 that takes its input in pieces.
pub(crate) struct Checker {
    nesting: Nesting,
    depth: usize,
    state: State,
    /// The lexeme being read, in [`State::Lexeme`].
    lexeme: Lexeme,
}

/// What a reader that resumes in the middle of a document expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    Value,
    /// A key, after a comma.
    Key,
    /// A key or `}`, right after `{`.
    KeyOrClose,
    /// Whatever follows a value.
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
    /// A reader for a document from its beginning, with at most `depth` containers open.
    pub(crate) fn new(depth: usize) -> Self {
        Self::resume(Nesting::default(), Resume::Value, depth)
    }

    /// A reader that goes on where a faster one stopped.
    pub(crate) fn resume(nesting: Nesting, at: Resume, depth: usize) -> Self {
        let state = match at {
            Resume::Value => State::Value,
            Resume::Key => State::Key,
            Resume::KeyOrClose => State::KeyOrClose,
            Resume::After => State::After,
        };
        Self { nesting, depth, state, lexeme: Lexeme::Literal(b"") }
    }

    /// Reads the next bytes, which stand at `offset`.
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

    /// The input has ended at `offset`.
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

    /// Takes a byte between lexemes; false if it begins a lexeme, which is then to be read from this byte on.
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

    fn expected(&self) -> Expected {
        match (self.state, self.nesting.innermost()) {
            (State::Value, _) => Expected::Value,
            (State::ValueOrClose, _) => Expected::ValueOrClose,
            (State::Key, _) => Expected::Text,
            (State::KeyOrClose, _) => Expected::TextOrClose,
            (State::Colon | State::Lexeme { key: true }, _) => Expected::Colon,
            (State::After | State::Lexeme { key: false }, Some(Container::Object)) => Expected::CommaOrBrace,
            (State::After | State::Lexeme { key: false }, Some(Container::Array)) => Expected::CommaOrBracket,
            (State::After | State::Lexeme { key: false }, None) => Expected::End,
        }
    }
}
