//! The decoder's output, with the limits tested where the bytes are written.

use std::ops::Range;

use crate::buffer::{Buffer, Pen};
use crate::error::{Error, ErrorKind};
use crate::json::lexer::Sink;
use crate::options::Limits;

/// Where output goes while it does not go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Aside {
    #[default]
    Off,
    /// Into a header, as a constant; it counts there.
    Header,
    /// Into a row that is held; it counts as output already.
    Row,
}

/// What version 2 keeps of the output: what is set aside, and what anchors name.
#[derive(Debug, Default)]
pub(crate) struct Held {
    aside: Aside,
    text: Buffer<u8>,
    /// How long the text set aside may become.
    most: usize,
    /// The memory of a row whose holes are being filled.
    filled: Buffer<u8>,
    /// The texts of anchored values.
    anchored: Vec<u8>,
    /// How long they are together, each counted for itself.
    anchored_len: usize,
    /// How many are open. While there is one, all that goes on since the outermost began is kept too. Not among the
    /// others: one inside of a row that is held may be complete, and take its place there, before the row goes on.
    open: usize,
    open_text: Vec<u8>,
}

impl Held {
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
    /// Bytes of the document written so far, in this buffer and before.
    written: &'a mut u64,
    limits: &'a Limits,
    /// How long the buffer may become before the decoder is asked to pause.
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

    /// Does output go into a header?
    #[inline(always)]
    pub(crate) fn in_header(&self) -> bool {
        self.held.aside == Aside::Header
    }

    pub(crate) fn is_full(&self) -> bool {
        self.out.len() >= self.full
    }

    /// Writes bytes that the input byte at `offset` stands for.
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

    /// Writes what has been counted.
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

    /// Counts bytes of output against the limits.
    fn count(&mut self, bytes: usize, offset: u64) -> Result<(), Error> {
        let written = *self.written + bytes as u64;
        if written > self.limits.output {
            return Err(Error::new(ErrorKind::Output, offset));
        }
        if written > self.limits.free && written > self.by_ratio(offset) {
            return Err(Error::new(ErrorKind::Ratio, offset));
        }
        *self.written = written;
        Ok(())
    }

    /// How much more the anchored value that is open may become.
    fn anchor_room(&self) -> usize {
        let held = &*self.held;
        self.limits.anchors.saturating_sub(held.anchored_len + held.open_text.len())
    }

    /// From now on output is set aside, up to `most` bytes.
    pub(crate) fn set_aside(&mut self, aside: Aside, most: usize) {
        self.held.aside = aside;
        self.held.text.clear();
        self.held.most = most;
    }

    /// What is set aside.
    pub(crate) fn aside(&self) -> &[u8] {
        &self.held.text
    }

    /// From now on output goes where it went before.
    pub(crate) fn end_aside(&mut self) {
        self.held.aside = Aside::Off;
    }

    /// What is set aside is about to grow by this much.
    fn grow(&mut self, bytes: usize, offset: u64) -> Result<(), Error> {
        if self.held.text.len() + bytes > self.held.most {
            let kind = if self.held.aside == Aside::Row { ErrorKind::Row } else { ErrorKind::Header };
            return Err(Error::new(kind, offset));
        }
        if self.held.aside == Aside::Row { self.count(bytes, offset) } else { Ok(()) }
    }

    /// Fills holes of the row that is set aside: each a place in it, and the piece of it that belongs there.
    pub(crate) fn fill(
        &mut self,
        holes: impl Iterator<Item = (usize, Range<usize>)> + Clone,
        offset: u64,
    ) -> Result<(), Error> {
        self.grow(holes.clone().map(|(_, piece)| piece.len()).sum(), offset)?;
        let Held { text, filled, .. } = &mut *self.held;
        // What is before the first hole stays where it is: a row may have many tuples with holes of their own.
        let Some((first, _)) = holes.clone().next() else { return Ok(()) };
        filled.clear();
        filled.extend(&text[first..]);
        text.truncate(first);
        let mut from = first;
        for (at, piece) in holes {
            text.extend(&filled[from - first..at - first]);
            if piece.start >= first {
                text.extend(&filled[piece.start - first..piece.end - first]);
            } else {
                text.extend_from_within(piece);
            }
            from = at;
        }
        text.extend(&filled[from - first..]);
        Ok(())
    }

    /// The row that is set aside is complete, and goes on; it was counted before.
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

    /// An anchored value begins; returns where.
    pub(crate) fn begin_anchor(&mut self) -> usize {
        let held = &mut *self.held;
        if held.aside == Aside::Row {
            return held.text.len();
        }
        held.open += 1;
        held.open_text.len()
    }

    /// The anchored value that began at `start` is complete; where its text is from now on.
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

    /// Writes the text of an anchored value once more.
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

    /// Makes room for `more`, and takes no memory for what the output limit will not let in.
    fn reserve(&mut self, more: usize) {
        let left = self.limits.output.saturating_sub(*self.written);
        let longest = usize::try_from(left).unwrap_or(usize::MAX).saturating_add(self.out.len());
        self.out.reserve_within(more, longest);
    }

    /// A pen for what is certain to keep the limits: at most `most` bytes, and no more than may be out once the byte
    /// at `offset` is in. What it has written is kept by [`keep`](Self::keep). With it, the texts of anchored values.
    pub(crate) fn pen(&mut self, most: usize, offset: u64) -> (Pen<'_, u8>, &[u8]) {
        let most = most.min(self.room(offset));
        if self.held.aside != Aside::Off {
            let Held { text, anchored, .. } = &mut *self.held;
            text.reserve(most);
            return (text.pen_within(most), anchored);
        }
        self.reserve(most);
        (self.out.pen_within(most), &self.held.anchored)
    }

    /// How much may be written before a limit is met, once the byte at `offset` is in.
    fn room(&self, offset: u64) -> usize {
        let held = &*self.held;
        let allowed = self.limits.output.min(self.limits.free.max(self.by_ratio(offset)));
        let left = usize::try_from(allowed.saturating_sub(*self.written)).unwrap_or(usize::MAX);
        match held.aside {
            Aside::Off if held.open > 0 => left.min(self.anchor_room()),
            Aside::Off => left,
            Aside::Header => held.most.saturating_sub(held.text.len()),
            Aside::Row => left.min(held.most.saturating_sub(held.text.len())),
        }
    }

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

    /// How much may be out once the byte at `offset` is in.
    fn by_ratio(&self, offset: u64) -> u64 {
        self.limits.ratio.saturating_mul(offset.saturating_add(1))
    }
}

impl Sink for Output<'_> {
    /// Every byte stands for itself, so an error is at the very byte that did not fit, however the input was cut.
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        // Past what is free, one byte for one keeps the ratio wherever it was kept before.
        let keeps_ratio = *self.written < self.by_ratio(offset) && self.limits.ratio > 0;
        let room = self.room(if keeps_ratio { u64::MAX } else { offset });
        if bytes.len() <= room {
            if !self.in_header() {
                *self.written += bytes.len() as u64;
            }
            self.put(bytes);
            return Ok(());
        }
        // Close to a limit.
        bytes.iter().zip(offset..).try_for_each(|(byte, at)| self.write(std::slice::from_ref(byte), at))
    }
}
