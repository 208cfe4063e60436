//! The codec for readers and writers.
//!
//! A refused document is reported as an [`io::Error`] of kind `InvalidData` around the [`Error`], whose offset counts
//! from the start of the stream.
//!
//! Readers and writers are `Send` if what they are around is. Those that decode are `Sync` then too; those that encode are not.

use std::io::{self, Read, Write};
use std::ops::Range;

use crate::{Decoder, Encoder, Error, Options};

mod lines;

pub use lines::{LineError, decode_lines, encode_lines};

/// The bytes that are read, or decoded, at a time.
pub(crate) const CHUNK: usize = 64 << 10;

/// A writer that takes JSON and writes STC to `inner`: STC 1 as soon as it is certain, STC 2 at the end.
/// [`finish`](Self::finish) ends the document.
///
/// After an error of the document or of the inner writer every further call fails: the output is then incomplete. So it is if
/// the writer is dropped before `finish`, which a debug build asserts.
///
/// ```
/// use std::io::Write;
///
/// use stc::io::EncodeWriter;
/// use stc::{Format, Options};
///
/// let mut writer = EncodeWriter::new(Vec::new());
/// writer.write_all(br#"{"a": "#)?;
/// writer.write_all(br#"[1, 2]}"#)?;
/// assert_eq!(stc::decode(&writer.finish()?).unwrap(), br#"{"a":[1,2]}"#);
///
/// // What is written to the inner writer directly comes before the document.
/// let mut writer = EncodeWriter::with_options(Vec::new(), Options::default().format(Format::Stc1));
/// writer.get_mut().extend_from_slice(b"data: ");
/// writer.write_all(b"[1, 2]")?;
/// assert!(writer.get_ref().starts_with(b"data: "));
/// assert_eq!(writer.finish()?, b"data: [1,2]");
///
/// // A document that is given up.
/// let mut writer = EncodeWriter::new(Vec::new());
/// writer.write_all(b"[1, 2")?;
/// assert!(writer.into_inner().len() <= 5);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a writer has to be finished"]
pub struct EncodeWriter<W: Write> {
    pipe: Pipe<W>,
    encoder: Encoder,
}

impl<W: Write> EncodeWriter<W> {
    /// Creates a writer with the default [`Options`].
    pub fn new(inner: W) -> Self {
        Self::with_options(inner, Options::default())
    }

    /// Creates a writer with these options.
    pub fn with_options(inner: W, options: Options) -> Self {
        Self { pipe: Pipe::new(inner), encoder: Encoder::with_options(options) }
    }

    /// Returns the inner writer.
    pub fn get_ref(&self) -> &W {
        self.pipe.get_ref()
    }

    /// Returns the inner writer. What is written to it directly goes between two parts of the document.
    pub fn get_mut(&mut self) -> &mut W {
        self.pipe.get_mut()
    }

    /// Gives up the document and returns `inner`, with the part of the document that has been written to it.
    pub fn into_inner(self) -> W {
        self.pipe.into_inner()
    }

    /// Ends the document, writes the rest of it and returns `inner`.
    pub fn finish(mut self) -> io::Result<W> {
        self.pipe.pass_on(|out| self.encoder.finish(out))?;
        self.pipe.finish()
    }
}

impl<W: Write> Write for EncodeWriter<W> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.pipe.pass_on(|out| self.encoder.push(json, out))?;
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.get_mut().flush()
    }
}

/// A writer that takes STC, or JSON, and writes minified JSON to `inner` as it is decoded. [`finish`](Self::finish) ends the
/// document. Errors, and a writer that is dropped, are as with [`EncodeWriter`].
///
/// ```
/// use std::io::Write;
/// use stc::io::DecodeWriter;
/// use stc::{Limits, Options};
///
/// let mut writer = DecodeWriter::new(Vec::new());
/// writer.write_all(b"[2]{a")?;
/// writer.write_all(b"}: 1 / 2")?;
/// assert_eq!(writer.finish()?, br#"[{"a":1},{"a":2}]"#);
///
/// let mut writer = DecodeWriter::with_options(Vec::new(), Options::default().limits(Limits::default().output(4)));
/// writer.get_mut().extend_from_slice(b"data: ");
/// assert!(writer.write_all(b"[1,2,3]").is_err());
/// assert_eq!(writer.get_ref(), b"data: ");
/// assert_eq!(writer.into_inner(), b"data: ");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a writer has to be finished"]
pub struct DecodeWriter<W: Write> {
    pipe: Pipe<W>,
    decoder: Decoder,
}

