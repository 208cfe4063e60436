//! A small seeded generator of random numbers (xoshiro256**, filled by splitmix64).
//!
//! The corpus must have the same bytes on every machine and with every compiler, so this uses no system randomness, no
//! floats, and nothing that depends on the width of `usize`.

/// A repeatable stream of random numbers: the same seed always gives the same numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Starts the stream of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut seed = seed;
        let mut splitmix = || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = seed;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Rng { state: [splitmix(), splitmix(), splitmix(), splitmix()] }
    }

    /// Starts the stream of `seed` for one name, so that two kinds made with one seed do not resemble each other.
    pub fn named(name: &str, seed: u64) -> Self {
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Rng::new(name.bytes().fold(0xcbf2_9ce4_8422_2325, fnv) ^ seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Returns a number from 0 up to, but not including, `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Returns a number from 0 up to, but not including, `n`; small numbers are more frequent, as in real identifiers.
    pub fn skewed(&mut self, n: u64) -> u64 {
        let limit = self.below(n) + 1;
        self.below(limit)
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// Returns true in `percent` cases of a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of `items`, all equally likely.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// Returns one of `items`, the first ones more often.
    pub fn prefer<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.skewed(items.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        let mut rng = Rng::new(7);
        let first: Vec<u64> = (0..3).map(|_| rng.bits()).collect();
        // Computed by a second implementation of the two published algorithms.
        assert_eq!(first, [0xb358_faf7_4ef9_765a, 0x475c_3d96_4f48_2cd2, 0xd6f1_d349_952c_7996]);
        assert_ne!(first[0], Rng::new(8).bits());
        assert_ne!(Rng::named("pods", 1).bits(), Rng::named("users", 1).bits());
    }

    #[test]
    fn numbers_stay_in_their_bounds() {
        let mut rng = Rng::new(1);
        for n in 1..200 {
            assert!(rng.below(n) < n);
            assert!(rng.skewed(n) < n);
            assert!((-3..=4).contains(&rng.between(-3, 4)));
        }
        assert_eq!(rng.below(0), 0);
    }
}
