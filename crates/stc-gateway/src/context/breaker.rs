//! A circuit breaker: stops calls of a service that fails.
//!
//! After [`FAILURES_TO_OPEN`] failures in a row it is open for [`OPEN_MILLISECONDS`]: nothing is called. Then one call tries; if
//! it fails, the breaker is open for as long again.

use super::clock::now;
use std::sync::atomic::{AtomicU64, Ordering};

const FAILURES_TO_OPEN: u64 = 5;
/// Milliseconds for which it is open.
const OPEN_MILLISECONDS: u64 = 1_000;

/// The breaker.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    /// Failures since the last success.
    failures: AtomicU64,
    /// The time until which it is open, in milliseconds.
    until: AtomicU64,
}

impl Breaker {
    /// Returns whether a call may be made. While the breaker is open this is true once in each period.
    pub(super) fn allows(&self) -> bool {
        self.allows_at(now())
    }

    /// Returns whether calls are stopped.
    pub(super) fn is_open(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= FAILURES_TO_OPEN
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
        let next = now + OPEN_MILLISECONDS;
        now >= until && self.until.compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn failed_at(&self, now: u64) {
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= FAILURES_TO_OPEN {
            self.until.fetch_max(now + OPEN_MILLISECONDS, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_one_call_tries() {
        let breaker = Breaker::default();
        for _ in 0..FAILURES_TO_OPEN - 1 {
            breaker.failed_at(0);
        }
        breaker.succeeded();
        for _ in 0..FAILURES_TO_OPEN - 1 {
            breaker.failed_at(0);
            assert!(breaker.allows_at(0));
        }
        breaker.failed_at(0);
        assert!(!breaker.allows_at(0) && !breaker.allows_at(OPEN_MILLISECONDS - 1));
        assert!(breaker.allows_at(OPEN_MILLISECONDS), "one tries");
        assert!(!breaker.allows_at(OPEN_MILLISECONDS), "and only one");
        breaker.failed_at(OPEN_MILLISECONDS + 5);
        assert!(!breaker.allows_at(2 * OPEN_MILLISECONDS));
        assert!(breaker.allows_at(2 * OPEN_MILLISECONDS + 5));
        breaker.succeeded();
        assert!(breaker.allows_at(0) && !breaker.is_open());
    }
}
