//! Strings, numbers and literals, byte by byte and resumable: the strict reading of RFC 8259's tokens.
//!
//! A lexeme is copied, never parsed and printed again (grammar/STC.md, sections 2.1 and 8.2), so reading one means to follow its
//! grammar and to pass its bytes to a [`Sink`]. Bytes reach the sink in input order and only once they are known to be
//! good, so every way to cut the input into chunks writes the same bytes and finds the same error.

use crate::error::{Error, ErrorKind, Expected};

/// A receiver of a lexeme's bytes.
pub(crate) trait Sink {
    /// Takes `bytes`, which are at `offset` in the input.
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error>;
}

/// A sink for callers that only check the input.
pub(crate) struct Discard;

impl Sink for Discard {
    fn copy(&mut self, _: &[u8], _: u64) -> Result<(), Error> {
        Ok(())
    }
}

/// The kind of a lexeme, which its first byte decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Boolean,
    Null,
}

impl Kind {
    /// Returns the kind of lexeme that `first` begins, if any.
    #[inline(always)]
    pub(crate) fn of(first: u8) -> Option<Self> {
        // A look-up: comparing with one byte after the other took twenty instructions a value.
        KINDS[usize::from(first)]
    }
}

static KINDS: [Option<Kind>; 256] = {
    let mut kinds = [None; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        kinds[byte] = match byte as u8 {
            b'"' => Some(Kind::Text),
            b'-' | b'0'..=b'9' => Some(Kind::Number),
            b't' | b'f' => Some(Kind::Boolean),
            b'n' => Some(Kind::Null),
            _ => None,
        };
        byte += 1;
    }
    kinds
};

/// A lexeme being read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lexeme {
    Text(Text),
    Number(Number),
    /// The bytes still to come of `true`, `false` or `null` (section 2.6).
    Literal(&'static [u8]),
}

impl Lexeme {
    /// Returns the lexeme that begins with `first`, before any byte of it is taken.
    pub(crate) fn starting(first: u8) -> Option<Self> {
        Some(match first {
            b'"' => Self::Text(Text { state: TextState::Open, partial: [0; 4], partial_len: 0 }),
            b'-' | b'0'..=b'9' => Self::Number(Number::Start),
            b't' => Self::Literal(b"true"),
            b'f' => Self::Literal(b"false"),
            b'n' => Self::Literal(b"null"),
            _ => return None,
        })
    }

    /// Returns a string whose opening quote has been taken.
    pub(crate) fn text_body() -> Self {
        Self::Text(Text { state: TextState::Body, partial: [0; 4], partial_len: 0 })
    }

    /// Takes the lexeme's bytes from the front of `bytes`, which are at `offset`. Returns how many it took and whether the
    /// lexeme is complete; a number is complete once a byte follows that cannot continue it.
    pub(crate) fn feed(&mut self, bytes: &[u8], offset: u64, sink: &mut impl Sink) -> Result<(usize, bool), Error> {
        match self {
            Self::Text(text) => text.feed(bytes, offset, sink),
            Self::Number(number) => number.feed(bytes, offset, sink),
            Self::Literal(rest) => {
                let same = rest.iter().zip(bytes).take_while(|(want, have)| want == have).count();
                sink.copy(&bytes[..same], offset)?;
                *rest = &rest[same..];
                if !rest.is_empty() && same < bytes.len() {
                    return Err(Error::new(ErrorKind::Syntax(Expected::Literal), offset + same as u64));
                }
                Ok((same, rest.is_empty()))
            }
        }
    }

    /// Ends the input at `offset`: an error unless the lexeme may end there.
    pub(crate) fn end(&self, offset: u64) -> Result<(), Error> {
        let missing = match self {
            Self::Number(Number::Zero | Number::Integer | Number::Fraction | Number::Exponent) => return Ok(()),
            Self::Number(_) => Expected::Digit,
            Self::Text(_) => Expected::Quote,
            Self::Literal(_) => Expected::Literal,
        };
        Err(Error::new(ErrorKind::Truncated(missing), offset))
    }
}

/// A string being read (section 2.4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    state: TextState,
    /// The beginning of a multi-byte character whose rest is in the next chunk.
    partial: [u8; 4],
    partial_len: u8,
}

/// Where in a string's grammar the reader is.
#[derive(Clone, Copy, Debug)]
enum TextState {
    Open,
    Body,
    Escape,
    Hex { missing: u8 },
}

