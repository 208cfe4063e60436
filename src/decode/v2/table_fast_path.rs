//! The fast path over the rows of a table (grammar/STC.md, section 16), a cell at a time.
//!
//! A cell is copied with its key; the fixed text up to the next cell, which the [schema](crate::decode::v2::schema) has ready, is
//! one copy more. Scalars, references, copies, arrays of scalars, tuples and arrays of tuples are taken; the machine reads any
//! other cell, a row with templates at its beginning and end, and whatever is an error.
//!
//! Rows are separated by line feeds, which a string must not hold: a string that ends after the next line feed is an error.

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, LOOKAHEAD, SLACK};
use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{State, V2State};
use crate::decode::v2::columns::{ColumnKind, FixedText, NONE};
use crate::decode::v2::frames::{FrameKind, OpenTuple};
use crate::decode::v2::table_steps::starts_template_cell;
use crate::format::{COMMA, LINE_FEED};
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;
use crate::json::span::copy;

impl Machine {
    /// Reads rows, in input whose line feeds end them; returns the position it came to.
    pub(crate) fn fast_rows<K: Kernel>(&mut self, cursor: Cursor<'_, K>, out: &mut Output<'_>) -> usize {
        let mut at = cursor.at;
        if cursor.has_lookahead() {
            at = self.read_rows(cursor, out);
        }
        let continues = matches!(self.state, State::V2(V2State::Cell | V2State::Row));
        let rest = &cursor.bytes[at..];
        if continues && (1..LOOKAHEAD).contains(&rest.len()) {
            // So near the end a kernel cannot load whole spans. It can in a copy with zeros after it, where no token goes on.
            let mut tail = [0; 2 * LOOKAHEAD];
            tail[..rest.len()].copy_from_slice(rest);
            let stop = rest.len();
            let end = memchr::memchr2(b'\t', b'\r', rest).map_or(stop, |control| control + 1);
            let bytes = &tail[..stop + LOOKAHEAD];
            at += self.read_rows(Cursor { bytes, at: 0, end, stop, base: cursor.base + at as u64, ..cursor }, out);
        }
        at
    }

    #[inline(never)]
    fn read_rows<K: Kernel>(&mut self, cursor: Cursor<'_, K>, out: &mut Output<'_>) -> usize {
        cursor.kernel.enter(
            #[inline(always)]
            || {
                let (pen, anchored) = out.pen(8 * (cursor.bytes.len() - cursor.at), cursor.offset());
                let (tuple, line) = (self.tuple(), line_end(&cursor));
                let mut reader = RowReader { machine: self, cursor, pen, anchored, tuple, line };
                reader.read();
                let (at, written) = (reader.cursor.at, reader.pen.written());
                out.keep(written);
                at
            },
        )
    }
}

/// What a [`RowReader`] reads next.
enum Next {
    /// A cell of the tuple. The tuple has one more.
    Cell,
    /// The byte after a cell, or the end of a tuple without cells.
    AfterCell,
    /// Nothing: the machine continues in this state, in the tuple.
    Leave(State),
    /// Nothing: the machine continues in this state, and the tuple is closed.
    Closed(State),
}

/// A table whose rows are being read.
struct RowReader<'m, 'c, 'o, K> {
    machine: &'m mut Machine,
    cursor: Cursor<'c, K>,
    pen: Pen<'o, u8>,
    /// The texts of anchored values.
    anchored: &'o [u8],
    /// The innermost row or tuple. Its frame is not up to date while it is here.
    tuple: OpenTuple,
    /// Where the row ends.
    line: usize,
}

