//! Requests as clients send them, and what is sent on.

use stc_context::{Api, Context, Done, HeaderOptions, Legend, Request, Settings, Status, restore};

fn rows(count: usize) -> String {
    let row = |n| format!(r#"{{"id":{n},"state":"open","by":{{"name":"ann","team":"core"}}}}"#);
    format!("[{}]", (0..count).map(row).collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn prepared(settings: Settings, api: Api, body: &str) -> Done {
    let context = Context::new(settings).unwrap();
    let request = Request::new(api, body.as_bytes());
    context.prepare(request).unwrap()
}

/// Makes a chat with one result for each pair of a tool and a text.
fn chat(results: &[(&str, &str, &str)]) -> String {
    let rows: Vec<_> = results
        .iter()
        .enumerate()
        .map(|(n, (tool, arguments, text))| {
            let (arguments, text) = (quoted(arguments), quoted(text));
            format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"c{n}","type":"function","function":{{"name":"{tool}","arguments":{arguments}}}}}]}},{{"role":"tool","tool_call_id":"c{n}","content":{text}}}"#
            )
        })
        .collect();
    format!(r#"{{"model":"m","messages":[{}]}}"#, rows.join(","))
}

fn statuses(done: &Done) -> Vec<Status> {
    done.report.items.iter().map(|item| item.status).collect()
}

