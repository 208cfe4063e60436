//! The fast path over the columns of a header (grammar/STC.md, section 17.1), a key or a constant at a time.
//!
//! It makes the steps of [`header_steps`](crate::decode::v2::header_steps) on whole tokens, through the same states, and stops
//! where a token is not in canonical spacing, is not scalar, or passes a limit. The machine then continues in the state that was
//! reached.
//!
//! A header of a `[2]{id,name}` may still be that of a columnar value of version 1. Until a byte shows that it is a table's, the
//! machine's state stays [`State::HeaderKey`] and nothing is consumed: if no byte does, the machine reads the header again.

use crate::decode::cursor::Cursor;
use crate::decode::machine::Machine;
use crate::decode::state::{State, V2State};
use crate::decode::v2::columns::ColumnKind;
use crate::decode::v2::schema::Schema;
use crate::format::{COMMA, CONSTANT_SIGN, LINE_FEED, OPTIONAL_SIGN, SPLICE_SIGN, TEMPLATE_SIGN};
use crate::json::scan::arch::Kernel;

impl Machine {
    /// Reads columns from a key on, and the end of the header; returns the position it came to.
    pub(crate) fn fast_columns<K: Kernel>(&mut self, cursor: Cursor<'_, K>) -> usize {
        cursor.kernel.enter(
            #[inline(always)]
            || self.read_columns(cursor),
        )
    }

    #[inline(always)]
    fn read_columns<K: Kernel>(&mut self, cursor: Cursor<'_, K>) -> usize {
        let undecided = self.state == State::HeaderKey;
        if undecided {
            self.v2.schema.begin();
        }
        let mut reader = ColumnReader { schema: &mut self.v2.schema, cursor, is_table: !undecided };
        let mut state = if let State::V2(state) = self.state { state } else { V2State::ColumnKey };
        while let Some(next) = reader.step(state) {
            state = next;
            if state == V2State::Row {
                break;
            }
        }
        let ColumnReader { is_table, cursor: Cursor { at, .. }, .. } = reader;
        if !is_table {
            return cursor.at;
        }
        if undecided {
            self.open_table(false, self.left);
        }
        if state == V2State::Row {
            self.begin_rows();
        } else {
            self.state = State::V2(state);
        }
        at
    }
}

/// The columns of a header that are being read.
struct ColumnReader<'s, 'c, K> {
    schema: &'s mut Schema,
    cursor: Cursor<'c, K>,
    /// Whether a byte has shown that the header is a table's.
    is_table: bool,
}

impl<K: Kernel> ColumnReader<'_, '_, K> {
    /// Reads one token; returns the state after it, none if the machine has to read it.
    #[inline(always)]
    fn step(&mut self, state: V2State) -> Option<V2State> {
        let rest = self.cursor.bytes.get(self.cursor.at..)?;
        let &[byte, next] = rest.first_chunk()?;
        match (state, byte) {
            // The machine reads the mark of an open list.
            (V2State::ColumnKey, _) => self.key(),
            // An error.
            (V2State::AfterColumnKey, OPTIONAL_SIGN | SPLICE_SIGN | TEMPLATE_SIGN) if self.schema.in_open_list() => {
                None
            }
            (V2State::AfterColumnKey | V2State::AfterOptional | V2State::AfterColumn { .. }, COMMA) => {
                self.cursor.at += 1;
                Some(V2State::ColumnKey)
            }
            (V2State::AfterColumnKey | V2State::AfterOptional | V2State::AfterColumn { .. }, b'}') => self.close_list(),
            (V2State::AfterColumnKey, OPTIONAL_SIGN) => {
                self.schema.last().kind = ColumnKind::Optional;
                self.consume_of_table(1);
                Some(V2State::AfterOptional)
            }
            (V2State::AfterColumnKey | V2State::AfterOptional, b'{') => {
                self.schema.begin_nested_list();
                self.consume_of_table(1);
                Some(V2State::ColumnKey)
            }
            (V2State::AfterColumnKey, SPLICE_SIGN) if next == b'{' => {
                self.schema.open_splice();
                self.consume_of_table(2);
                Some(V2State::ColumnKey)
            }
            (V2State::AfterColumnKey, CONSTANT_SIGN) => self.value(false),
            (V2State::AfterOptional | V2State::AfterColumn { default: true }, CONSTANT_SIGN) => self.value(true),
            (V2State::AfterColumnKey, TEMPLATE_SIGN) => {
                // The machine reads templates.
                self.is_table = true;
                None
            }
            (V2State::ListColon, b':') if next == LINE_FEED => {
                self.consume_of_table(2);
                Some(V2State::Row)
            }
            _ => None,
        }
    }

    /// Consumes bytes that only a table's header has.
    #[inline(always)]
    fn consume_of_table(&mut self, bytes: usize) {
        self.is_table = true;
        self.cursor.at += bytes;
    }

    #[inline(always)]
    fn key(&mut self) -> Option<V2State> {
        let Cursor { bytes, at, limits, .. } = self.cursor;
        let (end, bare) = self.cursor.key_end(at)?;
        if end - at > self.schema.room(limits) {
            return None;
        }
        self.schema.add_key(&bytes[at..end], bare, self.cursor.offset(), limits).ok()?;
        self.cursor.at = end;
        Some(V2State::AfterColumnKey)
    }

    /// Reads a constant or default that is a scalar, from its `=` on.
    #[inline(always)]
    fn value(&mut self, default: bool) -> Option<V2State> {
        self.is_table = true;
        let Cursor { bytes, at, limits, .. } = self.cursor;
        let start = at + 1;
        let (end, bare) = self.cursor.member_end(start)?;
        let is_whole = matches!(bytes.get(end), Some(&COMMA | b'}'));
        let quote: &[u8] = if bare { b"\"" } else { b"" };
        // The default of a filled column is no bare string (STC.md, 17.11).
        let is_wrong = bare && self.schema.last_is_filled();
        if end - start + 2 * quote.len() > self.schema.room(limits) || !is_whole || is_wrong {
            return None;
        }
        self.schema.set_value(default, [quote, &bytes[start..end], quote], 0);
        self.cursor.at = end;
        Some(V2State::AfterColumn { default: false })
    }

    /// Closes a list, at its `}`; none if that is an error, which the machine meets again and reports.
    #[inline(always)]
    fn close_list(&mut self) -> Option<V2State> {
        let outermost = self.schema.close_list().ok()?;
        self.cursor.at += 1;
        Some(self.schema.after_list(outermost))
    }
}
