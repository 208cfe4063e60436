//! What a search prints: the path of a file once for all its lines.
//!
//! ```text
//! src/work.rs:12:use a;            src/work.rs
//! src/work.rs:40:use b;      ->    12:use a;
//! src/text.rs:3:use a;             40:use b;
//!                                  src/text.rs:3:use a;
//! ```
//!
//! Nothing is lost.

use crate::lines::lines;

/// Writes the path of lines that follow each other once; `None` if no path is repeated.
pub(crate) fn grep(text: &str) -> Option<String> {
    let lines: Vec<_> = lines(text).collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < lines.len() {
        let path = path_of(lines[at].body);
        let same = |body: &str| path.is_some_and(|path| continues(body, path));
        let count = lines[at..].iter().take_while(|line| same(line.body)).count();
        match path {
            Some(path) if count > 1 => {
                out.push_str(path);
                out.push('\n');
                for line in &lines[at..at + count] {
                    out.push_str(&line.body[path.len() + 1..]);
                    out.push_str(line.ending);
                }
                at += count;
            }
            _ => {
                lines[at].write(&mut out);
                at += 1;
            }
        }
    }
    (out.len() < text.len()).then_some(out)
}

/// Returns the path of `path:12:text`. A path has a letter, so that `12:30:text` is a line and its text, and no blank, so that a
/// sentence which ends in a place is none.
fn path_of(line: &str) -> Option<&str> {
    for colon in memchr::memchr_iter(b':', line.as_bytes()).take(4) {
        if number(&line[colon + 1..], ':') {
            let path = &line[..colon];
            let is_path = path.bytes().any(|byte| byte.is_ascii_alphabetic()) && !path.contains([' ', '\t', '[']);
            return is_path.then_some(path);
        }
    }
    None
}

/// Returns whether a line is one of this path: a match, or with `-` one beside a match.
fn continues(line: &str, path: &str) -> bool {
    let rest = line.strip_prefix(path);
    let after = |mark: char| rest.and_then(|rest| rest.strip_prefix(mark)).is_some_and(|rest| number(rest, mark));
    after(':') || after('-')
}

/// Returns whether a text begins with a number and `end`.
fn number(text: &str, end: char) -> bool {
    let digits = text.bytes().take(10).take_while(u8::is_ascii_digit).count();
    digits > 0 && text[digits..].starts_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_once() {
        let text = "src/work.rs:12:use a;\nsrc/work.rs-13-\nsrc/work.rs:40:  12:30: x\nsrc/text.rs:3:use a;\n--\nC:\\a.rs:1:x\nC:\\a.rs:2:y\n";
        let short = grep(text).unwrap();
        assert_eq!(short, "src/work.rs\n12:use a;\n13-\n40:  12:30: x\nsrc/text.rs:3:use a;\n--\nC:\\a.rs\n1:x\n2:y\n");
        assert_eq!(grep(&short), None);
        for other in ["12:30:a\n12:30:b\n", "a: b\na: b\n", "", "src/a.rs:12:x\n", "x:1\nx:2\n"] {
            assert_eq!(grep(other), None, "{other}");
        }
    }
}
