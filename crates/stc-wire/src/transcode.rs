//! Conversion of one JSON document to another format.
//!
//! Every call of a codec is in this file. A failure, even a panic of a codec, is a [`Refusal`]: the caller then sends the
//! original. [`transcode`] and [`smaller`] also refuse a result that is not smaller than its input.

use crate::Saved;
use serde::Deserialize;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// A document in another format, and its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcoded {
    /// The document in the other format.
    pub bytes: Vec<u8>,
    /// The sizes before and after.
    pub saved: Saved,
}

/// The reason why a document is not converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Not JSON, or the format cannot represent it exactly.
    Invalid,
    /// The result would have at least as many bytes, or more estimated tokens.
    NotSmaller,
    /// The codec panicked, refused by a defect, reached one of its limits, or wrote what does not decode to the document.
    Failed,
}

/// How often an encoded document is decoded and compared before it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Never.
    #[default]
    Off,
    /// One in 64.
    Sampled,
    /// Always.
    Always,
}

/// Encodes a document in this format, whatever the size of the result.
pub fn encode(json: &[u8], format: stc::Format, verify: Verify) -> Result<Vec<u8>, Refusal> {
    caught(|| encode_uncaught(json, format, verify))
}

/// Appends a document in this format, whatever the size of the result. After a refusal `out` is as long as before.
pub fn encode_into(json: &[u8], format: stc::Format, verify: Verify, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let before = out.len();
    let encoded = caught(|| encode_into_uncaught(json, format, verify, out));
    if encoded.is_err() {
        out.truncate(before);
    }
    encoded
}

/// Encodes a document in this format, if the result is smaller.
pub fn transcode(json: &[u8], format: stc::Format, verify: Verify) -> Result<Transcoded, Refusal> {
    caught(|| {
        planted_fault();
        with_codecs(json.len(), |codecs| {
            let mut bytes = Vec::with_capacity(json.len());
            codecs.encode(json, format, verify, &mut bytes)?;
            let saved = smaller_sizes(json, &bytes)?;
            Ok(Transcoded { bytes, saved: codecs.compare_minified(json, Some(format), saved) })
        })
    })
}

/// Calls an encoder and returns what it wrote, if that is smaller than `json`; a panic is [`Refusal::Failed`].
pub fn smaller(json: &[u8], encode: impl FnOnce() -> Result<Vec<u8>, Refusal>) -> Result<Transcoded, Refusal> {
    caught(|| {
        let bytes = encode()?;
        let saved = smaller_sizes(json, &bytes)?;
        let saved = with_codecs(json.len(), |codecs| codecs.compare_minified(json, None, saved));
        Ok(Transcoded { bytes, saved })
    })
}

/// Measures a document and its encoding, which is refused unless it is smaller.
fn smaller_sizes(json: &[u8], encoded: &[u8]) -> Result<Saved, Refusal> {
    let saved = Saved::between(json, encoded);
    if saved.is_smaller() { Ok(saved) } else { Err(Refusal::NotSmaller) }
}

/// Returns the document without insignificant whitespace; `None` if it is not JSON.
#[must_use]
pub fn minify(json: &[u8]) -> Option<Vec<u8>> {
    caught(|| minify_uncaught(json)).ok()
}

/// Returns whether a text is strict JSON.
#[must_use]
pub fn is_json(text: &[u8]) -> bool {
    caught(|| {
        planted_fault();
        with_codecs(text.len(), |codecs| codecs.encoder(stc::Format::Json).encode(text).map(drop))
            .map_err(|_| Refusal::Invalid)
    })
    .is_ok()
}

/// Returns whether a JSON text may have whitespace between its tokens. Only the first bytes are looked at, and the last one: writers
/// put whitespace everywhere or nowhere. Line ends and tabs are never inside strings; a blank counts after a comma, colon or bracket.
#[must_use]
pub fn may_have_space(text: &[u8]) -> bool {
    let head = &text[..text.len().min(512)];
    let space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    let after_sign = |at: usize| at > 0 && matches!(head[at - 1], b',' | b':' | b'[' | b'{');
    text.first().is_some_and(space)
        || text.last().is_some_and(space)
        || memchr::memchr3(b'\n', b'\r', b'\t', head).is_some()
        || memchr::memchr_iter(b' ', head).any(after_sign)
}

/// Makes a call of a codec; a panic is [`Refusal::Failed`].
pub fn caught<T>(call: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        CODECS.with(|codecs| codecs.take()); // their state after a panic is unknown
        Err(Refusal::Failed)
    })
}

fn minify_uncaught(json: &[u8]) -> Result<Vec<u8>, Refusal> {
    planted_fault();
    // Strict JSON only: what the decoder would read as STC is rejected.
    stc::minify(json).map_err(|_| Refusal::Invalid)
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
    encoders: Vec<(stc::Format, stc::Encoder)>,
    decoder: stc::Decoder,
}

fn encode_uncaught(json: &[u8], format: stc::Format, verify: Verify) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::with_capacity(json.len());
    encode_into_uncaught(json, format, verify, &mut out)?;
    Ok(out)
}

fn encode_into_uncaught(json: &[u8], format: stc::Format, verify: Verify, out: &mut Vec<u8>) -> Result<(), Refusal> {
    planted_fault();
    with_codecs(json.len(), |codecs| codecs.encode(json, format, verify, out))
}

/// Calls `work` with codecs for a document of this length: the thread's own, or new ones.
fn with_codecs<T>(length: usize, work: impl FnOnce(&mut Codecs) -> T) -> T {
    if length > KEEP_UP_TO {
        return work(&mut Codecs::default());
    }
    CODECS.with(|codecs| match codecs.try_borrow_mut() {
        Ok(mut codecs) => work(&mut codecs),
        Err(_) => work(&mut Codecs::default()),
    })
}

