//! The codec for readers and writers.
//!
//! A refused document is reported as an [`io::Error`] of kind `InvalidData` around the [`Error`], whose offset counts
//! from the start of the stream.

use std::io::{self, BufRead, Read, Write};
use std::ops::Range;

use crate::format::is_white;
use crate::{Decoder, Encoder, Error, Options};

/// The bytes that are read, or decoded, at a time.
const CHUNK: usize = 64 << 10;

/// A writer that takes JSON and writes STC to `inner`, as soon as it is certain. [`finish`](Self::finish) ends the document.
///
/// After an error of the document or of the inner writer every further call fails: the output is then incomplete.
#[derive(Debug)]
pub struct EncodeWriter<W: Write> {
    inner: W,
    encoder: Encoder,
    out: Vec<u8>,
    failed: bool,
}

impl<W: Write> EncodeWriter<W> {
    /// Creates a writer with the default [`Options`].
    pub fn new(inner: W) -> Self {
        Self::with_options(inner, Options::default())
    }

    /// Creates a writer with these options.
    pub fn with_options(inner: W, options: Options) -> Self {
        Self { inner, encoder: Encoder::with_options(options), out: Vec::new(), failed: false }
    }

    /// Returns the inner writer.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Ends the document, writes the rest of it and returns `inner`.
    pub fn finish(mut self) -> io::Result<W> {
        self.pass_on(|encoder, out| encoder.finish(out))?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    fn pass_on(&mut self, step: impl FnOnce(&mut Encoder, &mut Vec<u8>) -> Result<(), Error>) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        self.failed = true;
        step(&mut self.encoder, &mut self.out).map_err(refused)?;
        self.inner.write_all(&self.out)?;
        self.out.clear();
        self.failed = false;
        Ok(())
    }
}

impl<W: Write> Write for EncodeWriter<W> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.pass_on(|encoder, out| encoder.push(json, out))?;
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A reader that decodes one document from `inner` to JSON, in constant memory however far its rows expand.
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
                Some(Err(error)) => return Err(refused(error)),
            }
        }
        let count = buffer.len().min(self.json.len() - self.delivered);
        buffer[..count].copy_from_slice(&self.json[self.delivered..self.delivered + count]);
        self.delivered += count;
        Ok(count)
    }
}

/// Encodes newline-delimited JSON line by line, and returns the number of documents.
///
/// A blank line stays blank, every line ends with a line feed, and nothing is written for a refused line. One line is
/// held in memory at a time.
pub fn encode_lines(reader: impl BufRead, writer: impl Write, encoder: &mut Encoder) -> io::Result<u64> {
    let longest = encoder.limits().input;
    lines(reader, writer, longest, |line, out| encoder.encode_into(line, out))
}

/// Decodes newline-delimited STC 1 line by line, and returns the number of documents.
///
/// The reverse of [`encode_lines`]. STC 1 never contains a line feed, so a line is a document.
pub fn decode_lines(reader: impl BufRead, writer: impl Write, decoder: &mut Decoder) -> io::Result<u64> {
    let longest = decoder.limits().input;
    lines(reader, writer, longest, |line, out| decoder.decode_into(line, out))
}

fn lines(
    mut reader: impl BufRead,
    mut writer: impl Write,
    longest: u64,
    mut convert: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), Error>,
) -> io::Result<u64> {
    let (mut line, mut out) = (Vec::new(), Vec::new());
    let (mut offset, mut documents) = (0, 0);
    // One byte past the limit and the line feed are enough for the codec to refuse a line that is too long.
    while reader.by_ref().take(longest.saturating_add(2)).read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if text.len() as u64 > longest || !text.iter().all(|&byte| is_white(byte)) {
            convert(text, &mut out).map_err(|error| refused(error.shifted(offset)))?;
            documents += 1;
        }
        out.push(b'\n');
        writer.write_all(&out)?;
        offset += line.len() as u64;
        line.clear();
        out.clear();
    }
    writer.flush()?;
    Ok(documents)
}

fn refused(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
