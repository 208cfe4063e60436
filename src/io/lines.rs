//! One document a line: streams of STC 1 and of JSON (grammar/STC.md, sections 11.1 and 11.2).

use std::fmt;
use std::io::{self, BufRead, Read, Write};

use crate::format::is_white;
use crate::{Decoder, Encoder, Error, Format};

/// Encodes newline-delimited JSON line by line as STC 1, and returns the number of documents.
///
/// A blank line stays blank, every line ends with a line feed, and nothing is written for a refused line; its error is a
/// [`LineError`]. One line is held in memory at a time. STC 2 has line feeds of its own, so an encoder whose options name it is
/// refused before anything is read, with an error of kind `InvalidInput`; without a named format the lines are STC 1.
///
/// ```
/// let mut stc = Vec::new();
/// stc::io::encode_lines(&b"{\"a\": 1}\n[2, 3]\n"[..], &mut stc, &mut stc::Encoder::new())?;
/// assert_eq!(stc, b"{a: 1}\n[2,3]\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn encode_lines(reader: impl BufRead, writer: impl Write, encoder: &mut Encoder) -> io::Result<u64> {
    let options = encoder.options;
    let format = if options.format_is_named { options.format } else { Format::Stc1 };
    if !matches!(format, Format::Stc1 | Format::Json) {
        let message = format!("{format} has line feeds inside a document: lines need an encoder of Format::Stc1");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    encoder.options.format = format;
    let result = lines(reader, writer, options.limits.input, |line, out| encoder.encode_into(line, out));
    encoder.options = options;
    result
}

/// Decodes newline-delimited STC 1 line by line, and returns the number of documents.
///
/// The reverse of [`encode_lines`]. STC 1 never contains a line feed, so a line is a document.
///
/// ```
/// let mut json = Vec::new();
/// let documents = stc::io::decode_lines(&b"{a: 1}\n\n[2,3]\n"[..], &mut json, &mut stc::Decoder::new())?;
/// assert_eq!((documents, &json[..]), (2, &b"{\"a\":1}\n\n[2,3]\n"[..]));
/// # Ok::<(), std::io::Error>(())
/// ```
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
    let (mut offset, mut documents, mut number) = (0, 0, 0);
    // One byte past the limit and the line feed are enough for the codec to refuse a line that is too long.
    while reader.by_ref().take(longest.saturating_add(2)).read_until(b'\n', &mut line)? > 0 {
        number += 1;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if text.len() as u64 > longest || !text.iter().all(|&byte| is_white(byte)) {
            convert(text, &mut out).map_err(|error| {
                let error = LineError { line: number, error: error.shifted(offset) };
                io::Error::new(io::ErrorKind::InvalidData, error)
            })?;
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

/// Why a line of a stream was refused, and which line it is. The inner error of what [`encode_lines`] and [`decode_lines`]
/// return.
///
/// ```
/// use stc::io::LineError;
///
/// let error = stc::io::decode_lines(&b"[1]\n[1,]\n"[..], Vec::new(), &mut stc::Decoder::new()).unwrap_err();
/// let inner: &LineError = error.get_ref().and_then(|inner| inner.downcast_ref()).unwrap();
/// assert_eq!((inner.line, inner.error.offset()), (2, 7));
/// assert_eq!(error.to_string(), "line 2: expected a value at byte 7");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineError {
    /// The number of the line, from 1.
    pub line: u64,
    /// The error; its offset counts from the beginning of the stream.
    pub error: Error,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.error)
    }
}

impl std::error::Error for LineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
