//! The requests to models that have a budget: what an agent sends after 200 calls.

use stc_context::{Api, Context, Mode, Settings};

/// Results in a request.
pub const RESULTS: usize = 200;
/// Bytes of each result that is JSON, and lines of each that a program printed.
const BYTES: usize = 3_600;
const LINES: usize = 60;

/// The requests by the names of their budgets, and the mode of each.
pub const MEASURED: [(&str, Mode); 2] = [("prepare", Mode::Lossless), ("standard", Mode::Standard)];

/// Returns a request of an API whose results are JSON.
#[must_use]
pub fn of_api(api: Api) -> Vec<u8> {
    stc_corpus::long_request(api.name(), RESULTS, BYTES).body
}

/// Returns a request of [`MEASURED`], which is one of Chat Completions, and the settings for it.
pub fn measured(name: &str) -> Result<(Context, Vec<u8>), String> {
    let (_, mode) = *MEASURED.iter().find(|(other, _)| *other == name).ok_or_else(|| format!("no request {name}"))?;
    let context = Context::new(Settings { mode, ..Settings::default() })?;
    let body = match mode {
        Mode::Lossless => of_api(Api::OpenAiChat),
        _ => stc_corpus::printed_request(RESULTS, LINES).body,
    };
    Ok((context, body))
}

/// Returns a request with results that are text, in which the mode `safe` has nothing to do.
#[must_use]
pub fn clean() -> Vec<u8> {
    let line = "The build finished after 3 minutes; 412 tests passed and 2 were skipped in module parser.";
    let text = [line; 200].join("\\n");
    let row = format!(r#"{{"role":"tool","tool_call_id":"c","content":"{text}"}}"#);
    format!(r#"{{"messages":[{}]}}"#, vec![row; 60].join(",")).into_bytes()
}
