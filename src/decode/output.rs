//! The decoder's output, with the limits tested where the bytes are written.

use std::ops::Range;

use crate::buffer::{Buffer, Pen};
use crate::error::{Error, ErrorKind};
use crate::lexeme::Sink;
use crate::options::Limits;

/// Where output goes while it does not go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Aside {
    #[default]
    Off,
    /// Into a header, as a constant; it counts there.
    Header,
    /// Into a row that is held; it counts as output already.
    Row,
}

/// What version 2 keeps of the output: what is set aside, and what anchors name.
#[derive(Debug, Default)]
pub(super) struct Held {
    aside: Aside,
    text: Vec<u8>,
    /// How long the text set aside may become.
    most: usize,
    /// The texts of anchored values.
    anchored: Vec<u8>,
    /// How long they are together, each counted for itself.
    anchored_len: usize,
    /// How many are open, and where the outermost begins. While there is one, all that goes on is kept too.
    open: usize,
    open_at: usize,
}

impl Held {
    pub(super) fn clear(&mut self) {
        self.aside = Aside::Off;
        self.text.clear();
        self.anchored.clear();
        self.anchored_len = 0;
        self.open = 0;
    }

    fn is_busy(&self) -> bool {
        self.aside != Aside::Off || self.open > 0
    }
}

/// Appends to the caller's buffer until a limit is met.
pub(super) struct Output<'a> {
    out: &'a mut Buffer<u8>,
    held: &'a mut Held,
    /// Bytes of the document written so far, in this buffer and before.
    written: &'a mut u64,
    limits: &'a Limits,
    /// How long the buffer may become before the decoder is asked to pause.
    full: usize,
}

impl<'a> Output<'a> {
    pub(super) fn new(
        out: &'a mut Buffer<u8>,
        held: &'a mut Held,
        written: &'a mut u64,
        limits: &'a Limits,
        full: usize,
    ) -> Self {
        Self { out, held, written, limits, full }
    }

    /// Does output go on, and nowhere else?
    pub(super) fn is_direct(&self) -> bool {
        !self.held.is_busy()
    }

    pub(super) fn is_full(&self) -> bool {
        self.out.len() >= self.full
    }

