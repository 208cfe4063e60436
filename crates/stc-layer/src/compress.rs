//! Content codings for clients: bodies are compressed here, because the request to the service prefers plain JSON.
//!
//! In a tie brotli wins, then gzip, then zstd: this is the order of their sizes with these encoders.

use crate::coding::Coding;
use crate::qvalue;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use std::io::Write;

/// Shorter bodies are not compressed.
const LEAST: usize = 1024;

const GZIP_LEVEL: flate2::Compression = flate2::Compression::new(5);
const BROTLI_QUALITY: u32 = 5;
/// The brotli window as a power of two: its memory is allocated for each body.
const BROTLI_WINDOW: u32 = 18;

/// The codings that a client accepts, from those that are written here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// For bodies that are whole in memory.
    whole: Coding,
    /// For whole bodies that are STC. A client that does not accept the coding `stc` cannot undo another one that is named beside
    /// it: `fetch` leaves such a body as it is.
    stc: Coding,
    /// For bodies that pass. The encoder for zstd needs whole bodies.
    passing: Coding,
}

impl Accepted {
    /// No coding.
    pub(crate) const NONE: Self = Self { whole: Coding::Identity, stc: Coding::Identity, passing: Coding::Identity };

    /// Reads `Accept-Encoding`. A wildcard is no preference.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let best = |codings: &[Coding]| {
            let qvalue = |coding: Coding| qvalue::of(headers, &ACCEPT_ENCODING, coding.name()?).filter(|q| *q > 0);
            let accepted = codings.iter().filter_map(|coding| Some((qvalue(*coding)?, *coding)));
            accepted.rev().max_by_key(|(qvalue, _)| *qvalue).map_or(Coding::Identity, |(_, coding)| coding)
        };
        let whole = best(&[Coding::Brotli, Coding::Gzip, Coding::Zstd]);
        let accepts_stc = qvalue::of(headers, &ACCEPT_ENCODING, "stc").is_some_and(|qvalue| qvalue > 0);
        Self {
            whole,
            stc: if accepts_stc { whole } else { Coding::Identity },
            passing: best(&[Coding::Brotli, Coding::Gzip]),
        }
    }

    /// Compresses a whole body, if that makes it shorter.
    pub(crate) fn whole(self, body: Vec<u8>) -> (Vec<u8>, Coding) {
        shorter(self.whole, body)
    }

    /// Compresses a whole body that is STC.
    pub(crate) fn stc(self, body: Vec<u8>) -> (Vec<u8>, Coding) {
        shorter(self.stc, body)
    }

    /// Returns the coding for a body that passes with these headers, if it should have one.
    pub(crate) fn passing(self, headers: &HeaderMap) -> Option<Coding> {
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        let worth = !headers.contains_key(CONTENT_ENCODING) && length.is_none_or(|length| length >= LEAST);
        (self.passing != Coding::Identity && worth && is_text(headers)).then_some(self.passing)
    }
}

/// Returns whether a content type is text that compresses and is not read as it arrives.
fn is_text(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let named = ["application/json", "application/xml", "application/javascript", "image/svg+xml"];
    match essence.as_str() {
        "text/event-stream" => false,
        kind => kind.starts_with("text/") || kind.ends_with("+json") || kind.ends_with("+xml") || named.contains(&kind),
    }
}

/// Compresses a whole body, if that makes it shorter.
fn shorter(coding: Coding, body: Vec<u8>) -> (Vec<u8>, Coding) {
    if coding == Coding::Identity || body.len() < LEAST {
        return (body, Coding::Identity);
    }
    let compressed = compress(coding, &body);
    if compressed.len() < body.len() { (compressed, coding) } else { (body, Coding::Identity) }
}

/// Compresses a whole body.
fn compress(coding: Coding, body: &[u8]) -> Vec<u8> {
    match Compressor::new(coding) {
        Some(mut compressor) => {
            compressor.push(body);
            compressor.finish()
        }
        None if coding == Coding::Zstd => {
            ruzstd::encoding::compress_to_vec(body, ruzstd::encoding::CompressionLevel::Fastest)
        }
        None => body.to_vec(),
    }
}

/// A compressor for a body that arrives in chunks.
pub(crate) enum Compressor {
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
}

