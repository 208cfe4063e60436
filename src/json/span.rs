//! Lexemes read and copied many bytes at a time, for the fast paths of both directions.
//!
//! Reads go through a kernel, [`SPAN`] bytes at once; copies go [`BLOCK`] bytes at once. Where the text has fewer bytes, or
//! a lexeme is longer, the functions take a slow path or return `None`; they never read past the text.

use crate::buffer::{BLOCK, Pen};
use crate::format::{is_literal, starts_bare_string};
use crate::json::scan::Escapes;
use crate::json::scan::arch::{Kernel, SPAN};

/// Returns the length of the number at `start`, by counting runs of digits in a mask. Returns `None` if there is no number,
/// or one that is too long for a span.
#[inline(always)]
pub(crate) fn number_len<K: Kernel>(kernel: K, text: &[u8], start: usize) -> Option<usize> {
    let span: &[u8; SPAN] = text.get(start..)?.first_chunk()?;
    let digits = kernel.digits(span);
    let run = |from: usize| (digits >> from).trailing_ones() as usize;
    // A branch that is well predicted, so that nothing waits for the byte.
    let (sign, whole) = if span[0] == b'-' { (1, run(1)) } else { (0, run(0)) };
    if whole == 0 || whole > 1 && span[sign] == b'0' {
        return None;
    }
    let mut at = sign + whole;
    if at + 3 >= SPAN {
        return None;
    }
    if span[at] == b'.' {
        let fraction = run(at + 1);
        at += 1 + fraction;
        if fraction == 0 || at + 3 >= SPAN {
            return None;
        }
    }
    if span[at] | 0x20 == b'e' {
        at += 1 + usize::from(matches!(span[at + 1], b'+' | b'-'));
        let exponent = run(at);
        at += exponent;
        if exponent == 0 || at >= SPAN {
            return None;
        }
    }
    Some(at)
}

/// Returns the offset after the closing quote of the string at `start`. Escapes are checked; UTF-8 and control characters
/// are for the caller to check. Returns `None` if an escape is wrong, or if the string ends too close to the end of the
/// text for the kernel to read there.
#[inline(always)]
pub(crate) fn text_end<K: Kernel>(kernel: K, text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        let plain = kernel.plain_len(bytes_at(text, at)?);
        at += plain;
        if plain == SPAN {
            continue;
        }
        return if text[at] == b'"' { Some(at + 1) } else { escaped_end(kernel, text, at) };
    }
}

/// As [`text_end`], from the string's first backslash on. Where there is one there are often many, so this goes block by
/// block and checks all escapes of a block together: byte by byte, strings of source code took five times as long.
#[inline(never)]
fn escaped_end<K: Kernel>(kernel: K, text: &[u8], mut at: usize) -> Option<usize> {
    kernel.enter(
        #[inline(always)]
        || {
            let mut escapes = Escapes::default();
            loop {
                let block: &[u8; BLOCK] = bytes_at(text, at)?;
                let (escaped, next, wrong) = escapes.block(kernel, block, kernel.find(block, b'\\'));
                let quotes = kernel.find(block, b'"') & !escaped;
                // Up to the first quote, which is wrong itself where a hexadecimal digit is due.
                let within = quotes ^ quotes.wrapping_sub(1);
                if wrong & within != 0 {
                    return None;
                }
                if quotes != 0 {
                    return Some(at + quotes.trailing_zeros() as usize + 1);
                }
                escapes = next;
                at += BLOCK;
            }
        },
    )
}

/// Returns the `N` bytes at `at`, if the text has so many.
#[inline(always)]
pub(crate) fn bytes_at<const N: usize>(text: &[u8], at: usize) -> Option<&[u8; N]> {
    text.get(at..)?.first_chunk()
}

