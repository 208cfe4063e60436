//! Counters and the log. Neither contains anything from a body. Untrusted names (paths, tools, request ids) appear escaped
//! in log lines and on the page; in a metric's labels there are only names of tools, a bounded number.

pub(crate) mod excerpt;
pub(crate) mod exposition;
pub(crate) mod history;
pub(crate) mod prometheus;
pub(crate) mod savings;
pub(crate) mod timings;

use crate::client::memory::Account;
use crate::client::permits::Refusal;
use crate::context::counters::ContextCounters;
use crate::guard::{REJECTED, Usage};
use crate::log::{Lines, now_ms};
use crate::metrics::excerpt::Excerpt;
use crate::metrics::exposition::BUCKETS;
use crate::metrics::history::History;
use crate::metrics::savings::Savings;
use crate::metrics::timings::Timings;
use crate::traces::request::Traces;
use crate::upstream::backends::Backend;
use crate::upstream::failure::{Cause, Failure};
use serde_json::{Value, json};
use stc_layer::{Observer, Report, Saved};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Failures that are kept for the page.
const LATEST_FAILURES: usize = 20;

/// The counters of a running program.
pub(crate) struct Metrics {
    pub(crate) began: Instant,
    /// The same in seconds since 1970.
    pub(crate) began_at: u64,
    /// By source, format sent or preferred, and outcome.
    pub(crate) outcomes: Mutex<BTreeMap<(&'static str, &'static str, &'static str), u64>>,
    /// Bytes in and out, estimated tokens in and out.
    pub(crate) saved: [AtomicU64; 4],
    /// Bytes and estimated tokens of the same texts as minified JSON, with which the page compares.
    pub(crate) minified: [AtomicU64; 2],
    pub(crate) buckets: [AtomicU64; BUCKETS.len() + 1],
    pub(crate) encode_nanoseconds: AtomicU64,
    /// Responses by the first digit of their status.
    pub(crate) statuses: [AtomicU64; 6],
    pub(crate) upstream_failures: [AtomicU64; Cause::ALL.len()],
    pub(crate) plugin_faults: AtomicU64,
    pub(crate) workers_ended: AtomicU64,
    pub(crate) refused: [AtomicU64; Refusal::ALL.len()],
    pub(crate) rejected: [AtomicU64; REJECTED.len()],
    pub(crate) stalled: [AtomicU64; Stalled::ALL.len()],
    pub(crate) refused_connections: AtomicU64,
    pub(crate) evicted_connections: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) tunnels: AtomicU64,
    /// By outcome: rejected, then accepted.
    pub(crate) reloads: [AtomicU64; 2],
    pub(crate) lines: Lines,
    pub(crate) traces: Traces,
    /// Requests to models.
    pub(crate) context: ContextCounters,
    pub(crate) history: History,
    /// The latest converted response, for the page.
    pub(crate) excerpt: Excerpt,
    /// The latest failures of upstreams, for the page.
    latest_failures: Mutex<VecDeque<Value>>,
    savings: Mutex<Savings>,
    backends: Mutex<Vec<Weak<Backend>>>,
    /// By route. They stay when the configuration is read again.
    timings: Mutex<BTreeMap<String, Arc<Timings>>>,
    /// What tenants have used, by the scope of a rate. It stays when the configuration is read again.
    usage: Mutex<BTreeMap<String, Arc<Usage>>>,
    /// The account of bodies in memory, once there is one.
    pub(crate) memory: OnceLock<Arc<Account>>,
}

/// Where the failures of one upstream are counted and logged. Each worker has its own, so that the counts of references stay
/// on one core.
pub(crate) struct Failures {
    metrics: Arc<Metrics>,
    upstream: Arc<str>,
}

impl Failures {
    pub(crate) const fn new(metrics: Arc<Metrics>, upstream: Arc<str>) -> Self {
        Self { metrics, upstream }
    }

    pub(crate) fn note(&self, failure: &Failure, request_id: Option<&http::HeaderValue>) {
        self.metrics.failed(failure, &self.upstream, request_id);
    }
}

/// What is closed when a client is too slow to accept a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stalled {
    /// A connection, with everything on it.
    Connection,
    /// One HTTP/2 stream.
    Stream,
}

