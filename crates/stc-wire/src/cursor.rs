//! A reader of one JSON document that sees each byte once.
//!
//! [`span::members`] finds the end of a value before its caller can look into it, so a reader that goes five levels deep
//! reads the innermost bytes five times. A cursor stands before a value, and its caller chooses to skip the value or to
//! enter it:
//!
//! ```
//! use stc_wire::cursor::Cursor;
//!
//! let text = br#"{"a": [1, {"b": 2}], "c": 3}"#;
//! let mut keys = Vec::new();
//! let mut cursor = Cursor::new(text);
//! cursor.object(|cursor, key| {
//!     keys.push(key.into_owned());
//!     cursor.skip().map(|_| ())
//! });
//! assert_eq!(keys, ["a", "c"]);
//! ```
//!
//! As in [`span`], the text must be JSON for the ranges to be right; in any other text they are within bounds.

use crate::budget::charge_bytes;
use crate::span::{self, Span};
use std::borrow::Cow;

/// A position in a JSON text, before a value.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor before the only value of a text.
    #[must_use]
    pub const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the first byte of the next value.
    pub fn peek(&mut self) -> Option<u8> {
        self.at = span::skip_space(self.text, self.at);
        self.text.get(self.at).copied()
    }

    /// Skips the next value and returns its range; `None` if there is none.
    pub fn skip(&mut self) -> Option<Span> {
        let start = span::skip_space(self.text, self.at);
        let end = span::value_end(self.text, start)?;
        charge_bytes(end - start);
        self.at = end;
        Some(start..end)
    }

    /// Enters the next value if it is an object, and skips it if not. Calls `each` before the value of every member, with
    /// the key unescaped (empty if it is not Unicode); `each` skips or enters that value. Returns the range of the value,
    /// or `None` if the text or a call of `each` ended early.
    pub fn object(&mut self, mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Option<()>) -> Option<Span> {
        if self.peek()? != b'{' {
            return self.skip();
        }
        let start = self.at;
        self.at += 1;
        while self.peek()? != b'}' {
            charge_bytes(0);
            let key = self.at..span::string_end(self.text, self.at).filter(|_| self.text[self.at] == b'"')?;
            self.at = key.end;
            if self.peek()? != b':' {
                return None;
            }
            self.at += 1;
            each(self, span::string(self.text, &key).unwrap_or_default())?;
            if self.peek()? == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Some(start..self.at)
    }

    /// Enters the next value if it is an array, and skips it if not. Calls `each` before every element, which `each` skips
    /// or enters. Returns the range of the value, or `None` if the text or a call of `each` ended early.
    pub fn array(&mut self, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<Span> {
        if self.peek()? != b'[' {
            return self.skip();
        }
        let start = self.at;
        self.at += 1;
        while self.peek()? != b']' {
            let before = self.at;
            each(self)?;
            if self.at == before {
                return None;
            }
            if self.peek()? == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Some(start..self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_values_are_entered_or_skipped() {
        let text = br#" { "m\u0065ssages" : [ {"role":"tool","x":[1,{"y":"]}"}]} , 7 ], "end" : null } "#;
        let mut roles = Vec::new();
        let mut cursor = Cursor::new(text);
        let whole = cursor.object(|cursor, key| {
            if key != "messages" {
                return cursor.skip().map(|_| ());
            }
            let each = |cursor: &mut Cursor<'_>| {
                let object = cursor.object(|cursor, key| {
                    let value = cursor.skip()?;
                    roles.push((key.into_owned(), String::from_utf8(text[value].to_vec()).unwrap()));
                    Some(())
                });
                object.map(|_| ())
            };
            cursor.array(each).map(|_| ())
        });
        assert_eq!(whole, span::document(text));
        let [role, x] = roles.try_into().unwrap();
        assert_eq!(role, ("role".to_owned(), r#""tool""#.to_owned()));
        assert_eq!(x, ("x".to_owned(), r#"[1,{"y":"]}"}]"#.to_owned()));
    }

    #[test]
    fn what_is_not_entered_is_skipped() {
        let mut cursor = Cursor::new(b"[1,2]");
        assert_eq!(cursor.object(|_, _| None), Some(0..5));
        let mut cursor = Cursor::new(br#"{"a":1}"#);
        assert_eq!(cursor.array(|_| None), Some(0..7));
    }

    #[test]
    fn broken_texts_end() {
        let text = br#"{"a":[{"b":"c\"d"},[1,{}]],"e":{"f":null}}"#;
        for end in 0..text.len() {
            let mut cursor = Cursor::new(&text[..end]);
            let whole = cursor.object(|cursor, _| {
                let each = |cursor: &mut Cursor<'_>| cursor.object(|cursor, _| cursor.skip().map(|_| ())).map(|_| ());
                cursor.array(each).map(|_| ())
            });
            assert_eq!(whole, None, "{end}");
        }
        assert_eq!(Cursor::new(b"[1 2 , }").array(|cursor| cursor.skip().map(|_| ())), None);
        assert_eq!(Cursor::new(b"[1").array(|_| Some(())), None);
    }
}
