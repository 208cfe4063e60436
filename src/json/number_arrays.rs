//! Numbers in arrays, a block at a time.
//!
//! One idea: the scanner has looked inside every number, so of a list of them, or of a list of such lists, as coordinates
//! are, all that is left to ask is what stands beside what; and a rule about neighbours is a shift of a mask. Of the
//! index only the entry that is stepped to is looked at. Coordinates take two thirds of the time
//! that they take one by one (AVX-512).

use crate::buffer::BLOCK;
use crate::json::scan::arch::{Kernel, Masks};
use crate::json::span::bytes_at;
use crate::json::tape::byte;

/// So many entries on there must be a number too: a block costs as much as some elements.
const FEW: usize = 4;

/// How many elements, from the first entry on, are numbers and have a number behind them?
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

/// The same, but none if there are few.
#[inline(always)]
pub(crate) fn many_numbers<K: Kernel>(kernel: K, text: &[u8], index: &[u32]) -> usize {
    match index.get(FEW).and_then(|&other| bytes_at(text, (other as usize).wrapping_sub(1))) {
        Some(&[b',', first]) if K::SWEEPS_NUMBERS && begins(first) => run::<false, K>(kernel, text, index),
        _ => 0,
    }
}

/// The first entry is an element of a list that is an element of another. How many entries can be stepped over, numbers and
/// lists of them, so that the one stepped to is a number in a list as deep? None if it is no number, or there are few.
#[inline(always)]
pub(crate) fn many_lists<K: Kernel>(kernel: K, text: &[u8], index: &[u32]) -> usize {
    match index.get(FEW).map(|&other| byte(text, other as usize)) {
        Some(first) if K::SWEEPS_NUMBERS && begins(first) => run::<true, K>(kernel, text, index),
        _ => 0,
    }
}

#[inline(always)]
fn begins(first: u8) -> bool {
    first.is_ascii_digit() || first == b'-'
}

/// How many entries can be stepped over. Linear, however often it is asked: it stops at the first byte that is out of place,
/// and of a run without another number to step to [`FEW`] entries are not at hand.
#[inline(never)]
fn run<const LISTS: bool, K: Kernel>(kernel: K, text: &[u8], index: &[u32]) -> usize {
    let Some(text) = index.first().and_then(|&first| text.get(first as usize..)) else { return 0 };
    let (entries, bytes) = kernel.enter(
        #[inline(always)]
        || blocks::<LISTS, K>(kernel, text),
    );
    // What whitespace parted looks like one number now, but has two entries: then so many entries on is a place before
    // this one.
    if index.get(entries) == Some(&(index[0] + bytes as u32)) { entries } else { 0 }
}

/// The same, with how many bytes that is.
#[inline(always)]
fn blocks<const LISTS: bool, K: Kernel>(kernel: K, text: &[u8]) -> (usize, usize) {
    let (mut before, mut to) = (Block::default(), (0, 0));
    let mut entries = 0;
    for (number, block) in text.as_chunks::<BLOCK>().0.iter().enumerate() {
        let block = Block::of::<LISTS, K>(kernel, block);
        let (starts, bad) = block.behind::<LISTS>(before);
        let tokens = starts | block.open | block.close;
        // Below the first that is bad.
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

/// What the bytes of a block are, a bit each.
#[derive(Clone, Copy, Default)]
struct Block {
    /// Neither white, a bracket nor a separator.
    plain: u64,
    digit: u64,
    comma: u64,
    open: u64,
    close: u64,
    /// No part of a list of numbers.
    foreign: u64,
}

impl Block {
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

    /// Where numbers begin, and what must not stand where it does.
    #[inline(always)]
    fn behind<const LISTS: bool>(self, before: Self) -> (u64, u64) {
        let Self { plain, digit, comma, open, close, foreign } = self;
        let starts = plain & !(plain << 1 | before.plain >> 63);
        let behind_digit = digit << 1 | before.digit >> 63;
        let behind_close = close << 1 | before.close >> 63;
        // What ends in a digit is a number: the scanner has refused any other digit. Then there is a comma, or a bracket with
        // another list behind it.
        let mut bad = foreign | comma & !(behind_digit | behind_close) | close & !behind_digit;
        if LISTS {
            bad |= behind_close & !comma | open ^ (close << 2 | before.close >> 62);
        }
        (starts, bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::scan::{Choice, with_kernel};
    use crate::json::tape::Tape;

    /// A sweep that never got anywhere would change nothing but the time.
    #[test]
    fn all_but_the_last_block_is_stepped_over() {
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
}
