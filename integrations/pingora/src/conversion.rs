//! A body that is converted chunk by chunk.

use bytes::Bytes;
use stc::{Encoder, Error, Options};
use std::sync::{Mutex, PoisonError};

/// The conversion of one body: the streaming API of the codec, which never waits and does no I/O.
pub(crate) struct Conversion {
    /// Pingora requires contexts that are `Sync`, and an encoder is only `Send`. The lock is never waited for: a body has one owner.
    encoder: Mutex<Encoder>,
}

impl Conversion {
    pub(crate) fn new(options: Options) -> Self {
        Self { encoder: Mutex::new(Encoder::with_options(options)) }
    }

    /// Takes the next chunk and returns what is certain so far; after the last one, the rest.
    pub(crate) fn push(&mut self, chunk: &[u8], is_last: bool) -> Result<Bytes, Error> {
        let mut out = Vec::new();
        let encoder = self.encoder.get_mut().unwrap_or_else(PoisonError::into_inner);
        encoder.push(chunk, &mut out)?;
        if is_last {
            encoder.finish(&mut out)?;
        }
        Ok(out.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &[u8] =
        br#"{"rows": [{"id": 1, "ok": true}, {"id": 2, "ok": true}, {"id": 3, "ok": false}], "next": null}"#;

    #[test]
    fn every_way_to_cut_a_body_gives_the_same_bytes() {
        for format in stc::Format::STC {
            let options = Options::default().format(format);
            let whole = Encoder::with_options(options).encode(JSON).expect("JSON").to_vec();
            for size in 1..JSON.len() {
                let mut conversion = Conversion::new(options);
                let chunks: Vec<&[u8]> = JSON.chunks(size).collect();
                let mut got = Vec::new();
                for (at, chunk) in chunks.iter().enumerate() {
                    got.extend_from_slice(&conversion.push(chunk, at + 1 == chunks.len()).expect("JSON"));
                }
                assert_eq!(got, whole, "{} in chunks of {size}", format.name());
            }
        }
    }

    #[test]
    fn a_body_that_is_not_json_is_an_error() {
        let mut conversion = Conversion::new(Options::default());
        assert!(conversion.push(b"{\"a\":1", false).is_ok());
        assert!(conversion.push(b"", true).is_err());
    }
}
