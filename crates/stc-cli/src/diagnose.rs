//! The message for a rejected input: what was expected, where, and the line with a caret under the place.
//!
//! The line may be gigabytes long, contain control characters, or not be text. Only an excerpt around the caret is shown,
//! and only characters that are safe on a terminal.

use std::fmt::Write;

use stc::{Error, ErrorKind, Expected};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::style::Style;
use crate::trail::Place;

/// The maximum number of terminal cells shown before and after the caret.
const CELLS_BEFORE: usize = 56;
const CELLS_AFTER: usize = 32;

/// The description of a rejected input.
#[derive(Debug)]
pub(crate) struct Diagnosis {
    name: String,
    message: String,
    offset: u64,
    spot: Option<Spot>,
    help: Vec<String>,
}

/// The shown excerpt of the line with the offending byte.
#[derive(Debug)]
struct Spot {
    line: u64,
    column: u64,
    before: String,
    after: String,
}

impl Diagnosis {
    /// Describes an error of the codec in the input called `name`; without a place if its bytes are no longer available.
    pub(crate) fn new(name: &str, error: Error, place: Option<Place<'_>>) -> Self {
        let mut message = error.kind().to_string();
        if let (ErrorKind::Syntax(_) | ErrorKind::Count(_), Some(place)) = (error.kind(), place) {
            let _ = write!(message, ", found {}", found(place.after));
        }
        let mut diagnosis = Self::with_message(name, message, error.offset(), place);
        diagnosis.help.extend(limit(error.kind()).map(str::to_owned));
        diagnosis.help.extend(place.and_then(|place| mistaken(error.kind(), place)).map(str::to_owned));
        diagnosis
    }

    /// Describes any other fault of the input called `name`.
    pub(crate) fn with_message(name: &str, message: String, offset: u64, place: Option<Place<'_>>) -> Self {
        let spot = place.map(|place| Spot {
            line: place.line,
            column: place.column,
            before: excerpt_before(place.before),
            after: excerpt_after(place.after),
        });
        Self { name: name.to_owned(), message, offset, spot, help: Vec::new() }
    }

    /// Adds a line of help.
    pub(crate) fn with_help(mut self, help: String) -> Self {
        self.help.push(help);
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns line and column, counted from 1.
    pub(crate) fn position(&self) -> Option<(u64, u64)> {
        self.spot.as_ref().map(|spot| (spot.line, spot.column))
    }

    /// Formats message and place on one line, without the name and the excerpt.
    pub(crate) fn in_one_line(&self) -> String {
        match self.position() {
            Some((line, column)) => format!("{} at {line}:{column} (byte {})", self.message, self.offset),
            None => format!("{} at byte {}", self.message, self.offset),
        }
    }

    /// Formats the whole diagnosis on several lines, with a final line feed.
    pub(crate) fn render(&self, style: Style) -> String {
        let mut text = format!("{}: {}\n", style.error("error"), self.message);
        let gutter = self.gutter();
        let _ = write!(text, "{:gutter$}{} {}", "", style.frame("-->"), visible(self.name.as_bytes()));
        if let Some((line, column)) = self.position() {
            let _ = write!(text, ":{line}:{column}");
        }
        let _ = writeln!(text, " (byte {})", self.offset);
        text + &self.details(style)
    }

    /// Formats the excerpt and the help, without message and place, with a final line feed.
    pub(crate) fn details(&self, style: Style) -> String {
        let mut text = String::new();
        let gutter = self.gutter();
        if let Some(Spot { line, before, after, .. }) = &self.spot {
            let bar = style.frame("|");
            let _ = writeln!(text, "{:gutter$} {bar}", "");
            let _ = writeln!(text, "{} {bar} {before}{after}", style.frame(&line.to_string()));
            let _ = writeln!(text, "{:gutter$} {bar} {:cells$}{}", "", "", style.error("^"), cells = before.width());
        }
        for help in &self.help {
            let _ = writeln!(text, "{:gutter$} {} help: {help}", "", style.frame("="));
        }
        text
    }

    /// Returns the width of the line number.
    fn gutter(&self) -> usize {
        self.spot.as_ref().map_or(1, |spot| spot.line.to_string().len())
    }
}

/// Returns the flag that sets a limit.
fn limit(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::Depth => "--max-depth sets this limit",
        ErrorKind::Input => "--max-input sets this limit",
        ErrorKind::Output => "--max-output sets this limit",
        ErrorKind::Ratio => "--max-ratio sets this limit, and --ratio-after the output size from which it applies",
        ErrorKind::Columns => "--max-columns sets this limit",
        ErrorKind::Header => "--max-header sets this limit",
        ErrorKind::Row => "--max-row sets this limit",
        ErrorKind::Anchors => "--max-anchors sets this limit",
        _ => return None,
    })
}