impl Text {
    fn feed(&mut self, bytes: &[u8], offset: u64, sink: &mut impl Sink) -> Result<(usize, bool), Error> {
        let mut taken = 0;
        while taken < bytes.len() {
            let at = offset + taken as u64;
            let byte = bytes[taken];
            match self.state {
                TextState::Open => self.state = TextState::Body,
                TextState::Body if self.partial_len > 0 => {
                    self.complete_character(byte, at, sink)?;
                    taken += 1;
                    continue;
                }
                TextState::Body => match byte {
                    b'"' => {
                        sink.copy(&bytes[taken..=taken], at)?;
                        return Ok((taken + 1, true));
                    }
                    b'\\' => self.state = TextState::Escape,
                    _ => {
                        taken += self.take_plain(&bytes[taken..], at, sink)?;
                        continue;
                    }
                },
                TextState::Escape => match byte {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.state = TextState::Body,
                    b'u' => self.state = TextState::Hex { missing: 4 },
                    _ => return Err(Error::new(ErrorKind::Syntax(Expected::Escape), at)),
                },
                TextState::Hex { missing } if byte.is_ascii_hexdigit() => {
                    self.state = if missing == 1 { TextState::Body } else { TextState::Hex { missing: missing - 1 } };
                }
                TextState::Hex { .. } => return Err(Error::new(ErrorKind::Syntax(Expected::Hex), at)),
            }
            sink.copy(&bytes[taken..=taken], at)?;
            taken += 1;
        }
        Ok((taken, false))
    }

    /// Takes the unescaped characters at the front of `bytes`, at least one byte.
    fn take_plain(&mut self, bytes: &[u8], offset: u64, sink: &mut impl Sink) -> Result<usize, Error> {
        let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
        let plain = &bytes[..end];
        let (good, torn) = match std::str::from_utf8(plain) {
            Ok(_) => (plain, false),
            // A character may be cut by the end of the chunk, but not by a quote or a backslash.
            Err(error) => (&plain[..error.valid_up_to()], error.error_len().is_none() && end == bytes.len()),
        };
        // A fold instead of a search: it has no early exit, so the compiler makes it SIMD.
        if good.iter().fold(false, |found, &byte| found | (byte < 0x20)) {
            let control = good.iter().position(|&byte| byte < 0x20).unwrap_or(good.len());
            sink.copy(&good[..control], offset)?;
            return Err(Error::new(ErrorKind::Control, offset + control as u64));
        }
        sink.copy(good, offset)?;
        let rest = &plain[good.len()..];
        if !rest.is_empty() {
            if !torn {
                // At the first byte of the sequence (section 9.3), which is also where a cut one is reported below.
                return Err(Error::new(ErrorKind::Utf8, offset + good.len() as u64));
            }
            self.partial[..rest.len()].copy_from_slice(rest);
            self.partial_len = rest.len() as u8;
        }
        Ok(end)
    }

    /// Adds the byte at `offset` to the character that the end of a chunk has cut.
    fn complete_character(&mut self, byte: u8, offset: u64, sink: &mut impl Sink) -> Result<(), Error> {
        let start = offset - u64::from(self.partial_len);
        self.partial[usize::from(self.partial_len)] = byte;
        self.partial_len += 1;
        let character = &self.partial[..usize::from(self.partial_len)];
        match std::str::from_utf8(character) {
            Ok(_) => {
                sink.copy(character, start)?;
                self.partial_len = 0;
                Ok(())
            }
            Err(error) if error.error_len().is_none() => Ok(()),
            Err(_) => Err(Error::new(ErrorKind::Utf8, start)),
        }
    }
}

/// A number being read (section 2.5): where in its grammar the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Start,
    Minus,
    Zero,
    Integer,
    Dot,
    Fraction,
    E,
    Sign,
    Exponent,
}

