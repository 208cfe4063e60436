//! A request to a model before and after, for the page.

use super::counters::reader;
use serde_json::{Value, json};
use stc_context::{Api, Context, Request, Settings, text, texts};
use std::ops::Range;

/// The longest request that is inspected.
pub(crate) const LONGEST_INSPECTED: usize = 1 << 20;
/// The longest text that is shown, in characters.
const LONGEST_SHOWN_TEXT: usize = 20_000;

/// Returns every tool result of a request with its status and its text before and after; the error is a sentence.
pub(crate) fn inspect(body: &[u8]) -> Result<Value, String> {
    stc::validate(body).map_err(|error| {
        let place = error.position(body);
        format!("not JSON at line {}, column {}", place.line, place.column)
    })?;
    let count = |api: &Api| texts(*api, body).len();
    let api = Api::ALL.into_iter().rev().max_by_key(count).unwrap_or(Api::OpenAiChat);
    let settings = Settings { max_request_bytes: LONGEST_INSPECTED, ..Settings::default() };
    let context = Context::new(settings)?;
    let request = Request::new(api, body);
    let done = context.prepare(request).map_err(|bad| bad.to_string())?;
    let sent = done.body.as_deref().unwrap_or(body);
    let shown = |body: &[u8], place: &Range<usize>| -> String {
        text(body, place).unwrap_or_default().chars().take(LONGEST_SHOWN_TEXT).collect()
    };
    let results: Vec<_> = done
        .report
        .items
        .iter()
        .map(|item| {
            json!({
                "tool": done.report.tool(item), "family": item.family(), "status": item.status.name(),
                "bytes": [item.saved.bytes_in, item.saved.bytes_out],
                "estimated_tokens": [item.saved.tokens_in, item.saved.tokens_out],
                "before": shown(body, &item.text), "after": shown(sent, &item.sent),
            })
        })
        .collect();
    Ok(json!({
        "api": api.name(), "reader": reader(&done.report), "results": results, "changed": done.report.changed(),
        "estimated_tokens": [done.report.saved.tokens_in, done.report.saved.tokens_out],
    }))
}
