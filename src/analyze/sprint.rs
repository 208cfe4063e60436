//! The common cases, many at a time.
//!
//! Everything here can be left out: each sprint takes as many members, elements or rows as are plainly good, with
//! what it needs in registers, and stops before the first that is not, or for which text or index end too soon. The
//! steps of the parent module then decide what it is. So a sprint never refuses and never changes the answer; it is
//! only faster than the steps.

use super::{Analyzer, Next, table::Part};
use crate::buffer::{Buffer, Pen};
use crate::format::{COLON, ROW_SEPARATOR};
use crate::lexeme::Kind;
use crate::nesting::Container;
use crate::scan::arch::{Kernel, SPAN};
use crate::span::{copy, number_len};
use crate::write::v1 as write;

/// The next entries of the index, as places in the text, if there are so many and the text goes on for [`SPAN`]
/// bytes behind the last of them: then every span that begins among them can be loaded whole.
#[inline(always)]
fn ahead<const N: usize>(text: &[u8], index: &[u32], cursor: usize) -> Option<[usize; N]> {
    let entries: &[u32; N] = index.get(cursor..)?.first_chunk()?;
    let entries = entries.map(|entry| entry as usize);
    (entries[N - 1] + SPAN <= text.len()).then_some(entries)
}

impl Analyzer {
    /// Sprints from wherever things stand, if there is a sprint for it. Was there any progress?
    #[inline(always)]
    pub(super) fn sprint<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> bool {
        let before = self.cursor;
        let mut pen = out.pen();
        match self.next {
            Next::Key { first } => self.members(first, kernel, text, index, &mut pen),
            Next::Value => self.values(kernel, text, index),
            Next::Element => {
                self.elements(kernel, text, index, &mut pen);
            }
            Next::Close => {
                let mut cursor = self.cursor;
                self.next = self.closing(&mut cursor, text, index);
                self.cursor = cursor;
            }
            Next::Table(Part::FirstRow) => self.first_members(kernel, text, index),
            Next::Table(Part::RowOpen) => self.rows(kernel, text, index, &mut pen),
            _ => {}
        }
        let written = pen.written();
        out.keep(written);
        self.cursor != before
    }

    /// Members of objects, from a key on, in and out of nested objects and lists of them, until an array of other
    /// things is met.
    #[inline(always)]
    fn members<K: Kernel>(&mut self, mut first: bool, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) {
        let (mut cursor, mut from) = (self.cursor, self.from);
        self.next = loop {
            let Some([start, value, next]) = ahead(text, index, cursor) else { break Next::Key { first } };
            if value < start + 3 || text[value - 2..value] != *b"\":" {
                break Next::Key { first };
            }
            let more = text[next - 1] == b',';
            if text[next] == if more { b'"' } else { b'}' } && is_scalar(kernel, text, value, next - usize::from(more))
            {
                copy(text, from, start, pen);
                member(kernel, first, text, start, value, pen);
                from = value;
                cursor += 2;
                first = false;
                if more {
                    continue;
                }
            } else if next == value + 1 && self.nesting.depth() < self.limits.depth {
                match (text[value], text[next]) {
                    (b'{', b'"') => {
                        copy(text, from, start, pen);
                        member(kernel, first, text, start, value, pen);
                        from = value;
                        cursor += 2;
                        first = true;
                        self.nesting.open(Container::Object);
                        continue;
                    }
                    (b'{', b'}') | (b'[', b']') => {
                        copy(text, from, start, pen);
                        member(kernel, first, text, start, value, pen);
                        from = value;
                        cursor += 2;
                        self.nesting.open(if text[value] == b'{' { Container::Object } else { Container::Array });
                    }
                    (b'[', b'{') => {
                        copy(text, from, start, pen);
                        member(kernel, first, text, start, value, pen);
                        from = value;
                        cursor += 1;
                        break Next::Value;
                    }
                    (b'[', element) => {
                        let Some(kind @ (Kind::Text | Kind::Number | Kind::Boolean)) = Kind::of(element) else {
                            break Next::Key { first };
                        };
                        copy(text, from, start, pen);
                        if !first {
                            pen.write(b" ");
                        }
                        key(kernel, text, start, value, pen);
                        self.nesting.open(Container::Array);
                        self.compact = super::Compact { open: value, kind, count: 0 };
                        self.cursor = cursor + 2;
                        if !self.elements(kernel, text, index, pen) {
                            return;
                        }
                        (cursor, from) = (self.cursor, self.from);
                    }
                    _ => break Next::Key { first },
                }
            } else {
                break Next::Key { first };
            }
            // The cursor is at a bracket.
            match self.closing(&mut cursor, text, index) {
                Next::Key { first: again } => first = again,
                Next::Value if is_object(text, index, cursor) && self.nesting.depth() < self.limits.depth => {
                    self.nesting.open(Container::Object);
                    cursor += 1;
                    first = true;
                }
                other => break other,
            }
        };
        (self.cursor, self.from) = (cursor, from);
    }

