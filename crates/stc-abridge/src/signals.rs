//! Lines that say that something went wrong. They are found before anything is left out, and are never left out themselves.

use memchr::memmem;

/// Words that a line of an error begins with, in lower case.
const STARTS: [&str; 3] = ["error", "fatal:", "panic"];

/// Words anywhere in a line of an error.
const WORDS: [&str; 8] = [
    "error:",
    "Error:",
    "ERROR:",
    "panicked at",
    "Traceback (most recent call last)",
    "Exception",
    "FAILED",
    "ssertion",
];

/// Returns whether a line says that something went wrong.
#[must_use]
pub fn is_error(line: &str) -> bool {
    starts(line) || WORDS.iter().any(|word| memmem::find(line.as_bytes(), word.as_bytes()).is_some())
}

/// Returns whether a line is about a problem: an error, a warning or a failure, in any spelling.
pub(crate) fn is_issue(line: &str) -> bool {
    is_error(line) || {
        let lower = format!(" {} ", line.to_ascii_lowercase());
        ["warning", " warn ", "failed", "failure", " error "].iter().any(|word| lower.contains(word))
    }
}

fn starts(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']).as_bytes();
    STARTS.iter().any(|word| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes())))
}

/// Returns the start of the first line of an error that starts at `from` or later and before `to`. `from` must be the start of a line.
pub(crate) fn first_error(text: &str, from: usize, to: usize) -> Option<usize> {
    if from >= to {
        return None;
    }
    let bytes = text.as_bytes();
    let line_start = |at: usize| memchr::memrchr(b'\n', &bytes[from..at]).map_or(from, |feed| from + feed + 1);
    // A word may end after `to` if its line starts before.
    let to_end = memchr::memchr(b'\n', &bytes[to..]).map_or(bytes.len(), |feed| to + feed);
    let mut end = to_end;
    let mut first = None;
    for word in WORDS {
        if let Some(found) = memmem::find(&bytes[from..end], word.as_bytes()) {
            let start = line_start(from + found);
            if start < to {
                (first, end) = (Some(start), start);
            }
        }
    }
    let mut at = from;
    while at < end.min(to) {
        let next = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |feed| at + feed + 1);
        if starts(&text[at..next]) {
            return Some(at);
        }
        at = next;
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERRORS: [&str; 14] = [
        "error[E0308]: mismatched types",
        "  Error: no such file",
        "ERROR in ./src/index.js",
        "fatal: not a git repository",
        "panic: runtime error",
        "main.c:3:5: error: expected ';'",
        "thread 'main' panicked at src/main.rs:4:5:",
        "Traceback (most recent call last):",
        "java.lang.NullPointerException",
        "test a ... FAILED",
        "assertion `left == right` failed",
        "AssertionError: 1 != 2",
        "ValueError: invalid literal",
        "2026-11-18 ERROR: disk full",
    ];

    #[test]
    fn lines_of_errors() {
        for line in ERRORS {
            assert!(is_error(line), "{line}");
        }
        for line in ["", "no errors here", "Compiling thiserror v2.0.1", "0 errors, 0 warnings", "test a ... ok"] {
            assert!(!is_error(line), "{line}");
        }
        assert!(is_issue("warning: unused variable") && is_issue("npm WARN deprecated x") && is_issue("Build failure"));
        assert!(!is_issue("Compiling anyhow v1.0.1"));
    }

    /// The search over a text finds what the test of each line finds.
    #[test]
    fn the_first_error_of_a_text() {
        for error in ERRORS {
            for (before, after) in [("", ""), ("one\ntwo\n", "\nthree\n"), ("é\n", "\nFAILED later\n")] {
                let text = format!("{before}{error}{after}");
                assert_eq!(first_error(&text, 0, text.len()), Some(before.len()), "{text:?}");
                assert_eq!(first_error(&text, 0, before.len()), None, "{text:?}");
            }
        }
        assert_eq!(first_error("one\ntwo", 0, 7), None);
        assert_eq!(first_error("error: a\nerror: b\nc", 9, 19), Some(9));
    }
}
