//! Values that are assigned to names: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `{"name": "TOKEN", "value": "…"}`.
//!
//! ```text
//! "db_password" : "hunter2!"
//!  ^^^^^^^^^^^              the name, around the keyword
//!             ^             what closes it
//!               ^           the operator
//!                  ^^^^^^^^ the value, up to the quote that ends it
//! ```

use crate::judge::MARK;
use crate::seen::Seen;
use crate::work::{Failed, Work};
use std::ops::Range;

/// The longest part of a name on each side of its keyword.
const LONGEST_NAME: usize = 64;
/// The longest value in bytes.
const LONGEST_VALUE: usize = 1 << 10;
/// The longest block of lines in bytes.
const LONGEST_BLOCK: usize = 1 << 10;
/// The most blanks between a name and its value, and the most characters that close a name or open a value.
const MOST_BLANKS: usize = 8;
const MOST_LINES: usize = 64;
const MOST_QUOTES: usize = 8;

/// A value and its name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) name: Range<usize>,
    pub(crate) from: usize,
    pub(crate) until: usize,
    /// Whether a quote ends it.
    pub(crate) quoted: bool,
    /// Where the lines end that it is the first of.
    pub(crate) end: Option<usize>,
}

/// Returns the value that is assigned to the name around a keyword.
pub(crate) fn value(
    text: &[u8],
    keyword: Range<usize>,
    seen: &mut Seen,
    work: &mut Work,
) -> Result<Option<Value>, Failed> {
    let name_end = seen.name.end(text, keyword.end, work, |rest| !is_of_name(rest[0]))?;
    // After the first bytes of a longer name there is no operator.
    if name_end - keyword.end > LONGEST_NAME {
        return Ok(None);
    }
    let before = text[..keyword.start].iter().rev().take(LONGEST_NAME).take_while(|byte| is_of_name(**byte)).count();
    work.read(before)?;
    let name = keyword.start - before..name_end;
    if text[..name.start].ends_with(MARK) {
        return Ok(None);
    }
    let Some((at, is_pair, closing)) = operand(text, &name) else { return Ok(None) };
    let at = skip(text, at, MOST_BLANKS, is_blank);
    let Some(found) = opened(text, at, name, seen, work)? else { return Ok(None) };
    work.spend(found.name.len())?;
    // A value of JSON without quotes is no string.
    let is_bare = (text[closing].contains(&b'"') || is_pair) && found.from == at;
    // What comes after a comma may be the next name.
    let after = skip(text, found.until, MOST_QUOTES, |byte| b"\"'`\\".contains(&byte));
    let is_name = is_pair && text.get(skip(text, after, MOST_BLANKS, is_blank)) == Some(&b':');
    Ok((!is_bare && !is_name).then_some(found))
}

/// Returns what follows the operator after a name, whether that is a comma, and what closes the name.
fn operand(text: &[u8], name: &Range<usize>) -> Option<(usize, bool, Range<usize>)> {
    let closed = skip(text, name.end, MOST_QUOTES, |byte| b"\"'`])\\".contains(&byte));
    let closing = &text[name.end..closed];
    let is_quoted = closing.iter().any(|byte| b"\"'`".contains(byte));
    let at = skip(text, closed, MOST_BLANKS, is_blank);
    let rest = text.get(at..)?;
    let (at, is_pair) = match rest {
        [b':', b'=', ..] | [b'=', b'>' | b'=', ..] => (at + 2, false),
        [b':' | b'=', ..] => (at + 1, false),
        [b'>', ..] if text[..name.start].last() == Some(&b'<') => (at + 1, false),
        [b',', ..] if is_quoted => (named_value(text, at + 1).unwrap_or(at + 1), true),
        [b'\n' | b'\r', ..] => (named_value(text, at)?, false),
        [_, ..] if at > closed && text[name.clone()].starts_with(b"--") => (at, false),
        _ => return None,
    };
    Some((at, is_pair, name.end..closed))
}

