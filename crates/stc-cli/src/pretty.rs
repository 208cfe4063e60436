//! Indented JSON for people: `decode --pretty`.
//!
//! Works on minified JSON as it is written, byte by byte, so that memory stays constant and no digit is lost. What an
//! empty container needs is known at the byte after its opening bracket, so the line break waits for that byte.

use std::io::{self, Write};

/// Spaces a level.
const INDENT: usize = 2;

/// Deeper levels are indented like this one: a document of 100,000 levels would otherwise grow to gigabytes.
const MOST_LEVELS: usize = 64;

/// A writer that indents the minified JSON written to it.
pub(crate) struct Pretty<W> {
    inner: W,
    level: usize,
    /// The last byte was an opening bracket.
    opened: bool,
    in_string: bool,
    escaped: bool,
    /// Reused for each call.
    out: Vec<u8>,
}

impl<W: Write> Pretty<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, level: 0, opened: false, in_string: false, escaped: false, out: Vec::new() }
    }

    fn push(&mut self, byte: u8) {
        if self.in_string {
            self.in_string = byte != b'"' || self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            self.out.push(byte);
            return;
        }
        let closes = matches!(byte, b'}' | b']');
        match (self.opened, closes) {
            (true, false) => {
                self.level += 1;
                self.break_line();
            }
            (false, true) => {
                self.level = self.level.saturating_sub(1);
                self.break_line();
            }
            _ => {}
        }
        self.opened = matches!(byte, b'{' | b'[');
        self.in_string = byte == b'"';
        self.out.push(byte);
        match byte {
            b',' => self.break_line(),
            b':' => self.out.push(b' '),
            _ => {}
        }
    }

    fn break_line(&mut self) {
        self.out.push(b'\n');
        self.out.resize(self.out.len() + INDENT * self.level.min(MOST_LEVELS), b' ');
    }
}

impl<W: Write> Write for Pretty<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Little at a time: a short text may grow to a hundred times its length.
        let bytes = &bytes[..bytes.len().min(4 << 10)];
        self.out.clear();
        bytes.iter().for_each(|&byte| self.push(byte));
        self.inner.write_all(&self.out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pretty(json: &str, chunk: usize) -> String {
        let mut out = Vec::new();
        let mut pretty = Pretty::new(&mut out);
        json.as_bytes().chunks(chunk).for_each(|chunk| pretty.write_all(chunk).expect("memory"));
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn the_layout_is_that_of_serde_json() {
        let json = r#"{"a\"[{,:\\":[],"b":[{},1.50,-0,[null]],"":{"c":"x:y"},"d":{}}"#;
        let expected = "{\n  \"a\\\"[{,:\\\\\": [],\n  \"b\": [\n    {},\n    1.50,\n    -0,\n    [\n      null\n    ]\n  ],\n  \
                        \"\": {\n    \"c\": \"x:y\"\n  },\n  \"d\": {}\n}";
        for chunk in [1, 2, 3, 7, 4096] {
            assert_eq!(pretty(json, chunk), expected);
        }
        for scalar in ["1.0", "\"[\"", "[]", "{}", "null"] {
            assert_eq!(pretty(scalar, 1), scalar);
        }
        let value: serde_json::Value = serde_json::from_str(r#"[{"a":[1,{"b":"c"}]},[],"\\"]"#).expect("JSON");
        assert_eq!(pretty(&value.to_string(), 5), format!("{value:#}"));
    }

    #[test]
    fn deep_levels_stop_moving_to_the_right() {
        let deep = "[".repeat(5000) + &"]".repeat(5000);
        let pretty = pretty(&deep, 100);
        assert!(pretty.lines().all(|line| line.len() <= INDENT * MOST_LEVELS + 2));
        assert_eq!(pretty.split_whitespace().collect::<String>(), deep);
    }
}
