//! What a hostile client sends.

use super::gateway::{Gateway, get, head, send, to, upstream};
use crate::upstream::ROWS;
use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn a_request_of_two_lengths_has_one_when_it_leaves() {
    let (arrived, arrivals) = mpsc::channel();
    let spy = upstream(move |mut socket| {
        let seen = head(&mut socket);
        let _ = socket.set_read_timeout(Some(Duration::from_millis(300)));
        let mut body = Vec::new();
        let _ = socket.read_to_end(&mut body);
        arrived.send(format!("{seen}{}", String::from_utf8_lossy(&body))).unwrap();
    });
    let gateway = Gateway::start(&to(spy, "[timeouts]\nresponse = 1\n"));
    let smuggled = "GET /admin HTTP/1.1\r\nhost: h\r\n\r\n";
    let start = "POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n";
    for request in [
        format!("{start}content-length: 4\r\ncontent-length: 5\r\n\r\nabcd{smuggled}"),
        format!("{start}transfer-encoding: xchunked\r\n\r\n{smuggled}"),
        format!("{start}x-a: b\rc: d\r\n\r\n"),
    ] {
        let (head, _) = send(gateway.traffic, &request);
        assert!(head.starts_with("http/1.1 400"), "{request}: {head}");
    }
    assert!(arrivals.try_recv().is_err(), "none of these reached the upstream");
    for (request, whole) in [
        (format!("{start}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"), true),
        (format!("{start}transfer-encoding: chunked\r\n\r\nzz\r\n{smuggled}"), false),
    ] {
        send(gateway.traffic, &request);
        let seen = arrivals.recv_timeout(Duration::from_secs(20)).unwrap().to_lowercase();
        // Of the one that breaks, the upstream may see the beginning or nothing.
        assert!(seen.starts_with("post / ") || !whole, "{seen}");
        assert!(!seen.contains("admin") && !seen.contains("zz"), "{seen}");
        assert!(!(seen.contains("content-length") && seen.contains("transfer-encoding")), "{seen}");
    }
}

#[test]
fn requests_that_are_too_long() {
    let reads = upstream(|mut socket| {
        head(&mut socket);
        let mut body = Vec::new();
        let _ = socket.read_to_end(&mut body);
    });
    let gateway = Gateway::start(&to(reads, "[limits]\nrequest_bytes = 100\n[timeouts]\nresponse = 5\n"));
    let said =
        format!("POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 200\r\n\r\n{}", "x".repeat(200));
    assert!(send(gateway.traffic, &said).0.starts_with("http/1.1 413"));
    let chunk = format!("c8\r\n{}\r\n0\r\n\r\n", "x".repeat(200));
    let unsaid =
        format!("POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n{chunk}");
    assert!(send(gateway.traffic, &unsaid).0.starts_with("http/1.1 413"));
}

#[test]
fn a_tool_name_cannot_break_the_log() {
    let text = serde_json::Value::from(ROWS);
    let message = format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#);
    let answers = upstream(move |mut socket| {
        head(&mut socket);
        let length = message.len();
        let _ = write!(
            socket,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{message}"
        );
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let gateway = Gateway::start(&to(answers, ""));
    let tool = "a\r\n{\"event\":\"response\",\"tool\":\"forged\"}\n";
    let body = serde_json::json!({"id": 1, "method": "tools/call", "params": {"name": tool}}).to_string();
    let asks = "accept: application/json, text/event-stream\r\nx-prefer-format: stc\r\n";
    let length = body.len();
    let start = "POST /mcp HTTP/1.1\r\nhost: h\r\nconnection: close\r\n";
    let (_, got) = send(gateway.traffic, &format!("{start}{asks}content-length: {length}\r\n\r\n{body}"));
    assert!(got.contains("io.stoa/stc"), "{got}");
    let line: serde_json::Value = serde_json::from_str(&gateway.says("forged")).unwrap();
    assert_eq!(line["tool"], tool, "one line, and the name inside it");
    assert!(!get(gateway.admin, "/metrics", "").1.contains("forged"));
}
