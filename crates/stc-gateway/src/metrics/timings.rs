//! Durations by route, as histograms for Prometheus. A route is named by the configuration, so clients cannot add labels. An
//! upstream chooses codes, of which there are 500.

use http::StatusCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets in milliseconds.
pub(crate) const BOUNDS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 30_000];

/// The classes of status codes.
pub(crate) const STATUS_CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The codes that HTTP defines. Others count as the last one.
const CODES: std::ops::RangeInclusive<u16> = 100..=599;

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
pub(crate) struct Timings {
    /// By code; a histogram takes memory from the first response with its code on.
    requests: Box<[OnceLock<Box<Histogram>>]>,
    /// By class of status.
    upstream: [Histogram; STATUS_CLASSES.len()],
}

impl Default for Timings {
    fn default() -> Self {
        Self { requests: CODES.map(|_| OnceLock::new()).collect(), upstream: Default::default() }
    }
}

impl Timings {
    /// Notes the time from the arrival of a request until its response, which has this status, is sent or given up.
    pub(crate) fn note(&self, status: StatusCode, took: Duration) {
        let code = status.as_u16().clamp(*CODES.start(), *CODES.end());
        self.requests[usize::from(code - CODES.start())].get_or_init(Box::default).observe(took);
    }

    /// Notes the time until the head of the upstream's response, which has this status.
    pub(crate) fn answered(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, STATUS_CLASSES.len()) - 1;
        self.upstream[class].observe(took);
    }

    /// Returns the durations of requests by the codes that occurred.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (u16, &Histogram)> {
        CODES.zip(&self.requests).filter_map(|(code, histogram)| Some((code, &**histogram.get()?)))
    }

    /// Returns the durations of upstreams by class.
    pub(crate) fn upstream(&self) -> impl Iterator<Item = (&'static str, &Histogram)> {
        STATUS_CLASSES.into_iter().zip(&self.upstream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_one_bucket() {
        let timings = Timings::default();
        for (status, took) in [(200, Duration::ZERO), (200, Duration::from_millis(30)), (503, Duration::from_secs(99))]
        {
            timings.note(StatusCode::from_u16(status).unwrap(), took);
        }
        let counts = |histogram: &Histogram| histogram.buckets.each_ref().map(|count| count.load(Ordering::Relaxed));
        let [(200, good), (503, bad)] = timings.requests().collect::<Vec<_>>()[..] else { panic!("two codes") };
        assert_eq!((counts(good)[0], counts(good)[5], counts(good).iter().sum::<u64>()), (1, 1, 2));
        assert_eq!((counts(bad)[BOUNDS.len()], counts(bad).iter().sum::<u64>()), (1, 1));
        assert!(bad.sum() >= 99.0);
    }

    /// An upstream can send any number of three digits.
    #[test]
    fn codes_are_bounded() {
        let timings = Timings::default();
        for code in 100..=999 {
            let status = StatusCode::from_u16(code).unwrap();
            timings.note(status, Duration::ZERO);
            timings.answered(status, Duration::ZERO);
        }
        let sum = |histogram: &Histogram| histogram.buckets[0].load(Ordering::Relaxed);
        assert_eq!(timings.requests().map(|(_, histogram)| sum(histogram)).sum::<u64>(), 900, "none is lost");
        assert_eq!(timings.requests().count(), 500);
        let upstream: Vec<_> = timings.upstream().map(|(class, histogram)| (class, sum(histogram))).collect();
        assert_eq!(upstream, [("1xx", 100), ("2xx", 100), ("3xx", 100), ("4xx", 100), ("5xx", 500)]);
    }
}