    /// Values of arrays, in and out of nested arrays, until an object is met.
    #[inline(always)]
    fn values<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32]) {
        if self.nesting.innermost() != Some(Container::Array) {
            return;
        }
        let mut cursor = self.cursor;
        self.next = loop {
            let Some([start, next]) = ahead(text, index, cursor) else { break Next::Value };
            if text[start] == b'[' {
                // What is empty, or holds objects, is for the steps.
                if next != start + 1 || matches!(text[next], b'{' | b']') || self.nesting.depth() >= self.limits.depth {
                    break Next::Value;
                }
                if !is_start(text[next]) {
                    break Next::Value;
                }
                self.nesting.open(Container::Array);
                cursor += 1;
                continue;
            }
            let more = text[next - 1] == b',';
            if !more && text[next] != b']' || !is_scalar(kernel, text, start, next - usize::from(more)) {
                break Next::Value;
            }
            cursor += 1;
            if !more {
                match self.closing(&mut cursor, text, index) {
                    Next::Value if self.nesting.innermost() == Some(Container::Array) => {}
                    other => break other,
                }
            }
        };
        self.cursor = cursor;
    }

    /// The cursor is at a bracket that closes the innermost container, and perhaps those around it: goes past them
    /// as far as it can and says what comes then.
    #[inline(always)]
    fn closing(&mut self, cursor: &mut usize, text: &[u8], index: &[u32]) -> Next {
        while let Some([close, after]) = ahead(text, index, *cursor) {
            let comma = after == close + 2 && text[close + 1] == b',';
            let next = match (self.nesting.outer(), text[after]) {
                (Some(Container::Object), b'}') | (Some(Container::Array), b']') if after == close + 1 => Next::Close,
                (Some(Container::Object), b'"') if comma => Next::Key { first: false },
                (Some(Container::Array), _) if comma => Next::Value,
                _ => break,
            };
            self.nesting.close();
            *cursor += 1;
            if next != Next::Close {
                return next;
            }
        }
        Next::Close
    }

    /// Elements of an array that may become compact, and the array, if they are its last: then the cursor is left at
    /// its bracket, and the answer is yes.
    #[inline(always)]
    fn elements<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) -> bool {
        self.next = Next::Element;
        let (open, kind) = (self.compact.open, self.compact.kind);
        let mut cursor = self.cursor;
        while let Some([start, next]) = ahead(text, index, cursor) {
            let more = text[next - 1] == b',';
            if Kind::of(text[start]) != Some(kind) || !is_scalar(kernel, text, start, next - usize::from(more)) {
                break;
            }
            if !more {
                if text[next] != b']' || next + 1 - open > self.window {
                    break;
                }
                let count = self.compact.count + (cursor - self.cursor) as u64 + 1;
                write::compact_count(count, pen);
                copy(text, open + 1, next, pen);
                self.from = next + 1;
                self.cursor = cursor + 1;
                self.next = Next::Close;
                return true;
            }
            cursor += 1;
        }
        self.compact.count += (cursor - self.cursor) as u64;
        self.cursor = cursor;
        false
    }

    /// Members of a table's first row that have another behind them.
    #[inline(always)]
    fn first_members<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32]) {
        let mut cursor = self.cursor;
        let table = &mut self.table;
        while let Some([start, value, next]) = ahead(text, index, cursor) {
            if value < start + 3
                || text[value - 2..value] != *b"\":"
                || text[next - 1] != b','
                || text[next] != b'"'
                || !is_scalar(kernel, text, value, next - 1)
                || table.shape.columns().len() == self.limits.columns
                || table.header + value - start > self.limits.header
            {
                break;
            }
            table.header += key_len(kernel, text, start, value);
            table.shape.push(start - table.open, value - table.open, next - 1 - table.open);
            cursor += 2;
        }
        self.cursor = cursor;
    }

    /// Rows of a table that look like its first and have another behind them.
    #[inline(always)]
    fn rows<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) {
        let (table, columns) = (&self.table, self.table.shape.columns());
        let entries = 2 * columns.len() + 2;
        let (mut rows, mut row_mark) = (0, table.row_mark);
        let mut cursor = self.cursor;
        'rows: while let Some(&[open, ref members @ .., after]) = index.get(cursor..cursor + entries + 1) {
            let (open, after) = (open as usize, after as usize);
            if after + SPAN > text.len() || !self.may_expand(after, row_mark) {
                break;
            }
            let mark = pen.at();
            // Where the next key must begin: nothing may stand between it and what came before.
            let mut expected = open + 1;
            for (number, column) in columns.iter().enumerate() {
                let &[key, value, next] = &members[2 * number..2 * number + 3] else { break 'rows };
                let (key, value, next) = (key as usize, value as usize, next as usize);
                let first = column.key();
                let length = first.len();
                let more = number + 1 < columns.len();
                if key != expected
                    || value != key + length
                    || !same(kernel, text, key, table.open + first.start, length)
                    || (text[next - 1] == b',') != more
                    || !is_scalar(kernel, text, value, next - usize::from(more))
                {
                    pen.back_to(mark);
                    break 'rows;
                }
                // With its comma, which is STC's too.
                copy(text, value, next, pen);
                expected = next;
            }
            if after != expected + 2 || text[expected..=after] != *b"},{" {
                pen.back_to(mark);
                break;
            }
            row_mark = pen.at();
            pen.write(ROW_SEPARATOR);
            rows += 1;
            cursor += entries;
        }
        self.cursor = cursor;
        self.table.row_mark = row_mark;
        self.table.rows += rows;
    }
}

