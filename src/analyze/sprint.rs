//! The common cases, many at a time.
//!
//! Everything here can be left out: each sprint takes as many members, elements or rows as are plainly good, with
//! what it needs in registers, and stops before the first that is not, or for which text or index end too soon. The
//! steps of the parent module then decide what it is. So a sprint never refuses and never changes the answer; it is
//! only faster than the steps.

use super::{Analyzer, Next, table::Part};
use crate::buffer::Buffer;
use crate::lexeme::Kind;
use crate::nesting::Container;
use crate::scan::arch::{Kernel, SPAN};
use crate::write::v1 as write;

impl Analyzer {
    /// Members of objects, from a key on, in and out of nested objects, until something else than an object or a
    /// scalar is met.
    #[inline(always)]
    pub(super) fn members<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], out: &mut Buffer<u8>) {
        let Next::Key { mut first } = self.next else { return };
        let (mut cursor, mut from) = (self.cursor, self.from);
        'members: while let Some(&[start, value, next]) = index.get(cursor..).and_then(<[u32]>::first_chunk) {
            let (start, value, next) = (start as usize, value as usize, next as usize);
            if next + SPAN > text.len() || value < start + 3 || text[value - 2..value] != *b"\":" {
                break;
            }
            let opens = text[value] == b'{';
            let more = text[next - 1] == b',';
            let good = if opens {
                next == value + 1 && text[next] == b'"' && self.nesting.depth() < self.limits.depth
            } else {
                text[next] == if more { b'"' } else { b'}' } && is_scalar(kernel, text, value, next - usize::from(more))
            };
            if !good {
                break;
            }
            copy(text, from, start, out);
            if !first {
                write::member_space(out);
            }
            key(kernel, text, start, value, out);
            from = value;
            cursor += 2;
            if opens {
                self.nesting.open(Container::Object);
                first = true;
                continue;
            }
            first = false;
            if more {
                continue;
            }
            // The cursor is at the brace that closes the object, and perhaps those around it.
            loop {
                let Some(&[close, after, inside]) = index.get(cursor..).and_then(<[u32]>::first_chunk) else {
                    self.next = Next::Close;
                    break 'members;
                };
                let (close, after) = (close as usize, after as usize);
                let byte = text[after];
                match self.nesting.outer() {
                    Some(Container::Object) if after == close + 1 && byte == b'}' => {
                        self.nesting.close();
                        cursor += 1;
                    }
                    Some(Container::Object) if after == close + 2 && text[close + 1] == b',' && byte == b'"' => {
                        self.nesting.close();
                        cursor += 1;
                        continue 'members;
                    }
                    // The next object of a list takes the place of this one.
                    Some(Container::Array)
                        if after == close + 2
                            && text[close + 1] == b','
                            && byte == b'{'
                            && inside as usize == after + 1
                            && text[after + 1] == b'"' =>
                    {
                        cursor += 2;
                        first = true;
                        continue 'members;
                    }
                    _ => {
                        self.next = Next::Close;
                        break 'members;
                    }
                }
            }
        }
        if self.next != Next::Close {
            self.next = Next::Key { first };
        }
        (self.cursor, self.from) = (cursor, from);
    }

    /// Scalars of an array that have another element behind them; of one kind, where it may become compact.
    #[inline(always)]
    pub(super) fn elements<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32]) {
        let kind = match self.next {
            Next::Element => Some(self.compact.kind),
            Next::Value if self.nesting.innermost() == Some(Container::Array) => None,
            _ => return,
        };
        let mut cursor = self.cursor;
        while let Some(&[start, next]) = index.get(cursor..).and_then(<[u32]>::first_chunk) {
            let (start, next) = (start as usize, next as usize);
            if next + SPAN > text.len()
                || text[next - 1] != b','
                || kind.is_some_and(|kind| Kind::of(text[start]) != Some(kind))
                || !is_scalar(kernel, text, start, next - 1)
            {
                break;
            }
            cursor += 1;
        }
        self.compact.count += (cursor - self.cursor) as u64;
        self.cursor = cursor;
    }

    /// Rows of a table that look like its first and have another behind them.
    #[inline(always)]
    pub(super) fn rows<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], out: &mut Buffer<u8>) {
        let Next::Table(Part::RowOpen) = self.next else { return };
        let (table, columns) = (&self.table, self.table.shape.columns());
        let (mut rows, mut row_mark) = (0, table.row_mark);
        let entries = 2 * columns.len() + 2;
        let mut cursor = self.cursor;
        'rows: while let Some(row) = index.get(cursor..cursor + entries + 1) {
            let &[open, .., close, after] = row else { break };
            let (close, after) = (close as usize, after as usize);
            if after + SPAN > text.len()
                || after != close + 2
                || text[close..=after] != *b"},{"
                || !self.may_expand(after, row_mark)
            {
                break;
            }
            let mark = out.len();
            let mut expected = open as usize + 1;
            for (pair, column) in row[1..].chunks_exact(2).zip(columns) {
                let (key, value) = (pair[0] as usize, pair[1] as usize);
                let first = table.open + column.key().start;
                // The key and its colon, and nothing between it and what came before.
                let same =
                    key == expected && value - key == column.key().len() && same(kernel, text, key, first, value - key);
                expected = value;
                if !same {
                    out.truncate(mark);
                    break 'rows;
                }
            }
            let _ = expected;
            for (triple, number) in row[2..].windows(2).step_by(2).zip(1..) {
                let (value, next) = (triple[0] as usize, triple[1] as usize);
                let last = number == columns.len();
                let end = if last { next } else { next - 1 };
                if text[end] != if last { b'}' } else { b',' } || !is_scalar(kernel, text, value, end) {
                    out.truncate(mark);
                    break 'rows;
                }
                // With its comma, which is STC's too.
                copy(text, value, next, out);
            }
            row_mark = out.len();
            write::row_separator(out);
            rows += 1;
            cursor += entries;
        }
        self.cursor = cursor;
        self.table.row_mark = row_mark;
        self.table.rows += rows;
    }
}

