//! A keyed hash that reads sixteen bytes at a time.
//!
//! It is fast enough for every byte of a document, and its key is random, so that a sender cannot choose texts that collide.
//! Equal hashes are only a hint: callers compare the texts. Sixteen bytes are two 64-bit halves, each combined with a
//! secret; the two halves of their 128-bit product, combined, are the next state.

use std::hash::{BuildHasher, RandomState};

/// The secret key of a hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    key: u64,
    other: u64,
    /// The start of the second lane of a long text. It must differ from the other two, with which it is combined.
    lane: u64,
}

impl Default for Hasher {
    fn default() -> Self {
        let random = RandomState::new();
        Self { key: random.hash_one(0), other: random.hash_one(1) | 1, lane: random.hash_one(2) }
    }
}

impl Hasher {
    /// Returns the hash of nothing.
    #[inline(always)]
    pub(crate) fn start(self) -> u64 {
        self.key
    }

    /// Adds a whole text to `hash`. A rest of less than sixteen bytes is read together with bytes before it, or as its first
    /// and last bytes, which may overlap, so that no length needs a loop of its own.
    #[inline(always)]
    pub(crate) fn text(self, hash: u64, text: &[u8]) -> u64 {
        // A long text in two lanes, because each step waits for the one before it.
        let (pairs, _) = text.as_chunks::<16>().0.as_chunks();
        let hash = if pairs.is_empty() {
            hash
        } else {
            let short = |hash: u64, chunk: &[u8; 16]| self.short(hash, u128::from_le_bytes(*chunk));
            let lanes = pairs
                .iter()
                .fold((hash, self.lane), |(one, two), [first, second]| (short(one, first), short(two, second)));
            self.word(lanes.0, lanes.1)
        };
        let (chunks, rest) = text[32 * pairs.len()..].as_chunks();
        let hash = chunks.iter().fold(hash, |hash, &chunk| self.short(hash, u128::from_le_bytes(chunk)));
        let both = |first: u64, last: u64| u128::from(last) << 64 | u128::from(first);
        let last = match (text.last_chunk(), rest.first_chunk(), rest.last_chunk()) {
            (Some(last), _, _) => u128::from_le_bytes(*last),
            (_, Some(first), Some(last)) => both(u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (rest.first_chunk(), rest.last_chunk()) {
                (Some(first), Some(last)) => both(u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()),
                _ => rest.iter().fold(0, |bytes, &byte| bytes << 8 | u128::from(byte)),
            },
        };
        // The length tells texts apart that have the same last bytes.
        self.word(self.short(hash, last), text.len() as u64)
    }

    /// Adds sixteen bytes to `hash`.
    #[inline(always)]
    pub(crate) fn short(self, hash: u64, bytes: u128) -> u64 {
        let product = u128::from(hash ^ bytes as u64) * u128::from(self.other ^ (bytes >> 64) as u64);
        (product as u64) ^ (product >> 64) as u64 ^ self.key
    }

    /// Adds a number to `hash`.
    #[inline(always)]
    pub(crate) fn word(self, hash: u64, word: u64) -> u64 {
        let product = u128::from(hash ^ word) * u128::from(self.other);
        (product as u64) ^ (product >> 64) as u64 ^ self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_texts_have_different_hashes() {
        let hasher = Hasher::default();
        let mut hashes = Vec::new();
        // One letter repeated, in every length, and a text whose halves, quarters and eighths change places.
        for length in 0..200 {
            hashes.push(hasher.text(hasher.start(), &vec![b'a'; length]));
        }
        let text: Vec<u8> = (b'A'..b'A' + 64).collect();
        for part in [4, 8, 16, 32] {
            for start in (0..64).step_by(2 * part) {
                let mut text = text.clone();
                text[start..start + 2 * part].rotate_left(part);
                hashes.push(hasher.text(hasher.start(), &text));
            }
        }
        hashes.push(hasher.text(hasher.start(), &text));
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }
}
