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

/// Appends the bytes from `from` to `to`, as a whole block where the text is long enough: few values are longer, and a store that is too
/// wide costs less than a mispredicted branch. Several blocks in a loop instead of a call to `memcpy` were 0.2 % more instructions.
#[inline(always)]
pub(crate) fn copy(text: &[u8], from: usize, to: usize, pen: &mut Pen<'_, u8>) {
    let Some(length) = to.checked_sub(from) else { return };
    match bytes_at(text, from) {
        Some(block) if length <= BLOCK => {
            *pen.chunk::<BLOCK>() = *block;
            pen.keep(length);
        }
        _ => pen.write(&text[from..to]),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::lexer::{self, Discard, Lexeme};
    use crate::json::scan::{Choice, with_kernel};

    /// Every number is read to its end or not at all, and one with room after it is read.
    #[test]
    fn a_number_is_read_to_its_end() {
        let digits = "1234567890".repeat(5);
        let parts = |length: usize| [digits[..length].to_owned(), "0".repeat(length.min(1))];
        let mut numbers: Vec<String> = Vec::new();
        for length in (0..36).step_by(if cfg!(miri) { 17 } else { 1 }) {
            for some in parts(length) {
                for before in ["", "-", "0", "1.", "1e", "-0.5E+", "-", "12.", "1e-", "--", "00", "1.5."] {
                    for after in ["", ".", ".5", "e", "e+", "e5", ".0e-12", "E"] {
                        numbers.push([before, &some, after].concat());
                    }
                }
            }
        }
        for number in numbers {
            for end in [",", "]", "x", " "] {
                let text = [&number, end, &"#".repeat(SPAN)].concat();
                // The longest number that the text begins with, and that nothing of a number follows.
                let length = text.bytes().take_while(|byte| b"0123456789.eE+-".contains(byte)).count();
                let expected = Some(length).filter(|&length| lexer::is_number(&text.as_bytes()[..length]));
                for choice in Choice::available() {
                    let found = with_kernel!(choice, kernel => number_len(kernel, text.as_bytes(), 0));
                    // Of what is no number it may read the beginning.
                    let is_good = match (found, expected) {
                        (Some(found), Some(expected)) => found == expected,
                        (Some(found), None) => {
                            lexer::is_number(&text.as_bytes()[..found]) && !text.as_bytes()[found].is_ascii_digit()
                        }
                        (None, Some(expected)) => expected + 4 > SPAN,
                        (None, None) => true,
                    };
                    assert!(is_good, "{choice:?}: {found:?} of {text}");
                }
            }
        }
    }

    /// A string with escapes at the ends of blocks is read to its quote, and refused exactly if an escape is wrong.
    #[test]
    fn a_string_is_read_to_its_quote() {
        const PARTS: [&str; 9] = ["", "a", "\\", "\"", "u00e9", "u12", "n", "q", "\\\\\""];
        let parts = PARTS.len();
        for before in [0, 1, 25, 28, 31, 32, 57, 60, 61, 62, 63, 64, 90, 124, 125, 126, 127, 128] {
            for number in (0..parts.pow(4)).step_by(if cfg!(miri) { 997 } else { 1 }) {
                let some: String = (0..4).map(|at| PARTS[number / parts.pow(at) % parts]).collect();
                for between in ["", "\\n"].into_iter().skip((number + before) % 2).step_by(2) {
                    let body = ["\"", between, &"-".repeat(before - before.min(between.len())), &some].concat();
                    let text = [&body, "zz\"", &" ".repeat(3 * BLOCK)].concat();
                    let mut lexeme = Lexeme::starting(b'"').expect("a quote");
                    let read = lexeme.feed(text.as_bytes(), 0, &mut Discard);
                    let expected = read.ok().map(|(taken, _)| taken);
                    let found = with_kernel!(Choice::best(), kernel => text_end(kernel, text.as_bytes(), 0));
                    assert_eq!(found, expected, "{text}");
                }
            }
        }
    }

    /// A copy has the bytes of the text, in blocks or not, up to the end of the text and of the room.
    #[test]
    fn a_copy_has_the_bytes_of_the_text() {
        let text: Vec<u8> = (0..700).map(|at| at as u8 % 251).collect();
        for from in [0, 1, 63, 300] {
            for length in (0..=600).filter(|length| length % 64 < 3 || length % 64 > 61) {
                let to = from + length;
                for end in [to, to + 1, to + BLOCK - 1, to + BLOCK, 700] {
                    if to > end || end > text.len() {
                        continue;
                    }
                    for room_len in [length.max(BLOCK), BLOCK + length.next_multiple_of(BLOCK), 1000] {
                        let mut room = vec![255; room_len];
                        let mut pen = Pen::of(&mut room);
                        copy(&text[..end], from, to, &mut pen);
                        assert_eq!(pen.written(), length);
                        assert_eq!(room[..length], text[from..to], "{from} to {to} of {end}, {room_len} bytes of room");
                        let (rest, mut room) = (&text[from..end], vec![255; room_len]);
                        let first = length.min(BLOCK);
                        room[..first].copy_from_slice(&rest[..first]);
                        let enough = rest.len() >= length + BLOCK && room_len >= length + BLOCK;
                        assert_eq!(copy_further_blocks(rest, length, &mut room), enough);
                        assert!(!enough || room[..length] == rest[..length], "{from} to {to} of {end}");
                    }
                }
            }
        }
    }

    /// Bare keys and bare strings are recognised whatever their length and whatever follows them.
    #[test]
    fn what_is_bare_is_bare_at_every_length() {
        for length in (0..=140).step_by(if cfg!(miri) { 33 } else { 1 }) {
            for (first, other, at) in ["a", "Z", "_", "9", "-", "/", "true", "null"].iter().flat_map(|first| {
                ["", "-", "9", "_", " ", "é", "/"]
                    .iter()
                    .flat_map(move |other| [1, length / 2, length - length.min(1)].map(|at| (first, other, at)))
            }) {
                let mut body = format!("{first}{}", "k0_Z".repeat(length))[..length].to_owned();
                if !other.is_empty() && at < body.len() {
                    body.replace_range(at..=at, other);
                }
                for after in [0, 1, SPAN, 2 * SPAN] {
                    let text = [&body, "\"", &":".repeat(after)].concat();
                    for choice in Choice::available() {
                        let (key, string) = with_kernel!(choice, kernel => (
                            is_bare(kernel, text.as_bytes(), 0, body.len()),
                            is_bare_string(kernel, text.as_bytes(), 0, body.len()),
                        ));
                        let is_key = body.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                            && body.chars().all(|other| other.is_ascii_alphanumeric() || other == '_');
                        assert_eq!(key, is_key, "{choice:?}: {text}");
                        let is_string = crate::format::is_bare_string(body.as_bytes());
                        assert_eq!(string, is_string, "{choice:?}: {text}");
                    }
                }
            }
        }
    }
}
