//! Rows of version 2, many at a time, in input that is clean.
//!
//! As in the [`sprint`](crate::decode::fast_path) of version 1, whatever is not plainly good is left to the machine, which finds
//! things as if it had come there by itself. A string cannot hold a line feed, so one that would end behind the next
//! line feed is not good.

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, LOOKAHEAD, SLACK};
use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{State, V2State};
use crate::decode::v2::frames::{FrameKind, Record};
use crate::decode::v2::schema::{Kind, NONE, Piece};
use crate::format::{COMMA, LINE_FEED};
use crate::json::lexer;
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;
use crate::json::span::copy;

/// How things go on behind a record.
enum Behind {
    /// This record has had a cell.
    Cell(Record),
    /// This one has just begun.
    Begun(Record),
    /// The machine goes on in this state.
    State(State),
}

impl Machine {
    /// Reads rows, in input whose line feeds end them; returns the position it came to.
    pub(crate) fn fast_rows<K: Kernel>(&mut self, cursor: Cursor<'_, K>, out: &mut Output<'_>) -> usize {
        cursor.kernel.enter(
            #[inline(always)]
            || self.cells_of_rows(cursor, out),
        )
    }

    #[inline(always)]
    fn cells_of_rows<K: Kernel>(&mut self, mut cursor: Cursor<'_, K>, out: &mut Output<'_>) -> usize {
        let Cursor { bytes, limits, .. } = cursor;
        let (mut pen, anchored) = out.pen(8 * (bytes.len() - cursor.at), cursor.offset());
        let templates = self.v2.schema.has_templates();
        let mut record = self.record();
        let mut state = self.state;
        let mut line = line_end(bytes, cursor.at);
        'cells: while cursor.has_lookahead() && record.column != NONE {
            let schema = &self.v2.schema;
            let column = schema.column(record.column);
            let at = cursor.at;
            let byte = bytes[at];
            // Where rows differ in their keys, most of a line is commas.
            if byte == COMMA && column.kind == Kind::Optional && column.leads_on() {
                record.column = column.next_cell;
                cursor.at += 1;
                continue;
            }
            let room = pen.left();
            let key = column.key.len() + 1;
            let empty = byte == COMMA || byte == if record.row { LINE_FEED } else { b')' };
            if column.named && !matches!(byte, b'"' | b'$' | b'-' | b'0'..=b'9') {
                break;
            }
            if empty {
                match &column.kind {
                    Kind::Optional => {}
                    Kind::Default(value) if key + value.len() + SLACK <= room => {
                        put_key(&schema.text, column.key.start, column.key.end, &mut record.wrote, &mut pen);
                        copy(&schema.text, value.start, value.end, &mut pen);
                    }
                    _ => break,
                }
            } else if let Some(kind) = lexer::Kind::of(byte) {
                let Some(end) = cursor.lexeme_end(at, kind) else { break };
                if end > line || end >= bytes.len() || end - at + key + SLACK > room {
                    break;
                }
                put_key(&schema.text, column.key.start, column.key.end, &mut record.wrote, &mut pen);
                let start = pen.at();
                cursor.copy(at, end, &mut pen);
                cursor.at = end;
                if column.named {
                    self.v2.captured(record.column, byte == b'"', start, pen.at());
                }
            } else if matches!(byte, b'$' | b'*') {
                let Some(found) = self.reference(&cursor, anchored) else { break };
                let depth = self.nesting.depth() + found.height;
                if found.end > line || found.len() + key + SLACK > room || depth > limits.depth {
                    break;
                }
                let (end, height) = (found.end, found.height);
                put_key(&schema.text, column.key.start, column.key.end, &mut record.wrote, &mut pen);
                let start = pen.at();
                found.write(bytes, &mut pen);
                cursor.at = end;
                if column.named {
                    self.v2.captured(record.column, true, start, pen.at());
                }
                self.nesting.reach(height);
            } else if byte == b'[' && bytes[at + 1] != b'(' {
                let Some(end) = flat_end(&cursor, line) else { break };
                if end >= bytes.len() || end - at + key + SLACK > room || self.nesting.depth() >= limits.depth {
                    break;
                }
                put_key(&schema.text, column.key.start, column.key.end, &mut record.wrote, &mut pen);
                cursor.copy(at, end, &mut pen);
                cursor.at = end;
                self.nesting.reach(1);
            } else if matches!(byte, b'(' | b'[') && column.list != NONE {
                let (list, array) = (column.list, byte == b'[');
                let inner = schema.list(list);
                let depth = self.nesting.depth() + usize::from(array) + 1 + inner.height;
                if inner.lead.stops || key + inner.lead.len() + SLACK > room || depth > limits.depth {
                    break;
                }
                put_key(&schema.text, column.key.start, column.key.end, &mut record.wrote, &mut pen);
                self.set_record(record);
                if array {
                    pen.write(b"[");
                    self.nesting.open(Container::Array);
                    let depth = self.nesting.depth();
                    self.v2.push(depth, FrameKind::Array { list });
                    cursor.at += 1;
                }
                cursor.at += 1;
                record = self.begin_record(false, list, &mut pen);
                if record.column != NONE {
                    continue;
                }
            } else {
                break;
            }
            // Behind a cell, or at the end of a record without any.
            loop {
                if !self.next_cell(&mut record, &mut pen) {
                    // No room for the constants, or templates among them: the machine writes them.
                    state = State::After;
                    break 'cells;
                }
                state = State::V2(V2State::AfterCell);
                if record.column != NONE {
                    if cursor.byte() != COMMA {
                        break 'cells;
                    }
                    cursor.at += 1;
                    state = State::V2(V2State::Cell);
                    continue 'cells;
                }
                if cursor.byte() != if record.row { LINE_FEED } else { b')' } || pen.left() < SLACK {
                    break 'cells;
                }
                // A row that is held, and a record whose templates wait to be filled, are the machine's to end.
                if record.row && templates || self.v2.holes.len() > record.holes {
                    break 'cells;
                }
                cursor.at += 1;
                pen.write(b"}");
                self.v2.pop();
                self.nesting.close();
                match self.behind(record.row, &mut cursor, &mut pen) {
                    Behind::Cell(outer) => record = outer,
                    Behind::Begun(begun) => {
                        line = line_end(bytes, cursor.at);
                        record = begun;
                        state = State::V2(V2State::Cell);
                        if record.column != NONE {
                            continue 'cells;
                        }
                        record.begun = true;
                    }
                    Behind::State(next) => {
                        self.state = next;
                        let written = pen.written();
                        out.keep(written);
                        return cursor.at;
                    }
                }
                if !cursor.has_lookahead() {
                    // The cell of the record around has been read, and nothing behind it.
                    state = if record.begun { State::V2(V2State::Cell) } else { State::After };
                    break 'cells;
                }
            }
        }
        record.begun = false;
        self.set_record(record);
        self.state = state;
        let written = pen.written();
        out.keep(written);
        cursor.at
    }

    /// Goes to the next column that has a cell, and writes the constants before it; false if there is no room.
    #[inline(always)]
    fn next_cell(&mut self, record: &mut Record, pen: &mut Pen<'_, u8>) -> bool {
        if record.begun || record.column == NONE {
            record.begun = false;
            return true;
        }
        let column = self.v2.schema.column(record.column);
        let (piece, next_cell) = (column.behind, column.next_cell);
        if piece.stops || piece.len() + SLACK > pen.left() {
            return false;
        }
        self.put_piece(piece, record, pen);
        record.column = next_cell;
        true
    }

    /// Writes what stands between two cells.
    #[inline(always)]
    fn put_piece(&mut self, piece: Piece, record: &mut Record, pen: &mut Pen<'_, u8>) {
        if piece.len() == 0 {
            return;
        }
        copy(&self.v2.schema.text, piece.start(record.wrote), piece.to, pen);
        record.wrote = !piece.opens;
        if piece.rise != 0 {
            for _ in 0..piece.rise {
                self.nesting.open(Container::Object);
            }
            for _ in piece.rise..0 {
                self.nesting.close();
            }
            self.v2.record_at(self.nesting.depth());
        }
    }

    /// Begins a row or tuple, up to its first cell.
    #[inline(always)]
    fn begin_record(&mut self, row: bool, list: u32, pen: &mut Pen<'_, u8>) -> Record {
        let inner = *self.v2.schema.list(list);
        pen.write(b"{");
        self.nesting.open(Container::Object);
        self.nesting.reach(inner.height);
        let begun = inner.first_cell == NONE;
        let holes = self.v2.holes.len();
        let mut record = Record { row, column: inner.first_cell, wrote: false, holes, begun };
        let depth = self.nesting.depth();
        self.v2.push(depth, FrameKind::Record(record));
        self.put_piece(inner.lead, &mut record, pen);
        record
    }

    /// A record has ended: what comes next.
    #[inline(always)]
    fn behind<K: Kernel>(&mut self, row: bool, cursor: &mut Cursor<'_, K>, pen: &mut Pen<'_, u8>) -> Behind {
        let Cursor { bytes, limits, .. } = *cursor;
        let after = Behind::State(State::After);
        let depth = self.nesting.depth();
        // The value of an anchor may be complete.
        if self.v2.is_anchored(depth + 1) {
            return after;
        }
        match self.v2.at(depth) {
            Some(FrameKind::Record(outer)) if !row => Behind::Cell(*outer),
            Some(&mut FrameKind::Array { list }) => {
                if !cursor.has_lookahead() {
                    return after;
                }
                let inner = *self.v2.schema.list(list);
                match (bytes[cursor.at], bytes[cursor.at + 1]) {
                    (b']', _) => {
                        pen.write(b"]");
                        cursor.at += 1;
                        self.v2.pop();
                        self.nesting.close();
                        let depth = self.nesting.depth();
                        match self.v2.at(depth).copied() {
                            Some(FrameKind::Record(outer)) if !self.v2.is_anchored(depth + 1) => Behind::Cell(outer),
                            _ => after,
                        }
                    }
                    (COMMA, b'(')
                        if !inner.lead.stops
                            && inner.lead.len() + SLACK <= pen.left()
                            && depth + 1 + inner.height <= limits.depth =>
                    {
                        pen.write(b",");
                        cursor.at += 2;
                        Behind::Begun(self.begin_record(false, list, pen))
                    }
                    _ => after,
                }
            }
            Some(FrameKind::Table { keyed, left }) if row => {
                *left -= 1;
                let (keyed, left) = (*keyed, *left);
                if left == 0 {
                    pen.write(if keyed { b"}" } else { b"]" });
                    self.v2.pop();
                    self.nesting.close();
                    return Behind::State(State::V2(V2State::AfterTable));
                }
                pen.write(b",");
                let lead = self.v2.schema.list(0).lead.len();
                if lead + SLACK > pen.left() || !cursor.has_lookahead() {
                    return Behind::State(State::V2(V2State::Row));
                }
                if keyed {
                    let Some((end, bare)) = cursor.key_end(cursor.at) else {
                        return Behind::State(State::V2(V2State::Row));
                    };
                    let wraps = !bare && end > line_end(bytes, cursor.at);
                    let room = end - cursor.at + lead + SLACK <= pen.left();
                    if wraps || !room || end + LOOKAHEAD > bytes.len() || bytes[end] != b':' {
                        return Behind::State(State::V2(V2State::Row));
                    }
                    cursor.copy_key(cursor.at, end, bare, pen);
                    cursor.at = end + 1;
                }
                Behind::Begun(self.begin_record(true, 0, pen))
            }
            _ => after,
        }
    }
}

/// A key with the comma before it, which a record's first leaves out. `from` is behind the comma.
#[inline(always)]
fn put_key(text: &[u8], from: usize, to: usize, wrote: &mut bool, pen: &mut Pen<'_, u8>) {
    let comma = usize::from(std::mem::replace(wrote, true));
    copy(text, from - comma, to, pen);
}

/// Where the line ends that `at` is in.
#[inline(always)]
fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(LINE_FEED, &bytes[at..]).map_or(bytes.len(), |end| at + end)
}

/// Where the array ends that begins at the cursor, if it holds scalars only, without spaces.
#[inline(always)]
fn flat_end<K: Kernel>(cursor: &Cursor<'_, K>, line: usize) -> Option<usize> {
    let Cursor { bytes, mut at, .. } = *cursor;
    if bytes[at + 1] == b']' {
        return Some(at + 2);
    }
    loop {
        at += 1;
        at = cursor.scalar_end(at)?;
        match bytes.get(at)? {
            _ if at > line => return None,
            b',' => {}
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}
