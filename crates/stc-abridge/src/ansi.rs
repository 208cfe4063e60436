//! Escape sequences of terminals.
//!
//! Removed are control sequences (`ESC [ 31 m`), strings for the terminal (titles and links: `ESC ] ... BEL`), two-byte escapes,
//! and the same as single characters (U+0080 to U+009F). Tabs and line ends stay. Lost is what a terminal does not print:
//! colours, positions, titles, the addresses of links; and, if the caller says so, what a line showed before it was written
//! over.

use crate::lines::lines;
use memchr::{memchr, memchr2, memchr3};
use stc_wire::budget::charge_bytes;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
/// The first byte of U+0080 to U+00BF.
const LEAD: u8 = 0xc2;

/// Removes escape sequences; with `overwritten`, also what a line showed before a carriage return began it anew. `None` if there are none.
#[must_use]
pub fn ansi(text: &str, overwritten: bool) -> Option<String> {
    let plain = escapes(text);
    let shown = overwritten.then(|| last_states(plain.as_deref().unwrap_or(text))).flatten();
    shown.or(plain)
}

fn escapes(text: &str) -> Option<String> {
    let first = next_control(text.as_bytes(), 0)?;
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, first);
    let mut strings = Strings::default();
    loop {
        charge_bytes(0);
        out.push_str(&text[copied..at]);
        copied = sequence_end(text.as_bytes(), at, &mut strings);
        match next_control(text.as_bytes(), copied) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// Returns the first place from `from` on with an escape, or a control character of two bytes.
fn next_control(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr2(ESCAPE, LEAD, &text[at..])?;
        if text[at] == ESCAPE || is_control(text, at) {
            return Some(at);
        }
        at += 1;
    }
}

/// Returns whether there is one of U+0080 to U+009F at `at`. U+0085 ends lines, and stays.
fn is_control(text: &[u8], at: usize) -> bool {
    text[at] == LEAD && matches!(text.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9f))
}

/// Returns the end of the sequence that starts at `at`. Of one that does not end as it should, only the introducer counts.
fn sequence_end(text: &[u8], at: usize, strings: &mut Strings) -> usize {
    // The introducer as the byte after `ESC`; U+009B is the same as `ESC [`.
    let (kind, body) = match text[at] {
        ESCAPE => (text.get(at + 1).copied().unwrap_or(0), at + 2),
        _ => (text[at + 1] - 0x40, at + 2),
    };
    let introducer = if text[at] == ESCAPE { at + 1 } else { at + 2 };
    match kind {
        b'[' => control_end(text, body).unwrap_or(introducer),
        b']' | b'P' | b'X' | b'^' | b'_' => strings.end(text, body).unwrap_or(body.min(text.len())),
        // Intermediate bytes and a final one: `ESC ( B`.
        b' '..=b'/' if text[at] == ESCAPE => {
            let mut end = body;
            while matches!(text.get(end), Some(b' '..=b'/')) {
                end += 1;
            }
            if matches!(text.get(end), Some(b'0'..=b'~')) { end + 1 } else { introducer }
        }
        b'0'..=b'~' if text[at] == ESCAPE => body,
        _ => introducer,
    }
}

/// Returns the end of a control sequence: parameters, intermediate bytes, a final byte.
fn control_end(text: &[u8], from: usize) -> Option<usize> {
    let run = |from: usize, low: u8, high: u8| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| (low..=high).contains(byte)).count()
    };
    let end = run(run(from, b'0', b'?'), b' ', b'/');
    matches!(text.get(end), Some(b'@'..=b'~')).then_some(end + 1)
}

/// What is known of the strings for the terminal that begin before a place, so that many of them before one end look for it once.
#[derive(Default)]
struct Strings {
    /// No string that begins before this ends properly.
    open_until: usize,
    /// The first bell, escape or line feed after the start of the latest string.
    stop: usize,
}

