//! The sample MCP server: enough of the protocol to list tools and call them.

use super::samples::SAMPLES;
use serde_json::{Value, json};

/// Returns the answer to a message; `None` to a notification.
pub(super) fn answer(body: &[u8]) -> Option<Value> {
    let Ok(message) = serde_json::from_slice::<Value>(body) else {
        return Some(error(&Value::Null, -32700, "not JSON"));
    };
    let id = message.get("id")?;
    let params = &message["params"];
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"].as_str().unwrap_or("2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stc-gateway-demo", "version": env!("CARGO_PKG_VERSION")},
        }),
        "ping" => json!({}),
        "tools/list" => {
            let tool = |sample: &super::samples::Sample| json!({"name": sample.tool, "description": sample.about, "inputSchema": {"type": "object"}});
            json!({"tools": SAMPLES.iter().map(tool).collect::<Vec<_>>()})
        }
        "tools/call" => match SAMPLES.iter().find(|sample| params["name"] == sample.tool) {
            Some(sample) => json!({"content": [{"type": "text", "text": sample.json.trim_end()}]}),
            None => json!({"content": [{"type": "text", "text": "no such tool"}], "isError": true}),
        },
        _ => return Some(error(id, -32601, "no such method")),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}
