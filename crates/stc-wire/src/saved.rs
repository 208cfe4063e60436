//! The sizes of a text before and after a conversion.

use stc::estimate_tokens;

/// The sizes of a document before and after its conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Bytes that came, decompressed.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Estimated tokens that came.
    pub tokens_in: u64,
    /// Estimated tokens sent.
    pub tokens_out: u64,
}

impl Saved {
    /// Measures two texts.
    #[must_use]
    pub fn between(before: &[u8], after: &[u8]) -> Self {
        Self {
            bytes_in: before.len() as u64,
            bytes_out: after.len() as u64,
            tokens_in: estimate_tokens(before),
            tokens_out: estimate_tokens(after),
        }
    }

    /// Returns whether there are fewer bytes and no more tokens.
    #[must_use]
    pub const fn is_smaller(self) -> bool {
        self.bytes_out < self.bytes_in && self.tokens_out <= self.tokens_in
    }
}

impl std::ops::AddAssign for Saved {
    fn add_assign(&mut self, other: Self) {
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.tokens_in += other.tokens_in;
        self.tokens_out += other.tokens_out;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_bytes_but_more_tokens_is_not_smaller() {
        let saved = Saved { bytes_in: 100, bytes_out: 98, tokens_in: 30, tokens_out: 37 };
        assert!(!saved.is_smaller());
        assert!(Saved { tokens_out: 30, ..saved }.is_smaller());
        assert!(!Saved { bytes_out: 100, tokens_out: 20, ..saved }.is_smaller());
    }
}
