//! Fresh copies of documents, processed in rotation.
//!
//! simd-json writes into its input, so it needs a fresh copy each time, and making the copy must not be timed. Every
//! contender is treated alike: the copies of a batch are made first, then the clock runs over the whole batch. That also
//! makes the cost of reading the clock negligible, and all inputs are equally warm in the cache.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::cases::Case;

/// Bytes of small documents that are copied as one batch; a larger batch would not stay in the cache.
const COPIED_AT_ONCE: usize = 64 << 10;

/// Documents and the copies that contenders process.
#[derive(Debug)]
pub struct Rotation<'c> {
    originals: Vec<&'c [u8]>,
    copies: Vec<Vec<u8>>,
    next: usize,
}

impl<'c> Rotation<'c> {
    fn new(originals: Vec<&'c [u8]>) -> Self {
        let bytes: usize = originals.iter().map(|document| document.len()).sum();
        let rounds = (COPIED_AT_ONCE / bytes.max(1)).max(1);
        let copies = originals.iter().map(|document| document.to_vec()).cycle().take(originals.len() * rounds);
        Self { copies: copies.collect(), originals, next: 0 }
    }

    /// Calls `work` for each of the next `documents` with its number in the case and a fresh copy; returns the time spent.
    /// `work` returns the size of its result, so that it cannot be optimised away.
    pub fn take(&mut self, mut documents: usize, mut work: impl FnMut(usize, &mut [u8]) -> usize) -> Duration {
        let mut spent = Duration::ZERO;
        while documents > 0 {
            let batch = documents.min(self.copies.len() - self.next);
            let range = self.next..self.next + batch;
            for at in range.clone() {
                self.copies[at].copy_from_slice(self.originals[at % self.originals.len()]);
            }
            let begun = Instant::now();
            for at in range {
                black_box(work(at % self.originals.len(), black_box(&mut self.copies[at])));
            }
            spent += begun.elapsed();
            documents -= batch;
            self.next = (self.next + batch) % self.copies.len();
        }
        spent
    }
}

/// The inputs of all contenders of a case.
#[derive(Debug)]
pub struct Rotations<'c> {
    /// For contenders that read JSON.
    pub json: Rotation<'c>,
    /// For contenders that read minified JSON.
    pub minified: Rotation<'c>,
    /// For contenders that read STC.
    pub stc: Rotation<'c>,
}

impl<'c> Rotations<'c> {
    /// Copies the documents of `case`.
    pub fn new(case: &'c Case) -> Self {
        Self {
            json: Rotation::new(case.documents.iter().map(|document| &document.json[..]).collect()),
            minified: Rotation::new(case.documents.iter().map(|document| &document.minified[..]).collect()),
            stc: Rotation::new(case.documents.iter().map(|document| &document.stc[..]).collect()),
        }
    }

    /// Returns the number of documents in a round: each the same number of times, enough of them for the clock.
    pub fn round(&self) -> usize {
        self.json.copies.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_rotate_and_copies_are_fresh() {
        let case = Case::new("three", [b"[1]".to_vec(), b"[22]".to_vec(), b"[333]".to_vec()]).expect("valid");
        let mut rotation = Rotations::new(&case).json;
        let mut seen = Vec::new();
        for documents in [1, 4, 2] {
            rotation.take(documents, |number, copy| {
                assert_eq!(copy, case.documents[number].json);
                copy.fill(b'x');
                seen.push(number);
                1
            });
        }
        assert_eq!(seen, [0, 1, 2, 0, 1, 2, 0]);
    }
}
