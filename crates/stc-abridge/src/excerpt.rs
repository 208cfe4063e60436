//! The start and the end of a text of many lines, and between them the lines about problems.
//!
//! ```text
//! first lines
//! [212 lines left out]
//! error: it broke
//!   at src/work.rs:12
//! [97 lines left out]
//! last lines
//! ```
//!
//! Lost are the lines that those in brackets count. A line about an error, a warning or a failure stays, and so do up to three lines
//! after it that are indented.

use crate::lines::lines;
use crate::signals::is_issue;

/// The most lines after a problem that belong to it.
const LINES_AFTER_PROBLEM: usize = 3;

/// Keeps `most` lines of a text of more than twice as many, half of them from its start, and all lines about problems. `None` if there
/// are not so many lines, or all are about problems.
#[must_use]
pub fn excerpt(text: &str, most: usize) -> Option<String> {
    let lines: Vec<_> = lines(text).collect();
    if most == 0 || lines.len() <= 2 * most {
        return None;
    }
    let (head, tail) = (most / 2, lines.len() - (most - most / 2));
    let mut out = String::with_capacity(text.len() / 2);
    let (mut left_out, mut after) = (0_usize, 0);
    for (number, line) in lines.iter().enumerate() {
        let is_own = line.body.starts_with('[') && line.body.ends_with(" lines left out]");
        if is_issue(line.body) {
            after = LINES_AFTER_PROBLEM;
        } else {
            let is_indented = line.body.starts_with([' ', '\t']);
            after = if is_indented { after } else { 0 };
        }
        let is_kept = number < head || number >= tail || is_own || is_issue(line.body) || after > 0;
        if !is_issue(line.body) {
            after = after.saturating_sub(1);
        }
        if !is_kept {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            out.push_str(&format!("[{left_out} lines left out]\n"));
            left_out = 0;
        }
        line.write(&mut out);
    }
    (out.len() < text.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_the_end_and_the_problems_stay() {
        let line = |n: usize| match n {
            150 => "error: it broke\n".to_owned(),
            151..=158 => format!("  at src/work.rs:{n}\n"),
            _ => format!("line {n}\n"),
        };
        let text: String = (0..300).map(line).collect();
        let short = excerpt(&text, 8).unwrap();
        assert_eq!(
            short,
            "line 0\nline 1\nline 2\nline 3\n[146 lines left out]\nerror: it broke\n  at src/work.rs:151\n  at src/work.rs:152\n  at \
             src/work.rs:153\n[142 lines left out]\nline 296\nline 297\nline 298\nline 299\n"
        );
        assert_eq!(excerpt(&short, 8), None);
        assert_eq!(excerpt(&text, 150), None);
        assert_eq!(excerpt(&text, 0), None);
        assert_eq!(excerpt(&"error: a\n".repeat(300), 8), None);
    }
}