impl Strings {
    /// Returns the end of a string that begins at `from`, which does not go past its line.
    fn end(&mut self, text: &[u8], from: usize) -> Option<usize> {
        if from < self.open_until {
            return None;
        }
        let rest = text.get(from..)?;
        if from > self.stop || self.stop == 0 {
            self.stop = from + memchr3(BELL, ESCAPE, b'\n', rest).unwrap_or(rest.len());
            charge_bytes(self.stop - from);
        }
        let stop = self.stop;
        // U+009C ends it too.
        let closed = memchr::memmem::find(&text[from..stop], "\u{9c}".as_bytes());
        charge_bytes(closed.unwrap_or(stop - from));
        if let Some(closed) = closed {
            return Some(from + closed + 2);
        }
        match text.get(stop) {
            Some(&BELL) => Some(stop + 1),
            Some(&ESCAPE) if text.get(stop + 1) == Some(&b'\\') => Some(stop + 2),
            _ => {
                self.open_until = stop;
                None
            }
        }
    }
}

/// Keeps of each line what was written after the last carriage return. A text without line feeds stays: its carriage returns may
/// be its line ends.
fn last_states(text: &str) -> Option<String> {
    memchr(b'\r', text.as_bytes())?;
    memchr(b'\n', text.as_bytes())?;
    let mut out = String::with_capacity(text.len());
    for line in lines(text) {
        let last = line.body.rsplit('\r').find(|state| !state.trim().is_empty());
        out.push_str(last.unwrap_or(if line.body.contains('\r') { "" } else { line.body }));
        out.push_str(line.ending);
    }
    (out.len() < text.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_go_and_text_stays() {
        for (text, expected) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[38;2;1;2;3mx\u{1b}[?25l\u{1b}[2K", "x"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;https://x.example\u{1b}\\link\u{1b}]8;;\u{1b}\\", "alink"),
            ("\u{9b}1mbold\u{9d}0;title\u{9c}é", "boldé"),
            ("\u{1b}(Bx\u{1b}=\u{1b}7y", "xy"),
            ("a\u{1b}\u{1b}[0mb", "ab"),
            ("open \u{1b}]0;title\nnext", "open 0;title\nnext"),
            ("cut \u{1b}[31", "cut [31"),
            ("cut \u{1b}", "cut "),
            ("\u{80}é\u{85}\u{a0}", "é\u{85}\u{a0}"),
            ("\u{1b}[1;31méé\u{1b}[m", "éé"),
        ] {
            assert_eq!(ansi(text, false).as_deref(), Some(expected), "{text:?}");
            assert_eq!(ansi(expected, true), None, "{text:?}");
        }
        for clean in ["", "plain\ttext\r\né\u{a0}ß", "a\u{85}b"] {
            assert_eq!(ansi(clean, true), None);
        }
    }

    #[test]
    fn a_line_written_over_keeps_its_last_state() {
        for (text, expected) in [
            ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
            ("10%\r100%\r\r\ndone\r\n", "100%\r\ndone\r\n"),
            ("a\n1\r2\r", "a\n2"),
            ("a\n\r\r\n", "a\n\r\n"),
            ("\u{1b}[2K10%\r\u{1b}[2K20%\n", "20%\n"),
        ] {
            assert_eq!(ansi(text, true).as_deref(), Some(expected), "{text:?}");
            assert_eq!(ansi(expected, true), None, "{text:?}");
        }
        assert_eq!(ansi("10%\r20%\n", false), None);
        assert_eq!(ansi("one\rtwo\rthree", true), None, "carriage returns as line ends");
    }

    /// Introducers without an end are looked at once each.
    #[test]
    fn open_strings_cost_linear_time() {
        for introducer in ["\u{9d}", "\u{1b}]", "\u{90}x", "\u{1b}[1", "\u{1b}[0;"] {
            let text = introducer.repeat(200_000);
            assert!(!ansi(&text, true).unwrap().contains('\u{1b}'));
        }
    }
}
