//! Routes with a context: what the upstream gets of a request to a model, and what operators see of it.

use crate::gateway::{Gateway, get, send, upstream};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver};

/// A word that stands in texts, and may stand nowhere else.
const PLANTED: &str = "xylophonic";

/// Starts an upstream that answers every request, and hands over what it got.
pub(crate) fn model() -> (SocketAddr, Receiver<(String, Vec<u8>)>) {
    let (send, received) = mpsc::channel();
    let address = upstream(move |mut socket| {
        let (mut got, mut buffer) = (Vec::new(), [0; 65536]);
        let (head, length) = loop {
            let count = socket.read(&mut buffer).unwrap_or(0);
            if count == 0 {
                return;
            }
            got.extend_from_slice(&buffer[..count]);
            if let Some(end) = got.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&got[..end + 4]).to_ascii_lowercase();
                got.drain(..end + 4);
                let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
                break (head, length.unwrap_or(0_usize));
            }
        };
        let chunked = head.contains("transfer-encoding: chunked");
        while if chunked { !got.ends_with(b"\r\n0\r\n\r\n") } else { got.len() < length } {
            let count = socket.read(&mut buffer).unwrap_or(0);
            if count == 0 {
                return;
            }
            got.extend_from_slice(&buffer[..count]);
        }
        let _ = send.send((head, got));
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\nconnection: close\r\n\r\n{\"id\":\"ok\"}";
        let _ = socket.write_all(answer.as_bytes());
    });
    (address, received)
}

/// Returns the data of a chunked body.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    loop {
        let end = body.windows(2).position(|two| two == b"\r\n").unwrap();
        let length = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            return data;
        }
        data.extend_from_slice(&body[end + 2..end + 2 + length]);
        body = &body[end + 2 + length + 2..];
    }
}

pub(crate) fn rows(count: usize) -> String {
    let row = |n: usize| json!({"id": n, "state": "open", "by": {"name": PLANTED, "team": "core"}});
    Value::Array((0..count).map(row).collect()).to_string()
}

pub(crate) fn chat(text: &str) -> Value {
    json!({"model": "m", "messages": [
        {"role": "user", "content": PLANTED},
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
    ]})
}

pub(crate) fn post(to: SocketAddr, path: &str, headers: &str, body: &[u8]) -> (String, String) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    let mut request = head.into_bytes();
    request.extend_from_slice(body);
    let mut socket = std::net::TcpStream::connect(to).unwrap();
    socket.write_all(&request).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase(), body.to_owned())
}

fn gateway(address: SocketAddr, more: &str) -> Gateway {
    Gateway::start(&format!(
        "[[routes]]\npath = \"/v1\"\nupstream = \"http://{address}\"\ncontext = true\n[[routes]]\npath = \"/\"\nupstream = \"http://{address}\"\n{more}"
    ))
}

#[test]
fn a_tool_result_is_shorter_and_everything_else_is_as_it_came() {
    let (address, received) = model();
    let gateway = gateway(address, "");
    let text = rows(60);
    let body = chat(&text).to_string();
    let (head, answer) = post(gateway.traffic, "/v1/chat/completions", "", body.as_bytes());
    assert!(
        head.starts_with("http/1.1 200") && head.contains("x-stc-context: results=1; changed=1; tokens="),
        "{head}"
    );
    assert_eq!(answer, "{\"id\":\"ok\"}");
    let (head, got) = received.recv().unwrap();
    assert!(head.contains(&format!("content-length: {}\r\n", got.len())), "{head}");
    let seen: Value = serde_json::from_slice(&got).unwrap();
    let sent = seen["messages"][2]["content"].as_str().unwrap();
    assert_eq!(stc::decode(sent.as_bytes()).unwrap(), text.as_bytes());
    let quoted = |text: &str| Value::from(text).to_string();
    assert_eq!(String::from_utf8(got).unwrap().replace(&quoted(sent), &quoted(&text)), body, "every other byte");
    // The same request on a route without a context.
    post(gateway.traffic, "/v2/chat/completions", "", body.as_bytes());
    assert_eq!(received.recv().unwrap().1, body.as_bytes());
}

