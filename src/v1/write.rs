//! The spellings of STC 1 in their canonical spacing (grammar/STC.md, section 8).

use crate::buffer::{Buffer, Pen};
use crate::format::{
    COLON, COMMA, COUNT_CLOSE, COUNT_DIGITS, COUNT_OPEN, HEADER_CLOSE, HEADER_OPEN, MEMBER_SPACE, ROW_SEPARATOR,
    decimal, is_bare,
};

/// Appends the space that follows the comma between members; the comma is copied from the JSON.
pub(super) fn member_space(out: &mut Buffer<u8>) {
    out.push(MEMBER_SPACE);
}

/// Appends a key, given in quotes: bare if it is an identifier.
pub(super) fn key(quoted: &[u8], out: &mut Buffer<u8>) {
    out.extend(written_key(quoted));
}

/// Returns the length of a key as [`key`] writes it.
pub(super) fn key_len(quoted: &[u8]) -> usize {
    written_key(quoted).len()
}

fn written_key(quoted: &[u8]) -> &[u8] {
    let body = &quoted[1..quoted.len() - 1];
    if is_bare(body) { body } else { quoted }
}

/// Appends the colon between a key or a header and its value.
pub(super) fn colon(out: &mut Buffer<u8>) {
    out.extend(COLON);
}

/// Appends the comma between elements, cells or keys.
pub(super) fn comma(out: &mut Buffer<u8>) {
    out.push(COMMA);
}

/// Appends the separator between rows.
pub(super) fn row_separator(out: &mut Buffer<u8>) {
    out.extend(ROW_SEPARATOR);
}

/// Appends a compact array after its key. JSON and STC have the same commas, so `elements` is copied unchanged.
pub(super) fn compact(count: u64, elements: &[u8], out: &mut Buffer<u8>) {
    out.reserve(elements.len() + COUNT_DIGITS + 8);
    let mut pen = out.pen();
    compact_count(count, &mut pen);
    pen.write(elements);
    let written = pen.written();
    out.keep(written);
}

/// Appends the count of a compact array and its colon.
#[inline]
pub(super) fn compact_count(count: u64, pen: &mut Pen<'_, u8>) {
    self::count(count, pen);
    pen.write(COLON);
}

/// Appends a count in its brackets. Most have one digit.
#[inline]
pub(super) fn count(count: u64, pen: &mut Pen<'_, u8>) {
    if count < 10 {
        return pen.write(&[COUNT_OPEN, b'0' + count as u8, COUNT_CLOSE]);
    }
    let mut digits = [0; COUNT_DIGITS + 1];
    pen.write(&[COUNT_OPEN]);
    pen.write(decimal(count, &mut digits));
    pen.write(&[COUNT_CLOSE]);
}

/// Appends a columnar header without its count. Keys are given with quotes and colon.
pub(super) fn columnar_header<'a>(keys: impl Iterator<Item = &'a [u8]>, out: &mut Buffer<u8>) {
    out.extend(&[COUNT_OPEN, COUNT_CLOSE, HEADER_OPEN]);
    for (column, with_colon) in keys.enumerate() {
        if column > 0 {
            comma(out);
        }
        key(&with_colon[..with_colon.len() - 1], out);
    }
    out.push(HEADER_CLOSE);
    colon(out);
}

/// Inserts the count into the header that begins at `mark`. Moving the rows once costs less than counting them first.
pub(super) fn columnar_count(mark: usize, count: u64, out: &mut Buffer<u8>) {
    let mut digits = [0; COUNT_DIGITS + 1];
    let digits = decimal(count, &mut digits);
    let (at, end) = (mark + 1, out.len());
    out.reserve(digits.len());
    out.keep(digits.len());
    out.copy_within(at..end, at + digits.len());
    out[at..at + digits.len()].copy_from_slice(digits);
}

/// Appends a row.
pub(super) fn row<'a>(cells: impl Iterator<Item = &'a [u8]>, out: &mut Buffer<u8>) {
    for (column, cell) in cells.enumerate() {
        if column > 0 {
            comma(out);
        }
        out.extend(cell);
    }
}
