//! The states of a document in the reading (grammar/STC.md, sections 3 to 7), and what each byte does in them.

use crate::decode::header::Header;
use crate::decode::output::Output;
use crate::decode::state::{Role, Sigil, State, Step, V2State};
use crate::decode::v2::state::V2Context;
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{COMMA, COUNT_DIGITS, LINE_FEED, SLASH, is_white, starts_bare};
use crate::json::lexer::{Kind, Lexeme, Number, Sink};
use crate::json::nesting::{Container, Nesting};
use crate::options::Limits;

#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) state: State,
    pub(crate) nesting: Nesting,
    pub(crate) lexeme: Lexeme,
    /// Digits that may be, or are, a count, and where they began.
    digits: [u8; COUNT_DIGITS],
    pub(crate) digits_len: usize,
    digits_at: u64,
    /// Elements or rows still to come.
    pub(crate) left: u64,
    /// What the elements of a compact array are, once the first is known.
    pub(crate) kind: Option<Kind>,
    pub(crate) header: Header,
    /// Cells of the row so far.
    pub(crate) column: usize,
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
    pub(crate) fn clear(&mut self) {
        self.state = State::Value;
        self.nesting.clear();
        self.v2.clear();
    }

    /// The input has ended at `offset`.
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
            expected => Err(Error::new(ErrorKind::Truncated(expected), offset)),
        }
    }

    pub(crate) fn may_skip(&self, byte: u8) -> bool {
        match self.state {
            State::Cell | State::AfterCell => matches!(byte, b' ' | b'\t'),
            State::Closed | State::Digits | State::Count | State::ColumnarOrTable => false,
            State::V2(two) => self.may_skip_v2(two, byte),
            _ => self.is_space(byte),
        }
    }

    /// Is this whitespace, where the machine stands?
    fn is_space(&self, byte: u8) -> bool {
        if self.v2.is_inline() { matches!(byte, b' ' | b'\t') } else { is_white(byte) }
    }

    pub(crate) fn step(&mut self, byte: u8, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<Step, Error> {
        if self.state == State::After && !self.v2.is_idle() {
            self.value_done(here, out)?;
            if let Some(stepped) = self.after_v2(byte, here, out) {
                return stepped;
            }
        }
        match (self.state, byte) {
            (State::V2(two), _) => return self.step_v2(two, byte, here, limits, out),
            (State::Value | State::First, b'$' | b'@' | b'&' | b'*' | b'(') => {
                return self.value_v2(byte, here, limits, out);
            }
            (State::Value | State::First, b'{') => {
                self.open(Container::Object, b"{", here, limits, out)?;
                self.state = State::Key { first: true };
            }
            (State::Value | State::First, b'[') => {
                let list = self.cell_list();
                self.open(Container::Array, b"[", here, limits, out)?;
                self.opened_array(list);
                self.state = State::First;
            }
            (State::First, b']') | (State::Key { first: true }, b'}') => self.close(byte, here, out)?,
            (State::First, b'1'..=b'9') => {
                self.begin_digits(byte, here);
                self.state = State::Digits;
            }
            (State::Value | State::First, _) => return self.begin_lexeme(Role::Value, byte, here),

            (State::Key { .. }, _) if starts_bare(byte) => {
                self.v2.key_begins(self.nesting.depth(), here, limits)?;
                self.v2.key_quote(self.nesting.depth());
                out.write(b"\"", here)?;
                self.state = State::Bare(Role::Key);
                return Ok(Step::Reconsume);
            }
            (State::Key { .. }, b'"') => {
                self.v2.key_begins(self.nesting.depth(), here, limits)?;
                return self.begin_lexeme(Role::Key, byte, here);
            }
            (State::Key { first: true }, b'1'..=b'9') if self.may_be_table() => {
                self.begin_digits(byte, here);
                self.state = State::V2(V2State::KeyedCount);
            }
            (State::AfterKey, b':') => {
                out.write(b":", here)?;
                self.state = State::Value;
            }
            (State::AfterKey, b'[') => {
                self.open(Container::Array, b":[", here, limits, out)?;
                self.digits_len = 0;
                self.state = State::Count;
            }

            (State::After, COMMA) if self.nesting.depth() > 0 => {
                out.write(b",", here)?;
                self.state = match self.nesting.innermost() {
                    Some(Container::Object) => State::Key { first: false },
                    _ => State::Value,
                };
            }
            (State::After, b'}') if self.nesting.innermost() == Some(Container::Object) => {
                self.close(byte, here, out)?;
            }
            (State::After, b']') if self.nesting.innermost() == Some(Container::Array) => {
                self.close(byte, here, out)?;
            }

            (State::Digits, b'0'..=b'9') if self.digits_len < COUNT_DIGITS => self.push_digit(byte),
            (State::Digits | State::AfterDigits, b']') => self.state = State::Closed,
            (State::Digits, _) if self.is_space(byte) => self.state = State::AfterDigits,
            (State::Digits, _) => {
                // An element after all, and it may go on.
                out.copy(&self.digits[..self.digits_len], self.digits_at)?;
                self.lexeme = Lexeme::Number(Number::Integer);
                self.state = State::Lexeme(Role::Value);
                return Ok(Step::Reconsume);
            }
            (State::AfterDigits, _) => {
                out.copy(&self.digits[..self.digits_len], self.digits_at)?;
                self.state = State::After;
                return Ok(Step::Reconsume);
            }
            (State::Closed, b'{') if self.may_be_table() => {
                if self.nesting.depth() >= limits.depth {
                    return Err(Error::new(ErrorKind::Depth, here));
                }
                self.left = self.count();
                self.header.clear();
                self.state = State::HeaderKey;
            }
            (State::Closed, _) => {
                self.only_element(here, out)?;
                return Ok(Step::Reconsume);
            }

            (State::Count, b'1'..=b'9') if self.digits_len == 0 => self.begin_digits(byte, here),
            (State::Count, b'0'..=b'9') if (1..COUNT_DIGITS).contains(&self.digits_len) => self.push_digit(byte),
            (State::Count, b']') if self.digits_len > 0 => self.state = State::CompactColon,
            (State::AfterCount, b']') => self.state = State::CompactColon,
            (State::Count, _) if self.is_space(byte) => {
                if self.digits_len > 0 {
                    self.state = State::AfterCount;
                }
            }
            (State::CompactColon, b':') => {
                self.left = self.count();
                self.kind = None;
                self.state = State::Element;
            }
            (State::Element, _) => {
                let kind =
                    Kind::of(byte).filter(|&kind| kind != Kind::Null && self.kind.is_none_or(|same| same == kind));
                if kind.is_none() {
                    return Err(Error::new(ErrorKind::Syntax(Expected::SameKind), here));
                }
                self.kind = kind;
                return self.begin_lexeme(Role::Element, byte, here);
            }
            (State::AfterElement, COMMA) => {
                out.write(b",", here)?;
                self.state = State::Element;
            }

            (State::HeaderKey, b'"') => {
                self.header.begin(here, limits)?;
                return self.begin_lexeme(Role::HeaderKey, byte, here);
            }
            (State::HeaderKey, _) if starts_bare(byte) => {
                self.header.begin(here, limits)?;
                self.header.quote();
                self.state = State::Bare(Role::HeaderKey);
                return Ok(Step::Reconsume);
            }
            (State::AfterHeaderKey, b'?' | b'=' | b'~' | b'.' | b'{') => {
                self.convert_header(limits)?;
                self.state = State::V2(V2State::AfterListKey);
                return Ok(Step::Reconsume);
            }
            (State::AfterHeaderKey, COMMA) => self.state = State::HeaderKey,
            (State::AfterHeaderKey, b'}') => {
                self.header.check_distinct()?;
                self.header.end(b"");
                self.state = State::HeaderColon;
            }
            (State::HeaderColon, b':') => {
                self.column = 0;
                self.state = State::ColumnarOrTable;
            }
            (State::ColumnarOrTable, LINE_FEED) => {
                self.convert_header(limits)?;
                self.v2.end_header()?;
                self.begin_rows();
            }
            (State::ColumnarOrTable, _) => {
                self.state = State::Cell;
                return Ok(Step::Reconsume);
            }
            (State::Cell, _) if Kind::of(byte).is_some() => {
                out.write(self.header.before(self.column), here)?;
                return self.begin_lexeme(Role::Cell, byte, here);
            }
            (State::AfterCell, COMMA) if self.column < self.header.width() => self.state = State::Cell,
            (State::AfterCell, SLASH) if self.column == self.header.width() => {
                out.write(b",", here)?;
                self.column = 0;
                self.state = State::Cell;
            }
            // A slash here can only be one row too many.
            (State::AfterElement | State::AfterCell, _) | (State::After, SLASH) => {
                return Err(Error::new(ErrorKind::Count(self.expected()), here));
            }
            _ => return Err(Error::new(ErrorKind::Syntax(self.expected()), here)),
        }
        Ok(Step::Consumed)
    }

    pub(crate) fn begin_lexeme(&mut self, role: Role, first: u8, here: u64) -> Result<Step, Error> {
        self.lexeme = Lexeme::starting(first).ok_or(Error::new(ErrorKind::Syntax(self.expected()), here))?;
        self.state = State::Lexeme(role);
        Ok(Step::Reconsume)
    }

    /// A lexeme or bare key is complete; the byte after it is at `here`.
    pub(crate) fn lexeme_done(&mut self, role: Role, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        self.state = match role {
            Role::Value => State::After,
            Role::Key => {
                self.v2.key_ended(self.nesting.depth());
                State::AfterKey
            }
            Role::Definition => self.defined(),
            Role::ListKey => {
                self.v2.list_key_ended();
                State::V2(V2State::AfterListKey)
            }
            Role::Template => self.template_done(),
            Role::RowKey => State::V2(V2State::RowColon),
            Role::HeaderKey => {
                self.header.finish();
                State::AfterHeaderKey
            }
            Role::Element => {
                self.left -= 1;
                if self.left > 0 {
                    State::AfterElement
                } else {
                    out.write(b"]", here)?;
                    self.nesting.close();
                    State::After
                }
            }
            Role::Cell => {
                self.column += 1;
                if self.column < self.header.width() {
                    State::AfterCell
                } else {
                    self.left -= 1;
                    if self.left > 0 {
                        out.write(b"}", here)?;
                        State::AfterCell
                    } else {
                        out.write(b"}]", here)?;
                        self.nesting.close();
                        State::After
                    }
                }
            }
        };
        Ok(())
    }

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

    pub(crate) fn close(&mut self, bracket: u8, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        self.leave(here)?;
        out.write(&[bracket], here)?;
        self.nesting.close();
        self.state = State::After;
        Ok(())
    }

    /// `[12]` was an array after all; the byte after its bracket is at `here`.
    fn only_element(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        out.copy(&self.digits[..self.digits_len], self.digits_at)?;
        self.close(b']', here - 1, out)
    }

    fn begin_digits(&mut self, first: u8, here: u64) {
        self.digits[0] = first;
        self.digits_len = 1;
        self.digits_at = here;
    }

    pub(crate) fn push_digit(&mut self, digit: u8) {
        self.digits[self.digits_len] = digit;
        self.digits_len += 1;
    }

    /// The digits as a number; 19 of them cannot overflow.
    pub(crate) fn count(&self) -> u64 {
        self.digits[..self.digits_len].iter().fold(0, |count, digit| count * 10 + u64::from(digit - b'0'))
    }

    pub(crate) fn expected(&self) -> Expected {
        match self.state {
            State::Value => Expected::Value,
            State::First => Expected::ValueOrClose,
            State::Key { first: true } => Expected::KeyOrClose,
            State::Key { first: false } => Expected::Key,
            State::AfterKey | State::Bare(Role::Key) => Expected::ColonOrCount,
            State::Digits | State::AfterDigits => Expected::CommaOrBracket,
            State::Count if self.digits_len == 0 || self.digits_len == COUNT_DIGITS => Expected::Count,
            State::Count | State::AfterCount => Expected::CountClose,
            State::CompactColon | State::HeaderColon => Expected::HeaderColon,
            State::Element => Expected::SameKind,
            State::AfterElement => Expected::Comma,
            State::HeaderKey => Expected::Key,
            State::Bare(Role::ListKey) => Expected::ColumnEnd,
            State::Bare(Role::RowKey) => Expected::Colon,
            State::AfterHeaderKey | State::Bare(_) => Expected::CommaOrHeaderClose,
            State::Cell | State::ColumnarOrTable => Expected::Cell,
            State::V2(two) => self.expected_v2(two),
            State::AfterCell if self.column < self.header.width() => Expected::Comma,
            State::AfterCell => Expected::Slash,
            State::After | State::Closed | State::Lexeme(_) => {
                self.expected_after_value().unwrap_or(match self.nesting.innermost() {
                    Some(Container::Object) => Expected::CommaOrBrace,
                    Some(Container::Array) => Expected::CommaOrBracket,
                    None => Expected::End,
                })
            }
        }
    }
}
