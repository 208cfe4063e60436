//! Finds a key that occurs twice, for headers of both directions (grammar/STC.md, sections 6.2 and 9.5), in time
//! that hostile keys cannot make quadratic (section 10.5).
//!
//! Each key becomes a fingerprint of 64 bits, and only keys with equal fingerprints are compared byte by byte. Of a few keys,
//! each fingerprint sets a bit of a small set, and is compared with those before it only if the bit was set already; many keys
//! are sorted with their fingerprints. Keys chosen to collide cost no more than comparing every pair of a few fingerprints, or
//! sorting the keys themselves: `n` keys of `b` bytes in all, `b log n` steps.

/// Up to this many keys, comparing fingerprints whose bits collide is cheaper than sorting.
const MAX_PAIRWISE: usize = 128;

/// The bits that fingerprints are spread over: of 35 keys, every third header has two with the same bit.
const BITS: usize = 2048;

/// An odd number that a multiplication spreads the bits of a key with: 2^64 over the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A search for duplicate keys, with memory that the next search reuses.
#[derive(Debug, Default)]
pub(crate) struct DuplicateKeys {
    /// For a few keys: their fingerprints.
    fingerprints: Vec<u64>,
    /// For many keys: their fingerprints and positions, to sort.
    order: Vec<(u64, u32)>,
}

impl DuplicateKeys {
    /// Returns the position of the first of `count` keys that equals an earlier one.
    #[inline(always)]
    pub(crate) fn find_first<'a>(&mut self, count: usize, key: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
        if count > MAX_PAIRWISE { self.find_sorted(count, key) } else { self.find_pairwise(count, key) }
    }

    #[inline(always)]
    fn find_pairwise<'a>(&mut self, count: usize, key: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
        let fingerprints = &mut self.fingerprints;
        fingerprints.clear();
        let mut seen = [0_u64; BITS / 64];
        (0..count).find(|&at| {
            let fingerprint = fingerprint(key(at));
            let bit = (fingerprint.wrapping_mul(SPREAD) >> 32) as usize % BITS;
            let (word, bit) = (&mut seen[bit / 64], 1 << (bit % 64));
            let may_repeat = *word & bit != 0;
            *word |= bit;
            let is_repeated =
                |earlier: &[u64]| (0..at).any(|other| earlier[other] == fingerprint && key(other) == key(at));
            let repeats = may_repeat && is_repeated(fingerprints);
            fingerprints.push(fingerprint);
            repeats
        })
    }

    #[cold]
    #[inline(never)]
    fn find_sorted<'a>(&mut self, count: usize, key: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
        let order = &mut self.order;
        order.clear();
        order.extend((0..count).map(|at| (fingerprint(key(at)), at as u32)));
        let key = |entry: &(u64, u32)| key(entry.1 as usize);
        order.sort_unstable_by(|left, right| {
            left.0.cmp(&right.0).then_with(|| key(left).cmp(key(right))).then(left.1.cmp(&right.1))
        });
        // Equal keys are neighbours, the earlier one on the left.
        let pairs = order.windows(2).filter(|pair| pair[0].0 == pair[1].0 && key(&pair[0]) == key(&pair[1]));
        pairs.map(|pair| pair[1].1 as usize).min()
    }
}

/// Returns what tells most keys apart: the first eight bytes, the last eight, and the length.
#[inline(always)]
fn fingerprint(key: &[u8]) -> u64 {
    let ends = match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            u64::from_le_bytes(*first).rotate_left(32) ^ u64::from_le_bytes(*last).wrapping_mul(SPREAD)
        }
        _ => key.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    ends ^ key.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_key_that_occurs_twice() {
        let mut search = DuplicateKeys::default();
        for width in [0, 1, 2, 9, MAX_PAIRWISE, MAX_PAIRWISE + 1, 200] {
            for twice in 0..=width {
                let names: Vec<String> =
                    (0..width).map(|at| format!("the_key_{}", if at == twice { 0 } else { at })).collect();
                let found = search.find_first(width, |at| names[at].as_bytes());
                assert_eq!(found, (1..width).contains(&twice).then_some(twice), "{width} {twice}");
            }
        }
    }

    #[test]
    fn of_many_duplicates_the_earliest_is_found() {
        let names: Vec<String> = (0..200).map(|at| format!("key_{}", at % 70)).collect();
        for count in [100, 200] {
            assert_eq!(DuplicateKeys::default().find_first(count, |at| names[at].as_bytes()), Some(70));
        }
    }

    #[test]
    fn keys_with_equal_fingerprints_are_told_apart() {
        let keys: Vec<String> = (0..200).map(|at| format!("12345678-{at:03}-87654321")).collect();
        assert_eq!(fingerprint(keys[0].as_bytes()), fingerprint(keys[199].as_bytes()));
        for count in [2, 100, 200] {
            let twice = |at: usize| keys[if at == count { 1 } else { at }].as_bytes();
            assert_eq!(DuplicateKeys::default().find_first(count, twice), None);
            assert_eq!(DuplicateKeys::default().find_first(count + 1, twice), Some(count));
        }
    }
}
