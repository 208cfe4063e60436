//! The ledger in the text format of Prometheus. `promtool check metrics` has nothing to say about it.

use super::ledger::{BUCKETS, Ledger, Stalled, UpstreamFailure};
use super::permits::{Permits, Refusal};
use std::fmt::{Display, Write};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

/// All of it.
pub(crate) fn metrics(ledger: &Ledger, permits: &Permits) -> String {
    let mut out = Text::default();
    out.head("stc_build_info", "gauge", "The version that runs.");
    out.line("stc_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);

    out.head("stc_responses_total", "counter", "Responses that were asked for in another format.");
    for ((door, format, outcome), count) in ledger.outcomes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        out.line("stc_responses_total", &[("door", door), ("format", format), ("outcome", outcome)], count);
    }
    let sizes = [
        ("stc_in_bytes_total", "Bytes of bodies and texts as the upstream sent them, where they changed."),
        ("stc_out_bytes_total", "Bytes of the same as the client got them."),
        ("stc_in_estimated_tokens_total", "Estimated tokens as the upstream sent them, where they changed."),
        ("stc_out_estimated_tokens_total", "Estimated tokens of the same as the client got them."),
    ];
    for ((name, what), count) in sizes.into_iter().zip(&ledger.saved) {
        out.head(name, "counter", what);
        out.line(name, &[], load(count));
    }

    out.head("stc_encode_seconds", "histogram", "Time to decompress, encode and compare.");
    let mut total = 0;
    for (bucket, count) in BUCKETS.iter().map(Some).chain([None]).zip(&ledger.buckets) {
        total += load(count);
        let le = bucket.map_or("+Inf".to_owned(), |micros| (*micros as f64 / 1e6).to_string());
        out.line("stc_encode_seconds_bucket", &[("le", &le)], total);
    }
    out.line("stc_encode_seconds_sum", &[], load(&ledger.encode_nanoseconds) as f64 / 1e9);
    out.line("stc_encode_seconds_count", &[], total);

    out.head("stc_http_responses_total", "counter", "All responses, by the class of their status.");
    for (class, count) in ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().zip(&ledger.statuses[1..]) {
        out.line("stc_http_responses_total", &[("class", class)], load(count));
    }
    out.head("stc_upstream_failures_total", "counter", "What upstreams did wrong.");
    for (failure, count) in UpstreamFailure::ALL.into_iter().zip(&ledger.upstream_failures) {
        out.line("stc_upstream_failures_total", &[("failure", failure.name())], load(count));
    }
    out.head(
        "stc_refused_requests_total",
        "counter",
        "Requests answered 503 for want of a permit, by the limit reached.",
    );
    for (refusal, count) in Refusal::ALL.into_iter().zip(&ledger.refused) {
        out.line("stc_refused_requests_total", &[("reason", refusal.name())], load(count));
    }
    out.head(
        "stc_stalled_sends_total",
        "counter",
        "Connections and HTTP/2 streams closed because the client read too slowly.",
    );
    for (stalled, count) in Stalled::ALL.into_iter().zip(&ledger.stalled) {
        out.line("stc_stalled_sends_total", &[("level", stalled.name())], load(count));
    }
    out.head("stc_config_reloads_total", "counter", "Configurations read again, by whether they were good.");
    for (outcome, count) in ["refused", "taken"].into_iter().zip(&ledger.reloads) {
        out.line("stc_config_reloads_total", &[("outcome", outcome)], load(count));
    }
    for (name, kind, what, count) in [
        ("stc_plugin_faults_total", "counter", "Plugins that did not do their work.", load(&ledger.plugin_faults)),
        ("stc_lost_log_lines_total", "counter", "Lines that the log could not take.", ledger.lines.lost()),
        ("stc_connections", "gauge", "Connections open now.", load(&ledger.connections)),
        ("stc_requests", "gauge", "Requests under way now.", load(&ledger.requests)),
        ("stc_held_permits", "gauge", "Permits of limits.requests that are held now.", permits.held()),
        ("stc_saturated", "gauge", "Whether /readyz reports saturation: 0 or 1.", permits.saturated().into()),
    ] {
        out.head(name, kind, what);
        out.line(name, &[], count);
    }
    out.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, what: &str) {
        let _ = writeln!(self.0, "# HELP {name} {what}\n# TYPE {name} {kind}");
    }

    /// Labels are names of our own: nothing needs to be escaped.
    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"{text}\"", if place == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }
}

fn load(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
