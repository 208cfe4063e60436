//! A switch that stops calls of a service that fails.
//!
//! After [`FAILURES`] failures in a row it is open for [`OPEN`]: nothing is called. Then one call tries; if it fails, the switch
//! is open for as long again.

use super::clock::now;
use std::sync::atomic::{AtomicU64, Ordering};

const FAILURES: u64 = 5;
/// Milliseconds.
const OPEN: u64 = 1_000;

/// The switch.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    /// Failures since the last success.
    failures: AtomicU64,
    /// The time until which it is open, in milliseconds.
    until: AtomicU64,
}

impl Breaker {
    /// Returns whether a call may be made. While the switch is open this is true once in each period.
    pub(super) fn allows(&self) -> bool {
        self.allows_at(now())
    }

    /// Returns whether calls are stopped.
    pub(super) fn is_open(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= FAILURES
    }

    pub(super) fn succeeded(&self) {
        self.failures.store(0, Ordering::Relaxed);
    }

    pub(super) fn failed(&self) {
        self.failed_at(now());
    }

    fn allows_at(&self, now: u64) -> bool {
        if !self.is_open() {
            return true;
        }
        let until = self.until.load(Ordering::Relaxed);
        // One of those that come after the period tries, and the others wait for what it finds.
        let next = now + OPEN;
        now >= until && self.until.compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn failed_at(&self, now: u64) {
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= FAILURES {
            self.until.fetch_max(now + OPEN, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_one_call_tries() {
        let breaker = Breaker::default();
        for _ in 0..FAILURES - 1 {
            breaker.failed_at(0);
        }
        breaker.succeeded();
        for _ in 0..FAILURES - 1 {
            breaker.failed_at(0);
            assert!(breaker.allows_at(0));
        }
        breaker.failed_at(0);
        assert!(!breaker.allows_at(0) && !breaker.allows_at(OPEN - 1));
        assert!(breaker.allows_at(OPEN), "one tries");
        assert!(!breaker.allows_at(OPEN), "and only one");
        breaker.failed_at(OPEN + 5);
        assert!(!breaker.allows_at(2 * OPEN));
        assert!(breaker.allows_at(2 * OPEN + 5));
        breaker.succeeded();
        assert!(breaker.allows_at(0) && !breaker.is_open());
    }
}
