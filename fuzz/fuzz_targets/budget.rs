//! Work: what any text costs in any mode is within its budget, and what costs more stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stc_context::{Api, Context, Mode, Request, Settings, Status};
use stc_wire::budget::counted;
use std::sync::LazyLock;

static CONTEXTS: LazyLock<Vec<Context>> = LazyLock::new(|| {
    let base = Settings { min_bytes: 16, errors: true, skip_tools: Vec::new(), ..Settings::default() };
    let modes = [Mode::Lossless, Mode::Safe, Mode::Standard, Mode::Aggressive];
    modes.map(|mode| Context::new(Settings { mode, ..base.clone() }).expect("good settings")).to_vec()
});

/// Commands whose results are of different kinds.
const COMMANDS: [&str; 4] = ["ls", "cargo test; git log; pytest; npm i; make", "rg x", "find ."];

fuzz_target!(|data: &[u8]| {
    let Some((&[choice, times], rest)) = data.split_first_chunk() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    // What repeats grows fastest.
    let text = text.repeat((1 + usize::from(times) * 16).min(64_000 / text.len().max(1) + 1));
    let command = COMMANDS[usize::from(choice >> 2) % COMMANDS.len()];
    let body = serde_json::json!({"messages": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "bash", "input": {"command": command}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]},
    ]});
    let body = body.to_string();
    let request = Request::new(Api::Anthropic, body.as_bytes());
    let (done, spent) = counted(|| CONTEXTS[usize::from(choice & 3)].prepare(request).expect("no required redaction"));
    assert!(spent <= 100_000 + 300 * body.len() as u64, "{spent} steps for {} bytes", body.len());
    for item in &done.report.items {
        assert!(item.status != Status::Failed || item.saved.bytes_in == item.saved.bytes_out);
    }
});
