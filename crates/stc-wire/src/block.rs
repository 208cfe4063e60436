//! Blocks of 64 bytes as masks: a mask has a bit for each byte, the first byte's in the lowest bit.
//!
//! Going from one escape to the next makes every load wait for the one before. A mask is made without waiting, and then gives
//! one place after another.

/// The bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// The bytes that are copied at once.
pub(crate) const COPY_BYTES: usize = 16;

/// A block and [`COPY_BYTES`] after it, so that as many can be copied from any place of the block.
pub(crate) type PaddedBlock = [u8; BLOCK + COPY_BYTES];

/// Returns the mask of the bytes that `is` accepts in the block at the beginning of a text.
///
/// A closure without branches is compiled to comparisons of whole registers. A product then moves the lowest bits of eight bytes side by
/// side.
#[inline(always)]
pub(crate) fn mask(text: &[u8], is: impl Fn(u8) -> bool) -> u64 {
    let mut found = [0; BLOCK];
    for (found, byte) in found.iter_mut().zip(&text[..BLOCK]) {
        *found = u8::from(is(*byte));
    }
    let words = found.as_chunks().0.iter().enumerate();
    words.fold(0, |mask, (number, word)| {
        mask | (u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * number)
    })
}

/// Returns a bit for each byte after a backslash that is not escaped itself. `carry` is 1 if the last byte of the block before
/// was such a backslash. The method is simdjson's: runs of backslashes that begin at even and at odd places are separated
/// by an addition.
///
/// ```text
/// bytes       say \"a\\b\" and "
/// backslash   ....x.xx..x......
/// escaped     .....x..x..x.....    by the one before it
/// ```
#[inline(always)]
pub(crate) const fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let backslashes = backslashes & !*carry;
    let follows = backslashes << 1 | *carry;
    let odd_starts = backslashes & !EVEN & !follows;
    let (even_runs, overflow) = odd_starts.overflowing_add(backslashes);
    *carry = overflow as u64;
    let inverted = even_runs << 1;
    (EVEN ^ inverted) & follows
}
