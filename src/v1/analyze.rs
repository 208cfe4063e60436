//! The pass from tape to STC: checks the grammar, chooses the form of every array, and writes it.
//!
//! One idea: what STC shares with minified JSON is not touched. `from` marks where the bytes begin that the output
//! will have unchanged, and only at an edit (a key, or an array that takes another form) is the span before it copied.
//! Arrays of scalars and whole subtrees without objects cost one copy.
//!
//! The pass looks one entry ahead and never back, with one exception: an array of objects is written as columnar
//! while it may still become one ([`table`](super::table)) and written again as plain if it does not. Its rows hold no
//! further containers, so no byte is written more than twice, however deep the document.
//!
//! The pass may stop at any entry and resume when there are more. It refuses anything that is not JSON without saying
//! why; [`diagnose`](crate::json::diagnose) finds the reason.

use super::state::{Analyzer, Compact, Flow, Next, Stepped};
use super::write;
use crate::buffer::{BLOCK, Buffer};
use crate::error::Refused;
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;
use crate::json::tape::{byte, is_key, lexeme};
use crate::slow_path::count_slow_step;

impl Analyzer {
    /// Encodes as far as the index allows. Text and index begin with what [`first_needed`](Self::first_needed) returned;
    /// `padded` is the text, `len` bytes, and perhaps zeros after it, so that fast paths reach its end.
    // Compiled once a kernel: inlined into every caller it made the build four times as long and was no faster.
    #[inline(never)]
    pub(super) fn advance<K: Kernel>(
        &mut self,
        kernel: K,
        len: usize,
        padded: &[u8],
        index: &[u32],
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        kernel.enter(
            #[inline(always)]
            || self.take_steps(kernel, len, padded, index, out),
        )
    }

    #[inline(always)]
    fn take_steps<K: Kernel>(
        &mut self,
        kernel: K,
        len: usize,
        padded: &[u8],
        index: &[u32],
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        let text = &padded[..len];
        // Room for all that can be written of the text at hand: no form is twice as long as its JSON. The rows of a table
        // before the cursor have been written; if the table is written again, `not_columnar` reserves the room.
        let written = match self.next {
            Next::Table(_) if self.table.rows > 0 => index.get(self.cursor).map_or(text.len(), |&entry| entry as usize),
            _ => self.first_needed(index).0,
        };
        out.reserve(2 * (text.len() - written) + 2 * BLOCK);
        loop {
            if self.take_fast_path(kernel, padded, index, out) {
                continue;
            }
            count_slow_step();
            let flow = match self.next {
                Next::Value => self.value(text, index, out)?,
                Next::Key { first } => self.key(first, text, index, out)?,
                Next::Close => self.close(text, index)?,
                Next::Element => self.element(text, index, out)?,
                Next::Table(step) => self.table_step(step, text, index, out)?,
                Next::Start => match index.first() {
                    None => Flow::Starved,
                    Some(0) => {
                        self.next = Next::Value;
                        Flow::Onward
                    }
                    Some(_) => return Err(Refused),
                },
                Next::End => Flow::Starved,
            };
            if flow == Flow::Starved {
                return Ok(());
            }
        }
    }

    /// Copies the text that is certain to stay unchanged, so that only what [`first_needed`](Self::first_needed) returns is
    /// still needed.
    pub(super) fn copy_certain(&mut self, text: &[u8], index: &[u32], out: &mut Buffer<u8>) {
        if !matches!(self.next, Next::Element | Next::Table(_)) {
            let until = index.get(self.cursor).map_or(self.from, |&entry| entry as usize);
            self.copy_until(until, text, out);
        }
    }

    // A step that refuses must leave the state unchanged: the slow reader resumes from it.