    /// Writes bytes that the input byte at `offset` stands for.
    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        if self.held.is_busy() {
            return self.hold(bytes, offset);
        }
        self.count(bytes.len(), offset)?;
        self.reserve(bytes.len());
        self.out.extend(bytes);
        Ok(())
    }

    /// Counts bytes of output against the limits.
    pub(super) fn count(&mut self, bytes: usize, offset: u64) -> Result<(), Error> {
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

    /// Writes while something is set aside or an anchor is open.
    fn hold(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        if self.held.aside != Aside::Off {
            self.grow(bytes.len(), offset)?;
            self.held.text.extend_from_slice(bytes);
            return Ok(());
        }
        self.count(bytes.len(), offset)?;
        self.keep_anchored(bytes, offset)?;
        self.reserve(bytes.len());
        self.out.extend(bytes);
        Ok(())
    }

    /// Keeps bytes that go on and belong to an anchored value.
    fn keep_anchored(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        if self.held.open > 0 {
            self.may_keep(bytes.len(), offset)?;
            self.held.anchored.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Is there room for this much more of the anchored value that is open?
    fn may_keep(&self, bytes: usize, offset: u64) -> Result<(), Error> {
        let length = self.held.anchored.len() - self.held.open_at + bytes;
        if self.held.anchored_len + length > self.limits.anchors {
            return Err(Error::new(ErrorKind::Anchors, offset));
        }
        Ok(())
    }

    /// Would this many bytes of input be within every limit, byte by byte?
    fn fits(&self, bytes: usize, offset: u64) -> bool {
        let held = &*self.held;
        let written = *self.written + bytes as u64;
        let aside = held.aside == Aside::Off || held.text.len() + bytes <= held.most;
        let anchored = held.anchored_len + held.anchored.len() + bytes <= self.limits.anchors;
        let ratio = written <= self.limits.free || *self.written < self.by_ratio(offset) && self.limits.ratio > 0;
        aside && anchored && written <= self.limits.output && ratio
    }

    /// From now on output is set aside, behind what `text` has, up to `most` bytes in all.
    pub(super) fn set_aside(&mut self, aside: Aside, text: Vec<u8>, most: usize) {
        self.held.aside = aside;
        self.held.text = text;
        self.held.most = most;
    }

    /// What was set aside; from now on output goes where it went before.
    pub(super) fn take_aside(&mut self) -> Vec<u8> {
        self.held.aside = Aside::Off;
        std::mem::take(&mut self.held.text)
    }

    /// What is set aside, to look at and change.
    pub(super) fn aside(&mut self) -> &mut Vec<u8> {
        &mut self.held.text
    }

    /// What is set aside is about to grow by this much.
    pub(super) fn grow(&mut self, bytes: usize, offset: u64) -> Result<(), Error> {
        if self.held.text.len() + bytes > self.held.most {
            let kind = if self.held.aside == Aside::Row { ErrorKind::Row } else { ErrorKind::Header };
            return Err(Error::new(kind, offset));
        }
        if self.held.aside == Aside::Row { self.count(bytes, offset) } else { Ok(()) }
    }

    /// Lets go on what was set aside as a row, and counted.
    pub(super) fn release(&mut self, row: &[u8], offset: u64) -> Result<(), Error> {
        self.keep_anchored(row, offset)?;
        self.reserve(row.len());
        self.out.extend(row);
        Ok(())
    }

    /// An anchored value begins; returns where.
    pub(super) fn begin_anchor(&mut self) -> usize {
        let held = &mut *self.held;
        if held.aside == Aside::Row {
            return held.text.len();
        }
        if held.open == 0 {
            held.open_at = held.anchored.len();
        }
        held.open += 1;
        held.anchored.len()
    }

    /// The anchored value that began at `start` is complete; where its text is from now on.
    pub(super) fn end_anchor(&mut self, start: usize, offset: u64) -> Result<Range<usize>, Error> {
        let held = &mut *self.held;
        let in_row = held.aside == Aside::Row;
        let length = if in_row { held.text.len() } else { held.anchored.len() } - start;
        held.anchored_len += length;
        if held.anchored_len > self.limits.anchors {
            return Err(Error::new(ErrorKind::Anchors, offset));
        }
        if !in_row {
            held.open -= 1;
            return Ok(start..held.anchored.len());
        }
        let kept = held.anchored.len();
        held.anchored.extend_from_slice(&held.text[start..]);
        Ok(kept..kept + length)
    }

    /// Writes the text of an anchored value once more.
    pub(super) fn copy_anchored(&mut self, text: Range<usize>, offset: u64) -> Result<(), Error> {
        let length = text.len();
        if self.held.aside != Aside::Off {
            self.grow(length, offset)?;
            self.held.text.extend_from_slice(&self.held.anchored[text]);
            return Ok(());
        }
        self.count(length, offset)?;
        self.reserve(length);
        self.out.extend(&self.held.anchored[text.clone()]);
        if self.held.open > 0 {
            self.may_keep(length, offset)?;
            self.held.anchored.extend_from_within(text);
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
    /// at `offset` is in. What it has written is kept by [`keep`](Self::keep).
    pub(super) fn pen(&mut self, most: usize, offset: u64) -> Pen<'_, u8> {
        let allowed = self.limits.output.min(self.limits.free.max(self.by_ratio(offset)));
        let left = allowed.saturating_sub(*self.written);
        let most = most.min(usize::try_from(left).unwrap_or(usize::MAX));
        self.reserve(most);
        self.out.pen_within(most)
    }

    pub(super) fn keep(&mut self, count: usize) {
        debug_assert!(!self.held.is_busy(), "a sprint writes on");
        self.out.keep(count);
        *self.written += count as u64;
    }

    /// How much may be out once the byte at `offset` is in.
    fn by_ratio(&self, offset: u64) -> u64 {
        self.limits.ratio.saturating_mul(offset.saturating_add(1))
    }
}

impl Sink for Output<'_> {
    /// Every byte stands for itself, so an error is at the very byte that did not fit, however the input was cut.
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        if self.held.is_busy() {
            if self.fits(bytes.len(), offset) {
                return self.write(bytes, offset);
            }
            return bytes.iter().zip(offset..).try_for_each(|(byte, at)| self.write(std::slice::from_ref(byte), at));
        }
        let written = *self.written + bytes.len() as u64;
        if written > self.limits.output || written > self.limits.free {
            // Close to a limit, or past what is free: byte by byte only until one byte for one byte is certain to
            // stay within the ratio.
            let within_ratio = *self.written < self.by_ratio(offset) && self.limits.ratio > 0;
            if written > self.limits.output || !within_ratio {
                for (byte, at) in bytes.iter().zip(offset..) {
                    self.write(std::slice::from_ref(byte), at)?;
                }
                return Ok(());
            }
        }
        self.reserve(bytes.len());
        self.out.extend(bytes);
        *self.written = written;
        Ok(())
    }
}
