//! Content codings of upstream bodies, decompressed within a size limit.

use crate::Skip;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use std::borrow::Cow;
use std::io::{self, Read};

/// Jobs that work on at most this many bytes are short: a pool may keep threads for them, which longer ones never hold up.
pub const SHORT_JOB: usize = 1 << 20;

/// The content coding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// None.
    Identity,
    /// gzip (RFC 1952).
    Gzip,
    /// Brotli (RFC 7932).
    Brotli,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Coding {
    /// The codings that make a body shorter.
    pub(crate) const COMPRESSED: [Self; 3] = [Self::Gzip, Self::Brotli, Self::Zstd];

    /// Returns the name on the wire.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Brotli => Some("br"),
            Self::Zstd => Some("zstd"),
        }
    }

    /// Reads `Content-Encoding`. Several codings, an unknown coding and STC itself are [`Skip::Encoded`].
    pub fn of(headers: &HeaderMap) -> Result<Self, Skip> {
        let mut lines = headers.get_all(CONTENT_ENCODING).iter();
        let Some(line) = lines.next() else { return Ok(Self::Identity) };
        if lines.next().is_some() {
            return Err(Skip::Encoded);
        }
        match line.as_bytes().trim_ascii().to_ascii_lowercase().as_slice() {
            b"identity" => Ok(Self::Identity),
            b"gzip" | b"x-gzip" => Ok(Self::Gzip),
            b"br" => Ok(Self::Brotli),
            b"zstd" => Ok(Self::Zstd),
            _ => Err(Skip::Encoded),
        }
    }

    /// Returns about how many bytes a body of this length has without its coding, for the order of jobs: what is usual for JSON. Only
    /// decompressing it tells, and a few bytes may stand for megabytes, so it is never a [short job](SHORT_JOB).
    #[must_use]
    pub const fn usual_length(self, length: usize) -> usize {
        match self {
            Self::Identity => length,
            Self::Gzip | Self::Brotli | Self::Zstd if length <= SHORT_JOB / 16 => SHORT_JOB + 1,
            Self::Gzip | Self::Brotli | Self::Zstd => length.saturating_mul(16),
        }
    }

    /// Returns the decompressed body. More than `most` bytes are [`Skip::TooLarge`], detected before they are in memory; a
    /// body that is not in this coding is [`Skip::Invalid`].
    pub fn decompress(self, body: &[u8], most: usize) -> Result<Cow<'_, [u8]>, Skip> {
        let plain = match self {
            Self::Identity => return Ok(Cow::Borrowed(body)),
            Self::Gzip => read_to(flate2::read::MultiGzDecoder::new(body), most),
            Self::Brotli => read_to(brotli_decompressor::Decompressor::new(body, 4096), most),
            Self::Zstd => decompress_zstd(body, most),
        };
        plain.map(Cow::Owned)
    }
}

/// RFC 9659 lets a client reject larger windows.
const ZSTD_WINDOW: u64 = 8 << 20;

/// Decompresses one frame. Its window is allocated before the first byte is written, so it is limited too.
fn decompress_zstd(body: &[u8], most: usize) -> Result<Vec<u8>, Skip> {
    let decoder = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(body, ZSTD_WINDOW);
    let mut decoder = decoder.map_err(|_| Skip::Invalid)?;
    let plain = read_to(&mut decoder, most)?;
    if decoder.get_ref().is_empty() { Ok(plain) } else { Err(Skip::Invalid) }
}

fn read_to(reader: impl Read, most: usize) -> Result<Vec<u8>, Skip> {
    let mut plain = Vec::new();
    let read: io::Result<usize> = reader.take(most as u64 + 1).read_to_end(&mut plain);
    match read {
        Ok(length) if length > most => Err(Skip::TooLarge),
        Ok(_) => Ok(plain),
        Err(_) => Err(Skip::Invalid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use std::io::Write;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn content_encoding_decides() {
        for (value, expected) in [
            ("identity", Ok(Coding::Identity)),
            ("GZIP", Ok(Coding::Gzip)),
            ("x-gzip", Ok(Coding::Gzip)),
            ("br", Ok(Coding::Brotli)),
            ("zstd", Ok(Coding::Zstd)),
            ("stc", Err(Skip::Encoded)),
            ("deflate", Err(Skip::Encoded)),
            ("gzip, br", Err(Skip::Encoded)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(value));
            assert_eq!(Coding::of(&headers), expected, "{value}");
            headers.append(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            assert_eq!(Coding::of(&headers), Err(Skip::Encoded), "{value} twice");
        }
        assert_eq!(Coding::of(&HeaderMap::new()), Ok(Coding::Identity));
    }

    #[test]
    fn no_coded_body_is_a_short_job() {
        for length in [0, 102, SHORT_JOB / 16, SHORT_JOB / 16 + 1, SHORT_JOB, usize::MAX] {
            assert_eq!(Coding::Identity.usual_length(length), length);
            for coding in Coding::COMPRESSED {
                assert!(coding.usual_length(length) > SHORT_JOB, "{coding:?} {length}");
            }
        }
    }

    #[test]
    fn a_bomb_is_too_large_and_garbage_is_invalid() {
        let bomb = gzip(&vec![b' '; 1 << 20]);
        assert!(bomb.len() < 8192);
        assert_eq!(Coding::Gzip.decompress(&bomb, 65_536), Err(Skip::TooLarge));
        assert_eq!(Coding::Gzip.decompress(&bomb, 1 << 20).unwrap().len(), 1 << 20);
        let zstd = ruzstd::encoding::compress_to_vec(&[b' '; 1 << 20][..], ruzstd::encoding::CompressionLevel::Fastest);
        assert_eq!(Coding::Zstd.decompress(&zstd, 65_536), Err(Skip::TooLarge));
        assert_eq!(Coding::Zstd.decompress(&zstd, 1 << 20).unwrap().len(), 1 << 20);
        for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd] {
            assert_eq!(coding.decompress(b"{\"plain\": \"json\"}", 65_536), Err(Skip::Invalid), "{coding:?}");
            assert_eq!(coding.decompress(b"", 65_536), Err(Skip::Invalid), "{coding:?}");
        }
        let whole = gzip(b"[1]");
        assert_eq!(Coding::Gzip.decompress(&whole[..whole.len() - 1], 100), Err(Skip::Invalid));
    }
}
