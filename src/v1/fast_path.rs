//! The common cases, many at a time.
//!
//! Everything here can be left out: each sprint takes as many members, elements or rows as are plainly good, with
//! what it needs in registers, and stops before the first that is not, or for which text or index end too soon. The
//! steps of the parent module then decide what it is. So a sprint never refuses and never changes the answer; it is
//! only faster than the steps.
//!
//! Strings and numbers have been checked by the scanner, so all that is left of a scalar is what surrounds it. Between
//! two entries stands one lexeme and whatever separators there are; if the byte before the comma is no separator, it
//! is the lexeme's last.

use super::analyze::{Analyzer, Next};
use super::cells::Rows;
use super::members::{Run, Stop};
use super::rows::{Grid, Verdict};
use super::table::Part;
use super::write;
use crate::buffer::{Buffer, Pen};
use crate::format::ROW_SEPARATOR;
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::number_arrays::{many_lists, numbers};
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::span::{copy, is_bare, is_bare_span, window};
use crate::json::tape::{follows, follows_element};

/// The next entries of the index, as places in the text, if there are so many and the text goes on for [`SPAN`]
/// bytes behind the last of them: then every span that begins among them can be loaded whole.
#[inline(always)]
pub(super) fn ahead<const N: usize>(text: &[u8], index: &[u32], cursor: usize) -> Option<[usize; N]> {
    let entries: &[u32; N] = index.get(cursor..)?.first_chunk()?;
    let entries = entries.map(|entry| entry as usize);
    (entries[N - 1] + SPAN <= text.len()).then_some(entries)
}

