//! `stc mcp --url` with a server of a few lines: sessions, JSON and events, errors, the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::command::run;

/// Nine rows as a text in JSON.
fn rows() -> String {
    let rows: Vec<String> = (1..10).map(|id| format!(r#"{{\"id\": {id}, \"state\": \"open\"}}"#)).collect();
    format!("[{}]", rows.join(", "))
}

/// A request as the server saw it.
#[derive(Clone, Debug)]
struct Seen {
    method: String,
    head: String,
    body: String,
}

/// Returns the address of a server, and what it sees. It answers each kind of request in its own way.
fn server() -> (String, Arc<Mutex<Vec<Seen>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&seen);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let seen = Arc::clone(&all);
            thread::spawn(move || answer(stream.expect("a connection"), &seen));
        }
    });
    (url, seen)
}

fn answer(stream: TcpStream, seen: &Mutex<Vec<Seen>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).expect("readable") == 0 {
            return;
        }
    }
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).expect("a body");
    let body = String::from_utf8(body).expect("UTF-8");
    let method = head.split(' ').next().expect("a method").to_owned();
    seen.lock().expect("not poisoned").push(Seen { method: method.clone(), head, body: body.clone() });
    let (status, kind, text) = response(&method, &body);
    let session = if body.contains("\"initialize\"") { "Mcp-Session-Id: s-1\r\n" } else { "" };
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{session}Connection: close\r\n\r\n");
    let mut stream = stream;
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes())).expect("written");
}

fn response(method: &str, body: &str) -> (&'static str, &'static str, String) {
    let result = |id: u32| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{}"}}]}}}}"#, rows())
    };
    let json = "application/json; charset=utf-8";
    match () {
        () if method != "post" => ("405 Method Not Allowed", "text/plain", String::new()),
        () if body.contains("\"initialize\"") => {
            let message =
                r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","instructions":"Be kind."}}"#;
            (
                "200 OK",
                "text/event-stream",
                format!(": hello\n\nid: 0\ndata: \n\nevent: message\nid: 1\ndata: {message}\n\n"),
            )
        }
        () if body.contains("notifications/") => ("202 Accepted", "text/plain", String::new()),
        () if body.contains("\"as-json\"") => {
            ("200 OK", json, format!("{}\n", result(1).replace("\"result\":", "\r\n\"result\":\n")))
        }
        () if body.contains("\"as-events\"") => {
            let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
            ("200 OK", "text/event-stream", format!("data: {progress}\n\ndata: {}\n\n", result(2)))
        }
        () if body.contains("\"explained\"") => {
            ("400 Bad Request", json, r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}"#.to_owned())
        }
        () => ("503 Service Unavailable", "text/html", "<html>".to_owned()),
    }
}

fn call(id: u32, tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn texts_change_in_json_and_in_events() {
    let (url, _) = server();
    for (id, tool) in [(1, "as-json"), (2, "as-events")] {
        let flags = ["mcp", "--min-bytes", "16", "--format", "stc2-labelled", "--url", &url];
        let out = String::from_utf8(run(&flags, call(id, tool) + "\n").fine()).expect("UTF-8");
        let messages: Vec<serde_json::Value> =
            out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let (last, earlier) = messages.split_last().expect("a message");
        let block = &last["result"]["content"][0];
        assert_eq!(block["_meta"]["io.stoa/stc"]["format"], "stc2-labelled", "{tool}");
        let json = stc::decode(block["text"].as_str().expect("a text").as_bytes()).expect("STC");
        assert_eq!(json, rows().replace('\\', "").replace(": ", ":").replace(", ", ",").as_bytes());
        let methods: Vec<_> = earlier.iter().map(|message| message["method"].as_str()).collect();
        assert_eq!(methods, if tool == "as-events" { vec![Some("notifications/progress")] } else { vec![] });
    }
}

#[test]
fn the_session_and_the_version_are_sent_and_the_session_is_deleted() {
    let (url, seen) = server();
    let flags = ["mcp", "--legend", "--url", &url, "--header", "Authorization: Bearer k", "--header", "X-A:b"];
    // A client waits for the answer before it goes on.
    let mut child = crate::command::stc(&flags).stdin(std::process::Stdio::piped()).spawn().expect("stc starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    writeln!(stdin, "{INITIALIZE}").expect("written");
    let first: serde_json::Value =
        serde_json::from_str(&lines.next().expect("a line").expect("readable")).expect("JSON");
    assert!(first["result"]["instructions"].as_str().expect("a text").starts_with("Be kind.\n\nSTC 2"), "{first}");
    writeln!(stdin, "{INITIALIZED}\n\n{}", call(1, "as-json")).expect("written");
    assert!(lines.next().expect("a line").expect("readable").contains("result"));
    drop(stdin);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let seen = seen.lock().expect("not poisoned").clone();
    let of = |method: &str| seen.iter().filter(|one| one.method == method).cloned().collect::<Vec<_>>();
    let posts = of("post");
    assert_eq!(
        posts.iter().map(|one| one.body.as_str()).collect::<Vec<_>>(),
        [INITIALIZE, INITIALIZED, &call(1, "as-json")]
    );
    assert!(!posts[0].head.contains("mcp-session-id") && posts[0].head.contains("authorization: bearer k\r\n"));
    for one in [&posts[1], &posts[2], &of("get")[0], &of("delete")[0]] {
        assert!(one.head.contains("mcp-session-id: s-1\r\n"), "{one:?}");
        assert!(
            one.head.contains("mcp-protocol-version: 2025-06-18\r\n") && one.head.contains("x-a: b\r\n"),
            "{one:?}"
        );
    }
    assert!(posts[0].head.contains("accept: application/json, text/event-stream\r\n"));
}

#[test]
fn what_goes_wrong_is_an_error_of_the_request() {
    let (url, _) = server();
    let errors = |url: &str, input: &str| {
        let ran = run(&["mcp", "--url", url], input);
        assert_eq!(ran.code, Some(0), "{}", ran.errors);
        (String::from_utf8(ran.out).expect("UTF-8"), ran.errors)
    };
    let (out, _) = errors(&url, &(call(3, "explained") + "\n"));
    assert_eq!(
        out, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-1,\"message\":\"no\"}}\n",
        "the server's own message"
    );
    let (out, _) = errors(&url, &(call(4, "missing") + "\n"));
    assert_eq!(
        out,
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32000,\"message\":\"the server answered with the status 503 Service \
         Unavailable\"}}\n"
    );
    // A port that is closed again.
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let (out, _) = errors(&format!("http://{closed}/"), &format!("[{},{INITIALIZED}]\n", call(5, "x")));
    assert!(
        out.starts_with("{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32000,") && out.lines().count() == 1,
        "{out}"
    );
    let (out, reported) = errors(&format!("http://{closed}/"), &format!("{INITIALIZED}\n"));
    assert!(out.is_empty() && reported.contains("onnect"), "{reported}");
}

#[test]
fn a_wrong_url_or_header_is_a_usage_error() {
    for arguments in [
        &["mcp", "--url", "example.com/mcp"][..],
        &["mcp", "--url", "ftp://example.com/"],
        &["mcp", "--url", "http://127.0.0.1:1/", "--", "true"],
        &["mcp", "--header", "A: b", "--", "true"],
        &["mcp", "--url", "http://127.0.0.1:1/", "--header", "secret"],
    ] {
        let ran = run(arguments, "");
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.errors);
        assert!(!ran.errors.contains("secret"), "a header is not shown: {}", ran.errors);
    }
}
