//! What is found in requests of each API.

use super::*;

/// Returns, for each result, the tool's name, whether it is an error, and its texts.
fn found(api: Api, body: &str) -> Vec<(String, bool, Vec<String>)> {
    let layout = Layout::read(&[api], body.as_bytes()).unwrap();
    let string = |span: &Span| span::string(body.as_bytes(), span).unwrap().into_owned();
    let each = |answer: &Answer| {
        let called = answer.call.and_then(|call| layout.calls[call].name.as_ref());
        let tool = answer.name.as_ref().or(called).map(string).unwrap_or_default();
        (tool, answer.is_error, layout.texts[answer.texts.clone()].iter().map(string).collect())
    };
    layout.results.iter().map(each).collect()
}

fn one(tool: &str, texts: &[&str]) -> (String, bool, Vec<String>) {
    (tool.to_owned(), false, texts.iter().map(|text| (*text).to_owned()).collect())
}

#[test]
fn chat_completions() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"tool"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"list","arguments":"{}"}},
            {"id":"c2","type":"custom","custom":{"name":"raw","input":"x"}}]},
        {"content":"A","role":"tool","tool_call_id":"c1"},
        {"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"B"},{"type":"image_url","text":"C"},{"text":"D","type":"text"}]},
        {"role":"function","name":"old","content":"E"},
        {"role":"tool","tool_call_id":"c3","content":"F"},
        {"role":"tool","tool_call_id":"c1","content":"G","content":"H"},
        {"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"I","text":"J"}]},
        {"role":"user","content":[{"type":"text","text":"K"}]}]}"#;
    let expected =
        [one("list", &["A"]), one("raw", &["B", "D"]), one("old", &["E"]), one("", &["F"]), one("list", &[])];
    assert_eq!(found(Api::OpenAiChat, body), expected);
}

#[test]
fn messages() {
    let body = r#"{"messages":[{"role":"assistant","content":[{"type":"text","text":"T"},{"type":"tool_use","id":"t1","name":"list","input":{"content":"N"}}]},
        {"role":"user","content":[{"type":"text","text":"U"},
            {"type":"tool_result","tool_use_id":"t1","content":"A","cache_control":{"type":"ephemeral"}},
            {"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"B"},{"type":"image"},{"type":"text","text":"C"}]},
            {"type":"tool_result","tool_use_id":"t1","content":"D","is_error":true},
            {"type":"tool_result","tool_use_id":"t1"},
            {"type":"web_search_tool_result","tool_use_id":"t1","content":[{"type":"text","text":"W"}]},
            {"type":"text","text":"V"}]},
        {"role":"user","content":"plain"}]}"#;
    let expected = [
        one("list", &["A"]),
        one("list", &["B", "C"]),
        ("list".to_owned(), true, vec!["D".to_owned()]),
        one("list", &[]),
    ];
    assert_eq!(found(Api::Anthropic, body), expected);
}

#[test]
fn responses() {
    let body = r#"{"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c1","name":"list","arguments":"{}","id":"fc_1"},
        {"type":"function_call_output","call_id":"c1","output":"A"},
        {"type":"custom_tool_call","call_id":"c2","name":"raw","input":"y"},
        {"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"B"},{"type":"input_image"}]},
        {"type":"mcp_call","name":"m","output":"C"},
        {"type":"function_call_output","call_id":"c1","call_id":"c2","output":"D"}]}"#;
    assert_eq!(found(Api::OpenAiResponses, body), [one("list", &["A"]), one("raw", &["B"])]);
    assert_eq!(found(Api::OpenAiResponses, r#"{"input":"function_call_output"}"#), []);
}

#[test]
fn what_is_not_a_request_has_no_results() {
    for body in ["[]", "7", "null", r#""x""#] {
        assert!(Layout::read(&[Api::Anthropic], body.as_bytes()).is_none(), "{body}");
    }
    let twice = r#"{"messages":[{"role":"tool","content":"A"}],"messages":[{"role":"tool","content":"A"}]}"#;
    for body in [twice, "{}", r#"{"messages":{}}"#, r#"{"messages":[1,[],"x",null]}"#] {
        assert_eq!(found(Api::OpenAiChat, body), [], "{body}");
    }
}
