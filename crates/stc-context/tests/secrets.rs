//! Secrets in tool results: when they are replaced, by which rules, and that nothing of them is left in what is sent or kept.

use serde_json::{Value, json};
use stc_context::{
    Api, Caller, Context, Done, HeaderOptions, Mode, RedactSettings, RedactWhen, Refused, Request, Settings, Step,
};
use stc_redact::plant::{self, Planted};

/// A request with a secret in a tool result, and options of its own.
fn body(options: &str) -> String {
    let password = ["Tr0ub", "4dor!3x"].concat();
    let call = r#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"env","arguments":"{}"}}]}"#;
    format!(
        r#"{{{options}"messages":[{call},{{"role":"tool","tool_call_id":"c","content":"DB_PASSWORD={password}"}}]}}"#
    )
}

fn sent(mode: Mode, redact: RedactSettings, options: &str) -> Result<String, String> {
    let context = Context::new(Settings { mode, redact, ..Settings::default() })?;
    let body = body(options);
    let request = Request::new(Api::OpenAiChat, body.as_bytes());
    let done = context.prepare(request).map_err(|refused| refused.to_string())?;
    Ok(done.body.map_or(body, |body| String::from_utf8(body).unwrap()))
}

fn when(enabled: RedactWhen) -> RedactSettings {
    RedactSettings { enabled, ..RedactSettings::default() }
}

#[test]
fn settings_say_when_secrets_are_replaced() {
    for (enabled, mode, replaced) in [
        (RedactWhen::ByMode, Mode::Lossless, false),
        (RedactWhen::ByMode, Mode::Safe, true),
        (RedactWhen::On, Mode::Lossless, true),
        (RedactWhen::On, Mode::Disabled, false),
        (RedactWhen::Required, Mode::Disabled, true),
        (RedactWhen::Required, Mode::Aggressive, true),
        (RedactWhen::Off, Mode::Safe, false),
    ] {
        let sent = sent(mode, when(enabled), "").unwrap();
        let expected = body("").replace("Tr0ub4dor!3x", "[redacted:password]");
        assert_eq!(sent, if replaced { expected } else { body("") }, "{enabled:?} {mode:?}");
    }
}

#[test]
fn a_request_cannot_refuse_what_is_required() {
    let options = r#""_stc":{"redact_secrets":false},"#;
    let error = sent(Mode::Safe, when(RedactWhen::Required), options).unwrap_err();
    assert!(error.contains("_stc.redact_secrets: false is not allowed here"), "{error}");
    assert!(sent(Mode::Safe, when(RedactWhen::ByMode), options).unwrap().contains("dor!3x"));
    let options = r#""_stc":{"redact_secrets":true},"#;
    assert!(!sent(Mode::Lossless, when(RedactWhen::Off), options).unwrap().contains("dor!3x"));
}

#[test]
fn rules_are_those_of_the_settings() {
    let rules = vec!["-password".to_owned()];
    let without = RedactSettings { enabled: RedactWhen::Required, rules, more: Vec::new() };
    assert_eq!(sent(Mode::Lossless, without, "").unwrap(), body(""));
    let wrong = RedactSettings { rules: vec!["password".to_owned()], ..RedactSettings::default() };
    let error = sent(Mode::Lossless, wrong, "").unwrap_err();
    assert!(error.starts_with("`context.redact.rules`: expected ids"), "{error}");
}

/// A request of an API with a call and its result, each with a text.
fn conversation(api: Api, arguments: &str, text: &str) -> Value {
    let object = json!({ "command": arguments });
    let string = object.to_string();
    match api {
        Api::OpenAiChat => json!({"messages": [
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "env", "arguments": string}}]},
            {"role": "tool", "tool_call_id": "c", "content": text},
        ]}),
        Api::OpenAiResponses => json!({"input": [
            {"type": "function_call", "call_id": "c", "name": "env", "arguments": string},
            {"type": "function_call_output", "call_id": "c", "output": text},
        ]}),
        Api::Anthropic => json!({"messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "env", "input": object}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": text}]},
        ]}),
        Api::Gemini => json!({"contents": [
            {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "env", "args": object}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "env", "response": {"output": text}}}]},
        ]}),
        Api::Bedrock => json!({"messages": [
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "env", "input": object}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": text}]}}]},
        ]}),
        Api::Ollama => json!({"messages": [
            {"role": "assistant", "tool_calls": [{"function": {"name": "env", "arguments": object}}]},
            {"role": "tool", "tool_name": "env", "tool_call_id": "c", "content": text},
        ]}),
    }
}