/// Returns a hint where the place shows what was probably meant.
fn mistaken(kind: ErrorKind, place: Place<'_>) -> Option<&'static str> {
    match kind {
        ErrorKind::Syntax(_) if place.after.starts_with(BYTE_ORDER_MARK) => Some(
            "this is a byte order mark (BOM), which neither JSON nor STC allows: remove these three bytes, \
             at the start of a file with tail -c +4",
        ),
        ErrorKind::Syntax(expected) | ErrorKind::Count(expected) if ends_line_with_crlf(expected, place) => {
            Some("the lines end with CRLF, and those of STC with a line feed alone: remove the CRs with tr -d '\\r'")
        }
        ErrorKind::Truncated(Expected::LineFeed) => {
            Some("the last line feed of a table is part of STC 2: the text was cut here, or a program has trimmed it")
        }
        // Only a JSON reader expects these, or ends a document at the brace of a columnar header.
        ErrorKind::Syntax(expected) if looks_like_stc(expected, place) => {
            Some("this looks like STC; did you mean stc decode (or, to check it, stc check --stc)?")
        }
        // A byte was rejected; if the excerpt is empty, that byte is the line feed.
        ErrorKind::Syntax(Expected::Cell) | ErrorKind::Count(_) if matches!(place.after, [] | [b'\r', ..]) => {
            let on_one_line = place.before.windows(2).any(|two| two == b"}:");
            Some(if on_one_line {
                "a columnar header on one line allows no line break before its last cell"
            } else {
                "this row has fewer cells than its header has columns"
            })
        }
        ErrorKind::Count(Expected::LineFeed) if place.after.starts_with(b"/") => {
            Some("after a header that ends its line, every row has its own line; ' / ' separates rows on one line")
        }
        _ => None,
    }
}

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns whether the place is the CR of a CRLF that ends a line of a table, its header or a definition.
fn ends_line_with_crlf(expected: Expected, place: Place<'_>) -> bool {
    // After the colon of a header, a cell is expected or the end of the line.
    let after_header = expected == Expected::Cell && place.before.ends_with(b":");
    place.after == b"\r" && (expected == Expected::LineFeed || after_header)
}

/// Returns whether the text at the place is STC that JSON does not allow: `{key`, `{"a key"[2]:`, `[2]{key`, `{2}{key`, `$a`, `@a{`, `&a`.
fn looks_like_stc(expected: Expected, place: Place<'_>) -> bool {
    let starts_bare = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    match expected {
        Expected::QuotedKey | Expected::QuotedKeyOrClose => {
            starts_bare(place.after.first()) || begins_with_count(place.after)
        }
        Expected::Value | Expected::ValueOrClose => {
            let names = place.after.get(1).is_some_and(u8::is_ascii_lowercase);
            matches!(place.after.first(), Some(b'$' | b'@' | b'&' | b'*')) && names
        }
        Expected::Colon => place.after.starts_with(b"["),
        Expected::End | Expected::CommaOrBrace | Expected::CommaOrBracket => {
            place.after.starts_with(b"{") && starts_bare(place.after.get(1)) && ends_with_count(place.before)
        }
        _ => false,
    }
}

/// Returns whether the text begins like a keyed table after its first brace: `12}{`.
fn begins_with_count(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && text[0] != b'0' && text[digits..].starts_with(b"}{")
}

/// Returns whether the text ends like `[12]`.
fn ends_with_count(text: &[u8]) -> bool {
    let Some(text) = text.strip_suffix(b"]") else { return false };
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (text, digits) = text.split_at(text.len() - digits);
    text.ends_with(b"[") && digits.first().is_some_and(|&first| first != b'0')
}

/// Describes the first character of a text.
fn found(after: &[u8]) -> String {
    let head = &after[..after.len().min(4)];
    match head.utf8_chunks().next() {
        None => "the end of the line".to_owned(),
        Some(chunk) => match chunk.valid().chars().next() {
            None => format!("the byte 0x{:02X}", head[0]),
            Some('\'') => "\"'\"".to_owned(),
            Some(character) if shown(character) == character && character != '\u{FFFD}' => format!("'{character}'"),
            Some(character) => format!("U+{:04X}", u32::from(character)),
        },
    }
}

/// Returns the end of the line before the caret, at most [`CELLS_BEFORE`] cells.
fn excerpt_before(bytes: &[u8]) -> String {
    // A character has at most four bytes, so this is enough unless many of them have no width.
    let tail = &bytes[boundary(bytes, bytes.len().saturating_sub(4 * (CELLS_BEFORE + 1)))..];
    let text = visible(tail);
    let mut cells = 0;
    for (at, character) in text.char_indices().rev() {
        cells += character.width().unwrap_or(0);
        if cells > CELLS_BEFORE {
            return format!("…{}", &text[at + character.len_utf8()..]);
        }
    }
    if tail.len() < bytes.len() { format!("…{text}") } else { text }
}

/// Returns the beginning of the line after the caret, at most [`CELLS_AFTER`] cells.
fn excerpt_after(bytes: &[u8]) -> String {
    let head = &bytes[..boundary(bytes, bytes.len().min(4 * (CELLS_AFTER + 1)))];
    let text = visible(head);
    let mut cells = 0;
    for (at, character) in text.char_indices() {
        cells += character.width().unwrap_or(0);
        if cells > CELLS_AFTER {
            return format!("{}…", &text[..at]);
        }
    }
    if head.len() < bytes.len() { format!("{text}…") } else { text }
}

/// Returns `at`, or the end of the character that contains it.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let continued = bytes[at..].iter().take(3).take_while(|&&byte| byte & 0xC0 == 0x80).count();
    at + continued
}

