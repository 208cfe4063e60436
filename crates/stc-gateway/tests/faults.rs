//! Faults around the program: failing upstreams, clients that disconnect, a full disk.

use crate::gateway::{Gateway, answers, get, head, json_upstream, to, upstream};
use crate::rows::{ROWS, ROWS_STC};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const ASKS: &str = "accept-encoding: stc\r\n";
const JSON: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const IMPATIENT: &str = "[timeouts]\nresponse = 2\nidle = 2\n[stc]\nmin_bytes = 1\n";

#[test]
fn a_failing_upstream_gives_an_answer_of_the_gateway() {
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = upstream(|mut socket| {
        head(&mut socket);
        thread::sleep(Duration::from_secs(60));
    });
    for (address, status, failure) in [
        (refused, "502", "refused"),
        (silent, "504", "timeout"),
        (answers("what?\r\n\r\n"), "502", "malformed"),
        (answers(""), "502", "closed"),
        (answers("HTTP/1.1 200 OK\r\ncontent-le"), "502", "closed"),
        (answers("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd"), "502", "malformed"),
    ] {
        let gateway = Gateway::start(&to(address, IMPATIENT));
        for headers in [ASKS, ""] {
            let (head, body) = get(gateway.traffic, "/", headers);
            assert!(head.starts_with(&format!("http/1.1 {status}")) && body.contains("error"), "{head}");
        }
        assert_eq!(gateway.metric(&format!("stc_upstream_failures_total{{cause=\"{failure}\"}}")), 2);
        gateway.says(failure);
    }
}

/// The client can tell that the response is incomplete, and gets nothing that the upstream did not send.
#[test]
fn an_incomplete_body_stays_incomplete() {
    let stalls = upstream(|mut socket| {
        head(&mut socket);
        let _ = write!(socket, "{JSON}content-length: 99\r\n\r\n[1,");
        thread::sleep(Duration::from_secs(60));
    });
    for (address, failure) in [
        (stalls, "silent"),
        (answers(format!("{JSON}content-length: 999\r\n\r\n[1,")), "broken"),
        (answers(format!("{JSON}transfer-encoding: chunked\r\n\r\n3\r\n[1,\r\n")), "broken"),
        (answers(format!("{JSON}transfer-encoding: chunked\r\n\r\n3\r\n[1,\r\nzz\r\n")), "broken"),
    ] {
        let gateway = Gateway::start(&to(address, IMPATIENT));
        // Nothing was sent while the body was collected: the client gets a whole answer.
        let (head, body) = get(gateway.traffic, "/", ASKS);
        assert!(head.starts_with("http/1.1 502") && body.contains("error"), "{failure}: {head:?}");
        for headers in ["", ""] {
            let (head, body) = get(gateway.traffic, "/", headers);
            let said = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            assert_ne!(said, Some(body.len()), "{head}");
            assert!(!body.ends_with("0\r\n\r\n"), "no last chunk: {body}");
            assert!("3\r\n[1,\r\n".starts_with(&body) || "[1,".starts_with(&body), "{body}");
        }
        assert_eq!(gateway.metric(&format!("stc_upstream_failures_total{{cause=\"{failure}\"}}")), 3);
        gateway.comes_to("stc_requests", 0);
    }
}

#[test]
fn bytes_past_the_content_length_are_dropped() {
    let length = ROWS.len();
    let gateway =
        Gateway::start(&to(answers(format!("{JSON}content-length: {length}\r\n\r\n{ROWS}HTTP/1.1 200 OK\r\n")), ""));
    for _ in 0..3 {
        assert_eq!(get(gateway.traffic, "/", "").1, ROWS);
        assert_eq!(get(gateway.traffic, "/", ASKS).1, ROWS_STC);
    }
}

