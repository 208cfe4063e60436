//! Descriptions of tools: the same for every API, and nothing else differs.

use serde_json::{Value, json};
use stc_context::{Api, Context, Request, Schemas, Settings};

fn context() -> Context {
    Context::new(Settings { schemas: Schemas::Minify, ..Settings::default() }).unwrap()
}

fn sent(context: &Context, api: Api, body: &str) -> Option<String> {
    let request = Request::new(api, body.as_bytes());
    context.prepare(request).unwrap().body.map(|body| String::from_utf8(body).unwrap())
}

/// A schema as it is written before, and as it is sent.
fn schema(is_sent: bool) -> Value {
    let text = |before: &str, after: &str| if is_sent { after.to_owned() } else { before.to_owned() };
    json!({
        "type": "object",
        "description": text("Where  to look. \n\n\n\nAll of it.", "Where to look.\n\nAll of it."),
        "properties": {
            "description": {"type": "string", "description": text("A   text", "A text"), "default": "a  b "},
            "list": {"type": "array", "items": {"anyOf": [{"description": text("x  y", "x y")}, {"type": "null"}]}},
            "mode": {"enum": ["a  b"], "default": {"description": "stays  "}, "examples": [{"description": " stays "}]},
            "properties": {"type": "object", "properties": {"q": {"description": text("deep  er", "deep er")}}},
        },
        "required": ["description"],
        "additionalProperties": {"description": text(" any ", " any")},
        "$defs": {"description": {"description": text("d  d", "d d")}},
    })
}

fn request(api: Api, schema: &Value, about: &str) -> Value {
    match api {
        Api::OpenAiChat | Api::Ollama => json!({"model": "m  x", "tools": [{"type": "function", "function": {
            "name": "find", "description": about, "parameters": schema, "strict": true}}], "messages": []}),
        Api::OpenAiResponses => {
            json!({"input": "a  b", "tools": [{"type": "function", "name": "find", "description": about,
            "parameters": schema, "strict": true}, {"type": "web_search", "filters": {"allowed_domains": ["a  b"]}}]})
        }
        Api::Anthropic => json!({"system": "a  b", "messages": [], "tools": [{"name": "find", "description": about,
            "input_schema": schema, "cache_control": {"type": "ephemeral"}}]}),
        Api::Gemini => {
            json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "find", "description": about,
            "parameters": schema}]}, {"googleSearch": {}}]})
        }
        Api::Bedrock => {
            json!({"messages": [], "toolConfig": {"tools": [{"toolSpec": {"name": "find", "description": about,
            "inputSchema": {"json": schema}}}, {"cachePoint": {"type": "default"}}]}})
        }
    }
}

#[test]
fn every_api_sends_the_same_descriptions() {
    let context = context();
    for api in Api::ALL {
        let before = request(api, &schema(false), "Finds  things.  \n");
        let expected = request(api, &schema(true), "Finds things.\n");
        for text in [before.to_string(), serde_json::to_string_pretty(&before).unwrap()] {
            let sent = sent(&context, api, &text).expect("descriptions change");
            assert_eq!(serde_json::from_str::<Value>(&sent).unwrap(), expected, "{api:?}");
            assert_eq!(self::sent(&context, api, &sent), None, "{api:?}: once is enough");
        }
        let text = before.to_string();
        assert_eq!(self::sent(&Context::new(Settings::default()).unwrap(), api, &text), None, "{api:?}: by name only");
    }
}

/// Every byte outside of the strings that change is the client's own.
#[test]
fn nothing_else_differs_by_a_byte() {
    let body = r#"{ "x":1.50, "tools":[ {"type":"function","function":{"name":"f","description":"A  \u00e9" ,"parameters":{"properties":{"description":{"description":"  "},"b":{"description":"","type" : "string"},"c":{"type":"x","description":"\t"}}}}}],"messages":[{"content":"a  b","description":"c  d"}] }"#;
    let expected = r#"{ "x":1.50, "tools":[ {"type":"function","function":{"name":"f","description":"A é" ,"parameters":{"properties":{"description":{},"b":{"type" : "string"},"c":{"type":"x"}}}}}],"messages":[{"content":"a  b","description":"c  d"}] }"#;
    assert_eq!(sent(&context(), Api::OpenAiChat, body).unwrap(), expected);
}