impl Stalled {
    pub(crate) const ALL: [Self; 2] = [Self::Connection, Self::Stream];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Stream => "stream",
        }
    }
}

impl Metrics {
    pub(crate) fn new(lines: Lines, traces: Traces) -> Self {
        Self {
            began: Instant::now(),
            began_at: now_ms() / 1000,
            outcomes: Mutex::default(),
            saved: Default::default(),
            minified: Default::default(),
            buckets: Default::default(),
            encode_nanoseconds: AtomicU64::new(0),
            statuses: Default::default(),
            upstream_failures: Default::default(),
            plugin_faults: AtomicU64::new(0),
            workers_ended: AtomicU64::new(0),
            refused: Default::default(),
            rejected: Default::default(),
            stalled: Default::default(),
            refused_connections: AtomicU64::new(0),
            evicted_connections: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            tunnels: AtomicU64::new(0),
            reloads: Default::default(),
            lines,
            traces,
            context: ContextCounters::default(),
            history: History::default(),
            excerpt: Excerpt::default(),
            latest_failures: Mutex::default(),
            savings: Mutex::default(),
            backends: Mutex::default(),
            timings: Mutex::default(),
            usage: Mutex::default(),
            memory: OnceLock::new(),
        }
    }

    /// Counts a response.
    pub(crate) fn responded(&self, status: http::StatusCode) {
        let class = usize::from(status.as_u16() / 100).min(5);
        self.statuses[class].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a reload of the configuration.
    pub(crate) fn reloaded(&self, worked: bool) {
        self.reloads[usize::from(worked)].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts and logs a failure of an upstream.
    fn failed(&self, failure: &Failure, upstream: &str, request_id: Option<&http::HeaderValue>) {
        self.upstream_failures[failure.cause as usize].fetch_add(1, Ordering::Relaxed);
        let request_id = request_id.and_then(|id| id.to_str().ok());
        let (cause, why) = (failure.cause.name(), failure.detail.as_str());
        let mut latest = self.latest_failures.lock().unwrap_or_else(PoisonError::into_inner);
        latest.truncate(LATEST_FAILURES - 1);
        latest.push_front(json!({
            "time_ms": now_ms(), "cause": cause, "why": why, "upstream": upstream, "request_id": request_id,
        }));
        drop(latest);
        tracing::warn!(target: "upstream", cause, why, upstream, request_id, "an upstream failed");
    }

    /// Counts a worker that ended unexpectedly.
    pub(crate) fn worker_ended(&self) {
        self.workers_ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that was refused.
    pub(crate) fn refused(&self, refusal: Refusal) {
        self.refused[refusal as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that lacks what its route requires, by its place in [`REJECTED`].
    pub(crate) fn rejected(&self, place: usize) {
        self.rejected[place].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns what tenants have used in the scope of a rate.
    pub(crate) fn usage_of(&self, scope: &str) -> Arc<Usage> {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        usage.entry(scope.to_owned()).or_default().clone()
    }

    /// Counts a connection that was closed because its client has its share.
    pub(crate) fn connection_refused(&self) {
        self.refused_connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an idle connection that is closed to make room.
    pub(crate) fn connection_evicted(&self) {
        self.evicted_connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection or stream that was closed because its client was too slow.
    pub(crate) fn stalled(&self, stalled: Stalled) {
        self.stalled[stalled as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts and logs a fault of a plugin.
    pub(crate) fn plugin_faulted(&self, plugin: &str, why: &str, request_id: Option<&str>) {
        self.plugin_faults.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(target: "plugin", plugin, why, request_id, "a plugin failed");
    }

    /// Returns the durations of a route, for everything that records them.
    pub(crate) fn timings_of(&self, route: &str) -> Arc<Timings> {
        let mut timings = self.timings.lock().unwrap_or_else(PoisonError::into_inner);
        timings.entry(route.to_owned()).or_default().clone()
    }

    /// Returns the durations of all routes.
    pub(crate) fn timings(&self) -> BTreeMap<String, Arc<Timings>> {
        self.timings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the backends of the current configuration.
    pub(crate) fn set_backends(&self, backends: Vec<Arc<Backend>>) {
        *self.backends.lock().unwrap_or_else(PoisonError::into_inner) = backends.iter().map(Arc::downgrade).collect();
    }

    /// Returns the backends by name, and whether each gets requests.
    pub(crate) fn backends(&self) -> BTreeMap<Arc<str>, bool> {
        let backends = self.backends.lock().unwrap_or_else(PoisonError::into_inner);
        backends.iter().filter_map(Weak::upgrade).map(|backend| (backend.name.clone(), backend.is_in())).collect()
    }

    /// Returns the latest failures of upstreams, latest first.
    pub(crate) fn latest_failures(&self) -> Vec<Value> {
        self.latest_failures.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(crate) fn savings(&self) -> MutexGuard<'_, Savings> {
        self.savings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the conversions of one route are counted and logged.
pub(crate) struct RouteObserver {
    metrics: Arc<Metrics>,
    route: String,
    /// Whether the page shows excerpts.
    excerpts: bool,
}

impl RouteObserver {
    pub(crate) const fn new(metrics: Arc<Metrics>, route: String, excerpts: bool) -> Self {
        Self { metrics, route, excerpts }
    }
}

impl Observer for RouteObserver {
    fn transformed(&self, report: &Report<'_>) {
        self.metrics.transformed(&self.route, report);
    }

    fn converted(&self, report: &Report<'_>, before: &[u8], after: &[u8]) {
        if self.excerpts {
            self.metrics.excerpt.note(report, before, after);
        }
    }
}

impl Metrics {
    fn transformed(&self, route: &str, report: &Report<'_>) {
        let format = report.sent.or(report.asked).map_or("unknown", |format| format.name());
        let outcome = report.outcome.map_or_else(|skip| skip.name(), |_| "sent");
        let key = (report.source.name(), format, outcome);
        *self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
        if let Ok(saved) = report.outcome {
            let sizes = [saved.bytes_in, saved.bytes_out, saved.tokens_in, saved.tokens_out];
            for (count, size) in self.saved.iter().zip(sizes) {
                count.fetch_add(size, Ordering::Relaxed);
            }
            for (count, size) in self.minified.iter().zip([saved.bytes_minified, saved.tokens_minified]) {
                count.fetch_add(size, Ordering::Relaxed);
            }
            self.observe(report.took);
            self.history.note(saved, now_ms() / 1000);
        }
        self.savings().note(route, report);
        log(report);
    }

    fn observe(&self, took: Duration) {
        let micros = took.as_micros() as u64;
        let bucket = BUCKETS.iter().position(|end| micros <= *end).unwrap_or(BUCKETS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.encode_nanoseconds.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// Logs the conversion of a response, or why there was none.
fn log(report: &Report<'_>) {
    let saved = report.outcome.ok();
    let ratio = |saved: Saved| (saved.bytes_out as f64 / saved.bytes_in.max(1) as f64 * 100.0).round() / 100.0;
    tracing::info!(
        target: "response",
        request_id = report.request_id,
        path = report.path,
        tool = report.tool,
        source = report.source.name(),
        asked = report.asked.map(|format| format.name()),
        sent = report.sent.map(|format| format.name()),
        reason = report.outcome.err().map(|skip| skip.name()),
        bytes_in = saved.map(|saved| saved.bytes_in),
        bytes_out = saved.map(|saved| saved.bytes_out),
        ratio = saved.map(ratio),
        estimated_tokens_in = saved.map(|saved| saved.tokens_in),
        estimated_tokens_out = saved.map(|saved| saved.tokens_out),
        microseconds = saved.map(|_| report.took.as_micros() as u64),
        "conversion"
    );
}

/// A count of one, until dropped.
pub(crate) struct Counted {
    metrics: Arc<Metrics>,
    which: fn(&Metrics) -> &AtomicU64,
}

impl Counted {
    pub(crate) fn new(metrics: &Arc<Metrics>, which: fn(&Metrics) -> &AtomicU64) -> Self {
        which(metrics).fetch_add(1, Ordering::Relaxed);
        Self { metrics: metrics.clone(), which }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.which)(&self.metrics).fetch_sub(1, Ordering::Relaxed);
    }
}
