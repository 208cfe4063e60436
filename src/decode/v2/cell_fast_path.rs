//! The fast path over the cells of a row or tuple (grammar/STC.md, sections 16.2 and 17), a part of the
//! [fast path over rows](crate::decode::v2::table_fast_path).
//!
//! A cell is taken only if all of it is at hand and its output, with its key and the fixed text after it, has room: the machine
//! finds limits and errors at the right byte.

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, SLACK};
use crate::decode::state::{State, V2State};
use crate::decode::v2::columns::{ColumnKind, Filling, FixedText, NONE};
use crate::decode::v2::frames::{FrameKind, OpenTuple};
use crate::decode::v2::schema::Schema;
use crate::decode::v2::table_fast_path::{NextInRow, RowReader};
use crate::decode::v2::table_steps::starts_template_cell;
use crate::format::{COMMA, COPY_SIGIL, DICTIONARY_SIGIL, TUPLE_OPEN, is_literal, starts_word};
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;
use crate::json::span::copy;

/// What the cell that is being read needs of its column, looked up once.
#[derive(Clone, Copy)]
struct CellColumn {
    /// Its key: a range of the schema's text.
    key_start: usize,
    key_end: usize,
    in_template: bool,
}

impl<K: Kernel> RowReader<'_, '_, '_, K> {
    #[inline(always)]
    pub(super) fn cell(&mut self) -> NextInRow {
        let leave = NextInRow::Leave(State::V2(V2State::Cell));
        let Cursor { bytes, at, .. } = self.cursor;
        if !self.cursor.has_lookahead() {
            return leave;
        }
        let byte = bytes[at];
        let column = self.machine.v2.schema.column(self.tuple.column);
        // Where rows differ in their keys, most of a line is commas.
        if byte == COMMA && column.skips_to_next_cell() {
            self.tuple.column = column.next_cell;
            self.cursor.at += 1;
            return NextInRow::Cell;
        }
        if column.in_template && !starts_template_cell(byte) {
            return leave;
        }
        let (list, filling) = (column.list, column.filling);
        let column =
            CellColumn { key_start: column.key.start, key_end: column.key.end, in_template: column.in_template };
        let taken = if byte == COMMA || byte == self.tuple.end() {
            self.empty_cell(column)
        } else if filling != NONE && starts_word(byte) {
            self.filled(filling, column)
        } else if let Some(kind @ (Kind::Text | Kind::Number)) = Kind::of(byte) {
            self.scalar(kind, column)
        } else if byte.is_ascii_alphabetic() {
            self.word(column)
        } else if matches!(byte, DICTIONARY_SIGIL | COPY_SIGIL) {
            self.named(column)
        } else if byte == b'[' && bytes[at + 1] != TUPLE_OPEN {
            self.scalars(column)
        } else if matches!(byte, TUPLE_OPEN | b'[') && list != NONE {
            return self.open_cell(list, byte == b'[', column).unwrap_or(leave);
        } else {
            false
        };
        if taken { self.end_cell() } else { leave }
    }

    /// Returns whether there is room for the column's key and `length` bytes more.
    #[inline(always)]
    fn fits(&self, column: CellColumn, length: usize) -> bool {
        column.key_end - column.key_start + 1 + length + SLACK <= self.pen.left()
    }

    /// Writes the column's key, with the comma before it.
    #[inline(always)]
    fn write_key(&mut self, column: CellColumn) {
        write_key(&self.machine.v2.schema, column, &mut self.tuple, &mut self.pen);
    }

    /// Reads an empty cell (STC.md, 17.2 and 17.8).
    #[inline(always)]
    fn empty_cell(&mut self, column: CellColumn) -> bool {
        match &self.machine.v2.schema.column(self.tuple.column).kind {
            ColumnKind::Optional => true,
            ColumnKind::Default(value) if self.fits(column, value.len()) => {
                let (from, to) = (value.start, value.end);
                self.write_key(column);
                copy(&self.machine.v2.schema.text, from, to, &mut self.pen);
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn scalar(&mut self, kind: Kind, column: CellColumn) -> bool {
        let at = self.cursor.at;
        let Some(end) = self.cursor.lexeme_end(at, kind) else { return false };
        if end > self.line || !self.fits(column, end - at) {
            return false;
        }
        self.write_key(column);
        let start = self.pen.at();
        self.cursor.copy(at, end, &mut self.pen);
        self.cursor.at = end;
        self.keep_cell_text(column, kind == Kind::Text, start);
        true
    }

    /// Reads a literal or a bare string (STC.md, 14.5).
    #[inline(always)]
    fn word(&mut self, column: CellColumn) -> bool {
        let at = self.cursor.at;
        let Some((end, bare)) = self.cursor.word_end(at) else { return false };
        if end > self.line || !self.fits(column, end - at) {
            return false;
        }
        self.write_key(column);
        self.cursor.copy_scalar(at, end, bare, &mut self.pen);
        self.cursor.at = end;
        true
    }

    /// Reads a word in the cell of a filled column (STC.md, 17.11). The machine reads those of templates that name columns.
    #[inline(always)]
    fn filled(&mut self, filling: u32, column: CellColumn) -> bool {
        let Filling { before, after } = *self.machine.v2.schema.filling(filling);
        let Cursor { at, bytes, .. } = self.cursor;
        let Some(end) = self.cursor.filled_word_end(at) else { return false };
        let has_names = before.has_names() || after.has_names();
        if has_names || end > self.line || !self.fits(column, before.len() + (end - at) + after.len()) {
            return false;
        }
        self.write_key(column);
        if is_literal(&bytes[at..end]) {
            self.cursor.copy(at, end, &mut self.pen);
        } else {
            let text = &self.machine.v2.schema.text;
            copy(text, before.from, before.to, &mut self.pen);
            self.cursor.copy(at, end, &mut self.pen);
            copy(text, after.from, after.to, &mut self.pen);
        }
        self.cursor.at = end;
        true
    }

    /// Reads a reference or a copy (STC.md, 15.2 and 19.2).
    #[inline(always)]
    fn named(&mut self, column: CellColumn) -> bool {
        let Some(named) = self.machine.named_text(&self.cursor, self.anchored) else { return false };
        let (end, height) = (named.end, named.height);
        let depth = self.machine.nesting.depth() + height;
        if end > self.line || !self.fits(column, named.len()) || depth > self.cursor.limits.depth {
            return false;
        }
        write_key(&self.machine.v2.schema, column, &mut self.tuple, &mut self.pen);
        let start = self.pen.at();
        named.write(self.cursor.bytes, &mut self.pen);
        self.cursor.at = end;
        self.keep_cell_text(column, true, start);
        self.machine.nesting.reach(height);
        true
    }

    /// Notes the cell that was written from `start` on, if a template names its column.
    #[inline(always)]
    fn keep_cell_text(&mut self, column: CellColumn, quoted: bool, start: usize) {
        if column.in_template {
            self.machine.v2.keep_cell_text(self.tuple.column, quoted, start, self.pen.at());
        }
    }

    /// Reads an array of scalars.
    #[inline(always)]
    fn scalars(&mut self, column: CellColumn) -> bool {
        let at = self.cursor.at;
        let Some(end) = scalars_end(&self.cursor, self.line) else { return false };
        if end >= self.cursor.end
            || !self.fits(column, end - at)
            || self.machine.nesting.depth() >= self.cursor.limits.depth
        {
            return false;
        }
        self.write_key(column);
        self.cursor.copy(at, end, &mut self.pen);
        self.cursor.at = end;
        self.machine.nesting.reach(1);
        true
    }

    /// Opens a tuple, or an array and the tuple that is its first element (STC.md, 17.4).
    #[inline(always)]
    fn open_cell(&mut self, list: u32, array: bool, column: CellColumn) -> Option<NextInRow> {
        let inner = self.machine.v2.schema.list(list);
        let depth = self.machine.nesting.depth() + usize::from(array) + 1 + inner.height;
        let fixed = inner.fixed_before;
        if fixed.has_template || !self.fits(column, fixed.len()) || depth > self.cursor.limits.depth {
            return None;
        }
        self.write_key(column);
        self.machine.set_tuple(self.tuple);
        if array {
            self.pen.write(b"[");
            self.machine.nesting.open(Container::Array);
            self.machine.opened_array(Some(FrameKind::TupleArray { list }));
            self.cursor.at += 1;
        }
        self.cursor.at += 1;
        Some(self.begin_tuple(false, list))
    }

    /// Ends a cell: writes the fixed text after it, and moves on to the next column that has a cell.
    #[inline(always)]
    pub(super) fn end_cell(&mut self) -> NextInRow {
        let column = self.machine.v2.schema.column(self.tuple.column);
        let (fixed, next_cell) = (column.fixed_after, column.next_cell);
        if fixed.has_template || fixed.len() + SLACK > self.pen.left() {
            // The machine writes the columns one by one.
            return NextInRow::Leave(State::After);
        }
        self.write_fixed(fixed);
        self.tuple.column = next_cell;
        NextInRow::AfterCell
    }

    #[inline(always)]
    pub(super) fn write_fixed(&mut self, fixed: FixedText) {
        if fixed.is_empty() {
            return;
        }
        let machine = &mut *self.machine;
        copy(&machine.v2.schema.text, fixed.start(self.tuple.has_key), fixed.to, &mut self.pen);
        self.tuple.has_key = !fixed.ends_open;
        if fixed.depth_change != 0 {
            for _ in 0..fixed.depth_change {
                machine.nesting.open(Container::Object);
            }
            for _ in fixed.depth_change..0 {
                machine.nesting.close();
            }
            machine.v2.move_tuple(machine.nesting.depth());
        }
    }
}

/// Writes the key of a tuple's column, with the comma before it.
#[inline(always)]
fn write_key(schema: &Schema, column: CellColumn, tuple: &mut OpenTuple, pen: &mut Pen<'_, u8>) {
    let comma = usize::from(std::mem::replace(&mut tuple.has_key, true));
    copy(&schema.text, column.key_start - comma, column.key_end, pen);
}

/// Returns where the array at the cursor ends, if it holds scalars only, without whitespace.
#[inline(always)]
fn scalars_end<K: Kernel>(cursor: &Cursor<'_, K>, line: usize) -> Option<usize> {
    let Cursor { bytes, mut at, .. } = *cursor;
    if bytes[at + 1] == b']' {
        return Some(at + 2);
    }
    loop {
        at = cursor.scalar_end(at + 1)?;
        match bytes.get(at)? {
            _ if at > line => return None,
            b',' => {}
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}
