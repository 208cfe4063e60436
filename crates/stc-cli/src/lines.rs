//! One document a line: lines as `check` and `stats` read them, bounded as those of [`stc::io::encode_lines`] are.

use std::io::{self, BufRead, Read};

/// Appends the next line with its line feed, and returns how many bytes that were: none at the end. Of a line longer
/// than `longest` it reads no more than shows that it is, which [`holds_document`] says and the codec then refuses.
pub(crate) fn read_line(reader: &mut impl BufRead, longest: u64, line: &mut Vec<u8>) -> io::Result<usize> {
    // One byte past the limit, and the line feed.
    reader.by_ref().take(longest.saturating_add(2)).read_until(b'\n', line)
}

/// Whether there is anything for the codec in a line: more than whitespace, or more whitespace than it would take.
pub(crate) fn holds_document(line: &[u8], longest: u64) -> bool {
    let text = without_feed(line);
    is_longer(text, longest) || !text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Whether the codec refuses a text for its length alone.
pub(crate) fn is_longer(text: &[u8], longest: u64) -> bool {
    text.len() as u64 > longest
}

/// The line without what ends it, which counts for no limit.
pub(crate) fn without_feed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}
