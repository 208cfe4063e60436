//! The log: what a stranger learns from a line.

use crate::gateway::{Gateway, answers, get, head, json_upstream, send, to, upstream};
use crate::rows::{ROWS, ROWS_STC};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

fn line(gateway: &Gateway, what: &str) -> serde_json::Value {
    serde_json::from_str(&gateway.says(what)).unwrap()
}

#[test]
fn every_request_has_a_line() {
    let upstream = json_upstream();
    let config = "[[plugins]]\nname = \"tenant\"\n";
    let gateway = Gateway::start(&to(upstream, config));
    get(gateway.traffic, "/rows?secret=1", "x-tenant: blue\r\nx-request-id: one\r\n");
    let seen = line(&gateway, "\"access\"");
    for (name, value) in [
        ("level", "INFO".into()),
        ("method", "GET".into()),
        ("path", "/rows".into()),
        ("status", 200.into()),
        ("upstream", format!("http://{upstream}").into()),
        ("tenant", "blue".into()),
        ("request_id", "one".into()),
        ("bytes_received", 0.into()),
        ("bytes_sent", ROWS.len().into()),
        ("complete", true.into()),
        ("format", serde_json::Value::Null),
        ("reason", serde_json::Value::Null),
    ] {
        assert_eq!(seen[name], value, "{name}: {seen}");
    }
    assert!(seen["milliseconds"].as_f64().is_some_and(|took| took > 0.0) && seen["timestamp"].is_string(), "{seen}");
    assert!(!seen.to_string().contains("secret"), "{seen}");
    let post =
        "POST /rows HTTP/1.1\r\nhost: h\r\nconnection: close\r\naccept-encoding: stc\r\ncontent-length: 5\r\n\r\nhello";
    send(gateway.traffic, post);
    let seen = line(&gateway, "\"access\"");
    assert_eq!((&seen["bytes_received"], &seen["bytes_sent"]), (&5.into(), &ROWS_STC.len().into()));
    assert_eq!(seen["format"], "stc1");
    get(gateway.traffic, "/rows", "accept-encoding: stc\r\ncache-control: no-transform\r\n");
    assert_eq!(line(&gateway, "\"access\"")["reason"], "no-transform");
    send(gateway.traffic, "GET / HTTP/1.1\r\nconnection: close\r\n\r\n");
    assert_eq!(line(&gateway, "\"access\"")["status"], 400);
}

#[test]
fn a_response_that_was_given_up_says_so() {
    let broken = answers("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc");
    let gateway = Gateway::start(&to(broken, ""));
    get(gateway.traffic, "/", "");
    let seen = line(&gateway, "\"access\"");
    assert_eq!((&seen["complete"], &seen["bytes_sent"]), (&false.into(), &3.into()), "{seen}");
}

/// Each failure of an upstream has a line from which its cause can be named.
#[test]
fn failures_of_upstreams_are_named() {
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = upstream(|mut socket| {
        head(&mut socket);
        thread::sleep(Duration::from_secs(60));
    });
    let stops = upstream(|mut socket| {
        head(&mut socket);
        let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc");
        thread::sleep(Duration::from_secs(60));
    });
    let headers: String = (0..150).map(|number| format!("x-{number}: 1\r\n")).collect();
    let large = answers(format!("HTTP/1.1 200 OK\r\n{headers}\r\n"));
    let not_tls = upstream(|mut socket| {
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = socket.read(&mut [0; 1024]);
    });
    let plain = |address| format!("http://{address}");
    for (url, cause, why) in [
        (plain(refused), "refused", "refused"),
        ("http://no-such-host.invalid".to_owned(), "dns", "dns error"),
        (format!("https://{not_tls}"), "tls", "corrupt message"),
        (plain(answers("what?\r\n\r\n")), "malformed", "invalid HTTP"),
        (plain(answers("")), "closed", "connection closed before message completed"),
        (plain(large), "large-head", "message head is too large"),
        (plain(silent), "timeout", "no head of a response"),
        (plain(answers("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")), "broken", "end of file"),
        (plain(stops), "silent", "no byte for 2s"),
    ] {
        let gateway = Gateway::start(&format!("upstream = \"{url}\"\n[timeouts]\nresponse = 2\nidle = 2\n"));
        get(gateway.traffic, "/x?secret=1", "x-request-id: seven\r\n");
        let seen = line(&gateway, "\"cause\"");
        assert_eq!((&seen["cause"], &seen["level"]), (&cause.into(), &"WARN".into()), "{seen}");
        assert_eq!((&seen["upstream"], &seen["request_id"]), (&url.clone().into(), &"seven".into()), "{seen}");
        assert!(seen["why"].as_str().unwrap().contains(why), "{seen}");
        assert!(!seen.to_string().contains("secret"), "{seen}");
    }
}

