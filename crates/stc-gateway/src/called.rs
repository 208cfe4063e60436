//! The tools that a request may call, for the conditions of plugins.
//!
//! They are in the body alone. What names them in a header is the client's word: it adds a tool that a server may believe, and never
//! takes one away. If it cannot be told what a body calls, it may be any tool.

use bytes::Bytes;
use http::Method;
use http::header::{CONTENT_ENCODING, HeaderValue};
use stc_layer::mcp;
use stc_plugin::PluginContext;

/// Notes the tools that a body calls: one that is no plain JSON, or is ambiguous, may call any.
pub(crate) fn note(context: &mut PluginContext, body: &Bytes) {
    let headers = &context.request_headers;
    let is_coded = |coding: &HeaderValue| !coding.as_bytes().eq_ignore_ascii_case(b"identity");
    let is_plain = !headers.get_all(CONTENT_ENCODING).iter().any(is_coded);
    let Some(mut tools) = is_plain.then(|| mcp::called(body).ok()).flatten() else {
        context.tool = None;
        return context.may_call(None);
    };
    let tool = match tools.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    let named = headers.get_all("mcp-name").iter();
    tools.extend(named.map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned()));
    context.tool = tool;
    context.may_call(Some(tools));
}

/// Returns whether a request without a body may get the answer of a call: it resumes a stream.
pub(crate) fn may_resume(context: &PluginContext) -> bool {
    context.method == Method::GET && context.request_headers.contains_key("last-event-id")
}
