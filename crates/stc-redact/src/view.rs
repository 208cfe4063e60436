//! A text as its reader sees it, around its escapes: those of JSON resolved, control sequences of a terminal left out.
//!
//! ```text
//! text   {"k":"a\u002db\n"}
//! view   {"k":"a-b⏎"}         the bytes at 7 (`-`) and 9 (`⏎`) came from 6 and 2 bytes
//! marks  0 to 0, 7 to 7 (escape), 8 to 13, 9 to 14 (escape), 10 to 16
//! ```

use memchr::memchr3;
use std::ops::Range;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 7;
/// The first byte of U+0080 to U+009F, which are control sequences in one character: U+009B is `ESC [`.
const LEAD: u8 = 0xc2;
/// The longest control sequence in bytes; a longer one is text.
const LONGEST_SEQUENCE: usize = 512;

/// Set in the place of a mark where an escape begins.
const IS_ESCAPE: u32 = 1 << 31;

/// What is seen before the word with an escape, and after it, in bytes: a name and its value are close to each other.
const SEEN_BEFORE: usize = 256;
const SEEN_AFTER: usize = 64;

/// The parts of a text that have escapes, without them, separated by NUL. All else is the same in the text.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) text: Vec<u8>,
    /// Where runs of bytes begin that came from an escape, or were copied: the place here, and the place there with
    /// [`IS_ESCAPE`] or without. In the order of both.
    marks: Vec<(u32, u32)>,
}

impl View {
    /// Returns the view of a text of less than 2 GiB; none if it has no escapes.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let further = |from: usize| memchr3(b'\\', ESCAPE, LEAD, &text[from..]).map(|length| from + length);
        let mut view = Self { text: Vec::new(), marks: Vec::new() };
        let mut next = further(0);
        let mut kept = 0;
        while let Some(at) = next {
            let Some((length, bytes, count)) = escape(&text[at..]) else {
                next = further(at + 1);
                continue;
            };
            let from = view.skip(text, kept, at);
            view.text.extend_from_slice(&text[from..at]);
            if count > 0 {
                view.mark(at as u32 | IS_ESCAPE);
                view.text.extend_from_slice(&bytes[..count]);
            }
            kept = at + length;
            view.mark(kept as u32);
            next = further(kept);
        }
        if view.marks.is_empty() {
            return None;
        }
        view.text.extend_from_slice(&text[kept..seen_until(text, kept, text.len())]);
        Some(view)
    }

    /// Skips what is far from the escapes at both ends of a range: copies the start of it, and returns where its end begins.
    fn skip(&mut self, text: &[u8], kept: usize, at: usize) -> usize {
        let word = at - text[kept..at].iter().rev().take_while(|byte| !ends_word(**byte)).count();
        let from = word.saturating_sub(SEEN_BEFORE).max(kept);
        // At the start of a word: what is seen of the text is whole words.
        let from = if from > kept { word_end(text, from, word) } else { from };
        if self.marks.is_empty() {
            self.mark(from as u32);
            return from;
        }
        let until = seen_until(text, kept, at);
        if from <= until {
            return kept;
        }
        self.text.extend_from_slice(&text[kept..until]);
        self.text.push(0);
        self.mark(from as u32);
        from
    }

    fn mark(&mut self, there: u32) {
        let here = self.text.len() as u32;
        match self.marks.last_mut() {
            // No byte of the view belongs to that mark.
            Some(last) if last.0 == here => last.1 = there,
            _ => self.marks.push((here, there)),
        }
    }

    /// Returns the range of the text that a range of the view came from: whole escapes.
    pub(crate) fn origin(&self, span: Range<usize>) -> Range<usize> {
        if span.is_empty() {
            return 0..0;
        }
        self.place(span.start).start..self.place(span.end - 1).end
    }

    /// Returns the range of the text that one byte of the view came from.
    fn place(&self, at: usize) -> Range<usize> {
        let number = self.marks.partition_point(|mark| mark.0 as usize <= at) - 1;
        let (here, there) = self.marks[number];
        if there & IS_ESCAPE != 0 {
            // A mark follows every escape.
            let end = self.marks.get(number + 1).map_or(there, |next| next.1);
            return (there & !IS_ESCAPE) as usize..(end & !IS_ESCAPE) as usize;
        }
        let at = there as usize + at - here as usize;
        at..at + 1
    }
}

/// Returns how far a text is seen after an escape: to the end of the word and some words more, and at most to `most`.
fn seen_until(text: &[u8], from: usize, most: usize) -> usize {
    word_end(text, (word_end(text, from, most) + SEEN_AFTER).min(most), most)
}

/// Returns the end of the word at an offset, at most `most`.
fn word_end(text: &[u8], from: usize, most: usize) -> usize {
    from + text[from..most].iter().take_while(|byte| !ends_word(**byte)).count()
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'"' || byte == 0
}

/// Reads an escape or a control sequence: its length, and the bytes that it stands for.
fn escape(text: &[u8]) -> Option<(usize, [u8; 4], usize)> {
    let one = |byte: u8| Some((2, [byte, 0, 0, 0], 1));
    match text {
        [b'\\', b'u', ..] => unicode(text),
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => one(*byte),
        [b'\\', b'n', ..] => one(b'\n'),
        [b'\\', b't', ..] => one(b'\t'),
        [b'\\', b'r', ..] => one(b'\r'),
        [b'\\', b'b', ..] => one(8),
        [b'\\', b'f', ..] => one(12),
        [ESCAPE, kind @ 0x20..=0x7e, rest @ ..] => Some((2 + sequence(*kind, rest).unwrap_or(0), [0; 4], 0)),
        // U+0085 ends lines, and stays.
        [LEAD, control @ (0x80..=0x84 | 0x86..=0x9f), rest @ ..] => {
            let more = if *control < 0x90 { None } else { sequence(control - 0x40, rest) };
            Some((2 + more.unwrap_or(0), [0; 4], 0))
        }
        _ => None,
    }
}

