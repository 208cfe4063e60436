//! Tape to STC in one pass: checks the grammar, decides the form of every array, has it written.
//!
//! One idea: what STC shares with minified JSON is not touched. `from` marks where the bytes begin that the output
//! will have as they are, and only at an edit, a key or an array that takes another form, is the span before it
//! copied. Arrays of scalars and whole subtrees without objects cost one copy.
//!
//! The pass looks one entry ahead and never back, with one exception: an array of objects is written as columnar
//! while it still may be one ([`table`]) and written again plainly if it turns out not to be. Such rows hold no
//! further containers, so no byte is written more than twice, however deep the document.
//!
//! It may stop at any entry and go on when there are more. To anything that is not JSON it answers only "no".

use super::table::{self, Table};
use super::write;
use crate::buffer::BLOCK;
use crate::buffer::Buffer;
use crate::error::Refused;
use crate::json::diagnose::Resume;
use crate::json::lexer::Kind;
use crate::json::nesting::{Container, Nesting};
use crate::json::scan::arch::Kernel;
use crate::json::tape::{byte, is_key, lexeme};
use crate::options::{Limits, Options};

/// Whether a step could be taken with the entries at hand.
pub(super) type Stepped = Result<Flow, Refused>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Onward,
    /// The next step needs an entry that has not come yet.
    Starved,
}

/// What stands at the cursor. What comes before it has been checked, down to the comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing has been read.
    Start,
    /// A value.
    Value,
    /// A key, with a comma before it or not.
    Key { first: bool },
    /// The bracket that closes the innermost container.
    Close,
    /// An element of an array that may become compact.
    Element,
    /// A part of an array that may become columnar.
    Table(table::Part),
    /// The end of the text.
    End,
}

/// The pass over one document, and the memory it keeps for the next.
#[derive(Debug)]
pub(crate) struct Analyzer {
    pub(super) limits: Limits,
    /// An array longer than this is written plain.
    pub(super) window: usize,
    pub(super) nesting: Nesting,
    pub(super) next: Next,
    /// The index entry to look at next.
    pub(super) cursor: usize,
    /// Where the text begins that is to be copied as it stands.
    pub(super) from: usize,
    pub(super) compact: Compact,
    pub(super) table: Table,
    /// How much of the document came before the text, and how much of its STC before the output; and where in the
    /// output it begins.
    pub(super) text_before: u64,
    pub(super) stc_before: u64,
    pub(super) stc_start: usize,
}

/// How far a document's JSON may reach, given its STC: a decoder with the same limits refuses what expands further, so an
/// encoder must not write it. What is free of the ratio is left out of account: were it used up here, what follows plainly
/// could pass the limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expansion {
    ratio: u64,
    /// How much JSON came before the text.
    json: u64,
    /// How much STC there would be, were the room full.
    stc: u64,
}

impl Expansion {
    /// Where in the text it ends, with so much of the room left.
    #[inline(always)]
    pub(super) fn reach(self, left: usize) -> u64 {
        self.ratio.saturating_mul(self.stc - left as u64).saturating_sub(self.json)
    }

    /// The same with some of the STC left out of account.
    #[inline(always)]
    pub(super) fn without(self, bytes: usize) -> Self {
        Self { stc: self.stc - bytes as u64, ..self }
    }
}

/// The array that may become compact, while [`Next::Element`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Compact {
    /// Its `[`.
    pub(super) open: usize,
    pub(super) kind: Kind,
    pub(super) count: u64,
}

