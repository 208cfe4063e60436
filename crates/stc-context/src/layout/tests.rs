//! What is found in requests of each API.

use super::*;
use crate::text::Form;

/// Returns, for each result, the tool's name, whether it is an error, and its texts.
fn found(api: Api, body: &str) -> Vec<(String, bool, Vec<String>)> {
    found_by(api, Counted::default(), body)
}

fn found_by(api: Api, counted: Counted, body: &str) -> Vec<(String, bool, Vec<String>)> {
    let layout = Layout::read(&[api], counted, body.as_bytes()).unwrap();
    let string = |span: &Span| span::string(body.as_bytes(), span).unwrap().into_owned();
    let text = |text: &Text| match text.form {
        Form::String => string(&text.value),
        Form::Json { .. } | Form::Response => body[text.place()].to_owned(),
    };
    let each = |answer: &Answer| {
        let called = answer.call.and_then(|call| layout.calls[call].name.as_ref());
        let tool = answer.name.as_ref().or(called).map(string).unwrap_or_default();
        (tool, answer.is_error, layout.texts[answer.texts.clone()].iter().map(text).collect())
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
fn gemini() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"x"}]},
        {"role":"model","parts":[{"functionCall":{"name":"list","args":{}}},{"functionCall":{"id":"7","name":"other","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"list","response":{"output":"A"}}},
            {"functionResponse":{"id":"7","name":"other","response":{"result":"B","content":"C","more":"D"}}},
            {"function_response":{"name":"list","response":{"rows":[1]}}},
            {"functionResponse":{"name":"list","response":{"error":"E","output":"F"}}},
            {"functionResponse":{"name":"list","response":{"output":"G","output":"H"}}},
            {"functionResponse":{"name":"list","name":"list","response":{"output":"I"}}}]}]}"#;
    let error = ("list".to_owned(), true, vec!["F".to_owned()]);
    let expected = [one("list", &["A"]), one("other", &["B", "C"]), one("list", &[]), error.clone(), one("list", &[])];
    assert_eq!(found(Api::Gemini, body), expected);
    let nested = format!(r#"{{"generateContentRequest":{body}}}"#);
    assert_eq!(found(Api::Gemini, &nested), expected, "inside a request to count tokens");
    let wrap = Counted { gemini_wrap: true, ..Counted::default() };
    assert_eq!(found_by(Api::Gemini, wrap, body)[2], one("list", &[r#"{"rows":[1]}"#]));
}

/// Results without an id answer the calls of their tool in order, so that a shell's result has its command.
#[test]
fn results_without_an_id() {
    let call = |command: &str| format!(r#"{{"functionCall":{{"name":"bash","args":{{"command":"{command}"}}}}}}"#);
    let answer = r#"{"functionResponse":{"name":"bash","response":{"output":"x"}}}"#;
    let body = format!(
        r#"{{"contents":[{{"parts":[{},{}]}},{{"parts":[{answer},{answer},{answer}]}}]}}"#,
        call("a"),
        call("b")
    );
    let layout = Layout::read(&[Api::Gemini], Counted::default(), body.as_bytes()).unwrap();
    assert_eq!(layout.results.iter().map(|answer| answer.call).collect::<Vec<_>>(), [Some(0), Some(1), None]);
}

#[test]
fn bedrock() {
    let body = r#"{"messages":[{"role":"user","content":[{"text":"x"}]},
        {"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"list","input":{}}}]},
        {"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"A"},{"json":{"b":1}},{"image":{}},{"json":7}]}},
            {"toolResult":{"toolUseId":"t1","content":[{"text":"C"}],"status":"error"}},
            {"toolResult":{"toolUseId":"t1","content":[{"text":"D","json":{}}],"status":"success"}},
            {"toolResult":{"toolUseId":"t1","toolUseId":"t2","content":[{"text":"E"}]}},
            {"text":"F"}]}]}"#;
    let error = ("list".to_owned(), true, vec!["C".to_owned()]);
    assert_eq!(found(Api::Bedrock, body), [one("list", &["A", r#""json":{"b":1}"#]), error, one("list", &[])]);
}

#[test]
fn ollama() {
    let body = r#"{"messages":[{"role":"user","content":"x"},
        {"role":"assistant","content":"","tool_calls":[{"function":{"name":"list","arguments":{"a":1}}}]},
        {"role":"tool","tool_name":"list","content":"A"},{"role":"tool","content":"B"}]}"#;
    assert_eq!(found(Api::Ollama, body), [one("list", &["A"]), one("", &["B"])]);
    let layout = Layout::read(&[Api::Ollama], Counted::default(), body.as_bytes()).unwrap();
    assert_eq!(layout.results[0].call, Some(0));
}

/// What is recognised in a request does not depend on what else is in it, so a word that is searched for counts only as it is
/// searched for.
#[test]
fn words_with_escapes_are_not_recognised() {
    for (api, body) in [
        (Api::OpenAiChat, r#"{"messages":[{"role":"to\u006fl","content":"A"},{"role" : "function","content":"B"}]}"#),
        (Api::Ollama, r#"{"messages":[{"role":"to\u006fl","content":"A"},{"role":"function","content":"B"}]}"#),
        (Api::Anthropic, r#"{"messages":[{"content":[{"type":"tool\u005fresult","content":"A"}]}]}"#),
        (Api::OpenAiResponses, r#"{"input":[{"type":"function_call\u005foutput","output":"A"}]}"#),
        (Api::Gemini, r#"{"contents":[{"parts":[{"function\u0052esponse":{"response":{"output":"A"}}}]}]}"#),
        (Api::Bedrock, r#"{"messages":[{"content":[{"tool\u0052esult":{"content":[{"text":"A"}]}}]}]}"#),
    ] {
        assert!(!api.may_have_results(body.as_bytes()), "{}", api.name());
        assert_eq!(found(api, body), [], "{}", api.name());
    }
}

/// Messages of the user that are one text, in every API.
#[test]
fn texts_of_the_user() {
    let counted = Counted { user_text: true, ..Counted::default() };
    for (api, body) in [
        (
            Api::OpenAiChat,
            r#"{"messages":[{"role":"user","content":"A"},{"role":"user","content":[{"type":"text","text":"A"}]},
            {"role":"assistant","content":"B"},{"role":"user","content":[{"type":"text","text":"C"},{"type":"text","text":"D"}]}]}"#,
        ),
        (
            Api::Ollama,
            r#"{"messages":[{"role":"user","content":"A"},{"content":"A","role":"user"},{"role":"system","content":"B"}]}"#,
        ),
        (
            Api::Anthropic,
            r#"{"messages":[{"role":"user","content":"A"},{"role":"user","content":[{"type":"text","text":"A"}]}],"system":"B"}"#,
        ),
        (
            Api::OpenAiResponses,
            r#"{"input":[{"role":"user","content":"A"},{"type":"message","role":"user","content":[{"type":"input_text","text":"A"}]},
            {"type":"reasoning","role":"user","content":"B"},{"role":"developer","content":"C"}]}"#,
        ),
        (
            Api::Gemini,
            r#"{"contents":[{"parts":[{"text":"A"}]},{"role":"user","parts":[{"text":"A"}]},{"role":"model","parts":[{"text":"B"}]}]}"#,
        ),
        (
            Api::Bedrock,
            r#"{"messages":[{"role":"user","content":[{"text":"A"}]},{"role":"user","content":[{"text":"A"}]},{"role":"assistant","content":[{"text":"B"}]}]}"#,
        ),
    ] {
        assert_eq!(found_by(api, counted, body), [one("", &["A"]), one("", &["A"])], "{}", api.name());
        assert_eq!(found(api, body), [], "{}", api.name());
    }
}

#[test]
fn what_is_not_a_request_has_no_results() {
    for body in ["[]", "7", "null", r#""x""#] {
        assert!(Layout::read(&[Api::Anthropic], Counted::default(), body.as_bytes()).is_none(), "{body}");
    }
    let twice = r#"{"messages":[{"role":"tool","content":"A"}],"messages":[{"role":"tool","content":"A"}]}"#;
    for body in [twice, "{}", r#"{"messages":{}}"#, r#"{"messages":[1,[],"x",null]}"#] {
        assert_eq!(found(Api::OpenAiChat, body), [], "{body}");
    }
}
