//! The text of a body, whatever its charset, and without a coding that no header names.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use stc_layer::coding::Coding;
use std::borrow::Cow;

/// The longest body that is undone.
const LONGEST_UNDONE: usize = 8 << 20;
/// Of this many bytes one may be no Unicode in a text whose charset is not named.
const BYTES_PER_OTHER: usize = 8;

/// A body as bytes whose ASCII characters are those of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Readable<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// Whether the text was in UTF-16, and whether its high bytes come first.
    wide: Option<bool>,
    /// Whether a client could not read the text in place of the body.
    is_fixed: bool,
}

impl Readable<'_> {
    /// Returns the text as a body; `None` if the body must stay as it came.
    pub(super) fn body(&self, text: Vec<u8>) -> Option<Vec<u8>> {
        let Some(big) = self.wide.filter(|_| !self.is_fixed) else { return (!self.is_fixed).then_some(text) };
        let unit = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        Some(std::str::from_utf8(&text).ok()?.encode_utf16().flat_map(unit).collect())
    }
}

/// Reads a body that has no content coding by its headers. An error says why it cannot be read.
pub(super) fn read<'a>(headers: &HeaderMap, body: &'a [u8]) -> Result<Readable<'a>, &'static str> {
    let kind = headers.get(CONTENT_TYPE).map_or("", |kind| kind.to_str().unwrap_or_default()).to_ascii_lowercase();
    if kind.starts_with("application/vnd.amazon.eventstream") {
        return Err("a stream of binary messages cannot be looked through");
    }
    let is_text = is_text(&kind);
    let plain = undone(body, is_text && charset(&kind).is_none_or(|name| name.starts_with("utf-8")))?;
    let is_fixed = matches!(plain, Cow::Owned(_)) && !is_text;
    match wide(charset(&kind), &plain, is_text)? {
        Some(big) => {
            let text = from_wide(&plain, big).ok_or("a body is not in its charset")?;
            Ok(Readable { text: Cow::Owned(text.into_bytes()), wide: Some(big), is_fixed })
        }
        None => Ok(Readable { text: plain, wide: None, is_fixed }),
    }
}

/// Returns a body without a coding that no header names. Those of gzip and Zstandard begin with their numbers; one of Brotli is
/// recognised by being no text.
fn undone(body: &[u8], is_unicode: bool) -> Result<Cow<'_, [u8]>, &'static str> {
    let undo = |coding: Coding| {
        let undone = coding.decompress(body, LONGEST_UNDONE).map(|plain| Cow::Owned(plain.into_owned()));
        undone.map_err(|_| "a compressed body cannot be undone")
    };
    match body {
        [0x1f, 0x8b, ..] => undo(Coding::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => undo(Coding::Zstd),
        _ if is_unicode && is_other(body) => {
            undo(Coding::Brotli).map_err(|_| "a body is not the text that its type says")
        }
        _ => Ok(Cow::Borrowed(body)),
    }
}

/// Returns whether too many bytes are no Unicode and not UTF-16 either.
fn is_other(body: &[u8]) -> bool {
    let others: usize = body.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    others * BYTES_PER_OTHER > body.len() && wide(None, body, true) == Ok(None)
}

/// Returns whether the high bytes of UTF-16 come first; `None` if the text is not UTF-16. An error says that it cannot be read.
fn wide(charset: Option<&str>, body: &[u8], is_text: bool) -> Result<Option<bool>, &'static str> {
    let marked = match body {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return Err("UTF-32 cannot be looked through"),
        [0xff, 0xfe, ..] => Some(false),
        [0xfe, 0xff, ..] => Some(true),
        _ => None,
    };
    match charset {
        Some("utf-16be") => return Ok(Some(true)),
        Some("utf-16le") => return Ok(Some(false)),
        Some("utf-16" | "ucs-2" | "iso-10646-ucs-2" | "unicode") => {}
        Some(name) if !extends_ascii(name) => return Err("a charset cannot be looked through"),
        _ if !is_text => return Ok(None),
        _ => {}
    }
    Ok(marked.or(match body {
        [0, 0, ..] | [_, 0, 0, 0, ..] if is_text => return Err("UTF-32 cannot be looked through"),
        [0, first, 0, second, ..] if *first > 0 && *second > 0 => Some(true),
        [first, 0, second, 0, ..] if *first > 0 && *second > 0 => Some(false),
        _ if charset.is_some_and(|name| name.starts_with("utf-16")) => Some(true),
        _ => None,
    }))
}