#[test]
fn each_result_by_itself() {
    let (long, prose) = (rows(40), "words and words ".repeat(100));
    let spaced = long.replace(',', ",\n      ");
    let body = chat(&[
        ("list", "{}", &long),
        ("list", "{}", "[1]"),
        ("list", "{}", &prose),
        ("read_file", "{}", &long),
        ("bash", r#"{"command":"cat x.json"}"#, &long),
        ("bash", r#"{"command":"curl x"}"#, &long),
        ("mcp__fs__write_file", "{}", &long),
        ("list", "{}", &spaced),
    ]);
    let done = prepared(Settings::default(), Api::OpenAiChat, &body);
    use Status::{NotJson, Skipped, Small, Stc2Labelled};
    assert_eq!(statuses(&done), [Stc2Labelled, Small, NotJson, Skipped, Skipped, Stc2Labelled, Skipped, Stc2Labelled]);
    assert_eq!(done.report.tool(&done.report.items[6]), Some("mcp__fs__write_file"));
    assert_eq!(done.report.items[4].family(), "read");
    assert!(done.report.header().starts_with("results=8; changed=3; tokens="));
    let back = restore(Api::OpenAiChat, &done.body.unwrap()).unwrap();
    assert_eq!(back.texts, 3);
    let minified = body.replace(&quoted(&spaced), &quoted(&long));
    assert_eq!(String::from_utf8(back.body).unwrap(), minified);
}

#[test]
fn errors_and_unknown_calls_by_setting() {
    let text = quoted(&rows(40));
    let body = format!(
        r#"{{"messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","is_error":true,"content":{text}}}]}}]}}"#
    );
    assert_eq!(statuses(&prepared(Settings::default(), Api::Anthropic, &body)), [Status::ErrorResult]);
    let errors = Settings { errors: true, ..Settings::default() };
    assert_eq!(statuses(&prepared(errors, Api::Anthropic, &body)), [Status::Stc2Labelled]);
    let known = Settings { errors: true, skip_unknown: true, ..Settings::default() };
    assert_eq!(statuses(&prepared(known, Api::Anthropic, &body)), [Status::Skipped]);
}

#[test]
fn a_repeated_result_names_the_earlier_one() {
    let long = rows(40);
    let body = chat(&[("list", "{}", &long), ("list", "{}", &long), ("other", "{}", &long)]);
    assert_eq!(statuses(&prepared(Settings::default(), Api::OpenAiChat, &body)), [Status::Stc2Labelled; 3]);
    let dedup = Settings { dedup: true, ..Settings::default() };
    let done = prepared(dedup, Api::OpenAiChat, &body);
    assert_eq!(statuses(&done), [Status::Stc2Labelled, Status::Duplicate, Status::Stc2Labelled]);
    let sent = String::from_utf8(done.body.unwrap()).unwrap();
    assert!(sent.contains(r#""content":"[Duplicate of c0 (list); see earlier result]""#));
}

#[test]
fn the_legend_stands_once_before_the_first_text_that_pays_for_it() {
    let (short, long) = (rows(6), rows(200));
    let body = chat(&[("list", "{}", &short), ("list", "{}", &long), ("list", "{}", &short)]);
    let settings = Settings { legend: Legend::First, min_bytes: 256, ..Settings::default() };
    let done = prepared(settings, Api::OpenAiChat, &body);
    assert_eq!(statuses(&done), [Status::NotSmaller, Status::Stc2Labelled, Status::Stc2Labelled]);
    assert_eq!(done.report.items.iter().map(|item| item.legend).collect::<Vec<_>>(), [false, true, false]);
    let sent = String::from_utf8(done.body.unwrap()).unwrap();
    assert_eq!(sent.matches("STC 2 is lossless JSON").count(), 1);
    let back = restore(Api::OpenAiChat, sent.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(back.body).unwrap(), body);
}

#[test]
fn requests_that_stay() {
    let long = quoted(&rows(40));
    let tool = format!(r#"{{"messages":[{{"role":"tool","content":{long}}}]}}"#);
    for (body, left) in [
        (r#"{"messages":[{"role":"user","content":"hi"}]}"#.to_owned(), None),
        (tool[..tool.len() - 1].to_owned(), Some(Status::Invalid)),
        (format!("[{tool}]"), Some(Status::Invalid)),
    ] {
        let done = prepared(Settings::default(), Api::OpenAiChat, &body);
        assert_eq!((done.body, done.report.left), (None, left), "{body:.60}");
    }
    let done = prepared(Settings { max_request_bytes: 100, ..Settings::default() }, Api::OpenAiChat, &tool);
    assert_eq!((done.body, done.report.left), (None, Some(Status::Large)));
}

#[test]
fn a_shared_path_needs_the_version() {
    let context = Context::new(Settings::default()).unwrap();
    let long = quoted(&rows(40));
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"t","content":{long}}}"#);
    let endpoint = stc_context::Endpoint::of("/model/m/invoke").unwrap();
    for (version, changes) in [("", false), (r#""anthropic_version":"bedrock-2023-05-31","#, true)] {
        let body = format!(r#"{{{version}"messages":[{{"role":"user","content":[{block}]}}]}}"#);
        let request = Request::new(endpoint, body.as_bytes());
        assert_eq!(context.prepare(request).unwrap().body.is_some(), changes);
    }
}

#[test]
fn rows_are_compressed_in_place() {
    let context = Context::new(Settings::default()).unwrap();
    let long = quoted(&rows(40));
    let body = format!(
        r#"{{"model":"m","config":{{"mode":"ccr"}},"messages":[{{"role":"user","content":"x"}},{{"role":"tool","tool_call_id":"c1","content":{long}}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":{long}}}]}}]}}"#
    );
    let done = context.compress(body.as_bytes(), HeaderOptions::default()).unwrap().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&done.body).unwrap();
    assert_eq!(answer["messages"].as_array().unwrap().len(), 3);
    assert_eq!(answer["messages"][0]["content"], "x");
    assert_eq!(answer["transforms_applied"], serde_json::json!(["stc2-labelled"]));
    assert_eq!(answer["items"][0]["tool_call_id"], "c1");
    assert_eq!(answer["items"][1]["status"], "stc2-labelled");
    assert!(answer["tokens_saved"].as_u64().unwrap() > 0);
    assert!(context.compress(br#"{"rows":[]}"#, HeaderOptions::default()).unwrap().is_none());
    assert!(context.compress(b"nonsense", HeaderOptions::default()).unwrap().is_none());
    assert!(context.compress(br#"{"messages":[],"_stc":"best"}"#, HeaderOptions::default()).is_err());
    let input = format!(r#"{{"input":[{{"type":"function_call_output","call_id":"c","output":{long}}}]}}"#);
    let done = context.compress(input.as_bytes(), HeaderOptions::default()).unwrap().unwrap();
    assert!(done.body.starts_with(br#"{"input":[{"type":"function_call_output","call_id":"c","output":"[40]"#));
}
