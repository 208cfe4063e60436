//! Results that programs read, and texts whose characters are counted: they stay as they came, in every API and mode.

use stc_context::{
    Api, Caller, Context, Done, Endpoint, HeaderOptions, Mode, RedactSettings, RedactWhen, Request, Settings, Status,
    laws,
};

const MODES: [Mode; 4] = [Mode::Lossless, Mode::Safe, Mode::Standard, Mode::Aggressive];
const TOKEN: &str = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";

fn rows() -> String {
    let row = |n| format!(r#"{{"id":{n},"state":"open","kind":"sensor","value":{}}}"#, n * 7919 % 1000);
    format!("[{}]", (0..60).map(row).collect::<Vec<_>>().join(", "))
}

/// Texts that some mode changes.
fn texts() -> [String; 3] {
    let log = "\u{1b}[1mwaiting for the server\u{1b}[0m, please stand by  \n".repeat(60);
    [rows(), log, format!("{}\n{TOKEN}", "x ".repeat(800))]
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn prepared(settings: Settings, endpoint: Endpoint, body: &str) -> Done {
    let request = Request::new(endpoint, body.as_bytes());
    Context::new(settings).unwrap().prepare(request).unwrap()
}

fn in_mode(mode: Mode) -> Settings {
    Settings { mode, min_bytes: 64, ..Settings::default() }
}

fn statuses(done: &Done) -> Vec<Status> {
    done.report.items.iter().map(|item| item.status).collect()
}

/// A conversation of each API with one call, members that the call and the result have beside their own, and a text.
fn request(api: Api, call: &str, result: &str, text: &str) -> String {
    let (content, arguments) = (quoted(text), quoted("{}"));
    match api {
        Api::Anthropic => format!(
            r#"{{"messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"t1","name":"query","input":{{}}{call}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":{content}{result}}}]}}]}}"#
        ),
        Api::OpenAiChat => format!(
            r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"t1","type":"function","function":{{"name":"query","arguments":{arguments}}}{call}}}]}},{{"role":"tool","tool_call_id":"t1","content":{content}{result}}}]}}"#
        ),
        Api::OpenAiResponses => format!(
            r#"{{"input":[{{"type":"function_call","call_id":"t1","name":"query","arguments":{arguments}{call}}},{{"type":"function_call_output","call_id":"t1","output":{content}{result}}}]}}"#
        ),
        Api::Gemini => format!(
            r#"{{"contents":[{{"role":"model","parts":[{{"functionCall":{{"name":"query","args":{{}}{call}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"name":"query","response":{{"output":{content},"more":[{content}]}}{result}}}}}]}}]}}"#
        ),
        Api::Bedrock => format!(
            r#"{{"messages":[{{"role":"assistant","content":[{{"toolUse":{{"toolUseId":"t1","name":"query","input":{{}}{call}}}}}]}},{{"role":"user","content":[{{"toolResult":{{"toolUseId":"t1","content":[{{"text":{content}}},{{"json":{content}}}]{result}}}}}]}}]}}"#
        ),
        Api::Ollama => format!(
            r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"function":{{"name":"query","arguments":{{}}}}{call}}}]}},{{"role":"tool","tool_name":"query","content":{content}{result}}}]}}"#
        ),
    }
}

/// Callers that count as programs.
const PROGRAMS: [&str; 12] = [
    r#""caller":{"type":"code_execution_20250825","tool_id":"s1"}"#,
    r#""caller":{"type":"code_execution_20260120","tool_id":"s1"}"#,
    r#""caller":{"tool_id":"s1","type":"code_execution_20991231"}"#,
    r#""caller":{"type":"program","caller_id":"p1"}"#,
    r#""c\u0061ller":{"t\u0079pe":"program"}"#,
    r#""caller":{"type":"direct"},"caller":{"type":"program"}"#,
    r#""caller":{"type":"direct"},"caller":{"type":"direct"}"#,
    r#""caller":{"type":"direct","type":"program"}"#,
    r#""caller":{"type":7}"#,
    r#""caller":{}"#,
    r#""caller":"direct""#,
    r#""caller":[{"type":"direct"}]"#,
];

