//! Lines with their endings, so that what is put together again has the endings that it had.

use stc_wire::budget::charge_bytes;

/// A line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The line without its ending.
    pub(crate) body: &'a str,
    /// The ending: a line feed, a carriage return and a line feed, or nothing at the end of the text.
    pub(crate) ending: &'a str,
}

impl Line<'_> {
    /// Appends the line with its ending.
    pub(crate) fn write(&self, out: &mut String) {
        out.push_str(self.body);
        out.push_str(self.ending);
    }
}

/// Returns the lines of a text.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split_inclusive('\n').map(|line| {
        charge_bytes(line.len());
        let body = line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line);
        Line { body, ending: &line[body.len()..] }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_make_the_text_again() {
        for text in ["", "a", "a\n", "a\r\nb", "\n\n", "a\rb\n\r\n", "\r"] {
            let mut again = String::new();
            lines(text).for_each(|line| line.write(&mut again));
            assert_eq!(again, text);
            assert!(lines(text).all(|line| !line.body.contains('\n')));
        }
        let all: Vec<_> = lines("a\r\nb").map(|line| (line.body, line.ending)).collect();
        assert_eq!(all, [("a", "\r\n"), ("b", "")]);
    }
}
