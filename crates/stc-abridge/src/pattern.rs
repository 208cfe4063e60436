//! Patterns of lines, as the data files spell them.
//!
//! | in a pattern | matches |
//! |---|---|
//! | `*` | anything, also nothing |
//! | `#` | digits, with points, commas and colons between them |
//! | `~` | one point or more |
//! | a blank | blanks |
//! | `\\` and a character | that character |
//! | anything else | itself |
//!
//! A pattern matches a line as a whole, without the blanks around it. Only the last `*` is tried again, and a line longer than
//! [`LONGEST_LINE`] matches nothing, so that the time is linear in the text.

use stc_wire::budget::charge_bytes;

/// The longest line in bytes that a pattern matches.
const LONGEST_LINE: usize = 512;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
    /// The first and the last byte of a line that matches, if the pattern has them: most lines differ there.
    first: Option<u8>,
    last: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Digits,
    Points,
    Blanks,
    Any,
}

impl Pattern {
    pub(crate) fn new(pattern: &str) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            let (character, is_plain) = match character {
                '\\' => (characters.next().unwrap_or('\\'), true),
                _ => (character, false),
            };
            let part = match character {
                '*' if !is_plain => Part::Any,
                '#' if !is_plain => Part::Digits,
                '~' if !is_plain => Part::Points,
                ' ' if !is_plain => Part::Blanks,
                _ => match parts.last_mut() {
                    Some(Part::Text(text)) => {
                        text.push(character);
                        continue;
                    }
                    _ => Part::Text(character.into()),
                },
            };
            parts.push(part);
        }
        let text = |part: Option<&Part>| match part {
            Some(Part::Text(text)) => text.clone().into_bytes(),
            _ => Vec::new(),
        };
        let (first, last) = (text(parts.first()).first().copied(), text(parts.last()).last().copied());
        Self { parts, first, last }
    }

    /// Returns whether a line without the blanks around it matches.
    pub(crate) fn matches(&self, line: &str) -> bool {
        let line = line.as_bytes();
        let differs = |own: Option<u8>, byte: Option<&u8>| own.is_some() && own != byte.copied();
        if differs(self.first, line.first()) || differs(self.last, line.last()) || line.len() > LONGEST_LINE {
            return false;
        }
        charge_bytes(line.len());
        let (mut part, mut at) = (0, 0);
        // After the last `*`: the part that follows it, and where that is tried next.
        let mut again: Option<(usize, usize)> = None;
        loop {
            let step = match self.parts.get(part) {
                None if at == line.len() => return true,
                None => None,
                Some(Part::Any) => {
                    // Nothing after the last `*` can fail.
                    if part + 1 == self.parts.len() {
                        return true;
                    }
                    part += 1;
                    again = Some((part, at));
                    continue;
                }
                Some(one) => one.length(&line[at..]),
            };
            match (step, again) {
                (Some(length), _) => (part, at) = (part + 1, at + length),
                (None, Some((after, from))) if from < line.len() => {
                    // The next place where the part after `*` can begin.
                    charge_bytes(0);
                    let from = from + 1;
                    again = Some((after, from));
                    (part, at) = (after, from);
                }
                (None, _) => return false,
            }
        }
    }
}

impl Part {
    /// Returns the length of what matches at the start of a line.
    fn length(&self, line: &[u8]) -> Option<usize> {
        let run = |of: fn(&u8) -> bool| {
            let length = line.iter().take_while(|byte| of(byte)).count();
            (length > 0).then_some(length)
        };
        match self {
            Self::Text(text) => line.starts_with(text.as_bytes()).then_some(text.len()),
            Self::Digits => {
                line.first().filter(|byte| byte.is_ascii_digit())?;
                run(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b':'))
            }
            Self::Points => run(|byte| *byte == b'.'),
            Self::Blanks => run(|byte| matches!(byte, b' ' | b'\t')),
            Self::Any => Some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_lines() {
        for (pattern, line, expected) in [
            ("Compiling *", "Compiling serde v1.0.1", true),
            ("Compiling *", "Compiling", false),
            ("test * ... ok", "test a::b ... ok", true),
            ("test * ... ok", "test a ... ok ... ok", true),
            ("test * ... ok", "test a ... FAILED", false),
            ("[ #%] Building *", "[  5%] Building C object", true),
            ("[ #%] Building *", "[ x%] Building C object", false),
            ("*.py ~ [ #%]", "tests/test_a.py ......   [ 12%]", true),
            ("*.py ~ [ #%]", "tests/test_a.py ..F...   [ 12%]", false),
            ("#/# *", "12/40 files", true),
            ("\\## DONE #s", "#5 DONE 0.3s", true),
            ("\\## DONE #s", "5 DONE 0.3s", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(line), expected, "{pattern} {line}");
        }
    }

    #[test]
    fn long_lines_match_nothing() {
        assert!(Pattern::new("a*").matches(&"a".repeat(LONGEST_LINE)));
        assert!(!Pattern::new("a*").matches(&"a".repeat(LONGEST_LINE + 1)));
    }
}