/// Appends the bytes from `from` to `to`, in whole blocks where the text is long enough: few values are longer than a block,
/// and a store that is too wide costs less than a mispredicted branch.
#[inline(always)]
pub(crate) fn copy(text: &[u8], from: usize, to: usize, pen: &mut Pen<'_, u8>) {
    let Some(length) = to.checked_sub(from) else { return };
    match bytes_at::<BLOCK>(text, from) {
        Some(block) if length <= BLOCK => *pen.chunk() = *block,
        _ => return copy_long(text, from, to, pen),
    }
    pen.keep(length);
}

/// Copies the first `length` bytes of `text`, from the second block on; the caller has copied the first. Returns false if
/// text or room have less than a block after them.
#[inline(always)]
pub(crate) fn copy_further_blocks(text: &[u8], length: usize, room: &mut [u8]) -> bool {
    if text.len() < length + BLOCK || room.len() < length + BLOCK {
        return false;
    }
    for at in (BLOCK..length).step_by(BLOCK) {
        let (Some(block), Some(into)) = (bytes_at::<BLOCK>(text, at), room[at..].first_chunk_mut()) else {
            return false;
        };
        *into = *block;
    }
    true
}

#[inline(always)]
fn copy_long(text: &[u8], from: usize, to: usize, pen: &mut Pen<'_, u8>) {
    /// Longer copies are a call to `memcpy`.
    const MAX_BLOCKS: usize = 8;
    let length = to - from;
    let blocks = length.div_ceil(BLOCK);
    if blocks > MAX_BLOCKS || text.len() - from < blocks * BLOCK || pen.left() < blocks * BLOCK {
        return pen.write(&text[from..to]);
    }
    let mut at = from;
    for _ in 0..blocks {
        let Some(block) = bytes_at::<BLOCK>(text, at) else { break };
        pen.at_offset(at - from, block);
        at += BLOCK;
    }
    pen.keep(length);
}

/// Returns the length of the bytes at `start` that bare strings have; `None` if they go on to the end of the text, or nearly.
#[inline(always)]
pub(crate) fn bare_string_len<K: Kernel>(kernel: K, text: &[u8], start: usize) -> Option<usize> {
    let mut length = 0;
    loop {
        let further = kernel.bare_string_len(bytes_at(text, start + length)?);
        length += further;
        if further < SPAN {
            return Some(length);
        }
    }
}

/// Returns whether the string with the body from `start` to `end`, where its closing quote is, may be written bare.
#[inline(always)]
pub(crate) fn is_bare_string<K: Kernel>(kernel: K, text: &[u8], start: usize, end: usize) -> bool {
    match bare_string_len(kernel, text, start) {
        Some(length) => length == end - start && starts_bare_string(text[start]) && !is_literal(&text[start..end]),
        None => crate::format::is_bare_string(&text[start..end]),
    }
}

/// Returns whether a string of `length` bytes, with which `body` begins, may be written bare. One as long as `body` is not recognised.
#[inline(always)]
pub(crate) fn is_bare_string_span<K: Kernel>(kernel: K, body: &[u8; SPAN], length: usize) -> bool {
    kernel.bare_string_len(body) == length
        && length < SPAN
        && starts_bare_string(body[0])
        && !is_literal(&body[..length])
}

/// Returns whether the key with the body from `start` to `end`, where its closing quote is, may be written bare.
#[inline(always)]
pub(crate) fn is_bare<K: Kernel>(kernel: K, text: &[u8], start: usize, end: usize) -> bool {
    match bytes_at::<SPAN>(text, start) {
        Some(body) if end - start < SPAN => is_bare_span(kernel, body, end - start),
        _ => crate::format::is_bare(&text[start..end]),
    }
}

/// Returns whether a key of `length` bytes, with which `body` begins, is an identifier. A key as long as `body` is not
/// recognised.
#[inline(always)]
pub(crate) fn is_bare_span<K: Kernel>(kernel: K, body: &[u8; SPAN], length: usize) -> bool {
    // Of the bytes of an identifier only digits are below the letters. So is the quote of an empty key.
    kernel.identifier_len(body) == length && length < SPAN && body[0] > b'9'
}
