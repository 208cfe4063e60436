//! Which bytes of a block are escaped, and whether every escape is one that JSON has (grammar/STC.md, section 2.4).
//!
//! A byte is escaped if an odd number of backslashes ends right before it. Subtraction finds that for all runs of
//! backslashes at once: the borrow goes through a run and comes out at an odd or an even place (simdjson's method).
//!
//! ```text
//! text       a \ \ b \ n \ u 0 0 e 9
//! backslash  . 1 1 . 1 . 1 . . . . .
//! escaped    . . 1 . . 1 . 1 . . . .      the second backslash, n and u
//! due        . . . . . . . . 1 1 1 1      hexadecimal digits that the u requires
//! ```

use super::arch::Kernel;
use crate::buffer::BLOCK;

/// What escapes demand of the next block, in one word: the lowest bit if its first byte is escaped, the bits above it for
/// the bytes that must be the hexadecimal digits of a `\u` escape.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Escapes(u64);

/// Beside those bits: an escape was wrong.
const WRONG: u64 = 1 << 63;

impl Escapes {
    /// Returns whether the next block has to be looked at even if it has no backslash.
    #[inline(always)]
    pub(super) fn is_pending(self) -> bool {
        self.0 != 0
    }

    /// Returns the bytes that are escaped, the state for the next block, and the bytes that are wrong.
    #[inline(always)]
    pub(crate) fn block<K: Kernel>(self, kernel: K, block: &[u8; BLOCK], backslash: u64) -> (u64, Self, u64) {
        let (escaped, escape) = escaped(backslash, self.0 & 1);
        let mut wrong = escaped & !kernel.escapable(block, escaped);
        let unicode = escaped & kernel.find(block, b'u');
        let (mut hex, expected) = (0, self.0 >> 1);
        if unicode | expected != 0 {
            let due = expected | unicode << 1 | unicode << 2 | unicode << 3 | unicode << 4;
            wrong |= due & !kernel.hexadecimal(block);
            hex = unicode >> 63 | unicode >> 62 | unicode >> 61 | unicode >> 60;
        }
        (escaped, Self(hex << 1 | escape), wrong)
    }

    /// As [`block`](Self::block), for a loop in which most blocks have no escapes; the last value is not zero if a byte is
    /// wrong.
    #[inline(always)]
    pub(super) fn rare_block<K: Kernel>(self, kernel: K, block: &[u8; BLOCK], backslash: u64) -> (u64, Self, u64) {
        let (escaped, next) = self.outlined_block(kernel, block, backslash);
        (escaped, Self(next & !WRONG), next & WRONG)
    }

    /// Returns the bytes that are escaped, and the next state together with [`WRONG`]: two words are returned in registers,
    /// three would not be.
    ///
    /// A call marked cold keeps the loads and stores it needs out of the loop around it. That makes the scan of blocks
    /// without escapes a twelfth faster, for a few instructions more where every block has one.
    #[cold]
    #[inline(never)]
    fn outlined_block<K: Kernel>(self, kernel: K, block: &[u8; BLOCK], backslash: u64) -> (u64, u64) {
        kernel.enter(
            #[inline(always)]
            || {
                let (escaped, next, wrong) = self.block(kernel, block, backslash);
                (escaped, next.0 | if wrong == 0 { 0 } else { WRONG })
            },
        )
    }
}

/// Returns the bytes after an odd run of backslashes, and one if the next block's first byte is such a byte. `escape` is
/// one if this block's first byte is.
#[inline(always)]
fn escaped(backslash: u64, escape: u64) -> (u64, u64) {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let starts = backslash & !escape;
    let codes = (starts << 1 | ODD).wrapping_sub(starts) ^ ODD;
    (codes ^ (backslash | escape), (codes & backslash) >> 63)
}
