//! The counters in the text format of Prometheus, without warnings from `promtool check metrics`.

use crate::exposition::{Text, load};
use crate::failure::Cause;
use crate::metrics::{Metrics, Stalled};
use crate::permits::{Permits, Refusal};
use std::sync::PoisonError;

/// Writes all metrics.
pub(crate) fn render(metrics: &Metrics, permits: &Permits) -> String {
    let mut out = Text::default();
    out.head("stc_build_info", "gauge", "The version that runs.");
    out.line("stc_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);

    out.head(
        "stc_responses_total",
        "counter",
        "Responses to clients that opted in, by source of the preference, format and outcome.",
    );
    for ((source, format, outcome), count) in metrics.outcomes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        out.line("stc_responses_total", &[("door", source), ("format", format), ("outcome", outcome)], count);
    }
    let sizes = [
        ("stc_in_bytes_total", "Bytes of converted bodies and texts before the conversion."),
        ("stc_out_bytes_total", "Bytes of converted bodies and texts after the conversion."),
        ("stc_in_estimated_tokens_total", "Estimated tokens of converted bodies and texts before the conversion."),
        ("stc_out_estimated_tokens_total", "Estimated tokens of converted bodies and texts after the conversion."),
    ];
    for ((name, what), count) in sizes.into_iter().zip(&metrics.saved) {
        out.head(name, "counter", what);
        out.line(name, &[], load(count));
    }

    out.histogram(
        "stc_encode_seconds",
        "Time to decompress, encode and compare.",
        &metrics.buckets,
        load(&metrics.encode_nanoseconds),
    );

    out.head("stc_http_responses_total", "counter", "All responses, by class of status.");
    for (class, count) in ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().zip(&metrics.statuses[1..]) {
        out.line("stc_http_responses_total", &[("class", class)], load(count));
    }
    out.head("stc_upstream_failures_total", "counter", "Failures of upstreams.");
    for (failure, count) in Cause::ALL.into_iter().zip(&metrics.upstream_failures) {
        out.line("stc_upstream_failures_total", &[("cause", failure.name())], load(count));
    }
    out.head(
        "stc_refused_requests_total",
        "counter",
        "Requests answered 503 for want of a permit, by the limit reached.",
    );
    for (refusal, count) in Refusal::ALL.into_iter().zip(&metrics.refused) {
        out.line("stc_refused_requests_total", &[("reason", refusal.name())], load(count));
    }
    out.head(
        "stc_stalled_sends_total",
        "counter",
        "Connections and HTTP/2 streams closed because the client read too slowly.",
    );
    for (stalled, count) in Stalled::ALL.into_iter().zip(&metrics.stalled) {
        out.line("stc_stalled_sends_total", &[("level", stalled.name())], load(count));
    }
    out.head("stc_config_reloads_total", "counter", "Reloads of the configuration, by outcome.");
    for (outcome, count) in ["refused", "taken"].into_iter().zip(&metrics.reloads) {
        out.line("stc_config_reloads_total", &[("outcome", outcome)], load(count));
    }
    for (name, kind, what, count) in [
        ("stc_plugin_faults_total", "counter", "Faults of plugins.", load(&metrics.plugin_faults)),
        (
            "stc_ended_workers_total",
            "counter",
            "Workers that ended unexpectedly and were replaced.",
            load(&metrics.workers_ended),
        ),
        ("stc_lost_log_lines_total", "counter", "Log lines that were dropped.", metrics.lines.lost()),
        ("stc_connections", "gauge", "Open connections.", load(&metrics.connections)),
        ("stc_requests", "gauge", "Requests in progress, event streams included.", load(&metrics.requests)),
        ("stc_tunnels", "gauge", "Open WebSocket tunnels.", load(&metrics.tunnels)),
        ("stc_held_permits", "gauge", "Held permits of limits.requests.", permits.held()),
        ("stc_saturated", "gauge", "Whether /readyz reports saturation: 0 or 1.", permits.saturated().into()),
    ] {
        out.head(name, kind, what);
        out.line(name, &[], count);
    }
    metrics.context.render(&mut out);
    out.finish()
}
