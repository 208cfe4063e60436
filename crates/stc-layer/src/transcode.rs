//! Conversion of one JSON document to another format.
//!
//! Every call of a codec is in this file. It guarantees that a result is smaller than its input, and that a failure, even
//! a panic of a codec, is a [`Skip`]: the caller then sends the original.

use crate::policy::Verify;
use crate::{Format, Skip, options_for};
use stc::estimate_tokens;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// A document in another format, and its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transcoded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) saved: Saved,
}

/// The sizes of a document before and after its conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Bytes from the upstream, decompressed.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Estimated tokens from the upstream.
    pub tokens_in: u64,
    /// Estimated tokens sent.
    pub tokens_out: u64,
}

impl Saved {
    /// Measures two texts.
    #[must_use]
    pub fn between(before: &[u8], after: &[u8]) -> Self {
        Self {
            bytes_in: before.len() as u64,
            bytes_out: after.len() as u64,
            tokens_in: estimate_tokens(before),
            tokens_out: estimate_tokens(after),
        }
    }

    /// Returns whether there are fewer bytes and no more tokens.
    #[must_use]
    pub const fn is_smaller(self) -> bool {
        self.bytes_out < self.bytes_in && self.tokens_out <= self.tokens_in
    }
}

impl std::ops::AddAssign for Saved {
    fn add_assign(&mut self, other: Self) {
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.tokens_in += other.tokens_in;
        self.tokens_out += other.tokens_out;
    }
}

/// Encodes a document in this format, whatever the size of the result.
pub fn encode(json: &[u8], format: Format, verify: Verify) -> Result<Vec<u8>, Skip> {
    caught(|| encode_uncaught(json, format, verify))
}

/// Encodes a document in this format, if the result is smaller.
pub(crate) fn transcode(json: &[u8], format: Format, verify: Verify) -> Result<Transcoded, Skip> {
    caught(|| {
        let bytes = encode_uncaught(json, format, verify)?;
        let saved = Saved::between(json, &bytes);
        if saved.is_smaller() { Ok(Transcoded { bytes, saved }) } else { Err(Skip::NotSmaller) }
    })
}

/// Returns the document without insignificant whitespace; `None` if it is not JSON.
pub(crate) fn minify(json: &[u8]) -> Option<Vec<u8>> {
    caught(|| minify_uncaught(json)).ok()
}

/// Returns whether a text is strict JSON.
pub(crate) fn is_json(text: &[u8]) -> bool {
    caught(|| encode_uncaught(text, Format::Stc1, Verify::Off)).is_ok()
}

/// Calls a codec; a panic is [`Skip::Invalid`].
fn caught<T>(call: impl FnOnce() -> Result<T, Skip>) -> Result<T, Skip> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        CODECS.with(|codecs| codecs.take()); // their state after a panic is unknown
        Err(Skip::Invalid)
    })
}

fn minify_uncaught(json: &[u8]) -> Result<Vec<u8>, Skip> {
    planted_fault();
    // Strict JSON only: what the decoder would read as STC is rejected.
    stc::minify(json).map_err(|_| Skip::Invalid)
}

#[cfg(not(test))]
const fn planted_fault() {}

/// Test hook: panics in place of a codec.
#[cfg(test)]
fn planted_fault() {
    assert!(!tests::FAULT.get(), "a planted fault");
}

/// Documents up to this size share the codecs of their thread, which allocate nothing once warm. Longer documents use
/// new codecs, so that their buffers are freed.
const KEEP_UP_TO: usize = 1 << 20;

thread_local! {
    static CODECS: RefCell<Codecs> = RefCell::default();
}

#[derive(Default)]
struct Codecs {
    encoders: Vec<(Format, stc::Encoder)>,
    decoder: stc::Decoder,
}

fn encode_uncaught(json: &[u8], format: Format, verify: Verify) -> Result<Vec<u8>, Skip> {
    planted_fault();
    #[cfg(feature = "toon")]
    if format == Format::Toon {
        return crate::toon::encode(json);
    }
    if json.len() > KEEP_UP_TO {
        return Codecs::default().encode(json, format, verify);
    }
    CODECS.with(|codecs| match codecs.try_borrow_mut() {
        Ok(mut codecs) => codecs.encode(json, format, verify),
        Err(_) => Codecs::default().encode(json, format, verify),
    })
}