/// Returns the length of what belongs to a control sequence after its introducer; none if it does not end.
fn sequence(kind: u8, rest: &[u8]) -> Option<usize> {
    let most = &rest[..rest.len().min(LONGEST_SEQUENCE)];
    match kind {
        b'[' => {
            let end = most.iter().position(|byte| !(0x20..=0x3f).contains(byte))?;
            (0x40..=0x7e).contains(&most[end]).then_some(end + 1)
        }
        b']' | b'P' | b'X' | b'^' | b'_' => string_end(most),
        0x20..=0x2f => {
            let end = most.iter().position(|byte| !(0x20..=0x2f).contains(byte))?;
            (0x30..=0x7e).contains(&most[end]).then_some(end + 1)
        }
        _ => Some(0),
    }
}

/// Returns the end of a string for the terminal. One in which another sequence begins does not end, so that no byte is seen often.
fn string_end(most: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr3(BELL, ESCAPE, LEAD, &most[at..])?;
        match &most[at..] {
            [BELL, ..] => return Some(at + 1),
            [ESCAPE, b'\\', ..] | [LEAD, 0x9c, ..] => return Some(at + 2),
            [ESCAPE, ..] | [LEAD, 0x80..=0x9f, ..] => return None,
            _ => at += 1,
        }
    }
}

/// Reads `\u` with four digits, or two of them for one character.
fn unicode(text: &[u8]) -> Option<(usize, [u8; 4], usize)> {
    let high = unit(text)?;
    let (length, code) = match high {
        0xd800..0xdc00 => match text.get(6..).and_then(unit)? {
            low @ 0xdc00..0xe000 => (12, 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00))),
            _ => return None,
        },
        code => (6, code),
    };
    let mut bytes = [0; 4];
    let count = char::from_u32(code)?.encode_utf8(&mut bytes).len();
    Some((length, bytes, count))
}

/// Reads the number of `\uXXXX`.
pub(crate) fn unit(text: &[u8]) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = text else { return None };
    let digits = digits.get(..4)?;
    digits.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(text: &str) -> String {
        View::of(text.as_bytes()).map_or_else(|| text.to_owned(), |view| String::from_utf8(view.text).unwrap())
    }

    #[test]
    fn escapes_and_sequences_are_resolved() {
        for (text, expected) in [
            (r#"a\u002db\n\"\\\/"#, "a-b\n\"\\/"),
            (r"\ud83d\ude00\u00e9", "😀é"),
            (r"\ud83d \u12 \x \", r"\ud83d \u12 \x \"),
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b]8;;http://a\x07link\x1b]8;;\x1b\\.", "link."),
            ("a\x1b(Bb\x1b7c\x1b", "abc\x1b"),
            ("a\x1bPx\x1b\\b\x1b_y\x07c\x1b[", "abc"),
            ("a\u{9b}7mb\u{9d}0;x\u{9c}c\u{9d}0;x\x07d", "abcd"),
            ("a\u{80}b\u{9b}\u{9d}c\u{9d}", "abc"),
            ("\u{85}é\u{a0}°", "\u{85}é\u{a0}°"),
            ("plain", "plain"),
        ] {
            assert_eq!(view(text), expected, "{text:?}");
        }
        assert!(View::of(br"C:\Users").is_none());
    }

    #[test]
    fn only_what_is_near_an_escape_is_seen() {
        let far = "word ".repeat(400);
        let text = format!(r#"{far}{{"a":"b\nc"}} {far}\td"#);
        let whole = View::of(text.as_bytes()).unwrap();
        let mut parts = whole.text.split(|byte| *byte == 0);
        let (first, second) = (parts.next().unwrap(), parts.next().unwrap());
        assert_eq!(parts.next(), None);
        assert!(first.windows(5).any(|window| window == b"b\nc\"}"), "{first:?}");
        assert!(first.len() < 400 && second.len() < 300 && second.ends_with(b"\td"));
        let place = whole.text.iter().position(|byte| *byte == b'\t').unwrap();
        assert_eq!(&text[whole.origin(place..place + 2)], r"\td");
    }

    /// Every range of the view is what the range of the text that it came from becomes.
    #[test]
    fn ranges_lead_back() {
        let text = "é\\u002d\\n\\n\x1b[31mab\x1b[0m\\ud83d\\ude00c\\\"";
        let whole = View::of(text.as_bytes()).unwrap();
        for start in 0..whole.text.len() {
            for end in start + 1..=whole.text.len() {
                let origin = whole.origin(start..end);
                let part = &text.as_bytes()[origin];
                let seen = View::of(part).map_or(part.to_vec(), |view| view.text);
                let expected = &whole.text[start..end];
                let has = seen.windows(expected.len()).any(|window| window == expected);
                assert!(has, "{start}..{end}");
                assert!(seen.len() < expected.len() + 4, "{start}..{end}: at most the rest of a character more");
            }
        }
    }
}
