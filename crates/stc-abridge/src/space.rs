//! Blanks that show nothing: at the ends of lines, and blank lines after the second.
//!
//! Nothing is lost that can be seen. In a diff, where a blank at the end of a line may be the change, all stay.

use crate::lines::lines;

/// The most blank lines in a row.
const MOST_BLANK_LINES: usize = 2;

/// Removes blanks at line ends and blank lines after the second in a row; `None` if there are none.
#[must_use]
pub fn space(text: &str) -> Option<String> {
    let is_diff = text.starts_with("@@ -") || memchr::memmem::find(text.as_bytes(), b"\n@@ -").is_some();
    let mut out = String::with_capacity(text.len());
    let mut blank = 0;
    for line in lines(text) {
        let body = if is_diff { line.body } else { line.body.trim_end_matches([' ', '\t']) };
        blank = if body.is_empty() { blank + 1 } else { 0 };
        if blank <= MOST_BLANK_LINES {
            out.push_str(body);
            out.push_str(line.ending);
        }
    }
    (out.len() < text.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_that_show_nothing_go() {
        for (text, expected) in [
            ("a  \nb\t \n", "a\nb\n"),
            ("a \r\nb  ", "a\r\nb"),
            ("a\n\n\n\n\nb\n", "a\n\n\nb\n"),
            ("  \n \n\t\nx", "\n\nx"),
        ] {
            assert_eq!(space(text).as_deref(), Some(expected), "{text:?}");
            assert_eq!(space(expected), None);
        }
        assert_eq!(space("  indented\n\n\nb"), None);
        assert_eq!(space("@@ -1,2 +1,2 @@\n a \n-b  \n+b\n"), None, "a diff");
    }
}