impl<K: Kernel> RowReader<'_, '_, '_, K> {
    #[inline(always)]
    fn read(&mut self) {
        let mut next = match self.machine.state {
            State::V2(V2State::Row) => self.first_row(),
            // The machine reads a tuple without cells.
            state if self.tuple.column == NONE => Next::Leave(state),
            _ => Next::Cell,
        };
        self.machine.state = loop {
            next = match next {
                Next::Cell => self.cell(),
                Next::AfterCell => self.after_cell(),
                Next::Leave(state) => {
                    self.machine.set_tuple(self.tuple);
                    break state;
                }
                Next::Closed(state) => break state,
            };
        };
    }

    /// Begins the first row, or the one that the machine came to.
    #[inline(always)]
    fn first_row(&mut self) -> Next {
        let depth = self.machine.nesting.depth();
        let levels = 1 + self.machine.v2.schema.list(0).height;
        match self.machine.v2.at(depth).copied() {
            Some(FrameKind::Table { keyed, .. }) if depth + levels <= self.cursor.limits.depth => self.begin_row(keyed),
            _ => Next::Closed(State::V2(V2State::Row)),
        }
    }

    /// Begins a row, at its first byte, of a table without templates.
    #[inline(always)]
    fn begin_row(&mut self, keyed: bool) -> Next {
        let row = Next::Closed(State::V2(V2State::Row));
        let cursor = self.cursor;
        let fixed = self.machine.v2.schema.list(0).fixed_before.len();
        if fixed + SLACK > self.pen.left() || !cursor.has_lookahead() || cursor.at >= cursor.stop {
            return row;
        }
        self.line = line_end(&cursor);
        if keyed {
            let Some((end, bare)) = cursor.key_end(cursor.at) else { return row };
            let fits = end - cursor.at + fixed + SLACK <= self.pen.left();
            if end > self.line || !fits || end + LOOKAHEAD > cursor.bytes.len() || cursor.bytes[end] != b':' {
                return row;
            }
            cursor.copy_key(cursor.at, end, bare, &mut self.pen);
            self.cursor.at = end + 1;
        }
        self.begin_tuple(true, 0)
    }

    /// Begins a row or tuple, up to its first cell. There must be room for it.
    #[inline(always)]
    fn begin_tuple(&mut self, row: bool, list: u32) -> Next {
        let machine = &mut *self.machine;
        let list = *machine.v2.schema.list(list);
        self.pen.write(b"{");
        machine.nesting.open(Container::Object);
        machine.nesting.reach(list.height);
        let insertions = machine.v2.insertions.len();
        self.tuple = OpenTuple { row, column: list.first_cell, has_key: false, insertions };
        let depth = machine.nesting.depth();
        machine.v2.push(depth, FrameKind::Tuple(self.tuple));
        self.write_fixed(list.fixed_before);
        if list.first_cell == NONE { Next::AfterCell } else { Next::Cell }
    }
}