impl Codecs {
    fn encode(&mut self, json: &[u8], format: Format, verify: Verify) -> Result<Vec<u8>, Skip> {
        let mut out = Vec::with_capacity(json.len());
        self.encoder(format)?.encode_into(json, &mut out).map_err(|_| Skip::Invalid)?;
        if verify.is_due() {
            let back = self.decoder.decode(&out).map_err(|_| Skip::Invalid)?.to_vec();
            let minified = self.decoder.decode(json).map_err(|_| Skip::Invalid)?;
            if back != minified {
                return Err(Skip::Invalid);
            }
        }
        Ok(out)
    }

    fn encoder(&mut self, format: Format) -> Result<&mut stc::Encoder, Skip> {
        let place = match self.encoders.iter().position(|(kept, _)| *kept == format) {
            Some(place) => place,
            None => {
                let options = options_for(format).ok_or(Skip::Excluded)?;
                self.encoders.push((format, stc::Encoder::with_options(options)));
                self.encoders.len() - 1
            }
        };
        Ok(&mut self.encoders[place].1)
    }
}

impl Verify {
    fn is_due(self) -> bool {
        static SAMPLED: AtomicU64 = AtomicU64::new(0);
        match self {
            Self::Off => false,
            Self::Sampled => SAMPLED.fetch_add(1, Ordering::Relaxed).is_multiple_of(64),
            Self::Always => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        pub(super) static FAULT: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }

    /// A panic of a codec never reaches the caller, and the next call works.
    #[test]
    fn a_panic_is_a_skip() {
        let rows = br#"[{"id": 1, "on": true}, {"id": 2, "on": false}, {"id": 3, "on": false}]"#;
        for fault in [true, false] {
            FAULT.set(fault);
            assert_eq!(encode(rows, Format::Stc2, Verify::Off).is_err(), fault);
            assert_eq!(transcode(rows, Format::Stc1, Verify::Off).is_err(), fault);
            assert_eq!(minify(rows).is_none(), fault);
            assert_eq!(!is_json(rows), fault);
        }
    }

    #[test]
    fn smaller_or_not_at_all() {
        let rows = br#"[{"id": 1, "on": true}, {"id": 2, "on": false}, {"id": 3, "on": false}]"#;
        for verify in [Verify::Off, Verify::Sampled, Verify::Always] {
            let coded = transcode(rows, Format::Stc1, verify).unwrap();
            assert_eq!(stc::decode(&coded.bytes).unwrap(), minify(rows).unwrap());
            assert!(coded.saved.is_smaller());
        }
        assert_eq!(transcode(b"[1,2,3]", Format::Stc1, Verify::Off), Err(Skip::NotSmaller));
        assert_eq!(transcode(b"[1,2,3", Format::Stc1, Verify::Off), Err(Skip::Invalid));
        assert_eq!(transcode(b"{a: 1}", Format::Stc1, Verify::Always), Err(Skip::Invalid));
    }

    #[test]
    fn fewer_bytes_but_more_tokens_is_not_smaller() {
        let saved = Saved { bytes_in: 100, bytes_out: 98, tokens_in: 30, tokens_out: 37 };
        assert!(!saved.is_smaller());
        assert!(Saved { tokens_out: 30, ..saved }.is_smaller());
        assert!(!Saved { bytes_out: 100, tokens_out: 20, ..saved }.is_smaller());
    }

    #[test]
    fn a_long_document_uses_codecs_of_its_own() {
        let rows = stc_corpus::make("sql-rows", 3, 3 << 20).expect("a kind of the catalogue");
        let coded = transcode(&rows, Format::Stc1, Verify::Always).unwrap();
        assert_eq!(stc::decode(&coded.bytes).unwrap(), minify(&rows).unwrap());
    }

    #[test]
    fn minify_accepts_json_only() {
        assert_eq!(minify(b" [1 , 2]").unwrap(), b"[1,2]");
        assert_eq!(minify(b"{a: 1}"), None);
    }
}
