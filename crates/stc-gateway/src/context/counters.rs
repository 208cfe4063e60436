//! Counters of requests to models, and the savings by tool that the page shows. Bounded, whatever names clients send.

use super::memories::held;
use crate::log::now_ms;
use crate::metrics::exposition::{BUCKETS, Text};
use crate::metrics::savings::short;
use serde_json::{Value, json};
use stc_context::{Api, Memo, Reader, Report, Status, Step};
use stc_layer::Saved;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Pairs of tool and status with a row of their own; all others share one.
const MOST_TOOLS: usize = 200;
/// Requests whose statuses are kept.
const LATEST_REQUESTS: usize = 30;

/// The counters.
#[derive(Default)]
pub(crate) struct ContextCounters {
    /// By API and status.
    results: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    /// Bytes in and out, estimated tokens in and out.
    saved: [AtomicU64; 4],
    buckets: [AtomicU64; BUCKETS.len() + 1],
    nanoseconds: AtomicU64,
    /// Requests by reader, in the order of [`Reader::ALL`].
    readers: [AtomicU64; Reader::ALL.len()],
    /// By outcome, in the order of [`Memo::ALL`].
    memos: [AtomicU64; Memo::ALL.len()],
    /// Texts by step, in the order of [`Step::ALL`].
    steps: [AtomicU64; Step::ALL.len()],
    /// Secrets by rule.
    redactions: Mutex<BTreeMap<&'static str, u64>>,
    redaction_failures: AtomicU64,
    /// Looks at a shared store and writes to it, by outcome.
    store: Mutex<BTreeMap<&'static str, u64>>,
    refused: AtomicU64,
    lost: AtomicU64,
    page: Mutex<Page>,
}

/// What the page shows.
#[derive(Default)]
struct Page {
    tools: BTreeMap<(String, &'static str), (u64, Saved)>,
    latest: VecDeque<Value>,
}

impl ContextCounters {
    /// Counts a prepared request.
    pub(crate) fn note(&self, report: &Report, took: Duration) {
        if let Some(left) = report.left {
            self.fail_redaction(report.redaction_failures);
            return self.left(report.api, left);
        }
        self.note_steps(report);
        if report.items.is_empty() {
            return;
        }
        let mut results = lock(&self.results);
        for item in &report.items {
            *results.entry((report.api.name(), item.status.name())).or_default() += 1;
        }
        drop(results);
        let saved = report.saved;
        let sizes = [saved.bytes_in, saved.bytes_out, saved.tokens_in, saved.tokens_out];
        for (count, size) in self.saved.iter().zip(sizes) {
            count.fetch_add(size, Ordering::Relaxed);
        }
        if let Some(reader) = report.reading.as_ref().and_then(|reading| reading.reader) {
            self.readers[reader as usize].fetch_add(1, Ordering::Relaxed);
        }
        for (count, memo) in self.memos.iter().zip(Memo::ALL) {
            count.fetch_add(report.memos(memo) as u64, Ordering::Relaxed);
        }
        let micros = took.as_micros() as u64;
        let bucket = BUCKETS.iter().position(|end| micros <= *end).unwrap_or(BUCKETS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
        lock(&self.page).note(report);
    }

    fn note_steps(&self, report: &Report) {
        for step in report.items.iter().flat_map(|item| item.steps.iter()) {
            self.steps[step as usize].fetch_add(1, Ordering::Relaxed);
        }
        if !report.redactions.is_empty() {
            let mut redactions = lock(&self.redactions);
            for (rule, count) in &report.redactions {
                *redactions.entry(rule).or_default() += count;
            }
        }
        self.fail_redaction(report.redaction_failures);
    }

    /// Counts a request that was left alone as a whole.
    pub(crate) fn left(&self, api: Api, status: Status) {
        *lock(&self.results).entry((api.name(), status.name())).or_default() += 1;
    }

    /// Counts a look at a shared store, or a write that it has no room for.
    pub(crate) fn store(&self, outcome: &'static str) {
        *lock(&self.store).entry(outcome).or_default() += 1;
    }

    /// Counts a request with an option that cannot be followed.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts texts that could not be searched for secrets.
    pub(crate) fn fail_redaction(&self, texts: u64) {
        self.redaction_failures.fetch_add(texts, Ordering::Relaxed);
    }

    /// Counts dropped lines of telemetry.
    pub(crate) fn lose(&self, lines: u64) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
    }

