//! The grammar of numbers, 64 bytes at a time: whatever begins with a digit or a minus outside strings must be one.
//!
//! One idea: a rule about neighbours is a shift of a mask. Where a run of digits ends, which matters because a number
//! has one point and one exponent at the most, is found by addition: the carry goes through the run and comes out behind
//! it. What begins otherwise, a literal or nonsense, is for whoever walks the index to compare whole. Blocks where no
//! digit touches anything else hold only whole numbers, and most blocks are such.
//!
//! To measure each number where it is met, by a mask of its digits, cost 30 instructions a number and a branch or two
//! that was guessed wrong.

use super::arch::{Kernel, Masks, Numeric};
use crate::buffer::BLOCK;

/// What a block hands on to the next, a bit each; all are zero unless its last byte is part of a scalar. In one word, and
/// what is rare in a function of its own: so much of the scan's state stays in registers.
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
/// The last byte is the point or a digit behind it.
const FRACTION: u32 = 4;
/// The last byte is the letter of an exponent.
const LETTER: u32 = 5;
/// The last byte is an exponent's sign or a digit behind it or behind the letter.
const EXPONENT: u32 = 6;
/// The next byte must be a digit: a point or an exponent's sign came last.
const DUE: u32 = 7;

/// One if the last byte is part of a scalar.
#[inline(always)]
pub(super) fn goes_on(carry: Carry) -> u64 {
    carry >> SCALAR & 1
}

/// `scalars` are the block's bytes outside strings that are neither white, bracket nor separator, `starts` those that
/// begin one. Returns what to hand on, and zero if every number is good as far as it can be seen. Not looked at is whether
/// one that begins with a minus has any digits: whoever asks for the last byte to be one sees that.
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
    // Inside a scalar, from digits to something else or back, or from a zero in front to anything.
    let beside = (digits ^ (digits << 1 | carry >> DIGIT & 1) | zeros << 1) & (scalars ^ starts);
    // May be a minus, or such a zero.
    let last = (starts & !digits | zeros) >> 63;
    if beside | last | carry >> ZERO != 0 {
        return mixed(carry, kernel, block, masks.numeric, scalars, starts);
    }
    // Nothing but whole numbers and literals.
    (scalars >> 63 << SCALAR | digits >> 63 << DIGIT, 0)
}

/// Apart, and said to be rare, for the reason that [`super::Escapes::block_apart`] has.
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
            let behind_digit = digits << 1 | carried(DIGIT);
            let minus = minus & others;
            let points = point & others;
            // The first digit of a number, if it is a zero, is all of its whole part.
            let leading = starts | (minus & starts) << 1 | carried(MINUS);
            let zeros = zero & digits & leading;
            let mut wrong = (zeros << 1 | carried(ZERO)) & digits;

            // A point has a digit on either side, and behind the digits that follow it no other.
            wrong |= points & !behind_digit;
            let (fraction, fraction_goes_on) = past_digits(points << 1, digits, carried(FRACTION));
            wrong |= fraction & points;

            // Whatever else comes right behind a digit is the letter of an exponent.
            let letters = others & !(points | minus) & behind_digit;
            let (mut signs, mut exponent_goes_on) = (0, 0);
            if letters | carried(LETTER) | carried(EXPONENT) != 0 {
                wrong |= letters & !(kernel.find(block, b'e') | kernel.find(block, b'E'));
                let behind_letter = letters << 1 | carried(LETTER);
                signs = (minus | kernel.find(block, b'+')) & others & behind_letter;
                wrong |= behind_letter & !(digits | signs);
                let exponent;
                (exponent, exponent_goes_on) = past_digits(behind_letter | signs << 1, digits, carried(EXPONENT));
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
            // Digits begin a scalar or come behind a minus that does, a point, a letter or a sign.
            let before = leading | behind_digit | due << 1 | carried(DUE) | letters << 1 | carried(LETTER);
            (ahead, wrong | digits & !before)
        },
    )
}

/// The byte behind each run of digits that begins at one of `starts`, or goes on from the block before; and whether
/// such a run reaches the block's end.
#[inline(always)]
fn past_digits(starts: u64, digits: u64, goes_on: u64) -> (u64, u64) {
    let (sum, over) = digits.overflowing_add((starts | goes_on) & digits);
    // Where the run ended with the block before, the first byte is behind it.
    ((sum | goes_on) & !digits, u64::from(over))
}