/// Returns the words of a name in small letters: `nextPage_token` has three.
pub(crate) fn words(name: &[u8]) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last = b'a';
    for byte in name {
        let starts = byte.is_ascii_uppercase() && last.is_ascii_lowercase();
        if starts || !byte.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if byte.is_ascii_alphanumeric() {
            words.extend(words.is_empty().then(String::new));
            if let Some(word) = words.last_mut() {
                word.push(byte.to_ascii_lowercase().into());
            }
        }
        last = *byte;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns where the value of a pair begins whose name is the value of another pair: `"name": "TOKEN", "value": "…"`.
fn named_value(text: &[u8], at: usize) -> Option<usize> {
    let at = skip(text, at, MOST_LINES, |byte| byte.is_ascii_whitespace() || byte == b'\\');
    // Line feeds that are escaped.
    let at = skip(text, at, MOST_QUOTES, |byte| b"\"'\\".contains(&byte));
    let word = text.get(at..at + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let at = skip(text, at + 5, MOST_QUOTES, |byte| b"\"'\\".contains(&byte));
    let at = skip(text, at, MOST_BLANKS, is_blank);
    (text.get(at) == Some(&b':')).then_some(at + 1)
}

/// Returns the value that begins here, with its quote or without one.
fn opened(
    text: &[u8],
    at: usize,
    name: Range<usize>,
    seen: &mut Seen,
    work: &mut Work,
) -> Result<Option<Value>, Failed> {
    if let Some((from, until, block)) = block(text, at) {
        work.read(block - at)?;
        return Ok(Some(Value { name, from, until, quoted: false, end: Some(block) }));
    }
    let slashes = skip(text, at, MOST_QUOTES, |byte| byte == b'\\') - at;
    let quote = text.get(at + slashes).copied().filter(|byte| b"\"'`".contains(byte));
    let Some(quote) = quote else {
        let most = text.len().min(at + LONGEST_VALUE);
        let until = if at < text.len() { seen.bare.end(text, at, work, ends_bare)?.min(most) } else { at };
        return Ok((until > at).then_some(Value { name, from: at, until, quoted: false, end: None }));
    };
    let from = at + slashes + 1;
    let (until, quoted) = closed(text, from, quote, slashes > 0);
    work.read(until - from)?;
    Ok(Some(Value { name, from, until, quoted, end: None }))
}

/// Returns where a value in quotes ends, and whether a quote ends it.
fn closed(text: &[u8], from: usize, quote: u8, is_escaped: bool) -> (usize, bool) {
    let most = text.len().min(from + LONGEST_VALUE);
    let mut until = from;
    while until < most {
        match text[until] {
            b'\n' | 0 => break,
            byte if byte == quote => return (until, true),
            // The quote was escaped, so the one that ends it is too.
            b'\\' if is_escaped => return (until, true),
            b'\\' => until += 2,
            _ => until += 1,
        }
    }
    (until.min(most), false)
}

/// Returns where the first line of a block of YAML begins and ends, and where the block ends:
///
/// ```text
/// password: |
///   Tr0ub4dor        the value: the first line
///   and-3            the block goes on as long as lines are indented as the first one
/// next: 1
/// ```
fn block(text: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    text.get(at).filter(|byte| b"|>".contains(byte))?;
    let at = skip(text, at + 1, 2, |byte| b"+-".contains(&byte) || byte.is_ascii_digit());
    let at = skip(text, skip(text, at, MOST_BLANKS, is_blank), 1, |byte| byte == b'\r');
    text.get(at).filter(|byte| **byte == b'\n')?;
    let from = skip(text, at + 1, MOST_LINES, is_blank);
    let indent = &text[at + 1..from];
    let most = text.len().min(from + LONGEST_BLOCK);
    let line = |from: usize| memchr::memchr2(b'\n', 0, &text[from..most]).map_or(most, |length| from + length);
    let until = line(from);
    let mut end = until;
    while !indent.is_empty() && text[end..most].first() == Some(&b'\n') && text[end + 1..most].starts_with(indent) {
        end = line(end + 1);
    }
    let is_return = |end: usize| end - usize::from(end > from && text[end - 1] == b'\r');
    let until = is_return(until).min(from + LONGEST_VALUE);
    (!indent.is_empty() && until > from).then(|| (from, until, is_return(end)))
}

/// Returns whether a value without quotes ends here.
fn ends_bare(rest: &[u8]) -> bool {
    match rest {
        [b'\\', b'n' | b'r' | b't' | b'u' | b'"' | b'\'' | b'\\', ..] => true,
        [byte, ..] => byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"'`,;&<>".contains(byte),
        [] => true,
    }
}

fn skip(text: &[u8], at: usize, most: usize, is: impl Fn(u8) -> bool) -> usize {
    at + text.get(at..).map_or(0, |rest| rest.iter().take(most).take_while(|byte| is(**byte)).count())
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(&str, &str)> {
        let at = text.to_ascii_lowercase().find("token").unwrap();
        let value = value(text.as_bytes(), at..at + 5, &mut Seen::default(), &mut Work::of(1)).unwrap()?;
        Some((&text[value.name], &text[value.from..value.end.unwrap_or(value.until)]))
    }

    #[test]
    fn values_are_found_after_their_names() {
        for (text, name, expected) in [
            ("MY_TOKEN=abc def", "MY_TOKEN", "abc"),
            ("export TOKEN_1 = 'a b'", "TOKEN_1", "a b"),
            (r#"{"token": "a\"b", "x": 1}"#, "token", r#"a\"b"#),
            (r#""{\"token\": \"ab\"}""#, "token", "ab"),
            (r#""{\\\"token\\\": \\\"ab\\\"}""#, "token", "ab"),
            ("env[\"TOKEN\"] = `ab`", "TOKEN", "ab"),
            ("token := \"ab\"", "token", "ab"),
            ("--token ab --x", "--token", "ab"),
            ("--token=ab", "--token", "ab"),
            ("<token>ab</token>", "token", "ab"),
            (r#"{"name": "TOKEN", "value": "ab"}"#, "TOKEN", "ab"),
            ("- name: TOKEN\n  value: ab\n", "TOKEN", "ab"),
            (r#"("x-token", "ab")"#, "x-token", "ab"),
            ("?token=ab&x=1", "token", "ab"),
            (r"TOKEN=ab\nX=1", "TOKEN", "ab"),
            ("a:\n  token: |-\n    ab c\n    d\n  x: 1\n", "token", "ab c\n    d"),
            ("token: >\r\n  ab\r\nx: 1\r\n", "token", "ab"),
            ("token: |\n  ab", "token", "ab"),
        ] {
            assert_eq!(found(text), Some((name, expected)), "{text}");
        }
    }

    #[test]
    fn other_texts_have_none() {
        for text in [
            "a token is",
            "token",
            "token, value",
            r#"{"token": 12, "a": 1}"#,
            r#"["token", 12]"#,
            r#"{"a": "token", "b": 1}"#,
            "[redacted:some-token]=ab",
            "token ab",
            "token:\n  ab",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn names_have_words() {
        assert_eq!(words(b"nextPage_token-ID.x"), ["next", "page", "token", "id", "x"]);
        assert_eq!(words(b"__"), Vec::<String>::new());
    }

    #[test]
    fn every_cut_of_a_text_ends() {
        let text = br#"- {"name": "TOKEN", "value": "a\"b"} --token ab <token>x"#;
        for end in 0..text.len() {
            for start in 0..end {
                for length in 1..=(end - start).min(6) {
                    let _ = value(&text[..end], start..start + length, &mut Seen::default(), &mut Work::of(1));
                }
            }
        }
    }
}
