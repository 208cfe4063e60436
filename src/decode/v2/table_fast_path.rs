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
use crate::decode::v2::columns::NONE;
use crate::decode::v2::frames::{FrameKind, OpenTuple};
use crate::format::{COMMA, LINE_FEED, TUPLE_OPEN, WHOLE_ROW_SIGN};
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;

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
pub(super) enum NextInRow {
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
pub(super) struct RowReader<'m, 'c, 'o, K> {
    pub(super) machine: &'m mut Machine,
    pub(super) cursor: Cursor<'c, K>,
    pub(super) pen: Pen<'o, u8>,
    /// The texts of anchored values.
    pub(super) anchored: &'o [u8],
    /// The innermost row or tuple. Its frame is not up to date while it is here.
    pub(super) tuple: OpenTuple,
    /// Where the row ends.
    pub(super) line: usize,
}

impl<K: Kernel> RowReader<'_, '_, '_, K> {
    #[inline(always)]
    fn read(&mut self) {
        let mut next = match self.machine.state {
            State::V2(V2State::Row) => self.first_row(),
            // The machine reads a tuple without cells.
            state if self.tuple.column == NONE => NextInRow::Leave(state),
            _ => NextInRow::Cell,
        };
        self.machine.state = loop {
            next = match next {
                NextInRow::Cell => self.cell(),
                NextInRow::AfterCell => self.after_cell(),
                NextInRow::Leave(state) => {
                    self.machine.set_tuple(self.tuple);
                    break state;
                }
                NextInRow::Closed(state) => break state,
            };
        };
    }

    /// Begins the first row, or the one that the machine came to.
    #[inline(always)]
    fn first_row(&mut self) -> NextInRow {
        let depth = self.machine.nesting.depth();
        let levels = 1 + self.machine.v2.schema.list(0).height;
        match self.machine.v2.at(depth).copied() {
            Some(FrameKind::Table { keyed, .. }) if depth + levels <= self.cursor.limits.depth => self.begin_row(keyed),
            _ => NextInRow::Closed(State::V2(V2State::Row)),
        }
    }

    /// Begins a row, at its first byte, of a table without templates.
    #[inline(always)]
    fn begin_row(&mut self, keyed: bool) -> NextInRow {
        let row = NextInRow::Closed(State::V2(V2State::Row));
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
            // The machine reads a row that is a value, and one whose first byte is not there yet.
            if end + 1 >= cursor.stop || cursor.bytes[end + 1] == WHOLE_ROW_SIGN {
                return row;
            }
            cursor.copy_key(cursor.at, end, bare, &mut self.pen);
            self.cursor.at = end + 1;
        } else if cursor.bytes[cursor.at] == WHOLE_ROW_SIGN {
            return row;
        }
        self.begin_tuple(true, 0)
    }

    /// Begins a row or tuple, up to its first cell. There must be room for it.
    #[inline(always)]
    pub(super) fn begin_tuple(&mut self, row: bool, list: u32) -> NextInRow {
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
        if list.first_cell == NONE { NextInRow::AfterCell } else { NextInRow::Cell }
    }
}

/// What comes after a cell.
impl<K: Kernel> RowReader<'_, '_, '_, K> {
    /// Reads the comma before a further cell, or what ends the row or tuple.
    #[inline(always)]
    fn after_cell(&mut self) -> NextInRow {
        let leave = NextInRow::Leave(State::V2(V2State::AfterCell));
        let byte = self.cursor.byte();
        if self.tuple.column != NONE {
            if byte != COMMA {
                return leave;
            }
            self.cursor.at += 1;
            return NextInRow::Cell;
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
    fn after_tuple(&mut self) -> NextInRow {
        let depth = self.machine.nesting.depth();
        let v2 = &mut self.machine.v2;
        match v2.at(depth).copied() {
            // The machine ends the value of an anchor.
            _ if v2.is_anchored(depth + 1) => NextInRow::Closed(State::After),
            Some(FrameKind::Tuple(outer)) if !self.tuple.row => self.continue_in(outer),
            Some(FrameKind::TupleArray { list }) => self.after_element(list),
            Some(FrameKind::Table { keyed, left }) if self.tuple.row => self.after_row(keyed, left - 1),
            _ => NextInRow::Closed(State::After),
        }
    }

    /// Continues in the tuple around the value that is complete: the value was a cell of it.
    #[inline(always)]
    fn continue_in(&mut self, outer: OpenTuple) -> NextInRow {
        if !self.cursor.has_lookahead() {
            return NextInRow::Closed(State::After);
        }
        self.tuple = outer;
        self.end_cell()
    }

    /// Reads what comes after a tuple in an array: a further tuple, or the end of the array.
    #[inline(always)]
    fn after_element(&mut self, list: u32) -> NextInRow {
        let Cursor { bytes, at, limits, .. } = self.cursor;
        let after = NextInRow::Closed(State::After);
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
        if bytes[at..at + 2] != [COMMA, TUPLE_OPEN] || inner.fixed_before.has_template || !fits || depth > limits.depth
        {
            return after;
        }
        self.pen.write(b",");
        self.cursor.at += 2;
        self.begin_tuple(false, list)
    }

    /// Begins the next row of a table that has `left` more; ends the table if there are none.
    #[inline(always)]
    fn after_row(&mut self, keyed: bool, left: u64) -> NextInRow {
        let machine = &mut *self.machine;
        if left == 0 {
            self.pen.write(if keyed { b"}" } else { b"]" });
            machine.v2.pop();
            machine.nesting.close();
            return NextInRow::Closed(State::V2(V2State::AfterTable));
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
