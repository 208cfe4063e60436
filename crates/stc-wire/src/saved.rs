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
    /// Bytes of the document as minified JSON; of a text that is not JSON, those that came.
    pub bytes_minified: u64,
    /// Estimated tokens of the same.
    pub tokens_minified: u64,
}

impl Saved {
    /// Measures two texts.
    #[must_use]
    pub fn between(before: &[u8], after: &[u8]) -> Self {
        Self::of([before.len() as u64, after.len() as u64], [estimate_tokens(before), estimate_tokens(after)])
    }

    /// Creates the sizes of a text that has no other form: bytes and tokens before and after.
    #[must_use]
    pub const fn of([bytes_in, bytes_out]: [u64; 2], [tokens_in, tokens_out]: [u64; 2]) -> Self {
        Self { bytes_in, bytes_out, tokens_in, tokens_out, bytes_minified: bytes_in, tokens_minified: tokens_in }
    }

    /// Adds the sizes of the same document as minified JSON.
    #[must_use]
    pub fn minified(mut self, minified: &[u8]) -> Self {
        // With the same length it is the same text.
        if minified.len() as u64 != self.bytes_in {
            (self.bytes_minified, self.tokens_minified) = (minified.len() as u64, estimate_tokens(minified));
        }
        self
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
        self.bytes_minified += other.bytes_minified;
        self.tokens_minified += other.tokens_minified;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_bytes_but_more_tokens_is_not_smaller() {
        let saved = Saved::of([100, 98], [30, 37]);
        assert!(!saved.is_smaller());
        assert!(Saved { tokens_out: 30, ..saved }.is_smaller());
        assert!(!Saved { bytes_out: 100, tokens_out: 20, ..saved }.is_smaller());
    }
}
