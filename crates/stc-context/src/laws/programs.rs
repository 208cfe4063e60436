//! The law of what programs read.

use crate::{Api, Context, Done, RedactWhen};
use serde_json::Value;
use std::collections::HashSet;

/// What a program reads is untouched: the result of a call whose caller is not the model, of a tool that only programs may call, or
/// one that is marked so. Where redaction is set by name, its secrets are replaced, so the law says nothing there.
pub(super) fn untouched(context: &Context, (api, conversation): (Api, &str), body: &[u8], done: &Done) {
    let redacts = matches!(context.settings().redact.enabled, RedactWhen::On | RedactWhen::Required);
    let Some(sent) = done.body.as_ref().filter(|_| !redacts && !context.requires_redaction()) else { return };
    let parsed = [body, sent.as_slice()].map(|text| serde_json::from_slice::<Value>(text).ok());
    let [Some(came), Some(sent)] = parsed else { return };
    let mut only = HashSet::new();
    ["tools", "functions", "toolConfig"].iter().for_each(|key| only_programs(&came[*key], &mut only));
    let (came, sent) = (entries(api, &came[conversation]), entries(api, &sent[conversation]));
    assert_eq!(came.len(), sent.len(), "calls or results were added or removed");
    let (mut ids, mut tools) = (HashSet::new(), std::collections::HashMap::new());
    for (came, sent) in came.iter().zip(&sent) {
        let is_program = |caller: &Value| !caller.is_null() && caller["type"] != "direct";
        let id = came.id.as_str();
        if !came.is_result {
            if is_program(came.caller) {
                ids.extend(id);
            }
            id.and_then(|id| tools.insert(id, came.name));
            continue;
        }
        let called = id.and_then(|id| tools.get(id)).copied().unwrap_or(&Value::Null);
        let by_tool = [came.name, called].iter().any(|name| name.as_str().is_some_and(|name| only.contains(name)));
        if is_program(came.caller) || by_tool || id.is_some_and(|id| ids.contains(id)) {
            assert!(came.value == sent.value, "what a program reads has changed");
        }
    }
}

/// A call or a result.
struct Entry<'a> {
    is_result: bool,
    id: &'a Value,
    name: &'a Value,
    caller: &'a Value,
    value: &'a Value,
}

/// Returns the calls and results of a conversation.
fn entries(api: Api, rows: &Value) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    for row in elements(rows) {
        match api {
            Api::OpenAiChat | Api::Ollama => {
                for call in elements(&row["tool_calls"]) {
                    let [name, caller] = ["name", "caller"].map(|key| &call["function"][key]);
                    let caller = if caller.is_null() { &call["caller"] } else { caller };
                    found.push(Entry { is_result: false, id: &call["id"], name, caller, value: call });
                }
                if row["role"] == "tool" || row["role"] == "function" {
                    let name = if row["name"].is_null() { &row["tool_name"] } else { &row["name"] };
                    found.push(entry(true, row, "tool_call_id", name));
                }
            }
            Api::OpenAiResponses => match row["type"].as_str() {
                Some("function_call" | "custom_tool_call") => found.push(entry(false, row, "call_id", &row["name"])),
                Some("function_call_output" | "custom_tool_call_output") => {
                    found.push(entry(true, row, "call_id", &Value::Null));
                }
                _ => {}
            },
            Api::Anthropic => {
                for block in elements(&row["content"]) {
                    match block["type"].as_str() {
                        Some("tool_use") => found.push(entry(false, block, "id", &block["name"])),
                        Some("tool_result") => found.push(entry(true, block, "tool_use_id", &Value::Null)),
                        _ => {}
                    }
                }
            }
            Api::Gemini | Api::Bedrock => {
                let (content, id, kinds) = match api {
                    Api::Gemini => ("parts", "id", [("functionCall", false), ("functionResponse", true)]),
                    _ => ("content", "toolUseId", [("toolUse", false), ("toolResult", true)]),
                };
                for (block, (kind, is_result)) in
                    elements(&row[content]).iter().flat_map(|block| kinds.map(|kind| (block, kind)))
                {
                    if block[kind].is_object() {
                        found.push(entry(is_result, &block[kind], id, &block[kind]["name"]));
                    }
                }
            }
        }
    }
    found
}

fn entry<'a>(is_result: bool, value: &'a Value, id: &str, name: &'a Value) -> Entry<'a> {
    Entry { is_result, id: &value[id], name, caller: &value["caller"], value }
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Adds the names of tools that the model may not call.
fn only_programs(tools: &Value, names: &mut HashSet<String>) {
    elements(tools).iter().for_each(|tool| only_programs(tool, names));
    if !tools.is_object() {
        return;
    }
    let callers = tools["allowed_callers"].as_array();
    if callers.is_some_and(|callers| !callers.iter().any(|caller| caller == "direct")) {
        names.extend(tools["name"].as_str().map(String::from));
    }
    for key in ["tools", "function", "functionDeclarations", "toolSpec"] {
        only_programs(&tools[key], names);
    }
}