impl Analyzer {
    /// Sprints from wherever things stand, if there is a sprint for it. Was there any progress?
    #[inline(always)]
    pub(super) fn sprint<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> bool {
        let before = (self.cursor, self.next);
        let mut pen = out.pen();
        match self.next {
            Next::Key { first } => self.members(first, kernel, text, index, &mut pen),
            Next::Value => self.values(kernel, text, index, &mut pen),
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
        (self.cursor, self.next) != before
    }

    /// Members of objects, from a key on, in and out of nested objects and lists, until an array that is not plain
    /// stands in the way.
    #[inline(always)]
    fn members<K: Kernel>(&mut self, mut first: bool, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) {
        let (mut cursor, mut from) = (self.cursor, self.from);
        self.next = loop {
            let Some([start, ..]) = ahead::<3>(text, index, cursor) else { break Next::Key { first } };
            copy(text, from, start, pen);
            from = from.max(start);
            let (entries, stop) = self.run_of_members(&mut first, kernel, text, &index[cursor..], pen);
            if entries > 0 {
                cursor += entries;
                from = index[cursor] as usize;
                if matches!(stop, Stop::Brace) {
                    match self.next_key(&mut cursor, text, index) {
                        Ok(again) => first = again,
                        Err(other) => break other,
                    }
                    continue;
                }
            }
            let Some([start, value, next]) = ahead(text, index, cursor) else { break Next::Key { first } };
            crate::slow_path::count_slow_step();
            if window(text, value.wrapping_sub(2)) != Some(b"\":") {
                break Next::Key { first };
            }
            let opened = text[value];
            match follows(text, value, next, b'}') {
                Some(more) => {
                    write_member(kernel, first, text, start, value, pen);
                    from = value;
                    cursor += 2;
                    if more {
                        first = false;
                        continue;
                    }
                }
                None if next == value + 1 && self.nesting.depth() < self.limits.depth => match (opened, text[next]) {
                    (b'{', b'"') => {
                        write_member(kernel, first, text, start, value, pen);
                        from = value;
                        cursor += 2;
                        first = true;
                        self.nesting.open(Container::Object);
                        continue;
                    }
                    (b'{', b'}') | (b'[', b']') => {
                        write_member(kernel, first, text, start, value, pen);
                        from = value;
                        cursor += 2;
                        self.nesting.open(if opened == b'{' { Container::Object } else { Container::Array });
                    }
                    (b'[', b'{') => {
                        write_member(kernel, first, text, start, value, pen);
                        from = value;
                        match self.whole_table(kernel, text, &index[cursor + 1..], pen) {
                            Verdict::Table { bracket, .. } => {
                                cursor += 1 + bracket;
                                from = index[cursor] as usize + 1;
                            }
                            Verdict::Plain => {
                                self.nesting.open(Container::Object);
                                cursor += 3;
                                first = true;
                                continue;
                            }
                            Verdict::Unknown => {
                                cursor += 1;
                                break Next::Value;
                            }
                        }
                    }
                    (b'[', b'[') => {
                        write_member(kernel, first, text, start, value, pen);
                        from = value;
                        self.nesting.open(Container::Array);
                        cursor += 2;
                        break Next::Value;
                    }
                    (b'[', element) => {
                        let Some(kind @ (Kind::Text | Kind::Number | Kind::Boolean)) = Kind::of(element) else {
                            break Next::Key { first };
                        };
                        if !first {
                            pen.write(b" ");
                        }
                        key(kernel, text, start, value, pen);
                        self.nesting.open(Container::Array);
                        self.compact = super::analyze::Compact { open: value, kind, count: 0 };
                        self.cursor = cursor + 2;
                        if !self.elements(kernel, text, index, pen) {
                            return;
                        }
                        (cursor, from) = (self.cursor, self.from);
                    }
                    _ => break Next::Key { first },
                },
                None => break Next::Key { first },
            }
            // The cursor is at a bracket.
            match self.next_key(&mut cursor, text, index) {
                Ok(again) => first = again,
                Err(other) => break other,
            }
        };
        (self.cursor, self.from) = (cursor, from);
    }

    /// A run of members from the first entry on, before which all has been written: how many entries did it take, and what
    /// has it stopped at?
    #[inline(always)]
    fn run_of_members<K: Kernel>(
        &mut self,
        first: &mut bool,
        kernel: K,
        text: &[u8],
        index: &[u32],
        pen: &mut Pen<'_, u8>,
    ) -> (usize, Stop) {
        let expansion = self.expansion(pen.at() + pen.left());
        if *first {
            // The brace is the run's; if it is not at hand any more, the run is for the next member.
            if pen.written() == 0 {
                return (0, Stop::Member);
            }
            pen.back_to(pen.at() - 1);
        }
        let room = pen.rest();
        let most = room.len();
        let (nesting, window) = (&mut self.nesting, self.window);
        let (shape, limits) = (&mut self.table.shape, &self.limits);
        let mut run = Run { text, index, room, nesting, shape, limits, window, expansion, first: *first };
        let stop = run.go(kernel);
        let (left, written) = (run.index.len(), most - run.room.len());
        *first = run.first;
        pen.keep(written + usize::from(*first));
        (index.len() - left, stop)
    }

    /// The first entry is a `[` with a `{` right behind it. The array itself has been opened, unless nothing is known of it.
    #[inline(always)]
    fn whole_table<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) -> Verdict {
        if self.nesting.depth() + 2 > self.limits.depth {
            return Verdict::Unknown;
        }
        let expansion = self.expansion(pen.at() + pen.left());
        let (shape, limits, window) = (&mut self.table.shape, &self.limits, self.window);
        let verdict = Grid { text, index, room: pen.rest(), shape, limits, window, expansion }.go(kernel);
        match verdict {
            Verdict::Unknown => return verdict,
            Verdict::Plain => {}
            Verdict::Table { bytes, .. } => pen.keep(bytes),
        }
        self.nesting.open(Container::Array);
        verdict
    }