#[test]
fn requests_that_pass_unchanged() {
    let (address, received) = model();
    let gateway = gateway(address, "[context]\nmax_request_bytes = 100000\n");
    let body = chat(&rows(60)).to_string();
    let long = chat(&rows(3000)).to_string();
    let plain = json!({"messages": [{"role": "user", "content": "hello"}]}).to_string();
    for (path, headers, body, left) in [
        ("/v1/chat/completions", "authorization: AWS4-HMAC-SHA256 Credential=x\r\n", &body, "signed"),
        ("/v1/chat/completions", "content-digest: sha-256=:x:\r\n", &body, "signed"),
        ("/v1/chat/completions", "content-encoding: deflate\r\n", &body, "invalid"),
        ("/v1/chat/completions", "content-encoding: gzip\r\n", &body, "invalid"),
        ("/v1/chat/completions", "", &long, "large"),
        ("/v1/chat/completions", "x-stc-mode: disabled\r\n", &body, "skipped"),
        ("/v1/chat/completions", "x-headroom-bypass: true\r\n", &body, "skipped"),
        ("/v1/chat/completions", "", &plain, ""),
        ("/v1/embeddings", "", &body, ""),
    ] {
        let (head, _) = post(gateway.traffic, path, headers, body.as_bytes());
        assert!(head.starts_with("http/1.1 200"), "{headers}: {head}");
        let expected = format!("left={left}\r\n");
        assert_eq!(head.contains("x-stc-context"), !left.is_empty(), "{headers}: {head}");
        assert!(left.is_empty() || format!("{head}\r\n").contains(&expected), "{headers}: {head}");
        let (head, got) = received.recv().unwrap();
        assert!(got == body.as_bytes(), "{path} {headers}");
        assert!(!head.contains("x-stc-mode") && !head.contains("bypass"), "options are removed: {head}");
    }
}

#[test]
fn a_compressed_request_is_sent_plain_if_it_changes() {
    let (address, received) = model();
    let gateway = gateway(address, "");
    let body = chat(&rows(60)).to_string();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(body.as_bytes()).unwrap();
    let compressed = gzip.finish().unwrap();
    post(gateway.traffic, "/v1/chat/completions", "content-encoding: gzip\r\n", &compressed);
    let (head, got) = received.recv().unwrap();
    assert!(!head.contains("content-encoding"), "{head}");
    assert!(
        serde_json::from_slice::<Value>(&got).unwrap()["messages"][2]["content"].as_str().unwrap().starts_with("[60]")
    );
    // One that does not change keeps its bytes.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(chat("short").to_string().as_bytes()).unwrap();
    let compressed = gzip.finish().unwrap();
    post(gateway.traffic, "/v1/chat/completions", "content-encoding: gzip\r\n", &compressed);
    let (head, got) = received.recv().unwrap();
    assert!(head.contains("content-encoding: gzip") && got == compressed, "{head}");
}

#[test]
fn a_chunked_request_longer_than_the_limit_passes_as_it_comes() {
    let (address, received) = model();
    let gateway = gateway(address, "[context]\nmax_request_bytes = 5000\n");
    for (count, changes) in [(30, true), (600, false)] {
        let body = chat(&rows(count)).to_string();
        let mut request = "POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
        for part in body.as_bytes().chunks(700) {
            request += &format!("{:x}\r\n{}\r\n", part.len(), String::from_utf8_lossy(part));
        }
        let (head, _) = send(gateway.traffic, &(request + "0\r\n\r\n"));
        assert!(head.starts_with("http/1.1 200"), "{head}");
        let (head, got) = received.recv().unwrap();
        assert_eq!(head.contains("content-length"), changes, "{head}");
        assert_eq!(head.contains("transfer-encoding: chunked"), !changes, "{head}");
        if changes {
            assert!(String::from_utf8(got).unwrap().contains("[30]{"), "{head}");
        } else {
            assert_eq!(unchunked(&got), body.as_bytes());
        }
    }
}

