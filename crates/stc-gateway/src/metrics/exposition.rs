//! The text format of Prometheus: heads, samples and histograms.
//!
//! prometheus-client would replace little more than this file, and brings parking_lot, dtoa and a derive macro. It keeps the
//! counts itself, in histograms that take a lock; here workers count without one, and the page reads the same counts. What is
//! known only when metrics are requested (backends, permits, the process) would need a collector each.

use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// The upper bounds of the buckets of times in microseconds.
pub(crate) const BUCKETS: [u64; 9] = [10, 25, 50, 100, 250, 1_000, 5_000, 25_000, 100_000];

/// The text so far.
#[derive(Default)]
pub(crate) struct Text(String);

impl Text {
    /// Returns the whole text.
    pub(crate) fn finish(self) -> String {
        self.0
    }

    /// Writes a histogram of times, given the counts of its buckets and the sum in nanoseconds.
    pub(crate) fn histogram(&mut self, name: &str, what: &str, counts: &[AtomicU64], nanoseconds: u64) {
        self.head(name, "histogram", what);
        let mut total = 0;
        for (bucket, count) in BUCKETS.iter().map(Some).chain([None]).zip(counts) {
            total += load(count);
            let le = bucket.map_or("+Inf".to_owned(), |micros| (*micros as f64 / 1e6).to_string());
            self.line(&format!("{name}_bucket"), &[("le", &le)], total);
        }
        self.line(&format!("{name}_sum"), &[], nanoseconds as f64 / 1e9);
        self.line(&format!("{name}_count"), &[], total);
    }

    pub(crate) fn head(&mut self, name: &str, kind: &str, what: &str) {
        let _ = writeln!(self.0, "# HELP {name} {what}\n# TYPE {name} {kind}");
    }

    /// Writes a sample. Labels may be untrusted: quotes, backslashes and line feeds are escaped.
    pub(crate) fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{}{label}=\"{text}\"", if place == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }
}

pub(crate) fn load(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
