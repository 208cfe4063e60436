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

    /// Takes a whole text into `hash`. What does not fill a word is read together with bytes before it, or in halves, so
    /// that no length has a branch of its own.
    #[inline(always)]
    pub(crate) fn text(self, hash: u64, text: &[u8]) -> u64 {
        let length = text.len();
        let (words, rest) = text.as_chunks::<8>();
        let hash = words.iter().fold(hash, |hash, word| self.word(hash, u64::from_le_bytes(*word)));
        let last = match (text.last_chunk(), rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            (Some(last), _, _) => u64::from_le_bytes(*last),
            (None, Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            _ => rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        // The length tells apart what the last word does not.
        self.word(hash, last.wrapping_add((length as u64) << 56))
    }

    /// Takes sixteen bytes into `hash` at once.
    #[inline(always)]
    pub(crate) fn short(self, hash: u64, bytes: u128) -> u64 {
        let product = u128::from(hash ^ bytes as u64) * u128::from(self.other ^ (bytes >> 64) as u64);
        (product as u64) ^ (product >> 64) as u64 ^ self.key
    }

    /// Takes a number into `hash`.
    #[inline(always)]
    pub(crate) fn word(self, hash: u64, word: u64) -> u64 {
        let product = u128::from(hash ^ word) * u128::from(self.other);
        (product as u64) ^ (product >> 64) as u64 ^ self.key
    }
}
