//! Lexemes looked at 32 bytes at a time, for the sprints of both directions.
//!
//! Each of these asks a kernel about the [`SPAN`] bytes at a place. Where the text has fewer, or a lexeme is longer,
//! they fall back to something slower or decline; they never look past the text.

use crate::buffer::BLOCK;
use crate::buffer::Pen;
use crate::json::scan::Escapes;
use crate::json::scan::arch::{Kernel, SPAN};

/// How long the number at `start` is, by counting runs of digits in a mask without looking at each. It goes as far as
/// a number can. None if there is no number, or none so short that it can be told here.
#[inline(always)]
pub(crate) fn number_len<K: Kernel>(kernel: K, text: &[u8], start: usize) -> Option<usize> {
    let span: &[u8; SPAN] = text.get(start..)?.first_chunk()?;
    let digits = kernel.digits(span);
    let run = |from: usize| (digits >> from).trailing_ones() as usize;
    // A branch, which mostly goes one way, so that nothing waits for the byte.
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

/// Where the string that begins at `start` ends, behind its closing quote. Its escapes are checked; that it is UTF-8
/// and without control characters is for the caller to know. None if it is wrong or does not end where the kernel can
/// look.
#[inline(always)]
pub(crate) fn text_end<K: Kernel>(kernel: K, text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        let plain = kernel.plain_len(window(text, at)?);
        at += plain;
        if plain == SPAN {
            continue;
        }
        return if text[at] == b'"' { Some(at + 1) } else { escaped_end(kernel, text, at) };
    }
}

/// The same from the string's first backslash on. Where there is one there are often many, so it goes block by block
/// and checks all escapes of one together: byte by byte, a patch in a pull request took five times as long.
#[inline(never)]
fn escaped_end<K: Kernel>(kernel: K, text: &[u8], mut at: usize) -> Option<usize> {
    kernel.enter(
        #[inline(always)]
        || {
            let mut escapes = Escapes::default();
            loop {
                let block: &[u8; BLOCK] = window(text, at)?;
                let (escaped, ahead, bad) = escapes.block(kernel, block, kernel.find(block, b'\\'));
                let quotes = kernel.find(block, b'"') & !escaped;
                // Up to the first quote, which must not stand where a digit is wanted.
                let within = quotes ^ quotes.wrapping_sub(1);
                if bad & within != 0 {
                    return None;
                }
                if quotes != 0 {
                    return Some(at + quotes.trailing_zeros() as usize + 1);
                }
                escapes = ahead;
                at += BLOCK;
            }
        },
    )
}

/// The `N` bytes at `at`, if the text has so many.
#[inline(always)]
pub(crate) fn window<const N: usize>(text: &[u8], at: usize) -> Option<&[u8; N]> {
    text.get(at..)?.first_chunk()
}

/// How much is copied at once: few values are longer, and a store too wide costs less than a branch guessed wrong.
const STRIDE: usize = 64;

/// Appends `from` to `to`, in whole strides where the text goes on for long enough.
#[inline(always)]
pub(crate) fn copy(text: &[u8], from: usize, to: usize, pen: &mut Pen<'_, u8>) {
    let Some(length) = to.checked_sub(from) else { return };
    match window::<STRIDE>(text, from) {
        Some(stride) if length <= STRIDE => *pen.chunk() = *stride,
        _ => return copy_long(text, from, to, pen),
    }
    pen.keep(length);
}

/// Copies what `text` begins with, `length` bytes, from the second stride on: the first has been. False if text or room do
/// not go on for a stride behind it.
#[inline(always)]
pub(crate) fn put_rest(text: &[u8], length: usize, room: &mut [u8]) -> bool {
    if text.len() < length + STRIDE || room.len() < length + STRIDE {
        return false;
    }
    for at in (STRIDE..length).step_by(STRIDE) {
        let (Some(stride), Some(into)) = (window::<STRIDE>(text, at), room[at..].first_chunk_mut()) else {
            return false;
        };
        *into = *stride;
    }
    true
}

#[inline(always)]
fn copy_long(text: &[u8], from: usize, to: usize, pen: &mut Pen<'_, u8>) {
    const FEW: usize = 8;
    let length = to - from;
    let strides = length.div_ceil(STRIDE);
    if strides > FEW || text.len() - from < strides * STRIDE || pen.left() < strides * STRIDE {
        return pen.write(&text[from..to]);
    }
    let mut at = from;
    for _ in 0..strides {
        let Some(stride) = window::<STRIDE>(text, at) else { break };
        pen.at_offset(at - from, stride);
        at += STRIDE;
    }
    pen.keep(length);
}

/// May the key with the body from `start` to `end`, where its closing quote stands, be written without its quotes?
#[inline(always)]
pub(crate) fn is_bare<K: Kernel>(kernel: K, text: &[u8], start: usize, end: usize) -> bool {
    match window::<SPAN>(text, start) {
        Some(body) if end - start < SPAN => is_bare_span(kernel, body, end - start),
        _ => crate::format::is_bare(&text[start..end]),
    }
}

/// Is a key of `length` bytes, which `body` begins with and a quote ends, an identifier? Not if it is as long as `body`.
#[inline(always)]
pub(crate) fn is_bare_span<K: Kernel>(kernel: K, body: &[u8; SPAN], length: usize) -> bool {
    // Of all that an identifier may hold only digits come before the letters. So does the quote of an empty key.
    kernel.identifier_len(body) == length && length < SPAN && body[0] > b'9'
}