impl Compressor {
    /// Creates a compressor; `None` for codings without one.
    pub(crate) fn new(coding: Coding) -> Option<Self> {
        match coding {
            Coding::Gzip => Some(Self::Gzip(flate2::write::GzEncoder::new(Vec::new(), GZIP_LEVEL))),
            Coding::Brotli => {
                let writer = brotli::CompressorWriter::new(Vec::new(), 4096, BROTLI_QUALITY, BROTLI_WINDOW);
                Some(Self::Brotli(Box::new(writer)))
            }
            Coding::Identity | Coding::Zstd => None,
        }
    }

    /// Returns about how much memory a compressor takes.
    pub(crate) const fn memory(coding: Coding) -> usize {
        match coding {
            Coding::Gzip => 384 << 10,
            Coding::Brotli => 2 << 20,
            Coding::Identity | Coding::Zstd => 0,
        }
    }

    // Writing to a vector does not fail.

    /// Takes the next chunk.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let _ = match self {
            Self::Gzip(writer) => writer.write_all(chunk),
            Self::Brotli(writer) => writer.write_all(chunk),
        };
    }

    /// Makes everything that was pushed available to the client.
    pub(crate) fn flush(&mut self) {
        let _ = match self {
            Self::Gzip(writer) => writer.flush(),
            Self::Brotli(writer) => writer.flush(),
        };
    }

    /// Takes what is compressed so far.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        match self {
            Self::Gzip(writer) => std::mem::take(writer.get_mut()),
            Self::Brotli(writer) => std::mem::take(writer.get_mut()),
        }
    }

    /// Ends the body and returns the rest.
    pub(crate) fn finish(self) -> Vec<u8> {
        match self {
            Self::Gzip(writer) => writer.finish().unwrap_or_default(),
            Self::Brotli(writer) => writer.into_inner(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn accepts(value: &'static str) -> (Coding, Coding) {
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]);
        let accepted = Accepted::of(&headers);
        (accepted.whole, accepted.passing)
    }

    #[test]
    fn the_best_coding_that_a_client_accepts() {
        for (value, whole, passing) in [
            ("stc", Coding::Identity, Coding::Identity),
            ("stc, gzip", Coding::Gzip, Coding::Gzip),
            ("gzip, deflate, br, zstd", Coding::Brotli, Coding::Brotli),
            ("gzip, br;q=0.9", Coding::Gzip, Coding::Gzip),
            ("gzip;q=0, br;q=0", Coding::Identity, Coding::Identity),
            ("stc, zstd", Coding::Zstd, Coding::Identity),
            ("stc, zstd, gzip;q=0.5", Coding::Zstd, Coding::Gzip),
            ("*", Coding::Identity, Coding::Identity),
        ] {
            assert_eq!(accepts(value), (whole, passing), "{value}");
        }
    }

    #[test]
    fn what_is_compressed_comes_back() {
        let body = "{\"a\": [1, 2, 3]}\n".repeat(1000).into_bytes();
        for coding in Coding::COMPRESSED {
            let (compressed, used) = Accepted { whole: coding, stc: coding, passing: coding }.whole(body.clone());
            assert!(used == coding && compressed.len() < body.len() / 4, "{coding:?}: {}", compressed.len());
            assert_eq!(coding.decompress(&compressed, body.len()).unwrap(), body, "{coding:?}");
            if let Some(mut compressor) = Compressor::new(coding) {
                let mut out = Vec::new();
                for chunk in body.chunks(777) {
                    compressor.push(chunk);
                    compressor.flush();
                    let ready = compressor.take();
                    assert!(!ready.is_empty(), "what was flushed can be sent");
                    out.extend_from_slice(&ready);
                }
                out.extend_from_slice(&compressor.finish());
                assert_eq!(coding.decompress(&out, body.len()).unwrap(), body, "{coding:?} in chunks");
            }
        }
        let rows = stc_corpus::make("sql-rows", 1, 100_000).expect("a kind of the catalogue");
        let [gzip, brotli, zstd] = Coding::COMPRESSED.map(|coding| compress(coding, &rows).len());
        assert!(brotli < gzip && gzip < zstd, "{brotli} {gzip} {zstd}");
        let short = vec![b' '; LEAST - 1];
        assert_eq!(
            Accepted { whole: Coding::Gzip, stc: Coding::Gzip, passing: Coding::Gzip }.whole(short.clone()),
            (short, Coding::Identity)
        );
    }
}
