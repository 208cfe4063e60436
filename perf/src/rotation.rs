//! Copies of documents, worked through in turn.
//!
//! simd-json writes into its input, so it needs a fresh copy each time, and the copy must not count. Everybody gets the
//! same: copies are made first, then the clock runs over a whole batch of them, so that its own cost does not count
//! either, and nobody's input is warmer than another's.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::cases::Case;

/// Copies of small documents up to this many bytes are made at once; more would push each other out of the cache.
const BATCH: usize = 64 << 10;

/// Documents and the copies that are worked on.
#[derive(Debug)]
pub struct Rotation<'c> {
    originals: Vec<&'c [u8]>,
    copies: Vec<Vec<u8>>,
    next: usize,
}

impl<'c> Rotation<'c> {
    fn new(originals: Vec<&'c [u8]>) -> Self {
        let bytes: usize = originals.iter().map(|document| document.len()).sum();
        let rounds = (BATCH / bytes.max(1)).max(1);
        let copies = originals.iter().map(|document| document.to_vec()).cycle().take(originals.len() * rounds);
        Self { copies: copies.collect(), originals, next: 0 }
    }

    /// Has `work` done on the next `documents`, each given by its number in the case and its fresh copy, and says how
    /// long that took. `work` answers with how much it made of it, so that it cannot be optimised away.
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

/// What the contenders of a case work on.
#[derive(Debug)]
pub struct Rotations<'c> {
    /// For those who read JSON.
    pub json: Rotation<'c>,
    /// For those who read JSON as a decoder writes it.
    pub minified: Rotation<'c>,
    /// For those who read STC.
    pub stc: Rotation<'c>,
}

impl<'c> Rotations<'c> {
    /// The documents of `case`.
    pub fn new(case: &'c Case) -> Self {
        Self {
            json: Rotation::new(case.documents.iter().map(|document| &document.json[..]).collect()),
            minified: Rotation::new(case.documents.iter().map(|document| &document.minified[..]).collect()),
            stc: Rotation::new(case.documents.iter().map(|document| &document.stc[..]).collect()),
        }
    }

    /// How many documents make a round: each the same number of times, enough of them for the clock.
    pub fn round(&self) -> usize {
        self.json.copies.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_comes_in_turn_and_fresh() {
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
