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
use std::ops::Range;

/// The longest part of a name on each side of its keyword.
const LONGEST_NAME: usize = 64;
/// The longest value in bytes.
const LONGEST_VALUE: usize = 1 << 10;
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
}

/// Returns the value that is assigned to the name around a keyword.
pub(crate) fn value(text: &[u8], keyword: Range<usize>) -> Option<Value> {
    let before = text[..keyword.start].iter().rev().take(LONGEST_NAME).take_while(|byte| is_of_name(**byte)).count();
    let after = text[keyword.end..].iter().take(LONGEST_NAME).take_while(|byte| is_of_name(**byte)).count();
    let name = keyword.start - before..keyword.end + after;
    if text[..name.start].ends_with(MARK) {
        return None;
    }
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
    let at = skip(text, at, MOST_BLANKS, is_blank);
    let found = opened(text, at, name)?;
    // A value of JSON without quotes is no string.
    let is_bare = (closing.contains(&b'"') || is_pair) && found.from == at;
    // What comes after a comma may be the next name.
    let after = skip(text, found.until, MOST_QUOTES, |byte| b"\"'`\\".contains(&byte));
    let is_name = is_pair && text.get(skip(text, after, MOST_BLANKS, is_blank)) == Some(&b':');
    (!is_bare && !is_name).then_some(found)
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
fn opened(text: &[u8], at: usize, name: Range<usize>) -> Option<Value> {
    let slashes = skip(text, at, MOST_QUOTES, |byte| byte == b'\\') - at;
    let quote = text.get(at + slashes).copied().filter(|byte| b"\"'`".contains(byte));
    let Some(quote) = quote else {
        let until = text.len().min(at + LONGEST_VALUE);
        let length = (at..until).find(|at| ends_bare(&text[*at..])).unwrap_or(until) - at;
        return (length > 0).then_some(Value { name, from: at, until: at + length, quoted: false });
    };
    let from = at + slashes + 1;
    let most = text.len().min(from + LONGEST_VALUE);
    let mut until = from;
    while until < most {
        match text[until] {
            b'\n' | 0 => break,
            byte if byte == quote => return Some(Value { name, from, until, quoted: true }),
            // The quote was escaped, so the one that ends it is too.
            b'\\' if slashes > 0 => return Some(Value { name, from, until, quoted: true }),
            b'\\' => until += 2,
            _ => until += 1,
        }
    }
    Some(Value { name, from, until: until.min(most), quoted: false })
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
        let value = value(text.as_bytes(), at..at + 5)?;
        Some((&text[value.name], &text[value.from..value.until]))
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
                    let _ = value(&text[..end], start..start + length);
                }
            }
        }
    }
}
