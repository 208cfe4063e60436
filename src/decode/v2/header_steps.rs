//! The header of a table, byte by byte (grammar/STC.md, sections 16.1, 16.5 and 17).
//!
//! A header of version 2 may begin as one of version 1 does, `[2]{id,name`. The machine reads it as version 1 until a byte shows
//! what it is: one of `?` `=` `~` `.` `{` after a key, a `*` before the first, or the line feed after the colon. Then its keys go to
//! the schema, and the states of version 2 continue. The headers of keyed tables and those directly after a key (section 16.6) can
//! only be version 2's, which reads them from their `{` on.

use crate::decode::machine::Machine;
use crate::decode::output::{Aside, Output};
use crate::decode::state::{LexemeRole, State, Step, V2State};
use crate::decode::v2::columns::{ColumnKind, NONE};
use crate::decode::v2::context::V2Context;
use crate::decode::v2::frames::FrameKind;
use crate::decode::v2::template::TemplateReader;
use crate::error::Error;
use crate::format::{
    COMMA, CONSTANT_SIGN, COUNT_DIGITS, LINE_FEED, OPEN_MARK, OPTIONAL_SIGN, SPLICE_SIGN, TEMPLATE_SIGN, is_white,
    starts_bare,
};
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
        schema.charge(self.header.length());
        self.open_table(false, self.left);
        Ok(())
    }

    /// Opens the frame of a table that has `left` rows.
    pub(crate) fn open_table(&mut self, keyed: bool, left: u64) {
        let depth = self.nesting.depth();
        self.v2.push(depth, FrameKind::Table { keyed, left });
    }

    /// Begins the list of rows, at the `{` of a table's header; the table's count has been read.
    pub(crate) fn begin_list(&mut self, keyed: bool, here: u64, limits: &Limits) -> Result<(), Error> {
        self.check_depth(1, here, limits)?;
        self.v2.schema.begin();
        self.open_table(keyed, self.count());
        self.state = State::V2(V2State::ColumnKey);
        Ok(())
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
            (V2State::MemberCount, b'1'..=b'9') => {
                self.begin_digits(byte, here);
                self.state = State::V2(V2State::KeyedCount);
            }
            (V2State::KeyedCount, b'0'..=b'9') if self.digits_len < COUNT_DIGITS => self.push_digit(byte),
            (V2State::KeyedCount | V2State::AfterKeyedCount, b'}') => self.state = State::V2(V2State::KeyedHeader),
            (V2State::KeyedCount, _) if is_white(byte) => self.state = State::V2(V2State::AfterKeyedCount),
            (V2State::KeyedHeader, b'{') => self.begin_list(true, here, limits)?,
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
            (V2State::ColumnKey, b'"') => {
                self.v2.schema.begin_key(here, limits)?;
                return self.begin_lexeme(LexemeRole::ColumnKey, byte, here);
            }
            (V2State::ColumnKey, _) if starts_bare(byte) => {
                self.v2.schema.begin_key(here, limits)?;
                self.v2.schema.quote();
                self.state = State::Bare(LexemeRole::ColumnKey);
                return Ok(Step::Reconsume);
            }
            (V2State::ColumnKey, OPEN_MARK) if self.v2.schema.may_be_marked() => {
                self.v2.schema.mark_open();
                self.state = State::V2(V2State::AfterMark);
            }
            // The columns of an open list are plain, constants, or have a list (STC.md, 17.10).
            (V2State::AfterColumnKey, OPTIONAL_SIGN | SPLICE_SIGN | TEMPLATE_SIGN) if self.v2.schema.in_open_list() => {
                return self.syntax_error(here);
            }
            (V2State::AfterColumnKey, OPTIONAL_SIGN) => {
                self.v2.schema.last().kind = ColumnKind::Optional;
                self.state = State::V2(V2State::AfterOptional);
            }
            (V2State::AfterColumnKey | V2State::AfterOptional, b'{') => {
                self.v2.schema.begin_nested_list();
                self.state = State::V2(V2State::ColumnKey);
            }
            (V2State::AfterColumnKey, SPLICE_SIGN) => self.state = State::V2(V2State::Splice),
            (V2State::Splice, b'{') => {
                self.v2.schema.open_splice();
                self.state = State::V2(V2State::ColumnKey);
            }
            (V2State::AfterColumnKey, CONSTANT_SIGN) => self.begin_header_value(false, limits, out),
            (V2State::AfterOptional | V2State::AfterColumn { default: true }, CONSTANT_SIGN) => {
                self.begin_header_value(true, limits, out);
            }
            (V2State::AfterColumnKey | V2State::AfterOptional, TEMPLATE_SIGN) => {
                self.v2.template = TemplateReader::new(&mut self.v2.schema);
                self.state = State::V2(V2State::Template);
            }
            (V2State::Template, b'"') => return self.begin_lexeme(LexemeRole::Template, byte, here),
            (_, COMMA) if ends_column(state) => self.state = State::V2(V2State::ColumnKey),
            (_, b'}') if ends_column(state) => {
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
        self.v2.schema.set_value(default, [out.aside()], height);
        out.end_aside();
        self.v2.pop();
        self.state = State::V2(V2State::AfterColumn { default: false });
    }

    /// Ends a template; returns the state after it. A default may follow that of an optional column (STC.md, 17.11).
    pub(crate) fn template_done(&mut self) -> State {
        let V2Context { schema, template, .. } = &mut self.v2;
        template.end(schema);
        State::V2(V2State::AfterColumn { default: schema.last().kind == ColumnKind::Optional })
    }

    /// Begins the rows of a table, after the line feed of its header.
    pub(crate) fn begin_rows(&mut self) {
        self.v2.cell_texts.clear();
        self.v2.insertions.clear();
        self.state = State::V2(V2State::Row);
    }
}

