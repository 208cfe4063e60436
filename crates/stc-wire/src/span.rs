//! Values in a JSON text, found without parsing: a value is a range of bytes.
//!
//! The functions assume JSON. In any other text the ranges may be wrong but are within bounds, and every function ends
//! without recursion. Before a text is changed by these ranges, a strict parser must have accepted it.

use crate::block::{BLOCK, escaped, mask};
use crate::budget::charge_bytes;
use crate::escape::{room, unescape, unescape_into};
use memchr::memchr2;
use std::borrow::Cow;
use std::ops::Range;

/// The range of a value in a text.
pub type Span = Range<usize>;

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The key, with its quotes.
    pub key: Span,
    /// The value.
    pub value: Span,
}

/// Returns the range of the only value in a text; `None` if there is none or more than one.
#[must_use]
pub fn document(text: &[u8]) -> Option<Span> {
    let start = skip_space(text, 0);
    let end = value_end(text, start)?;
    (skip_space(text, end) == text.len()).then_some(start..end)
}

/// Returns the members of the object at `span`; none if it is not an object.
pub fn members(text: &[u8], span: Span) -> impl Iterator<Item = Member> + '_ {
    let open = text.get(span.start) == Some(&b'{');
    let mut at = if open { span.start + 1 } else { span.end };
    std::iter::from_fn(move || {
        let start = skip_space(text, at);
        if start >= span.end || text[start] != b'"' {
            return None;
        }
        let key = start..string_end(text, start)?;
        let colon = skip_space(text, key.end);
        if text.get(colon) != Some(&b':') {
            return None;
        }
        let start = skip_space(text, colon + 1);
        let value = start..value_end(text, start)?;
        charge_bytes(value.end - key.start);
        at = after_comma(text, value.end, span.end);
        Some(Member { key, value })
    })
}

/// Returns the elements of the array at `span`; none if it is not an array.
pub fn elements(text: &[u8], span: Span) -> impl Iterator<Item = Span> + '_ {
    let open = text.get(span.start) == Some(&b'[');
    let mut at = if open { span.start + 1 } else { span.end };
    std::iter::from_fn(move || {
        let start = skip_space(text, at);
        if start >= span.end || text[start] == b']' {
            return None;
        }
        let value = start..value_end(text, start)?;
        charge_bytes(value.len());
        at = after_comma(text, value.end, span.end);
        Some(value)
    })
}

/// Returns the member with this key; `None` if the key is missing or repeated, because readers disagree on which of two
/// counts.
#[must_use]
pub fn member(text: &[u8], object: Span, key: &str) -> Option<Member> {
    let mut found = members(text, object).filter(|member| is_string(text, &member.key, key));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Returns whether the value at `span` is this string, however it is escaped.
#[must_use]
pub fn is_string(text: &[u8], span: &Span, expected: &str) -> bool {
    string(text, span).is_some_and(|string| string == expected)
}

/// Returns the string at `span`, unescaped; `None` if it is not a string or contains a lone surrogate.
#[must_use]
pub fn string<'a>(text: &'a [u8], span: &Span) -> Option<Cow<'a, str>> {
    let quoted = text.get(span.clone())?;
    let inner = quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    let mut out = Vec::with_capacity(inner.len());
    unescape_into(inner, &mut out)?;
    String::from_utf8(out).ok().map(Cow::Owned)
}

/// Returns the string at `span` as [`string`] does; a string with escapes is written to `buffer`, over what is there.
#[must_use]
pub fn string_in<'a>(text: &'a [u8], span: &Span, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
    let quoted = text.get(span.clone())?;
    let inner = quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok();
    }
    // What the buffer has from before is overwritten, not cleared: filling it anew costs as much as a copy.
    if buffer.len() < room(inner) {
        buffer.resize(room(inner), 0);
    }
    let length = unescape(inner, buffer)?;
    std::str::from_utf8(&buffer[..length]).ok()
}

/// Appends a text as a JSON string with its quotes.
pub fn quote_into(text: &str, out: &mut Vec<u8>) {
    crate::escape::quote_into(text, out);
}

