//! Conversion of one document to a format of this crate: the codec's formats, and TOON.

use crate::{Format, Skip};
use stc_wire::transcode::{self, Refusal, Transcoded, Verify};

/// Encodes a document in this format, whatever the size of the result.
pub fn encode(json: &[u8], format: Format, verify: Verify) -> Result<Vec<u8>, Skip> {
    let encoded = match format.codec() {
        Some(format) => transcode::encode(json, format, verify),
        None => transcode::caught(|| toon(json)),
    };
    Ok(encoded?)
}

/// Encodes a document in this format, if the result is smaller.
pub(crate) fn transcode(json: &[u8], format: Format, verify: Verify) -> Result<Transcoded, Skip> {
    let transcoded = match format.codec() {
        Some(format) => transcode::transcode(json, format, verify),
        None => transcode::smaller(json, || toon(json)),
    };
    Ok(transcoded?)
}

#[cfg(feature = "toon")]
fn toon(json: &[u8]) -> Result<Vec<u8>, Refusal> {
    crate::toon::encode(json).ok_or(Refusal::Invalid)
}

/// Rejects every document: this build writes no TOON, and a policy does not choose it.
#[cfg(not(feature = "toon"))]
const fn toon(_: &[u8]) -> Result<Vec<u8>, Refusal> {
    Err(Refusal::Invalid)
}

impl From<Refusal> for Skip {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid | Refusal::Failed => Self::Invalid,
            Refusal::NotSmaller => Self::NotSmaller,
        }
    }
}