impl<W: Write> DecodeWriter<W> {
    /// Creates a writer with the default [`Options`].
    pub fn new(inner: W) -> Self {
        Self::with_options(inner, Options::default())
    }

    /// Creates a writer with these options.
    pub fn with_options(inner: W, options: Options) -> Self {
        Self { pipe: Pipe::new(inner), decoder: Decoder::with_options(options) }
    }

    /// Returns the inner writer.
    pub fn get_ref(&self) -> &W {
        self.pipe.get_ref()
    }

    /// Returns the inner writer. What is written to it directly goes between two parts of the document.
    pub fn get_mut(&mut self) -> &mut W {
        self.pipe.get_mut()
    }

    /// Gives up the document and returns `inner`, with the part of the document that has been written to it.
    pub fn into_inner(self) -> W {
        self.pipe.into_inner()
    }

    /// Ends the document, writes the rest of it and returns `inner`.
    pub fn finish(mut self) -> io::Result<W> {
        self.pipe.pass_on(|out| self.decoder.finish(out))?;
        self.pipe.finish()
    }
}

impl<W: Write> Write for DecodeWriter<W> {
    fn write(&mut self, stc: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        // In parts, because a few bytes may stand for many.
        while taken < stc.len() {
            self.pipe.pass_on(|out| {
                taken += self.decoder.push_until(&stc[taken..], out, CHUNK)?;
                Ok(())
            })?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.get_mut().flush()
    }
}

/// The inner writer of a writer, and what it has still to be given.
#[derive(Debug)]
struct Pipe<W> {
    /// None once it has been returned.
    inner: Option<W>,
    out: Vec<u8>,
    failed: bool,
    /// Whether something has been taken, so that the document has to be finished.
    begun: bool,
}

impl<W> Pipe<W> {
    fn new(inner: W) -> Self {
        Self { inner: Some(inner), out: Vec::new(), failed: false, begun: false }
    }

    fn get_ref(&self) -> &W {
        self.inner.as_ref().expect("it is returned only when the writer is")
    }

    fn get_mut(&mut self) -> &mut W {
        self.inner.as_mut().expect("it is returned only when the writer is")
    }

    fn into_inner(mut self) -> W {
        self.inner.take().expect("it is returned only once")
    }
}

impl<W: Write> Pipe<W> {
    /// Writes what a step of the codec appends; after an error every further call fails.
    fn pass_on(&mut self, step: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        (self.begun, self.failed) = (true, true);
        step(&mut self.out)?;
        let Self { inner, out, .. } = self;
        inner.as_mut().expect("it is returned only when the writer is").write_all(out)?;
        self.out.clear();
        self.failed = false;
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        self.failed = true;
        self.get_mut().flush()?;
        Ok(self.into_inner())
    }
}

impl<W> Drop for Pipe<W> {
    fn drop(&mut self) {
        let finished = self.inner.is_none() || self.failed || !self.begun;
        debug_assert!(
            finished || std::thread::panicking(),
            "a writer was dropped before `finish`: its output is cut off"
        );
    }
}

/// A reader that encodes one document of JSON from `inner`: STC 1 as soon as it is certain, STC 2 once all has been read.
///
/// ```
/// use std::io::Read;
///
/// use stc::io::EncodeReader;
/// use stc::{Format, Options};
///
/// let mut stc = Vec::new();
/// EncodeReader::new(&br#"{"a": [1, 2]}"#[..]).read_to_end(&mut stc)?;
/// assert_eq!(stc::decode(&stc).unwrap(), br#"{"a":[1,2]}"#);
///
/// let mut reader = EncodeReader::with_options(&b" [1, 2]"[..], Options::default().format(Format::Stc1));
/// // Nothing has been read yet, so a byte can still be taken from the document.
/// reader.get_mut().read_exact(&mut [0])?;
/// assert_eq!(reader.get_ref().len(), 6);
/// let mut stc = String::new();
/// reader.read_to_string(&mut stc)?;
/// assert_eq!(stc, "[1,2]");
/// assert!(reader.into_inner().is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct EncodeReader<R: Read> {
    inner: R,
    encoder: Encoder,
    chunk: Vec<u8>,
    stc: Vec<u8>,
    /// How much of `stc` the caller has received.
    delivered: usize,
    end: Option<Result<(), Error>>,
}