/// Prepares a request of a session, and once more with what was kept; returns the first.
fn prepared(context: &Context, api: Api, body: &str) -> Done {
    let headers = HeaderOptions { session: Some(b"s"), ..HeaderOptions::default() };
    let request = Request { endpoint: api.into(), body: body.as_bytes(), headers, model: None };
    let begin = || context.begin(request, Caller { tenant: b"t", route: "/" }).unwrap();
    let done = context.finish(body.as_bytes(), begin(), &[]).unwrap();
    let found: Vec<_> = done.keep.iter().map(|write| Some(write.value.clone())).collect();
    let again = context.finish(body.as_bytes(), begin(), &found).unwrap();
    assert_eq!((again.body == done.body, again.keep.len()), (true, 0), "what was kept is used");
    done
}

/// Returns a text with its escapes of four digits resolved, however often they are escaped, and without changes of colour.
fn shown(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        out.push_str(rest[..at].trim_end_matches('\\'));
        let code = rest.get(at + 2..at + 6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        out.extend(code.and_then(char::from_u32));
        rest = rest.get(at + 6..).unwrap_or_default();
    }
    out.push_str(rest);
    ["\u{1b}[7m", "\u{9b}7m", "\u{90}q\u{9c}\u{84}"].iter().fold(out, |out, sequence| out.replace(sequence, ""))
}

/// Returns the places that have a secret, or twelve bytes of one.
fn left(done: &Done, body: &str, planted: &Planted) -> Vec<&'static str> {
    let sent = String::from_utf8_lossy(done.body.as_deref().unwrap_or(body.as_bytes())).into_owned();
    let kept: String = done.keep.iter().map(|write| String::from_utf8_lossy(&write.value).into_owned()).collect();
    let report = format!("{:?} {}", done.report, done.report.header());
    let is_left = |text: &str| {
        let both = [text.to_owned(), shown(text)];
        let parts = planted.secrets().flat_map(|secret| secret.as_bytes().windows(12));
        parts.into_iter().any(|part| both.iter().any(|text| text.contains(std::str::from_utf8(part).unwrap())))
    };
    let places = [("body", sent), ("memo", kept), ("report", report)];
    places.into_iter().filter(|(_, text)| is_left(text)).map(|(name, _)| name).collect()
}

/// Settings under which short texts take all steps.
fn planting(mode: Mode, enabled: RedactWhen) -> Context {
    Context::new(Settings { mode, min_bytes: 16, redact: when(enabled), ..Settings::default() }).unwrap()
}

#[test]
fn planted_secrets_are_in_nothing_that_is_sent_or_kept() {
    let modes = [Mode::Safe, Mode::Standard, Mode::Aggressive, Mode::Lossless];
    let contexts = modes.map(|mode| planting(mode, RedactWhen::On));
    let off = planting(Mode::Lossless, RedactWhen::Off);
    let (mut count, mut in_memos, mut apis) = (0, 0, Api::ALL.into_iter().cycle());
    let mut check = |id: &str, way: &str, text: &str, planted: &Planted| {
        let api = apis.next().unwrap();
        let body = conversation(api, text, text).to_string();
        for context in &contexts {
            let done = prepared(context, api, &body);
            let mode = done.report.mode;
            let left = left(&done, &body, planted);
            assert!(left.is_empty(), "{id} {way} {mode:?} {api:?}: {left:?} of {body}");
            assert_eq!(done.keep.len(), 1, "{id} {way} {mode:?} {api:?}");
            assert!(!done.report.redactions.is_empty() && done.report.redaction_failures == 0);
            count += 1;
        }
        // The search finds what is there.
        let found = left(&prepared(&off, api, &body), &body, planted);
        assert!(found.contains(&"body"), "{id} {way}");
        in_memos += usize::from(found.contains(&"memo"));
    };
    for (number, (id, example)) in plant::examples().iter().enumerate() {
        for (place, (way, text)) in plant::WAYS.iter().enumerate() {
            let planted = plant::fill(example, (place * 1000 + number) as u64);
            check(id, way, &text(&planted.text), &planted);
        }
        if id == "private-key" {
            let planted = plant::fill(example, 77);
            for text in plant::wrapped(&planted.text) {
                check(id, "wrapped", &text, &planted);
            }
        }
    }
    assert!(count >= 4_000 && in_memos > 100, "{count} {in_memos}");
}