const MODELS: [&str; 3] =
    [r#""caller":{"type":"direct"}"#, r#""caller":null"#, r#""caller":{"x":1,"type":"dir\u0065ct"}"#];

#[test]
fn a_result_that_a_program_reads_stays_in_every_api_and_mode() {
    for (api, mode) in Api::ALL.into_iter().flat_map(|api| MODES.map(|mode| (api, mode))) {
        for (text, caller) in texts().iter().flat_map(|text| PROGRAMS.map(|caller| (text, caller))) {
            let marked = format!(",{caller}");
            for body in [request(api, &marked, "", text), request(api, "", &marked, text)] {
                let done = prepared(in_mode(mode), api.into(), &body);
                assert_eq!(done.body, None, "{} {mode:?} {body:.300}", api.name());
                assert!(statuses(&done).iter().all(|status| *status == Status::ForAProgram), "{:?}", statuses(&done));
                assert!(!done.report.items.is_empty());
            }
        }
        for caller in MODELS {
            let body = request(api, &format!(",{caller}"), "", &rows());
            let done = prepared(in_mode(mode), api.into(), &body);
            assert_eq!(statuses(&done)[0], Status::Stc2Labelled, "{} {caller}", api.name());
        }
    }
}

/// Anthropic's requests on Bedrock's and Vertex's paths, and rows without a request around them.
#[test]
fn the_same_on_shared_paths_and_in_rows() {
    let call = format!(",{}", PROGRAMS[0]);
    let body = request(Api::Anthropic, &call, "", &rows());
    let versioned = body.replacen('{', r#"{"anthropic_version":"bedrock-2023-05-31","#, 1);
    for path in ["/model/m/invoke", "/model/m/invoke-with-response-stream", "/v1/messages", "/v1/messages/count_tokens"]
    {
        let done = prepared(in_mode(Mode::Standard), Endpoint::of(path).unwrap(), &versioned);
        assert_eq!((done.body.clone(), statuses(&done)), (None, vec![Status::ForAProgram]), "{path}");
    }
    let context = Context::new(in_mode(Mode::Standard)).unwrap();
    for (api, member) in [(Api::Anthropic, "messages"), (Api::OpenAiChat, "messages"), (Api::OpenAiResponses, "input")]
    {
        let body = request(api, &call, "", &rows());
        let done = context.compress(body.as_bytes(), HeaderOptions::default()).unwrap().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&done.body).unwrap();
        let came: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(answer[member], came[member]);
        assert_eq!(answer["items"][0]["status"], "for-a-program");
    }
}

/// A tool that only programs may call, with the call in the request and without it.
#[test]
fn tools_that_only_programs_may_call() {
    let only = r#""allowed_callers":["code_execution_20250825"]"#;
    let both = r#""allowed_callers":["direct","code_execution_20250825"]"#;
    let tools = |api: Api, callers: &str| match api {
        Api::Anthropic | Api::OpenAiResponses => {
            format!(r#""tools":[{{"name":"query",{callers}}},{{"name":"other"}}]"#)
        }
        Api::OpenAiChat | Api::Ollama => {
            format!(r#""tools":[{{"type":"function","function":{{"name":"query",{callers}}}}}]"#)
        }
        Api::Gemini => format!(r#""tools":[{{"functionDeclarations":[{{"name":"query",{callers}}}]}}]"#),
        Api::Bedrock => format!(r#""toolConfig":{{"tools":[{{"toolSpec":{{"name":"query",{callers}}}}}]}}"#),
    };
    for api in Api::ALL {
        let body = request(api, "", "", &rows());
        // The tools before the conversation and after it.
        let with = |callers: &str| {
            let tools = tools(api, callers);
            [body.replacen('{', &format!("{{{tools},"), 1), format!("{},{tools}}}", &body[..body.len() - 1])]
        };
        let odd = [
            r#""allowed_callers":[]"#,
            r#""allowed_callers":"direct""#,
            r#""allowed_callers":["direct"],"allowed_callers":["x"]"#,
        ];
        for body in [only].into_iter().chain(odd).flat_map(with) {
            let done = prepared(in_mode(Mode::Lossless), api.into(), &body);
            assert_eq!((done.body.clone(), statuses(&done)[0]), (None, Status::ForAProgram), "{body:.200}");
        }
        for body in [both, r#""allowed_callers":null"#, r#""allowed_callers":["direct"]"#].into_iter().flat_map(with) {
            let done = prepared(in_mode(Mode::Lossless), api.into(), &body);
            assert_eq!(statuses(&done)[0], Status::Stc2Labelled, "{body:.200}");
        }
    }
    // Which tool it is, is not known.
    for (callers, expected) in
        [(only, Status::ForAProgram), (both, Status::ForAProgram), (r#""x":1"#, Status::Stc2Labelled)]
    {
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":{}}}]}}],{}}}"#,
            quoted(&rows()),
            tools(Api::Anthropic, callers)
        );
        assert_eq!(statuses(&prepared(in_mode(Mode::Lossless), Api::Anthropic.into(), &body)), [expected]);
    }
}

/// The id of the call is spelled in another way, is used by two calls, or is given twice.
#[test]
fn the_call_of_a_program_is_found_however_it_is_named() {
    let body = request(Api::Anthropic, &format!(",{}", PROGRAMS[0]), "", &rows());
    let direct = r#"{"type":"tool_use","id":"t1","name":"query","input":{}}"#;
    for odd in [
        body.replacen(r#""tool_use_id":"t1""#, r#""tool_use_id":"\u0074\u0031""#, 1),
        body.replacen(r#""id":"t1""#, r#""id":"t1","id":"t1""#, 1),
        body.replacen(r#"}]},{"role":"user""#, &format!(r#"}},{direct}]}},{{"role":"user""#), 1),
    ] {
        assert_ne!(odd, body);
        assert_eq!(prepared(in_mode(Mode::Lossless), Api::Anthropic.into(), &odd).body, None, "{odd:.300}");
    }
    // A result with an id that no call has: the call was left out, or has none.
    let unknown = body.replacen(r#""tool_use_id":"t1""#, r#""tool_use_id":"t2""#, 1);
    assert_eq!(prepared(in_mode(Mode::Lossless), Api::Anthropic.into(), &unknown).body, None);
    let own = request(Api::Gemini, &format!(",{}", PROGRAMS[0]), r#","id":"7""#, &rows());
    assert_eq!(prepared(in_mode(Mode::Lossless), Api::Gemini.into(), &own).body, None);
    // Results without an id may answer either call.
    let text = quoted(&rows());
    let call = |more: &str| format!(r#"{{"functionCall":{{"name":"query","args":{{}}{more}}}}}"#);
    let answer = format!(r#"{{"functionResponse":{{"name":"query","response":{{"output":{text}}}}}}}"#);
    let program = call(&format!(",{}", PROGRAMS[3]));
    let parts = format!(r#"{{"contents":[{{"parts":[{program},{}]}},{{"parts":[{answer},{answer}]}}]}}"#, call(""));
    assert_eq!(statuses(&prepared(in_mode(Mode::Lossless), Api::Gemini.into(), &parts)), [Status::ForAProgram; 2]);
}

/// A mode takes out no secret of what a program reads; a setting or an option that names redaction does.
#[test]
fn secrets_by_a_mode_stay_and_by_name_go() {
    let redact = |enabled| RedactSettings { enabled, ..RedactSettings::default() };
    for api in Api::ALL {
        let body = request(api, &format!(",{}", PROGRAMS[0]), "", &texts()[2]);
        let option = body.replacen('{', r#"{"_stc":{"redact_secrets":true},"#, 1);
        assert_eq!(prepared(in_mode(Mode::Safe), api.into(), &body).body, None);
        for (settings, body) in [
            (Settings { redact: redact(RedactWhen::On), ..in_mode(Mode::Lossless) }, &body),
            (Settings { redact: redact(RedactWhen::Required), ..in_mode(Mode::Safe) }, &body),
            (in_mode(Mode::Safe), &option),
        ] {
            let sent = String::from_utf8(prepared(settings, api.into(), body).body.unwrap()).unwrap();
            assert!(!sent.contains(TOKEN) && sent.contains("[redacted:github-token]"), "{}", api.name());
            assert!(sent.contains(&"x ".repeat(800)), "nothing else changes");
        }
    }
}

/// Results with tokens at places that are no texts of theirs, and in halves: all of it stays, and none of it counts.
#[test]
fn all_of_a_result_that_a_program_reads_keeps_its_secrets() {
    let (head, tail) = TOKEN.split_at(15);
    let halves = format!(r#"{{"type":"text","text":"{head}"}},{{"type":"text","text":"{tail}"}}"#);
    let document = format!(r#"{{"type":"document","source":{{"type":"text","data":"{TOKEN}"}}}}"#);
    let search = format!(r#"{{"type":"search_result","source":"{TOKEN}","content":[{halves}]}}"#);
    let unknown = format!(r#"{{"type":"unknown","a":{{"{TOKEN}":1}}}}"#);
    let refusal = format!(r#"{{"type":"refusal","refusal":"{TOKEN}"}}"#);
    let caller = PROGRAMS[0];
    let chat = |content: &str| {
        (
            Api::OpenAiChat,
            format!(r#"{{"messages":[{{"role":"tool","tool_call_id":"t1","content":{content},{caller}}}]}}"#),
        )
    };
    let gemini = |more: &str| {
        let response = format!(r#"{{"functionResponse":{{"name":"q","response":{{"output":"x"}},{more},{caller}}}}}"#);
        (Api::Gemini, format!(r#"{{"contents":[{{"role":"user","parts":[{response}]}}]}}"#))
    };
    let anthropic = |content: &str| {
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"t1","content":[{content}],{caller}}}"#);
        (Api::Anthropic, format!(r#"{{"messages":[{{"role":"user","content":[{result}]}}]}}"#))
    };
    let bedrock = format!(r#"{{"toolUseId":"t1","content":[{{"document":{{"name":"{TOKEN}"}}}}],{caller}}}"#);
    let output = format!(r#"{{"type":"function_call_output","call_id":"t1","output":[{refusal},{halves}],{caller}}}"#);
    for (api, body) in [
        anthropic(&halves),
        anthropic(&format!("{document},{search},{unknown}")),
        chat(&format!(r#"{{"token":"{TOKEN}"}}"#)),
        chat(&format!("[{refusal},{halves}]")),
        gemini(&format!(r#""parts":[{{"inlineData":{{"displayName":"{TOKEN}","data":"x"}}}}]"#)),
        gemini(&format!(r#""parts":[{{"text":"{head}"}},{{"text":"{tail}"}}]"#)),
        (Api::OpenAiResponses, format!(r#"{{"input":[{output}]}}"#)),
        (Api::Bedrock, format!(r#"{{"messages":[{{"role":"user","content":[{{"toolResult":{bedrock}}}]}}]}}"#)),
    ] {
        let done = prepared(in_mode(Mode::Safe), api.into(), &body);
        let sent = done.body.map(|sent| String::from_utf8(sent).unwrap());
        assert_eq!((sent, done.report.redaction_failures), (None, 0), "{body}");
        assert_eq!(done.report.redactions, [], "{body}");
        laws::all(&Context::new(in_mode(Mode::Safe)).unwrap(), api, body.as_bytes()).unwrap();
        // Beside it, and for the model.
        let beside = body.replacen('{', &format!(r#"{{"x":["{TOKEN}"],"#), 1);
        for body in [beside, body.replace(caller, r#""caller":null"#)] {
            assert!(!prepared(in_mode(Mode::Safe), api.into(), &body).report.redactions.is_empty(), "{body}");
        }
    }
}

/// A mode takes out no secret of a text with citations in a result; elsewhere it does, and of documents and search results.
#[test]
fn secrets_of_what_is_cited() {
    let cited = r#","citations":[{"type":"char_location","start_char_index":0,"end_char_index":20}]"#;
    let text = format!(r#"{{"type":"text","text":"{TOKEN}"{cited}}}"#);
    let search = format!(r#"{{"type":"search_result","source":"s","title":"t","content":[{text}]}}"#);
    let result = |block: &str| format!(r#"{{"type":"tool_result","tool_use_id":"t1","content":[{block}]}}"#);
    let (head, tail) = TOKEN.split_at(15);
    let half = |text: &str| format!(r#"{{"type":"text","text":"{text}"{cited}}}"#);
    for (block, stays) in [
        (result(&text), true),
        (result(&format!("{},{}", half(head), half(tail))), true),
        (result(&search), false),
        (search.clone(), false),
        (text, false),
    ] {
        let body = format!(r#"{{"messages":[{{"role":"user","content":[{block}]}}]}}"#);
        let done = prepared(in_mode(Mode::Safe), Api::Anthropic.into(), &body);
        assert_eq!((done.body.is_none(), done.report.redactions.is_empty()), (stays, stays), "{block}");
    }
}

/// A text with citations, which count its characters, beside the same text without them, with a memo of it.
#[test]
fn texts_with_citations_stay() {
    let text = quoted(&rows());
    let cited = r#","citations":[{"type":"char_location","start_char_index":0,"end_char_index":20}]"#;
    let block = |id: &str, more: &str| {
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":[{{"type":"text","text":{text}{more}}}]}}"#)
    };
    let body = |more: &str| {
        format!(r#"{{"messages":[{{"role":"user","content":[{},{}]}}]}}"#, block("t1", ""), block("t1", more))
    };
    for (more, expected) in [
        (cited, Status::ForAProgram),
        (r#","annotations":[{"start_index":0}]"#, Status::ForAProgram),
        (r#","citations":{"enabled":true}"#, Status::ForAProgram),
        (r#","citations":null"#, Status::Stc2Labelled),
        (r#","citations":[ ]"#, Status::Stc2Labelled),
        (r#","annotations":{}"#, Status::Stc2Labelled),
    ] {
        let body = body(more);
        let context = Context::new(in_mode(Mode::Lossless)).unwrap();
        laws::all(&context, Api::Anthropic, body.as_bytes());
        let headers = HeaderOptions { session: Some(b"s"), ..HeaderOptions::default() };
        let mut found = Vec::new();
        for _ in 0..2 {
            let request = Request { endpoint: Api::Anthropic.into(), body: body.as_bytes(), headers, model: None };
            let begun = context.begin(request, Caller { tenant: b"t", route: "/" }).unwrap();
            let values = begun.keys().iter().map(|_| found.first().cloned()).collect::<Vec<_>>();
            let done = context.finish(body.as_bytes(), begun, &values).unwrap();
            assert_eq!(statuses(&done), [Status::Stc2Labelled, expected], "{more}");
            found.extend(done.keep.into_iter().map(|write| write.value));
        }
    }
    // Blocks with texts of their own are no texts of the result.
    for other in [
        format!(
            r#"{{"type":"search_result","source":"s","title":"t","content":[{{"type":"text","text":{text}}}],"citations":{{"enabled":true}}}}"#
        ),
        format!(r#"{{"type":"document","source":{{"type":"text","data":{text}}},"citations":{{"enabled":true}}}}"#),
    ] {
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":[{other}]}},{other}]}}]}}"#
        );
        let settings = Settings { user_text: true, ..in_mode(Mode::Aggressive) };
        assert_eq!(prepared(settings, Api::Anthropic.into(), &body).body, None);
    }
}

/// Anthropic's own tools that read and edit files.
#[test]
fn memory_and_text_editors_are_skipped() {
    for name in [
        "memory",
        "str_replace_based_edit_tool",
        "str_replace_editor",
        "text_editor_20250728",
        "mcp__x__read_text_file",
    ] {
        let body = request(Api::Anthropic, "", "", &rows()).replace(r#""query""#, &format!("\"{name}\""));
        let done = prepared(in_mode(Mode::Standard), Api::Anthropic.into(), &body);
        assert_eq!((done.body.clone(), statuses(&done)), (None, vec![Status::Skipped]), "{name}");
    }
}

/// A conversation that grows past the bound keeps what became of its earlier messages.
#[test]
fn a_request_past_the_bound_keeps_its_earlier_messages() {
    let body = |results: usize| {
        let row = |n| format!(r#"{{"role":"tool","tool_call_id":"c{n}","content":{}}}"#, quoted(&rows()));
        format!(r#"{{"messages":[{}]}}"#, (0..results).map(row).collect::<Vec<_>>().join(","))
    };
    let bound = body(3).len();
    let settings = Settings { max_request_bytes: bound, ..in_mode(Mode::Lossless) };
    let context = Context::new(settings.clone()).unwrap();
    let mut before = Vec::new();
    for results in 1..=5 {
        let body = body(results);
        laws::all(&context, Api::OpenAiChat, body.as_bytes());
        let done = prepared(settings.clone(), Api::OpenAiChat.into(), &body);
        let expected: Vec<_> = (0..results).map(|n| if n < 3 { Status::Stc2Labelled } else { Status::Large }).collect();
        assert_eq!(statuses(&done), expected);
        let sent = done.body.unwrap();
        assert!(sent.starts_with(&before), "{results}");
        before = sent[..sent.len() - 2].to_vec();
    }
    assert_eq!(prepared(settings, Api::OpenAiChat.into(), &body(7)).report.left, Some(Status::Large));
}

/// Secrets are replaced past the bound too.
#[test]
fn secrets_past_the_bound_go() {
    let text = format!("{} {TOKEN}", "x".repeat(800));
    let body = request(Api::OpenAiChat, "", "", &text);
    let redact = RedactSettings { enabled: RedactWhen::Required, ..RedactSettings::default() };
    let settings = Settings { max_request_bytes: body.len() / 2 + 1, redact, ..in_mode(Mode::Lossless) };
    let sent = String::from_utf8(prepared(settings, Api::OpenAiChat.into(), &body).body.unwrap()).unwrap();
    assert!(!sent.contains(TOKEN), "{sent}");
}

/// A line never names an id that two results before it have.
#[test]
fn a_reused_id_is_not_named() {
    let (a, b) = (quoted(&rows()), quoted(&rows().replace("open", "shut")));
    let body = |results: &[(&str, &str)]| {
        let row = |(id, text): &(&str, &str)| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":{text}}}"#);
        format!(r#"{{"messages":[{}]}}"#, results.iter().map(row).collect::<Vec<_>>().join(","))
    };
    use Status::{Duplicate, Small, Stc2Labelled};
    let settings = Settings { dedup: true, ..in_mode(Mode::Lossless) };
    for (results, expected) in [
        (vec![("c1", a.as_str()), ("c1", &b), ("c2", &a)], vec![Stc2Labelled, Stc2Labelled, Stc2Labelled]),
        (
            vec![("c1", &a), ("c2", &a), ("c1", &b), ("c3", &a)],
            vec![Stc2Labelled, Duplicate, Stc2Labelled, Stc2Labelled],
        ),
        (vec![("c1", &a), ("c1", "\"short\""), ("c2", &a)], vec![Stc2Labelled, Small, Stc2Labelled]),
        (vec![("c1", &a), ("c1", "[]"), ("c2", &a)], vec![Stc2Labelled, Stc2Labelled]),
        (
            vec![("c1", &a), ("\\u00631", &b), ("c2", &a), ("c3", &a)],
            vec![Stc2Labelled, Stc2Labelled, Stc2Labelled, Duplicate],
        ),
        (vec![("c1", &a), ("c9\",\"tool_call_id\":\"c1", &b), ("c2", &a)], vec![Stc2Labelled, Stc2Labelled]),
    ] {
        let body = body(&results);
        assert_eq!(statuses(&prepared(settings.clone(), Api::OpenAiChat.into(), &body)), expected, "{results:.40?}");
    }
}
