//! The decoder's output. Every limit on it is tested where the bytes are written (STC.md, sections 10.2, 20.3 to 20.5).
//!
//! Output goes to one of three places: to the caller's buffer; to the text of a header, while a constant or default is read; or to
//! that of a row that has templates, until the row is complete and they can be filled. While a value that has an anchor is read, what
//! goes to the caller's buffer is also kept for its copies.

use std::ops::Range;

use crate::buffer::{Buffer, Pen};
use crate::error::{Error, ErrorKind};
use crate::json::lexer::Sink;
use crate::options::Limits;

/// With less room than this a fast path might stop at once.
const ENOUGH_ROOM: usize = 512;

/// The room that is made at once for what is set aside.
const ASIDE_ROOM: usize = 2 << 10;

/// Where output goes: to the caller's buffer, or aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Aside {
    /// Not aside: to the caller's buffer.
    #[default]
    Off,
    /// To the text of a header, as a constant or default. It counts as bytes of the header.
    Header,
    /// To the text of a row that waits for its templates. It counts as output already.
    Row,
}

/// What version 2 keeps of the output: what is set aside, and the texts of anchored values.
#[derive(Debug, Default)]
pub(crate) struct Held {
    aside: Aside,
    /// What is set aside.
    text: Buffer<u8>,
    /// The most bytes that may be set aside.
    most: usize,
    /// Memory for a row whose placeholders are being filled.
    filled: Buffer<u8>,
    /// The texts of the anchored values that are complete.
    anchored: Vec<u8>,
    /// The sum of their lengths, each counted by itself also if it is inside another.
    anchored_len: usize,
    /// The number of anchored values that are not complete. Those that begin inside a held row are not counted: their text is in it.
    open: usize,
    /// What was written since the outermost of them began. It is apart from `anchored`, because a value inside a held row may be
    /// complete before the row is written.
    open_text: Vec<u8>,
}

impl Held {
    /// Forgets everything, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.aside = Aside::Off;
        self.text.clear();
        self.anchored.clear();
        self.anchored_len = 0;
        self.open = 0;
        self.open_text.clear();
    }
}

/// Appends to the caller's buffer until a limit is met.
pub(crate) struct Output<'a> {
    out: &'a mut Buffer<u8>,
    held: &'a mut Held,
    /// The bytes of the document written so far, in this buffer and before.
    written: &'a mut u64,
    limits: &'a Limits,
    /// The length of the buffer at which the decoder pauses.
    full: usize,
}

impl<'a> Output<'a> {
    pub(crate) fn new(
        out: &'a mut Buffer<u8>,
        held: &'a mut Held,
        written: &'a mut u64,
        limits: &'a Limits,
        full: usize,
    ) -> Self {
        Self { out, held, written, limits, full }
    }

    /// Returns whether output goes into a header.
    #[inline(always)]
    pub(crate) fn in_header(&self) -> bool {
        self.held.aside == Aside::Header
    }

    /// Returns whether the decoder has to pause.
    pub(crate) fn is_full(&self) -> bool {
        self.out.len() >= self.full
    }

    /// Appends what the input byte at `offset` means.
    pub(crate) fn write(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.admit(bytes.len(), offset)?;
        self.put(bytes);
        Ok(())
    }

    /// Counts bytes that are about to be written against every limit.
    fn admit(&mut self, bytes: usize, offset: u64) -> Result<(), Error> {
        if self.held.aside != Aside::Off {
            return self.grow(bytes, offset);
        }
        self.count(bytes, offset)?;
        if self.held.open > 0 && bytes > self.anchor_room() {
            return Err(Error::new(ErrorKind::Anchors, offset));
        }
        Ok(())
    }

    /// Appends bytes that have been counted.
    fn put(&mut self, bytes: &[u8]) {
        if self.held.aside != Aside::Off {
            return self.held.text.extend(bytes);
        }
        if self.held.open > 0 {
            self.held.open_text.extend_from_slice(bytes);
        }
        self.reserve(bytes.len());
        self.out.extend(bytes);
    }