#[test]
fn options_that_cannot_be_followed_are_refused_in_the_apis_own_shape() {
    let (address, received) = model();
    let gateway = gateway(address, "");
    let with = |options: Value| {
        let mut body = chat("x");
        body["_stc"] = options;
        body.to_string()
    };
    let (head, answer) = post(gateway.traffic, "/v1/chat/completions", "", with(json!({"mode": "best"})).as_bytes());
    assert!(head.starts_with("http/1.1 400"), "{head}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["error"]["param"], &answer["error"]["code"]), (&"_stc.mode".into(), &"stc_option".into()));
    let (head, answer) = post(gateway.traffic, "/v1/messages", "x-stc-mode: best\r\n", b"{}");
    assert!(head.starts_with("http/1.1 400"), "{head}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["error"]["type"], "invalid_request_error");
    assert!(
        answer["error"]["message"].as_str().unwrap().starts_with("X-STC-Mode: expected disabled, lossless, safe"),
        "{answer}"
    );
    assert!(received.try_recv().is_err(), "nothing reaches the model");
    post(gateway.traffic, "/v1/chat/completions", "", with(json!("lossless")).as_bytes());
    let (_, got) = received.recv().unwrap();
    assert!(!String::from_utf8(got).unwrap().contains("_stc"), "options are removed");
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    assert!(metrics.contains("stc_context_options_refused_total 2"), "{metrics}");
}

/// Each of the other APIs: its path, its result, and its own error.
#[test]
fn gemini_bedrock_and_ollama() {
    let (address, received) = model();
    let gateway = gateway(address, "");
    let text = rows(60);
    let gemini = json!({"contents": [{"role": "user", "parts": [
        {"functionResponse": {"name": "list", "response": {"output": text}}},
    ]}]});
    let bedrock = json!({"messages": [{"role": "user", "content": [
        {"toolResult": {"toolUseId": "t", "content": [{"json": {"rows": serde_json::from_str::<Value>(&text).unwrap()}}]}},
    ]}]});
    let ollama = json!({"messages": [{"role": "tool", "tool_name": "list", "content": text}]});
    for (path, body, text) in [
        ("/v1/models/x:generateContent?alt=sse", &gemini, "/contents/0/parts/0/functionResponse/response/output"),
        ("/v1/model/x/converse", &bedrock, "/messages/0/content/0/toolResult/content/0/text"),
        ("/v1/api/chat", &ollama, "/messages/0/content"),
    ] {
        let (head, _) = post(gateway.traffic, path, "", body.to_string().as_bytes());
        assert!(head.contains("x-stc-context: results=1; changed=1;"), "{path}: {head}");
        let (_, got) = received.recv().unwrap();
        let seen: Value = serde_json::from_slice(&got).unwrap();
        let sent = seen.pointer(text).and_then(Value::as_str).unwrap();
        assert!(stc::decode(sent.as_bytes()).unwrap().len() >= self::rows(60).len(), "{path}: {sent}");
    }
    let bad = "x-stc-mode: best\r\n";
    let (_, answer) = post(gateway.traffic, "/v1/models/x:generateContent", bad, b"{}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["error"]["code"], &answer["error"]["status"]), (&400.into(), &"INVALID_ARGUMENT".into()));
    let (head, answer) = post(gateway.traffic, "/v1/model/x/converse", bad, b"{}");
    assert!(head.contains("x-amzn-errortype: validationexception"), "{head}");
    assert!(answer.starts_with("{\"message\":\"X-STC-Mode: expected"), "{answer}");
    let (_, answer) = post(gateway.traffic, "/v1/api/chat", bad, b"{}");
    assert!(answer.starts_with("{\"error\":\"X-STC-Mode: expected"), "{answer}");
    assert!(received.try_recv().is_err());
}

/// Each API with a large, a small and an unknown model, in the body or in the path: what the model gets, and what the header says.
#[test]
fn the_model_decides_the_format() {
    let (address, received) = model();
    let lines = "[context]\nreaders = [{ model = \"house/*\", format = \"stc2\" }]\n";
    let gateway = gateway(address, lines);
    let text = rows(60);
    let encoded = |format| {
        let options = stc::Options::default().format(format);
        String::from_utf8(stc::Encoder::with_options(options).encode(text.as_bytes()).unwrap().to_vec()).unwrap()
    };
    let (full, labelled) = (encoded(stc::Format::Stc2), encoded(stc::Format::Stc2Labelled));
    assert_ne!(full, labelled);
    let chat = json!({"messages": [{"role": "tool", "tool_call_id": "c", "content": text}]});
    let responses = json!({"input": [{"type": "function_call_output", "call_id": "c", "output": text}]});
    let blocks = json!([{"type": "tool_result", "tool_use_id": "c", "content": text}]);
    let anthropic = json!({"messages": [{"role": "user", "content": blocks}]});
    let response = json!({"name": "list", "response": {"output": text}});
    let gemini = json!({"contents": [{"role": "user", "parts": [{"functionResponse": response}]}]});
    let result = json!({"toolUseId": "t", "content": [{"text": text}]});
    let bedrock = json!({"messages": [{"role": "user", "content": [{"toolResult": result}]}]});
    for (path, body, place) in [
        ("/v1/chat/completions", &chat, "/messages/0/content"),
        ("/v1/openai/deployments/MODEL/chat/completions", &chat, "/messages/0/content"),
        ("/v1/responses", &responses, "/input/0/output"),
        ("/v1/messages", &anthropic, "/messages/0/content/0/content"),
        ("/v1/api/chat", &chat, "/messages/0/content"),
        ("/v1/models/MODEL:generateContent", &gemini, "/contents/0/parts/0/functionResponse/response/output"),
        ("/v1/model/MODEL/converse", &bedrock, "/messages/0/content/0/toolResult/content/0/text"),
    ] {
        for (model, expected, says) in [
            ("us.anthropic.claude-sonnet-4-v1:0", &full, "reader=large; by=readers.toml:claude-*"),
            ("gpt-4.1-nano", &labelled, "reader=small; by=readers.toml:nano"),
            (PLANTED, &labelled, "reader=small; by=unknown-model"),
            ("house/x-1b", &full, "reader=large; by=context.readers:house/*"),
        ] {
            let is_in_path = path.contains("MODEL");
            let path = path.replace("MODEL", &model.replace(':', "%3A").replace('/', "%2F"));
            // Routes decide by decoded paths, and a slash in a name is not decoded there.
            if is_in_path && model.contains('/') {
                continue;
            }
            let mut body = body.clone();
            if !is_in_path {
                body["model"] = model.into();
            }
            let (head, _) = post(gateway.traffic, &path, "", body.to_string().as_bytes());
            assert!(head.contains(says), "{path} {model}: {head}");
            let (_, got) = received.recv().unwrap();
            let seen: Value = serde_json::from_slice(&got).unwrap();
            assert!(seen.pointer(place).and_then(Value::as_str) == Some(expected), "{path} {model}");
        }
    }
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    assert!(metrics.contains("stc_context_readers_total{reader=\"large\"} 11\n"), "{metrics}");
    assert!(metrics.contains("stc_context_readers_total{reader=\"small\"} 14\n"), "{metrics}");
    let (_, state) = get(gateway.admin, "/state", "");
    let shown: Value = serde_json::from_str(&state).unwrap();
    let latest = &shown["context"]["latest"][0]["reader"];
    assert_eq!(latest, &json!({"level": "small", "by": "unknown-model", "format": "stc2-labelled"}));
    for text in [&metrics, &state] {
        assert!(!text.contains(PLANTED), "{text}");
    }
}

/// The access log and telemetry name the level and the line, and never the model.
#[test]
fn logs_say_who_reads() {
    let (address, received) = model();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("context.jsonl");
    let more = format!("[context]\nreader = \"large\"\n[context.telemetry]\nfile = {:?}\n", file.to_str().unwrap());
    let gateway = gateway(address, &more);
    let mut body = chat(&rows(60));
    body["model"] = format!("{PLANTED}\r\n{}", "x".repeat(100_000)).into();
    let (head, _) = post(gateway.traffic, "/v1/chat/completions", "", body.to_string().as_bytes());
    assert!(format!("{head}\r\n").contains("; reader=large; by=context.reader\r\n"), "{head}");
    received.recv().unwrap();
    let lines = (0..100)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            std::fs::read_to_string(&file).ok().filter(|text| text.lines().count() >= 2)
        })
        .expect("two lines of telemetry");
    let request: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&request["reader"], &request["reader_by"]), (&"large".into(), &"context.reader".into()));
    gateway.signal("-TERM");
    let log = gateway.rest();
    assert!(log.contains(r#""reader":"large""#) && log.contains(r#""reader_by":"context.reader""#), "{log}");
    assert!(!log.contains(PLANTED) && !lines.contains(PLANTED));
}

/// What was kept of a session saves work, belongs to one tenant, and changes no byte.
#[test]
fn sessions_belong_to_their_tenant() {
    let (address, received) = model();
    let gateway = gateway(address, "");
    let body = chat(&rows(60)).to_string();
    let memos = |outcome: &str| -> u64 {
        let (_, metrics) = get(gateway.admin, "/metrics", "");
        let name = format!("stc_context_memo_total{{outcome=\"{outcome}\"}} ");
        metrics.split(&name).nth(1).unwrap().lines().next().unwrap().parse().unwrap()
    };
    let mut sent = Vec::new();
    for (headers, hits, misses) in [
        ("", 0, 0),
        ("x-stc-session: s\r\nauthorization: Bearer a\r\n", 0, 1),
        ("x-stc-session: s\r\nauthorization: Bearer a\r\n", 1, 1),
        ("x-stc-session: s\r\nauthorization: Bearer b\r\n", 1, 2),
        ("x-stc-session: s\r\nx-api-key: Bearer a\r\n", 1, 3),
        ("x-stc-session: s\r\n", 1, 4),
        ("x-stc-session: r\r\nauthorization: Bearer a\r\n", 1, 5),
        ("x-stc-session: s\r\nauthorization: Bearer a\r\n", 2, 5),
    ] {
        let (head, _) = post(gateway.traffic, "/v1/chat/completions", headers, body.as_bytes());
        assert!(head.starts_with("http/1.1 200"), "{head}");
        let (head, got) = received.recv().unwrap();
        assert!(!head.contains("x-stc-session"), "{head}");
        sent.push(got);
        assert_eq!((memos("hit"), memos("miss"), memos("changed")), (hits, misses, 0), "{headers}");
    }
    assert!(sent.iter().all(|body| *body == sent[0]));
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    assert!(metrics.contains("stc_context_memo_sessions 5"), "{metrics}");
}

#[test]
fn operators_see_figures_and_nothing_of_a_text() {
    let (address, received) = model();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("context.jsonl");
    let gateway = gateway(address, &format!("[context.telemetry]\nfile = {:?}\n", file.to_str().unwrap()));
    post(gateway.traffic, "/v1/chat/completions", "x-request-id: r7\r\n", chat(&rows(60)).to_string().as_bytes());
    received.recv().unwrap();
    post(gateway.traffic, "/v1/chat/completions", "", chat(PLANTED).to_string().as_bytes());
    received.recv().unwrap();
    let mut broken = chat(PLANTED);
    broken["_stc"] = json!({"mode": PLANTED});
    let (_, error) = post(gateway.traffic, "/v1/chat/completions", "", broken.to_string().as_bytes());
    let lines = (0..100)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            std::fs::read_to_string(&file).ok().filter(|text| text.lines().count() >= 3)
        })
        .expect("three lines of telemetry");
    let line = |number: usize| serde_json::from_str::<Value>(lines.lines().nth(number).unwrap()).unwrap();
    let (result, request) = (line(0), line(1));
    assert_eq!(
        (&result["event"], &result["status"], &result["tool"]),
        (&"tool-result".into(), &"stc2-labelled".into(), &"list".into())
    );
    assert_eq!((&result["request_id"], &result["route"]), (&"r7".into(), &"/v1".into()));
    assert_eq!(result["lines"][0], 1);
    for name in ["tenant", "call", "input", "output", "arguments"] {
        assert_eq!(result[name].as_str().map(str::len), Some(16), "{name}: {result}");
    }
    assert_ne!(result["input"], result["output"]);
    assert_eq!(
        (&request["event"], &request["changed"], &request["statuses"]["stc2-labelled"]),
        (&"context".into(), &1.into(), &1.into())
    );
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    assert!(metrics.contains("stc_context_results_total{api=\"openai-chat\",status=\"stc2-labelled\"} 1"), "{metrics}");
    assert!(metrics.contains("stc_context_results_total{api=\"openai-chat\",status=\"small\"} 1"), "{metrics}");
    assert!(metrics.contains("stc_context_seconds_count 2"), "{metrics}");
    let (_, state) = get(gateway.admin, "/state", "");
    let shown: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(shown["context"]["tools"][1]["status"], "stc2-labelled");
    for (place, text) in [("telemetry", lines.as_str()), ("metrics", &metrics), ("state", &state), ("error", &error)] {
        assert!(!text.contains(PLANTED), "{place}: {text}");
    }
    gateway.signal("-TERM");
    assert!(!gateway.rest().contains(PLANTED));
}