impl Number {
    /// Returns the state after `byte`, if that may follow.
    fn step(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Start, b'-') => Self::Minus,
            (Self::Start | Self::Minus, b'0') => Self::Zero,
            (Self::Start | Self::Minus, b'1'..=b'9') | (Self::Integer, b'0'..=b'9') => Self::Integer,
            (Self::Zero | Self::Integer, b'.') => Self::Dot,
            (Self::Dot | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Self::E,
            (Self::E, b'+' | b'-') => Self::Sign,
            (Self::E | Self::Sign | Self::Exponent, b'0'..=b'9') => Self::Exponent,
            _ => return None,
        })
    }

    fn is_complete(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::Exponent)
    }

    fn feed(&mut self, bytes: &[u8], offset: u64, sink: &mut impl Sink) -> Result<(usize, bool), Error> {
        let mut taken = 0;
        while let Some(next) = bytes.get(taken).and_then(|&byte| self.step(byte)) {
            *self = next;
            taken += 1;
        }
        sink.copy(&bytes[..taken], offset)?;
        if taken == bytes.len() {
            Ok((taken, false))
        } else if self.is_complete() {
            Ok((taken, true))
        } else {
            Err(Error::new(ErrorKind::Syntax(Expected::Digit), offset + taken as u64))
        }
    }
}

/// Returns whether all of `lexeme` is one number.
pub(crate) fn is_number(lexeme: &[u8]) -> bool {
    let mut state = Number::Start;
    for &byte in lexeme {
        match state.step(byte) {
            Some(next) => state = next,
            None => return false,
        }
    }
    state.is_complete()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects what is copied, which must come in order.
    struct Copied(Vec<u8>);

    impl Sink for Copied {
        fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
            assert_eq!(offset, 1000 + self.0.len() as u64);
            self.0.extend_from_slice(bytes);
            Ok(())
        }
    }

    /// Reads a string in chunks; returns the bytes that were copied, and whether it is complete or the error.
    fn read(text: &[u8], cuts: [usize; 2]) -> (Vec<u8>, Result<bool, (ErrorKind, u64)>) {
        let (mut lexeme, mut copied, mut at) = (Lexeme::starting(b'"').expect("a quote"), Copied(Vec::new()), 0);
        for end in cuts.into_iter().chain([text.len()]) {
            while at < end {
                match lexeme.feed(&text[at..end], 1000 + at as u64, &mut copied) {
                    Ok((taken, true)) => return (copied.0, Ok(at + taken == text.len())),
                    Ok((taken, false)) => at += taken,
                    Err(error) => return (copied.0, Err((error.kind(), error.offset() - 1000))),
                }
            }
        }
        (copied.0, Ok(false))
    }

    #[test]
    fn wherever_a_string_is_cut_its_bytes_and_its_error_are_the_same() {
        // What is good, what follows it, and whether that ends the string or what is wrong with its first byte.
        type Case = (&'static [u8], &'static [u8], Result<bool, ErrorKind>);
        let cases: [Case; 15] = [
            ("\"a é€😀 z\"".as_bytes(), b"", Ok(true)),
            (br#""\n\u00e9\"\\""#, b"", Ok(true)),
            ("\"é€".as_bytes(), b"", Ok(false)),
            ("\"é a".as_bytes(), b"\x01b\"", Err(ErrorKind::Control)),
            (b"\"a b ", b"\x00\"", Err(ErrorKind::Control)),
            ("\"é".as_bytes(), b"\x1f", Err(ErrorKind::Control)),
            ("\"é€".as_bytes(), b"\xff\"", Err(ErrorKind::Utf8)),
            (b"\"", b"\xffabcdef", Err(ErrorKind::Utf8)),
            (b"\"ab", b"\xe2\x82x\"", Err(ErrorKind::Utf8)),
            (b"\"ab", b"\xe2abcd\"", Err(ErrorKind::Utf8)),
            (b"\"ab", b"\xc3\"", Err(ErrorKind::Utf8)),
            (b"\"ab", b"\xf0\x9f\x98\\n\"", Err(ErrorKind::Utf8)),
            (b"\"ab", b"\x80\x80\"", Err(ErrorKind::Utf8)),
            (br#""ab\"#, b"q\"", Err(ErrorKind::Syntax(Expected::Escape))),
            (br#""ab\u12"#, b"g4\"", Err(ErrorKind::Syntax(Expected::Hex))),
        ];
        for (good, bad, expected) in cases {
            let text = [good, bad].concat();
            let expected = expected.map_err(|kind| (kind, good.len() as u64));
            for first in 0..=text.len() {
                for second in first..=text.len() {
                    let (copied, found) = read(&text, [first, second]);
                    assert_eq!(found, expected, "{} at {first}, {second}", text.escape_ascii());
                    assert_eq!(copied, good, "{} at {first}, {second}", text.escape_ascii());
                }
            }
        }
    }
}
