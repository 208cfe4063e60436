//! The decoder: STC to JSON, a push state machine without recursion.
//!
//! One idea: the counts say where everything ends, so nothing has to be looked for: a byte is read in the state that the
//! bytes before it have led to, and what it means is written at once. All that is ever held is a columnar header's keys,
//! and the digits of `[12` until the byte after `]` tells whether they are a count or the only element of an array.
//! The machine alone is the decoder; its sprints only take the common cases faster.

mod columnar;
mod cursor;
mod fast_path;
mod feed;
mod header;
mod machine;
mod members;
mod output;
mod segment;
mod state;
mod v2;

use crate::buffer::Buffer;
use crate::error::{Error, ErrorKind};
use crate::json::scan::Choice;
use crate::options::{Limits, Options};
use machine::Machine;
use output::{Held, Output};

/// STC, any version of it, or plain JSON, to minified JSON. Keeps its buffers: once warm, a document costs no
/// allocation.
///
/// ```
/// let mut decoder = stc::Decoder::new();
/// assert_eq!(decoder.decode(br#"[2]{id,ok}: 1,true / 2,false"#)?, br#"[{"id":1,"ok":true},{"id":2,"ok":false}]"#);
/// # Ok::<(), stc::Error>(())
/// ```
pub struct Decoder {
    options: Options,
    kernel: Choice,
    machine: Machine,
    out: Buffer<u8>,
    held: Held,
    /// Bytes of the document so far, in and out.
    taken: u64,
    written: u64,
}

/// Without the buffers: what goes through a codec does not belong in a log.
impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("options", &self.options).field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder with the default [`Options`].
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// A decoder with these options; of them only the limits matter to it.
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
            taken: 0,
            written: 0,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Decodes a whole document into the decoder's own buffer. A document begun with [`push`](Self::push) is forgotten.
    pub fn decode(&mut self, stc: &[u8]) -> Result<&[u8], Error> {
        self.clear();
        self.out.clear();
        self.take(stc, usize::MAX)?;
        self.end()?;
        Ok(&self.out)
    }

    /// Decodes a whole document and appends it to `out`; on an error `out` is as it was. A document begun with
    /// [`push`](Self::push) is forgotten.
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

    /// Takes the next piece of a document and appends what it says to `out`. On an error what was appended stays: it
    /// is the beginning of what the document would have said. The decoder is then ready for another document.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.push_until(chunk, out, usize::MAX).map(|_| ())
    }

    /// As [`push`](Self::push), but pauses when `out` has become `full` bytes long; returns how much of `chunk` it
    /// took. Past `full` there is at most what one byte of input can say, a header's keys, or a chunk's own length.
    pub(crate) fn push_until(&mut self, chunk: &[u8], out: &mut Vec<u8>, full: usize) -> Result<usize, Error> {
        self.with_buffer(out, |this| this.take(chunk, full))
    }

    /// Ends the document and appends the rest of it to `out`. The decoder is then ready for another.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.with_buffer(out, Self::end)
    }

    /// Lets the caller's buffer take the place of the decoder's own for the while.
    fn with_buffer<T>(&mut self, out: &mut Vec<u8>, work: impl FnOnce(&mut Self) -> T) -> T {
        let own = std::mem::replace(&mut self.out, Buffer::after(std::mem::take(out)));
        let result = work(self);
        *out = std::mem::replace(&mut self.out, own).into_vec();
        result
    }

    fn take(&mut self, chunk: &[u8], full: usize) -> Result<usize, Error> {
        let limits = &self.options.limits;
        let room = limits.input - self.taken;
        let within = chunk.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let mut output = Output::new(&mut self.out, &mut self.held, &mut self.written, limits, full);
        let mut result = self.machine.feed(self.kernel, &chunk[..within], self.taken, limits, &mut output);
        if let Ok(taken) = result {
            self.taken += taken as u64;
            if taken == within && within < chunk.len() {
                result = Err(Error::new(ErrorKind::Input, limits.input));
            }
        }
        result.inspect_err(|_| self.clear())
    }

    fn end(&mut self) -> Result<(), Error> {
        let mut output =
            Output::new(&mut self.out, &mut self.held, &mut self.written, &self.options.limits, usize::MAX);
        let result = self.machine.end(self.taken, &self.options.limits, &mut output);
        self.clear();
        result
    }

    /// Forgets a document that was begun with [`push`](Self::push) and not finished; the memory is kept.
    pub fn clear(&mut self) {
        self.machine.clear();
        self.held.clear();
        self.taken = 0;
        self.written = 0;
    }
}