/// A secret that is repeated is what a dictionary would have.
#[test]
fn planted_secrets_are_in_no_dictionary() {
    let [context, off] = [RedactWhen::On, RedactWhen::Off].map(|enabled| planting(Mode::Aggressive, enabled));
    let (mut with_dictionary, mut planted_there) = (0, 0);
    for (number, (id, example)) in plant::examples().iter().enumerate() {
        let planted = plant::fill(example, 5_000 + number as u64);
        let line = |host: usize| {
            let word = ["frost", "lark", "pine", "quay", "dusk", "helm", "reed"][host * host % 7];
            format!("{word} {host} uses {} and goes on with {word}\n", planted.text)
        };
        let text: String = (0..40).map(line).collect();
        let api = Api::ALL[number % 6];
        let body = conversation(api, "./run.sh", &text).to_string();
        let done = prepared(&context, api, &body);
        assert_eq!(left(&done, &body, &planted), [""; 0], "{id}");
        let item = &done.report.items[0];
        let sent = stc_context::text(done.body.as_deref().unwrap(), &item.sent).unwrap().into_owned();
        if item.steps.has(Step::Dictionary) {
            with_dictionary += 1;
            let expanded = stc_abridge::expand(&sent).expect("a text with a dictionary");
            assert!(planted.secrets().all(|secret| !expanded.contains(secret)), "{id}: {expanded}");
        }
        planted_there += usize::from(!left(&prepared(&off, api, &body), &body, &planted).is_empty());
    }
    // The check says little of texts without a dictionary, or in which nothing can be found.
    assert!(with_dictionary > 50, "{with_dictionary}");
    assert_eq!(planted_there, plant::examples().len());
}

