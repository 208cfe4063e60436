//! The codec on streams: thin, no format knowledge of its own.
//!
//! A refused document travels as an [`io::Error`] of kind `InvalidData` around the [`Error`], whose offset then counts
//! from the start of the stream.

use std::io::{self, BufRead, Read, Write};

use crate::format::is_white;
use crate::{Decoder, Encoder, Error, Options};

/// How much is read, or written, at a time.
const PIECE: usize = 64 << 10;

/// Takes JSON, writes STC to `inner` as it becomes certain. [`finish`](Self::finish) ends the document.
#[derive(Debug)]
pub struct EncodeWriter<W: Write> {
    inner: W,
    encoder: Encoder,
    out: Vec<u8>,
}

impl<W: Write> EncodeWriter<W> {
    /// A writer with the default [`Options`].
    pub fn new(inner: W) -> Self {
        Self::with_options(inner, Options::default())
    }

    /// A writer with these options.
    pub fn with_options(inner: W, options: Options) -> Self {
        Self { inner, encoder: Encoder::with_options(options), out: Vec::new() }
    }

    /// Ends the document, writes the rest of it and gives `inner` back.
    pub fn finish(mut self) -> io::Result<W> {
        self.encoder.finish(&mut self.out).map_err(refused)?;
        self.inner.write_all(&self.out)?;
        self.inner.flush()?;
        Ok(self.inner)
    }
}

impl<W: Write> Write for EncodeWriter<W> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.encoder.push(json, &mut self.out).map_err(refused)?;
        // All of `json` has been taken, so an inner writer's error must not be mistaken for "nothing taken":
        // `write_all` retries an interruption and reports everything else, after which the document is lost anyway.
        self.inner.write_all(&self.out)?;
        self.out.clear();
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Reads STC from `inner`, gives JSON. One document, in constant memory.
#[derive(Debug)]
pub struct DecodeReader<R: Read> {
    inner: R,
    decoder: Decoder,
    piece: Vec<u8>,
    json: Vec<u8>,
    /// How much of `json` has been read.
    read: usize,
    ended: bool,
    /// An error that waits until what came before it has been read.
    error: Option<io::Error>,
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
            json: Vec::new(),
            read: 0,
            ended: false,
            error: None,
        }
    }

    /// Reads a piece of STC and decodes it.
    fn fill(&mut self) -> io::Result<()> {
        let count = self.inner.read(&mut self.piece)?;
        let result = if count == 0 {
            self.ended = true;
            self.decoder.finish(&mut self.json)
        } else {
            self.decoder.push(&self.piece[..count], &mut self.json)
        };
        if let Err(error) = result {
            self.ended = true;
            self.error = Some(refused(error));
        }
        Ok(())
    }
}

impl<R: Read> Read for DecodeReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.read == self.json.len() {
            self.json.clear();
            self.read = 0;
            if self.ended {
                return self.error.take().map_or(Ok(0), Err);
            }
            self.fill()?;
        }
        let count = buffer.len().min(self.json.len() - self.read);
        buffer[..count].copy_from_slice(&self.json[self.read..self.read + count]);
        self.read += count;
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
        if !text.iter().all(|&byte| is_white(byte)) {
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
