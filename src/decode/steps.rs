//! What each byte does in each state (STC.md, sections 3 to 7), by groups of states. [`v2::steps`](crate::decode::v2::steps) has those
//! of version 2.
//!
//! A byte is read in the state that the bytes before it led to, and what it means is written at once.

use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{LexemeRole, State, Step, V2State};
use crate::decode::v2::columns::NONE;
use crate::error::{Error, ErrorKind};
use crate::format::{
    ANCHOR_SIGIL, COMMA, CONSTANT_SIGN, COPY_SIGIL, COUNT_DIGITS, DICTIONARY_SIGIL, LINE_FEED, OPEN_MARK,
    OPTIONAL_SIGN, SHAPE_SIGIL, SLASH, SPLICE_SIGN, TEMPLATE_SIGN, TUPLE_OPEN, is_horizontal_white, is_white,
    starts_bare, starts_bare_string,
};
use crate::json::lexer::{Kind, Lexeme, Number, Sink};
use crate::json::nesting::Container;
use crate::options::Limits;

impl Machine {
    /// Returns whether the byte is whitespace that may come before what the state expects (STC.md, 3.2 and 6.4).
    pub(crate) fn may_skip(&self, byte: u8) -> bool {
        match self.state {
            State::Cell | State::AfterCell => is_horizontal_white(byte),
            State::Closed | State::Digits | State::Count | State::CountClosed | State::ColumnarOrTable => false,
            State::V2(state) => self.may_skip_v2(state, byte),
            _ => self.is_space(byte),
        }
    }

    /// Returns whether the byte is whitespace in the innermost container: inside rows of version 2 only SP and TAB are.
    fn is_space(&self, byte: u8) -> bool {
        if self.v2.is_inline() { is_horizontal_white(byte) } else { is_white(byte) }
    }

