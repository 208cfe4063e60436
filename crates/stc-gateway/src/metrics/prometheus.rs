//! The counters in the text format of Prometheus, without warnings from `promtool check metrics`.

use crate::client::permits::{Permits, Refusal};
use crate::guard::REJECTED;
use crate::metrics::exposition::{Text, load};
use crate::metrics::savings::{Key, Tally};
use crate::metrics::timings::{BOUNDS, Histogram};
use crate::metrics::{Metrics, Stalled};
use crate::traces::span::Dropped;
use crate::upstream::failure::Cause;
use std::sync::PoisonError;

/// A figure of a row.
type ColumnOf = fn(&Tally) -> u64;

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
        out.line("stc_responses_total", &[("source", source), ("format", format), ("outcome", outcome)], count);
    }
    let sizes = [
        ("stc_in_bytes_total", "Bytes of converted bodies and texts before the conversion."),
        ("stc_out_bytes_total", "Bytes of converted bodies and texts after the conversion."),
        ("stc_in_estimated_tokens_total", "Estimated tokens of converted bodies and texts before the conversion."),
        ("stc_out_estimated_tokens_total", "Estimated tokens of converted bodies and texts after the conversion."),
        ("stc_minified_bytes_total", "Bytes of converted bodies and texts as minified JSON."),
        ("stc_minified_estimated_tokens_total", "Estimated tokens of converted bodies and texts as minified JSON."),
    ];
    for ((name, what), count) in sizes.into_iter().zip(metrics.saved.iter().chain(&metrics.minified)) {
        out.head(name, "counter", what);
        out.line(name, &[], load(count));
    }

    out.tools(metrics);
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
    out.timings(metrics);
    out.process(metrics.began_at);
    out.upstreams(metrics);
    out.refusals(metrics);
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
        (
            "stc_refused_connections_total",
            "counter",
            "Connections closed at once because their client had its share.",
            load(&metrics.refused_connections),
        ),
        (
            "stc_evicted_connections_total",
            "counter",
            "Idle connections closed to make room for others.",
            load(&metrics.evicted_connections),
        ),
        ("stc_lost_log_lines_total", "counter", "Log lines that were dropped.", metrics.lines.lost()),
        ("stc_connections", "gauge", "Open connections.", load(&metrics.connections)),
        ("stc_requests", "gauge", "Requests in progress, event streams included.", load(&metrics.requests)),
        ("stc_tunnels", "gauge", "Open WebSocket tunnels.", load(&metrics.tunnels)),
    ] {
        out.head(name, kind, what);
        out.line(name, &[], count);
    }
    out.permits(permits);
    out.memory(metrics);
    out.spans(metrics);
    metrics.context.render(&mut out);
    out.finish()
}

impl Text {
    /// Writes what was converted by route, tool and format. The number of tools is bounded; the rest is `(others)`.
    fn tools(&mut self, metrics: &Metrics) {
        let savings = metrics.savings();
        let columns: [(&str, &str, ColumnOf); 3] = [
            ("stc_tool_responses_total", "Converted responses by route, tool and format.", |tally| tally.responses),
            (
                "stc_tool_in_estimated_tokens_total",
                "Estimated tokens before the conversion by route, tool and format.",
                |tally| tally.saved.tokens_in,
            ),
            (
                "stc_tool_out_estimated_tokens_total",
                "Estimated tokens after the conversion by route, tool and format.",
                |tally| tally.saved.tokens_out,
            ),
        ];
        for (name, what, value) in columns {
            self.head(name, "counter", what);
            for (Key { route, tool, format }, tally) in savings.by_tool() {
                self.line(name, &[("route", route), ("tool", tool), ("format", format)], value(tally));
            }
        }
        let name = "stc_tool_duration_seconds";
        let what = "Time from a request that opted in until the result of its tool was converted or skipped, by route and tool.";
        self.head(name, "histogram", what);
        for ((route, tool), histogram) in savings.durations() {
            self.durations(name, &[("route", route), ("tool", tool)], histogram);
        }
    }

    /// Writes how many permits are held.
    fn permits(&mut self, permits: &Permits) {
        for (name, what, count) in [
            ("stc_held_permits", "Held permits of limits.requests.", permits.held()),
            ("stc_held_stream_permits", "Held permits of limits.streams.", permits.held_streams()),
            ("stc_saturated", "Whether /readyz reports saturation: 0 or 1.", permits.saturated().into()),
        ] {
            self.head(name, "gauge", what);
            self.line(name, &[], count);
        }
    }

    /// Writes how many bytes of bodies are held.
    fn memory(&mut self, metrics: &Metrics) {
        let name = "stc_held_bytes";
        self.head(name, "gauge", "Bytes of bodies in memory, which limits.held_bytes bounds.");
        self.line(name, &[], metrics.memory.get().map_or(0, |account| account.held() as u64));
    }