/// Returns the offset of the first byte at or after `at` that is no whitespace.
#[must_use]
pub fn skip_space(text: &[u8], at: usize) -> usize {
    let space = |byte: &&u8| matches!(**byte, b' ' | b'\n' | b'\r' | b'\t');
    at + text.get(at..).map_or(0, |rest| rest.iter().take_while(space).count())
}

/// Returns the offset after the comma that follows a value, or the container's end if there is no comma.
fn after_comma(text: &[u8], at: usize, end: usize) -> usize {
    let at = skip_space(text, at);
    if text.get(at) == Some(&b',') { at + 1 } else { end }
}

/// Returns the offset after the closing quote of the string that opens at `at`.
#[must_use]
pub fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    // Most strings are short.
    for byte in text.get(at..)?.iter().take(NEAR) {
        match byte {
            b'"' => return Some(at + 1),
            b'\\' => break,
            _ => at += 1,
        }
    }
    let mut carry = 0;
    while let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let quotes = mask(block, |byte| byte == b'"');
        let backslashes = mask(block, |byte| byte == b'\\');
        let ends = quotes & !escaped(backslashes, &mut carry);
        if ends != 0 {
            return Some(at + ends.trailing_zeros() as usize + 1);
        }
        at += BLOCK;
    }
    at += carry as usize;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Bytes that are looked at one by one before blocks are read.
const NEAR: usize = 16;

