//! The page: three static files, and the state that it fetches every two seconds.

use crate::metrics::Metrics;
use crate::upstream::failure::Cause;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const HTML: &[u8] = include_bytes!("page.html");
pub(crate) const CSS: &[u8] = include_bytes!("page.css");
pub(crate) const SCRIPT: &[u8] = include_bytes!("page.js");

/// Returns the state that the page shows. It contains untrusted names, which the page inserts as text, never as markup.
/// Sizes are compared with minified JSON.
pub(crate) fn state(metrics: &Metrics, draining: bool, prices: &BTreeMap<String, f64>, has_sample: bool) -> Value {
    let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let [_, bytes_out, _, tokens_out] = metrics.saved.each_ref().map(load);
    let [bytes_in, tokens_in] = metrics.minified.each_ref().map(load);
    let (mut sent, mut skipped) = (0, 0);
    for ((.., outcome), count) in metrics.outcomes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        *(if *outcome == "sent" { &mut sent } else { &mut skipped }) += count;
    }
    let failures: Map<String, Value> = Cause::ALL
        .into_iter()
        .zip(&metrics.upstream_failures)
        .map(|(failure, count)| (failure.name().to_owned(), load(count).into()))
        .collect();
    let savings = metrics.savings();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": metrics.began.elapsed().as_secs(),
        "draining": draining,
        "responses": metrics.statuses.iter().map(load).sum::<u64>(),
        "connections": load(&metrics.connections),
        "sent": sent,
        "skipped": skipped,
        "bytes": [bytes_in, bytes_out],
        "estimated_tokens": [tokens_in, tokens_out],
        "encode_microseconds": load(&metrics.encode_nanoseconds).checked_div(sent).map(|nanoseconds| nanoseconds as f64 / 1e3),
        "upstream_failures": failures,
        "now_ms": crate::log::now_ms(),
        "tools": savings.tools(),
        "tenants": savings.tenants(),
        "history": metrics.history.shown(crate::log::now_ms() / 1000),
        "prices": prices,
        "excerpt": metrics.excerpt.shown(),
        "has_sample": has_sample,
        "failures": metrics.latest_failures(),
        "context": metrics.context.state(),
        "skips": savings.skips().collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::SCRIPT;
    use stc_layer::Format;

    #[test]
    fn the_script_has_a_title_for_every_format() {
        let script = str::from_utf8(SCRIPT).unwrap();
        let names = script.split("const names = {").nth(1).unwrap().split("};").next().unwrap();
        let name = |pair: &'static str| pair.split(':').next().unwrap().trim().trim_matches('"');
        let mut named: Vec<_> = names.split(',').map(name).collect();
        let mut formats = Format::ALL.map(Format::name);
        named.sort_unstable();
        formats.sort_unstable();
        assert_eq!(named, formats);
    }
}