/// Converts bytes to text that is safe on a terminal.
pub(crate) fn visible(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.extend(chunk.valid().chars().map(shown));
        if !chunk.invalid().is_empty() {
            text.push('\u{FFFD}');
        }
    }
    text
}

/// Replaces characters that would move the cursor, ring the bell, or change the direction of the text.
fn shown(character: char) -> char {
    match character {
        '\t' => ' ',
        '\0'..='\x1F' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{FFFD}'),
        '\x7F' => '\u{2421}',
        '\u{80}'..='\u{9F}' | '\u{2028}' | '\u{2029}' => '\u{FFFD}',
        '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' => '\u{FFFD}',
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caret(text: &[u8], offset: u64) -> (String, usize) {
        let place = Place::within(text, offset);
        let (before, after) = (excerpt_before(place.before), excerpt_after(place.after));
        (format!("{before}{after}"), before.width())
    }

    #[test]
    fn the_caret_is_under_the_place() {
        assert_eq!(caret(b"[1,,2]", 3), ("[1,,2]".to_owned(), 3));
        assert_eq!(caret("[\"日本\" x".as_bytes(), 10), ("[\"日本\" x".to_owned(), 8));
        assert_eq!(caret(b"a\n\tb\x01", 4), (" b␁".to_owned(), 2));
        assert_eq!(caret(b"\"\xFFz\"", 1), ("\"\u{FFFD}z\"".to_owned(), 1));
        assert_eq!(caret(b"", 0), (String::new(), 0));
    }

    #[test]
    fn long_lines_are_cut() {
        let line = "日".repeat(10_000);
        let (shown, cells) = caret(line.as_bytes(), 15_000);
        assert_eq!(cells, CELLS_BEFORE + 1);
        assert!(shown.starts_with("…日") && shown.ends_with("日…"));
        assert!(shown.width() <= CELLS_BEFORE + CELLS_AFTER + 2);
        let combining = "e\u{301}\u{301}\u{301}".repeat(1000);
        assert!(caret(combining.as_bytes(), 3500).0.width() <= CELLS_BEFORE + CELLS_AFTER + 2);
    }

    #[test]
    fn nothing_shown_can_move_the_cursor() {
        let all: String = ('\0'..='\u{FFFF}').collect();
        assert!(visible(all.as_bytes()).chars().all(|character| !character.is_control()));
        assert_eq!(found(b"\x1B[31m"), "U+001B");
        assert_eq!(found(b"\xC3("), "the byte 0xC3");
        assert_eq!(found("é".as_bytes()), "'é'");
        assert_eq!(found(b""), "the end of the line");
    }
}
