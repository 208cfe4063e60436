//! Numbers in arrays, a block at a time.
//!
//! One idea: the scanner has checked the inside of every number, so for an array of numbers, or an array of such arrays
//! (coordinates), only the neighbours of each byte are left to check; and a rule about neighbours is a shift of a mask. Of
//! the index only the entry at the end is read. Coordinates take two thirds of the time they take one by one (AVX-512).
//!
//! ```text
//! text     1 2 , - 7 ] , [ 3 , 4
//! starts   1 . . 1 . . . . 1 . 1      where numbers begin
//! open     . . . . . . . 1 . . .      must be exactly two bytes after `close`
//! close    . . . . . 1 . . . . .      must follow a digit
//! comma    . . 1 . . . 1 . . 1 .      must follow a digit or `close`
//! tokens   starts | open | close: one index entry each, so their number says how many entries can be skipped
//! ```

use crate::buffer::BLOCK;
use crate::json::scan::arch::{Kernel, Masks};
use crate::json::span::bytes_at;
use crate::json::tape::byte;

/// Blocks are used only if the element this many entries ahead is a number too: a block costs as much as a few elements.
const MIN_NUMBERS: usize = 4;

/// Returns how many elements, from the first entry on, are numbers followed by a number.
#[inline(always)]
pub(crate) fn numbers<K: Kernel>(kernel: K, text: &[u8], index: &[u32]) -> usize {
    let mut count = many_numbers(kernel, text, index);
    let Some((&first, others)) = index[count..].split_first() else { return count };
    if !begins(byte(text, first as usize)) {
        return count;
    }
    for &next in others {
        let Some(&[before, comma, first]) = bytes_at(text, (next as usize).wrapping_sub(2)) else { break };
        // A number ends in a digit.
        if !before.is_ascii_digit() || comma != b',' || !begins(first) {
            break;
        }
        count += 1;
    }
    count
}

/// As [`numbers`], but zero if there are only a few.
#[inline(always)]
pub(crate) fn many_numbers<K: Kernel>(kernel: K, text: &[u8], index: &[u32]) -> usize {
    let is_element = |entry: usize| {
        let other = index.get(entry).and_then(|&other| bytes_at(text, (other as usize).wrapping_sub(1)));
        matches!(other, Some(&[b',', first]) if begins(first))
    };
    // The next one too: numbers may alternate with strings.
    let many = K::SWEEPS_NUMBERS && is_element(MIN_NUMBERS) && is_element(1);
    if many { skip::<false, K>(kernel, text, index) } else { 0 }
}

/// Returns how many entries can be skipped, numbers and arrays of numbers, so that the entry reached is a number in an array
/// at the same depth. The first entry must be an element of an array in an array. Zero if it is no number, or if there are only
/// a few.
#[inline(always)]
pub(crate) fn many_lists<K: Kernel>(kernel: K, text: &[u8], index: &[u32]) -> usize {
    let first = |entry: usize| index.get(entry).map(|&other| byte(text, other as usize));
    // The next one too: numbers may alternate with strings, also in lists of one number and one string.
    let many = K::SWEEPS_NUMBERS
        && first(MIN_NUMBERS).is_some_and(begins)
        && first(1).is_some_and(|next| next == b']' || begins(next));
    if many { skip::<true, K>(kernel, text, index) } else { 0 }
}

#[inline(always)]
fn begins(first: u8) -> bool {
    first.is_ascii_digit() || first == b'-'
}

/// Returns how many entries can be skipped. Repeated calls stay linear in all: this stops at the first byte that is out of
/// place, and callers check that there are [`MIN_NUMBERS`] more.
#[inline(never)]
fn skip<const LISTS: bool, K: Kernel>(kernel: K, text: &[u8], index: &[u32]) -> usize {
    let Some(text) = index.first().and_then(|&first| text.get(first as usize..)) else { return 0 };
    let (entries, bytes) = kernel.enter(
        #[inline(always)]
        || skip_blocks::<LISTS, K>(kernel, text),
    );
    // Two numbers with only whitespace between them look like one in the text but have two entries: the entry at this count
    // is then at another place.
    if index.get(entries) == Some(&(index[0] + bytes as u32)) { entries } else { 0 }
}