impl Codecs {
    fn encode(&mut self, json: &[u8], format: stc::Format, verify: Verify, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let before = out.len();
        let refused = |error: stc::Error| match error.kind() {
            stc::ErrorKind::Defect => Refusal::Failed,
            kind if kind.is_limit() => Refusal::Failed,
            _ => Refusal::Invalid,
        };
        let encoder = self.encoder(format);
        if json.len() > KEEP_UP_TO {
            encoder.encode_into(json, out).map_err(refused)?;
        } else {
            // From the encoder's own buffer, which stays initialised: a copy costs less than to fill the caller's room first.
            out.extend_from_slice(encoder.encode(json).map_err(refused)?);
        }
        if verify.is_due() {
            let back = self.decoder.decode(&out[before..]).map_err(|_| Refusal::Failed)?.to_vec();
            let minified = self.decoder.decode(json).map_err(|_| Refusal::Failed)?;
            if back != minified {
                return Err(Refusal::Failed);
            }
        }
        Ok(())
    }

    /// Adds the sizes of minified JSON to those of a document, which has been encoded in this format if there is one: tools send
    /// the same document with and without whitespace, and figures that compare have one base.
    fn compare_minified(&mut self, json: &[u8], format: Option<stc::Format>, saved: Saved) -> Saved {
        if !may_have_space(json) {
            return saved;
        }
        if let Some(minified) = format.and_then(|format| self.encoder(format).minified()) {
            return saved.minified(minified);
        }
        self.encoder(stc::Format::Json).encode(json).map_or(saved, |minified| saved.minified(minified))
    }

    fn encoder(&mut self, format: stc::Format) -> &mut stc::Encoder {
        let place = match self.encoders.iter().position(|(kept, _)| *kept == format) {
            Some(place) => place,
            None => {
                let options = stc::Options::default().format(format);
                self.encoders.push((format, stc::Encoder::with_options(options)));
                self.encoders.len() - 1
            }
        };
        &mut self.encoders[place].1
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
    fn a_panic_is_a_refusal() {
        let rows = br#"[{"id": 1, "on": true}, {"id": 2, "on": false}, {"id": 3, "on": false}]"#;
        for fault in [true, false] {
            FAULT.set(fault);
            assert_eq!(encode(rows, stc::Format::Stc2, Verify::Off).is_err(), fault);
            assert_eq!(transcode(rows, stc::Format::Stc1, Verify::Off).is_err(), fault);
            assert_eq!(minify(rows).is_none(), fault);
            assert_eq!(!is_json(rows), fault);
            let mut out = b"kept".to_vec();
            let expected = if fault { Err(Refusal::Failed) } else { Ok(()) };
            assert_eq!(encode_into(rows, stc::Format::Stc2, Verify::Always, &mut out), expected);
            assert_eq!(out == b"kept", fault);
        }
    }

    #[test]
    fn whitespace_between_tokens() {
        let long = format!("[{}]", ["\"a b\""; 200].join(","));
        for text in [r#"{"a":"b c d","e":[1]}"#, "[]", "", long.as_str()] {
            assert!(!may_have_space(text.as_bytes()), "{text}");
        }
        for text in ["[1, 2]", "{\"a\": 1}", "[\r\n1\r\n]", "[1\n,2]", "[\t1]", " [1]", "[1]\n", "[ 1]", "[1 ] "] {
            assert!(may_have_space(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn smaller_or_not_at_all() {
        let rows = br#"[{"id": 1, "on": true}, {"id": 2, "on": false}, {"id": 3, "on": false}]"#;
        let verifies = [Verify::Off, Verify::Sampled, Verify::Always];
        for (verify, format) in verifies.into_iter().flat_map(|verify| stc::Format::STC.map(|format| (verify, format)))
        {
            let coded = transcode(rows, format, verify).unwrap();
            assert_eq!(stc::decode(&coded.bytes).unwrap(), minify(rows).unwrap());
            assert!(coded.saved.is_smaller());
            let minified = minify(rows).unwrap();
            assert_eq!((coded.saved.bytes_in, coded.saved.bytes_minified), (rows.len() as u64, minified.len() as u64));
            assert_eq!(coded.saved.tokens_minified, stc::estimate_tokens(&minified));
            let again = transcode(&minified, format, verify).unwrap().saved;
            assert_eq!((again.bytes_minified, again.tokens_minified), (again.bytes_in, again.tokens_in));
        }
        assert_eq!(transcode(b"[1,2,3]", stc::Format::Stc1, Verify::Off), Err(Refusal::NotSmaller));
        assert_eq!(transcode(b"[1,2,3", stc::Format::Stc1, Verify::Off), Err(Refusal::Invalid));
        assert_eq!(transcode(b"{a: 1}", stc::Format::Stc1, Verify::Always), Err(Refusal::Invalid));
    }

    #[test]
    fn a_long_document_uses_codecs_of_its_own() {
        let rows = stc_corpus::make("sql-rows", 3, 3 << 20).expect("a kind of the catalogue");
        let coded = transcode(&rows, stc::Format::Stc1, Verify::Always).unwrap();
        assert_eq!(stc::decode(&coded.bytes).unwrap(), minify(&rows).unwrap());
    }

    #[test]
    fn minify_accepts_json_only() {
        assert_eq!(minify(b" [1 , 2]").unwrap(), b"[1,2]");
        assert_eq!(minify(b"{a: 1}"), None);
    }
}