/// A mode that loses something: what the model gets, what telemetry and metrics say of it, and that nothing of the text is there.
#[test]
fn a_mode_that_loses_something() {
    let (address, received) = model();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("context.jsonl");
    let settings = "[context]\nmode = \"standard\"\n[context.cap]\nbytes = 2000\n";
    let gateway = gateway(address, &format!("{settings}[context.telemetry]\nfile = {:?}\n", file.to_str().unwrap()));
    let build = "\u{1b}[32m   Compiling\u{1b}[0m a v1.0.0\n".repeat(200) + "error: it broke\n";
    let mut body = chat(&build);
    body["messages"][1]["tool_calls"][0]["function"] =
        json!({"name": "bash", "arguments": json!({"command": "cargo build"}).to_string()});
    let (head, _) = post(gateway.traffic, "/v1/chat/completions", "", body.to_string().as_bytes());
    assert!(head.contains("x-stc-context: results=1; changed=1; tokens="), "{head}");
    let (_, got) = received.recv().unwrap();
    let seen: Value = serde_json::from_slice(&got).unwrap();
    let sent = seen["messages"][2]["content"].as_str().unwrap();
    assert!(
        sent.len() < 200 && sent.contains("progress lines left out]") && sent.ends_with("error: it broke\n"),
        "{sent}"
    );
    // A request may choose another mode.
    post(gateway.traffic, "/v1/chat/completions", "x-stc-mode: safe\r\n", body.to_string().as_bytes());
    let (_, got) = received.recv().unwrap();
    assert!(got.len() > 1500 && got.len() < 3000, "{}", got.len());
    let lines = (0..100)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            std::fs::read_to_string(&file).ok().filter(|text| text.lines().count() >= 4)
        })
        .expect("four lines of telemetry");
    let line = |number: usize| serde_json::from_str::<Value>(lines.lines().nth(number).unwrap()).unwrap();
    let (standard, safe) = (line(0), line(2));
    assert_eq!((&standard["mode"], &standard["status"]), (&"standard".into(), &"abridged".into()));
    assert_eq!((&standard["family"], &standard["program"]), (&"bash".into(), &"cargo".into()));
    assert_eq!((&standard["capped"], &standard["abridged"]), (&true.into(), &true.into()));
    assert_eq!((&standard["redacted"], &standard["dictionary"]), (&0.into(), &false.into()));
    assert_eq!(safe["steps"], json!(["ansi", "cap"]));
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    for line in [
        "stc_context_results_total{api=\"openai-chat\",status=\"abridged\"} 2",
        "stc_context_steps_total{step=\"ansi\"} 2",
        "stc_context_steps_total{step=\"family\"} 1",
        "stc_context_redaction_failures_total 0",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    assert!(!lines.contains("Compiling") && !metrics.contains("Compiling"));
}

