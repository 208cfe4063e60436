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
// Rust values both ways.
#[cfg(feature = "serde")]
mod serde;
// Documents as `str` and `String`.
mod text;

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
#[cfg(test)]
mod testing;
// The examples in docs/ are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../docs/embedding.md")]
    struct Embedding;
    #[doc = include_str!("../docs/errors.md")]
    struct Errors;
    #[doc = include_str!("../docs/format.md")]
    struct Format;
    #[doc = include_str!("../docs/limits.md")]
    struct Limits;
    #[doc = include_str!("../docs/streaming.md")]
    struct Streaming;
}

pub use decode::Decoder;
pub use encode::Encoder;
pub use error::{Error, ErrorKind, Expected, Position};
pub use estimate::estimate_tokens;
pub use legend::legend;
pub use minify::{minify, validate};
pub use options::{Format, Limits, Options, UnknownFormat};
#[cfg(feature = "serde")]
pub use serde::{SerdeError, from_reader, from_slice, from_str, to_string, to_vec, to_writer};
pub use text::{decode_str, encode_str};

/// Encodes one JSON document as STC with the default [`Options`]. To encode many documents, keep an [`Encoder`].
///
/// ```
/// let stc = stc::encode(br#"{"name": "ann", "tags": []}"#)?;
/// assert_eq!(stc::decode(&stc)?, br#"{"name":"ann","tags":[]}"#);
/// # Ok::<(), stc::Error>(())
/// ```
pub fn encode(json: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    Encoder::new().encode_into(json, &mut out)?;
    Ok(out)
}

/// Decodes one STC document, or JSON, to minified JSON with the default [`Options`]. To decode many documents, keep a
/// [`Decoder`].
///
/// ```
/// assert_eq!(stc::decode(b"{tags[2]: 1,2, ok: true}")?, br#"{"tags":[1,2],"ok":true}"#);
/// # Ok::<(), stc::Error>(())
/// ```
pub fn decode(stc: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    Decoder::new().decode_into(stc, &mut out)?;
    Ok(out)
}