#[test]
fn what_is_ambiguous_stays() {
    for body in [
        r#"{"tools":[{"name":"f","description":"a  b","description":"c  d","input_schema":{}}]}"#,
        r#"{"tools":[{"name":"f","input_schema":{"properties":{"a":{"description":"a  b"}},"properties":{}}}]}"#,
        r#"{"tools":[],"tools":[{"name":"f","description":"a  b"}]}"#,
        r#"{"tools":[{"name":"f","description":"\ud800  b"}]}"#,
        r#"{"tools":[{"name":"f","description":7}]}"#,
        r#"{"tools":"description  "}"#,
    ] {
        assert_eq!(sent(&context(), Api::Anthropic, body), None, "{body}");
    }
}

#[test]
fn schemas_that_are_too_deep_stay() {
    let nested = |depth: usize| {
        let (open, close) = (r#"{"items":"#.repeat(depth), "}".repeat(depth));
        format!(r#"{{"tools":[{{"name":"f","input_schema":{open}{{"description":"a  b"}}{close}}}]}}"#)
    };
    assert!(sent(&context(), Api::Anthropic, &nested(32)).is_some());
    assert_eq!(sent(&context(), Api::Anthropic, &nested(33)), None);
    assert_eq!(sent(&context(), Api::Anthropic, &nested(1_000)), None);
}

#[test]
fn a_request_may_choose() {
    let plain = Context::new(Settings::default()).unwrap();
    let tools = r#""tools":[{"name":"f","description":"a  b"}]"#;
    let short = r#""tools":[{"name":"f","description":"a b"}]"#;
    for (options, sent_tools) in [
        (r#""_stc":{"schemas":"minify"}"#, short),
        (r#""_forge":{"schema_compression":"minify"}"#, short),
        (r#""_stc":{"schemas":"keep"}"#, tools),
    ] {
        let sent = sent(&plain, Api::Anthropic, &format!("{{{options},{tools}}}")).unwrap();
        assert_eq!(sent, format!("{{{sent_tools}}}"));
    }
    for (options, expected) in [(r#""schemas":"keep""#, tools), (r#""mode":"disabled""#, tools)] {
        let sent = sent(&context(), Api::Anthropic, &format!("{{\"_stc\":{{{options}}},{tools}}}")).unwrap();
        assert_eq!(sent, format!("{{{expected}}}"));
    }
    let body = format!("{{\"_stc\":{{\"schemas\":\"tiny\"}},{tools}}}");
    let request = Request::new(Api::Anthropic, body.as_bytes());
    assert_eq!(plain.prepare(request).unwrap_err().to_string(), "_stc.schemas: expected keep or minify");
}

/// The generated requests, which the laws are checked on, have descriptions that change, in every API.
#[test]
fn generated_requests_have_descriptions_that_change() {
    let context = Context::new(Settings {
        schemas: Schemas::Minify,
        min_bytes: 1 << 30,
        max_bytes: 1 << 30,
        ..Settings::default()
    });
    let context = context.unwrap();
    let mut changed = [0; Api::ALL.len()];
    for seed in 0..300 {
        let request = stc_corpus::request(seed);
        let place = Api::ALL.iter().position(|api| api.name() == request.api).unwrap();
        let body = String::from_utf8(request.body).unwrap();
        let is_shorter =
            !body.contains("_stc") && !body.contains("_forge") && sent(&context, Api::ALL[place], &body).is_some();
        changed[place] += usize::from(is_shorter);
    }
    assert!(changed.iter().all(|count| *count >= 5), "{changed:?}");
}