/// Where redaction is required, what cannot be looked through is not sent.
#[test]
fn required_redaction_fails_closed() {
    let (address, received) = model();
    let settings = "[context]\nmax_request_bytes = 2000\n[context.redact]\nenabled = \"required\"\n";
    let gateway = gateway(address, settings);
    let secret = format!("ghp_{}", &"aB3dE5gH7jK9mN1pQ3sT".repeat(2)[..36]);
    let short = chat(&format!("the token is {secret}")).to_string();
    post(gateway.traffic, "/v1/chat/completions", "x-stc-bypass: true\r\n", short.as_bytes());
    let (_, got) = received.recv().unwrap();
    let got = String::from_utf8(got).unwrap();
    assert!(!got.contains(&secret) && got.contains("[redacted:"), "{got}");
    for (headers, body) in [
        ("", chat(&rows(60)).to_string()),
        ("", short[..short.len() - 1].to_owned()),
        ("content-digest: sha-256=:x:\r\n", short.clone()),
    ] {
        let (head, answer) = post(gateway.traffic, "/v1/chat/completions", headers, body.as_bytes());
        assert!(head.starts_with("http/1.1 502"), "{head}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["message"], "redaction failed");
    }
    assert!(received.try_recv().is_err(), "nothing else reaches the model");
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    assert!(metrics.contains("stc_context_redaction_failures_total 3"), "{metrics}");
}

/// Sends a request of any kind; returns the head and the body of the answer.
fn ask(to: SocketAddr, line: &str, headers: &str, body: &[u8]) -> (String, String) {
    let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let head = format!("{line} HTTP/1.1\r\nhost: h\r\n{headers}{length}\r\n");
    let mut socket = std::net::TcpStream::connect(to).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    socket.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !answer.windows(4).any(|four| four == b"\r\n\r\n") || (!answer.ends_with(b"}") && !body.is_empty()) {
        match socket.read(&mut buffer) {
            Ok(count @ 1..) => answer.extend_from_slice(&buffer[..count]),
            _ => break,
        }
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase(), body.to_owned())
}

/// A token that the rules know.
fn token() -> String {
    format!("ghp_{}", &"aB3dE5gH7jK9mN1pQ3sT".repeat(2)[..36])
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// Requests that cannot be looked through: what is before the version, headers, and the body.
fn unreadable(body: &[u8]) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let json = "content-type: application/json\r\n";
    let utf16 = String::from_utf8_lossy(body).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let chat = "POST /v1/chat/completions";
    vec![
        (chat, "content-type: text/plain\r\n", body.to_vec()),
        ("PUT /v1/files/x", "content-type: application/octet-stream\r\n", body.to_vec()),
        ("POST /v1/files", "content-type: multipart/form-data; boundary=b\r\n", body.to_vec()),
        (chat, "content-type: text/plain\r\ncontent-type: application/json\r\n", body.to_vec()),
        (chat, "content-type: application/json; charset=utf-16\r\n", utf16),
        (chat, json, gzip(body)),
        (chat, "content-encoding: gzip, gzip\r\n", gzip(&gzip(body))),
        (chat, "content-encoding: gzip\r\n", body.to_vec()),
        (chat, "content-encoding: deflate\r\n", body.to_vec()),
        (chat, "authorization: AWS4-HMAC-SHA256 Credential=x\r\n", body.to_vec()),
        ("POST /v1/messages/batches", "content-digest: sha-256=:x:\r\n", body.to_vec()),
        ("DELETE /v1/unknown", "", body[1..].to_vec()),
        ("GET /v1/unknown", "", b"name=x&token=y".to_vec()),
        ("POST /v1/messages", json, [b"\xef\xbb\xbf", body].concat()),
        (
            "GET /v1/responses",
            "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n",
            Vec::new(),
        ),
    ]
}

/// Where redaction is required, what is not wholly understood is not sent, by a route and by the plugin.
#[test]
fn what_is_not_understood_is_not_sent_where_redaction_is_required() {
    let (address, received) = model();
    let (token, redact) = (token(), "redact = { enabled = \"required\" }");
    let body = chat(&format!("the token is {token}")).to_string();
    let unsent = unreadable(body.as_bytes());
    let by_route = format!("[[routes]]\npath = \"/\"\nupstream = \"http://{address}\"\ncontext = {{ {redact} }}\n");
    let by_plugin =
        format!("upstream = \"http://{address}\"\n[[plugins]]\nname = \"context\"\nsettings = {{ {redact} }}\n");
    for (way, config) in [("route", &by_route), ("plugin", &by_plugin)] {
        let gateway = Gateway::start(config);
        for (line, headers, body) in &unsent {
            let (head, answer) = ask(gateway.traffic, line, headers, body);
            assert!(head.starts_with("http/1.1 502"), "{way} {line} {headers}: {head}");
            if !body.is_empty() {
                let answer: Value = serde_json::from_str(&answer).unwrap();
                assert_eq!(answer["error"]["message"], "redaction failed", "{way} {line}");
            }
        }
        assert!(received.try_recv().is_err(), "{way}");
        if way == "route" {
            let (_, metrics) = get(gateway.admin, "/metrics", "");
            assert!(metrics.contains(&format!("stc_context_redaction_failures_total {}", unsent.len())), "{metrics}");
        }
        let nested = json!({"requests": [{"custom_id": "a", "params": {"system": token, "messages": []}}]}).to_string();
        for (line, headers, body) in [
            ("POST /v1/chat/completions", "content-type: text/json\r\n", body.as_bytes().to_vec()),
            ("POST /v1/chat/completions", "", body.as_bytes().to_vec()),
            ("POST /v1/chat/completions", "content-encoding: gzip\r\n", gzip(body.as_bytes())),
            ("POST /v1/messages", "x-stc-mode: disabled\r\n", body.replace("\"tool\"", "\"user\"").into_bytes()),
            ("PUT /v1/chat/completions", "content-type: application/json\r\n", body.as_bytes().to_vec()),
            ("PATCH /v1/x", "content-type: application/merge-patch+json\r\n", body.as_bytes().to_vec()),
            ("POST /v1/messages/batches", "content-type: application/json\r\n", nested.as_bytes().to_vec()),
            ("POST /v1beta/models/g:batchGenerateContent", "content-encoding: gzip\r\n", gzip(nested.as_bytes())),
            ("POST /v1/projects/p/publishers/anthropic/models/c:rawPredict", "", nested.as_bytes().to_vec()),
            ("POST /model/m/invoke", "", json!({"prompt": [token, {&token: 1}]}).to_string().into_bytes()),
        ] {
            let (head, _) = ask(gateway.traffic, line, headers, &body);
            assert!(head.starts_with("http/1.1 200"), "{way} {line} {headers}: {head}");
            let (head, got) = received.recv().unwrap();
            assert!(
                head.contains(&format!("content-length: {}\r\n", got.len())) && !head.contains("encoding"),
                "{head}"
            );
            let got = String::from_utf8(got).unwrap();
            assert!(!got.contains(&token) && got.contains("[redacted:"), "{way} {line}: {got}");
        }
        for line in ["GET /v1/models", "DELETE /v1/files/x", "POST /v1/responses/x/cancel"] {
            assert!(ask(gateway.traffic, line, "content-length: 0\r\n", b"").0.starts_with("http/1.1 200"), "{line}");
            received.recv().unwrap();
        }
    }
}

/// Where it is not required, what cannot be looked through is sent and counted, and the answer says so.
#[test]
fn what_is_not_understood_is_counted_where_secrets_are_replaced() {
    let (address, received) = model();
    let config = |enabled: &str| {
        let context = format!("context = {{ redact = {{ enabled = \"{enabled}\" }} }}");
        Gateway::start(&format!("[[routes]]\npath = \"/\"\nupstream = \"http://{address}\"\n{context}\n"))
    };
    let body = chat(&format!("the token is {}", token())).to_string();
    let [on, off] = ["on", "off"].map(config);
    let unsent = unreadable(body.as_bytes());
    for (line, headers, body) in &unsent {
        let (head, _) = ask(on.traffic, line, headers, body);
        assert!(head.starts_with("http/1.1 200") && head.contains("; unsearched=1"), "{line} {headers}: {head}");
        assert_eq!(&received.recv().unwrap().1, body, "{line} {headers}");
        let (head, _) = ask(off.traffic, line, headers, body);
        assert!(head.starts_with("http/1.1 200") && !head.contains("unsearched"), "{line} {headers}: {head}");
        assert_eq!(&received.recv().unwrap().1, body, "{line} {headers}");
    }
    for (gateway, count) in [(&on, unsent.len()), (&off, 0)] {
        let (_, metrics) = get(gateway.admin, "/metrics", "");
        assert!(metrics.contains(&format!("stc_context_redaction_failures_total {count}\n")), "{metrics}");
    }
    ask(on.traffic, "PUT /v1/unknown", "", body.as_bytes());
    assert!(!String::from_utf8(received.recv().unwrap().1).unwrap().contains(&token()));
    ask(off.traffic, "PUT /v1/unknown", "", body.as_bytes());
    assert_eq!(received.recv().unwrap().1, body.as_bytes());
}

/// The access log tells the bytes that came from the bytes that went on, where a context may change them.
#[test]
fn the_access_log_counts_both_sides() {
    let (address, received) = model();
    let gateway = gateway(address, "");
    let body = chat(&rows(60)).to_string();
    let logged = || serde_json::from_str::<Value>(&gateway.says("\"access\"")).unwrap();
    post(gateway.traffic, "/v1/chat/completions", "", body.as_bytes());
    let (_, got) = received.recv().unwrap();
    let seen = logged();
    assert_eq!((&seen["bytes_received"], &seen["bytes_forwarded"]), (&body.len().into(), &got.len().into()), "{seen}");
    assert!(got.len() < body.len());
    post(gateway.traffic, "/v1/chat/completions", "x-stc-mode: best\r\n", body.as_bytes());
    let seen = logged();
    assert_eq!((&seen["bytes_received"], &seen["bytes_forwarded"]), (&body.len().into(), &0.into()), "{seen}");
    post(gateway.traffic, "/v2/chat/completions", "", body.as_bytes());
    let seen = logged();
    assert_eq!((&seen["bytes_received"], &seen["bytes_forwarded"]), (&body.len().into(), &Value::Null), "{seen}");
}

#[test]
fn the_page_shows_a_request_before_and_after() {
    let (address, _received) = model();
    let gateway = gateway(address, "");
    let text = rows(60);
    let (head, answer) = post(gateway.admin, "/context", "", chat(&text).to_string().as_bytes());
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["api"], &answer["results"][0]["status"]), (&"openai-chat".into(), &"stc2-labelled".into()));
    assert_eq!(answer["results"][0]["before"], text);
    assert!(answer["results"][0]["after"].as_str().unwrap().starts_with("[60]"));
    assert!(post(gateway.admin, "/context", "", b"[1,").0.starts_with("http/1.1 400"));
}

