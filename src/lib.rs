#![doc = include_str!("../README.md")]

// The public face: a file for each name. `encode` and `decode` choose a version and own the buffers.
mod decode;
mod encode;
mod error;
mod estimate;
pub mod explain;
pub mod io;
mod legend;
mod minify;
mod options;
// `Encoder::encode_tape`: documents that simd-json has parsed.
#[cfg(feature = "simd-json")]
mod parsed;

// What every version shares.
// A growable buffer with writable room after its end.
mod buffer;
// Every byte of the format under a name.
mod format;
// Reading JSON: scan, tape, lexemes, and where an error is.
mod json;

// Writing STC 1 and STC 2.
mod v1;
mod v2;

// For tests, benches and fuzz targets.
#[cfg(feature = "__internal")]
#[doc(hidden)]
pub mod internal;
// What must hold of every input.
#[cfg(feature = "__internal")]
#[doc(hidden)]
pub mod laws;
// Counts the steps that no fast path took.
mod slow_path;

pub use decode::Decoder;
pub use encode::Encoder;
pub use error::{Error, ErrorKind, Expected, Position};
pub use estimate::estimate_tokens;
pub use legend::legend;
pub use minify::{minify, validate};
pub use options::{Format, Limits, Options, UnknownFormat};

/// Encodes one JSON document as STC with the default [`Options`]. To encode many documents, keep an [`Encoder`].
pub fn encode(json: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    Encoder::new().encode_into(json, &mut out)?;
    Ok(out)
}

/// Encodes one JSON document as STC with the default [`Options`], as text.
///
/// ```
/// let stc = stc::encode_str(r#"{"name": "ann", "tags": []}"#)?;
/// assert_eq!(stc::decode_str(&stc)?, r#"{"name":"ann","tags":[]}"#);
/// # Ok::<(), stc::Error>(())
/// ```
pub fn encode_str(json: &str) -> Result<String, Error> {
    text(encode(json.as_bytes())?)
}

/// Decodes one STC document, or JSON, to minified JSON with the default [`Options`], as text: the mirror of [`encode_str`].
pub fn decode_str(stc: &str) -> Result<String, Error> {
    text(decode(stc.as_bytes())?)
}

/// Returns output as text: what comes from UTF-8 is UTF-8.
fn text(output: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(output).map_err(|error| Error::new(ErrorKind::Utf8, error.utf8_error().valid_up_to() as u64))
}

/// Decodes one STC document, or JSON, to minified JSON with the default [`Options`]. To decode many documents, keep a
/// [`Decoder`].
pub fn decode(stc: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    Decoder::new().decode_into(stc, &mut out)?;
    Ok(out)
}