/// Returns whether a column, or the mark of an open list, may end in this state: at `,` or `}`.
fn ends_column(state: V2State) -> bool {
    matches!(state, V2State::AfterMark | V2State::AfterColumnKey | V2State::AfterOptional | V2State::AfterColumn { .. })
}

#[cfg(test)]
mod tests {
    use crate::{Decoder, Error};

    /// Decodes a text whole and byte by byte, which must give the same.
    fn decode(stc: &str) -> Result<String, Error> {
        let mut decoder = Decoder::new();
        let text = |json: &[u8]| String::from_utf8(json.to_vec()).expect("it is UTF-8");
        let whole = decoder.decode(stc.as_bytes()).map(text);
        let mut json = Vec::new();
        let pushed = stc.as_bytes().chunks(1).try_for_each(|byte| decoder.push(byte, &mut json));
        let pushed = pushed.and_then(|()| decoder.finish(&mut json)).map(|()| text(&json));
        assert_eq!(pushed, whole, "{stc:?}");
        whole
    }

    #[test]
    fn a_table_may_directly_follow_its_key() {
        for (stc, json) in [
            (
                "{total:2,items[2]{id,name}:\n1,\"a\"\n2,\"b\"\nnext:null}",
                r#"{"total":2,"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"next":null}"#,
            ),
            ("{ a [ 1 ]{ b } :\n2\n}", r#"{"a":[{"b":2}]}"#),
            ("{\"a\"[1]{*,k=1}:\n{}\n}", r#"{"a":[{"k":1}]}"#),
            ("{a{2}{b}:\nx:1\ny:2\nc:3}", r#"{"a":{"x":{"b":1},"y":{"b":2}},"c":3}"#),
            ("{a { 1 }{*}:\nx:{}\n}", r#"{"a":{"x":{}}}"#),
            ("{a[2]: 1,2}", r#"{"a":[1,2]}"#),
            ("{a[2] : 1,2}", r#"{"a":[1,2]}"#),
            ("[@s{a[1]{b}:\n1\nc{1}{d}:\ne:2\n},@s(3,4)]", r#"[{"a":[{"b":1}],"c":{"e":{"d":2}}},{"a":3,"c":4}]"#),
            ("[&s{a[1]{b}:\n1\n},*s]", r#"[{"a":[{"b":1}]},{"a":[{"b":1}]}]"#),
        ] {
            assert_eq!(decode(stc).as_deref(), Ok(json), "{stc:?}");
        }
    }

    #[test]
    fn what_directly_follows_a_key_must_be_a_table() {
        // Each text has a `^` before the byte that is reported.
        for marked in [
            "{a[1]{b}:^ 1}",
            "{a[1]{b}:^1}",
            "{a[1] ^{b}:\n1\n}",
            "{a[^0]{b}:\n1\n}",
            "{a[1]{^}:\n1\n}",
            "{a[2]{b}:\n1\n^}",
            "{a[1]{b}:\n1\n^,c:1}",
            "{a{^}",
            "{a{^0}{b}:\n",
            "{a{ ^b:1}}",
            "{a{^\"b\":1}}",
            "{a{1 ^2}{b}:\n",
            "{a{1}^ {b}:\n",
            "{a{1}^:",
            "{a{1}{b}:^ x:1\n}",
            "[1]{c}:\n{a[1]^{b}:\n",
            "[1]{c}:\n{a^{1}{b}:\n",
            "[@s{a:1},@s({b[1]^{",
            "{a[1]^",
            "{a{^",
            "{a[1]{^",
            "{a[^{",
        ] {
            let offset = marked.find('^').expect("a mark") as u64;
            let error = decode(&marked.replacen('^', "", 1)).expect_err(marked);
            assert_eq!(error.offset(), offset, "{marked:?}: {error}");
        }
    }
}