/// Returns how many entries can be skipped, and how many bytes that is.
#[inline(always)]
fn skip_blocks<const LISTS: bool, K: Kernel>(kernel: K, text: &[u8]) -> (usize, usize) {
    let (mut before, mut to) = (NumberMasks::default(), (0, 0));
    let mut entries = 0;
    for (number, block) in text.as_chunks::<BLOCK>().0.iter().enumerate() {
        let block = NumberMasks::of::<LISTS, K>(kernel, block);
        let (starts, bad) = block.check::<LISTS>(before);
        let tokens = starts | block.open | block.close;
        // Below the first byte that is out of place.
        let good = starts & bad.wrapping_sub(1) & !bad;
        if good != 0 {
            let last = 63 - good.leading_zeros();
            to = (entries + (tokens & ((1 << last) - 1)).count_ones() as usize, BLOCK * number + last as usize);
        }
        if bad != 0 {
            break;
        }
        entries += tokens.count_ones() as usize;
        before = block;
    }
    to
}

/// The classes of a block's bytes, a bit each.
#[derive(Clone, Copy, Default)]
struct NumberMasks {
    /// Neither whitespace, a bracket nor a separator.
    plain: u64,
    digit: u64,
    comma: u64,
    open: u64,
    close: u64,
    /// Not part of an array of numbers.
    foreign: u64,
}

impl NumberMasks {
    #[inline(always)]
    fn of<const LISTS: bool, K: Kernel>(kernel: K, block: &[u8; BLOCK]) -> Self {
        let Masks { quote, plain, numeric, .. } = kernel.masks(block);
        let digit = match numeric {
            Some(found) => found.digit,
            None => kernel.decimal(block),
        };
        let comma = kernel.find(block, b',');
        let (open, close) = if LISTS { (kernel.find(block, b'['), kernel.find(block, b']')) } else { (0, 0) };
        Self { plain, digit, comma, open, close, foreign: !(plain | comma | open | close) | quote }
    }

