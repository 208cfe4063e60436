//! Rust values as STC and back (feature `serde`): serde_json stands between the values and the codec.
//!
//! A value is serialized to JSON text, which is encoded like any other; STC is decoded to JSON text, which is deserialized.
//! Writers and readers stream, so that the JSON text is never held as a whole unless the format needs it.

use std::fmt;
use std::io::{self, BufReader, BufWriter, Read, Write};

use ::serde::Serialize;
use ::serde::de::DeserializeOwned;

use crate::io::{CHUNK, DecodeReader, EncodeWriter};
use crate::text::text;
use crate::{Decoder, Encoder, Error, ErrorKind, Format, Options};

/// Serializes a value to JSON and encodes it in `format`, as text (feature `serde`).
///
/// A struct keeps what it holds: an integer of 128 bits keeps all its digits. A `serde_json::Value` does not keep what its
/// JSON text had: serde_json normalises numbers when it parses them (`1.0e1` becomes `10.0`, an integer of more than 64 bits
/// becomes a float) and keeps one member of several with the same key, before STC sees them. Where the spelling matters,
/// [encode](crate::encode) the text itself.
///
/// The default [`Limits`](crate::Limits) apply to the JSON text. For other limits, and for many values, keep an [`Encoder`] and
/// give it what `serde_json::to_vec` returns.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use stc::Format;
///
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// struct Page {
///     total: u64,
///     issues: Vec<Issue>,
///     next: Option<String>,
/// }
///
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// struct Issue {
///     id: u128,
///     open: bool,
///     labels: Vec<String>,
/// }
///
/// let issue = |id| Issue { id, open: true, labels: vec!["bug".into()] };
/// let page = Page { total: 3, issues: vec![issue(1), issue(2), issue(u128::MAX)], next: None };
///
/// let text = stc::to_string(&page, Format::Stc2)?;
/// assert!(text.len() < serde_json::to_string(&page).unwrap().len());
/// assert_eq!(stc::from_str::<Page>(&text)?, page);
///
/// // Text of any format, and JSON, is read by the same call.
/// let page: Page = stc::from_str(r#"{"total": 0, "issues": [], "next": "2"}"#)?;
/// assert_eq!(page.next.as_deref(), Some("2"));
/// # Ok::<(), stc::SerdeError>(())
/// ```
pub fn to_string<T: Serialize + ?Sized>(value: &T, format: Format) -> Result<String, SerdeError> {
    Ok(text(to_vec(value, format)?)?)
}

/// Serializes a value to JSON and encodes it in `format`, as bytes: [`to_string`] says what is kept (feature `serde`).
///
/// ```
/// let stc = stc::to_vec(&[("a", 1), ("b", 2)], stc::Format::Stc1)?;
/// assert_eq!(stc, br#"[["a",1],["b",2]]"#);
/// # Ok::<(), stc::SerdeError>(())
/// ```
pub fn to_vec<T: Serialize + ?Sized>(value: &T, format: Format) -> Result<Vec<u8>, SerdeError> {
    let json = serde_json::to_vec(value)?;
    let mut out = Vec::new();
    Encoder::with_options(Options::default().format(format)).encode_into(&json, &mut out)?;
    Ok(out)
}

/// Serializes a value to JSON, encodes it in `format` and writes it: [`to_string`] says what is kept (feature `serde`).
///
/// STC 1 is written as the value is serialized, so after an error the writer may have the beginning of the text. The other
/// formats are written at the end. The writer is flushed; it needs no buffer of its own.
///
/// ```
/// let mut stc = Vec::new();
/// stc::to_writer(&mut stc, &[1, 2, 3], stc::Format::Stc1)?;
/// assert_eq!(stc, b"[1,2,3]");
/// # Ok::<(), stc::SerdeError>(())
/// ```
pub fn to_writer<W: Write, T: Serialize + ?Sized>(writer: W, value: &T, format: Format) -> Result<(), SerdeError> {
    // serde_json writes token by token.
    let encoder = EncodeWriter::with_options(writer, Options::default().format(format));
    let mut buffered = BufWriter::with_capacity(CHUNK, encoder);
    let written = serde_json::to_writer(&mut buffered, value).map_err(SerdeError::from);
    let flushed = written.and_then(|()| Ok(buffered.flush()?));
    let (encoder, _) = buffered.into_parts();
    match flushed {
        Ok(()) => Ok(encoder.finish().map(drop)?),
        Err(error) => {
            // The document is given up, so it need not be finished.
            drop(encoder.into_inner());
            Err(error)
        }
    }
}

