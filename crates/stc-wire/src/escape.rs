//! Strings of JSON with their escapes, and without.

use crate::word::{Word, first};

/// Appends a text as a JSON string with its quotes.
pub(crate) fn quote_into(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let plain = plain_length(rest);
        let (kept, after) = rest.split_at(plain);
        out.extend_from_slice(kept);
        let Some((&byte, after)) = after.split_first() else { break };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.extend([byte >> 4, byte & 15].map(|nibble| b"0123456789abcdef"[nibble as usize]));
            }
        }
        rest = after;
    }
    out.push(b'"');
}

/// Returns the number of bytes before the first that a JSON string must escape.
fn plain_length(text: &[u8]) -> usize {
    let (words, tail) = text.as_chunks();
    for (number, word) in words.iter().enumerate() {
        let word = Word::new(*word);
        let found = word.equal(b'"') | word.equal(b'\\') | word.less(0x20);
        if found != 0 {
            return number * Word::BYTES + first(found);
        }
    }
    let needs = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    text.len() - tail.len() + tail.iter().position(needs).unwrap_or(tail.len())
}

/// Appends the body of a JSON string without its escapes; `None` if an escape is wrong or a surrogate stands alone.
pub(crate) fn unescape_into(inner: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // An escape is at least as long as what it stands for, so the result fits. Words are copied whole, and the next one
    // overwrites what follows a backslash.
    let start = out.len();
    out.resize(start + inner.len() + Word::BYTES, 0);
    let (mut from, mut to) = (0, start);
    while from < inner.len() {
        let word = match inner[from..].first_chunk() {
            Some(word) => *word,
            None => {
                let mut word = [0; Word::BYTES];
                word[..inner.len() - from].copy_from_slice(&inner[from..]);
                word
            }
        };
        out[to..to + Word::BYTES].copy_from_slice(&word);
        let found = Word::new(word).equal(b'\\');
        let plain = if found == 0 { Word::BYTES.min(inner.len() - from) } else { first(found) };
        (from, to) = (from + plain, to + plain);
        if found != 0 {
            match inner.get(from + 1)? {
                b'"' => {
                    out[to] = b'"';
                    (from, to) = (from + 2, to + 1);
                }
                _ => to = escape(inner, &mut from, out, to)?,
            }
        }
    }
    out.truncate(to);
    Some(())
}

/// Reads one escape, with its backslash, and writes what it stands for at `to`; returns the place after that.
fn escape(inner: &[u8], from: &mut usize, out: &mut [u8], to: usize) -> Option<usize> {
    let mut rest = inner.get(*from..)?;
    let mut letter = [0; 4];
    let written = escaped(&mut rest, &mut letter)?;
    *from = inner.len() - rest.len();
    out[to..to + written.len()].copy_from_slice(written);
    Some(to + written.len())
}

/// Reads one escape, with its backslash, and returns what it stands for.
fn escaped<'l>(rest: &mut &[u8], letter: &'l mut [u8; 4]) -> Option<&'l [u8]> {
    let escaped = *rest.get(1)?;
    *rest = &rest[2..];
    letter[0] = match escaped {
        b'"' | b'\\' | b'/' => escaped,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => {
            let mut unit = u32::from(hex4(rest)?);
            if (0xD800..0xDC00).contains(&unit) {
                *rest = rest.strip_prefix(b"\\u")?;
                let low = u32::from(hex4(rest)?);
                let low = (0xDC00..0xE000).contains(&low).then(|| low - 0xDC00)?;
                unit = 0x10000 + ((unit - 0xD800) << 10) + low;
            }
            return Some(char::from_u32(unit)?.encode_utf8(letter).as_bytes());
        }
        _ => return None,
    };
    Some(&letter[..1])
}

fn hex4(rest: &mut &[u8]) -> Option<u16> {
    let (digits, after) = rest.split_at_checked(4)?;
    *rest = after;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|d| d.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}