/// A result or a call whose place is ambiguous is not looked through: where redaction is required, the request is not sent.
#[test]
fn what_is_ambiguous_is_not_sent_where_redaction_is_required() {
    let secret = ["DB_PASSWORD=Tr0ub", "4dor!3x"].concat();
    let [required, on] = [RedactWhen::Required, RedactWhen::On].map(|enabled| planting(Mode::Safe, enabled));
    let prepare = |context: &Context, api: Api, body: &str| {
        let request = Request::new(api, body.as_bytes());
        context.prepare(request)
    };
    let role = (r#""role":"tool""#, r#""role":"tool","role":"tool""#);
    let escaped_role = (r#""role":"tool""#, r#""role":"\u0074ool""#);
    let name = (r#""name":"env""#, r#""name":"env","name":"env""#);
    let messages = (r#"{"messages":"#, r#"{"messages":[],"messages":"#);
    let function = (r#""function":{"#, r#""function":{},"function":{"#);
    for (api, (from, to)) in [
        (Api::OpenAiChat, role),
        (Api::OpenAiChat, escaped_role),
        (Api::OpenAiChat, (r#""role":"tool""#, r#""role" : "function""#)),
        (Api::OpenAiChat, name),
        (Api::OpenAiChat, function),
        (Api::OpenAiChat, messages),
        (Api::OpenAiResponses, (r#""call_id":"c","output""#, r#""call_id":"c","call_id":"c","output""#)),
        (Api::OpenAiResponses, ("call_output", r"call_outpu\u0074")),
        (Api::OpenAiResponses, name),
        (Api::Anthropic, (r#""tool_use_id":"c""#, r#""tool_use_id":"c","tool_use_id":"c""#)),
        (Api::Anthropic, ("tool_result", r"tool_resul\u0074")),
        (Api::Anthropic, name),
        (Api::Gemini, (r#""response":{"#, r#""response":{},"response":{"#)),
        (Api::Gemini, (r#""functionResponse""#, r#""functionRespons\u0065""#)),
        (Api::Gemini, (r#""args":"#, r#""args":{},"args":"#)),
        (Api::Bedrock, (r#""content":[{"text""#, r#""content":[],"content":[{"text""#)),
        (Api::Bedrock, (r#"[{"text""#, r#"[{"x":1,"text""#)),
        (Api::Bedrock, (r#""toolResult""#, r#""toolResul\u0074""#)),
        (Api::Bedrock, (r#""input":"#, r#""input":{},"input":"#)),
        (Api::Ollama, role),
        (Api::Ollama, escaped_role),
        (Api::Ollama, messages),
    ] {
        let plain = conversation(api, &secret, &secret).to_string();
        let done = prepare(&required, api, &plain).unwrap();
        assert!(!String::from_utf8(done.body.unwrap()).unwrap().contains("4dor!3x"), "{plain}");
        let body = plain.replacen(from, to, 1);
        assert_ne!(body, plain, "{from}");
        assert_eq!(prepare(&required, api, &body).unwrap_err(), Refused::Redaction, "{body}");
        // Elsewhere it is sent and counted.
        let done = prepare(&on, api, &body).unwrap();
        assert_eq!(done.report.redaction_failures, 1, "{body}");
    }
    // Nothing in it is spelled as calls and results are.
    let hidden = format!(r#"{{"messages":[{{"role":"\u0074ool","content":"{secret}"}}]}}"#);
    assert_eq!(prepare(&required, Api::OpenAiChat, &hidden).unwrap_err(), Refused::Redaction);
    // Not a request of the API that the path is of: its strings are looked through all the same.
    let body = conversation(Api::Anthropic, &secret, &secret).to_string();
    let endpoint = stc_context::Endpoint::of("/model/x/invoke").unwrap();
    let request = Request::new(endpoint, body.as_bytes());
    for context in [&required, &on] {
        let sent = String::from_utf8(context.prepare(request).unwrap().body.unwrap()).unwrap();
        assert!(!sent.contains("4dor!3x"), "{sent}");
    }
}

/// Responses of Gemini and documents of Bedrock are JSON, not texts.
#[test]
fn secrets_go_from_values_that_are_no_texts() {
    let password = ["Tr0ub", "4dor!3x"].concat();
    for (api, from, to) in [
        (Api::Gemini, r#"{"output":"x"}"#, format!(r#"{{"rows":[{{"password":"{password}"}}],"n":1}}"#)),
        (Api::Gemini, r#"{"output":"x"}"#, format!(r#"{{"output":{{"password":"{password}"}}}}"#)),
        (Api::Gemini, r#"{"output":"x"}"#, format!(r#"{{"error":"password={password}"}}"#)),
        (Api::Bedrock, r#"{"text":"x"}"#, format!(r#"{{"json":{{"password":"{password}"}}}}"#)),
        (Api::Bedrock, r#"{"text":"x"}"#, format!(r#"{{"json":"password={password}"}}"#)),
    ] {
        let body = conversation(api, "ls", "x").to_string();
        let planted = body.replacen(from, &to, 1);
        assert_ne!(planted, body);
        for mode in [Mode::Lossless, Mode::Safe] {
            let done = stc_context::laws::all(&planting(mode, RedactWhen::On), api, planted.as_bytes()).unwrap();
            let sent = String::from_utf8(done.body.unwrap()).unwrap();
            assert!(!sent.contains("4dor!3x") && sent.contains("[redacted:password]"), "{sent}");
            serde_json::from_str::<Value>(&sent).unwrap();
        }
    }
}

/// A token, in two halves so that no scanner takes this file for a leak.
fn token() -> String {
    ["ghp_aB3dE5fG7hI9jK1l", "M3nO5pQ7rS9tU1vW3xY5"].concat()
}

/// Places of Gemini and Bedrock.
fn places_of_google_and_amazon(token: &str) -> Vec<(Api, Value)> {
    let message = |role: &str, content: Value| json!({"model": "m", "messages": [{"role": role, "content": content}]});
    let parts = |part: Value| json!({"contents": [{"role": "user", "parts": [part]}]});
    let long = format!("{} {token} {}", "long ago ".repeat(300), "and so on ".repeat(300));
    let mut all = Vec::new();
    for part in [
        json!({"text": token}),
        json!({"executableCode": {"language": "PYTHON", "code": long}}),
        json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": token}}),
        json!({"functionResponse": {"name": "x", "response": {"ok": 1}, "parts": [{"inlineData": {"mimeType": "text/plain", "data": "x", "displayName": token}}]}}),
        json!({"function_response": {"name": "x", "response": {"token": token}}}),
        json!({"fileData": {"fileUri": format!("https://u:{token}@h/x")}}),
    ] {
        all.push((Api::Gemini, parts(part.clone())));
        all.push((Api::Gemini, json!({"contents": {"role": "user", "parts": part}})));
        all.push((Api::Gemini, json!({"systemInstruction": {"parts": [part]}, "contents": []})));
    }
    for block in [
        json!({"text": token}),
        json!({"json": {"a": [token]}}),
        json!({"document": {"format": "txt", "name": "d", "source": {"text": token}}}),
        json!({"searchResult": {"source": "s", "title": "t", "content": [{"text": token}]}}),
    ] {
        let result = json!({"toolResult": {"toolUseId": "t", "content": [block]}});
        all.push((Api::Bedrock, message("user", json!([result]))));
        all.push((Api::Bedrock, message("user", json!([block]))));
    }
    all
}

/// Requests with a token in every place that an API has for a string, and in some that none has.
fn places(token: &str) -> Vec<(Api, Value)> {
    let string = json!({ "x": { "y": format!("export GH={token}") } }).to_string();
    let message = |role: &str, content: Value| json!({"model": "m", "messages": [{"role": role, "content": content}]});
    let blocks =
        |block: Value| message("user", json!([{"type": "tool_result", "tool_use_id": "t", "content": [block]}]));
    let items = |item: Value| json!({"model": "m", "input": [item]});
    let long = format!("{} {token} {}", "long ago ".repeat(300), "and so on ".repeat(300));
    let mut all = Vec::new();
    for api in [Api::OpenAiChat, Api::Ollama] {
        all.extend([
            (api, message("system", token.into())),
            (api, message("user", long.clone().into())),
            (api, message("developer", json!([{"type": "text", "text": token}]))),
            (api, message("assistant", format!("it is {token}").into())),
            (api, message("tool", json!([{"type": "refusal", "refusal": token}]))),
            (api, message("tool", json!({"token": token}))),
            (api, message(token, "x".into())),
            (api, json!({"messages": [{"role": "assistant", "function_call": {"name": "x", "arguments": string}}]})),
            (api, json!({"messages": [], "tools": [{"type": "function", "function": {"name": "x", "description": token}}]})),
            (api, json!({"messages": [], "unknown": {token: 1}})),
            (api, json!({"messages": [], "unknown": {"deep": [[[[{"x": [1, null, {"z": long}]}]]]]}})),
            (api, json!({"messages": [], "prompt_cache_key": token, "metadata": {"user_id": token}})),
        ]);
    }
    for item in [
        json!({"type": "shell_call_output", "call_id": "c", "output": [{"stdout": token, "stderr": long, "outcome": {"type": "exit"}}]}),
        json!({"type": "local_shell_call_output", "id": "c", "output": string}),
        json!({"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": token}),
        json!({"type": "apply_patch_call", "call_id": "c", "operation": {"type": "create_file", "diff": format!("+{token}")}}),
        json!({"type": "mcp_call", "id": "c", "name": "n", "arguments": string, "output": token}),
        json!({"type": "code_interpreter_call", "id": "c", "code": token, "outputs": [{"type": "logs", "logs": token}]}),
        json!({"type": "shell_call", "call_id": "c", "action": {"commands": [format!("export GH={token}")]}}),
        json!({"type": "local_shell_call", "call_id": "c", "action": {"command": ["echo", token], "env": {"X": token}}}),
        json!({"type": "tool_search_output", "call_id": "c", "tools": [{"type": "function", "name": token}]}),
        json!({"role": "user", "content": [{"type": "input_text", "text": token}]}),
        json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": token}]}),
    ] {
        all.push((Api::OpenAiResponses, items(item)));
    }
    all.push((Api::OpenAiResponses, json!({"instructions": token, "input": token})));
    for block in [
        json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": token}}),
        json!({"type": "document", "title": token, "source": {"type": "content", "content": [{"type": "text", "text": token}]}}),
        json!({"type": "search_result", "source": token, "title": "t", "content": [{"type": "text", "text": long}]}),
        json!({"type": "unknown", "text": token}),
    ] {
        all.push((Api::Anthropic, blocks(block.clone())));
        all.push((Api::Anthropic, message("user", json!([block]))));
    }
    all.push((Api::Anthropic, json!({"system": [{"type": "text", "text": token}], "messages": []})));
    for kind in ["server_tool_use", "mcp_tool_use"] {
        all.push((
            Api::Anthropic,
            message("assistant", json!([{"type": kind, "id": "s", "name": "x", "input": {"c": token}}])),
        ));
    }
    let stdout = json!({"type": "bash_code_execution_result", "stdout": token, "stderr": ""});
    all.push((
        Api::Anthropic,
        message("assistant", json!([{"type": "bash_code_execution_tool_result", "content": stdout}])),
    ));
    all.extend(places_of_google_and_amazon(token));
    all
}

#[test]
fn every_string_of_a_request_is_looked_through() {
    let token = token();
    let [required, on, off] =
        [RedactWhen::Required, RedactWhen::On, RedactWhen::Off].map(|enabled| planting(Mode::Safe, enabled));
    let (mut count, all) = (0, places(&token));
    let is_there =
        |text: &str| token.as_bytes().windows(12).any(|part| text.contains(std::str::from_utf8(part).unwrap()));
    for (api, value) in &all {
        let plain = value.to_string();
        let escaped = plain.replace("ghp_", r"gh\u0070_");
        let coloured = plain.replace("hI9j", r"hI\u001b[7m9j");
        let in_one_character = ["\u{9b}7m", r"\u009b7m"].map(|colour| plain.replace("hI9j", &format!("hI{colour}9j")));
        for body in [plain, escaped, coloured].into_iter().chain(in_one_character) {
            assert!(is_there(&shown(&body)) && serde_json::from_str::<Value>(&body).is_ok(), "{body}");
            for context in [&required, &on] {
                let request = Request::new(*api, body.as_bytes());
                let done = context.prepare(request).unwrap_or_else(|why| panic!("{why}: {body}"));
                let sent = String::from_utf8(done.body.unwrap_or_else(|| panic!("{body}"))).unwrap();
                assert!(!is_there(&shown(&sent)) && sent.contains("[redacted:github"), "{api:?} {body}\n{sent}");
                assert_eq!(done.report.redaction_failures, 0, "{body}");
                // As a body of a path that is not known.
                let done = context.look_through(*api, body.as_bytes()).unwrap();
                let sent = String::from_utf8(done.body.unwrap()).unwrap();
                assert!(!is_there(&shown(&sent)), "{api:?} {body}\n{sent}");
                count += 1;
            }
            stc_context::laws::all(&on, *api, body.as_bytes()).unwrap();
            assert_eq!(off.look_through(*api, body.as_bytes()).unwrap().body, None);
        }
    }
    assert!(all.len() > 70 && count == all.len() * 10, "{count}");
}

/// Halves of a secret in two parts of a message or a result: each part that has a piece says what was there.
#[test]
fn secrets_that_are_split_over_parts_are_found() {
    let token = token();
    let [required, on] = [RedactWhen::Required, RedactWhen::On].map(|enabled| planting(Mode::Safe, enabled));
    for at in [4, 15, 36] {
        let (head, tail) = (format!("it is {}", &token[..at]), format!("{} and more", &token[at..]));
        let texts = |kind: &str| json!([{"type": kind, "text": head}, {"type": kind, "text": tail}]);
        let bare = json!([{"text": head}, {"text": tail}]);
        for (api, value) in [
            (Api::OpenAiChat, json!({"messages": [{"role": "tool", "tool_call_id": "c", "content": texts("text")}]})),
            (Api::OpenAiChat, json!({"messages": [{"role": "user", "content": texts("text")}]})),
            (
                Api::OpenAiResponses,
                json!({"input": [{"type": "function_call_output", "call_id": "c", "output": texts("input_text")}]}),
            ),
            (Api::OpenAiResponses, json!({"input": [{"role": "user", "content": texts("input_text")}]})),
            (
                Api::OpenAiResponses,
                json!({"input": [{"type": "shell_call_output", "output": [{"stdout": head}, {"stdout": tail}]}]}),
            ),
            (
                Api::Anthropic,
                json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": texts("text")}]}]}),
            ),
            (Api::Anthropic, json!({"system": texts("text"), "messages": []})),
            (Api::Gemini, json!({"contents": [{"role": "user", "parts": bare}]})),
            (
                Api::Bedrock,
                json!({"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": bare}}]}]}),
            ),
            (Api::Bedrock, json!({"messages": [{"role": "user", "content": bare}]})),
            (Api::Ollama, json!({"messages": [{"role": "tool", "content": texts("text")}]})),
            // Names of conversations at other places, as MCP has them.
            (Api::OpenAiChat, json!({"messages": [{"role": "tool", "content": {"contents": bare}}]})),
            (Api::Anthropic, json!({"x": {"messages": bare}, "messages": []})),
            (Api::Anthropic, json!({"messages": [], "y": [{"params": {"input": bare}}]})),
            (Api::OpenAiResponses, json!({"input": [{"type": "mcp", "request": {"contents": [{"input": bare}]}}]})),
        ] {
            let body = value.to_string();
            for context in [&required, &on] {
                let done = prepared(context, api, &body);
                let sent = String::from_utf8(done.body.unwrap()).unwrap();
                let expected = body
                    .replace(&head, "it is [redacted:github-token]")
                    .replace(&tail, "[redacted:github-token] and more");
                assert_eq!(sent, expected, "{api:?} {at}");
                assert_eq!(done.report.redactions, [("github-token", 1)]);
            }
            stc_context::laws::all(&on, api, body.as_bytes()).unwrap();
        }
    }
    // A first half that is a secret of its own hides no second half, and what is wholly in a part is counted once.
    let password = ["Tr0ub4dor", "3xKd82mQ"].concat();
    let (head, tail) = (format!("DB_PASSWORD={}", &password[..9]), format!("{} and more", &password[9..]));
    for whole in [format!("{token} "), "\u{1b}[7m".to_owned()] {
        let parts =
            json!([{"type": "text", "text": whole}, {"type": "text", "text": head}, {"type": "text", "text": tail}]);
        for role in ["user", "tool"] {
            let body = json!({"messages": [{"role": role, "content": parts}]}).to_string();
            let done = prepared(&required, Api::OpenAiChat, &body);
            let sent = String::from_utf8(done.body.unwrap()).unwrap();
            assert!(!sent.contains(&password[9..]) && !sent.contains("Tr0ub") && !sent.contains("hI9j"), "{sent}");
            assert!(done.report.redactions.iter().all(|(_, count)| *count == 1), "{:?}", done.report.redactions);
            stc_context::laws::all(&on, Api::OpenAiChat, body.as_bytes()).unwrap();
        }
    }
    // Inside the arguments of a call, a split secret is not replaced: it is refused or counted.
    let input = json!({"content": [{"text": &token[..15]}, {"text": &token[15..]}]});
    let call = json!({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "x", "input": input}]}]});
    let body = call.to_string();
    let request = Request::new(Api::Anthropic, body.as_bytes());
    assert_eq!(required.prepare(request).unwrap_err(), Refused::Redaction);
    assert_eq!(on.prepare(request).unwrap().report.redaction_failures, 2);
    // Not over two messages: what becomes of one does not depend on the next.
    let halves =
        json!({"messages": [{"role": "user", "content": &token[..15]}, {"role": "user", "content": &token[15..]}]});
    let body = halves.to_string();
    assert_eq!(prepared(&on, Api::OpenAiChat, &body).body, None);
}

#[test]
fn what_stays_where_secrets_are_replaced() {
    let token = token();
    let [required, on] = [RedactWhen::Required, RedactWhen::On].map(|enabled| planting(Mode::Safe, enabled));
    let prepare = |context: &Context, value: &Value| {
        let body = value.to_string();
        context.prepare(Request::new(Api::Anthropic, body.as_bytes()))
    };
    // Base64 of images and files, and signatures: long, and of nothing else.
    let base64 = format!("{}/{token}/{}==", "iVBORw0KGgo".repeat(20), "AAA".repeat(20));
    let block = |block: Value| json!({"messages": [{"role": "user", "content": [block]}]});
    for value in [
        block(json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64}})),
        block(json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{base64}")}})),
        block(json!({"type": "thinking", "thinking": "hm", "signature": base64})),
        json!({"messages": [{"role": "user", "content": "x", "images": [base64]}]}),
    ] {
        for context in [&required, &on] {
            assert_eq!(prepare(context, &value).unwrap().body, None, "{value}");
        }
        for (from, to) in [("AAA", "A A"), (base64.as_str(), token.as_str())] {
            let other: Value = serde_json::from_str(&value.to_string().replace(from, to)).unwrap();
            assert!(prepare(&required, &other).unwrap().body.is_some(), "{other}");
        }
    }
    // A signed thought cannot change.
    let thought = block(json!({"type": "thinking", "thinking": format!("it is {token}"), "signature": "x"}));
    assert_eq!(prepare(&required, &thought).unwrap_err(), Refused::Redaction);
    let done = prepare(&on, &thought).unwrap();
    assert_eq!((done.body, done.report.redaction_failures), (None, 1));
    assert!(done.report.left.is_none());
    // Credentials that the API itself uses stay unless redaction is required.
    for value in [
        json!({"messages": [], "mcp_servers": [{"type": "url", "url": "https://h", "authorization_token": token}]}),
        json!({"messages": [], "tools": [{"type": "mcp", "server_url": "https://h", "authorization": token}]}),
        json!({"messages": [], "tools": [{"type": "mcp", "headers": {"Authorization": format!("Bearer {token}")}}]}),
    ] {
        assert_eq!(prepare(&on, &value).unwrap().body, None, "{value}");
        let sent = String::from_utf8(prepare(&required, &value).unwrap().body.unwrap()).unwrap();
        assert!(!sent.contains(&token), "{sent}");
    }
}

/// A name says that its value is a secret also beside strings with escapes, and a lone surrogate is no text.
#[test]
fn escapes_hide_nothing_in_short_values() {
    let password = ["Tr0ub", "4dor!3x"].concat();
    let required = planting(Mode::Safe, RedactWhen::Required);
    let body = |note: &str| format!(r#"{{"messages":[],"x":{{"password":"{password}","note":"{note}"}}}}"#);
    let prepare = |body: &str| {
        let request = Request::new(Api::OpenAiChat, body.as_bytes());
        required.prepare(request).map(|done| String::from_utf8(done.body.unwrap()).unwrap())
    };
    for note in ["cafe", r"caf\u00e9", r"\ud83d\ude00", r"\n\t\\u00e9"] {
        let sent = prepare(&body(note)).unwrap();
        assert_eq!(sent, body(note).replace(&password, "[redacted:password]"));
    }
    assert_eq!(prepare(&body(r"\ud800")).unwrap_err(), Refused::Redaction);
}

/// What is no JSON is not looked through.
#[test]
fn bodies_that_are_no_json() {
    let [required, on, off] =
        [RedactWhen::Required, RedactWhen::On, RedactWhen::Off].map(|enabled| planting(Mode::Safe, enabled));
    let body = json!({"messages": [{"role": "user", "content": token()}]}).to_string();
    let utf16: Vec<u8> = body.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [&body.as_bytes()[1..], &[b"\xef\xbb\xbf", body.as_bytes()].concat(), &utf16, b"", b"\x1f\x8b\x08"] {
        let request = Request::new(Api::OpenAiChat, bytes);
        assert_eq!(required.prepare(request).unwrap_err(), Refused::Redaction);
        assert_eq!(required.look_through(Api::OpenAiChat, bytes).unwrap_err(), Refused::Redaction);
        for done in [on.prepare(request).unwrap(), on.look_through(Api::OpenAiChat, bytes).unwrap()] {
            assert_eq!((done.body, done.report.redaction_failures), (None, 1));
            assert!(done.report.header().ends_with("; left=invalid; unsearched=1"), "{}", done.report.header());
        }
        assert_eq!(off.prepare(request).unwrap().report.redaction_failures, 0);
    }
}
