//! Blanks that only align the cells of a table.
//!
//! ```text
//! NAME        READY   STATUS           NAME READY STATUS            | id | state   |      |id|state|
//! web-1       1/1     Running    ->    web-1 1/1 Running            |----|---------| ->   |---|---|
//! database-0  1/1     Running          database-0 1/1 Running       | 7  | running |      |7|running|
//! ```
//!
//! A table of columns is three lines or more with as many words each, so that a word belongs to the same column without its
//! blanks. A table with bars is three lines or more with as many bars each. Nothing is lost. What looks like code stays, and so
//! does what is fenced.

use crate::lines::{Line, lines};

/// The fewest lines of a table.
const FEWEST_LINES: usize = 3;

/// Removes blanks that align; `None` if there are none.
#[must_use]
pub fn table(text: &str) -> Option<String> {
    if memchr::memmem::find(text.as_bytes(), b"  ").is_none() && memchr::memchr(b'|', text.as_bytes()).is_none() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut block: Vec<Line<'_>> = Vec::new();
    let (mut kind, mut fenced) = (Cells::None, false);
    for line in lines(text) {
        let is_fence = line.body.trim_start().starts_with("```");
        let own = if fenced || is_fence { Cells::None } else { Cells::of(line.body) };
        fenced ^= is_fence;
        if own != kind || own == Cells::None {
            flush(&mut block, kind, &mut out);
            kind = own;
        }
        block.push(line);
    }
    flush(&mut block, kind, &mut out);
    (out.len() < text.len()).then_some(out)
}

/// The cells of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cells {
    /// No cells, or code.
    None,
    /// This many bars.
    Bars(usize),
    /// This many words.
    Words(usize),
}

impl Cells {
    fn of(line: &str) -> Self {
        let bars = memchr::memchr_iter(b'|', line.as_bytes()).count();
        let is_rule = |line: &str| line.len() > 2 && line.bytes().all(|byte| matches!(byte, b'-' | b'+' | b'=' | b' '));
        match bars {
            2.. if !line.contains("||") => Self::Bars(bars),
            // The rule of a table that a database prints: `----+----`.
            0 if is_rule(line.trim()) && line.contains("-+-") => Self::Bars(line.matches('+').count()),
            1 if line.contains(" | ") => Self::Bars(1),
            _ => match line.split_ascii_whitespace().count() {
                words @ 2.. if !is_code(line) => Self::Words(words),
                _ => Self::None,
            },
        }
    }
}

/// Returns whether a line looks like code: its blanks may matter.
fn is_code(line: &str) -> bool {
    let trimmed = line.trim();
    trimmed.ends_with(['{', '}', ';', ',', '(', '\\', '"', '\''])
        || trimmed.starts_with(['#', '}', '{', '"', '\'', '/', '<'])
        || [" = ", " := ", "||", "&&", "//", "/*", "=>", "->", "\t"].iter().any(|word| trimmed.contains(word))
}

fn flush(block: &mut Vec<Line<'_>>, kind: Cells, out: &mut String) {
    let is_table = block.len() >= FEWEST_LINES;
    for line in block.drain(..) {
        match kind {
            Cells::Bars(_) if is_table => bars(line.body, out),
            Cells::Words(_) if is_table => words(line.body, out),
            _ => out.push_str(line.body),
        }
        out.push_str(line.ending);
    }
}

fn bars(line: &str, out: &mut String) {
    let rule = |cell: &str| cell.len() > 3 && cell.bytes().all(|byte| byte == b'-' || byte == b'=');
    let separator = if line.contains('|') { '|' } else { '+' };
    for (number, cell) in line.split(separator).enumerate() {
        if number > 0 {
            out.push(separator);
        }
        let cell = cell.trim_matches([' ', '\t']);
        out.push_str(if rule(cell) { &cell[..3] } else { cell });
    }
}

fn words(line: &str, out: &mut String) {
    for (number, word) in line.split_ascii_whitespace().enumerate() {
        if number > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_that_align_go() {
        for (text, expected) in [
            (
                "NAME        READY   STATUS\nweb-1       1/1     Running\ndatabase-0  1/1     Running\n",
                "NAME READY STATUS\nweb-1 1/1 Running\ndatabase-0 1/1 Running\n",
            ),
            ("| id | state   |\n|----|---------|\n| 7  | running |\n", "|id|state|\n|---|---|\n|7|running|\n"),
            (
                " id |  name  \n----+--------\n  1 | ann    \n  2 | bob    \n(2 rows)\n",
                "id|name\n---+---\n1|ann\n2|bob\n(2 rows)\n",
            ),
        ] {
            assert_eq!(table(text).as_deref(), Some(expected));
            assert_eq!(table(expected), None);
        }
    }

    #[test]
    fn code_and_ragged_lines_stay() {
        for text in [
            "let a   = 1;\nlet bb  = 2;\nlet ccc = 3;\n",
            "```\na   b\nc   d\ne   f\n```\n",
            "a   b   c\nd   e\nf   g   h\n",
            "NAME   AGE\nweb    1d\n",
            "x || y  a\nx || y  b\nx || y  c\n",
            "one word  two\tthree\nfour five  six\tx\nseven eight  nine\tx\n",
        ] {
            assert_eq!(table(text), None, "{text:?}");
        }
    }
}
