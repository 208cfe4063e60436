#![doc = include_str!("../README.md")]

mod buffer;
mod decode;
mod encode;
mod error;
mod estimate;
pub mod explain;
mod format;
#[cfg(feature = "__internal")]
#[doc(hidden)]
pub mod internal;
pub mod io;
mod json;
#[cfg(feature = "__internal")]
#[doc(hidden)]
pub mod laws;
mod legend;
mod options;
#[cfg(feature = "simd-json")]
mod parsed;
mod slow_path;
mod v1;
mod v2;

pub use decode::Decoder;
pub use encode::Encoder;
pub use error::{Error, ErrorKind, Expected, Position};
pub use estimate::estimate_tokens;
pub use legend::legend;
pub use options::{Limits, Options, Version};

/// Encodes one JSON document as STC with the default [`Options`]. To encode many, keep an [`Encoder`].
pub fn encode(json: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    Encoder::new().encode_into(json, &mut out)?;
    Ok(out)
}

/// Decodes one STC document, or JSON, to minified JSON with the default [`Options`]. To decode many, keep a
/// [`Decoder`].
pub fn decode(stc: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    Decoder::new().decode_into(stc, &mut out)?;
    Ok(out)
}
