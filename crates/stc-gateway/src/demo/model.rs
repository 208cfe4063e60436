//! The sample model: answers a chat request, and shows what it saw of it.

use super::samples::SAMPLES;
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// The path of a chat request to try.
pub(super) const REQUEST: &str = "/chat-request";
/// The path of the model.
pub(super) const CHAT: &str = "/v1/chat/completions";
/// The path of the latest request that the model saw.
pub(super) const SEEN: &str = "/seen";

/// The model that the request names: a large one, as most agents have.
const LARGE: &str = "gpt-5";

static LATEST_SEEN: Mutex<Bytes> = Mutex::new(Bytes::new());

/// Returns a chat request with the result of a tool.
pub(super) fn request() -> String {
    let issues = &SAMPLES[1];
    let function = json!({"name": issues.tool, "arguments": "{}"});
    let call = json!({"id": "call_1", "type": "function", "function": function});
    json!({
        "model": LARGE,
        "messages": [
            {"role": "user", "content": "Which issues are open?"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": issues.json.trim_end()},
        ],
    })
    .to_string()
}

/// Answers a request, and keeps it for [`seen`].
pub(super) fn answer(body: Bytes) -> Value {
    let results = serde_json::from_slice(&body).map_or(0, |request: Value| {
        let rows = request["messages"].as_array().map_or(&[][..], Vec::as_slice);
        rows.iter().filter(|row| row["role"] == "tool").count()
    });
    let content = format!("A sample model: {results} tool results in {} bytes.", body.len());
    *LATEST_SEEN.lock().unwrap_or_else(PoisonError::into_inner) = body;
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "sample",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    })
}

/// Returns the latest request that the model saw.
pub(super) fn seen() -> Bytes {
    LATEST_SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
