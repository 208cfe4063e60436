//! Documents as text: `str` in, `String` out.

use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::error::{Error, ErrorKind};

/// Encodes one JSON document as STC with the default [`Options`](crate::Options), as text.
///
/// ```
/// let stc = stc::encode_str(r#"{"name": "ann", "tags": []}"#)?;
/// assert_eq!(stc::decode_str(&stc)?, r#"{"name":"ann","tags":[]}"#);
/// # Ok::<(), stc::Error>(())
/// ```
pub fn encode_str(json: &str) -> Result<String, Error> {
    let mut out = Vec::new();
    Encoder::new().encode_into(json.as_bytes(), &mut out)?;
    text(out)
}

/// Decodes one STC document, or JSON, to minified JSON with the default [`Options`](crate::Options), as text: the mirror of
/// [`encode_str`].
///
/// ```
/// assert_eq!(stc::decode_str("{name: \"ann\", tags[2]: 1,2}")?, r#"{"name":"ann","tags":[1,2]}"#);
/// # Ok::<(), stc::Error>(())
/// ```
pub fn decode_str(stc: &str) -> Result<String, Error> {
    let mut out = Vec::new();
    Decoder::new().decode_into(stc.as_bytes(), &mut out)?;
    text(out)
}

/// Returns output as text. The input was checked, so this is UTF-8.
pub(crate) fn text(output: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(output).map_err(|error| Error::new(ErrorKind::Utf8, error.utf8_error().valid_up_to() as u64))
}
