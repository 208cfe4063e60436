//! The encoder: chooses a version, owns every buffer, delivers the output and finds the error of a refused document.
//!
//! The versions' writers only refuse; the kind and the offset of an error come from reading the same bytes again with
//! the [slow reader](crate::json::diagnose). Whole documents and chunks give the same bytes and the same errors.

use crate::buffer::Buffer;
use crate::error::{Error, ErrorKind, Refused};
use crate::json::diagnose::{Checker, Resume};
use crate::json::nesting::Nesting;
use crate::json::scan::{Choice, with_kernel};
use crate::json::tape::{MAX_TAPE_BYTES, Tape, may_go_on};
use crate::options::{Options, Version};
use crate::{v1, v2};

/// Encodes JSON as STC. It keeps its buffers: after the first few documents it allocates nothing.
///
/// It is `Send` and not `Sync`: a task takes it along, and two threads have one each. All of its calls need `&mut`.
///
/// ```
/// use stc::{Encoder, Format, Options};
///
/// let mut encoder = Encoder::with_options(Options::default().format(Format::Stc1));
/// assert_eq!(encoder.encode(br#"{"tags": ["api", "mcp"], "count": 2}"#)?, br#"{tags[2]: "api","mcp", count: 2}"#);
///
/// let mut out = b"data: ".to_vec();
/// encoder.encode_into(br#"{"a": 1}"#, &mut out)?;
/// assert_eq!(out, b"data: {a: 1}");
///
/// // A document in chunks; this one is given up.
/// encoder.push(br#"{"a": "#, &mut out)?;
/// encoder.clear();
///
/// // With the default options.
/// let mut encoder = Encoder::new();
/// let json = br#"{"a":[1,2]}"#;
/// assert_eq!(stc::decode(encoder.encode(json)?)?, json);
/// # Ok::<(), stc::Error>(())
/// ```
pub struct Encoder {
    pub(crate) options: Options,
    kernel: Choice,
    pub(crate) tape: Tape,
    v1: v1::Writer,
    pub(crate) v2: v2::Writer,
    /// The output so far.
    pub(crate) out: Buffer<u8>,
    /// How much of `out` a streaming caller has received.
    delivered: usize,
    /// Bytes of a streamed document so far, in and out.
    taken: u64,
    written: u64,
    /// The text of a document that was given parsed.
    #[cfg(feature = "simd-json")]
    pub(crate) parsed: Vec<u8>,
}

