//! Events of the road to the model, as JSON lines in a file. A separate thread writes them, so that a full disk delays no
//! request. Nothing of a text is in them; ids are keyed fingerprints.

use crate::log::now_ms;
use serde_json::{Map, Value, json};
use stc_context::{Item, Report, Telemetry as Settings};
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;

/// The longest untrusted name in characters.
const NAME: usize = 80;

/// A file of events.
pub(crate) struct Telemetry {
    lines: SyncSender<String>,
    longest: usize,
    /// The key of the fingerprints, random for each start of the program.
    fingerprints: RandomState,
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
    /// The body that came; empty if it was compressed.
    pub(crate) body: &'a [u8],
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
        Ok(Self { lines, longest: settings.event_bytes, fingerprints: RandomState::new() })
    }

    /// Writes the events of a request: one for each text that changed, one for the request. Returns the number of lines
    /// that were dropped.
    pub(crate) fn write(&self, event: &Event<'_>) -> u64 {
        let mut lost = 0;
        for item in event.report.items.iter().filter(|item| item.status.is_change()) {
            lost += u64::from(!self.line(&self.item(event, item)));
        }
        lost + u64::from(!self.line(&request(event)))
    }

    fn line(&self, event: &Value) -> bool {
        let line = format!("{event}\n");
        line.len() <= self.longest && self.lines.try_send(line).is_ok()
    }

    fn item(&self, event: &Event<'_>, item: &Item) -> Value {
        let fingerprint = |bytes: &[u8]| format!("{:016x}", self.fingerprints.hash_one(bytes));
        let report = event.report;
        let range = |range: &std::ops::Range<usize>| event.body.get(range.clone()).map(fingerprint);
        json!({
            "event": "tool-result", "version": 1, "time_ms": now_ms(), "request_id": event.request_id,
            "route": event.route, "api": report.api.name(), "call": item.call.as_ref().and_then(range),
            "tool": report.tool(item).map(short), "family": item.family(), "mode": report.mode.name(),
            "status": item.status.name(), "steps": ["json"], "bytes": [item.saved.bytes_in, item.saved.bytes_out],
            "tokens": [item.saved.tokens_in, item.saved.tokens_out], "legend": item.legend,
            "input": range(&item.text),
        })
    }
}

fn request(event: &Event<'_>) -> Value {
    let report = event.report;
    let mut counts = BTreeMap::new();
    for item in &report.items {
        *counts.entry(item.status.name()).or_insert(0_u64) += 1;
    }
    let counts: Map<String, Value> = counts.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
    json!({
        "event": "context", "version": 1, "time_ms": now_ms(), "request_id": event.request_id, "route": event.route,
        "api": report.api.name(), "mode": report.mode.name(), "results": report.items.len(),
        "changed": report.changed(), "statuses": counts, "bytes": [report.saved.bytes_in, report.saved.bytes_out],
        "tokens": [report.saved.tokens_in, report.saved.tokens_out], "microseconds": event.took.as_micros() as u64,
    })
}

/// Returns an untrusted name, cut.
fn short(name: &str) -> String {
    name.chars().take(NAME).collect()
}
