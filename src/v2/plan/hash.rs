//! A keyed hash, sixteen bytes at a time: fast enough to be asked about every byte of a document, and with a key of our
//! own, so that nobody can choose texts that collide. Whoever finds equal hashes compares the texts.

use std::hash::{BuildHasher, RandomState};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    key: u64,
    other: u64,
    /// What the second lane of a long text begins with: it must be neither of the others, which it meets.
    lane: u64,
}

impl Default for Hasher {
    fn default() -> Self {
        let random = RandomState::new();
        Self { key: random.hash_one(0), other: random.hash_one(1) | 1, lane: random.hash_one(2) }
    }
}

impl Hasher {
    /// The hash to begin with.
    #[inline(always)]
    pub(crate) fn start(self) -> u64 {
        self.key
    }

    /// Takes a whole text into `hash`. What does not fill sixteen bytes is read together with bytes before it, or in
    /// halves, so that no length has a branch of its own.
    #[inline(always)]
    pub(crate) fn text(self, hash: u64, text: &[u8]) -> u64 {
        // A long one in two lanes: each step has to wait for the one before it.
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
        // The length tells apart what the last bytes do not.
        self.word(self.short(hash, last), text.len() as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_collides_but_for_the_key() {
        let hasher = Hasher::default();
        let mut hashes = Vec::new();
        // Runs of one letter, of every length, and one whose halves, quarters and eighths change places.
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