#[test]
fn rows_are_compressed_for_hosts_that_send_them_themselves() {
    let config = "[[routes]]\npath = \"/v1/compress\"\ncompress = true\n";
    let gateway = Gateway::start(config);
    let mut body = chat(&rows(60));
    body["config"] = json!({"mode": "ccr"});
    let (head, answer) = post(gateway.traffic, "/v1/compress", "", body.to_string().as_bytes());
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["messages"].as_array().unwrap().len(), 3);
    assert!(answer["tokens_saved"].as_u64().unwrap() > 0);
    assert_eq!(answer["items"][0]["tool"], "list");
    body["_stc"] = json!(7);
    for (path, body, status) in [
        ("/v1/compress", body.to_string(), "400"),
        ("/v1/compress", "{}".to_owned(), "400"),
        ("/v1/else", "{}".to_owned(), "404"),
    ] {
        let (head, _) = post(gateway.traffic, path, "", body.as_bytes());
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{path}: {head}");
    }
    assert!(get(gateway.traffic, "/v1/compress", "").0.starts_with("http/1.1 405"));
}

#[test]
fn the_flag_the_plugin_and_wrong_settings() {
    let (address, received) = model();
    let gateway = Gateway::start(&format!(
        "upstream = \"http://{address}\"\n[[plugins]]\nname = \"context\"\nsettings = {{ min_bytes = 200 }}\n"
    ));
    post(
        gateway.traffic,
        "/v1/messages",
        "",
        json!({"messages": [{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": rows(12)},
        ]}]})
        .to_string()
        .as_bytes(),
    );
    let (_, got) = received.recv().unwrap();
    assert!(String::from_utf8(got).unwrap().contains("[12]{"));
    let check = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.toml");
        std::fs::write(&path, text).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
        let output = command.arg("check-config").arg(path).output().unwrap();
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let route = "[[routes]]\npath = \"/\"\nupstream = \"http://a\"\n";
    assert!(check(&format!("{route}context = {{ min_bytes = 7 }}\n")).0);
    for (text, expected) in [
        (
            format!("[context]\nmode = \"best\"\n{route}"),
            "c.toml:2:8: `context.mode`: expected disabled, lossless, safe, standard or aggressive",
        ),
        (
            format!("{route}context = {{ api = \"cohere\" }}\n"),
            "c.toml:4:19: `context.api`: expected auto, openai-chat",
        ),
        (format!("{route}context = 7\n"), "c.toml:4:11: `context`: expected true, false or a table"),
        (
            format!("{route}[context.redact]\nenabled = \"yes\"\n"),
            "`context.redact.enabled`: expected by-mode, on, required or off",
        ),
        (format!("{route}context = true\n[context.redact]\nrules = [\"-jwts\"]\n"), "rule `jwts`: no such rule"),
        (format!("{route}[context.expand]\nenabled = true\n"), "`context.expand` is not available in this version"),
        (format!("{route}compress = true\n"), "a path that compresses has no upstream"),
    ] {
        let (good, said) = check(&text);
        assert!(!good && said.contains(expected), "{text}: {said}");
    }
    let store = "context = true\n[context.store]\nredis = \"redis://127.0.0.1:1\"\n";
    for (more, expected) in [
        ("", "c.toml:6:9: `context.store.redis` needs `context.store.secret_env`"),
        (
            "secret_env = \"STC_NO_SUCH_SECRET\"\n",
            "c.toml:7:14: `context.store.secret_env`: STC_NO_SUCH_SECRET is not set",
        ),
    ] {
        let (good, said) = check(&format!("{route}{store}{more}"));
        assert!(!good && said.contains(expected), "{said}");
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
    let output = command.args(["--upstream", "http://a", "--context", "best"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("--context: `context.mode`: expected disabled"), "{said}");
}
