//! The codec on streams: thin, no format knowledge of its own.
//!
//! A refused document travels as an [`io::Error`] of kind `InvalidData` around the [`Error`], whose offset then counts
//! from the start of the stream.

use std::io::{self, BufRead, Read, Write};
use std::ops::Range;

use crate::format::is_white;
use crate::{Decoder, Encoder, Error, Options};

/// How much is read, or written, at a time.
const PIECE: usize = 64 << 10;

/// Takes JSON, writes STC to `inner` as it becomes certain. [`finish`](Self::finish) ends the document.
///
/// After an error, the document's or the inner writer's, every further call fails: what has been written is then no
/// document and must not pass for one.
#[derive(Debug)]
pub struct EncodeWriter<W: Write> {
    inner: W,
    encoder: Encoder,
    out: Vec<u8>,
    failed: bool,
}

impl<W: Write> EncodeWriter<W> {
    /// A writer with the default [`Options`].
    pub fn new(inner: W) -> Self {
        Self::with_options(inner, Options::default())
    }

    /// A writer with these options.
    pub fn with_options(inner: W, options: Options) -> Self {
        Self { inner, encoder: Encoder::with_options(options), out: Vec::new(), failed: false }
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Ends the document, writes the rest of it and gives `inner` back.
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

/// Reads STC from `inner`, gives JSON. One document, in constant memory, however far its rows expand.
#[derive(Debug)]
pub struct DecodeReader<R: Read> {
    inner: R,
    decoder: Decoder,
    piece: Vec<u8>,
    /// What of `piece` has been read and not decoded.
    left: Range<usize>,
    json: Vec<u8>,
    /// How much of `json` has been given.
    given: usize,
    end: Option<Result<(), Error>>,
}

impl<R: Read> DecodeReader<R> {
    /// A reader with the default [`Options`].
    pub fn new(inner: R) -> Self {
        Self::with_options(inner, Options::default())
    }

    /// A reader with these options.
    pub fn with_options(inner: R, options: Options) -> Self {
        Self {
            inner,
            decoder: Decoder::with_options(options),
            piece: vec![0; PIECE],
            left: 0..0,
            json: Vec::new(),
            given: 0,
            end: None,
        }
    }

    /// Decodes some more, reading a piece of STC if there is none left.
    fn fill(&mut self) -> io::Result<()> {
        if self.left.is_empty() {
            self.left = 0..self.inner.read(&mut self.piece)?;
            if self.left.is_empty() {
                self.end = Some(self.decoder.finish(&mut self.json));
                return Ok(());
            }
        }
        match self.decoder.push_until(&self.piece[self.left.clone()], &mut self.json, PIECE) {
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
        while self.given == self.json.len() {
            self.json.clear();
            self.given = 0;
            match self.end {
                None => self.fill()?,
                Some(Ok(())) => return Ok(0),
                Some(Err(error)) => return Err(refused(error)),
            }
        }
        let count = buffer.len().min(self.json.len() - self.given);
        buffer[..count].copy_from_slice(&self.json[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

/// Encodes newline-delimited JSON line by line; returns how many documents there were.
///
/// A blank line stays blank, every line ends with a line feed, and a refused line writes nothing. What is held in
/// memory is one line.
pub fn encode_lines(reader: impl BufRead, writer: impl Write, encoder: &mut Encoder) -> io::Result<u64> {
    let longest = encoder.limits().input;
    lines(reader, writer, longest, |line, out| encoder.encode_into(line, out))
}

/// Decodes newline-delimited STC 1 line by line; returns how many documents there were.
///
/// As [`encode_lines`] the other way round. STC 1 never holds a line feed, so a line is a document.
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
    // One byte past the limit, and the line feed, are enough for the codec to refuse a line that is too long.
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
