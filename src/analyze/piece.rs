//! Members looked at in pieces of 64 bytes.
//!
//! One idea: most members, key, value and what stands behind, fit in one piece. Once the piece is known to be within the
//! text, no single read of it needs a check of its own, and what is asked is few comparisons of whole words. That took
//! more than half of the instructions out of the walk, most of which had been such checks.

use crate::scan::arch::SPAN;

/// How much is looked at and copied at once.
pub(super) const PIECE: usize = 2 * SPAN;

/// A piece that begins behind a quote, with the quote, and what stands behind the longest key it can hold.
pub(super) const AROUND: usize = PIECE + 4;

/// As [`crate::span::window`], with a single check where `at` is an entry: it has 32 bits, so that `N` more cannot wrap.
#[inline(always)]
pub(super) fn window<const N: usize>(text: &[u8], at: usize) -> Option<&[u8; N]> {
    text.get(at..at.wrapping_add(N))?.first_chunk()
}

/// The eight bytes that end with the one at `at`.
#[inline(always)]
pub(crate) fn ending(text: &[u8], at: usize) -> Option<&[u8; 8]> {
    text.get(..at + 1)?.last_chunk()
}

/// The same of a piece, if it holds what comes before them: all between its quote and the entry `whole` bytes on.
#[inline(always)]
pub(super) fn ending_within(around: &[u8; AROUND], whole: usize) -> Option<&[u8; 8]> {
    // One question, for both ends.
    if whole.wrapping_sub(7) > PIECE - 6 { None } else { around[whole - 7..].first_chunk() }
}

/// A kind of scalar, by its first byte: what the bytes up to the next entry must be. Each has a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Scalar {
    more: Ending,
    last: Ending,
}

/// Bytes, what to add to how far others are from them, and the bits of the sum that must be zero.
#[derive(Clone, Copy)]
struct Ending {
    bytes: u64,
    more: u64,
    mask: u64,
}

impl Scalar {
    /// The scalar that begins with `first`.
    #[inline(always)]
    pub(crate) fn of(first: u8) -> &'static Self {
        &SCALARS[usize::from(first)]
    }

    /// Is it good, and another member behind it, given the bytes up to that member's quote?
    #[inline(always)]
    pub(crate) fn has_more(&self, ending: &[u8; 8]) -> bool {
        self.more.fits(ending)
    }

    /// Is it good, and its object's last, given the bytes up to the brace?
    #[inline(always)]
    pub(crate) fn is_last(&self, ending: &[u8; 8]) -> bool {
        self.last.fits(ending)
    }
}

/// Does a piece hold what lies between its beginning and the next entry, `whole` bytes on, and that entry's first byte?
#[inline(always)]
pub(super) fn is_short(whole: usize) -> bool {
    // None has less than two; to say so spares checks.
    whole.wrapping_sub(2) < PIECE - 2
}

impl Ending {
    /// Never fits: 0xFF is in no UTF-8, and the scanner has refused whatever is not.
    const NEVER: Self = Self { bytes: u64::MAX, more: 0, mask: u64::MAX };

    /// What ends with `last`.
    const fn of(last: &[u8]) -> Self {
        let (mut bytes, mut mask) = (0, 0);
        let mut at = 0;
        while at < last.len() {
            bytes = bytes >> 8 | (last[at] as u64) << 56;
            mask = mask >> 8 | 0xFF << 56;
            at += 1;
        }
        Self { bytes, more: 0, mask }
    }

    /// What ends with a digit and `behind`. Of all bytes only digits are less than ten away from `0`, bit by bit, so that six
    /// more do not reach the upper half of the byte; what overflows it changes the byte behind, which then does not fit.
    const fn digit(behind: &[u8]) -> Self {
        let Self { bytes, mask, .. } = Self::of(behind);
        let shift = 56 - 8 * behind.len();
        Self { bytes: bytes | (b'0' as u64) << shift, more: 6 << shift, mask: mask | 0xF0 << shift }
    }

    #[inline(always)]
    fn fits(self, ending: &[u8; 8]) -> bool {
        (u64::from_le_bytes(*ending) ^ self.bytes).wrapping_add(self.more) & self.mask == 0
    }
}

/// A string must end in a quote and a number in a digit, or else the byte is a separator too many, or a minus alone: the
/// scanner has checked all else that is inside of them. A literal must be itself, with a colon in front.
static SCALARS: [Scalar; 256] = {
    let mut scalars = [Scalar { more: Ending::NEVER, last: Ending::NEVER }; 256];
    scalars[b'"' as usize] = Scalar { more: Ending::of(b"\",\""), last: Ending::of(b"\"}") };
    scalars[b't' as usize] = Scalar { more: Ending::of(b":true,\""), last: Ending::of(b":true}") };
    scalars[b'f' as usize] = Scalar { more: Ending::of(b":false,\""), last: Ending::of(b":false}") };
    scalars[b'n' as usize] = Scalar { more: Ending::of(b":null,\""), last: Ending::of(b":null}") };
    let number = Scalar { more: Ending::digit(b",\""), last: Ending::digit(b"}") };
    scalars[b'-' as usize] = number;
    let mut digit = b'0';
    while digit <= b'9' {
        scalars[digit as usize] = number;
        digit += 1;
    }
    scalars
};
