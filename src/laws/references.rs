//! Laws about what references may cut: documents made so that a template, a dictionary entry, an anchor or a splice has every
//! chance to cut in a wrong place, or to pass a limit by one.

use super::codec::{STC2 as REFERENCES, minify, round_trip};
use super::limits::{SetLimit, encoded, lowest};
use crate::{Decoder, Limits};

/// A beginning of a string's body and what may follow it: each pair is valid, but for most the beginning alone is not. The
/// second part is the value of another column, so that a template would have to cut between the two.
const CUTS: [(&str, &[&str]); 16] = [
    ("", &["1", "22", "x", r"\n", r"\u0041", "é", "😀"]),
    (r"\u004", &["1", "2", "a", "F"]),
    (r"\u00", &["41", "42", "5a"]),
    (r"\u0", &["041", "042"]),
    (r"\u", &["0041", "0042"]),
    ("\\", &["n", "t", "u0041", "/"]),
    (r"\\", &["n", "u0041", r"\\", r#"\""#]),
    (r"\\\", &["n", "t"]),
    (r#"\""#, &["1", r#"\""#]),
    (r"\ud83d", &[r"\ude00", r"\ude01"]),
    (r"\ud83d\ude0", &["0", "1"]),
    ("$", &["{id}", "1", "{", "$"]),
    ("${", &["id}", "id", "}"]),
    ("${id}", &["1", "2"]),
    ("é", &["é", "1"]),
    ("😀$", &["😀", "{x}"]),
];

/// Beginnings of addresses, some with a `/` that is part of an escape.
const ADDRESSES: [&str; 6] = [
    "https://example.org/users/some/one",
    r"https:\/\/example.org\/users\/some\/one",
    r"https://example.org/users\\/some\u002fone",
    r"https://example.org/\u0041/\ud83d\ude00/one",
    "arn:aws:s3:::a-bucket/é/😀/one",
    r#"https://example.org/\"quoted\"/\\\\/one"#,
];

/// Encodes a document made of these choices with references, and requires that it comes back: with the default limits, and
/// with each limit as low as a decoder of that text needs it, one lower and one higher. Returns the text.
pub fn references_cut_cleanly(choices: &[u8]) -> Vec<u8> {
    let json = document(&mut Choices { bytes: choices, at: 0 });
    let stc = round_trip(json.as_bytes(), REFERENCES)
        .unwrap_or_else(|error| panic!("the document is JSON, but: {error}\n  {json}"));
    let minified = minify(json.as_bytes());
    for set in LIMITS {
        let lowest = lowest_accepted(&stc, set);
        for value in [lowest.saturating_sub(1), lowest, lowest + 1] {
            let options = REFERENCES.limits(set(Limits::DEFAULT, value));
            let Ok(stc) = encoded(json.as_bytes(), options) else { continue };
            let back = Decoder::with_options(options).decode(&stc).map(<[u8]>::to_vec);
            assert_eq!(back.as_ref(), Ok(&minified), "{options:?}\n  {}", stc.escape_ascii());
        }
    }
    stc
}

/// Requires of a document made of these choices that the encoder writes an anchor exactly where a decoder with the same limit
/// accepts it: the lowest limit that leaves the encoder's text as it is, is the lowest limit with which a decoder accepts that
/// text. Returns that limit.
pub fn anchors_use_their_whole_limit(choices: &[u8]) -> usize {
    let json = equal_containers(&mut Choices { bytes: choices, at: 0 });
    let anchors = |value| REFERENCES.limits(Limits::DEFAULT.anchors(value));
    let unlimited = encoded(json.as_bytes(), REFERENCES).expect("JSON");
    let accepted = lowest_accepted(&unlimited, |limits, value| limits.anchors(value));
    let written = lowest(|value| encoded(json.as_bytes(), anchors(value)).as_ref() == Ok(&unlimited));
    assert_eq!(written, accepted, "{}", unlimited.escape_ascii());
    accepted
}

/// Limits that an encoder of version 2 keeps so that a decoder with the same limits accepts its text.
const LIMITS: [SetLimit; 7] = [
    |limits, value| limits.anchors(value),
    |limits, value| limits.header(value),
    |limits, value| limits.columns(value),
    |limits, value| limits.row(value),
    |limits, value| limits.depth(value),
    // With a ratio of zero a decoder accepts nothing.
    |limits, value| limits.ratio_after(0).ratio(value.max(1) as u64),
    |limits, value| limits.ratio_after(value as u64).ratio(2),
];

/// Returns the lowest value of a limit with which a decoder accepts a text.
fn lowest_accepted(stc: &[u8], set: SetLimit) -> usize {
    lowest(|value| Decoder::with_options(REFERENCES.limits(set(Limits::DEFAULT, value))).decode(stc).is_ok())
}

/// Choices read from bytes; zero after the last.
struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Choices<'_> {
    /// Returns a number below `count`.
    fn below(&mut self, count: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % count
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Returns a document whose parts repeat: a table with a template, spliced objects, addresses, and equal containers.
fn document(choices: &mut Choices<'_>) -> String {
    let mut parts: Vec<String> = Vec::new();
    for number in 0..1 + choices.below(4) {
        let part = match choices.below(5) {
            0 => template_rows(choices),
            1 => addresses(choices),
            2 => equal_containers(choices),
            3 => filled_rows(choices),
            _ => spliced_rows(choices),
        };
        parts.push(format!(r#""part {number}":{part}"#));
    }
    format!("{{{}}}", parts.join(","))
}

/// Rows in which one column is another with text around it.
fn template_rows(choices: &mut Choices<'_>) -> String {
    let (before, values) = choices.one_of(&CUTS);
    let (around, after) = (choices.one_of(&["", "a long beginning of a text ", r"\\", "$"]), choices.below(CUTS.len()));
    let after = if CUTS[after].1.contains(&"1") { CUTS[after].0 } else { " and an end" };
    // Whole beginnings only: what comes after the value is not completed by another.
    let after = if after.ends_with('\\') || after.contains(r"\u") { "" } else { after };
    let (as_number, reversed) = (choices.below(2) == 0, choices.below(4) == 0);
    let row = |choices: &mut Choices<'_>| {
        let value = choices.one_of(values);
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit()) && !value.starts_with('0');
        let id = if as_number && is_number { value.to_owned() } else { format!("\"{value}\"") };
        let text = format!("\"{around}{before}{value}{after}\"");
        if reversed { format!(r#"{{"text":{text},"id":{id}}}"#) } else { format!(r#"{{"id":{id},"text":{text}}}"#) }
    };
    let rows: Vec<String> = (0..2 + choices.below(6)).map(|_| row(choices)).collect();
    format!("[{}]", rows.join(","))
}

/// Rows in which the strings of a column begin and end alike, but for some that do not, that no word is left of, or that are no
/// strings.
fn filled_rows(choices: &mut Choices<'_>) -> String {
    let start = choices.one_of(&["2026-05-", "https://example.org/items/", "a text é", "$", "${", r"a longer \", ""]);
    let end = choices.one_of(&["Z", "/an/end/of/it", r"\ at the end", "7", "}", "${x}", "é", ""]);
    let (before, values) = choices.one_of(&CUTS);
    let (numbers, others, nested) = (choices.below(6) == 0, choices.below(3) == 0, choices.below(3));
    let row = |choices: &mut Choices<'_>, number: usize| {
        let word = match choices.below(12) {
            0 => "null".to_owned(),
            1 => String::new(),
            2 => "two words".to_owned(),
            3..6 => format!("{before}{}", choices.one_of(values)),
            6 => format!("@{number}"),
            _ => format!("{number}T0{number}:00"),
        };
        let value = match choices.below(10) {
            0 if others => r#""another""#.to_owned(),
            1 if others => "null".to_owned(),
            2 if others => r#"["1",{"at":2}]"#.to_owned(),
            3 if numbers => number.to_string(),
            _ => format!("\"{start}{word}{end}\""),
        };
        match nested {
            0 => format!(r#"{{"id":{number},"of":{{"at":{value},"n":{number}}}}}"#),
            1 if number % 3 == 2 => format!(r#"{{"id":{number}}}"#),
            _ => format!(r#"{{"id":{number},"at":{value}}}"#),
        }
    };
    let rows: Vec<String> = (0..2 + choices.below(7)).map(|number| row(choices, number)).collect();
    format!("[{}]", rows.join(","))
}

/// Strings that share their beginnings.
fn addresses(choices: &mut Choices<'_>) -> String {
    let mut strings = Vec::new();
    for _ in 0..1 + choices.below(3) {
        let address = choices.one_of(&ADDRESSES);
        let end = choices.below(4);
        for number in 0..3 + choices.below(4) {
            strings.push(match end {
                0 => format!("\"{address}\""),
                1 => format!("\"{address}/{number}\""),
                2 => format!("\"{address}\\u004{number}/\\\\{number}\""),
                _ => format!("\"{address}\\/{number}/\\\"\""),
            });
        }
    }
    format!("[{}]", strings.join(","))
}

/// Containers that occur more than once, in arrays and in rows.
fn equal_containers(choices: &mut Choices<'_>) -> String {
    let mut values = Vec::new();
    for number in 0..1 + choices.below(3) {
        let filling = "x".repeat(20 + choices.below(30));
        let (before, ends) = choices.one_of(&CUTS);
        let inner = format!(r#"{{"name":"{before}{}","number":1{number}23456789,"of":"{filling}"}}"#, ends[0]);
        let value = match choices.below(3) {
            0 => inner,
            1 => format!("[1,2,3,{inner},{inner}]"),
            _ => format!(r#"{{"in":{inner},"more":[{inner}]}}"#),
        };
        for _ in 0..1 + choices.below(3) {
            values.push(value.clone());
            values.push(number.to_string());
        }
    }
    format!("[{}]", values.join(","))
}

/// Rows with an object in each, which may be equal to others, lack keys or have empty cells.
fn spliced_rows(choices: &mut Choices<'_>) -> String {
    let row = |choices: &mut Choices<'_>, number: usize| {
        let (before, ends) = choices.one_of(&CUTS);
        let end = choices.one_of(ends);
        let inner = match choices.below(4) {
            0 => r#"{"x":1,"y":{"u":"the same text in all of them","v":2}}"#.to_owned(),
            1 => format!(r#"{{"x":{number},"y":{{"u":"{before}{end}"}}}}"#),
            2 => format!(r#"{{"x":{number},"y":{{"u":"{before}{end}","v":{number}}}}}"#),
            _ => format!(r#"{{"y":{{"v":{number}}}}}"#),
        };
        format!(r#"{{"id":{number},"at":{inner},"kind":"one of a kind"}}"#)
    };
    let rows: Vec<String> = (0..2 + choices.below(6)).map(|number| row(choices, number)).collect();
    format!("[{}]", rows.join(","))
}