    /// Returns where numbers begin, and the bytes that are out of place, given the previous block.
    #[inline(always)]
    fn check<const LISTS: bool>(self, before: Self) -> (u64, u64) {
        let Self { plain, digit, comma, open, close, foreign } = self;
        let starts = plain & !(plain << 1 | before.plain >> 63);
        let after_digit = digit << 1 | before.digit >> 63;
        let after_close = close << 1 | before.close >> 63;
        // A scalar that ends in a digit is a number: the scanner has refused any other. After it comes a comma, or a bracket
        // and then another array.
        let mut bad = foreign | comma & !(after_digit | after_close) | close & !after_digit;
        if LISTS {
            bad |= after_close & !comma | open ^ (close << 2 | before.close >> 62);
        }
        (starts, bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::lexer;
    use crate::json::scan::{Choice, with_kernel};
    use crate::json::tape::Tape;

    /// If nothing were ever skipped, only the time would change.
    #[test]
    fn all_but_the_last_block_is_skipped() {
        // Odd lengths, so that blocks end everywhere.
        let flat = "-12.5e30,".repeat(150) + "7";
        let pairs = "[-12.5e30,4],".repeat(150) + "[1,2]";
        for choice in Choice::available() {
            for (text, lists) in [(format!("[{flat}]"), false), (format!("[{pairs}]"), true)] {
                let mut tape = Tape::default();
                let mut at = 0;
                let (entries, stepped, sweeps) = with_kernel!(choice, kernel => {
                    tape.index_in_place(kernel, text.as_bytes(), &mut at);
                    let index = &tape.index;
                    if lists {
                        (index.len(), many_lists(kernel, text.as_bytes(), &index[2..]), sweeps(kernel))
                    } else {
                        (index.len(), many_numbers(kernel, text.as_bytes(), &index[1..]), sweeps(kernel))
                    }
                });
                let (least, most) = if sweeps { (entries - 32, entries - 3) } else { (0, 0) };
                assert!((least..=most).contains(&stepped), "{choice:?}: {stepped} of {entries}");
            }
        }
    }

    fn sweeps<K: Kernel>(_: K) -> bool {
        K::SWEEPS_NUMBERS
    }

    /// Returns the entries up to each of which all is numbers: in one array, or in arrays at the same depth.
    fn reached(text: &[u8], index: &[u32], lists: bool) -> Vec<usize> {
        let mut found = vec![0];
        let mut entry = 0;
        while let [start, next, ..] = index[entry..] {
            let between = &text[start as usize..next as usize];
            let (number, comma) = between.split_at(between.len() - usize::from(between.ends_with(b",")));
            let is_closed = lists && comma.is_empty() && index.len() > entry + 3;
            entry += match (
                lexer::is_number(number),
                is_closed.then(|| &text[next as usize..]).and_then(<[u8]>::first_chunk),
            ) {
                (true, _) if !comma.is_empty() => 1,
                // The next array: its bracket, and its first element.
                (true, Some(b"],[")) if index[entry + 3] == next + 3 => 3,
                _ => break,
            };
            found.push(entry);
            if !begins(byte(text, index[entry] as usize)) {
                break;
            }
        }
        found
    }

    /// A byte left out, doubled or replaced anywhere in two blocks of numbers: nothing is skipped that is not numbers.
    #[test]
    fn only_numbers_are_skipped() {
        let flat = "-12,5e3,0.25,777,".to_owned() + &"8,-19,3.5,".repeat(16);
        let pairs = "[1,-22],[3.5,4,5],[66],".repeat(7);
        for (text, lists) in [(format!("[{flat}1,2,3,4,5]"), false), (format!("[{pairs}[1,2],[3,4]]"), true)] {
            let mut skipped = 0;
            for at in (1..text.len().min(140)).step_by(if cfg!(miri) { 50 } else { 1 }) {
                for other in [
                    "", ",", ":", "[", "]", "{", "}", "\"", "\"a\"", "1", "-", ".", "x", " ", "],[", "][", "],,[",
                    "]],[[",
                ] {
                    for keeps in [0, 1] {
                        let json = [&text[..at], other, &text[at + 1 - keeps..]].concat();
                        skipped += expect_numbers(&json, lists);
                    }
                }
            }
            let may_skip =
                Choice::available().into_iter().any(|choice| with_kernel!(choice, kernel => skips_numbers(kernel)));
            assert!(!may_skip || skipped > 100, "lists: {lists}");
        }
    }

    fn skips_numbers<K: Kernel>(_: K) -> bool {
        K::SWEEPS_NUMBERS
    }

    /// Requires that what is skipped is numbers, and returns how often some were.
    fn expect_numbers(json: &str, lists: bool) -> usize {
        let mut skipped = 0;
        for choice in Choice::available() {
            let mut tape = Tape::default();
            with_kernel!(choice, kernel => {
                let mut rest = json.as_bytes();
                while rest.len() >= BLOCK {
                    rest = tape.take(kernel, rest);
                }
                tape.end_with(kernel, rest);
                if tape.scanner.is_wrong() {
                    continue;
                }
                let (text, index) = (&tape.text[..], &tape.index[..]);
                let first = if lists { 2 } else { 1 };
                for from in [first, first + 1, first + 5] {
                    let Some(index) = index.get(from..).filter(|index| !index.is_empty()) else { continue };
                    if !lists {
                        // The last of them may be reached without being a number: its reader notices that.
                        let most = reached(text, index, false).len() - 1;
                        let least = most - usize::from(!begins(byte(text, index[most] as usize))).min(most);
                        let found = numbers(kernel, text, index);
                        assert!((least..=most).contains(&found), "{choice:?} {from}, {found}: {json}");
                        skipped += usize::from(found > 0);
                    } else if begins(byte(text, index[0] as usize)) {
                        let found = many_lists(kernel, text, index);
                        assert!(reached(text, index, true).contains(&found), "{choice:?} {from}, {found}: {json}");
                        skipped += usize::from(found > 0);
                    }
                }
            });
        }
        skipped
    }
}
