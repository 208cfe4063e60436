//! A bound on the bytes of a text.
//!
//! Of a text that is longer, the start and the end stay, three fifths and two fifths of the bound, cut at line ends. If a line
//! of an error would be left out, a third part begins at the first such line:
//!
//! ```text
//! start 45 %   [2,048 bytes left out]   from the first error on 20 %   [4,096 bytes left out]   end 35 %
//! ```
//!
//! Lost is what the lines in brackets count. The whole, these lines included, is never above the bound.

use crate::signals::first_error;

/// Returns the text within `most` bytes; `None` if it is not longer.
#[must_use]
pub fn cap(text: &str, most: usize) -> Option<String> {
    if text.len() <= most {
        return None;
    }
    let marker = marker(text.len()).len() + 1;
    if most < 4 * marker {
        return Some(fragment(text, most).to_owned());
    }
    let (head, tail) = ends(text, most - marker, 60, 40);
    let Some(_) = first_error(text, next_line(text, head), tail) else {
        return Some(joined(text, &[(0, head), (tail, text.len())], most));
    };
    let room = most - 2 * marker;
    let (head, tail) = ends(text, room, 45, 35);
    let error = first_error(text, next_line(text, head), tail).unwrap_or(tail);
    let share = room / 5;
    let end = if error + share >= tail { tail } else { error + line_end(&text[error..], share) };
    Some(joined(text, &[(0, head), (error, end), (tail, text.len())], most))
}

/// Returns the line that stands for bytes that were left out.
fn marker(bytes: usize) -> String {
    format!("[{bytes} bytes left out]\n")
}

/// Returns where the start of a text ends and its end starts, each with its share of `room` in percent.
fn ends(text: &str, room: usize, head: usize, tail: usize) -> (usize, usize) {
    let share = |percent: usize| room / 100 * percent + room % 100 * percent / 100;
    (line_end(text, share(head)), line_start(text, text.len() - share(tail)))
}

/// Returns the last line end within `most` bytes, or the last end of a character if the line is longer than half of them.
fn line_end(text: &str, most: usize) -> usize {
    let end = character_before(text, most);
    match memchr::memrchr(b'\n', &text.as_bytes()[..end]) {
        Some(feed) if feed >= most / 2 => feed + 1,
        _ => end,
    }
}

/// Returns the first line start from `from` on, or the first start of a character if the line goes on for half of the rest.
fn line_start(text: &str, from: usize) -> usize {
    let start = character_after(text, from);
    // A line that starts here needs no other.
    if start > 0 && text.as_bytes()[start - 1] == b'\n' {
        return start;
    }
    match memchr::memchr(b'\n', &text.as_bytes()[start..]) {
        Some(feed) if feed < (text.len() - from) / 2 => start + feed + 1,
        _ => start,
    }
}

/// Returns `at` if a line starts there, or else the start of the next line.
fn next_line(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    if at == 0 || bytes[at - 1] == b'\n' {
        return at;
    }
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |feed| at + feed + 1)
}

fn character_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn character_after(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Returns as much as fits of a text whose bound has no room for lines that count: from the first error on, or else its start.
fn fragment(text: &str, most: usize) -> &str {
    let start = first_error(text, 0, text.len()).unwrap_or(0);
    let rest = &text[start..];
    &rest[..character_before(rest, most)]
}

/// Joins parts of a text that do not overlap, with a line for what is between two.
fn joined(text: &str, parts: &[(usize, usize)], most: usize) -> String {
    let mut out = String::with_capacity(most);
    let mut at = 0;
    for &(start, end) in parts {
        if start > at {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(&marker(start - at));
        }
        out.push_str(&text[start.max(at)..end.max(at)]);
        at = end.max(at);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_and_the_end_stay() {
        let text: String = (0..100).map(|n| format!("line number {n}\n")).collect();
        let short = cap(&text, 400).unwrap();
        assert!(short.len() <= 400 && short.len() > 330, "{}", short.len());
        assert!(short.starts_with("line number 0\nline number 1\n") && short.ends_with("line number 99\n"));
        assert_eq!(short.matches("bytes left out]\n").count(), 1, "{short}");
        let left: usize = short.split(['[', ' ']).find_map(|word| word.parse().ok().filter(|n| *n > 100)).unwrap();
        assert_eq!(left + short.len() - format!("[{left} bytes left out]\n").len(), text.len());
        assert_eq!(cap(&short, 400), None);
        assert_eq!(cap(&text, text.len()), None);
    }

    #[test]
    fn the_first_error_stays() {
        for place in 0..200 {
            let line = |n: usize| if n == place { "error: it broke\n".to_owned() } else { format!("line {n}\n") };
            let text: String = (0..200).map(line).collect();
            let short = cap(&text, 500).unwrap();
            assert!(short.len() <= 500, "{}", short.len());
            assert!(short.contains("error: it broke\n"), "{place}: {short}");
            assert!(short.matches("bytes left out]\n").count() <= 2);
        }
    }

    #[test]
    fn lines_longer_than_the_bound_are_cut_at_characters() {
        for text in
            ["é".repeat(5000), format!("{}\nerror: {}\n{}", "x".repeat(3000), "y".repeat(3000), "z".repeat(3000))]
        {
            for most in [0, 1, 2, 7, 63, 64, 99, 100, 101, 500, 1000] {
                let short = cap(&text, most).unwrap();
                assert!(short.len() <= most, "{most}: {}", short.len());
                assert!(most < 110 || !text.contains("error:") || short.contains("error: y"), "{most}");
            }
        }
    }
}
