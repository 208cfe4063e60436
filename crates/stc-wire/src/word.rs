//! Bytes compared eight at a time.

/// Eight bytes, compared at once.
#[derive(Clone, Copy)]
pub(crate) struct Word(u64);

impl Word {
    pub(crate) const BYTES: usize = 8;
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;

    #[inline(always)]
    pub(crate) const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }

    /// Returns a word whose lowest high bit is that of the first byte that is `byte`; bits after that one may be wrong.
    #[inline(always)]
    pub(crate) const fn equal(self, byte: u8) -> u64 {
        let zero = self.0 ^ (Self::ONES * byte as u64);
        zero.wrapping_sub(Self::ONES) & !zero & Self::HIGH
    }

    /// Returns a word with the high bit of every byte that is `byte`, and no other bit.
    #[inline(always)]
    pub(crate) const fn exactly(self, byte: u8) -> u64 {
        let zero = self.0 ^ (Self::ONES * byte as u64);
        !(((zero & !Self::HIGH) + !Self::HIGH) | zero) & Self::HIGH
    }

    /// Returns the same for the first byte that is less than `byte`, which is at most 128.
    #[inline(always)]
    pub(crate) const fn less(self, byte: u8) -> u64 {
        self.0.wrapping_sub(Self::ONES * byte as u64) & !self.0 & Self::HIGH
    }
}

/// Gathers the high bits of a word's bytes, the first byte's in the lowest bit.
#[inline(always)]
pub(crate) const fn bits(high: u64) -> u64 {
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Returns the number of the first byte whose high bit is set.
#[inline(always)]
pub(crate) const fn first(found: u64) -> usize {
    found.trailing_zeros() as usize / 8
}