impl<R: Read> EncodeReader<R> {
    /// Creates a reader with the default [`Options`].
    pub fn new(inner: R) -> Self {
        Self::with_options(inner, Options::default())
    }

    /// Creates a reader with these options.
    pub fn with_options(inner: R, options: Options) -> Self {
        let (chunk, stc) = (vec![0; CHUNK], Vec::new());
        Self { inner, encoder: Encoder::with_options(options), chunk, stc, delivered: 0, end: None }
    }

    /// Returns the inner reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Returns the inner reader. What is read from it directly is missing from the document.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Returns the inner reader, from which up to 64 KiB more than was delivered have been read.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Reads and encodes some more.
    fn fill(&mut self) -> io::Result<()> {
        let read = self.inner.read(&mut self.chunk)?;
        let step = if read == 0 {
            self.encoder.finish(&mut self.stc)
        } else {
            self.encoder.push(&self.chunk[..read], &mut self.stc)
        };
        if read == 0 || step.is_err() {
            self.end = Some(step);
        }
        Ok(())
    }
}

impl<R: Read> Read for EncodeReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.delivered == self.stc.len() {
            self.stc.clear();
            self.delivered = 0;
            match self.end {
                None => self.fill()?,
                Some(Ok(())) => return Ok(0),
                Some(Err(error)) => return Err(error.into()),
            }
        }
        let count = buffer.len().min(self.stc.len() - self.delivered);
        buffer[..count].copy_from_slice(&self.stc[self.delivered..self.delivered + count]);
        self.delivered += count;
        Ok(count)
    }
}

/// A reader that decodes one document from `inner` to JSON, in constant memory however far its rows expand.
///
/// ```
/// use std::io::Read;
/// use stc::io::DecodeReader;
/// use stc::{Limits, Options};
///
/// let mut json = String::new();
/// DecodeReader::new(&b"[2]{a}: 1 / 2"[..]).read_to_string(&mut json)?;
/// assert_eq!(json, r#"[{"a":1},{"a":2}]"#);
///
/// let options = Options::default().limits(Limits::default().depth(1));
/// let mut reader = DecodeReader::with_options(&b"  [[]]"[..], options);
/// reader.get_mut().read_exact(&mut [0; 2])?;
/// assert_eq!(reader.get_ref(), b"[[]]");
/// let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
/// assert_eq!(error.to_string(), "nested deeper than the depth limit at byte 1");
/// assert!(reader.into_inner().is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct DecodeReader<R: Read> {
    inner: R,
    decoder: Decoder,
    chunk: Vec<u8>,
    /// What of `chunk` has been read and not decoded.
    left: Range<usize>,
    json: Vec<u8>,
    /// How much of `json` the caller has received.
    delivered: usize,
    end: Option<Result<(), Error>>,
}

impl<R: Read> DecodeReader<R> {
    /// Creates a reader with the default [`Options`].
    pub fn new(inner: R) -> Self {
        Self::with_options(inner, Options::default())
    }

    /// Creates a reader with these options.
    pub fn with_options(inner: R, options: Options) -> Self {
        Self {
            inner,
            decoder: Decoder::with_options(options),
            chunk: vec![0; CHUNK],
            left: 0..0,
            json: Vec::new(),
            delivered: 0,
            end: None,
        }
    }

    /// Returns the inner reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Returns the inner reader. What is read from it directly is missing from the document.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Returns the inner reader, from which up to 64 KiB more than was delivered have been read.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Decodes some more, after reading a chunk of STC if none is left.
    fn fill(&mut self) -> io::Result<()> {
        if self.left.is_empty() {
            self.left = 0..self.inner.read(&mut self.chunk)?;
            if self.left.is_empty() {
                self.end = Some(self.decoder.finish(&mut self.json));
                return Ok(());
            }
        }
        match self.decoder.push_until(&self.chunk[self.left.clone()], &mut self.json, CHUNK) {
            Ok(taken) => self.left.start += taken,
            Err(error) => self.end = Some(Err(error)),
        }
        Ok(())
    }
}

impl<R: Read> Read for DecodeReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.delivered == self.json.len() {
            self.json.clear();
            self.delivered = 0;
            match self.end {
                None => self.fill()?,
                Some(Ok(())) => return Ok(0),
                Some(Err(error)) => return Err(error.into()),
            }
        }
        let count = buffer.len().min(self.json.len() - self.delivered);
        buffer[..count].copy_from_slice(&self.json[self.delivered..self.delivered + count]);
        self.delivered += count;
        Ok(count)
    }
}