/// A backend that gets no requests has a line that says why.
#[test]
fn backends_that_are_left_out_are_explained() {
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let busy = answers("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    for (address, field, value, why) in
        [(refused, "cause", "refused".into(), "refused"), (busy, "status", 503.into(), "")]
    {
        let route =
            format!("[[routes]]\npath = \"/a\"\nupstream = \"http://{address}\"\nhealth = {{ path = \"/h\" }}\n");
        let gateway = Gateway::start(&to(json_upstream(), &route));
        let seen = line(&gateway, "\"health check\"");
        assert_eq!((&seen["state"], &seen[field]), (&"down".into(), &value), "{seen}");
        assert_eq!(seen["upstream"], format!("http://{address}"), "{seen}");
        assert!(seen["why"].as_str().unwrap_or_default().contains(why), "{seen}");
    }
    let gateway = Gateway::start(&to(busy, ""));
    for _ in 0..3 {
        get(gateway.traffic, "/", "");
    }
    let seen = line(&gateway, "\"left out\"");
    assert_eq!((&seen["status"], &seen["seconds"]), (&503.into(), &10.into()), "{seen}");
    let gateway = Gateway::start(&to(refused, ""));
    for _ in 0..3 {
        get(gateway.traffic, "/", "");
    }
    let seen = line(&gateway, "\"left out\"");
    assert_eq!((&seen["status"], &seen["seconds"]), (&serde_json::Value::Null, &10.into()), "{seen}");
}

#[test]
fn the_start_has_version_routes_and_limits() {
    let address = json_upstream();
    let route = format!("[[routes]]\npath = \"/mcp\"\nupstream = \"http://{address}/v1\"\nstrip = true\n");
    let gateway = Gateway::start(&to(address, &route));
    let seen = line(&gateway, "\"started\"");
    assert_eq!(seen["version"], env!("CARGO_PKG_VERSION"));
    assert!(seen["limits"].as_str().unwrap().contains("requests: 1000"), "{seen}");
    let seen = line(&gateway, "\"route\"");
    assert_eq!((&seen["path"], &seen["upstream"]), (&"/mcp".into(), &format!("http://{address}/v1").into()), "{seen}");
    assert_eq!(line(&gateway, "\"route\"")["path"], "/");
}

#[test]
fn text_and_levels() {
    let gateway = Gateway::start(&to(json_upstream(), "log = \"text\"\nlog_level = \"warn,access=info\"\n"));
    get(gateway.traffic, "/a%22b", "accept-encoding: stc\r\nx-request-id: one\r\n");
    let seen = gateway.says("access");
    for expected in ["INFO", "access: request", "method=\"GET\"", "path=\"/a%22b\"", "status=200", "request_id=\"one\""]
    {
        assert!(seen.contains(expected), "{expected}: {seen}");
    }
    assert!(!seen.contains('{') && !seen.contains('\u{1b}'), "{seen}");
    let gateway = Gateway::start(&to(json_upstream(), "log_level = \"warn\"\n"));
    get(gateway.traffic, "/", "accept-encoding: stc\r\n");
    gateway.signal("-TERM");
    // Nothing but the operator's messages on the error output.
    gateway.says("draining");
}