/// Decodes STC of any format, or JSON, and deserializes the JSON (feature `serde`).
///
/// All lexemes reach serde_json as the sender wrote them; what becomes of them depends on the type. A `serde_json::Value` or an
/// `f64` rounds long numbers, an integer type that is too small for a number is an error, and of several members with the
/// same key a `Value` keeps the last, while a struct rejects them. serde_json reads at most 128 levels.
///
/// ```
/// let sums: std::collections::BTreeMap<String, Vec<u32>> = stc::from_str("{spring[2]: 3,5, autumn: []}")?;
/// assert_eq!(sums["spring"], [3, 5]);
///
/// let error = stc::from_str::<Vec<u32>>("[3] 1,2").unwrap_err();
/// assert_eq!(error.kind(), stc::decode(b"[3] 1,2").err().map(|error| error.kind()));
/// # Ok::<(), stc::SerdeError>(())
/// ```
pub fn from_str<T: DeserializeOwned>(stc: &str) -> Result<T, SerdeError> {
    from_slice(stc.as_bytes())
}

/// Decodes STC of any format, or JSON, and deserializes the JSON: [`from_str`] for bytes (feature `serde`).
///
/// ```
/// let numbers: Vec<u32> = stc::from_slice(b"[1,2,3]")?;
/// assert_eq!(numbers, [1, 2, 3]);
/// # Ok::<(), stc::SerdeError>(())
/// ```
pub fn from_slice<T: DeserializeOwned>(stc: &[u8]) -> Result<T, SerdeError> {
    let mut decoder = Decoder::new();
    Ok(serde_json::from_slice(decoder.decode(stc)?)?)
}

/// Reads STC of any format, or JSON, to its end and deserializes the JSON: [`from_str`] for readers (feature `serde`).
///
/// The JSON is deserialized as it is decoded and never held as a whole. The error that comes first in the input is returned. The
/// reader needs no buffer of its own.
///
/// ```
/// let file = std::io::Cursor::new("[2]{id,ok}: 1,true / 2,false");
/// let rows: Vec<std::collections::BTreeMap<String, serde_json::Value>> = stc::from_reader(file)?;
/// assert_eq!(rows[1]["id"], 2);
/// # Ok::<(), stc::SerdeError>(())
/// ```
pub fn from_reader<T: DeserializeOwned>(reader: impl Read) -> Result<T, SerdeError> {
    // serde_json reads byte by byte.
    let json = BufReader::with_capacity(CHUNK, DecodeReader::new(reader));
    Ok(serde_json::from_reader(json)?)
}

/// Why a value was not written or not read: an error of STC, of serde_json, or of a reader or writer (feature `serde`).
///
/// It is `Send` and `Sync`. It is not `Clone`, because serde_json's error is not.
///
/// ```
/// use std::error::Error;
/// use stc::SerdeError;
///
/// let not_stc = stc::from_str::<bool>("[true").unwrap_err();
/// assert!(matches!(&not_stc, SerdeError::Stc(error) if error.offset() == 5));
/// assert!(not_stc.kind().is_some());
///
/// let not_a_bool = stc::from_str::<bool>("7").unwrap_err();
/// assert!(matches!(&not_a_bool, SerdeError::Json(error) if error.is_data()));
/// assert!(not_a_bool.kind().is_none() && not_a_bool.source().is_some());
/// ```
#[non_exhaustive]
#[derive(Debug)]
pub enum SerdeError {
    /// The input is not STC, or the input or the value exceeds a limit. Where a value is written, offsets count in its JSON.
    Stc(Error),
    /// The value cannot be serialized, or the document is not of the type. Lines and columns count in the minified JSON.
    Json(serde_json::Error),
    /// The reader or the writer failed.
    Io(io::Error),
}

impl SerdeError {
    /// Returns the kind of STC's error, if that is the cause.
    pub fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Stc(error) => Some(error.kind()),
            Self::Json(_) | Self::Io(_) => None,
        }
    }
}

impl fmt::Display for SerdeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stc(error) => error.fmt(f),
            Self::Json(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SerdeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            Self::Stc(error) => error,
            Self::Json(error) => error,
            Self::Io(error) => error,
        })
    }
}

impl From<Error> for SerdeError {
    fn from(error: Error) -> Self {
        Self::Stc(error)
    }
}

impl From<serde_json::Error> for SerdeError {
    /// Returns the error of its reader or writer if serde_json met one; any other is [`SerdeError::Json`].
    fn from(error: serde_json::Error) -> Self {
        if error.is_io() { io::Error::from(error).into() } else { Self::Json(error) }
    }
}

impl From<io::Error> for SerdeError {
    /// Returns STC's error where the I/O error is around one.
    fn from(error: io::Error) -> Self {
        let stc = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>().copied());
        stc.map_or(Self::Io(error), Self::Stc)
    }
}

impl From<SerdeError> for io::Error {
    /// Returns an I/O error of kind `InvalidData` around the cause, or the I/O error that is the cause.
    fn from(error: SerdeError) -> Self {
        match error {
            SerdeError::Stc(error) => error.into(),
            SerdeError::Json(error) => Self::new(io::ErrorKind::InvalidData, error),
            SerdeError::Io(error) => error,
        }
    }
}