    /// Counts bytes of output against the limits on it.
    fn count(&mut self, bytes: usize, offset: u64) -> Result<(), Error> {
        let written = *self.written + bytes as u64;
        if written > self.limits.output {
            return Err(Error::new(ErrorKind::Output, offset));
        }
        if written > self.limits.ratio_after && written > self.by_ratio(offset) {
            return Err(Error::new(ErrorKind::Ratio, offset));
        }
        *self.written = written;
        Ok(())
    }

    /// Returns how many bytes more the open anchored value may have.
    fn anchor_room(&self) -> usize {
        let held = &*self.held;
        self.limits.anchors.saturating_sub(held.anchored_len + held.open_text.len())
    }

    /// Sets output aside from now on, up to `most` bytes.
    pub(crate) fn set_aside(&mut self, aside: Aside, most: usize) {
        self.held.aside = aside;
        self.held.text.clear();
        self.held.most = most;
    }

    /// Returns what is set aside.
    pub(crate) fn aside(&self) -> &[u8] {
        &self.held.text
    }

    /// Lets output go on again. What was set aside stays readable until the next time.
    pub(crate) fn end_aside(&mut self) {
        self.held.aside = Aside::Off;
    }

    /// Counts bytes that are about to be set aside.
    fn grow(&mut self, bytes: usize, offset: u64) -> Result<(), Error> {
        if self.held.text.len() + bytes > self.held.most {
            let kind = if self.held.aside == Aside::Row { ErrorKind::Row } else { ErrorKind::Header };
            return Err(Error::new(kind, offset));
        }
        if self.held.aside == Aside::Row { self.count(bytes, offset) } else { Ok(()) }
    }

    /// Fills the placeholders of the row that is held back: each is a position in the row, and the part of the row that belongs
    /// there.
    pub(crate) fn fill(
        &mut self,
        placeholders: impl Iterator<Item = (usize, Range<usize>)> + Clone,
        offset: u64,
    ) -> Result<(), Error> {
        self.grow(placeholders.clone().map(|(_, part)| part.len()).sum(), offset)?;
        let Held { text, filled, .. } = &mut *self.held;
        // What is before the first placeholder stays in its place: a row may have many tuples, each with placeholders.
        let Some((first, _)) = placeholders.clone().next() else { return Ok(()) };
        filled.clear();
        filled.extend(&text[first..]);
        text.truncate(first);
        let mut from = first;
        for (at, part) in placeholders {
            text.extend(&filled[from - first..at - first]);
            if part.start >= first {
                text.extend(&filled[part.start - first..part.end - first]);
            } else {
                text.extend_from_within(part);
            }
            from = at;
        }
        text.extend(&filled[from - first..]);
        Ok(())
    }

    /// Lets the row that was held back go on. It has been counted.
    pub(crate) fn release(&mut self, offset: u64) -> Result<(), Error> {
        self.held.aside = Aside::Off;
        let row = self.held.text.len();
        if self.held.open > 0 {
            if row > self.anchor_room() {
                return Err(Error::new(ErrorKind::Anchors, offset));
            }
            self.held.open_text.extend_from_slice(&self.held.text);
        }
        self.reserve(row);
        self.out.extend(&self.held.text);
        Ok(())
    }

    /// Begins an anchored value; returns where its text begins.
    pub(crate) fn begin_anchor(&mut self) -> usize {
        let held = &mut *self.held;
        if held.aside == Aside::Row {
            return held.text.len();
        }
        held.open += 1;
        held.open_text.len()
    }

    /// Ends the anchored value whose text begins at `start`; returns where the text is from now on.
    pub(crate) fn end_anchor(&mut self, start: usize, offset: u64) -> Result<Range<usize>, Error> {
        let held = &mut *self.held;
        let in_row = held.aside == Aside::Row;
        let text = if in_row { &held.text[start..] } else { &held.open_text[start..] };
        held.anchored_len += text.len();
        if held.anchored_len > self.limits.anchors {
            return Err(Error::new(ErrorKind::Anchors, offset));
        }
        let kept = held.anchored.len();
        held.anchored.extend_from_slice(text);
        if !in_row {
            held.open -= 1;
            if held.open == 0 {
                held.open_text.clear();
            }
        }
        Ok(kept..held.anchored.len())
    }

