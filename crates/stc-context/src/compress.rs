//! Rows of a conversation, compressed for a host that sends them itself: the contract of LiteLLM's guardrail `headroom`.
//!
//! The body is `{"messages": [...]}` with messages of Chat Completions or of Messages, or `{"input": [...]}` with items of
//! Responses. The answer has the same messages in the same order.

use crate::layout::{Counted, Layout};
use crate::report::Report;
use crate::{Api, Context, HeaderOptions, Reader, Refused, Request};
use serde_json::{Value, json};
use stc_wire::{span, transcode};

/// The longest name of a tool in the answer, in bytes.
const LONGEST_NAME: usize = 256;

/// The answer of [`Context::compress`].
#[derive(Clone, Debug)]
pub struct Compressed {
    /// The answer's body.
    pub body: Vec<u8>,
    /// What became of the results.
    pub report: Report,
}

impl Context {
    /// Compresses the messages of a conversation; `None` if the body has neither `messages` nor `input`.
    pub fn compress(&self, body: &[u8], headers: HeaderOptions<'_>) -> Result<Option<Compressed>, Refused> {
        let apis = [Api::OpenAiChat, Api::Anthropic];
        let is_json = transcode::is_json(body);
        let Some(document) = span::document(body).filter(|_| is_json) else { return Ok(None) };
        let (api, apis) = match span::member(body, document.clone(), "messages") {
            Some(_) => (Api::OpenAiChat, &apis[..]),
            None => (Api::OpenAiResponses, &[Api::OpenAiResponses][..]),
        };
        if span::member(body, document, api.conversation()).is_none() {
            return Ok(None);
        }
        let done = self.prepare_messages(Request { headers, ..Request::new(api, body) }, apis)?;
        let sent = done.body.as_deref().unwrap_or(body);
        let conversation =
            Layout::read(apis, Counted::default(), sent).and_then(|layout| layout.conversation.once().cloned());
        let Some(conversation) = conversation else { return Ok(None) };
        let mut answer = format!("{{\"{}\":", api.conversation()).into_bytes();
        answer.extend_from_slice(&sent[conversation]);
        answer.push(b',');
        answer.extend_from_slice(&figures(body, &done.report).to_string().as_bytes()[1..]);
        Ok(Some(Compressed { body: answer, report: done.report }))
    }
}

/// Returns the start of a tool's name. A name is in the request once, and in the answer for each of its results.
fn short(name: &str) -> &str {
    let end = (0..=LONGEST_NAME.min(name.len())).rev().find(|at| name.is_char_boundary(*at));
    &name[..end.unwrap_or(0)]
}

/// Returns the figures of the answer as an object.
fn figures(body: &[u8], report: &Report) -> Value {
    let saved = report.saved;
    let ratio = if saved.tokens_in == 0 { 1.0 } else { saved.tokens_out as f64 / saved.tokens_in as f64 };
    let mut transforms: Vec<_> =
        report.items.iter().map(|item| item.status).filter(|status| status.is_change()).collect();
    transforms.sort_unstable();
    transforms.dedup();
    let item = |item: &crate::Item| {
        json!({
            "tool_call_id": item.call.as_ref().and_then(|call| span::string(body, call)),
            "tool": report.tool(item).map(short), "status": item.status.name(),
            "tokens": [item.saved.tokens_in, item.saved.tokens_out],
        })
    };
    json!({
        "tokens_before": saved.tokens_in,
        "tokens_after": saved.tokens_out,
        "tokens_saved": saved.tokens_in.saturating_sub(saved.tokens_out),
        "compression_ratio": (ratio * 10_000.0).round() / 10_000.0,
        "transforms_applied": transforms.iter().map(|status| status.name()).collect::<Vec<_>>(),
        "ccr_hashes": [],
        "reader": report.reading.as_ref().and_then(|reading| reading.reader).map(Reader::name),
        "reader_by": report.reading.as_ref().map(|reading| &reading.by),
        "items": report.items.iter().map(item).collect::<Vec<_>>(),
    })
}