    /// Values of arrays, in and out of nested arrays, until an object with a key is met.
    #[inline(always)]
    fn values<K: Kernel>(&mut self, kernel: K, text: &[u8], index: &[u32], pen: &mut Pen<'_, u8>) {
        let mut cursor = self.cursor;
        // Steps, too, come here with the value of a member or of the document; only what it opens is of interest.
        let mut in_array = self.nesting.innermost() == Some(Container::Array);
        if in_array {
            cursor += self.numbers(kernel, text, &index[cursor..]);
        }
        self.next = loop {
            let Some([start, next]) = ahead(text, index, cursor) else { break Next::Value };
            match if in_array { follows_element(text, start, next) } else { None } {
                Some(true) => {
                    cursor += 1;
                    continue;
                }
                Some(false) => cursor += 1,
                None if next == start + 1 && self.nesting.depth() < self.limits.depth => {
                    match (text[start], text[next]) {
                        (b'{', b'"') => {
                            self.nesting.open(Container::Object);
                            cursor += 1;
                            break Next::Key { first: true };
                        }
                        (b'[', b'{') => {
                            copy(text, self.from, start, pen);
                            self.from = self.from.max(start);
                            match self.whole_table(kernel, text, &index[cursor..], pen) {
                                Verdict::Table { bracket, .. } => {
                                    cursor += bracket;
                                    self.from = index[cursor] as usize + 1;
                                }
                                Verdict::Plain => {
                                    self.nesting.open(Container::Object);
                                    cursor += 2;
                                    break Next::Key { first: true };
                                }
                                Verdict::Unknown => break Next::Value,
                            }
                        }
                        (b'{', b'}') => {
                            self.nesting.open(Container::Object);
                            cursor += 1;
                        }
                        (b'[', b']') => {
                            self.nesting.open(Container::Array);
                            cursor += 1;
                        }
                        (b'[', first) if first == b'[' || Kind::of(first).is_some() => {
                            self.nesting.open(Container::Array);
                            in_array = true;
                            cursor += 1;
                            if first != b'[' {
                                cursor += self.numbers(kernel, text, &index[cursor..]);
                            }
                            continue;
                        }
                        _ => break Next::Value,
                    }
                }
                None => break Next::Value,
            }
            // The cursor is at a bracket.
            match self.closing(&mut cursor, text, index) {
                Next::Value => in_array = true,
                other => break other,
            }
        };
        self.cursor = cursor;
    }

    /// Numbers of the innermost array, and of others like it if it is an element of one: how many entries can be stepped over?
    #[inline(always)]
    fn numbers<K: Kernel>(&self, kernel: K, text: &[u8], index: &[u32]) -> usize {
        if self.nesting.outer() == Some(Container::Array) {
            many_lists(kernel, text, index)
        } else {
            numbers(kernel, text, index)
        }
    }

    /// Past brackets that close to the next key, of the same object or of the next in a list: is it an object's first?
    /// An error if something else comes.
    #[inline(always)]
    fn next_key(&mut self, cursor: &mut usize, text: &[u8], index: &[u32]) -> Result<bool, Next> {
        match self.closing(cursor, text, index) {
            Next::Key { first } => Ok(first),
            Next::Value if is_object(text, index, *cursor) && self.nesting.depth() < self.limits.depth => {
                self.nesting.open(Container::Object);
                *cursor += 1;
                Ok(true)
            }
            other => Err(other),
        }
    }

