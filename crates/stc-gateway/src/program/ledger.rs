//! What happened, counted and written down: Prometheus text for machines, one JSON line a response for people. Nothing
//! of a body, ever; what comes from outside (paths, tools) is in lines, escaped, and never in a metric's labels.

use super::config::Log;
use crate::{Observer, Report};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// Upper ends of the encode time's buckets, in microseconds.
const BUCKETS: [u64; 9] = [10, 25, 50, 100, 250, 1_000, 5_000, 25_000, 100_000];

/// Lines waiting for a slow disk; the next is dropped and counted.
const LINES: usize = 4096;

/// The counts of a running program.
#[derive(Default)]
pub(crate) struct Ledger {
    /// By door, format sent or asked for, and outcome.
    outcomes: Mutex<BTreeMap<(&'static str, &'static str, &'static str), u64>>,
    saved: [AtomicU64; 4],
    buckets: [AtomicU64; BUCKETS.len() + 1],
    encode_nanoseconds: AtomicU64,
    /// Responses by the first digit of their status.
    statuses: [AtomicU64; 6],
    /// Errors of our own making: upstream not reached, too slow, broken off.
    pub(crate) upstream_failures: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
    reloads: [AtomicU64; 2],
    dropped_lines: AtomicU64,
    lines: Option<mpsc::SyncSender<String>>,
}

impl Ledger {
    /// A ledger that writes lines as told. They are written by a thread of their own, so that a full disk or a stopped
    /// terminal holds up nobody.
    pub(crate) fn new(log: Log) -> Self {
        let lines = (log == Log::Json).then(|| {
            let (send, receive) = mpsc::sync_channel::<String>(LINES);
            std::thread::spawn(move || {
                for line in receive {
                    // A disk that is full now may not be later.
                    let _ = std::io::stdout().lock().write_all(line.as_bytes());
                }
            });
            send
        });
        Self { lines, ..Self::default() }
    }

    /// Counts a response that goes back.
    pub(crate) fn responded(&self, status: http::StatusCode) {
        let class = usize::from(status.as_u16() / 100).min(5);
        self.statuses[class].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an attempt to read the configuration again.
    pub(crate) fn reloaded(&self, worked: bool) {
        self.reloads[usize::from(worked)].fetch_add(1, Ordering::Relaxed);
    }

    fn line(&self, line: &serde_json::Value) {
        let Some(lines) = &self.lines else { return };
        if lines.try_send(format!("{line}\n")).is_err() {
            self.dropped_lines.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All of it in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let mut out = String::new();
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        head(&mut out, "stc_responses_total", "counter", "Responses that were asked for in another format.");
        for ((door, format, outcome), count) in self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = writeln!(
                out,
                "stc_responses_total{{door=\"{door}\",format=\"{format}\",outcome=\"{outcome}\"}} {count}"
            );
        }
        let names = [
            "stc_bytes_in_total",
            "stc_bytes_out_total",
            "stc_estimated_tokens_in_total",
            "stc_estimated_tokens_out_total",
        ];
        let what = [
            "Bytes of bodies and texts as the upstream sent them.",
            "Bytes of the same as the client got them.",
            "Estimated tokens as the upstream sent them.",
            "Estimated tokens as the client got them.",
        ];
        for ((name, what), count) in names.iter().zip(what).zip(&self.saved) {
            head(&mut out, name, "counter", what);
            let _ = writeln!(out, "{name} {}", load(count));
        }
        head(&mut out, "stc_encode_seconds", "histogram", "Time to decompress, encode and compare.");
        let mut total = 0;
        for (bucket, count) in BUCKETS.iter().map(Some).chain([None]).zip(&self.buckets) {
            total += load(count);
            let le = bucket.map_or("+Inf".to_owned(), |micros| (*micros as f64 / 1e6).to_string());
            let _ = writeln!(out, "stc_encode_seconds_bucket{{le=\"{le}\"}} {total}");
        }
        let _ = writeln!(out, "stc_encode_seconds_sum {}", load(&self.encode_nanoseconds) as f64 / 1e9);
        let _ = writeln!(out, "stc_encode_seconds_count {total}");
        head(&mut out, "stc_http_responses_total", "counter", "All responses, by the class of their status.");
        for (class, count) in self.statuses.iter().enumerate().skip(1) {
            let _ = writeln!(out, "stc_http_responses_total{{class=\"{class}xx\"}} {}", load(count));
        }
        head(&mut out, "stc_config_reloads_total", "counter", "Configurations read again, by whether they were good.");
        for (outcome, count) in ["refused", "taken"].iter().zip(&self.reloads) {
            let _ = writeln!(out, "stc_config_reloads_total{{outcome=\"{outcome}\"}} {}", load(count));
        }
        for (name, kind, what, count) in [
            ("stc_upstream_failures_total", "counter", "Upstreams not reached, or too slow.", &self.upstream_failures),
            ("stc_dropped_log_lines_total", "counter", "Lines that the log could not take.", &self.dropped_lines),
            ("stc_connections", "gauge", "Connections open now.", &self.connections),
            ("stc_requests", "gauge", "Requests under way now.", &self.requests),
        ] {
            head(&mut out, name, kind, what);
            let _ = writeln!(out, "{name} {}", load(count));
        }
        out
    }
}

fn head(out: &mut String, name: &str, kind: &str, what: &str) {
    let _ = writeln!(out, "# HELP {name} {what}\n# TYPE {name} {kind}");
}

impl Observer for Ledger {
    fn transformed(&self, report: &Report<'_>) {
        let format = report.sent.unwrap_or(report.asked).name();
        let outcome = report.outcome.map_or_else(|skip| skip.name(), |_| "sent");
        let key = (report.door.name(), format, outcome);
        *self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
        let mut line = json!({
            "event": "response", "door": key.0, "format": key.1, "outcome": key.2, "path": report.path, "tool": report.tool,
        });
        if let Ok(saved) = report.outcome {
            let sizes = [saved.bytes_in, saved.bytes_out, saved.tokens_in, saved.tokens_out];
            for (count, size) in self.saved.iter().zip(sizes) {
                count.fetch_add(size, Ordering::Relaxed);
            }
            self.observe(report.took);
            line["bytes"] = json!([sizes[0], sizes[1]]);
            line["estimated_tokens"] = json!([sizes[2], sizes[3]]);
            line["microseconds"] = json!(report.took.as_micros() as u64);
        }
        self.line(&line);
    }
}

impl Ledger {
    fn observe(&self, took: Duration) {
        let micros = took.as_micros() as u64;
        let bucket = BUCKETS.iter().position(|end| micros <= *end).unwrap_or(BUCKETS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.encode_nanoseconds.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// One more while it lives.
pub(crate) struct Counted {
    ledger: Arc<Ledger>,
    which: fn(&Ledger) -> &AtomicU64,
}

impl Counted {
    pub(crate) fn new(ledger: &Arc<Ledger>, which: fn(&Ledger) -> &AtomicU64) -> Self {
        which(ledger).fetch_add(1, Ordering::Relaxed);
        Self { ledger: ledger.clone(), which }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.which)(&self.ledger).fetch_sub(1, Ordering::Relaxed);
    }
}
