//! MCP: JSON-RPC messages whose tool results contain JSON as text.
//!
//! All MCP clients accept a text block with another text and keep `_meta`; none accepts another content type or coding.
//! So only a `content[].text` that is JSON changes, and its block is marked:
//!
//! ```text
//! {"type":"text","text":"[{\"id\": 1, \"ok\": true}, {\"id\": 2, \"ok\": false}]"}
//! {"type":"text","text":"[2]{id,ok}: 1,true / 2,false","_meta":{"io.stoa/stc":{"format":"stc1"}}}
//! ```
//!
//! Messages are patched by span, never parsed and printed: every other byte is the server's own. A list in several blocks
//! may be folded into one; the mark then contains their number: `{"format":"stc1","blocks":12}`.

mod called;
mod calls;
mod legend;
mod message;
mod parts;
mod result;
mod setting;

pub use called::{Ambiguous, called, only};
pub use calls::{Calls, EXTENSION};
pub use legend::legend;
pub(crate) use message::rewrite;
pub(crate) use setting::{Findings, Setting};

use http::header::ACCEPT;
use http::{HeaderMap, Method};

use crate::{Format, Policy};

/// Returns a message of a server with its tool results in another format, by the policy; `None` if nothing changes. `calls` are the
/// requests that it may answer. For transports other than HTTP, as a pipe.
///
/// ```
/// use stc_layer::mcp::{Calls, convert};
/// use stc_layer::{Format, Policy};
///
/// let calls = Calls::read(&r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"rows"}}"#.into());
/// let rows = format!("[{}0]", r#"{\"state\":\"open\",\"type\":\"User\"},"#.repeat(9)).replace(",0]", "]");
/// let message = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"{rows}"}}]}}}}"#);
/// let converted = convert(message.as_bytes(), &calls, &Policy::default(), Format::Stc2).unwrap();
/// assert!(converted.ends_with(br#","_meta":{"io.stoa/stc":{"format":"stc2"}}}]}}"#));
/// ```
#[must_use]
pub fn convert(message: &[u8], calls: &Calls, policy: &Policy, format: Format) -> Option<Vec<u8>> {
    rewrite(message, Setting::decided(policy, calls, format), &mut Findings::default())
}

/// Returns whether a request is MCP: it carries one of the protocol's headers, or is a POST that accepts both JSON and
/// events, which the protocol requires of the first request, and which has none of the headers.
#[must_use]
pub fn is_mcp(method: &Method, headers: &HeaderMap) -> bool {
    let names = ["mcp-protocol-version", "mcp-session-id", "mcp-method"];
    names.iter().any(|name| headers.contains_key(*name)) || (method == Method::POST && accepts_events(headers))
}

/// Returns whether a request is of the 2026-07-28 revision, whose body may contain a preference.
pub(crate) fn may_prefer(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::POST && headers.contains_key("mcp-method")
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let qvalue = |name| crate::qvalue::of(headers, &ACCEPT, name).unwrap_or(0);
    qvalue("text/event-stream") > 0 && qvalue("application/json") > 0
}
