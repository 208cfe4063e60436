//! The encoder: owns every buffer, has the tape scanned window by window and the analyzer walk it.
//!
//! A whole document and one in pieces take the same road. A document without whitespace is walked where it lies;
//! any other goes through the tape's own text, squeezed, of which only what is still undecided is kept.

use crate::buffer::BLOCK;
use crate::buffer::Buffer;
use crate::error::Refused;
use crate::error::{Error, ErrorKind, Expected};
use crate::json::diagnose::Checker;
use crate::json::scan::arch::Kernel;
use crate::json::scan::{Choice, with_kernel};
use crate::json::tape::{Indexed, LONGEST, Tape, trimmed};
use crate::options::{Limits, Options, Version};
use crate::v1::analyze::Analyzer;
use crate::v2;

/// A document of no more bytes goes through the tape's own text, whitespace or not: the text ends in room to look
/// past it, so that the last members need no care.
const SMALL: usize = 4 << 10;

/// JSON to STC. Keeps its buffers: once warm, a document costs no allocation.
///
/// ```
/// let mut encoder = stc::Encoder::new();
/// assert_eq!(encoder.encode(br#"{"tags": ["api", "mcp"], "count": 2}"#)?, br#"{tags[2]: "api","mcp", count: 2}"#);
/// # Ok::<(), stc::Error>(())
/// ```
pub struct Encoder {
    pub(crate) options: Options,
    kernel: Choice,
    pub(crate) tape: Tape,
    analyzer: Analyzer,
    pub(crate) v2: v2::Writer,
    /// What has been written of the document.
    pub(crate) out: Buffer<u8>,
    /// How much of `out` a streaming caller has been given.
    delivered: usize,
    /// Bytes of the document so far, in and out.
    taken: u64,
    written: u64,
    /// The text of a document that came parsed.
    #[cfg(feature = "simd-json")]
    pub(crate) parsed: Vec<u8>,
}