#[test]
fn broken_json_and_broken_events_pass_unchanged() {
    let broken = &ROWS[..ROWS.len() - 1];
    let gateway = Gateway::start(&to(answers(format!("{JSON}content-length: {}\r\n\r\n{broken}", broken.len())), ""));
    let (head, body) = get(gateway.traffic, "/", ASKS);
    assert!(head.contains("x-stc-skipped: invalid"), "{head}");
    assert_eq!(body, broken);

    let events = "data: {\"id\":1,\ndata\n\n\n\n:\u{0}\ndata: [}\r\rretry: x\nid: \u{fffd}\n\ndata: {\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"[1\"";
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}");
    let gateway = Gateway::start(&to(answers(answer), ""));
    let (_, body) = get(gateway.traffic, "/", &format!("{ASKS}mcp-protocol-version: 2025-06-18\r\n"));
    assert_eq!(unchunked(&body), events);
}

/// A gigabyte of JSON rows passes, with and without a preference, and is never all in memory.
#[test]
fn a_gigabyte_is_not_held() {
    const CHUNK: usize = 1 << 20;
    let giant = upstream(|mut socket| {
        let asked = head(&mut socket);
        let said = if asked.contains("/said") { format!("content-length: {}\r\n", CHUNK << 10) } else { String::new() };
        let _ = write!(socket, "{JSON}{said}connection: close\r\n\r\n");
        let chunk = "[1,2,3],".repeat(CHUNK / 8);
        for _ in 0..1024 {
            if socket.write_all(chunk.as_bytes()).is_err() {
                return;
            }
        }
    });
    let gateway = Gateway::start(&to(giant, ""));
    let mut most = 0;
    for (path, headers, skipped) in [("/unsaid", ASKS, true), ("/said", ASKS, true), ("/said", "", false)] {
        let mut socket = TcpStream::connect(gateway.traffic).unwrap();
        write!(socket, "GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{headers}\r\n").unwrap();
        let (mut buffer, mut length) = (vec![0; CHUNK], 0);
        let mut beginning = Vec::new();
        loop {
            let count = socket.read(&mut buffer).unwrap();
            if beginning.len() < 1000 {
                beginning.extend_from_slice(&buffer[..count]);
            }
            if count == 0 {
                break;
            }
            if length / (64 * CHUNK) != (length + count) / (64 * CHUNK) {
                most = most.max(gateway.resident());
            }
            length += count;
        }
        assert!(length > CHUNK << 10, "{path}: {length} bytes came");
        let beginning = String::from_utf8_lossy(&beginning).to_lowercase();
        assert_eq!(beginning.contains("x-stc-skipped: too-large"), skipped, "{beginning:.300}");
    }
    assert!(most < 100, "{most} MB");
}

#[test]
fn a_disconnected_client_ends_its_request() {
    let (noticed, notices) = mpsc::channel();
    let patient = upstream(move |mut socket| {
        head(&mut socket);
        let _ = write!(socket, "{JSON}content-length: 1000\r\n\r\n[");
        // Nothing more until the gateway closes.
        let _ = socket.read(&mut [0]);
        let _ = noticed.send(());
    });
    let gateway = Gateway::start(&to(patient, ""));
    for headers in ["", ASKS] {
        let mut socket = TcpStream::connect(gateway.traffic).unwrap();
        write!(socket, "GET / HTTP/1.1\r\nhost: h\r\n{headers}\r\n").unwrap();
        gateway.comes_to("stc_requests", 1);
        drop(socket);
        notices.recv_timeout(Duration::from_secs(20)).expect("the upstream's connection is closed too");
        gateway.comes_to("stc_requests", 0);
        gateway.comes_to("stc_connections", 0);
    }
}

#[test]
fn a_full_disk_under_the_log_delays_no_request() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let gateway = Gateway::start_with(&to(json_upstream(), ""), Stdio::from(full));
    for _ in 0..20 {
        assert_eq!(get(gateway.traffic, "/", ASKS).1, ROWS_STC);
    }
    // Two lines for each request, and those of the start.
    gateway.comes_to("stc_lost_log_lines_total", 42);
}

/// Joins a chunked body; returns any other body unchanged.
fn unchunked(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else { return body.to_owned() };
        whole.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    whole
}
