//! Lines of a log that differ only in times, durations, addresses and ids.
//!
//! ```text
//! 10:00:01.120 poll ok in 12ms            [×3, values differ] 10:00:01.120 poll ok in 12ms
//! 10:00:02.133 poll ok in 9ms       ->
//! 10:00:03.141 poll ok in 11ms
//! ```
//!
//! Three lines or more that follow each other, or cycles of up to four lines. Lost are the values of all lines but the first.

use crate::fold::fold_by;
use stc_wire::budget::charge_bytes;
use std::borrow::Cow;

/// Writes lines that differ only in such values once, with their number; `None` if there are none.
#[must_use]
pub fn noise(text: &str) -> Option<String> {
    fold_by(text, masked, ", values differ")
}

/// The fewest digits of an id that is a number to base 16.
const ID: usize = 32;

/// Returns a line with one character for every value that may differ.
fn masked(line: &str) -> Cow<'_, str> {
    let bytes = line.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        let starts = bytes[at].is_ascii_hexdigit() && (at == 0 || !is_word(bytes[at - 1]));
        // Only where one starts: to look for the end of a run of digits at each of them would take the square of its length.
        match starts.then(|| value(&bytes[at..])).flatten() {
            Some(length) => {
                out.push_str(&line[copied..at]);
                out.push('\u{1}');
                at += length;
                copied = at;
            }
            None => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(&line[copied..]);
    Cow::Owned(out)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the length of the value at the start of a text.
fn value(text: &[u8]) -> Option<usize> {
    charge_bytes(0);
    let ends = |length: &usize| !text.get(*length).copied().is_some_and(is_word);
    address(text).or_else(|| time(text)).or_else(|| duration(text)).or_else(|| id(text)).filter(ends)
}

fn digits(text: &[u8], from: usize) -> usize {
    run(text, from, u8::is_ascii_digit)
}

/// Returns the number of bytes from `from` on that `is` accepts.
fn run(text: &[u8], from: usize, is: impl Fn(&u8) -> bool) -> usize {
    let length = text.get(from..).unwrap_or_default().iter().take_while(|byte| is(byte)).count();
    charge_bytes(length);
    length
}

/// Returns the length of an address: `0x7ffd12ab`, or `10.0.0.7:8080`.
fn address(text: &[u8]) -> Option<usize> {
    if text.starts_with(b"0x") {
        let length = run(text, 2, u8::is_ascii_hexdigit);
        return (length > 0).then_some(2 + length);
    }
    let mut at = 0;
    for part in 0..4 {
        let length = digits(text, at);
        if !(1..=3).contains(&length) || (part < 3 && text.get(at + length) != Some(&b'.')) {
            return None;
        }
        at += length + usize::from(part < 3);
    }
    let port = if text.get(at) == Some(&b':') { digits(text, at + 1) } else { 0 };
    Some(if port > 0 { at + 1 + port } else { at })
}

/// Returns the length of a date, a time or both: `2026-11-18T10:00:01.120Z`, `18/Nov/2026:10:00:01 +0000`, `10:00:01,120`.
fn time(text: &[u8]) -> Option<usize> {
    let date = match text {
        [_, _, _, _, b'-' | b'/', _, _, b'-' | b'/', _, _, ..]
            if digits(text, 0) == 4 && digits(text, 5) == 2 && digits(text, 8) == 2 =>
        {
            10
        }
        [_, _, b'/', _, _, _, b'/', _, _, _, _, ..] if digits(text, 0) == 2 && digits(text, 7) == 4 => 11,
        _ => 0,
    };
    let start = match text.get(date) {
        Some(b'T' | b' ' | b':') if date > 0 => date + 1,
        _ => date,
    };
    let clock = clock(&text[start..]).map_or(date, |length| start + length);
    (clock > 0).then_some(clock)
}

/// Returns the length of a time of day with its zone.
fn clock(text: &[u8]) -> Option<usize> {
    let is_clock = digits(text, 0) == 2
        && text.get(2) == Some(&b':')
        && digits(text, 3) == 2
        && text.get(5) == Some(&b':')
        && digits(text, 6) == 2;
    let mut at = is_clock.then_some(8)?;
    if matches!(text.get(at), Some(b'.' | b',')) && digits(text, at + 1) > 0 {
        at += 1 + digits(text, at + 1);
    }
    let zone = text.get(at..).unwrap_or_default();
    let zone = zone.strip_prefix(b" ").filter(|zone| matches!(zone.first(), Some(b'+' | b'-'))).unwrap_or(zone);
    let skipped = text.len() - at - zone.len();
    match zone {
        [b'Z', ..] => at += 1,
        [b'+' | b'-', ..] if digits(zone, 1) == 4 => at += skipped + 5,
        [b'+' | b'-', _, _, b':', ..] if digits(zone, 1) == 2 && digits(zone, 4) == 2 => at += skipped + 6,
        _ => {}
    }
    Some(at)
}

/// Returns the length of a duration: `12ms`, `1.5s`, `3 ms`.
fn duration(text: &[u8]) -> Option<usize> {
    let mut at = digits(text, 0);
    if at == 0 {
        return None;
    }
    if text.get(at) == Some(&b'.') && digits(text, at + 1) > 0 {
        at += 1 + digits(text, at + 1);
    }
    let rest = &text[at..];
    let unit_of = |rest: &[u8]| {
        let units: [&str; 9] = ["ns", "µs", "us", "ms", "sec", "seconds", "s", "m", "h"];
        let fits =
            |unit: &&&str| rest.starts_with(unit.as_bytes()) && !rest.get(unit.len()).copied().is_some_and(is_word);
        units.iter().find(fits).map(|unit| unit.len())
    };
    let spaced = rest.strip_prefix(b" ").and_then(unit_of).filter(|length| *length > 1).map(|length| length + 1);
    unit_of(rest).or(spaced).map(|unit| at + unit)
}

/// Returns the length of an id to base 16: 32 digits or more, or in groups of 8, 4, 4, 4 and 12.
fn id(text: &[u8]) -> Option<usize> {
    let run = |from: usize| run(text, from, u8::is_ascii_hexdigit);
    let first = run(0);
    if first >= ID {
        return Some(first);
    }
    let mut at = 8;
    if first != 8 {
        return None;
    }
    for length in [4, 4, 4, 12] {
        if text.get(at) != Some(&b'-') || run(at + 1) != length {
            return None;
        }
        at += 1 + length;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_may_differ() {
        for (line, expected) in [
            ("2026-11-18T10:00:01.120Z GET /", "\u{1} GET /"),
            ("2026-11-18 10:00:01,120 INFO x", "\u{1} INFO x"),
            ("[18/Nov/2026:10:00:01 +0000] x", "[\u{1}] x"),
            ("10:00:01 took 1.5s, then 12 ms", "\u{1} took \u{1}, then \u{1}"),
            ("at 0x7ffd12ab from 10.0.0.7:8080", "at \u{1} from \u{1}"),
            ("id 0123456789abcdef0123456789abcdef", "id \u{1}"),
            ("id 123e4567-e89b-12d3-a456-426614174000.", "id \u{1}."),
            ("Nov 18 10:00:01 host app[3]: x", "Nov 18 \u{1} host app[3]: x"),
        ] {
            assert_eq!(masked(line), expected, "{line}");
        }
        for kept in ["version 1.2.3", "12 items", "deadbeef", "a10:00:01", "port 8080", "5 s", "é 12µ"] {
            assert_eq!(masked(kept), kept);
        }
    }

    #[test]
    fn lines_that_differ_in_nothing_else_are_written_once() {
        let line = |n: u32| format!("10:00:{n:02}.120 poll ok in {n}ms\n");
        let text: String = (10..30).map(line).collect::<String>() + "10:01:00 stop\n";
        let short = noise(&text).unwrap();
        assert_eq!(short, "[×20, values differ] 10:00:10.120 poll ok in 10ms\n10:01:00 stop\n");
        assert_eq!(noise(&short), None);
        assert_eq!(noise("10:00:01 a\n10:00:02 b\n10:00:03 c\n"), None);
    }
}
