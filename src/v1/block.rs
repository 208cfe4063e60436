//! Members looked at in pieces of 64 bytes.
//!
//! One idea: most members, key, value and what stands behind, fit in one piece. Once the piece is known to be within the
//! text, no single read of it needs a check of its own, and what is asked is few comparisons of whole words. That took
//! more than half of the instructions out of the walk, most of which had been such checks.

use crate::json::scan::arch::SPAN;

/// How much is looked at and copied at once.
pub(super) const PIECE: usize = 2 * SPAN;

/// A piece that begins behind a quote, with the quote, and what stands behind the longest key it can hold.
pub(super) const AROUND: usize = PIECE + 4;

/// As [`crate::json::span::window`], with a single check where `at` is an entry: it has 32 bits, so that `N` more cannot wrap.
#[inline(always)]
pub(super) fn window<const N: usize>(text: &[u8], at: usize) -> Option<&[u8; N]> {
    text.get(at..at.wrapping_add(N))?.first_chunk()
}

/// As [`ending`](crate::json::scalar::ending), within a piece, if it holds all between its quote and the entry `whole` bytes on.
#[inline(always)]
pub(super) fn ending_within(around: &[u8; AROUND], whole: usize) -> Option<&[u8; 8]> {
    // One question, for both ends.
    if whole.wrapping_sub(7) > PIECE - 6 { None } else { around[whole - 7..].first_chunk() }
}