    /// Writes the durations of requests and of upstreams by route and status.
    fn timings(&mut self, metrics: &Metrics) {
        let timings = metrics.timings();
        let name = "stc_http_request_duration_seconds";
        self.head(name, "histogram", "Time from the arrival of a request until its response is sent.");
        for (route, timings) in &timings {
            for (code, histogram) in timings.requests() {
                self.durations(name, &[("route", route), ("code", &code.to_string())], histogram);
            }
        }
        let name = "stc_upstream_response_duration_seconds";
        self.head(name, "histogram", "Time until the head of an upstream's response.");
        for (route, timings) in &timings {
            for (class, histogram) in timings.upstream() {
                self.durations(name, &[("route", route), ("class", class)], histogram);
            }
        }
    }

    /// Writes a histogram, if it has any observations.
    fn durations(&mut self, name: &str, labels: &[(&str, &str)], histogram: &Histogram) {
        if histogram.buckets.iter().all(|count| load(count) == 0) {
            return;
        }
        let mut total = 0;
        for (bound, count) in BOUNDS.iter().map(Some).chain([None]).zip(&histogram.buckets) {
            total += load(count);
            let le = bound.map_or("+Inf".to_owned(), |milliseconds| (*milliseconds as f64 / 1e3).to_string());
            self.line(&format!("{name}_bucket"), &[labels, &[("le", &le)]].concat(), total);
        }
        self.line(&format!("{name}_sum"), labels, histogram.sum());
        self.line(&format!("{name}_count"), labels, total);
    }

    /// Writes the usual metrics of a process, as far as the system tells them.
    fn process(&mut self, started: u64) {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).ok();
        let pages = read("statm").and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
        let page = rustix::param::page_size() as u64;
        let files = std::fs::read_dir("/proc/self/fd").map(|entries| entries.count() as u64).ok();
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        // The fields after the name, which is in brackets: user and system time are the 12th and 13th, threads the 18th.
        let stat = read("stat").unwrap_or_default();
        let fields: Vec<u64> = stat
            .rsplit(')')
            .next()
            .map_or(Vec::new(), |rest| rest.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect());
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let busy = fields.get(11).zip(fields.get(12)).map(|(user, system)| (user + system) as f64 / ticks);
        let whole = |value: Option<u64>| value.map(|value| value as f64);
        for (name, kind, what, value) in [
            ("process_cpu_seconds_total", "counter", "Processor time, user and system.", busy),
            ("process_resident_memory_bytes", "gauge", "Resident memory.", whole(pages.map(|pages| pages * page))),
            ("process_open_fds", "gauge", "Open files.", whole(files)),
            ("process_max_fds", "gauge", "The limit of open files.", whole(most)),
            ("process_threads", "gauge", "Threads.", whole(fields.get(17).copied())),
            (
                "process_start_time_seconds",
                "gauge",
                "When the program started, in seconds since 1970.",
                whole(Some(started)),
            ),
        ] {
            if let Some(value) = value {
                self.head(name, kind, what);
                self.line(name, &[], value);
            }
        }
    }

    /// Writes what became of the spans of traces.
    fn spans(&mut self, metrics: &Metrics) {
        let counts = &metrics.traces.counts;
        self.head("stc_sent_spans_total", "counter", "Spans of traces that the collector accepted.");
        self.line("stc_sent_spans_total", &[], load(&counts.sent));
        self.head("stc_dropped_spans_total", "counter", "Spans of traces that were not delivered, by reason.");
        for (why, count) in Dropped::ALL.into_iter().zip(&counts.dropped) {
            self.line("stc_dropped_spans_total", &[("reason", why.name())], load(count));
        }
    }

    /// Writes what is known about upstreams.
    fn upstreams(&mut self, metrics: &Metrics) {
        self.head("stc_upstream_failures_total", "counter", "Failures of upstreams.");
        for (failure, count) in Cause::ALL.into_iter().zip(&metrics.upstream_failures) {
            self.line("stc_upstream_failures_total", &[("cause", failure.name())], load(count));
        }
        self.head(
            "stc_upstream_in",
            "gauge",
            "Whether a backend gets requests: 0 while it is left out or its check fails.",
        );
        for (name, is_in) in metrics.backends() {
            self.line("stc_upstream_in", &[("upstream", &name)], u8::from(is_in));
        }
    }

    /// Writes the requests that were refused and the clients that were too slow.
    fn refusals(&mut self, metrics: &Metrics) {
        self.head(
            "stc_refused_requests_total",
            "counter",
            "Requests answered 503 for want of a permit, by the limit reached.",
        );
        for (refusal, count) in Refusal::ALL.into_iter().zip(&metrics.refused) {
            self.line("stc_refused_requests_total", &[("reason", refusal.name())], load(count));
        }
        self.head(
            "stc_rejected_requests_total",
            "counter",
            "Requests that lacked what their route requires, by what they lacked.",
        );
        for (reason, count) in REJECTED.into_iter().zip(&metrics.rejected) {
            self.line("stc_rejected_requests_total", &[("reason", reason)], load(count));
        }
        self.head(
            "stc_stalled_sends_total",
            "counter",
            "Connections and HTTP/2 streams closed because the client read too slowly.",
        );
        for (stalled, count) in Stalled::ALL.into_iter().zip(&metrics.stalled) {
            self.line("stc_stalled_sends_total", &[("level", stalled.name())], load(count));
        }
    }
}
