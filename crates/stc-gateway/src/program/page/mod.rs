//! The page: three files, served as they are, and the state that it asks for every two seconds.

use crate::program::ledger::{Ledger, UpstreamFailure};
use serde_json::{Map, Value, json};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const HTML: &[u8] = include_bytes!("page.html");
pub(crate) const CSS: &[u8] = include_bytes!("page.css");
pub(crate) const SCRIPT: &[u8] = include_bytes!("page.js");

/// What the page shows. Names in it come from outside: the page puts them in as text, never as markup.
pub(crate) fn state(ledger: &Ledger, draining: bool) -> Value {
    let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let [bytes_in, bytes_out, tokens_in, tokens_out] = ledger.saved.each_ref().map(load);
    let (mut sent, mut skipped) = (0, 0);
    for ((.., outcome), count) in ledger.outcomes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        *(if *outcome == "sent" { &mut sent } else { &mut skipped }) += count;
    }
    let failures: Map<String, Value> = UpstreamFailure::ALL
        .into_iter()
        .zip(&ledger.upstream_failures)
        .map(|(failure, count)| (failure.name().to_owned(), load(count).into()))
        .collect();
    let savings = ledger.savings();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": ledger.began.elapsed().as_secs(),
        "draining": draining,
        "responses": ledger.statuses.iter().map(load).sum::<u64>(),
        "connections": load(&ledger.connections),
        "sent": sent,
        "skipped": skipped,
        "bytes": [bytes_in, bytes_out],
        "estimated_tokens": [tokens_in, tokens_out],
        "encode_microseconds": load(&ledger.encode_nanoseconds).checked_div(sent).map(|nanoseconds| nanoseconds as f64 / 1e3),
        "upstream_failures": failures,
        "now_ms": super::log::now_ms(),
        "tools": savings.tools(),
        "skips": savings.skips().collect::<Vec<_>>(),
    })
}