/// Returns the end of the value that starts at `at`. Brackets are counted: no recursion, whatever the depth.
pub(crate) fn value_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => string_end(text, at),
        b'{' | b'[' => {
            let mut depth = 0_usize;
            let mut at = at;
            loop {
                match text.get(at)? {
                    b'"' => {
                        at = string_end(text, at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
                at += text[at..].iter().position(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))?;
            }
        }
        b',' | b':' | b']' | b'}' => None,
        _ => {
            let scalar = |byte: &u8| !matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
            Some(at + text[at..].iter().position(|byte| !scalar(byte)).unwrap_or(text.len() - at))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, spans: impl Iterator<Item = Span>) -> Vec<&str> {
        spans.map(|span| &text[span]).collect()
    }

    #[test]
    fn members_and_elements_are_found_between_anything() {
        let text = r#" { "a" : [1, {"x":"]}"}, "\"" ] , "b\"" : {"c":[]} ,"n":-1.5e3, "t":true } "#;
        let object = document(text.as_bytes()).unwrap();
        let found: Vec<_> = members(text.as_bytes(), object.clone()).collect();
        let keys: Vec<_> = found.iter().map(|member| &text[member.key.clone()]).collect();
        assert_eq!(keys, [r#""a""#, r#""b\"""#, r#""n""#, r#""t""#]);
        let inner = values(text, found.iter().map(|member| member.value.clone()));
        assert_eq!(inner, [r#"[1, {"x":"]}"}, "\"" ]"#, r#"{"c":[]}"#, "-1.5e3", "true"]);
        let array = member(text.as_bytes(), object, "a").unwrap().value;
        assert_eq!(values(text, elements(text.as_bytes(), array)), ["1", r#"{"x":"]}"}"#, r#""\"""#]);
        assert_eq!(elements(b"[ ]", 0..3).count(), 0);
        assert_eq!(members(b"{ }", 0..3).count(), 0);
        assert_eq!(members(b"[1]", 0..3).count() + elements(b"{}", 0..2).count(), 0);
    }

    #[test]
    fn a_key_is_found_however_it_is_escaped_and_never_if_twice() {
        let text = br#"{"\u0063ontent":1,"x":2,"x":3}"#;
        assert_eq!(&text[member(text, 0..text.len(), "content").unwrap().value], b"1");
        assert_eq!(member(text, 0..text.len(), "x"), None);
        assert_eq!(member(text, 0..text.len(), "y"), None);
    }

    #[test]
    fn strings_come_back_from_quoting() {
        let all: String = (0..0x300).chain([0x2028, 0xFFFD, 0x1F600, 0x10FFFF]).filter_map(char::from_u32).collect();
        let mut quoted = Vec::new();
        quote_into(&all, &mut quoted);
        assert_eq!(string(&quoted, &(0..quoted.len())).unwrap(), all);
        assert_eq!(serde_json::from_slice::<String>(&quoted).unwrap(), all);
        assert!(quoted.iter().all(|byte| *byte >= 0x20));
    }

    /// Every byte at every place of a word, and after the words that are looked at in place.
    #[test]
    fn bytes_are_found_wherever_they_stand() {
        for length in [0, 1, 7, 8, 9, 15, 16, 31, 32, 33, 40, 70, 150] {
            for place in 0..length {
                for byte in 0..128_u8 {
                    let mut text = vec![b'x'; length];
                    text[place] = byte;
                    let text = String::from_utf8(text).unwrap();
                    let mut quoted = Vec::new();
                    quote_into(&text, &mut quoted);
                    assert_eq!(serde_json::from_slice::<String>(&quoted).unwrap(), text);
                    assert_eq!(string(&quoted, &(0..quoted.len())).unwrap(), text);
                    assert_eq!(string_end(&quoted, 0), Some(quoted.len()));
                }
            }
        }
    }

    /// Runs of backslashes of every length at every place: the end is where one byte after another finds it.
    #[test]
    fn runs_of_backslashes_end_where_a_simple_reader_says() {
        let simple = |text: &[u8]| {
            let mut at = 1;
            while at < text.len() {
                match text[at] {
                    b'"' => return Some(at + 1),
                    b'\\' => at += 2,
                    _ => at += 1,
                }
            }
            None
        };
        for place in 1..200 {
            for run in 0..70 {
                let mut text = vec![b'x'; place];
                text[0] = b'"';
                text.extend(std::iter::repeat_n(b'\\', run));
                for tail in [&b"\""[..], b"x\"", b"\"\\\"x\"", b"", b"\\"] {
                    let mut text = text.clone();
                    text.extend_from_slice(tail);
                    text.extend(std::iter::repeat_n(b'y', 70 * (run % 2)));
                    assert_eq!(string_end(&text, 0), simple(&text), "{place} {run} {tail:?}");
                }
            }
        }
    }

    /// Escapes of every kind, side by side, at every place of a block.
    #[test]
    fn runs_of_escapes_come_back() {
        for place in 0..140 {
            for run in 0..70 {
                for escaped in ["\\", "\"", "\n", "\u{1}", "\u{1}\\", "é\\"] {
                    let text = format!("{}{}z", "x".repeat(place), escaped.repeat(run));
                    let mut quoted = Vec::new();
                    quote_into(&text, &mut quoted);
                    assert_eq!(serde_json::from_slice::<String>(&quoted).unwrap(), text);
                    assert_eq!(string(&quoted, &(0..quoted.len())).unwrap(), text);
                }
            }
        }
    }

    #[test]
    fn unescaping_agrees_with_serde_json() {
        for text in [
            r#""""#,
            r#""\u0041\/\b\f\n\r\t\"\\""#,
            r#""\ud83d\ude00\u00e9é""#,
            r#""\ud83d""#,
            r#""\ude00""#,
            r#""\ud83d\u0041""#,
            r#""\ud83dx""#,
            r#""\u12""#,
            r#""\u+123""#,
            r#""\x""#,
        ] {
            let ours = string(text.as_bytes(), &(0..text.len())).map(Cow::into_owned);
            assert_eq!(ours, serde_json::from_str::<String>(text).ok(), "{text}");
            let mut buffer = b"from an earlier call".to_vec();
            assert_eq!(string_in(text.as_bytes(), &(0..text.len()), &mut buffer).map(String::from), ours, "{text}");
        }
    }

    #[test]
    fn broken_texts_end() {
        let text = br#"[{"a":"b\"c","d":[1,{"e":null}]},"x\\"]"#;
        for end in 0..text.len() {
            assert_eq!(document(&text[..end]), None, "{end}");
            for start in 0..end {
                let span = start..end;
                let _ = members(&text[..end], span.clone()).take(100).count();
                assert!(elements(&text[..end], span).take(100).count() < 100);
            }
        }
        assert_eq!(document(b"1 2"), None);
        let deep = "[".repeat(1_000_000);
        assert_eq!(document(deep.as_bytes()), None);
    }
}
