//! A writer of JSON text in a given style and of about a given size.
//!
//! Generators call `field`, `object` and `array`; the writer adds separators, indentation and escapes. A number is always
//! written from integers or from a finished lexeme, so no float printing can change the corpus.

use crate::style::{Escaping, Layout, Style};

/// A type that can be written as a JSON value.
pub(crate) trait Value {
    /// Writes the value, without a separator.
    fn write(&self, writer: &mut Writer);
}

/// A JSON document that is being written.
#[derive(Debug)]
pub(crate) struct Writer {
    out: Vec<u8>,
    style: Style,
    target: usize,
    depth: usize,
    /// Whether the innermost open container is still empty.
    fresh: bool,
}

impl Writer {
    /// Starts a document in `style` of about `target` bytes.
    pub(crate) fn new(style: Style, target: usize) -> Self {
        Writer { out: Vec::with_capacity(target + target / 8), style, target, depth: 0, fresh: true }
    }

    /// Returns the finished document.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        debug_assert_eq!(self.depth, 0, "every container is closed");
        if matches!(self.style.layout, Layout::Pretty(_)) {
            self.out.push(b'\n');
        }
        self.out
    }

    /// Returns the finished document as text.
    pub(crate) fn into_text(self) -> String {
        String::from_utf8(self.finish()).expect("only whole strings are written")
    }

    /// Returns the intended size of the document in bytes.
    pub(crate) fn target(&self) -> usize {
        self.target
    }

    /// Returns the style of the document.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Returns how many bytes of the target are left.
    pub(crate) fn room(&self) -> usize {
        self.target.saturating_sub(self.out.len())
    }

    /// Writes a value as the next element, or as the whole document.
    pub(crate) fn value(&mut self, value: impl Value) {
        self.separate();
        value.write(self);
    }

    /// Writes an object as the next element, or as the whole document.
    pub(crate) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.separate();
        self.container(b'{', members, b'}');
    }

    /// Writes an array as the next element, or as the whole document.
    pub(crate) fn array(&mut self, elements: impl FnOnce(&mut Self)) {
        self.separate();
        self.container(b'[', elements, b']');
    }

    /// Writes a member of the open object.
    pub(crate) fn field(&mut self, key: &str, value: impl Value) -> &mut Self {
        self.key(key);
        value.write(self);
        self
    }

    /// Writes a member whose value is an object.
    pub(crate) fn object_field(&mut self, key: &str, members: impl FnOnce(&mut Self)) -> &mut Self {
        self.key(key);
        self.container(b'{', members, b'}');
        self
    }

    /// Writes a member whose value is an array.
    pub(crate) fn array_field(&mut self, key: &str, elements: impl FnOnce(&mut Self)) -> &mut Self {
        self.key(key);
        self.container(b'[', elements, b']');
        self
    }

    /// Calls `row` with 0, 1, 2, … until the document is as close to its target as whole rows allow; at least once.
    ///
    /// The last row is removed if the document is closer to its target without it, so a generator that needs the number of
    /// rows calls [`rows_to`](Self::rows_to).
    pub(crate) fn rows(&mut self, row: impl FnMut(&mut Self, u64)) {
        self.rows_to(self.target, row);
    }

    /// Like [`rows`](Self::rows), up to `length` bytes of the document, and returns the number of rows.
    pub(crate) fn rows_to(&mut self, length: usize, mut row: impl FnMut(&mut Self, u64)) -> u64 {
        let mut count = 0;
        loop {
            let before = self.out.len();
            row(self, count);
            let after = self.out.len();
            if count > 0 && after > length && after - length > length.saturating_sub(before) {
                self.out.truncate(before);
                return count;
            }
            count += 1;
            if after >= length {
                return count;
            }
        }
    }

    /// Finds how many units `body` must write to reach the target, and calls it with that number.
    ///
    /// For documents whose length must be known at the start, such as parallel arrays. Two small trial runs measure the fixed
    /// part and the size of a unit, so the total time stays linear.
    pub(crate) fn fitted<S: Clone>(&mut self, state: &mut S, body: impl Fn(&mut S, &mut Self, u64)) {
        let trial = |units| {
            let mut writer = Writer::new(self.style, 4096);
            writer.depth = self.depth;
            body(&mut state.clone(), &mut writer, units);
            writer.out.len()
        };
        let (few, many) = (trial(8), trial(40));
        // In 32nds of a byte, since 32 units lie between the two trials.
        let price = many.saturating_sub(few).max(1) as u64;
        let fixed = (32 * few as u64).saturating_sub(8 * price);
        let units = (32 * self.room() as u64).saturating_sub(fixed) / price;
        body(state, self, units.max(1));
    }

    /// Writes an array without a separator before it: for lists that are values themselves.
    pub(crate) fn elements(&mut self, elements: impl FnOnce(&mut Self)) {
        self.container(b'[', elements, b']');
    }

    /// Writes a finished lexeme without change.
    pub(crate) fn lexeme(&mut self, lexeme: &str) {
        self.out.extend_from_slice(lexeme.as_bytes());
    }

    /// Writes a string, with the escapes of the style.
    pub(crate) fn string(&mut self, text: &str) {
        self.out.push(b'"');
        let mut rest = text;
        while !rest.is_empty() {
            // A run of printable ASCII is copied at once; a character that may need an escape is handled separately.
            let special =
                |byte: u8| matches!(byte, b'"' | b'\\' | b'/' | b'<' | b'>' | b'&') || !(32..128).contains(&byte);
            let plain = rest.bytes().position(special).unwrap_or(rest.len());
            self.out.extend_from_slice(&rest.as_bytes()[..plain]);
            let mut chars = rest[plain..].chars();
            if let Some(c) = chars.next() {
                self.character(c);
            }
            rest = chars.as_str();
        }
        self.out.push(b'"');
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.string(key);
        self.out.extend_from_slice(if self.style.layout == Layout::Minified { b":" } else { b": " });
    }

    fn container(&mut self, open: u8, inside: impl FnOnce(&mut Self), close: u8) {
        self.out.push(open);
        self.depth += 1;
        self.fresh = true;
        inside(self);
        self.depth -= 1;
        if !self.fresh {
            self.indent();
        }
        self.out.push(close);
        self.fresh = false;
    }

    fn separate(&mut self) {
        if self.depth == 0 {
            return;
        }
        if !self.fresh {
            self.out.extend_from_slice(if self.style.layout == Layout::Spaced { b", " } else { b"," });
        }
        self.fresh = false;
        self.indent();
    }

    fn indent(&mut self) {
        if let Layout::Pretty(width) = self.style.layout {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + width * self.depth, b' ');
        }
    }

    fn character(&mut self, c: char) {
        let short: &[u8] = match c {
            '"' => b"\\\"",
            '\\' => b"\\\\",
            '\n' => b"\\n",
            '\r' => b"\\r",
            '\t' => b"\\t",
            '\u{8}' => b"\\b",
            '\u{c}' => b"\\f",
            '/' if self.style.escaping == Escaping::Slashes => b"\\/",
            _ if c < ' ' || self.escapes(c) => return self.hexadecimal(c),
            _ => return self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        };
        self.out.extend_from_slice(short);
    }

    fn escapes(&self, c: char) -> bool {
        match self.style.escaping {
            Escaping::Bare => false,
            Escaping::Html => matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'),
            Escaping::Ascii | Escaping::Slashes => !c.is_ascii(),
        }
    }

    fn hexadecimal(&mut self, c: char) {
        for unit in c.encode_utf16(&mut [0; 2]) {
            self.out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Decimal;

    fn sample(style: Style) -> String {
        let mut w = Writer::new(style, 64);
        w.object(|w| {
            w.field("a", 1).field("b", [Decimal(-5, 2), Decimal(1234, 2)]).array_field("c", |_| {});
            w.object_field("d", |w| {
                w.field("e", "/<é😀\u{1}\n").field("f", None::<bool>);
            });
        });
        w.into_text()
    }

    #[test]
    fn every_layout_and_escaping() {
        let bare = r#"{"a":1,"b":[-0.05,12.34],"c":[],"d":{"e":"/<é😀\u0001\n","f":null}}"#;
        assert_eq!(sample(Style::MINIFIED), bare);
        assert_eq!(sample(Style::GO), bare.replace('<', r"\u003c"));
        let ascii = bare.replace("é😀", r"\u00e9\ud83d\ude00");
        assert_eq!(sample(Style::PHP), ascii.replace('/', r"\/"));
        assert_eq!(sample(Style::PYTHON), ascii.replace("\":", "\": ").replace(',', ", "));
        let lines = "{\n  \"a\": 1,\n  \"b\": [\n    -0.05,\n    12.34\n  ],\n  \"c\": [],\n  \"d\": {\n    \"e\": ";
        assert!(sample(Style::PRETTY_2).starts_with(lines));
        assert!(sample(Style::PRETTY_4).ends_with("null\n    }\n}\n"));
    }
}