    /// Reads a scalar, or opens a container.
    fn value(&mut self, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Stepped {
        let &[start, next, ref more @ ..] = &index[self.cursor..] else { return Ok(Flow::Starved) };
        let (start, next) = (start as usize, next as usize);
        match byte(text, start) {
            b'{' => {
                self.may_open(start, next)?;
                self.next = match byte(text, next) {
                    b'}' => Next::Close,
                    b'"' => Next::Key { first: true },
                    _ => return Err(Refused),
                };
                self.nesting.open(Container::Object);
            }
            b'[' => {
                self.may_open(start, next)?;
                match byte(text, next) {
                    b'{' if more.is_empty() => return Ok(Flow::Starved),
                    b'{' if more[0] as usize == next + 1 && byte(text, next + 1) == b'"' => {
                        self.copy_until(start, text, out);
                        return self.begin_table(start, out);
                    }
                    b']' => self.next = Next::Close,
                    b'{' | b'[' => self.next = Next::Value,
                    first if Kind::of(first).is_some() => self.next = Next::Value,
                    _ => return Err(Refused),
                }
                self.nesting.open(Container::Array);
            }
            _ => {
                // A scalar is written as its lexeme (grammar/STC.md, section 8.2): nothing to do but to find its end.
                let (_, end) = lexeme(text, start, next).ok_or(Refused)?;
                self.next = after(self.nesting.innermost(), end, next, text)?;
            }
        }
        self.cursor += 1;
        Ok(Flow::Onward)
    }

    /// Reads a key and writes it (grammar/STC.md, section 8.3).
    fn key(&mut self, first: bool, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Stepped {
        let &[start, value, ref more @ ..] = &index[self.cursor..] else { return Ok(Flow::Starved) };
        let (start, value) = (start as usize, value as usize);
        if !is_key(text, start, value) {
            return Err(Refused);
        }
        let elements = match (byte(text, value), more) {
            (b'[', []) => return Ok(Flow::Starved),
            (b'[', &[element, ..]) => {
                self.may_open(value, element as usize)?;
                Kind::of(byte(text, element as usize)).filter(|&kind| kind != Kind::Null)
            }
            _ => None,
        };
        self.copy_until(start, text, out);
        if !first {
            write::member_space(out);
        }
        write::key(&text[start..value - 1], out);
        self.cursor += 1;
        if let Some(kind) = elements {
            self.nesting.open(Container::Array);
            self.compact = Compact { open: value, kind, count: 0 };
            self.cursor += 1;
            self.next = Next::Element;
        } else {
            write::colon(out);
            self.from = value;
            self.next = Next::Value;
        }
        Ok(Flow::Onward)
    }

    /// Closes the innermost container.
    fn close(&mut self, text: &[u8], index: &[u32]) -> Stepped {
        let &[bracket, next, ..] = &index[self.cursor..] else { return Ok(Flow::Starved) };
        self.next = after(self.nesting.outer(), bracket as usize + 1, next as usize, text)?;
        self.nesting.close();
        self.cursor += 1;
        Ok(Flow::Onward)
    }

    /// Reads an element of an array that may become compact (grammar/STC.md, section 8.5). Nothing is written until the form
    /// is known. Both forms spell the elements as the text does, so they are then copied all at once.
    fn element(&mut self, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Stepped {
        let Compact { open, kind, ref mut count } = self.compact;
        let (start, next) = match index[self.cursor..] {
            [start, ..] if Kind::of(byte(text, start as usize)) != Some(kind) => {
                self.not_compact(out);
                return Ok(Flow::Onward);
            }
            [start, next, ..] => (start as usize, next as usize),
            _ if text.len() - open > self.window => {
                self.not_compact(out);
                return Ok(Flow::Onward);
            }
            _ => return Ok(Flow::Starved),
        };
        let (_, end) = lexeme(text, start, next).ok_or(Refused)?;
        *count += 1;
        let count = *count;
        self.next = match after(Some(Container::Array), end, next, text)? {
            Next::Close if next + 1 - open > self.window => {
                self.not_compact(out);
                Next::Close
            }
            Next::Close => {
                write::compact(count, &text[open + 1..next], out);
                self.from = next + 1;
                Next::Close
            }
            _ => Next::Element,
        };
        self.cursor += 1;
        Ok(Flow::Onward)
    }

    /// Leaves the array plain from its bracket on; the cursor stays at the element that decided it.
    fn not_compact(&mut self, out: &mut Buffer<u8>) {
        write::colon(out);
        self.from = self.compact.open;
        self.next = Next::Value;
    }

    /// Refuses a bracket at `start` that may not open a container: the next entry must be right after it.
    fn may_open(&self, start: usize, next: usize) -> Result<(), Refused> {
        if next == start + 1 && self.nesting.depth() < self.limits.depth { Ok(()) } else { Err(Refused) }
    }

    /// Copies the unchanged text before `until`.
    fn copy_until(&mut self, until: usize, text: &[u8], out: &mut Buffer<u8>) {
        // After a compact or columnar array, `from` may be past `until`.
        if self.from < until {
            out.extend(&text[self.from..until]);
            self.from = until;
        }
    }
}

/// Returns what follows a value that ends at `end` in `container`, given the entry after it.
#[inline]
fn after(container: Option<Container>, end: usize, next: usize, text: &[u8]) -> Result<Next, Refused> {
    let comma = next == end + 1 && text[end] == b',';
    match (container, byte(text, next)) {
        (Some(Container::Object), b'}') if next == end => Ok(Next::Close),
        (Some(Container::Object), b'"') if comma => Ok(Next::Key { first: false }),
        (Some(Container::Array), b']') if next == end => Ok(Next::Close),
        (Some(Container::Array), _) if comma => Ok(Next::Value),
        (None, _) if next == end && end == text.len() => Ok(Next::End),
        _ => Err(Refused),
    }
}
