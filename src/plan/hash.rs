//! A keyed hash, eight bytes at a time: fast enough to be asked about every byte of a document, and with a key of our
//! own, so that nobody can choose texts that collide. Whoever finds equal hashes compares the texts.

use std::hash::{BuildHasher, RandomState};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    key: u64,
    other: u64,
}

impl Default for Hasher {
    fn default() -> Self {
        let random = RandomState::new();
        Self { key: random.hash_one(0), other: random.hash_one(1) | 1 }
    }
}

impl Hasher {
    /// The hash to begin with.
    #[inline(always)]
    pub(crate) fn start(self) -> u64 {
        self.key
    }

    /// Takes a whole text into `hash`.
    #[inline(always)]
    pub(crate) fn text(self, hash: u64, text: &[u8]) -> u64 {
        let (words, rest) = text.as_chunks::<8>();
        let hash = words.iter().fold(hash, |hash, word| self.word(hash, u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // The length tells texts apart that end in zeros.
        self.word(self.word(hash, u64::from_le_bytes(last)), text.len() as u64)
    }

    /// Takes a number into `hash`.
    #[inline(always)]
    pub(crate) fn word(self, hash: u64, word: u64) -> u64 {
        let product = u128::from(hash ^ word) * u128::from(self.other);
        (product as u64) ^ (product >> 64) as u64 ^ self.key
    }
}
