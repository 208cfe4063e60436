//! Strings of JSON with their escapes, and without.

use crate::block::{BLOCK, COPY_BYTES, PaddedBlock, escaped, mask};

/// Appends a text as a JSON string with its quotes.
///
/// The bytes between two escapes are copied 16 at a time, and what was copied too much is overwritten:
///
/// ```text
/// text     say "a" a
/// written  say "a" a    16 bytes; the first byte that needs an escape is the fifth
///          say \"a" a   the escape; the next copy begins after the quote
/// ```
pub(crate) fn quote_into(text: &str, out: &mut Vec<u8>) {
    let text = text.as_bytes();
    let mut to = out.len() + 1;
    out.push(b'"');
    let mut from = 0;
    while let Some(block) = text[from..].first_chunk() {
        make_room(out, to + BLOCK * LONGEST_ESCAPE + COPY_BYTES, text.len() - from);
        let mut escapes = mask(block, needs_escape);
        let mut plain = 0;
        while escapes != 0 {
            let place = escapes.trailing_zeros() as usize;
            to = copy(block, plain, place, out, to);
            to = write_escape(block[place], out, to);
            plain = place + 1;
            escapes &= escapes - 1;
        }
        to = copy(block, plain, BLOCK, out, to);
        from += BLOCK;
    }
    make_room(out, to + (text.len() - from) * LONGEST_ESCAPE, 0);
    for &byte in &text[from..] {
        if needs_escape(byte) {
            to = write_escape(byte, out, to);
        } else {
            out[to] = byte;
            to += 1;
        }
    }
    out.truncate(to);
    out.push(b'"');
}

/// Bytes of the longest escape that is written.
const LONGEST_ESCAPE: usize = 6;

#[inline(always)]
const fn needs_escape(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Fills the output up to `needed`, and where it has to grow, with room for `rest` bytes of text and an escape in every fourth.
#[inline(always)]
fn make_room(out: &mut Vec<u8>, needed: usize, rest: usize) {
    if out.len() < needed {
        let room = needed + rest + rest / 4;
        out.resize(if needed <= out.capacity() { room.min(out.capacity()) } else { room }, 0);
    }
}

/// Copies the bytes from `from` to `end` of a block, 16 at a time; the last copy may write past `end`. Returns the position after the
/// copied bytes.
#[inline(always)]
fn copy(block: &PaddedBlock, mut from: usize, end: usize, out: &mut [u8], mut to: usize) -> usize {
    let after = to + end - from;
    while from < end {
        out[to..to + COPY_BYTES].copy_from_slice(&block[from..from + COPY_BYTES]);
        (from, to) = (from + COPY_BYTES, to + COPY_BYTES);
    }
    after
}

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
    inner.len() + COPY_BYTES
}

/// Writes the body of a JSON string without its escapes to the beginning of `out`, which has [`room`] for it; returns the length.
/// `None` if an escape is wrong or a surrogate stands alone.
pub(crate) fn unescape(inner: &[u8], out: &mut [u8]) -> Option<usize> {
    let (mut from, mut to) = (0, 0);
    while let Some(block) = inner[from..].first_chunk() {
        let backslashes = mask(block, |byte| byte == b'\\');
        let mut escapes = backslashes & !escaped(backslashes, &mut 0);
        let mut plain = 0;
        while escapes != 0 {
            let place = escapes.trailing_zeros() as usize;
            to = copy(block, plain, place, out, to);
            let byte = SIMPLE[usize::from(block[place + 1])];
            if byte == 0 {
                plain = place;
                break;
            }
            out[to] = byte;
            to += 1;
            plain = place + 2;
            escapes &= escapes - 1;
        }
        if escapes == 0 {
            // The last escape may reach into the next block by a byte.
            to = copy(block, plain, BLOCK.max(plain), out, to);
            from += BLOCK.max(plain);
        } else {
            from += plain;
            to = escape(inner, &mut from, out, to)?;
        }
    }
    while let Some(&byte) = inner.get(from) {
        if byte == b'\\' {
            to = escape(inner, &mut from, out, to)?;
        } else {
            out[to] = byte;
            (from, to) = (from + 1, to + 1);
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

/// Reads an escape, with its backslash, and writes what it stands for at `to`; returns the place after that.
fn escape(inner: &[u8], from: &mut usize, out: &mut [u8], to: usize) -> Option<usize> {
    let mut rest = inner.get(*from..)?;
    let byte = SIMPLE[usize::from(*rest.get(1)?)];
    if byte != 0 {
        out[to] = byte;
        *from += 2;
        return Some(to + 1);
    }
    let mut letter = [0; 4];
    let written = by_number(&mut rest, &mut letter)?;
    *from = inner.len() - rest.len();
    out[to..to + written.len()].copy_from_slice(written);
    Some(to + written.len())
}

/// Reads an escape `\uXXXX`, or two for a surrogate pair, and returns what it stands for.
fn by_number<'l>(rest: &mut &[u8], letter: &'l mut [u8; 4]) -> Option<&'l [u8]> {
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
