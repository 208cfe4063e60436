//! What the pages say of requests to models and no other test shows: errors of the plugin, variables, telemetry.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::context::{chat, model, post, rows};

use crate::gateway::{Gateway, get};

/// The plugin refuses a request with the same answer as a route: status, headers and body, in the shape of each API.
#[test]
fn the_plugin_answers_as_a_route_does() {
    let (address, received) = model();
    let route = Gateway::start(&format!("[[routes]]\nupstream = \"http://{address}\"\ncontext = true\n"));
    let plugin = Gateway::start(&format!("upstream = \"http://{address}\"\n[[plugins]]\nname = \"context\"\n"));
    for (path, shape) in [
        ("/v1/chat/completions", "/error/param"),
        ("/v1/responses", "/error/param"),
        ("/v1/messages", "/error/message"),
        ("/v1/models/x:generateContent", "/error/status"),
        ("/model/x/converse", "/message"),
        ("/api/chat", "/error"),
    ] {
        let [one, other] = [&route, &plugin].map(|gateway| {
            let (head, body) = post(gateway.traffic, path, "x-stc-mode: best\r\n", b"{}");
            let said = |line: &&str| ["http/", "content-type:", "x-amzn"].iter().any(|name| line.starts_with(name));
            let mut said: Vec<_> = head.lines().filter(said).map(String::from).collect();
            said.sort();
            (said, body)
        });
        assert_eq!(one, other, "{path}");
        assert!(one.0.iter().any(|line| line.contains("400 bad request")), "{path}: {one:?}");
        let is_bedrock = path.ends_with("/converse");
        assert_eq!(one.0.iter().any(|line| line == "x-amzn-errortype: validationexception"), is_bedrock, "{path}");
        let answer: Value = serde_json::from_str(&one.1).unwrap();
        assert!(answer.pointer(shape).is_some_and(Value::is_string), "{path}: {answer}");
    }
    assert!(received.try_recv().is_err(), "nothing reaches the model");
}

/// The error of Responses has the members that OpenAI's clients read.
#[test]
fn responses_refuses_in_its_own_shape() {
    let (address, _received) = model();
    let gateway = Gateway::start(&format!("[[routes]]\nupstream = \"http://{address}\"\ncontext = true\n"));
    let body = json!({"model": "m", "input": "hello", "_stc": {"dedup": 7}}).to_string();
    let (head, answer) = post(gateway.traffic, "/v1/responses", "", body.as_bytes());
    assert!(head.starts_with("http/1.1 400") && head.contains("content-type: application/json"), "{head}");
    let error = json!({"error": {
        "message": "_stc.dedup: expected true or false", "type": "invalid_request_error", "param": "_stc.dedup",
        "code": "stc_option",
    }});
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), error);
}

/// `STC_GATEWAY_CONTEXT` is the flag `--context`, which wins over it; `false` on a route wins over both.
#[test]
fn the_mode_of_a_variable() {
    let check = |variable: &str, flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
        command.args(["--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:9", "--log", "off"]).args(flags);
        let mut child = command.env("STC_GATEWAY_CONTEXT", variable).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
        let first = lines.next().unwrap().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        first
    };
    assert!(
        check("best", &[]).contains("--context: `context.mode`: expected disabled, lossless"),
        "the variable is read"
    );
    assert!(check("best", &["--context", "lossless"]).contains("listening on"), "the flag wins");
    let (address, received) = model();
    let file = format!(
        "upstream = \"http://{address}\"\n[[routes]]\npath = \"/plain\"\nupstream = \"http://{address}\"\ncontext = false\n"
    );
    let gateway = Gateway::start_in(&file, &[("STC_GATEWAY_CONTEXT", "lossless")]);
    for (path, expected) in [("/v1/chat/completions", true), ("/plain/v1/chat/completions", false)] {
        post(gateway.traffic, path, "", chat(&rows(60)).to_string().as_bytes());
        let (_, got) = received.recv().unwrap();
        assert_eq!(String::from_utf8(got).unwrap().contains("[60]{"), expected, "{path}");
    }
}

/// Returns the events of tool results in a file, once there are as many.
fn results(file: &std::path::Path, count: usize) -> Vec<Value> {
    for _ in 0..500 {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let results: Vec<_> = events.filter(|event| event["event"] == "tool-result").collect();
        if results.len() >= count {
            return results;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{count} events of tool results")
}

/// `memo_reused` and `memo_changed`: a text as it was kept, and one that was kept under other settings. Another format has a memo of
/// its own, beside the first.
#[test]
fn telemetry_says_what_became_of_a_memo() {
    let (address, received) = model();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("context.jsonl");
    let config = |verify: &str, format: &str| {
        format!(
            "admin_hosts = [\"h\"]\n[[routes]]\nupstream = \"http://{address}\"\ncontext = true\n\
             [context]\nverify = \"{verify}\"\nformat = \"{format}\"\n[context.telemetry]\nfile = {file:?}\n"
        )
    };
    let gateway = Gateway::start(&config("off", "stc2-labelled"));
    let mut count = 0;
    let mut send = |expected: [bool; 2]| {
        let body = chat(&rows(60)).to_string();
        post(gateway.traffic, "/v1/chat/completions", "x-stc-session: s\r\n", body.as_bytes());
        received.recv().unwrap();
        count += 1;
        let last = results(&file, count).pop().unwrap();
        assert_eq!(["memo_reused", "memo_changed"].map(|name| last[name].as_bool().unwrap()), expected, "{last}");
    };
    send([false, false]);
    send([true, false]);
    for (format, expected) in
        [("stc2-labelled", [false, true]), ("stc2", [false, false]), ("stc2-labelled", [true, false])]
    {
        std::fs::write(&gateway.config, config("always", format)).unwrap();
        gateway.reload();
        send(expected);
        send([true, false]);
    }
}

/// A line longer than `event_bytes` is dropped and counted, and the request is sent.
#[test]
fn telemetry_that_is_dropped_is_counted() {
    let (address, received) = model();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("context.jsonl");
    let gateway = Gateway::start(&format!(
        "[[routes]]\nupstream = \"http://{address}\"\ncontext = true\n[context.telemetry]\nfile = {file:?}\nevent_bytes = 100\n"
    ));
    let (head, _) = post(gateway.traffic, "/v1/chat/completions", "", chat(&rows(60)).to_string().as_bytes());
    assert!(head.starts_with("http/1.1 200"), "{head}");
    received.recv().unwrap();
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    assert!(metrics.contains("stc_context_telemetry_lost_total 2"), "{metrics}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
}
