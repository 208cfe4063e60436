//! MCP: JSON-RPC messages whose tool results carry JSON as text.
//!
//! All MCP clients accept a text block with other text in it and keep `_meta`; none accepts another content type or
//! coding. So only `content[].text` changes, where it is JSON, and the block is marked:
//!
//! ```text
//! {"type":"text","text":"[{\"id\": 1, \"ok\": true}, {\"id\": 2, \"ok\": false}]"}
//! {"type":"text","text":"[2]{id,ok}: 1,true / 2,false","_meta":{"io.stoa/stc":{"format":"stc1"}}}
//! ```
//!
//! Messages are patched by span, never parsed and printed: every other byte stays as the server wrote it. A list that
//! came as many blocks may be folded into one; its mark then says how many there were: `{"format":"stc1","blocks":12}`.

mod calls;
mod edit;
mod legend;
mod message;
mod result;
mod span;
mod sse;

pub use calls::{Calls, EXTENSION};
pub use legend::legend;
pub(crate) use message::{Findings, Setting, rewrite};
pub(crate) use sse::Events;

use http::header::ACCEPT;
use http::{HeaderMap, Method};

/// Whether a request is MCP: it carries one of the protocol's headers, or is a POST that reads both JSON and events, as
/// the protocol demands of the first one, which carries none.
pub(crate) fn is_mcp(method: &Method, headers: &HeaderMap) -> bool {
    let names = ["mcp-protocol-version", "mcp-session-id", "mcp-method"];
    names.iter().any(|name| headers.contains_key(*name)) || (method == Method::POST && reads_events(headers))
}

/// Whether a request is of the 2026-07-28 revision, and so may ask in its body.
pub(crate) fn may_ask(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::POST && headers.contains_key("mcp-method")
}

fn reads_events(headers: &HeaderMap) -> bool {
    let weight = |name| crate::weight::of(headers, &ACCEPT, name).unwrap_or(0);
    weight("text/event-stream") > 0 && weight("application/json") > 0
}