impl Analyzer {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            limits: options.limits,
            // Offsets have 32 bits: no array is held that could pass them.
            window: options.window.unwrap_or(usize::MAX).min(1 << 31),
            nesting: Nesting::default(),
            next: Next::Start,
            cursor: 0,
            from: 0,
            compact: Compact { open: 0, kind: Kind::Null, count: 0 },
            table: Table::default(),
            text_before: 0,
            stc_before: 0,
            stc_start: 0,
        }
    }

    /// Forgets the document, keeps the memory. The next will be written behind what `out` holds now.
    pub(crate) fn begin(&mut self, out: &[u8]) {
        self.text_before = 0;
        self.stc_before = 0;
        self.stc_start = out.len();
        self.nesting.clear();
        self.next = Next::Start;
        self.cursor = 0;
        self.from = 0;
    }

    /// Goes as far as the index leads. `text` and `index` hold what [`held`](Self::held) asked to keep, and more; `padded`
    /// is the text with or without zeros behind it, so that sprints need not stop short of its end.
    // Compiled once a kernel: inlined into every caller it made the build four times as long and gained nothing.
    #[inline(never)]
    pub(crate) fn run<K: Kernel>(
        &mut self,
        kernel: K,
        len: usize,
        padded: &[u8],
        index: &[u32],
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        kernel.enter(
            #[inline(always)]
            || self.walk(kernel, len, padded, index, out),
        )
    }

    #[inline(always)]
    pub(super) fn walk<K: Kernel>(
        &mut self,
        kernel: K,
        len: usize,
        padded: &[u8],
        index: &[u32],
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        let text = &padded[..len];
        // What can be written of the text at hand: no form is twice as long as the JSON it stands for. Of a table, all but
        // the first row is written as it goes by; should it be written again, `not_columnar` asks for the room.
        let written = match self.next {
            Next::Table(_) if self.table.rows > 0 => index.get(self.cursor).map_or(text.len(), |&entry| entry as usize),
            _ => self.held(index).0,
        };
        out.reserve(2 * (text.len() - written) + 2 * BLOCK);
        loop {
            if self.sprint(kernel, padded, index, out) {
                continue;
            }
            crate::slow_path::count_slow_step();
            let flow = match self.next {
                Next::Value => self.value(text, index, out)?,
                Next::Key { first } => self.key(first, text, index, out)?,
                Next::Close => self.close(text, index)?,
                Next::Element => self.element(text, index, out)?,
                Next::Table(part) => self.table_part(part, text, index, out)?,
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

    /// Copies what is certain to be copied as it stands, so that only what [`held`](Self::held) says is still needed.
    pub(crate) fn settle(&mut self, text: &[u8], index: &[u32], out: &mut Buffer<u8>) {
        if !matches!(self.next, Next::Element | Next::Table(_)) {
            let until = index.get(self.cursor).map_or(self.from, |&entry| entry as usize);
            self.copy_until(until, text, out);
        }
    }

    /// Where in the output the document begins.
    pub(crate) fn starts_at(&self) -> usize {
        self.stc_start
    }

    /// Is the document complete?
    pub(crate) fn is_done(&self) -> bool {
        self.next == Next::End
    }

    /// After [`settle`](Self::settle): the first byte of the text that is still needed, and the first entry.
    pub(crate) fn held(&self, index: &[u32]) -> (usize, usize) {
        match self.next {
            Next::Element => (self.compact.open, self.cursor),
            Next::Table(_) => (self.table.open, self.table.cursor),
            // Behind a compact or columnar array `from` is past its bracket, where the cursor still is.
            _ => (index.get(self.cursor).map_or(self.from, |&entry| self.from.min(entry as usize)), self.cursor),
        }
    }

    /// The first `bytes` of the text and the first `entries` of the index are gone.
    pub(crate) fn dropped(&mut self, bytes: usize, entries: usize) {
        self.cursor -= entries;
        self.text_before += bytes as u64;
        match self.next {
            Next::Element => self.compact.open -= bytes,
            Next::Table(_) => {
                self.table.open -= bytes;
                self.table.cursor -= entries;
            }
            _ => self.from -= bytes,
        }
    }

    /// How many bytes of the output are certain.
    pub(crate) fn certain(&self, out: &[u8]) -> usize {
        match self.next {
            Next::Table(_) => self.table.mark,
            _ => out.len(),
        }
    }

    /// The first `bytes` of the output, all certain, are gone.
    pub(crate) fn delivered(&mut self, bytes: usize) {
        self.stc_before += bytes as u64;
        if let Next::Table(_) = self.next {
            self.table.mark -= bytes;
            self.table.row_mark = self.table.row_mark.saturating_sub(bytes);
        }
    }

    /// May the document's JSON reach to `end` when its STC reaches to `written`?
    #[inline(always)]
    pub(super) fn may_expand(&self, end: usize, written: usize) -> bool {
        end as u64 <= self.expansion(written).reach(0)
    }

    /// The limit on expansion for room that ends at `end` of the output.
    #[inline(always)]
    pub(super) fn expansion(&self, end: usize) -> Expansion {
        let stc = self.stc_before + (end - self.stc_start) as u64;
        Expansion { ratio: self.limits.ratio, json: self.text_before, stc }
    }

    /// How far the text has been found good, and how things stand there, for a slower reader to go on from.
    pub(crate) fn standing(&self, index: &[u32]) -> (usize, Nesting, Resume) {
        let mut nesting = self.nesting.clone();
        match self.next {
            // The array, which has been opened, is not settled: go on from its bracket.
            Next::Element | Next::Table(_) => nesting.close(),
            Next::Start => return (0, nesting, Resume::Value),
            Next::Value => return (index[self.cursor] as usize, nesting, Resume::Value),
            Next::Key { first: true } => return (index[self.cursor] as usize, nesting, Resume::KeyOrClose),
            Next::Key { first: false } => return (index[self.cursor] as usize, nesting, Resume::Key),
            Next::Close | Next::End => return (index[self.cursor] as usize, nesting, Resume::After),
        }
        (self.held(index).0, nesting, Resume::Value)
    }

    // A step that refuses must not have changed how things stand: the slow reader goes on from there.

    pub(super) fn value(&mut self, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Stepped {
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
                let (_, end) = lexeme(text, start, next).ok_or(Refused)?;
                self.next = after(self.nesting.innermost(), end, next, text)?;
            }
        }
        self.cursor += 1;
        Ok(Flow::Onward)
    }

    pub(super) fn key(&mut self, first: bool, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Stepped {
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

    pub(super) fn close(&mut self, text: &[u8], index: &[u32]) -> Stepped {
        let &[bracket, next, ..] = &index[self.cursor..] else { return Ok(Flow::Starved) };
        self.next = after(self.nesting.outer(), bracket as usize + 1, next as usize, text)?;
        self.nesting.close();
        self.cursor += 1;
        Ok(Flow::Onward)
    }

    /// An element of an array that may become compact. Until its fate is known nothing is written, and what is
    /// written then is one span, whichever way it goes.
    pub(super) fn element(&mut self, text: &[u8], index: &[u32], out: &mut Buffer<u8>) -> Stepped {
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

    /// The array stays as it is, from its bracket on; the cursor stays at the element that decided it.
    pub(super) fn not_compact(&mut self, out: &mut Buffer<u8>) {
        write::colon(out);
        self.from = self.compact.open;
        self.next = Next::Value;
    }

    /// May the bracket at `start` open a container? The next entry must touch it.
    pub(super) fn may_open(&self, start: usize, next: usize) -> Result<(), Refused> {
        if next == start + 1 && self.nesting.depth() < self.limits.depth { Ok(()) } else { Err(Refused) }
    }

    pub(super) fn copy_until(&mut self, until: usize, text: &[u8], out: &mut Buffer<u8>) {
        // A compact or columnar array may have been written up to the end of the text already.
        if self.from < until {
            out.extend(&text[self.from..until]);
            self.from = until;
        }
    }
}

/// What follows a value that ends at `end` in `container`, given the entry after it.
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