/// Cells.
impl<K: Kernel> RowReader<'_, '_, '_, K> {
    #[inline(always)]
    fn cell(&mut self) -> Next {
        let leave = Next::Leave(State::V2(V2State::Cell));
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
            return Next::Cell;
        }
        if column.in_template && !starts_template_cell(byte) {
            return leave;
        }
        let taken = if byte == COMMA || byte == self.tuple.end() {
            self.empty_cell()
        } else if let Some(kind) = Kind::of(byte) {
            self.scalar(kind)
        } else if matches!(byte, b'$' | b'*') {
            self.named()
        } else if byte == b'[' && bytes[at + 1] != b'(' {
            self.scalars()
        } else if matches!(byte, b'(' | b'[') && column.list != NONE {
            return self.open_cell(column.list, byte == b'[').unwrap_or(leave);
        } else {
            false
        };
        if taken { self.end_cell() } else { leave }
    }

    /// Returns whether there is room for the column's key and `length` bytes more.
    #[inline(always)]
    fn fits(&self, length: usize) -> bool {
        self.machine.v2.schema.column(self.tuple.column).key.len() + 1 + length + SLACK <= self.pen.left()
    }

    /// Writes the column's key, with the comma before it.
    #[inline(always)]
    fn write_key(&mut self) {
        let schema = &self.machine.v2.schema;
        let key = &schema.column(self.tuple.column).key;
        let comma = usize::from(std::mem::replace(&mut self.tuple.has_key, true));
        copy(&schema.text, key.start - comma, key.end, &mut self.pen);
    }

    /// Reads an empty cell (STC.md, 17.2 and 17.8).
    #[inline(always)]
    fn empty_cell(&mut self) -> bool {
        match &self.machine.v2.schema.column(self.tuple.column).kind {
            ColumnKind::Optional => true,
            ColumnKind::Default(value) if self.fits(value.len()) => {
                let (from, to) = (value.start, value.end);
                self.write_key();
                copy(&self.machine.v2.schema.text, from, to, &mut self.pen);
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn scalar(&mut self, kind: Kind) -> bool {
        let at = self.cursor.at;
        let Some(end) = self.cursor.lexeme_end(at, kind) else { return false };
        if end > self.line || !self.fits(end - at) {
            return false;
        }
        self.write_key();
        let start = self.pen.at();
        self.cursor.copy(at, end, &mut self.pen);
        self.cursor.at = end;
        self.keep_cell_text(kind == Kind::Text, start);
        true
    }

    /// Reads a reference or a copy (STC.md, 15.2 and 19.2).
    #[inline(always)]
    fn named(&mut self) -> bool {
        let Some(named) = self.machine.named_text(&self.cursor, self.anchored) else { return false };
        let (end, height) = (named.end, named.height);
        let depth = self.machine.nesting.depth() + height;
        if end > self.line || !self.fits(named.len()) || depth > self.cursor.limits.depth {
            return false;
        }
        let schema = &self.machine.v2.schema;
        let key = &schema.column(self.tuple.column).key;
        let comma = usize::from(std::mem::replace(&mut self.tuple.has_key, true));
        copy(&schema.text, key.start - comma, key.end, &mut self.pen);
        let start = self.pen.at();
        named.write(self.cursor.bytes, &mut self.pen);
        self.cursor.at = end;
        self.keep_cell_text(true, start);
        self.machine.nesting.reach(height);
        true
    }

    /// Notes the cell that was written from `start` on, if a template names its column.
    #[inline(always)]
    fn keep_cell_text(&mut self, quoted: bool, start: usize) {
        if self.machine.v2.schema.column(self.tuple.column).in_template {
            self.machine.v2.keep_cell_text(self.tuple.column, quoted, start, self.pen.at());
        }
    }

    /// Reads an array of scalars.
    #[inline(always)]
    fn scalars(&mut self) -> bool {
        let at = self.cursor.at;
        let Some(end) = scalars_end(&self.cursor, self.line) else { return false };
        if end >= self.cursor.end || !self.fits(end - at) || self.machine.nesting.depth() >= self.cursor.limits.depth {
            return false;
        }
        self.write_key();
        self.cursor.copy(at, end, &mut self.pen);
        self.cursor.at = end;
        self.machine.nesting.reach(1);
        true
    }

    /// Opens a tuple, or an array and the tuple that is its first element (STC.md, 17.4).
    #[inline(always)]
    fn open_cell(&mut self, list: u32, array: bool) -> Option<Next> {
        let inner = self.machine.v2.schema.list(list);
        let depth = self.machine.nesting.depth() + usize::from(array) + 1 + inner.height;
        let fixed = inner.fixed_before;
        if fixed.has_template || !self.fits(fixed.len()) || depth > self.cursor.limits.depth {
            return None;
        }
        self.write_key();
        self.machine.set_tuple(self.tuple);
        if array {
            self.pen.write(b"[");
            self.machine.nesting.open(Container::Array);
            self.machine.opened_array(list);
            self.cursor.at += 1;
        }
        self.cursor.at += 1;
        Some(self.begin_tuple(false, list))
    }

    /// Ends a cell: writes the fixed text after it, and moves on to the next column that has a cell.
    #[inline(always)]
    fn end_cell(&mut self) -> Next {
        let column = self.machine.v2.schema.column(self.tuple.column);
        let (fixed, next_cell) = (column.fixed_after, column.next_cell);
        if fixed.has_template || fixed.len() + SLACK > self.pen.left() {
            // The machine writes the columns one by one.
            return Next::Leave(State::After);
        }
        self.write_fixed(fixed);
        self.tuple.column = next_cell;
        Next::AfterCell
    }

    #[inline(always)]
    fn write_fixed(&mut self, fixed: FixedText) {
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

/// What comes after a cell.
impl<K: Kernel> RowReader<'_, '_, '_, K> {
    /// Reads the comma before a further cell, or what ends the row or tuple.
    #[inline(always)]
    fn after_cell(&mut self) -> Next {
        let leave = Next::Leave(State::V2(V2State::AfterCell));
        let byte = self.cursor.byte();
        if self.tuple.column != NONE {
            if byte != COMMA {
                return leave;
            }
            self.cursor.at += 1;
            return Next::Cell;
        }
        // The machine ends a row that is held, and a tuple whose templates have to be filled.
        let v2 = &self.machine.v2;
        let held = self.tuple.row && v2.schema.has_templates() || v2.insertions.len() > self.tuple.insertions;
        if byte != self.tuple.end() || self.pen.left() < SLACK || held {
            return leave;
        }
        self.cursor.at += 1;
        self.pen.write(b"}");
        self.machine.v2.pop();
        self.machine.nesting.close();
        self.after_tuple()
    }

    #[inline(always)]
    fn after_tuple(&mut self) -> Next {
        let depth = self.machine.nesting.depth();
        let v2 = &mut self.machine.v2;
        match v2.at(depth).copied() {
            // The machine ends the value of an anchor.
            _ if v2.is_anchored(depth + 1) => Next::Closed(State::After),
            Some(FrameKind::Tuple(outer)) if !self.tuple.row => self.continue_in(outer),
            Some(FrameKind::TupleArray { list }) => self.after_element(list),
            Some(FrameKind::Table { keyed, left }) if self.tuple.row => self.after_row(keyed, left - 1),
            _ => Next::Closed(State::After),
        }
    }

    /// Continues in the tuple around the value that is complete: the value was a cell of it.
    #[inline(always)]
    fn continue_in(&mut self, outer: OpenTuple) -> Next {
        if !self.cursor.has_lookahead() {
            return Next::Closed(State::After);
        }
        self.tuple = outer;
        self.end_cell()
    }

    /// Reads what comes after a tuple in an array: a further tuple, or the end of the array.
    #[inline(always)]
    fn after_element(&mut self, list: u32) -> Next {
        let Cursor { bytes, at, limits, .. } = self.cursor;
        let after = Next::Closed(State::After);
        if !self.cursor.has_lookahead() {
            return after;
        }
        if bytes[at] == b']' {
            self.pen.write(b"]");
            self.cursor.at += 1;
            self.machine.v2.pop();
            self.machine.nesting.close();
            let depth = self.machine.nesting.depth();
            return match self.machine.v2.at(depth).copied() {
                Some(FrameKind::Tuple(outer)) if !self.machine.v2.is_anchored(depth + 1) => self.continue_in(outer),
                _ => after,
            };
        }
        let inner = self.machine.v2.schema.list(list);
        let fits = inner.fixed_before.len() + SLACK <= self.pen.left();
        let depth = self.machine.nesting.depth() + 1 + inner.height;
        if &bytes[at..at + 2] != b",(" || inner.fixed_before.has_template || !fits || depth > limits.depth {
            return after;
        }
        self.pen.write(b",");
        self.cursor.at += 2;
        self.begin_tuple(false, list)
    }

    /// Begins the next row of a table that has `left` more; ends the table if there are none.
    #[inline(always)]
    fn after_row(&mut self, keyed: bool, left: u64) -> Next {
        let machine = &mut *self.machine;
        if left == 0 {
            self.pen.write(if keyed { b"}" } else { b"]" });
            machine.v2.pop();
            machine.nesting.close();
            return Next::Closed(State::V2(V2State::AfterTable));
        }
        let depth = machine.nesting.depth();
        if let Some(kind) = machine.v2.at(depth) {
            *kind = FrameKind::Table { keyed, left };
        }
        self.pen.write(b",");
        self.begin_row(keyed)
    }
}

/// Returns the position of the line feed that ends the cursor's line.
#[inline(always)]
fn line_end<K: Kernel>(cursor: &Cursor<'_, K>) -> usize {
    let rest = &cursor.bytes[cursor.at..cursor.stop];
    memchr::memchr(LINE_FEED, rest).map_or(cursor.stop, |length| cursor.at + length)
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