    /// Writes the metrics.
    pub(crate) fn render(&self, out: &mut Text) {
        let name = "stc_context_results_total";
        out.head(
            name,
            "counter",
            "Tool results in requests, by API and status, and whole requests that were sent unchanged.",
        );
        for ((api, status), count) in lock(&self.results).iter() {
            out.line(name, &[("api", api), ("status", status)], count);
        }
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let [bytes_in, bytes_out, tokens_in, tokens_out] = self.saved.each_ref().map(load);
        for (name, what, before, after) in [
            (
                "stc_context_bytes_total",
                "Bytes of texts of tool results, before (`in`) and after (`out`) preparation.",
                bytes_in,
                bytes_out,
            ),
            (
                "stc_context_estimated_tokens_total",
                "Estimated tokens of texts of tool results, before (`in`) and after (`out`) preparation.",
                tokens_in,
                tokens_out,
            ),
        ] {
            out.head(name, "counter", what);
            out.line(name, &[("side", "in")], before);
            out.line(name, &[("side", "out")], after);
        }
        out.histogram(
            "stc_context_seconds",
            "Time to collect and prepare a request with tool results.",
            &self.buckets,
            load(&self.nanoseconds),
        );
        let name = "stc_context_readers_total";
        out.head(name, "counter", "Requests with tool results whose format their model decided, by how much it reads.");
        for (reader, count) in Reader::ALL.iter().zip(&self.readers) {
            out.line(name, &[("reader", reader.name())], load(count));
        }
        self.render_memos(out);
        self.render_steps(out);
        for (name, what, count) in [
            ("stc_context_options_refused_total", "Requests rejected for invalid options.", &self.refused),
            ("stc_context_telemetry_lost_total", "Lines of telemetry that were dropped.", &self.lost),
        ] {
            out.head(name, "counter", what);
            out.line(name, &[], load(count));
        }
    }

    fn render_steps(&self, out: &mut Text) {
        let name = "stc_context_steps_total";
        out.head(name, "counter", "Texts of tool results, by the steps that changed them.");
        for (step, count) in Step::ALL.iter().zip(&self.steps) {
            out.line(name, &[("step", step.name())], count.load(Ordering::Relaxed));
        }
        let name = "stc_context_redactions_total";
        out.head(name, "counter", "Secrets that were replaced, by rule.");
        for (rule, count) in lock(&self.redactions).iter() {
            out.line(name, &[("rule", rule)], count);
        }
        let name = "stc_context_redaction_failures_total";
        out.head(
            name,
            "counter",
            "Texts that could not be searched for secrets, and requests rejected for that reason.",
        );
        out.line(name, &[], self.redaction_failures.load(Ordering::Relaxed));
    }

    fn render_memos(&self, out: &mut Text) {
        let name = "stc_context_memo_total";
        out.head(name, "counter", "Texts of requests with a session, by outcome of the memo.");
        for (memo, count) in Memo::ALL.iter().zip(&self.memos) {
            out.line(name, &[("outcome", memo.name())], count.load(Ordering::Relaxed));
        }
        let name = "stc_context_store_total";
        out.head(
            name,
            "counter",
            "Reads of the shared store, by outcome; writes that its queue had no room for (full) and that it did not take (unwritten).",
        );
        for (outcome, count) in lock(&self.store).iter() {
            out.line(name, &[("store", "redis"), ("outcome", outcome)], count);
        }
        let (bytes, sessions) = held();
        for (name, what, count) in [
            ("stc_context_memo_bytes", "Bytes of sessions in memory.", bytes),
            ("stc_context_memo_sessions", "Sessions in memory.", sessions),
        ] {
            out.head(name, "gauge", what);
            out.line(name, &[], count);
        }
    }

    /// Returns what the page shows.
    pub(crate) fn state(&self) -> Value {
        let page = lock(&self.page);
        let row = |((tool, status), (texts, saved)): (&(String, &'static str), &(u64, Saved))| {
            json!({
                "name": tool, "status": status, "texts": texts, "bytes": [saved.bytes_in, saved.bytes_out],
                "estimated_tokens": [saved.tokens_in, saved.tokens_out],
            })
        };
        json!({"tools": page.tools.iter().map(row).collect::<Vec<_>>(), "latest": page.latest})
    }
}

impl Page {
    fn note(&mut self, report: &Report) {
        let mut statuses = BTreeMap::new();
        for item in &report.items {
            *statuses.entry(item.status.name()).or_insert(0_u64) += 1;
            let name = report.tool(item).map_or("(unknown)".to_owned(), short);
            let mut key = (name, item.status.name());
            if self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(&key) {
                key.0 = "(others)".to_owned();
            }
            let (texts, saved) = self.tools.entry(key).or_default();
            *texts += 1;
            *saved += item.saved;
        }
        self.latest.truncate(LATEST_REQUESTS - 1);
        self.latest.push_front(json!({
            "time_ms": now_ms(), "api": report.api.name(), "statuses": statuses, "reader": reader(report),
            "estimated_tokens": [report.saved.tokens_in, report.saved.tokens_out],
        }));
    }
}

/// Returns who reads a request, for the page.
pub(super) fn reader(report: &Report) -> Option<Value> {
    let reading = report.reading.as_ref()?;
    Some(json!({"level": reading.reader.map(Reader::name), "by": reading.by, "format": reading.format.name()}))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