    /// Reads the byte at `here` that is neither inside a lexeme nor whitespace.
    pub(crate) fn step(&mut self, byte: u8, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<Step, Error> {
        if self.state == State::After && !self.v2.is_idle() {
            self.value_done(here, out)?;
            if let Some(stepped) = self.after_v2(byte, here, out) {
                return stepped;
            }
        }
        match self.state {
            State::V2(state) => self.step_v2(state, byte, here, limits, out),
            State::Value | State::First => self.step_value(byte, here, limits, out),
            State::Key { .. } | State::AfterKey => self.step_key(byte, here, limits, out),
            State::After => self.step_after(byte, here, out),
            State::Digits | State::AfterDigits | State::Closed => self.step_digits(byte, here, limits, out),
            State::Count | State::AfterCount | State::CountClosed | State::CompactColon => {
                self.step_count(byte, here, limits)
            }
            State::Element | State::AfterElement => self.step_element(byte, here, out),
            State::HeaderKey | State::AfterHeaderKey => self.step_header_key(byte, here, limits),
            State::HeaderColon | State::ColumnarOrTable => self.step_header_end(byte, here, limits),
            State::Cell | State::AfterCell => self.step_cell(byte, here, out),
            State::Lexeme(_) | State::Bare(_) => self.unexpected(here),
        }
    }

    /// Reads the first byte of a value (STC.md, 3.1), or the `]` of an empty array (3.5). A byte order mark begins no value and is
    /// rejected here (3.4).
    fn step_value(&mut self, byte: u8, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<Step, Error> {
        match byte {
            DICTIONARY_SIGIL | SHAPE_SIGIL | ANCHOR_SIGIL | COPY_SIGIL | TUPLE_OPEN => {
                return self.value_v2(byte, here, limits, out);
            }
            b'{' if self.object_list() != NONE => self.open_listed(false, self.object_list(), here, limits, out)?,
            b'{' => {
                self.open(Container::Object, b"{", here, limits, out)?;
                self.state = State::Key { first: true };
            }
            b'[' => {
                let frame = self.cell_array();
                self.open(Container::Array, b"[", here, limits, out)?;
                self.opened_array(frame);
                self.state = State::First;
            }
            b']' if self.state == State::First => self.close(byte, here, out)?,
            b'1'..=b'9' if self.state == State::First => {
                self.begin_digits(byte, here);
                self.state = State::Digits;
            }
            _ if starts_bare_string(byte) && self.may_be_bare() => return self.begin_word(None, byte, here, out),
            _ => return self.begin_lexeme(LexemeRole::Value, byte, here),
        }
        Ok(Step::Consumed)
    }

    /// Reads the first byte of a key, the `}` of an empty object (STC.md, 4.4), the count of a keyed table (16.5), or what comes
    /// after a key: its colon (4.2), or the bracket of a count (5.1 and 16.6). Keys are not compared: they may repeat (4.3).
    fn step_key(&mut self, byte: u8, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<Step, Error> {
        match (self.state, byte) {
            (State::Key { first: true }, b'}') => self.close(byte, here, out)?,
            (State::Key { .. }, _) if (byte == b'"' || starts_bare(byte)) && self.in_listed_object() => {
                return self.begin_listed_key(byte, here);
            }
            (State::Key { .. }, _) if starts_bare(byte) => {
                self.v2.key_begins(self.nesting.depth(), here, limits)?;
                self.v2.key_quote(self.nesting.depth());
                out.write(b"\"", here)?;
                self.state = State::Bare(LexemeRole::Key);
                return Ok(Step::Reconsume);
            }
            (State::Key { .. }, b'"') => {
                self.v2.key_begins(self.nesting.depth(), here, limits)?;
                return self.begin_lexeme(LexemeRole::Key, byte, here);
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
            (State::AfterKey, b'{') if !self.v2.is_inline() => {
                self.open(Container::Object, b":{", here, limits, out)?;
                self.state = State::V2(V2State::MemberCount);
            }
            _ => return self.unexpected(here),
        }
        Ok(Step::Consumed)
    }

    /// Reads what comes after a value: a comma, or what closes the innermost container.
    fn step_after(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        match (self.nesting.innermost(), byte) {
            (Some(container), COMMA) => {
                out.write(b",", here)?;
                self.state = match container {
                    Container::Object => State::Key { first: false },
                    Container::Array => State::Value,
                };
            }
            (Some(Container::Object), b'}') | (Some(Container::Array), b']') => self.close(byte, here, out)?,
            // A slash here can only be one row too many.
            (_, SLASH) => return self.wrong_count(here),
            _ => return self.unexpected(here),
        }
        Ok(Step::Consumed)
    }

    /// Reads what may be the count of a columnar value (STC.md, 6.1), or the only element of an array (7.3).
    fn step_digits(&mut self, byte: u8, here: u64, limits: &Limits, out: &mut Output<'_>) -> Result<Step, Error> {
        match (self.state, byte) {
            (State::Digits, b'0'..=b'9') if self.digits_len < COUNT_DIGITS => self.push_digit(byte),
            (State::Digits | State::AfterDigits, b']') => self.state = State::Closed,
            (State::Digits, _) if self.is_space(byte) => self.state = State::AfterDigits,
            (State::Digits, _) => {
                // An element after all, and the number may go on.
                out.copy(&self.digits[..self.digits_len], self.digits_at)?;
                self.lexeme = Lexeme::Number(Number::Integer);
                self.state = State::Lexeme(LexemeRole::Value);
                return Ok(Step::Reconsume);
            }
            (State::AfterDigits, _) => {
                out.copy(&self.digits[..self.digits_len], self.digits_at)?;
                self.state = State::After;
                return Ok(Step::Reconsume);
            }
            (_, b'{') if self.may_be_table() => {
                if self.nesting.depth() >= limits.depth {
                    return Err(Error::new(ErrorKind::Depth, here));
                }
                self.left = self.count();
                self.header.clear();
                self.state = State::HeaderKey;
            }
            _ => {
                self.only_element(here, out)?;
                return Ok(Step::Reconsume);
            }
        }
        Ok(Step::Consumed)
    }

    /// Reads the count of a compact array and its colon (STC.md, 5.1 and 7.1), or the `{` that makes the array a table
    /// (16.6).
    fn step_count(&mut self, byte: u8, here: u64, limits: &Limits) -> Result<Step, Error> {
        match (self.state, byte) {
            (State::Count, b'1'..=b'9') if self.digits_len == 0 => self.begin_digits(byte, here),
            (State::Count, b'0'..=b'9') if (1..COUNT_DIGITS).contains(&self.digits_len) => self.push_digit(byte),
            (State::Count, b']') if self.digits_len > 0 => self.state = State::CountClosed,
            (State::AfterCount, b']') => self.state = State::CountClosed,
            (State::CountClosed, b'{') if self.may_be_table() => self.begin_list(false, here, limits)?,
            (State::CountClosed, _) => {
                self.state = State::CompactColon;
                return Ok(if self.is_space(byte) { Step::Consumed } else { Step::Reconsume });
            }
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
            _ => return self.unexpected(here),
        }
        Ok(Step::Consumed)
    }

    /// Reads the first byte of an element of a compact array, or the comma before it (STC.md, 5.2 and 5.3).
    fn step_element(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        match (self.state, byte) {
            (State::Element, _) => {
                let kind =
                    Kind::of(byte).filter(|&kind| kind != Kind::Null && self.kind.is_none_or(|same| same == kind));
                if kind.is_none() {
                    return self.unexpected(here);
                }
                self.kind = kind;
                self.begin_lexeme(LexemeRole::Element, byte, here)
            }
            (_, COMMA) => {
                out.write(b",", here)?;
                self.state = State::Element;
                Ok(Step::Consumed)
            }
            _ => self.wrong_count(here),
        }
    }

    /// Reads the first byte of a header's key, or what comes after a key (STC.md, 6.2). What version 1 does not have there makes it
    /// a header of version 2.
    fn step_header_key(&mut self, byte: u8, here: u64, limits: &Limits) -> Result<Step, Error> {
        match (self.state, byte) {
            (State::HeaderKey, b'"') => {
                self.header.begin_key(here, limits)?;
                return self.begin_lexeme(LexemeRole::HeaderKey, byte, here);
            }
            (State::HeaderKey, _) if starts_bare(byte) => {
                self.header.begin_key(here, limits)?;
                self.header.quote();
                self.state = State::Bare(LexemeRole::HeaderKey);
                return Ok(Step::Reconsume);
            }
            (State::HeaderKey, OPEN_MARK) if self.header.width() == 0 => {
                self.convert_header(limits)?;
                self.state = State::V2(V2State::ColumnKey);
                return Ok(Step::Reconsume);
            }
            (State::AfterHeaderKey, OPTIONAL_SIGN | CONSTANT_SIGN | TEMPLATE_SIGN | SPLICE_SIGN | b'{') => {
                self.convert_header(limits)?;
                self.state = State::V2(V2State::AfterColumnKey);
                return Ok(Step::Reconsume);
            }
            (State::AfterHeaderKey, COMMA) => self.state = State::HeaderKey,
            (State::AfterHeaderKey, b'}') => {
                self.header.check_distinct()?;
                self.header.end(b"");
                self.state = State::HeaderColon;
            }
            _ => return self.unexpected(here),
        }
        Ok(Step::Consumed)
    }

    /// Reads the colon of a header, and the byte after it: a line feed there begins the rows of version 2 (STC.md, 6.4).
    fn step_header_end(&mut self, byte: u8, here: u64, limits: &Limits) -> Result<Step, Error> {
        match (self.state, byte) {
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
            _ => return self.unexpected(here),
        }
        Ok(Step::Consumed)
    }

    /// Reads the first byte of a cell, or the comma or slash before it (STC.md, 6.3).
    fn step_cell(&mut self, byte: u8, here: u64, out: &mut Output<'_>) -> Result<Step, Error> {
        match (self.state, byte) {
            (State::Cell, _) => {
                if Kind::of(byte).is_none() {
                    return self.unexpected(here);
                }
                out.write(self.header.before(self.column), here)?;
                return self.begin_lexeme(LexemeRole::Cell, byte, here);
            }
            (_, COMMA) if self.column < self.header.width() => {}
            (_, SLASH) if self.column == self.header.width() => {
                out.write(b",", here)?;
                self.column = 0;
            }
            _ => return self.wrong_count(here),
        }
        self.state = State::Cell;
        Ok(Step::Consumed)
    }

    /// Rejects the byte at `here`.
    fn unexpected(&self, here: u64) -> Result<Step, Error> {
        Err(Error::new(ErrorKind::Syntax(self.expected()), here))
    }

    /// Rejects the byte at `here`, which does not agree with a count (STC.md, 7.2 and 9.4).
    fn wrong_count(&self, here: u64) -> Result<Step, Error> {
        Err(Error::new(ErrorKind::Count(self.expected()), here))
    }
}
