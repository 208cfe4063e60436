//! The header of a table, byte by byte (grammar/STC.md, sections 16.1, 16.5 and 17).
//!
//! A header of version 2 may begin as one of version 1 does, `[2]{id,name`. The machine reads it as version 1 until a byte shows
//! what it is: one of `?` `=` `~` `.` `{` after a key, or the line feed after the colon. Then its keys go to the schema, and the
//! states of version 2 continue.

use crate::decode::machine::Machine;
use crate::decode::output::{Aside, Output};
use crate::decode::state::{Role, State, Step, V2State};
use crate::decode::v2::columns::{ColumnKind, NONE};
use crate::decode::v2::context::V2Context;
use crate::decode::v2::frames::FrameKind;
use crate::decode::v2::template::TemplateReader;
use crate::error::Error;
use crate::format::{COMMA, COUNT_DIGITS, LINE_FEED, is_white, starts_bare};
use crate::options::Limits;

impl Machine {
    /// Makes a table of what was read as a columnar value so far.
    pub(crate) fn convert_header(&mut self, limits: &Limits) -> Result<(), Error> {
        let schema = &mut self.v2.schema;
        schema.begin();
        for column in 0..self.header.width() {
            schema.begin_key(self.header.offset(column), limits)?;
            // Without the brace or comma before the key, and the colon after it.
            let key = self.header.before(column);
            schema.put_key(&key[1..key.len() - 1]);
            schema.end_key();
        }
        schema.count(self.header.length());
        self.open_table(false, self.left);
        Ok(())
    }

    /// Opens the frame of a table that has `left` rows.
    pub(crate) fn open_table(&mut self, keyed: bool, left: u64) {
        let depth = self.nesting.depth();
        self.v2.push(depth, FrameKind::Table { keyed, left });
    }

    /// Reads a byte of a keyed table's count, up to the `{` of its header (STC.md, 16.5).
    pub(crate) fn step_keyed_count(
        &mut self,
        state: V2State,
        byte: u8,
        here: u64,
        limits: &Limits,
    ) -> Result<Step, Error> {
        match (state, byte) {
            (V2State::KeyedCount, b'0'..=b'9') if self.digits_len < COUNT_DIGITS => self.push_digit(byte),
            (V2State::KeyedCount | V2State::AfterKeyedCount, b'}') => self.state = State::V2(V2State::KeyedHeader),
            (V2State::KeyedCount, _) if is_white(byte) => self.state = State::V2(V2State::AfterKeyedCount),
            (V2State::KeyedHeader, b'{') => {
                self.check_depth(1, here, limits)?;
                self.v2.schema.begin();
                self.open_table(true, self.count());
                self.state = State::V2(V2State::ListKey);
            }
            _ => return self.syntax_error(here),
        }
        Ok(Step::Consumed)
    }

    /// Reads a byte of a list of columns, or after the last (STC.md, 17.1).
    pub(crate) fn step_header(
        &mut self,
        state: V2State,
        byte: u8,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        match (state, byte) {
            (V2State::ListKey, b'"') => {
                self.v2.schema.begin_key(here, limits)?;
                return self.begin_lexeme(Role::ListKey, byte, here);
            }
            (V2State::ListKey, _) if starts_bare(byte) => {
                self.v2.schema.begin_key(here, limits)?;
                self.v2.schema.quote();
                self.state = State::Bare(Role::ListKey);
                return Ok(Step::Reconsume);
            }
            (V2State::AfterListKey, b'?') => {
                self.v2.schema.last().kind = ColumnKind::Optional;
                self.state = State::V2(V2State::AfterOptional);
            }
            (V2State::AfterListKey | V2State::AfterOptional, b'{') => {
                self.v2.schema.open_list();
                self.state = State::V2(V2State::ListKey);
            }
            (V2State::AfterListKey, b'.') => self.state = State::V2(V2State::Splice),
            (V2State::Splice, b'{') => {
                self.v2.schema.open_splice();
                self.state = State::V2(V2State::ListKey);
            }
            (V2State::AfterListKey, b'=') => self.begin_header_value(false, limits, out),
            (V2State::AfterOptional | V2State::AfterColumn { default: true }, b'=') => {
                self.begin_header_value(true, limits, out);
            }
            (V2State::AfterListKey, b'~') => {
                self.v2.template = TemplateReader::new(&self.v2.schema);
                self.state = State::V2(V2State::Template);
            }
            (V2State::Template, b'"') => return self.begin_lexeme(Role::Template, byte, here),
            (V2State::AfterListKey | V2State::AfterOptional | V2State::AfterColumn { .. }, COMMA) => {
                self.state = State::V2(V2State::ListKey);
            }
            (V2State::AfterListKey | V2State::AfterOptional | V2State::AfterColumn { .. }, b'}') => {
                let outermost = self.v2.schema.close_list()?;
                self.state = State::V2(self.v2.schema.after_list(outermost));
            }
            (V2State::ListColon, b':') => self.state = State::V2(V2State::HeaderEnd),
            (V2State::HeaderEnd, LINE_FEED) => self.begin_rows(),
            _ => return self.syntax_error(here),
        }
        Ok(Step::Consumed)
    }

    /// Begins a constant or default, after its `=`: from now on output goes into the header.
    fn begin_header_value(&mut self, default: bool, limits: &Limits, out: &mut Output<'_>) {
        let depth = self.nesting.depth();
        let schema = &mut self.v2.schema;
        // A default is read as a cell of its column: tuples may stand in it.
        let list = if default { schema.last().list } else { NONE };
        out.set_aside(Aside::Header, schema.room(limits));
        self.v2.push(depth, FrameKind::HeaderValue { default, list });
        self.v2.deepest = depth;
        self.state = State::Value;
    }

    /// Ends a constant or default: what went into the header is the last column's value.
    pub(crate) fn end_header_value(&mut self, default: bool, out: &mut Output<'_>) {
        let height = self.v2.deepest - self.nesting.depth();
        self.v2.schema.set_value(default, out.aside(), height);
        out.end_aside();
        self.v2.pop();
        self.state = State::V2(V2State::AfterColumn { default: false });
    }

    /// Ends a template; returns the state after it.
    pub(crate) fn template_done(&mut self) -> State {
        let V2Context { schema, template, .. } = &mut self.v2;
        template.end(schema);
        State::V2(V2State::AfterColumn { default: false })
    }

    /// Begins the rows of a table, after the line feed of its header.
    pub(crate) fn begin_rows(&mut self) {
        self.v2.cell_texts.clear();
        self.v2.insertions.clear();
        self.state = State::V2(V2State::Row);
    }
}