/// Is there an object with a key at the cursor?
#[inline(always)]
fn is_object(text: &[u8], index: &[u32], cursor: usize) -> bool {
    ahead(text, index, cursor).is_some_and(|[open, key]| key == open + 1 && text[open..open + 2] == *b"{\"")
}

/// Can a value begin with this byte?
#[inline(always)]
fn is_start(byte: u8) -> bool {
    byte == b'[' || Kind::of(byte).is_some()
}

/// Is `start` to `end` one good scalar? At least [`SPAN`] bytes of text follow `start`.
#[inline(always)]
fn is_scalar<K: Kernel>(kernel: K, text: &[u8], start: usize, end: usize) -> bool {
    // Asked one after the other, commonest first: a jump by table is guessed wrong more often.
    let first = text[start];
    if first == b'"' {
        end >= start + 2 && text[end - 1] == b'"'
    } else if first.is_ascii_digit() || first == b'-' {
        is_number(kernel, text, start, end)
    } else {
        matches!(&text[start..end.max(start)], b"true" | b"false" | b"null")
    }
}

#[inline(always)]
fn is_number<K: Kernel>(kernel: K, text: &[u8], start: usize, end: usize) -> bool {
    match number_len(kernel, text, start) {
        // Digits may run past the end, where another entry begins in the middle of them; then the answer is no.
        Some(length) => start + length == end,
        None => text.get(start..end).is_some_and(crate::lexeme::is_number),
    }
}

/// Appends what an object has before a value: a space if it is not the first, the key, a colon.
#[inline(always)]
fn member<K: Kernel>(kernel: K, first: bool, text: &[u8], start: usize, value: usize, pen: &mut Pen<'_, u8>) {
    let length = value - start - 3;
    if length < SPAN
        && let Some(body) = text[start + 1..].first_chunk::<SPAN>()
        && is_bare(kernel, text, start, value)
    {
        // All of it in one place: a space that the key covers if there is to be none, and the colon behind the key.
        let space = usize::from(!first);
        let room = pen.chunk::<{ 2 * SPAN }>();
        room[0] = b' ';
        room[space..space + SPAN].copy_from_slice(body);
        room[space + length..space + length + 2].copy_from_slice(b": ");
        pen.keep(space + length + 2);
    } else {
        if !first {
            pen.write(b" ");
        }
        key(kernel, text, start, value, pen);
        pen.write(COLON);
    }
}

/// Appends the key from `start` to the colon before `value`, bare where it may be.
#[inline(always)]
fn key<K: Kernel>(kernel: K, text: &[u8], start: usize, value: usize, pen: &mut Pen<'_, u8>) {
    let bare = usize::from(is_bare(kernel, text, start, value));
    copy(text, start + bare, value - 1 - bare, pen);
}

/// How long the key from `start` to the colon before `value` is once written.
#[inline(always)]
fn key_len<K: Kernel>(kernel: K, text: &[u8], start: usize, value: usize) -> usize {
    value - 1 - start - 2 * usize::from(is_bare(kernel, text, start, value))
}

#[inline(always)]
fn is_bare<K: Kernel>(kernel: K, text: &[u8], start: usize, value: usize) -> bool {
    let length = value - start - 3;
    match text[start + 1..].first_chunk::<SPAN>() {
        Some(body) if length < SPAN => {
            let others = !kernel.identifier(body) & ((1 << length) - 1);
            others == 0 && length > 0 && !body[0].is_ascii_digit()
        }
        _ => crate::format::is_bare(&text[start + 1..value - 2]),
    }
}

#[inline(always)]
fn same<K: Kernel>(kernel: K, text: &[u8], one: usize, other: usize, length: usize) -> bool {
    match (text[one..].first_chunk::<SPAN>(), text[other..].first_chunk::<SPAN>()) {
        (Some(left), Some(right)) if length < SPAN => !kernel.equal(left, right) & ((1 << length) - 1) == 0,
        _ => text[one..one + length] == text[other..other + length],
    }
}
