//! Events of requests to models, as JSON lines in a file. A separate thread writes them, so that a full disk delays no
//! request. Nothing of a text is in them; ids are keyed fingerprints.

use crate::log::now_ms;
use crate::metrics::savings::short;
use serde_json::{Map, Value, json};
use stc_context::{Item, Memo, Reader, Report, Secret, Status, Step, Telemetry as Settings, text};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;

/// A file of events.
pub(crate) struct Telemetry {
    lines: SyncSender<String>,
    longest: usize,
}

/// Returns the file of these settings, opened once for all routes that write to it; `None` without a file.
pub(crate) fn shared(
    files: &mut BTreeMap<PathBuf, Arc<Telemetry>>,
    settings: &Settings,
) -> Result<Option<Arc<Telemetry>>, String> {
    let Some(path) = &settings.file else { return Ok(None) };
    if let Some(open) = files.get(path) {
        return Ok(Some(open.clone()));
    }
    let open = Arc::new(Telemetry::open(path, settings)?);
    files.insert(path.clone(), open.clone());
    Ok(Some(open))
}

/// A request that was prepared.
pub(crate) struct Event<'a> {
    pub(crate) request_id: Option<&'a str>,
    pub(crate) route: &'a str,
    pub(crate) tenant: &'a [u8],
    /// The key of the fingerprints.
    pub(crate) secret: &'a Secret,
    /// The body that came, without its content coding.
    pub(crate) came: &'a [u8],
    /// The body that is sent.
    pub(crate) sent: &'a [u8],
    pub(crate) report: &'a Report,
    pub(crate) took: Duration,
}

impl Telemetry {
    /// Opens the file for appending.
    pub(crate) fn open(path: &Path, settings: &Settings) -> Result<Self, String> {
        let file = File::options().create(true).append(true).open(path);
        let mut file = file.map_err(|error| format!("`context.telemetry.file`: {}: {error}", path.display()))?;
        let (lines, received) = mpsc::sync_channel::<String>(settings.queue);
        let thread = std::thread::Builder::new().name("telemetry".to_owned());
        let write = move || {
            for line in received {
                // After an error the next line is tried again: a full disk may have room later.
                let _ = file.write_all(line.as_bytes());
            }
        };
        thread.spawn(write).map_err(|error| format!("a thread for telemetry: {error}"))?;
        Ok(Self { lines, longest: settings.event_bytes })
    }

    /// Writes the events of a request: one for each text that changed or has a memo, one for the request. Returns the number of lines
    /// that were dropped.
    pub(crate) fn write(&self, event: &Event<'_>) -> u64 {
        let mut lost = 0;
        let told = |item: &&Item| item.status.is_change() || item.memo.is_some();
        for item in event.report.items.iter().filter(told) {
            lost += u64::from(!self.line(&event.item(item)));
        }
        lost + u64::from(!self.line(&request(event)))
    }

    fn line(&self, event: &Value) -> bool {
        let line = format!("{event}\n");
        line.len() <= self.longest && self.lines.try_send(line).is_ok()
    }
}

impl Event<'_> {
    fn item(&self, item: &Item) -> Value {
        let report = self.report;
        let came = |range: &Option<Range<usize>>| range.as_ref().map(|range| self.fingerprint(self.came, range));
        json!({
            "event": "tool-result", "version": 1, "time_ms": now_ms(), "request_id": self.request_id,
            "route": self.route, "api": report.api.name(), "tenant": self.tenant(), "session": session(report),
            "call": came(&item.call),
            "tool": report.tool(item).map(short), "family": item.family(), "mode": report.mode.name(),
            "program": item.program(), "status": item.status.name(),
            "steps": item.steps.iter().map(Step::name).collect::<Vec<_>>(), "bytes": [item.saved.bytes_in, item.saved.bytes_out],
            "lines": [lines(self.came, &item.text), lines(self.sent, &item.sent)],
            "tokens": [item.saved.tokens_in, item.saved.tokens_out], "legend": item.legend,
            "redacted": item.redacted, "capped": item.is_capped(), "abridged": item.is_abridged(),
            "dictionary": item.steps.has(Step::Dictionary),
            "duplicate": item.status == Status::Duplicate, "memo_reused": item.memo == Some(Memo::Reused),
            "memo_changed": item.memo == Some(Memo::Changed), "input": self.fingerprint(self.came, &item.text),
            "output": self.fingerprint(self.sent, &item.sent), "arguments": came(&item.arguments),
        })
    }

    /// Returns a keyed hash of a value in a body; of a string, of its text without escapes.
    fn fingerprint(&self, body: &[u8], range: &Range<usize>) -> String {
        let text = text(body, range);
        let bytes = text.as_ref().map_or(body.get(range.clone()).unwrap_or_default(), |text| text.as_bytes());
        format!("{:016x}", self.secret.hash(&[b"fingerprint", bytes]) as u64)
    }

    fn tenant(&self) -> String {
        format!("{:016x}", self.secret.hash(&[b"tenant", self.tenant]) as u64)
    }
}

fn session(report: &Report) -> Option<String> {
    report.session.map(|session| format!("{session:016x}"))
}

fn request(event: &Event<'_>) -> Value {
    let report = event.report;
    let reading = report.reading.as_ref();
    let mut counts = BTreeMap::new();
    for item in &report.items {
        *counts.entry(item.status.name()).or_insert(0_u64) += 1;
    }
    let counts: Map<String, Value> = counts.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
    json!({
        "event": "context", "version": 1, "time_ms": now_ms(), "request_id": event.request_id, "route": event.route,
        "api": report.api.name(), "tenant": event.tenant(), "session": session(report),
        "mode": report.mode.name(), "reader": reading.and_then(|reading| reading.reader).map(Reader::name),
        "reader_by": reading.map(|reading| &reading.by), "results": report.items.len(),
        "changed": report.changed(), "statuses": counts, "bytes": [report.saved.bytes_in, report.saved.bytes_out],
        "tokens": [report.saved.tokens_in, report.saved.tokens_out],
        "redactions": report.redactions.iter().copied().collect::<BTreeMap<_, _>>(),
        "redaction_failures": report.redaction_failures, "microseconds": event.took.as_micros() as u64,
    })
}

/// Returns the number of lines of a string in a body.
fn lines(body: &[u8], range: &Range<usize>) -> usize {
    text(body, range).map_or(0, |text| text.lines().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that finds the queue full is dropped at once, and so is one that is too long; the next has its chance.
    #[test]
    fn lines_that_are_dropped() {
        let (lines, received) = mpsc::sync_channel(2);
        let telemetry = Telemetry { lines, longest: 20 };
        let line = |text: &str| telemetry.line(&json!(text));
        assert_eq!([line("a"), line("b"), line("c")], [true, true, false]);
        assert_eq!(received.recv().unwrap(), "\"a\"\n");
        assert_eq!([line(&"d".repeat(18)), line(&"d".repeat(17)), line("e")], [false, true, false]);
        drop(received);
        assert!(!line("f"), "the thread has ended");
    }
}
