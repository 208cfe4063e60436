//! Long requests of one shape, for measurements.

use super::{Maker, ModelRequest, conversation, text};
use crate::catalogue::kind;
use crate::rng::Rng;
use crate::style::{Layout, Style};
use crate::transcripts::transcript;

/// Makes a request of about `results` results of `bytes` bytes each, for measurements: those of an agent that called for pages of rows.
pub fn long_request(api: &'static str, results: usize, bytes: usize) -> ModelRequest {
    let rng = Rng::named("long-request", results as u64);
    let callers = Rng::named("callers", 0);
    let (calls, earlier, has_programs) = (0, Vec::new(), false);
    let mut maker = Maker { rng, api, layout: Layout::Minified, calls, earlier, callers, has_programs };
    let kinds = ["issues", "pods", "sql-rows", "users", "logs", "pulls", "invoices"];
    let mut rows = vec![maker.user("Summarise all pages.")];
    for number in 0..results {
        let name = kinds[number % kinds.len()];
        let one = kind(name).expect("a kind of the catalogue");
        let json = one.make_in(Style::MINIFIED, &mut maker.rng, bytes);
        let json = String::from_utf8(json).expect("generated documents are Unicode");
        let content = text(&json);
        let id = text(&format!("call_{number}"));
        match api {
            "openai-chat" => {
                let function = maker.object(&[("name", text(name)), ("arguments", text("{}"))]);
                let call = maker.object(&[("id", id.clone()), ("type", text("function")), ("function", function)]);
                let calls = maker.array(&[call]);
                rows.push(maker.object(&[("role", text("assistant")), ("tool_calls", calls)]));
                rows.push(maker.object(&[("role", text("tool")), ("tool_call_id", id), ("content", content)]));
            }
            "openai-responses" => {
                let call = [
                    ("type", text("function_call")),
                    ("call_id", id.clone()),
                    ("name", text(name)),
                    ("arguments", text("{}")),
                ];
                rows.push(maker.object(&call));
                let output = [("type", text("function_call_output")), ("call_id", id), ("output", content)];
                rows.push(maker.object(&output));
            }
            "gemini" | "bedrock" | "ollama" => {
                rows.push(maker.called(&[(format!("call_{number}"), (name, "{}"))]));
                rows.push(maker.answered(&format!("call_{number}"), name, content));
            }
            _ => {
                let call =
                    [("type", text("tool_use")), ("id", id.clone()), ("name", text(name)), ("input", "{}".to_owned())];
                let call = maker.object(&call);
                let call = maker.array(&[call]);
                rows.push(maker.object(&[("role", text("assistant")), ("content", call)]));
                let result = [("type", text("tool_result")), ("tool_use_id", id), ("content", content)];
                let result = maker.object(&result);
                let result = maker.array(&[result]);
                rows.push(maker.object(&[("role", text("user")), ("content", result)]));
            }
        }
    }
    let rows = maker.array(&rows);
    let body = maker.object(&[("model", text("sample")), (conversation(api), rows)]);
    ModelRequest { api, body: body.into_bytes() }
}

/// Makes a request of Chat Completions with `results` results of about `lines` lines, for measurements: those of an agent that ran
/// programs.
pub fn printed_request(results: usize, lines: usize) -> ModelRequest {
    let (api, rng) = ("openai-chat", Rng::named("printed-request", results as u64));
    let callers = Rng::named("callers", 0);
    let (calls, earlier, has_programs) = (0, Vec::new(), false);
    let mut maker = Maker { rng, api, layout: Layout::Minified, calls, earlier, callers, has_programs };
    let mut rows = vec![maker.user("Mend the build.")];
    for number in 0..results {
        let printed = transcript(&mut maker.rng, lines);
        let id = text(&format!("call_{number}"));
        let arguments = text(&format!("{{\"command\":{}}}", text(&printed.command)));
        let function = maker.object(&[("name", text(printed.tool)), ("arguments", arguments)]);
        let call = maker.object(&[("id", id.clone()), ("type", text("function")), ("function", function)]);
        let calls = maker.array(&[call]);
        rows.push(maker.object(&[("role", text("assistant")), ("tool_calls", calls)]));
        let content = maker.string(&printed.text);
        rows.push(maker.object(&[("role", text("tool")), ("tool_call_id", id), ("content", content)]));
    }
    let rows = maker.array(&rows);
    let body = maker.object(&[("model", text("sample")), (conversation(api), rows)]);
    ModelRequest { api, body: body.into_bytes() }
}
