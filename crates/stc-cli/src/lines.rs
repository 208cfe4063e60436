//! One document per line: `check` and `stats` read lines with the same bounds as [`stc::io::encode_lines`].

use std::io::{self, BufRead, Read};

/// Appends the next line with its line feed, and returns its length; 0 at the end. Of a line longer than `longest` it reads
/// just enough for [`holds_document`] to notice and for the codec to reject it.
pub(crate) fn read_line(reader: &mut impl BufRead, longest: u64, line: &mut Vec<u8>) -> io::Result<usize> {
    // One byte over the limit, and the line feed.
    reader.by_ref().take(longest.saturating_add(2)).read_until(b'\n', line)
}

/// Returns whether the codec has to see a line: it has more than whitespace, or is over the limit.
pub(crate) fn holds_document(line: &[u8], longest: u64) -> bool {
    let text = without_feed(line);
    is_longer(text, longest) || !text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Returns whether the codec rejects a text for its length alone.
pub(crate) fn is_longer(text: &[u8], longest: u64) -> bool {
    text.len() as u64 > longest
}

/// Returns the line without its line feed, which does not count for limits.
pub(crate) fn without_feed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}
