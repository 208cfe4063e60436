//! Strings of JSON with their escapes, and without.

use crate::word::{Word, first};

/// Appends a text as a JSON string with its quotes.
///
/// Words are copied whole, and what follows a byte that needs an escape is overwritten:
///
/// ```text
/// text     say "a" a
/// written  say "a" a    a word; the first byte that needs an escape is the fifth
///          say \"a" a   the escape; the next word begins after the quote
/// ```
pub(crate) fn quote_into(text: &str, out: &mut Vec<u8>) {
    let text = text.as_bytes();
    let mut to = out.len() + 1;
    out.push(b'"');
    let mut from = 0;
    while from < text.len() {
        if out.len() < to + MOST_A_STEP {
            // Room for the rest with an escape in every fourth byte, or what the caller has reserved.
            let rest = text.len() - from;
            let needed = to + MOST_A_STEP;
            let room = needed + rest + rest / 4;
            out.resize(if needed <= out.capacity() { room.min(out.capacity()) } else { room }, 0);
        }
        let word = word_at(text, from);
        out[to..to + Word::BYTES].copy_from_slice(&word);
        let word = Word::new(word);
        let found = word.equal(b'"') | word.equal(b'\\') | word.less(0x20);
        let left = text.len() - from;
        let plain = if found == 0 { Word::BYTES } else { first(found) };
        if plain >= left {
            to += left;
            break;
        }
        (from, to) = (from + plain, to + plain);
        if found != 0 {
            to = write_escape(text[from], out, to);
            from += 1;
        }
    }
    out.truncate(to);
    out.push(b'"');
}

/// The most bytes that one step writes: a word, and an escape after it.
const MOST_A_STEP: usize = Word::BYTES + 6;

/// Writes the escape of a byte that needs one; returns the place after it.
#[inline(always)]
fn write_escape(byte: u8, out: &mut [u8], to: usize) -> usize {
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
            out[to..to + 6].copy_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
            return to + 6;
        }
    };
    out[to..to + 2].copy_from_slice(&[b'\\', letter]);
    to + 2
}

/// Returns the word at `from`, with zeros after the end of the text.
#[inline(always)]
fn word_at(text: &[u8], from: usize) -> [u8; Word::BYTES] {
    if let Some(word) = text[from..].first_chunk() {
        return *word;
    }
    let mut word = [0; Word::BYTES];
    word[..text.len() - from].copy_from_slice(&text[from..]);
    word
}

/// Appends the body of a JSON string without its escapes; `None` if an escape is wrong or a surrogate stands alone.
pub(crate) fn unescape_into(inner: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    out.resize(start + room(inner), 0);
    let length = unescape(inner, &mut out[start..])?;
    out.truncate(start + length);
    Some(())
}

/// Returns the room that [`unescape`] needs.
pub(crate) const fn room(inner: &[u8]) -> usize {
    // An escape is at least as long as what it stands for.
    inner.len() + Word::BYTES
}

/// Writes the body of a JSON string without its escapes to the beginning of `out`, which has [`room`] for it; returns the length.
/// `None` if an escape is wrong or a surrogate stands alone.
pub(crate) fn unescape(inner: &[u8], out: &mut [u8]) -> Option<usize> {
    let (mut from, mut to) = (0, 0);
    while from < inner.len() {
        // A word is copied whole, and the next one overwrites what follows a backslash.
        let word = word_at(inner, from);
        out[to..to + Word::BYTES].copy_from_slice(&word);
        let found = Word::new(word).equal(b'\\');
        let plain = if found == 0 { Word::BYTES.min(inner.len() - from) } else { first(found) };
        (from, to) = (from + plain, to + plain);
        if found != 0 {
            match SIMPLE[usize::from(*inner.get(from + 1)?)] {
                0 => to = escape(inner, &mut from, out, to)?,
                byte => {
                    out[to] = byte;
                    (from, to) = (from + 2, to + 1);
                }
            }
        }
    }
    Some(to)
}

/// What a letter after a backslash stands for; zero if it is not one of those.
const SIMPLE: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = *b"\"\"\\\\//b\x08f\x0cn\nr\rt\t";
    let mut place = 0;
    while place < pairs.len() {
        table[pairs[place] as usize] = pairs[place + 1];
        place += 2;
    }
    table
};

/// Reads an escape by number, with its backslash, and writes what it stands for at `to`; returns the place after that.
fn escape(inner: &[u8], from: &mut usize, out: &mut [u8], to: usize) -> Option<usize> {
    let mut rest = inner.get(*from..)?;
    let mut letter = [0; 4];
    let written = escaped(&mut rest, &mut letter)?;
    *from = inner.len() - rest.len();
    out[to..to + written.len()].copy_from_slice(written);
    Some(to + written.len())
}

/// Reads an escape `\uXXXX`, or two for a surrogate pair, and returns what it stands for.
fn escaped<'l>(rest: &mut &[u8], letter: &'l mut [u8; 4]) -> Option<&'l [u8]> {
    *rest = rest.strip_prefix(b"\\u")?;
    let mut unit = u32::from(hex4(rest)?);
    if (0xD800..0xDC00).contains(&unit) {
        *rest = rest.strip_prefix(b"\\u")?;
        let low = u32::from(hex4(rest)?);
        let low = (0xDC00..0xE000).contains(&low).then(|| low - 0xDC00)?;
        unit = 0x10000 + ((unit - 0xD800) << 10) + low;
    }
    Some(char::from_u32(unit)?.encode_utf8(letter).as_bytes())
}

fn hex4(rest: &mut &[u8]) -> Option<u16> {
    let (digits, after) = rest.split_at_checked(4)?;
    *rest = after;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|d| d.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}
