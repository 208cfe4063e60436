//! The decoder: STC to JSON, a push state machine without recursion.
//!
//! Counts say where everything ends, so nothing has to be searched for (STC.md, 7.4): a byte is read in the state that the bytes
//! before it led to, and what it means is written at once. Whatever the caller's chunks, the output is the same, and so is an
//! error's offset.
//!
//! - `machine` is the decoder; `steps` says what each byte does in each `state`. `v2/` is what only version 2 adds to them.
//! - `feed` gives it the input, and lets fast paths read what is common: `fast_path` over tokens, with `members` and `columnar` as
//!   its parts, and the ones in `v2/`. They read with a `cursor`, in input that `segment` has checked.
//! - `header` keeps a columnar value's keys; `output` writes, and tests the limits.

mod columnar;
mod cursor;
mod fast_path;
mod feed;
mod header;
mod machine;
mod members;
mod output;
mod segment;
mod spacing;
mod state;
mod steps;
mod v2;

use crate::buffer::Buffer;
use crate::error::{Error, ErrorKind};
use crate::json::scan::Choice;
use crate::options::{Limits, Options};
use machine::Machine;
use output::{Held, Output};

/// A decoder of STC, any version of it, to minified JSON. JSON is valid STC (STC.md, 3.3). It keeps its buffers: once they have
/// grown, a document costs no allocation.
///
/// It is `Send` and `Sync`. All of its calls need `&mut`, so two threads have one each.
///
/// ```
/// use stc::{Decoder, Limits, Options};
///
/// let mut decoder = Decoder::new();
/// assert_eq!(decoder.decode(br#"[2]{id,ok}: 1,true / 2,false"#)?, br#"[{"id":1,"ok":true},{"id":2,"ok":false}]"#);
///
/// let mut decoder = Decoder::with_options(Options::default().limits(Limits::default().output(1 << 20)));
/// let mut out = b"data: ".to_vec();
/// decoder.decode_into(b"{a: 1}", &mut out)?;
/// assert_eq!(out, br#"data: {"a":1}"#);
///
/// // A document in chunks; the first is given up.
/// decoder.push(b"[2]{a", &mut out)?;
/// decoder.clear();
/// out.clear();
/// for chunk in ["[2]{a", "}: 1", " / 2"] {
///     decoder.push(chunk.as_bytes(), &mut out)?;
/// }
/// decoder.finish(&mut out)?;
/// assert_eq!(out, br#"[{"a":1},{"a":2}]"#);
/// # Ok::<(), stc::Error>(())
/// ```
pub struct Decoder {
    options: Options,
    kernel: Choice,
    machine: Machine,
    out: Buffer<u8>,
    held: Held,
    /// The bytes of the document read so far.
    read: u64,
    /// The bytes of the document written so far.
    written: u64,
}

/// Leaves the buffers out: what goes through a codec does not belong in a log.
impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("options", &self.options).field("read", &self.read).finish_non_exhaustive()
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// Returns a decoder with the default [`Options`].
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// Returns a decoder with these options, of which it uses only the limits.
    pub fn with_options(options: Options) -> Self {
        Self::with_kernel(options, Choice::best())
    }

    pub(crate) fn with_kernel(options: Options, kernel: Choice) -> Self {
        Self {
            options,
            kernel,
            machine: Machine::default(),
            out: Buffer::default(),
            held: Held::default(),
            read: 0,
            written: 0,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Decodes a whole document into the decoder's own buffer. Forgets a document begun with [`push`](Self::push).
    pub fn decode(&mut self, stc: &[u8]) -> Result<&[u8], Error> {
        self.clear();
        self.out.clear();
        self.take(stc, usize::MAX)?;
        self.end()?;
        Ok(&self.out)
    }

    /// Decodes a whole document and appends it to `out`; on an error `out` is as long as before (STC.md, 9.6). Forgets a document
    /// begun with [`push`](Self::push).
    pub fn decode_into(&mut self, stc: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.clear();
        let before = out.len();
        let result = self.with_buffer(out, |this| {
            this.take(stc, usize::MAX)?;
            this.end()
        });
        if result.is_err() {
            out.truncate(before);
        }
        result
    }

    /// Decodes the next chunk of a document and appends to `out`. On an error what was appended stays, the output of all that came
    /// before the error, and the decoder is ready for another document.
    ///
    /// STC 1 and JSON are written as they are read, but for what is held back until it is complete: a count, a header, and up to five
    /// letters that may be a literal. STC 2
    /// is written row by row: a row with templates is held back until its end ([`Limits::row`]), and definitions are kept until
    /// the document's.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.push_until(chunk, out, usize::MAX).map(|_| ())
    }

    /// Does the same as [`push`](Self::push), but pauses when `out` has become `full` bytes long; returns how much of `chunk` it
    /// read. `out` exceeds `full` at most by what one byte of input can mean, by a header's keys, or by a chunk's own length.
    pub(crate) fn push_until(&mut self, chunk: &[u8], out: &mut Vec<u8>, full: usize) -> Result<usize, Error> {
        self.with_buffer(out, |this| this.take(chunk, full))
    }

    /// Ends the document and appends the rest of it to `out`. After that the decoder is ready for another.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.with_buffer(out, Self::end)
    }

    /// Puts the caller's buffer in the place of the decoder's own while `work` runs.
    fn with_buffer<T>(&mut self, out: &mut Vec<u8>, work: impl FnOnce(&mut Self) -> T) -> T {
        let own = std::mem::replace(&mut self.out, Buffer::after(std::mem::take(out)));
        let result = work(self);
        *out = std::mem::replace(&mut self.out, own).into_vec();
        result
    }

    /// Reads a chunk until it ends or the output is `full` bytes long; returns how much was read.
    fn take(&mut self, chunk: &[u8], full: usize) -> Result<usize, Error> {
        let limits = &self.options.limits;
        let room = limits.input - self.read;
        let within = chunk.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let mut output = Output::new(&mut self.out, &mut self.held, &mut self.written, limits, full);
        let mut result = self.machine.feed(self.kernel, &chunk[..within], self.read, limits, &mut output);
        if let Ok(read) = result {
            self.read += read as u64;
            if read == within && within < chunk.len() {
                result = Err(Error::new(ErrorKind::Input, limits.input));
            }
        }
        result.inspect_err(|_| self.clear())
    }

    /// Ends the document.
    fn end(&mut self) -> Result<(), Error> {
        let mut output =
            Output::new(&mut self.out, &mut self.held, &mut self.written, &self.options.limits, usize::MAX);
        let result = self.machine.end(self.read, &self.options.limits, &mut output);
        self.clear();
        result
    }

    /// Forgets a document that was begun with [`push`](Self::push) and not finished; the memory is kept.
    pub fn clear(&mut self) {
        self.machine.clear();
        self.held.clear();
        self.read = 0;
        self.written = 0;
    }
}
