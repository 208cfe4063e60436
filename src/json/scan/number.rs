//! The grammar of numbers (RFC 8259, section 6), 64 bytes at a time: a scalar that begins with a digit or a minus must be
//! one.
//!
//! One idea: a rule about neighbours is a shift of a mask. Where a run of digits ends, which matters because a number
//! has at most one point and one exponent, is found by addition: the carry goes through the run and comes out after it.
//!
//! ```text
//! text       1 2 . 5 0 . 7
//! digits     1 1 . 1 1 . 1
//! points     . . 1 . . 1 .
//! sum        digits + (points << 1 & digits): bits after the runs that follow a point
//! fraction   . . . . . 1 .      the second point ends a fraction: wrong
//! ```
//!
//! Scalars that begin otherwise are literals or errors, and the reader of the index compares them whole. Blocks where no
//! digit touches anything else hold only whole numbers; most blocks are such.

use super::arch::{Kernel, Masks, Numeric};
use crate::buffer::BLOCK;

/// The state that one block passes to the next, a bit each; all are zero unless its last byte is part of a scalar. It is one
/// word, so that it stays in a register.
pub(super) type Carry = u64;

// The first two are all that whole numbers and literals need, so they are the lowest.

/// The last byte is part of a scalar: set if any is.
const SCALAR: u32 = 0;
/// The last byte is a digit.
const DIGIT: u32 = 1;
/// The last byte is a zero that no digit may follow.
const ZERO: u32 = 2;
/// The last byte is a minus that begins a number.
const MINUS: u32 = 3;
/// The last byte is the point or a digit after it.
const FRACTION: u32 = 4;
/// The last byte is the letter of an exponent.
const LETTER: u32 = 5;
/// The last byte is an exponent's sign, or a digit after it or after the letter.
const EXPONENT: u32 = 6;
/// The next byte must be a digit: a point or an exponent's sign came last.
const DUE: u32 = 7;

/// Returns one if the last byte is part of a scalar.
#[inline(always)]
pub(super) fn goes_on(carry: Carry) -> u64 {
    carry >> SCALAR & 1
}

/// Checks the numbers of a block. `scalars` are the bytes outside strings that are neither whitespace, bracket nor
/// separator, `starts` those that begin a scalar.
///
/// Returns the state for the next block, and zero if nothing is wrong. A lone minus is not noticed here; readers of the
/// index notice it, because they require the last byte of a number to be a digit.
#[inline(always)]
pub(super) fn block<K: Kernel>(
    carry: Carry,
    kernel: K,
    block: &[u8; BLOCK],
    masks: &Masks,
    scalars: u64,
    starts: u64,
) -> (Carry, u64) {
    let digit = match masks.numeric {
        Some(found) => found.digit,
        None => kernel.decimal(block),
    };
    let zero = match masks.numeric {
        Some(found) => found.zero,
        None => kernel.find(block, b'0'),
    };
    let (digits, zeros) = (digit & scalars, zero & starts);
    // Places inside a scalar where digits begin or end, or that follow a leading zero.
    let beside = (digits ^ (digits << 1 | carry >> DIGIT & 1) | zeros << 1) & (scalars ^ starts);
    // The last byte may be a minus, or such a zero.
    let last = (starts & !digits | zeros) >> 63;
    if beside | last | carry >> ZERO != 0 {
        return mixed(carry, kernel, block, masks.numeric, scalars, starts);
    }
    // Nothing but whole numbers and literals.
    (scalars >> 63 << SCALAR | digits >> 63 << DIGIT, 0)
}

/// Checks a block that has more than whole numbers and literals. Outlined and cold for the same reason as the escapes
/// ([`super::Escapes`]).
#[cold]
#[inline(never)]
fn mixed<K: Kernel>(
    carry: Carry,
    kernel: K,
    block: &[u8; BLOCK],
    numeric: Option<Numeric>,
    scalars: u64,
    starts: u64,
) -> (Carry, u64) {
    kernel.enter(
        #[inline(always)]
        || {
            let carried = |bit: u32| carry >> bit & 1;
            let Numeric { digit, zero, minus, point } = match numeric {
                Some(found) => found,
                None => Numeric {
                    digit: kernel.decimal(block),
                    zero: kernel.find(block, b'0'),
                    minus: kernel.find(block, b'-'),
                    point: kernel.find(block, b'.'),
                },
            };
            let digits = digit & scalars;
            let others = scalars & !digits;
            let after_digit = digits << 1 | carried(DIGIT);
            let minus = minus & others;
            let points = point & others;
            // The first digit of a number, if it is a zero, is all of its whole part.
            let leading = starts | (minus & starts) << 1 | carried(MINUS);
            let zeros = zero & digits & leading;
            let mut wrong = (zeros << 1 | carried(ZERO)) & digits;

            // A point has a digit on either side, and no other point after the digits that follow it.
            wrong |= points & !after_digit;
            let (fraction, fraction_goes_on) = past_digits(points << 1, digits, carried(FRACTION));
            wrong |= fraction & points;

            // Anything else right after a digit must be the letter of an exponent.
            let letters = others & !(points | minus) & after_digit;
            let (mut signs, mut exponent_goes_on) = (0, 0);
            if letters | carried(LETTER) | carried(EXPONENT) != 0 {
                wrong |= letters & !(kernel.find(block, b'e') | kernel.find(block, b'E'));
                let after_letter = letters << 1 | carried(LETTER);
                signs = (minus | kernel.find(block, b'+')) & others & after_letter;
                wrong |= after_letter & !(digits | signs);
                let exponent;
                (exponent, exponent_goes_on) = past_digits(after_letter | signs << 1, digits, carried(EXPONENT));
                wrong |= exponent & (points | letters);
            }
            wrong |= minus & !(starts | signs);
            let due = points | signs;
            wrong |= (due << 1 | carried(DUE)) & !digits;
            let ahead = scalars >> 63 << SCALAR
                | digits >> 63 << DIGIT
                | zeros >> 63 << ZERO
                | (minus & starts) >> 63 << MINUS
                | (points >> 63 | fraction_goes_on) << FRACTION
                | letters >> 63 << LETTER
                | (signs >> 63 | exponent_goes_on) << EXPONENT
                | due >> 63 << DUE;
            // Digits begin a scalar, or follow a minus that does, a point, a letter or a sign.
            let before = leading | after_digit | due << 1 | carried(DUE) | letters << 1 | carried(LETTER);
            (ahead, wrong | digits & !before)
        },
    )
}

/// Returns the byte after each run of digits that begins at one of `starts` or continues from the previous block, and one
/// if such a run reaches the block's end.
#[inline(always)]
fn past_digits(starts: u64, digits: u64, goes_on: u64) -> (u64, u64) {
    let (sum, over) = digits.overflowing_add((starts | goes_on) & digits);
    // Where the run ended with the previous block, the first byte is the one after it.
    ((sum | goes_on) & !digits, u64::from(over))
}
