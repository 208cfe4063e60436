//! One JSON document in, the same in another format out, or the reason why not.
//!
//! This is the only place that calls a codec. It is where "never larger" and "fail open" are kept: whatever goes
//! wrong in here, a panic of a codec included, comes out as a [`Skip`], and the caller then sends what it had.

use crate::policy::Verify;
use crate::{Format, Skip, options_for, toon};
use stc::estimate_tokens;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// A document in another format, and what that saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transcoded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) saved: Saved,
}

/// Sizes of a document before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Bytes as the upstream sent them, decompressed.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Estimated tokens of what the upstream sent.
    pub tokens_in: u64,
    /// Estimated tokens sent.
    pub tokens_out: u64,
}

impl Saved {
    /// The sizes of these two texts.
    #[must_use]
    pub fn between(before: &[u8], after: &[u8]) -> Self {
        Self {
            bytes_in: before.len() as u64,
            bytes_out: after.len() as u64,
            tokens_in: estimate_tokens(before),
            tokens_out: estimate_tokens(after),
        }
    }

    /// Whether it saved bytes and did not cost tokens.
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

/// The document in this format, whatever its size.
pub(crate) fn encoded(json: &[u8], format: Format, verify: Verify) -> Result<Vec<u8>, Skip> {
    catch_unwind(AssertUnwindSafe(|| encode(json, format, verify))).unwrap_or_else(|_| {
        CODECS.with(|codecs| codecs.take()); // whatever state the panic left
        Err(Skip::Invalid)
    })
}

/// The document in this format, if that is smaller.
pub(crate) fn transcode(json: &[u8], format: Format, verify: Verify) -> Result<Transcoded, Skip> {
    let coded = encoded(json, format, verify)?;
    let saved = Saved::between(json, &coded);
    if saved.is_smaller() { Ok(Transcoded { bytes: coded, saved }) } else { Err(Skip::NotSmaller) }
}

/// The document without its insignificant whitespace; `None` if it is not JSON.
pub(crate) fn minify(json: &[u8]) -> Option<Vec<u8>> {
    // Strict JSON only: the encoder refuses what the decoder would read as STC.
    stc::encode(json).ok()?;
    stc::decode(json).ok()
}

/// Whether this is JSON, strictly.
pub(crate) fn is_json(text: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| encode(text, Format::Stc1, Verify::Off).is_ok())).unwrap_or(false)
}

/// Codecs are kept, one set a thread, because a warm one allocates nothing. Documents over this use fresh ones, so that
/// one giant does not stay in memory for ever.
const KEEP_UP_TO: usize = 1 << 20;

thread_local! {
    static CODECS: RefCell<Codecs> = RefCell::default();
}

#[derive(Default)]
struct Codecs {
    encoders: Vec<(Format, stc::Encoder)>,
    decoder: stc::Decoder,
}

fn encode(json: &[u8], format: Format, verify: Verify) -> Result<Vec<u8>, Skip> {
    if format == Format::Toon {
        return toon::encode(json);
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
    fn a_giant_uses_codecs_of_its_own() {
        let rows = stc_corpus::make("sql-rows", 3, 3 << 20).expect("a kind of the catalogue");
        let coded = transcode(&rows, Format::Stc1, Verify::Always).unwrap();
        assert_eq!(stc::decode(&coded.bytes).unwrap(), minify(&rows).unwrap());
    }

    #[test]
    fn minify_takes_json_only() {
        assert_eq!(minify(b" [1 , 2]").unwrap(), b"[1,2]");
        assert_eq!(minify(b"{a: 1}"), None);
    }
}