    /// The cursor is at a bracket that closes the innermost container, and perhaps those around it: goes past them
    /// as far as it can and says what comes then.
    #[inline(always)]
    fn closing(&mut self, cursor: &mut usize, text: &[u8], index: &[u32]) -> Next {
        while let Some([close, after]) = ahead(text, index, *cursor) {
            let comma = after == close + 2 && text[close + 1] == b',';
            let next = match (self.nesting.outer(), text[after]) {
                (Some(Container::Object), b'"') if comma => Next::Key { first: false },
                (Some(Container::Object), b'}') | (Some(Container::Array), b']') if after == close + 1 => Next::Close,
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
        if kind == Kind::Number {
            cursor += numbers(kernel, text, &index[cursor..]);
        }
        while let Some([start, next]) = ahead(text, index, cursor) {
            if Kind::of(text[start]) != Some(kind) {
                break;
            }
            match follows_element(text, start, next) {
                Some(true) => cursor += 1,
                Some(false) if next + 1 - open <= self.window => {
                    let count = self.compact.count + (cursor - self.cursor) as u64 + 1;
                    write::compact_count(count, pen);
                    copy(text, open + 1, next, pen);
                    self.from = next + 1;
                    self.cursor = cursor + 1;
                    self.next = Next::Close;
                    return true;
                }
                _ => break,
            }
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
            if window(text, value.wrapping_sub(2)) != Some(b"\":")
                || follows(text, value, next, b'}') != Some(true)
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
        let expansion = self.expansion(pen.at() + pen.left());
        let table = &self.table;
        let (columns, places, room) = (table.shape.columns(), &index[self.cursor..], pen.rest());
        let (left, most) = (places.len(), room.len());
        let reach = self.expansion(table.row_mark).reach(0);
        let mut rows = Rows { text, table: &text[table.open..], columns, places, room, whole: false, expansion, reach };
        let taken = rows.go(kernel);
        let (entries, written) = (left - rows.places.len(), most - rows.room.len());
        if taken == 0 {
            return;
        }
        pen.keep(written);
        self.cursor += entries;
        self.table.row_mark = pen.at() - ROW_SEPARATOR.len();
        self.table.rows += taken;
    }
}

/// Is there an object with a key at the cursor?
#[inline(always)]
fn is_object(text: &[u8], index: &[u32], cursor: usize) -> bool {
    ahead(text, index, cursor).is_some_and(|[open, key]| key == open + 1 && text[open..open + 2] == *b"{\"")
}

/// Appends what an object has before a value: a space if it is not the first, the key, a colon.
#[inline(always)]
fn write_member<K: Kernel>(kernel: K, first: bool, text: &[u8], start: usize, value: usize, pen: &mut Pen<'_, u8>) {
    let space = usize::from(!first);
    let length = value - start - 3;
    if let Some(body) = window::<SPAN>(text, start + 1)
        && is_bare_span(kernel, body, length)
    {
        // All of it in one place: a space that the key covers if there is to be none, and the colon behind the key.
        let room = pen.chunk::<{ 2 * SPAN }>();
        room[0] = b' ';
        room[space..space + SPAN].copy_from_slice(body);
        room[space + length..space + length + 2].copy_from_slice(b": ");
        pen.keep(space + length + 2);
    } else {
        pen.write(&b" "[..space]);
        key(kernel, text, start, value, pen);
        pen.write(b": ");
    }
}

/// Appends the key from `start` to the colon before `value`, bare where it may be.
#[inline(always)]
pub(super) fn key<K: Kernel>(kernel: K, text: &[u8], start: usize, value: usize, pen: &mut Pen<'_, u8>) {
    let bare = usize::from(is_bare(kernel, text, start + 1, value - 2));
    copy(text, start + bare, value - 1 - bare, pen);
}

/// How long the key from `start` to the colon before `value` is once written.
#[inline(always)]
pub(super) fn key_len<K: Kernel>(kernel: K, text: &[u8], start: usize, value: usize) -> usize {
    value - 1 - start - 2 * usize::from(is_bare(kernel, text, start + 1, value - 2))
}

#[inline(always)]
pub(super) fn same<K: Kernel>(kernel: K, text: &[u8], at: usize, table: &[u8], start: usize, length: usize) -> bool {
    match (window::<SPAN>(text, at), window::<SPAN>(table, start)) {
        (Some(left), Some(right)) if length < SPAN => kernel.equal_len(left, right) >= length,
        _ => text[at..at + length] == table[start..start + length],
    }
}