    /// Appends the text of an anchored value again (STC.md, 19.2).
    pub(crate) fn copy_anchored(&mut self, text: Range<usize>, offset: u64) -> Result<(), Error> {
        self.admit(text.len(), offset)?;
        if self.held.aside != Aside::Off {
            self.held.text.extend(&self.held.anchored[text]);
            return Ok(());
        }
        self.reserve(text.len());
        let Held { anchored, open_text, open, .. } = &mut *self.held;
        self.out.extend(&anchored[text.clone()]);
        if *open > 0 {
            open_text.extend_from_slice(&anchored[text]);
        }
        Ok(())
    }

    /// Makes room for `more` bytes, and takes no memory past the limit on output.
    fn reserve(&mut self, more: usize) {
        let left = self.limits.output.saturating_sub(*self.written);
        let longest = usize::try_from(left).unwrap_or(usize::MAX).saturating_add(self.out.len());
        self.out.reserve_within(more, longest);
    }

    /// Returns a pen that cannot exceed a limit: it has room for at most `most` bytes, and for no more than may be written once the
    /// byte at `offset` is read. [`keep`](Self::keep) keeps what it has written. Returns the texts of anchored values with it.
    pub(crate) fn pen(&mut self, most: usize, offset: u64) -> (Pen<'_, u8>, &[u8]) {
        let most = most.min(self.room(offset));
        if self.held.aside != Aside::Off {
            let Held { text, anchored, .. } = &mut *self.held;
            // What is set aside is short: a value of a header, or a row.
            let most = most.min(text.room().max(ASIDE_ROOM));
            text.reserve(most);
            return (text.pen_within(most), anchored);
        }
        // A buffer that has an eighth of that, mostly the length of the input, need not grow before it is full: it would be copied.
        let room = self.out.room();
        let enough = (most / 8).max(most.min(ENOUGH_ROOM));
        let most = if room >= enough { most.min(room) } else { most };
        self.reserve(most);
        (self.out.pen_within(most), &self.held.anchored)
    }

    /// Returns how many bytes may be written before a limit is met, once the byte at `offset` is read.
    fn room(&self, offset: u64) -> usize {
        let held = &*self.held;
        let allowed = self.limits.output.min(self.limits.ratio_after.max(self.by_ratio(offset)));
        let left = usize::try_from(allowed.saturating_sub(*self.written)).unwrap_or(usize::MAX);
        match held.aside {
            Aside::Off if held.open > 0 => left.min(self.anchor_room()),
            Aside::Off => left,
            Aside::Header => held.most.saturating_sub(held.text.len()),
            Aside::Row => left.min(held.most.saturating_sub(held.text.len())),
        }
    }

    /// Keeps what a pen has written.
    pub(crate) fn keep(&mut self, count: usize) {
        if !self.in_header() {
            *self.written += count as u64;
        }
        if self.held.aside != Aside::Off {
            return self.held.text.keep(count);
        }
        self.out.keep(count);
        if self.held.open > 0 {
            self.held.open_text.extend_from_slice(&self.out[self.out.len() - count..]);
        }
    }

    /// Returns how many bytes may have been written once the byte at `offset` is read (STC.md, 10.2).
    fn by_ratio(&self, offset: u64) -> u64 {
        self.limits.ratio.saturating_mul(offset.saturating_add(1))
    }
}

impl Sink for Output<'_> {
    /// Appends bytes that mean themselves, so that an error is at the very byte that did not fit, however the input was cut.
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        // Past what is free, a byte written for a byte read keeps the ratio if it was kept before.
        let keeps_ratio = *self.written < self.by_ratio(offset) && self.limits.ratio > 0;
        let room = self.room(if keeps_ratio { u64::MAX } else { offset });
        if bytes.len() <= room {
            if !self.in_header() {
                *self.written += bytes.len() as u64;
            }
            self.put(bytes);
            return Ok(());
        }
        // Near a limit, byte by byte.
        bytes.iter().zip(offset..).try_for_each(|(byte, at)| self.write(std::slice::from_ref(byte), at))
    }
}
