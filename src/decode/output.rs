//! The decoder's output, with the limits tested where the bytes are written.

use crate::buffer::{Buffer, Pen};
use crate::error::{Error, ErrorKind};
use crate::lexeme::Sink;
use crate::options::Limits;

/// Appends to the caller's buffer until a limit is met.
pub(super) struct Output<'a> {
    out: &'a mut Buffer<u8>,
    /// Bytes of the document written so far, in this buffer and before.
    written: &'a mut u64,
    limits: &'a Limits,
    /// How long the buffer may become before the decoder is asked to pause.
    full: usize,
}

impl<'a> Output<'a> {
    pub(super) fn new(out: &'a mut Buffer<u8>, written: &'a mut u64, limits: &'a Limits, full: usize) -> Self {
        Self { out, written, limits, full }
    }

    pub(super) fn is_full(&self) -> bool {
        self.out.len() >= self.full
    }

    /// Writes bytes that the input byte at `offset` stands for.
    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let written = *self.written + bytes.len() as u64;
        if written > self.limits.output {
            return Err(Error::new(ErrorKind::Output, offset));
        }
        if written > self.limits.free && written > self.by_ratio(offset) {
            return Err(Error::new(ErrorKind::Ratio, offset));
        }
        self.reserve(bytes.len());
        self.out.extend(bytes);
        *self.written = written;
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
