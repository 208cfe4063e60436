//! STC 1 in its canonical spacing (grammar/STC.md, section 8).

use crate::buffer::{Buffer, Pen};
use crate::format::{COLON, COMMA, COUNT_DIGITS, MEMBER_SEPARATOR, ROW_SEPARATOR, decimal, is_bare};

/// The space that canonical STC has after the comma between members; the comma itself was JSON's.
pub(crate) fn member_space(out: &mut Buffer<u8>) {
    out.extend(&MEMBER_SEPARATOR[1..]);
}

/// A key, given as JSON has it, in quotes: bare where it may be.
pub(crate) fn key(quoted: &[u8], out: &mut Buffer<u8>) {
    out.extend(written_key(quoted));
}

/// How long a key is once written.
pub(crate) fn key_len(quoted: &[u8]) -> usize {
    written_key(quoted).len()
}

fn written_key(quoted: &[u8]) -> &[u8] {
    let body = &quoted[1..quoted.len() - 1];
    if is_bare(body) { body } else { quoted }
}

pub(crate) fn colon(out: &mut Buffer<u8>) {
    out.extend(COLON);
}

pub(crate) fn comma(out: &mut Buffer<u8>) {
    out.push(COMMA);
}

pub(crate) fn row_separator(out: &mut Buffer<u8>) {
    out.extend(ROW_SEPARATOR);
}

/// What a compact array has after its key. JSON's commas are STC's too, so `elements` goes out as it stands.
pub(crate) fn compact(count: u64, elements: &[u8], out: &mut Buffer<u8>) {
    out.reserve(elements.len() + COUNT_DIGITS + 8);
    let mut pen = out.pen();
    compact_count(count, &mut pen);
    pen.write(elements);
    let written = pen.written();
    out.keep(written);
}

/// The count of a compact array, and all that comes before its elements.
#[inline]
pub(crate) fn compact_count(count: u64, pen: &mut Pen<'_, u8>) {
    self::count(count, pen);
    pen.write(COLON);
}

/// A count in its brackets. Most have one digit.
#[inline]
pub(crate) fn count(count: u64, pen: &mut Pen<'_, u8>) {
    if count < 10 {
        return pen.write(&[b'[', b'0' + count as u8, b']']);
    }
    let mut digits = [0; COUNT_DIGITS + 1];
    pen.write(b"[");
    pen.write(decimal(count, &mut digits));
    pen.write(b"]");
}

/// A columnar header whose count is still to come. Keys are given with quotes and colon.
pub(crate) fn columnar_header<'a>(keys: impl Iterator<Item = &'a [u8]>, out: &mut Buffer<u8>) {
    out.extend(b"[]{");
    for (column, with_colon) in keys.enumerate() {
        if column > 0 {
            comma(out);
        }
        key(&with_colon[..with_colon.len() - 1], out);
    }
    out.push(b'}');
    colon(out);
}

/// Puts the count into the header that begins at `mark`. One move of the rows costs less than counting them first.
pub(crate) fn columnar_count(mark: usize, count: u64, out: &mut Buffer<u8>) {
    let mut digits = [0; COUNT_DIGITS + 1];
    let digits = decimal(count, &mut digits);
    let (at, end) = (mark + 1, out.len());
    out.reserve(digits.len());
    out.keep(digits.len());
    out.copy_within(at..end, at + digits.len());
    out[at..at + digits.len()].copy_from_slice(digits);
}

/// A row whose cells are all at hand.
pub(crate) fn row<'a>(cells: impl Iterator<Item = &'a [u8]>, out: &mut Buffer<u8>) {
    for (column, cell) in cells.enumerate() {
        if column > 0 {
            comma(out);
        }
        out.extend(cell);
    }
}