/// Leaves out the buffers: documents do not belong in a log.
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
    /// Creates an encoder with the default [`Options`].
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// Creates an encoder with these options.
    pub fn with_options(options: Options) -> Self {
        Self::with_kernel(options, Choice::best())
    }

    pub(crate) fn with_kernel(options: Options, kernel: Choice) -> Self {
        Self {
            options,
            kernel,
            tape: Tape::default(),
            v1: v1::Writer::new(&options),
            v2: v2::Writer::default(),
            out: Buffer::default(),
            delivered: 0,
            taken: 0,
            written: 0,
            #[cfg(feature = "simd-json")]
            parsed: Vec::new(),
        }
    }

    /// Encodes a whole document into the encoder's own buffer. A document begun with [`push`](Self::push) is discarded.
    pub fn encode(&mut self, json: &[u8]) -> Result<&[u8], Error> {
        self.clear();
        self.encode_whole(json)?;
        Ok(&self.out)
    }

    /// Returns the output of the last whole document.
    #[cfg(feature = "simd-json")]
    pub(crate) fn encoded(&self) -> &[u8] {
        &self.out
    }

    /// Encodes a whole document and appends it to `out`; on an error `out` is unchanged (STC.md, 9.6). A document begun
    /// with [`push`](Self::push) is discarded.
    pub fn encode_into(&mut self, json: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.clear();
        let before = out.len();
        // The caller's buffer takes the place of the encoder's own during the call.
        let own = std::mem::replace(&mut self.out, Buffer::after(std::mem::take(out)));
        let result = self.encode_whole(json);
        *out = std::mem::replace(&mut self.out, own).into_vec();
        if result.is_err() {
            out.truncate(before);
        }
        result
    }

    /// Returns the last whole document as minified JSON, if the encoder has it at hand: where the format is of version 2 and the
    /// document had whitespace, which was removed first. So a caller that compares with minified JSON need not minify it again.
    ///
    /// ```
    /// let mut encoder = stc::Encoder::new();
    /// encoder.encode(br#"{"a": 1}"#)?;
    /// assert_eq!(encoder.minified(), Some(&br#"{"a":1}"#[..]));
    /// encoder.encode(br#"{"a":1}"#)?;
    /// assert_eq!(encoder.minified(), None); // it had no whitespace
    /// # Ok::<(), stc::Error>(())
    /// ```
    pub fn minified(&self) -> Option<&[u8]> {
        let is_whole = self.options.format.version() == Version::V2 && self.taken == 0;
        (is_whole && !self.tape.text.is_empty()).then_some(&self.tape.text[..])
    }

    /// Takes the next chunk of a document and appends to `out` what is certain so far.
    ///
    /// What is held back until more has arrived depends on the format:
    ///
    /// - [`Stc1`](crate::Format::Stc1) holds back an array while it may still become compact or columnar, at most
    ///   [`Options::window`] bytes of it; one scalar until its end; and up to 64 bytes that have not been scanned.
    /// - All other formats hold back the whole document, squeezed and indexed, and write it in [`finish`](Self::finish):
    ///   the last row decides how a table begins.
    ///
    /// Invalid JSON is an error as soon as the bytes that show it have been scanned, within 64 bytes, and once the next token
    /// has begun. Kind and offset are those of the whole document, however it is cut into chunks. After an error, which leaves
    /// `out` unchanged, the encoder is ready for another document.
    ///
    /// ```
    /// let mut encoder = stc::Encoder::new();
    /// let mut out = Vec::new();
    /// for chunk in [&br#"{"id": 7, "rows": [{"a": 1},"#[..], br#" {"a": 2}]"#, b"}"] {
    ///     encoder.push(chunk, &mut out)?;
    /// }
    /// encoder.finish(&mut out)?;
    /// assert_eq!(stc::decode(&out)?, br#"{"id":7,"rows":[{"a":1},{"a":2}]}"#);
    ///
    /// let error = encoder.push(&[b'}'; 100], &mut out).unwrap_err();
    /// assert_eq!(error.offset(), 0);
    /// # Ok::<(), stc::Error>(())
    /// ```
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.begin();
        let room = self.options.limits.input - self.taken;
        let within = chunk.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let mut rest = &chunk[..within];
        while !rest.is_empty() {
            let result;
            (result, rest) = self.push_some(rest);
            if or_planted(result).is_err() {
                let error = self.error_so_far();
                return Err(self.stream_error(error));
            }
            if self.tape.text.len() > MAX_TAPE_BYTES {
                return Err(self.discard(Error::new(ErrorKind::Input, self.taken)));
            }
        }
        if within < chunk.len() {
            return Err(self.input_limit_error());
        }
        self.deliver(out);
        Ok(())
    }

    /// Ends the document and appends the rest of it to `out`: the example of [`push`](Self::push) shows it. The encoder is then
    /// ready for another document.
    ///
    /// ```
    /// let mut encoder = stc::Encoder::new();
    /// let mut out = Vec::new();
    /// encoder.push(b"[1, 2", &mut out)?;
    /// let error = encoder.finish(&mut out).unwrap_err();
    /// assert_eq!(error.to_string(), "the input ends where ',' or ']' was expected at byte 5");
    /// # Ok::<(), stc::Error>(())
    /// ```
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.begin();
        let Self { options, kernel, tape, v1, v2, out: own, .. } = self;
        let result = with_kernel!(*kernel, kernel => match options.format.version() {
            Version::V1 => v1.finish(kernel, tape, own),
            Version::V2 => v2.finish(kernel, tape, options, own),
        });
        if or_planted(result).is_err() {
            let error = self.check_stream().err();
            return Err(self.stream_error(error));
        }
        let before = out.len();
        self.deliver(out);
        if self.written > self.options.limits.output {
            out.truncate(before);
            return Err(self.discard(Error::new(ErrorKind::Output, self.taken)));
        }
        self.clear();
        Ok(())
    }

    /// Discards a document that was begun with [`push`](Self::push) and not finished; the memory is kept.
    pub fn clear(&mut self) {
        self.tape.clear();
        self.out.clear();
        self.v1.begin(&self.out);
        self.v2.begin();
        self.delivered = 0;
        self.taken = 0;
        self.written = 0;
    }

    /// Prepares for a document's first chunk: the text of a whole document may still be in the buffers.
    fn begin(&mut self) {
        if self.taken == 0 {
            self.clear();
        }
    }

    fn discard(&mut self, error: Error) -> Error {
        self.clear();
        error
    }

    /// Encodes a whole document after what the buffer holds.
    fn encode_whole(&mut self, json: &[u8]) -> Result<(), Error> {
        let limits = self.options.limits;
        if json.len() as u64 > limits.input {
            let within = &json[..limits.input as usize];
            Checker::new(limits.depth).feed(within, 0)?;
            return Err(Error::new(ErrorKind::Input, limits.input));
        }
        if json.len() > MAX_TAPE_BYTES {
            return self.encode_whole_as_stream(json);
        }
        let before = self.out.len();
        self.v1.begin(&self.out);
        // Most documents are no longer as STC than as JSON.
        self.out.expect(json.len().min(usize::try_from(limits.output).unwrap_or(usize::MAX)));
        let Self { options, kernel, tape, v1, v2, out, .. } = self;
        let result = with_kernel!(*kernel, kernel => match options.format.version() {
            Version::V1 => v1.encode(kernel, json, tape, options, out),
            Version::V2 => v2.encode(kernel, json, tape, options, out),
        });
        let is_over_limit = (self.certain_len() - before) as u64 > limits.output;
        if or_planted(result).is_ok() && !is_over_limit {
            return Ok(());
        }
        self.tape.clear();
        Err(self.whole_error(json, is_over_limit))
    }

    /// Encodes a document that is too long for one index.
    #[cold]
    fn encode_whole_as_stream(&mut self, json: &[u8]) -> Result<(), Error> {
        let mut out = std::mem::take(&mut self.out).into_vec();
        let result = self.push(json, &mut out).and_then(|()| self.finish(&mut out));
        self.out = Buffer::after(out);
        result
    }

    /// Takes as much of a chunk as is scanned at once, and returns the rest.
    fn push_some<'a>(&mut self, chunk: &'a [u8]) -> (Result<(), Refused>, &'a [u8]) {
        let Self { options, kernel, tape, v1, v2, out, .. } = self;
        let (result, rest) = with_kernel!(*kernel, kernel => {
            let rest = tape.take(kernel, chunk);
            let result = match options.format.version() {
                // The analyzer waits for a token's end, which may never come.
                Version::V1 if tape.scanner.may_end() && !may_go_on(&tape.text, tape.index.last().copied()) => Err(Refused),
                Version::V1 => v1.push(kernel, tape, out),
                Version::V2 => v2.push(tape, options),
            };
            (result, rest)
        });
        self.taken += (chunk.len() - rest.len()) as u64;
        (result, rest)
    }

    /// Returns how many bytes of the output cannot change any more.
    fn certain_len(&self) -> usize {
        match self.options.format.version() {
            Version::V1 => self.v1.certain_len(&self.out),
            Version::V2 => self.out.len(),
        }
    }

    /// Appends what is certain to a streaming caller's buffer. Nothing is appended past the output limit; the error is
    /// returned at the end of the document, so that it does not depend on how the input was cut into chunks.
    fn deliver(&mut self, out: &mut Vec<u8>) {
        let certain = self.certain_len();
        let fresh = &self.out[self.delivered..certain];
        self.written += fresh.len() as u64;
        if self.written <= self.options.limits.output {
            out.extend_from_slice(fresh);
        }
        self.delivered = certain;
        // Moving the rows of an unfinished table costs their length, so it pays only when at least as much can be dropped.
        if certain > self.out.len() / 2 {
            self.out.drop_front(certain);
            self.v1.drop_output(certain);
            self.delivered = 0;
        }
    }

    /// Returns the error of a whole document that was refused, or whose output is over the limit.
    #[cold]
    fn whole_error(&self, json: &[u8], is_over_limit: bool) -> Error {
        let mut checker = Checker::new(self.options.limits.depth);
        let checked = checker.feed(json, 0).and_then(|()| checker.end(json.len() as u64));
        let length = json.len() as u64;
        checked
            .err()
            .unwrap_or_else(|| if is_over_limit { Error::new(ErrorKind::Output, length) } else { defect(length) })
    }

    /// Returns the error of a streamed document that was refused, which the slow reader has found, and discards the document.
    #[cold]
    fn stream_error(&mut self, found: Option<Error>) -> Error {
        let error = found.unwrap_or_else(|| defect(self.taken));
        self.discard(error)
    }

    /// Returns the error of a streamed document that is longer than the limit, and discards the document. An error before the
    /// limit comes first.
    fn input_limit_error(&mut self) -> Error {
        let error = self.error_so_far().unwrap_or(Error::new(ErrorKind::Input, self.options.limits.input));
        self.discard(error)
    }

    /// Returns what is wrong with a streamed document that goes on, if anything is.
    fn error_so_far(&self) -> Option<Error> {
        self.check_stream().err().filter(|error| !matches!(error.kind(), ErrorKind::Truncated(_)))
    }

    /// Reads again what is still held of a streamed document, as if it ended here.
    fn check_stream(&self) -> Result<(), Error> {
        let (start, nesting, resume) = match self.options.format.version() {
            Version::V1 => self.v1.resume_point(&self.tape.index),
            Version::V2 => (0, Nesting::default(), Resume::Value),
        };
        let mut checker = Checker::resume(nesting, resume, self.options.limits.depth);
        for (offset, byte) in self.tape.played_back(start).take_while(|&(offset, _)| offset < self.taken) {
            checker.feed(&[byte], offset)?;
        }
        checker.end(self.taken)
    }
}

/// Returns the error of a document that a writer refused and the slow reader accepts.
#[cold]
fn defect(offset: u64) -> Error {
    debug_assert!(is_planted(), "the fast pass refused what the slow reader accepts");
    Error::new(ErrorKind::Defect, offset)
}

/// Test hook: returns a refusal where a test has planted one, and `result` otherwise.
fn or_planted(result: Result<(), Refused>) -> Result<(), Refused> {
    if is_planted() { Err(Refused) } else { result }
}

#[cfg(not(test))]
const fn is_planted() -> bool {
    false
}

#[cfg(test)]
fn is_planted() -> bool {
    tests::PLANTED.get()
}

#[cfg(test)]
mod tests;
