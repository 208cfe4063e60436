//! The tokens of a JSON document, one after another: no recursion, and no byte is seen twice.

use stc_wire::budget::charge_bytes;
use stc_wire::span::{self, Span};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// An object or array begins here.
    Open { at: usize, is_object: bool },
    /// An object or array ends before this offset.
    Close { end: usize },
    /// A key, with its quotes.
    Key(Span),
    /// A value that is a string, with its quotes.
    String(Span),
    /// A number, `true`, `false` or `null`.
    Scalar,
}

/// A reader of tokens. The text must be JSON for them to be right; any other text ends.
pub(crate) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    /// The containers around the next token: whether each is an object.
    open: Vec<bool>,
    /// Whether the last token was a key.
    after_key: bool,
}

impl<'a> Tokens<'a> {
    pub(crate) const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, open: Vec::new(), after_key: false }
    }

    /// Returns where the next token begins; the end of the text if there is none.
    pub(crate) fn place(&mut self) -> usize {
        loop {
            self.at = span::skip_space(self.text, self.at);
            match self.text.get(self.at) {
                Some(b',' | b':') => self.at += 1,
                _ => return self.at,
            }
        }
    }

    /// Goes on after a member or a value.
    pub(crate) const fn jump(&mut self, to: usize) {
        (self.at, self.after_key) = (to, false);
    }

    pub(crate) fn next(&mut self) -> Option<Token> {
        let at = self.place();
        let first = *self.text.get(at)?;
        let was_key = std::mem::replace(&mut self.after_key, false);
        let token = self.read(at, first, was_key)?;
        charge_bytes(self.at - at);
        Some(token)
    }

    fn read(&mut self, at: usize, first: u8, was_key: bool) -> Option<Token> {
        Some(match first {
            b'{' | b'[' => {
                self.at += 1;
                self.open.push(first == b'{');
                Token::Open { at, is_object: first == b'{' }
            }
            b'}' | b']' => {
                self.at += 1;
                self.open.pop();
                Token::Close { end: self.at }
            }
            b'"' => {
                self.at = span::string_end(self.text, at)?;
                self.after_key = !was_key && self.open.last() == Some(&true);
                if self.after_key { Token::Key(at..self.at) } else { Token::String(at..self.at) }
            }
            _ => {
                let ends = |byte: &u8| b",:]} \n\r\t\"{[".contains(byte);
                let rest = &self.text[at + 1..];
                self.at = at + 1 + rest.iter().position(ends).unwrap_or(rest.len());
                Token::Scalar
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_of_a_text() {
        let text = br#" {"a": ["b", 1, {"c": true}], "d": {"e": "f\"g"}, "h": -1.5e3} "#;
        let mut tokens = Tokens::new(text);
        let mut seen = Vec::new();
        while let Some(token) = tokens.next() {
            seen.push(match token {
                Token::Open { is_object, .. } => if is_object { "{" } else { "[" }.to_owned(),
                Token::Close { end } => char::from(text[end - 1]).to_string(),
                Token::Key(span) => format!("key {}", String::from_utf8_lossy(&text[span])),
                Token::String(span) => String::from_utf8_lossy(&text[span]).into_owned(),
                Token::Scalar => "scalar".to_owned(),
            });
        }
        let expected = [
            "{",
            "key \"a\"",
            "[",
            "\"b\"",
            "scalar",
            "{",
            "key \"c\"",
            "scalar",
            "}",
            "]",
            "key \"d\"",
            "{",
            "key \"e\"",
            "\"f\\\"g\"",
            "}",
            "key \"h\"",
            "scalar",
            "}",
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn broken_texts_end() {
        let text = br#"{"a":["b",1,{"c":true}],"d":"\\"}"#;
        for start in 0..text.len() {
            for end in start..text.len() {
                let mut tokens = Tokens::new(&text[start..end]);
                let mut count = 0;
                while tokens.next().is_some() {
                    count += 1;
                }
                assert!(count <= end - start);
            }
        }
    }
}