/// Without the buffers: what goes through a codec does not belong in a log.
impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").field("options", &self.options).field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// An encoder with the default [`Options`].
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// An encoder with these options.
    pub fn with_options(options: Options) -> Self {
        Self::with_kernel(options, Choice::best())
    }

    pub(crate) fn with_kernel(options: Options, kernel: Choice) -> Self {
        Self {
            options,
            kernel,
            tape: Tape::default(),
            analyzer: Analyzer::new(&options),
            v2: v2::Writer::default(),
            out: Buffer::default(),
            delivered: 0,
            taken: 0,
            written: 0,
            #[cfg(feature = "simd-json")]
            parsed: Vec::new(),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Encodes a whole document into the encoder's own buffer. A document begun with [`push`](Self::push) is forgotten.
    pub fn encode(&mut self, json: &[u8]) -> Result<&[u8], Error> {
        self.clear();
        self.whole(json)?;
        Ok(&self.out)
    }

    /// What the last whole document became.
    #[cfg(feature = "simd-json")]
    pub(crate) fn encoded(&self) -> &[u8] {
        &self.out
    }

    /// Encodes a whole document and appends it to `out`; on an error `out` is as it was. A document begun with
    /// [`push`](Self::push) is forgotten.
    pub fn encode_into(&mut self, json: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.clear();
        let before = out.len();
        // The caller's buffer takes the place of the encoder's own for the while.
        let own = std::mem::replace(&mut self.out, Buffer::after(std::mem::take(out)));
        let result = self.whole(json);
        *out = std::mem::replace(&mut self.out, own).into_vec();
        if result.is_err() {
            out.truncate(before);
        }
        result
    }

    /// Takes the next piece of a document and appends to `out` whatever is certain by now: with version 2 nothing, for
    /// all of a document bears on how its first table is written. After an error, which leaves `out` as it was, the encoder
    /// is ready for another document.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.begin();
        let room = self.options.limits.input - self.taken;
        let within = chunk.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let mut rest = &chunk[..within];
        while !rest.is_empty() {
            let (stepped, after) = with_kernel!(self.kernel, kernel => {
                let after = self.tape.take(kernel, rest);
                self.taken += (rest.len() - after.len()) as u64;
                let stepped = match self.options.version {
                    Version::V1 => self.step(kernel),
                    Version::V2 if self.tape.scanner.is_wrong() => Err(Refused),
                    Version::V2 => {
                        self.v2.check_density(&self.tape.text, &mut self.tape.index);
                        Ok(())
                    }
                };
                (stepped, after)
            });
            rest = after;
            if stepped.is_err() {
                return Err(self.refuse_stream());
            }
            if self.tape.text.len() > LONGEST {
                return Err(self.abandon(Error::new(ErrorKind::Input, self.taken)));
            }
        }
        if within < chunk.len() {
            return Err(self.refuse_beyond_limit());
        }
        self.deliver(out);
        Ok(())
    }

    /// Ends the document and appends the rest of it to `out`. The encoder is then ready for another.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.begin();
        let stepped = with_kernel!(self.kernel, kernel => {
            if self.options.version == Version::V2 {
                self.v2.finish(kernel, &mut self.tape, &self.options, &mut self.out)
            } else {
                self.tape.end(kernel);
                // The walk takes a last string for closed, so the scanner is asked first.
                if self.tape.scanner.may_end() { self.step(kernel) } else { Err(Refused) }
            }
        });
        if stepped.is_err() || self.options.version == Version::V1 && !self.analyzer.is_done() {
            return Err(self.refuse_stream());
        }
        let before = out.len();
        self.deliver(out);
        if self.written > self.options.limits.output {
            out.truncate(before);
            return Err(self.abandon(Error::new(ErrorKind::Output, self.taken)));
        }
        self.clear();
        Ok(())
    }

    /// Before a document's first piece: a whole one may have come before, and its text is still in the buffer.
    fn begin(&mut self) {
        if self.taken == 0 {
            self.clear();
        }
    }

    /// Forgets a document that was begun with [`push`](Self::push) and not finished; the memory is kept.
    pub fn clear(&mut self) {
        self.tape.clear();
        self.v2.begin();
        self.out.clear();
        self.analyzer.begin(&self.out);
        self.delivered = 0;
        self.taken = 0;
        self.written = 0;
    }

    fn abandon(&mut self, error: Error) -> Error {
        self.clear();
        error
    }

    /// Encodes a document behind what the buffer holds.
    fn whole(&mut self, json: &[u8]) -> Result<(), Error> {
        let limits = self.options.limits;
        if json.len() as u64 > limits.input {
            let within = &json[..limits.input as usize];
            Checker::new(limits.depth).feed(within, 0)?;
            return Err(Error::new(ErrorKind::Input, limits.input));
        }
        if json.len() > LONGEST {
            return self.whole_in_pieces(json);
        }
        let before = self.out.len();
        self.analyzer.begin(&self.out);
        // Most documents come out no longer than they went in.
        self.out.expect(json.len().min(usize::try_from(limits.output).unwrap_or(usize::MAX)));
        if self.options.version == Version::V2 {
            let written = with_kernel!(self.kernel, kernel => self.v2.encode(kernel, json, &mut self.tape, &self.options, &mut self.out));
            let over = (self.out.len() - before) as u64 > limits.output;
            return if written.is_ok() && !over { Ok(()) } else { Err(self.find_error(json, over)) };
        }
        let text = trimmed(json);
        let walked = with_kernel!(self.kernel, kernel => {
            if text.len() <= SMALL { self.squeezed(kernel, text) } else { self.in_place(kernel, text) }
        });
        let over = (self.analyzer.certain(&self.out) - before) as u64 > limits.output;
        if walked.is_ok() && self.analyzer.is_done() && self.tape.scanner.may_end() && !over {
            return Ok(());
        }
        Err(self.find_error(json, over))
    }

    /// What is wrong with a whole document that was refused, or whose output is `over` the limit.
    #[cold]
    fn find_error(&self, json: &[u8], over: bool) -> Error {
        let mut checker = Checker::new(self.options.limits.depth);
        let checked = checker.feed(json, 0).and_then(|()| checker.end(json.len() as u64));
        debug_assert!(over || checked.is_err(), "the fast pass refused what the slow one takes");
        checked.err().unwrap_or(Error::new(ErrorKind::Output, json.len() as u64))
    }

    /// A document too long for one index.
    #[cold]
    fn whole_in_pieces(&mut self, json: &[u8]) -> Result<(), Error> {
        let mut out = std::mem::take(&mut self.out).into_vec();
        let result = self.push(json, &mut out).and_then(|()| self.finish(&mut out));
        self.out = Buffer::after(out);
        result
    }

    /// How long the buffer may become, what it held before the document included.
    fn most(&self) -> u64 {
        self.options.limits.output.saturating_add(self.analyzer.starts_at() as u64)
    }

    /// Walks the caller's bytes where they lie, for as long as there is no whitespace in them.
    fn in_place<K: Kernel>(&mut self, kernel: K, json: &[u8]) -> Result<(), Refused> {
        let most = self.most();
        let Self { tape, analyzer, out, .. } = self;
        let mut at = 0;
        loop {
            let indexed = tape.index_in_place(kernel, json, &mut at);
            if tape.scanner.is_wrong() {
                return Err(Refused);
            }
            let scanned = &json[..at];
            analyzer.run(kernel, at, scanned, &tape.index, out)?;
            analyzer.settle(scanned, &tape.index, out);
            if indexed == Indexed::Ended {
                return Ok(());
            }
            if analyzer.certain(out) as u64 > most {
                return Err(Refused);
            }
            let (held, entries) = analyzer.held(&tape.index);
            tape.index.drop_front(entries);
            if indexed == Indexed::Stopped {
                tape.hold(&json[held..at], held);
                analyzer.dropped(held, entries);
                return self.squeezed(kernel, &json[at..]);
            }
            analyzer.dropped(0, entries);
        }
    }

    /// Walks the tape's own text.
    fn squeezed<K: Kernel>(&mut self, kernel: K, mut json: &[u8]) -> Result<(), Refused> {
        let most = self.most();
        while json.len() >= BLOCK {
            json = self.tape.take(kernel, json);
            // The caller has the whole document, should an error have to be found.
            self.tape.forget_input();
            // What does not fill a block is walked together with the last window.
            if json.len() < BLOCK {
                break;
            }
            self.step(kernel)?;
            if self.analyzer.certain(&self.out) as u64 > most {
                return Err(Refused);
            }
        }
        self.tape.end_with(kernel, json);
        self.walk(kernel)
    }

    /// Goes as far as the last piece of input leads.
    fn walk<K: Kernel>(&mut self, kernel: K) -> Result<(), Refused> {
        let Self { tape, analyzer, out, .. } = self;
        if tape.scanner.is_wrong() {
            return Err(Refused);
        }
        let len = tape.text.len();
        analyzer.run(kernel, len, tape.text.padded(2 * BLOCK), &tape.index, out)?;
        analyzer.settle(&tape.text, &tape.index, out);
        Ok(())
    }

    /// The same, and lets go of what is no longer needed.
    fn step<K: Kernel>(&mut self, kernel: K) -> Result<(), Refused> {
        self.walk(kernel)?;
        let Self { tape, analyzer, .. } = self;
        let (bytes, entries) = analyzer.held(&tape.index);
        // Moving what is held costs its length: only when as much can go is it worth it.
        if bytes > tape.text.len() / 2 || entries > tape.index.len() / 2 {
            tape.forget(bytes, entries);
            analyzer.dropped(bytes, entries);
        }
        Ok(())
    }

    /// Hands a streaming caller what is certain. Past the output limit nothing more is handed out; the error comes
    /// with the end of the document, so that it does not depend on how the input was cut.
    fn deliver(&mut self, out: &mut Vec<u8>) {
        let certain = self.analyzer.certain(&self.out);
        let fresh = &self.out[self.delivered..certain];
        self.written += fresh.len() as u64;
        if self.written <= self.options.limits.output {
            out.extend_from_slice(fresh);
        }
        self.delivered = certain;
        // What a table in the making has written stays; moving it costs its length, so it has to be worth it.
        if certain > self.out.len() / 2 {
            self.out.drop_front(certain);
            self.analyzer.delivered(certain);
            self.delivered = 0;
        }
    }

    /// The input so far, in pieces, is no beginning of a JSON text: plays back what is held of it.
    fn refuse_stream(&mut self) -> Error {
        let error = self.check_held().err().unwrap_or(Error::new(ErrorKind::Syntax(Expected::Value), self.taken));
        self.abandon(error)
    }

    /// More input than the limit allows has come; what came before may have been wrong already.
    fn refuse_beyond_limit(&mut self) -> Error {
        let error = self.check_held().err().filter(|error| !matches!(error.kind(), ErrorKind::Truncated(_)));
        let error = error.unwrap_or(Error::new(ErrorKind::Input, self.options.limits.input));
        self.abandon(error)
    }

    fn check_held(&self) -> Result<(), Error> {
        let (start, nesting, at) = self.analyzer.standing(&self.tape.index);
        let mut checker = Checker::resume(nesting, at, self.options.limits.depth);
        for (offset, byte) in self.tape.played_back(start).take_while(|&(offset, _)| offset < self.taken) {
            checker.feed(&[byte], offset)?;
        }
        checker.end(self.taken)
    }
}