/// Returns whether the bytes of ASCII are its characters in a charset, and nothing else is spelled with them.
fn extends_ascii(charset: &str) -> bool {
    const STARTS: [&str; 14] = [
        "utf-8",
        "utf8",
        "us-ascii",
        "ascii",
        "iso-8859-",
        "iso8859",
        "latin",
        "windows-",
        "cp125",
        "koi8",
        "euc-",
        "gb",
        "big5",
        "macintosh",
    ];
    STARTS.iter().any(|start| charset.starts_with(start))
        || ["shift_jis", "sjis", "tis-620", "windows-31j"].contains(&charset)
}

fn from_wide(body: &[u8], big: bool) -> Option<String> {
    let (units, rest) = body.as_chunks::<2>();
    let units = units.iter().map(|unit| if big { u16::from_be_bytes(*unit) } else { u16::from_le_bytes(*unit) });
    let text = char::decode_utf16(units).collect::<Result<String, _>>().ok()?;
    rest.is_empty().then_some(text)
}

fn charset(kind: &str) -> Option<&str> {
    let value = kind.split(';').skip(1).find_map(|parameter| parameter.trim().strip_prefix("charset="))?;
    Some(value.trim().trim_matches(['"', '\'']))
}

fn is_text(kind: &str) -> bool {
    let name = kind.split(';').next().unwrap_or_default().trim();
    const ENDS: [&str; 8] = ["json", "+json", "xml", "+xml", "javascript", "ndjson", "jsonl", "x-www-form-urlencoded"];
    name.starts_with("text/") || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(kind: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))])
    }

    fn encoded(text: &str, big: bool) -> Vec<u8> {
        text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    #[test]
    fn wide_texts_are_read_and_written() {
        for big in [false, true] {
            for (kind, mark) in
                [("application/json; charset=UTF-16", "\u{feff}"), ("text/plain", ""), ("application/json", "\u{feff}")]
            {
                let body = encoded(&format!("{mark}{{\"a\": \"é😀\"}}"), big);
                let readable = read(&headers(kind), &body).unwrap();
                assert!(readable.text.ends_with("{\"a\": \"é😀\"}".as_bytes()), "{kind} {big}");
                assert_eq!(readable.body(readable.text.to_vec()), Some(body), "{kind} {big}");
            }
        }
        for kind in ["text/plain; charset=utf-16le", "text/plain; charset=\"UTF-16LE\""] {
            assert_eq!(&*read(&headers(kind), &encoded("ab", false)).unwrap().text, b"ab");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (kind, body) in [
            ("application/json; charset=utf-7", &b"+ACI-"[..]),
            ("application/json; charset=utf-32", b"a\0\0\0"),
            ("application/json", b"\xff\xfe\0\0a\0\0\0"),
            ("application/json", b"\0\0\0a\0\0\0b"),
            ("application/json", b"\x1f\x8bnot gzip"),
            ("application/json", b"\x8b\x02\x80\xff\xfe\x91\xa0"),
            ("text/plain; charset=utf-16le", b"abc"),
            ("application/vnd.amazon.eventstream", b"a"),
        ] {
            assert!(read(&headers(kind), body).is_err(), "{kind} {body:?}");
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for (kind, body) in [
            ("text/plain", &b"caf\xe9 au lait, un autre"[..]),
            ("text/plain; charset=shift_jis", b"\x83\x65\x83\x58\x83\x67"),
            ("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
            ("application/json", b"{}"),
            ("application/json", b""),
        ] {
            assert_eq!(&*read(&headers(kind), body).unwrap().text, body, "{kind}");
        }
    }
}