/// Is `start` to `end` one good scalar? At least [`SPAN`] bytes of text follow.
#[inline(always)]
fn is_scalar<K: Kernel>(kernel: K, text: &[u8], start: usize, end: usize) -> bool {
    match text[start] {
        b'"' => end >= start + 2 && text[end - 1] == b'"',
        b'-' | b'0'..=b'9' => is_number(kernel, text, start, end),
        b't' => end == start + 4 && text[start..start + 4] == *b"true",
        b'f' => end == start + 5 && text[start..start + 5] == *b"false",
        b'n' => end == start + 4 && text[start..start + 4] == *b"null",
        _ => false,
    }
}

/// By counting runs of digits in a mask, without looking at each.
#[inline(always)]
fn is_number<K: Kernel>(kernel: K, text: &[u8], start: usize, end: usize) -> bool {
    let Some(span) = text[start..].first_chunk::<SPAN>() else { return false };
    if end - start >= SPAN {
        return crate::lexeme::is_number(&text[start..end]);
    }
    let end = end - start;
    let digits = kernel.digits(span);
    let sign = usize::from(span[0] == b'-');
    let run = |from: usize| (digits >> from).trailing_ones() as usize;
    let whole = run(sign);
    if whole == 0 || whole > 1 && span[sign] == b'0' {
        return false;
    }
    let mut at = sign + whole;
    if at < end && span[at] == b'.' {
        let fraction = run(at + 1);
        if fraction == 0 {
            return false;
        }
        at += 1 + fraction;
    }
    if at < end && span[at] | 0x20 == b'e' {
        at += 1 + usize::from(matches!(span[at + 1], b'+' | b'-'));
        if at >= end {
            return false;
        }
        let exponent = run(at);
        if exponent == 0 {
            return false;
        }
        at += exponent;
    }
    at == end
}

/// Appends `from` to `to`. At least [`SPAN`] bytes of text follow, so that a short span is one store.
#[inline(always)]
fn copy(text: &[u8], from: usize, to: usize, out: &mut Buffer<u8>) {
    let Some(length) = to.checked_sub(from) else { return };
    match text[from..].first_chunk::<SPAN>() {
        Some(span) if length <= SPAN => {
            *out.chunk() = *span;
            out.keep(length);
        }
        _ => {
            out.room()[..length].copy_from_slice(&text[from..to]);
            out.keep(length);
        }
    }
}

/// Appends the key from `start` to the colon before `value`, bare where it may be, and the colon.
#[inline(always)]
fn key<K: Kernel>(kernel: K, text: &[u8], start: usize, value: usize, out: &mut Buffer<u8>) {
    let length = value - start - 3;
    if let Some(body) = text[start + 1..].first_chunk::<SPAN>()
        && length < SPAN
    {
        let others = !kernel.identifier(body) & ((1 << length) - 1);
        if others == 0 && length > 0 && !body[0].is_ascii_digit() {
            *out.chunk() = *body;
            out.keep(length);
        } else {
            copy(text, start, value - 1, out);
        }
    } else {
        write::key(&text[start..value - 1], out);
    }
    write::colon(out);
}

#[inline(always)]
fn same<K: Kernel>(kernel: K, text: &[u8], one: usize, other: usize, length: usize) -> bool {
    match (text[one..].first_chunk::<SPAN>(), text[other..].first_chunk::<SPAN>()) {
        (Some(left), Some(right)) if length < SPAN => !kernel.equal(left, right) & ((1 << length) - 1) == 0,
        _ => text[one..one + length] == text[other..other + length],
    }
}
