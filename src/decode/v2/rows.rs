//! Rows of version 2, many at a time, in input that is clean.
//!
//! As in the [`sprint`](crate::decode::fast_path) of version 1, whatever is not plainly good is left to the machine, which finds
//! things as if it had come there by itself. A string cannot hold a line feed, so one that would end behind the next
//! line feed is not good.

use crate::buffer::Pen;
use crate::decode::fast_path::{self, SLACK, SPRINT, key_end, lexeme_end};
use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{State, V2State};
use crate::decode::v2::schema::{Kind, NONE, Piece};
use crate::decode::v2::state::{FrameKind, Record};
use crate::format::{COMMA, LINE_FEED};
use crate::json::lexer;
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;
use crate::json::span::copy;
use crate::options::Limits;

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
    /// Goes on from `at` in `bytes`, which stand at `offset` and are clean but for line feeds; returns how far it came.
    pub(crate) fn rows<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        at: usize,
        offset: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> usize {
        kernel.enter(
            #[inline(always)]
            || self.dash_rows(kernel, bytes, at, offset, limits, out),
        )
    }

    #[inline(always)]
    fn dash_rows<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        mut at: usize,
        offset: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> usize {
        let (mut pen, anchored) = out.pen(8 * (bytes.len() - at), offset + at as u64);
        let templates = self.v2.schema.has_templates();
        let mut record = self.record();
        let mut state = self.state;
        let mut line = line_end(bytes, at);
        'cells: while at + SPRINT <= bytes.len() && record.column != NONE {
            let schema = &self.v2.schema;
            let column = schema.column(record.column);
            let byte = bytes[at];
            // Where rows differ in their keys, most of a line is commas.
            if byte == COMMA && column.kind == Kind::Optional && column.leads_on() {
                record.column = column.next_cell;
                at += 1;
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
                let Some(end) = lexeme_end(kernel, bytes, at, kind) else { break };
                if end > line || end >= bytes.len() || end - at + key + SLACK > room {
                    break;
                }
                put_key(&schema.text, column.key.start, column.key.end, &mut record.wrote, &mut pen);
                let start = pen.at();
                copy(bytes, at, end, &mut pen);
                at = end;
                if column.named {
                    self.v2.captured(record.column, byte == b'"', start, pen.at());
                }
            } else if matches!(byte, b'$' | b'*') {
                let Some(found) = self.reference(kernel, bytes, at, anchored) else { break };
                let depth = self.nesting.depth() + found.height;
                if found.end > line || found.len() + key + SLACK > room || depth > limits.depth {
                    break;
                }
                let (end, height) = (found.end, found.height);
                put_key(&schema.text, column.key.start, column.key.end, &mut record.wrote, &mut pen);
                let start = pen.at();
                found.write(bytes, &mut pen);
                at = end;
                if column.named {
                    self.v2.captured(record.column, true, start, pen.at());
                }
                self.nesting.reach(height);
            } else if byte == b'[' && bytes[at + 1] != b'(' {
                let Some(end) = flat_end(kernel, bytes, at, line) else { break };
                if end >= bytes.len() || end - at + key + SLACK > room || self.nesting.depth() >= limits.depth {
                    break;
                }
                put_key(&schema.text, column.key.start, column.key.end, &mut record.wrote, &mut pen);
                copy(bytes, at, end, &mut pen);
                at = end;
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
                    at += 1;
                }
                at += 1;
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
                    if bytes[at] != COMMA {
                        break 'cells;
                    }
                    at += 1;
                    state = State::V2(V2State::Cell);
                    continue 'cells;
                }
                if bytes[at] != if record.row { LINE_FEED } else { b')' } || pen.left() < SLACK {
                    break 'cells;
                }
                // A row that is held, and a record whose templates wait to be filled, are the machine's to end.
                if record.row && templates || self.v2.holes.len() > record.holes {
                    break 'cells;
                }
                at += 1;
                pen.write(b"}");
                self.v2.pop();
                self.nesting.close();
                match self.behind(kernel, record.row, bytes, &mut at, limits, &mut pen) {
                    Behind::Cell(outer) => record = outer,
                    Behind::Begun(begun) => {
                        line = line_end(bytes, at);
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
                        return at;
                    }
                }
                if at + SPRINT > bytes.len() {
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
        at
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
    fn behind<K: Kernel>(
        &mut self,
        kernel: K,
        row: bool,
        bytes: &[u8],
        at: &mut usize,
        limits: &Limits,
        pen: &mut Pen<'_, u8>,
    ) -> Behind {
        let after = Behind::State(State::After);
        let depth = self.nesting.depth();
        // The value of an anchor may be complete.
        if self.v2.is_anchored(depth + 1) {
            return after;
        }
        match self.v2.at(depth) {
            Some(FrameKind::Record(outer)) if !row => Behind::Cell(*outer),
            Some(&mut FrameKind::Array { list }) => {
                if *at + SPRINT > bytes.len() {
                    return after;
                }
                let inner = *self.v2.schema.list(list);
                match (bytes[*at], bytes[*at + 1]) {
                    (b']', _) => {
                        pen.write(b"]");
                        *at += 1;
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
                        *at += 2;
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
                if lead + SLACK > pen.left() || *at + SPRINT > bytes.len() {
                    return Behind::State(State::V2(V2State::Row));
                }
                if keyed {
                    let Some((end, bare)) = key_end(kernel, bytes, *at) else {
                        return Behind::State(State::V2(V2State::Row));
                    };
                    let wraps = !bare && end > line_end(bytes, *at);
                    let room = end - *at + lead + SLACK <= pen.left();
                    if wraps || !room || end + SPRINT > bytes.len() || bytes[end] != b':' {
                        return Behind::State(State::V2(V2State::Row));
                    }
                    fast_path::put_key(bytes, *at, end, bare, pen);
                    *at = end + 1;
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

/// Where the array ends that begins at `at`, if it holds scalars only, without spaces.
#[inline(always)]
fn flat_end<K: Kernel>(kernel: K, bytes: &[u8], mut at: usize, line: usize) -> Option<usize> {
    if bytes[at + 1] == b']' {
        return Some(at + 2);
    }
    loop {
        at += 1;
        let kind = lexer::Kind::of(*bytes.get(at)?)?;
        at = lexeme_end(kernel, bytes, at, kind)?;
        match bytes.get(at)? {
            _ if at > line => return None,
            b',' => {}
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}
