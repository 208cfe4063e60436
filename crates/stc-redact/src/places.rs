//! Ranges of secrets in a text, made such that JSON stays JSON when they are replaced.

use crate::view::unit;
use crate::work::{Failed, Work};
use std::ops::Range;

/// The range of a secret, and the number of its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) span: Range<usize>,
    pub(crate) rule: usize,
}

/// The shortest part of a secret in a further string of JSON. Shorter ones are names, or say little.
const SHORTEST_SECRET_PART: usize = 16;

/// Returns the ranges in order, those that overlap as one with the name of the first rule.
pub(crate) fn merged(text: &str, found: Vec<Place>, work: &mut Work) -> Result<Vec<Place>, Failed> {
    let mut places: Vec<Place> = Vec::with_capacity(found.len());
    for Place { span, rule } in found {
        // The bytes of the range, and the backslashes before both of its ends.
        work.read(span.len() + backslashes(text.as_bytes(), span.start) + backslashes(text.as_bytes(), span.end))?;
        places.extend(parts(text, span).into_iter().map(|span| Place { span, rule }));
    }
    places.retain(|place| !place.span.is_empty());
    places.sort_by_key(|place| (place.span.start, place.span.end));
    let mut merged: Vec<Place> = Vec::with_capacity(places.len());
    for place in places {
        match merged.last_mut().filter(|last| place.span.start < last.span.end) {
            Some(last) => {
                last.span.end = last.span.end.max(place.span.end);
                last.rule = last.rule.min(place.rule);
            }
            None => merged.push(place),
        }
    }
    Ok(merged)
}

/// Returns the text with the name of its rule in each place.
pub(crate) fn replaced(text: &str, places: &[Place], id: impl Fn(usize) -> &'static str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for place in places {
        out.push_str(&text[kept..place.span.start]);
        out.push_str("[redacted:");
        out.push_str(id(place.rule));
        out.push(']');
        kept = place.span.end;
    }
    out.push_str(&text[kept..]);
    out
}

/// Moves offsets of a text, which are in order, to where they are once its places are replaced; those in a place to its end.
pub(crate) fn moved(offsets: &mut [usize], places: &[Place], id: impl Fn(usize) -> &'static str) {
    let mut places = places.iter().peekable();
    let (mut removed, mut added, mut until) = (0, 0, 0);
    for offset in offsets {
        while let Some(place) = places.next_if(|place| place.span.start < *offset) {
            until = place.span.end;
            removed += place.span.len();
            added += id(place.rule).len() + "[redacted:]".len();
        }
        *offset = (*offset).max(until) + added - removed;
    }
}

/// Returns the parts of a range that begins in a string of JSON: without the quotes and what is between strings.
///
/// ```text
/// ["-----BEGIN PRIVATE KEY-----", "MIIEvQ…", "QEFAAS…"]
///                             ^^^^^^^^^^^^^^^^^^^^^^^^    the range
///                                  ^^^^^^^    ^^^^^^^     its parts
/// ```
fn parts(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let span = whole(text, span);
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let mut start = Some(span.start);
    let mut escaped = is_escaped(bytes, span.start);
    for quote in span.clone() {
        let is_quote = bytes[quote] == b'"' && !escaped;
        escaped = bytes[quote] == b'\\' && !escaped;
        if !is_quote {
            continue;
        }
        start = match start {
            Some(start) => {
                parts.push(start..quote);
                None
            }
            None => Some(quote + 1),
        };
    }
    parts.extend(start.map(|start| start..span.end));
    parts.retain(|part| part.start == span.start || part.len() >= SHORTEST_SECRET_PART);
    parts
}

/// Extends a range to whole characters and whole escapes of JSON.
fn whole(text: &str, span: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let Range { mut start, mut end } = span;
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    if let Some(escape) = escape_around(bytes, start) {
        start = escape.start;
    }
    if let Some(escape) = escape_around(bytes, end) {
        end = escape.end;
    }
    // The halves of a character outside the first plane stay together.
    let is_low = |at: usize| matches!(bytes.get(at..).and_then(unit), Some(0xdc00..0xe000));
    let is_high = |at: usize| matches!(bytes.get(at..).and_then(unit), Some(0xd800..0xdc00)) && is_escape(bytes, at);
    if start >= 6 && is_low(start) && is_high(start - 6) {
        start -= 6;
    }
    if end >= 6 && is_low(end) && is_high(end - 6) {
        end += 6;
    }
    start..end
}

/// Returns the escape that begins before an offset and ends after it.
fn escape_around(text: &[u8], at: usize) -> Option<Range<usize>> {
    let near = &text[at.saturating_sub(5)..at];
    let backslash = at - near.len() + near.iter().rposition(|byte| *byte == b'\\')?;
    if !is_escape(text, backslash) {
        return None;
    }
    let length = if unit(&text[backslash..]).is_some() { 6 } else { 2 };
    let mut end = (backslash + length).min(text.len());
    while end < text.len() && text[end] & 0xc0 == 0x80 {
        end += 1;
    }
    (end > at).then_some(backslash..end)
}

/// Returns whether an escape begins at this backslash: it is not escaped itself.
fn is_escape(text: &[u8], at: usize) -> bool {
    text[at] == b'\\' && !is_escaped(text, at)
}

/// Returns whether an odd number of backslashes comes before an offset.
fn is_escaped(text: &[u8], at: usize) -> bool {
    backslashes(text, at) % 2 == 1
}

/// Returns the number of backslashes before an offset.
fn backslashes(text: &[u8], at: usize) -> usize {
    text[..at].iter().rev().take_while(|byte| **byte == b'\\').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_to_whole_escapes() {
        for (text, part, expected) in [
            (r#""a\npm_x""#, "npm_x", r"\npm_x"),
            (r#""a\\npm_x""#, "npm_x", "npm_x"),
            (r#""\u123eyJ""#, "eyJ", r"\u123eyJ"),
            (r#""ab\"cd""#, r"ab\", r#"ab\""#),
            (r#""ab","cd""#, r#"ab","cd"#, "ab"),
            (r#""a\\","cd""#, r#"a\\","#, r"a\\"),
            (r#""\ud83d\ude00x""#, "de00x", r"\ud83d\ude00x"),
            (r#""x\ud83d\ude00""#, r"x\ud8", r"x\ud83d\ude00"),
            ("aéb", "a", "a"),
        ] {
            let start = text.find(part).unwrap();
            assert_eq!(&text[parts(text, start..start + part.len())[0].clone()], expected, "{text}");
        }
        assert_eq!(whole("aéb", 2..2), 1..3);
    }

    #[test]
    fn parts_are_in_strings() {
        let text = r#"["begin","0123456789abcdef\"","short","0123456789abcdef"]"#;
        let parts: Vec<_> = parts(text, 2..text.len() - 2).into_iter().map(|part| &text[part]).collect();
        assert_eq!(parts, ["begin", r#"0123456789abcdef\""#, "0123456789abcdef"]);
    }

    #[test]
    fn ranges_that_overlap_are_one() {
        let place = |span, rule| Place { span, rule };
        let places = vec![place(4..8, 3), place(0..5, 7), place(8..9, 1), place(3..3, 0)];
        let merged = merged("0123456789", places, &mut Work::of(10)).unwrap();
        assert_eq!(merged, [place(0..8, 3), place(8..9, 1)]);
        assert_eq!(replaced("0123456789", &merged, |_| "x"), "[redacted:x][redacted:x]9");
    }
}
