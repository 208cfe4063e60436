//! Durations by route, as histograms for Prometheus. A route is named by the configuration, so clients cannot add labels.

use http::StatusCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets in milliseconds.
pub(crate) const BOUNDS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 30_000];

/// The classes of status codes.
pub(crate) const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// A histogram of durations.
#[derive(Default)]
pub(crate) struct Histogram {
    pub(crate) buckets: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

impl Histogram {
    pub(crate) fn observe(&self, took: Duration) {
        let bucket = BOUNDS.iter().position(|end| took <= Duration::from_millis(*end)).unwrap_or(BOUNDS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.microseconds.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// Returns the sum of all durations in seconds.
    pub(crate) fn sum(&self) -> f64 {
        self.microseconds.load(Ordering::Relaxed) as f64 / 1e6
    }
}

/// The durations of one route.
#[derive(Default)]
pub(crate) struct Timings {
    /// From the arrival of a request until its response is sent or given up, by class of status.
    pub(crate) requests: [Histogram; CLASSES.len()],
    /// Until the head of the upstream's response.
    pub(crate) upstream: Histogram,
}

impl Timings {
    /// Notes a request that was answered with this status.
    pub(crate) fn note(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        self.requests[class].observe(took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_one_bucket() {
        let timings = Timings::default();
        for (status, took) in [(200, Duration::ZERO), (204, Duration::from_millis(30)), (503, Duration::from_secs(99))]
        {
            timings.note(StatusCode::from_u16(status).unwrap(), took);
        }
        let counts =
            |class: usize| timings.requests[class].buckets.each_ref().map(|count| count.load(Ordering::Relaxed));
        assert_eq!((counts(1)[0], counts(1)[5], counts(1).iter().sum::<u64>()), (1, 1, 2));
        assert_eq!((counts(4)[BOUNDS.len()], counts(4).iter().sum::<u64>()), (1, 1));
        assert!(timings.requests[4].sum() >= 99.0);
    }
}
