//! Routes for many servers: by host and path, with several backends.

use crate::gateway::{Gateway, get, head, send, to, upstream};
use crate::proxying::echo;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Starts a server that answers every request with its name, and opens an MCP session with it for `/open`.
fn named(name: &'static str) -> SocketAddr {
    upstream(move |mut socket| {
        loop {
            let seen = head(&mut socket);
            if seen.is_empty() {
                return;
            }
            let length = seen
                .to_lowercase()
                .split("content-length: ")
                .nth(1)
                .map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
            let mut body = vec![0; length];
            let _ = socket.read_exact(&mut body);
            let target = seen.split(' ').nth(1).unwrap();
            let session = if target == "/open" { format!("mcp-session-id: of-{name}\r\n") } else { String::new() };
            let answer = format!("{name} {target}");
            let _ = write!(socket, "HTTP/1.1 200 OK\r\n{session}content-length: {}\r\n\r\n{answer}", answer.len());
        }
    })
}

fn refused() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn routes_by_host_and_path() {
    let (files, search, other) = (named("files"), named("search"), named("other"));
    let config = format!(
        "[[routes]]\npath = \"/files\"\nupstream = \"http://{files}/mcp\"\nstrip = true\n\
         [[routes]]\nhosts = [\"search.example\", \"*.search.example\"]\nupstream = \"http://{search}\"\n"
    );
    let gateway = Gateway::start(&to(other, &config));
    for (host, path, expected) in [
        ("a.example", "/files", "files /mcp"),
        ("a.example", "/files/x?y", "files /mcp/x?y"),
        ("a.example", "/filesystem", "other /filesystem"),
        ("Search.Example:8080", "/x", "search /x"),
        ("eu.search.example", "/files/x", "search /files/x"),
        ("research.example", "/x", "other /x"),
        ("search.example.evil", "/x", "other /x"),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        assert_eq!(send(gateway.traffic, &request).1, expected, "{host} {path}");
    }
}

#[test]
fn a_stripped_prefix_comes_back_in_references() {
    let redirects = upstream(|mut socket| {
        head(&mut socket);
        let _ = write!(socket, "HTTP/1.1 302 Found\r\nlocation: /mcp/next\r\ncontent-length: 0\r\n\r\n");
    });
    let config = format!("[[routes]]\npath = \"/files\"\nupstream = \"http://{redirects}/mcp\"\nstrip = true\n");
    let gateway = Gateway::start(&config);
    let (head, _) = get(gateway.traffic, "/files/x", "");
    assert!(head.contains("location: /files/next"), "{head}");
    assert!(get(gateway.traffic, "/else", "").0.starts_with("http/1.1 404"));
}

fn several(backends: &[SocketAddr], more: &str) -> String {
    let urls: Vec<_> = backends.iter().map(|address| format!("\"http://{address}\"")).collect();
    format!("[[routes]]\nupstreams = [{}]\n{more}", urls.join(", "))
}

/// A session stays with its backend when the configuration is read again, also at another place of the list.
#[test]
fn sessions_stay_over_a_reload() {
    let (a, b, c) = (named("a"), named("b"), named("c"));
    let gateway = Gateway::start(&several(&[a, b], ""));
    let opened = get(gateway.traffic, "/open", "").1;
    let name = &opened[..1];
    let session = format!("mcp-session-id: of-{name}\r\n");
    std::fs::write(&gateway.config, several(&[c, b, a], "")).unwrap();
    gateway.reload();
    for _ in 0..6 {
        assert_eq!(get(gateway.traffic, "/x", &session).1, format!("{name} /x"));
    }
}

#[test]
fn backends_take_turns_and_sessions_stay() {
    let gateway = Gateway::start(&several(&[named("a"), named("b")], ""));
    let mut answers: Vec<_> = (0..4).map(|_| get(gateway.traffic, "/x", "").1).collect();
    answers.sort();
    assert_eq!(answers, ["a /x", "a /x", "b /x", "b /x"]);
    let (head, opened) = get(gateway.traffic, "/open", "");
    let session = head.split("mcp-session-id: ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let owner = &opened[..1];
    for _ in 0..5 {
        let (_, answer) = get(gateway.traffic, "/x", &format!("mcp-session-id: {session}\r\n"));
        assert_eq!(answer, format!("{owner} /x"));
    }
}

/// No request is lost to a backend that cannot be reached: it was not sent yet, so even a POST goes to another.
#[test]
fn a_dead_backend_costs_no_request() {
    let dead = refused();
    let gateway = Gateway::start(&several(&[dead, named("a")], ""));
    for _ in 0..10 {
        let post = "POST /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello";
        assert_eq!(send(gateway.traffic, post).1, "a /x");
    }
    // After three failures it is left out.
    assert_eq!(gateway.metric("stc_upstream_failures_total{cause=\"refused\"}"), 3);
    assert_eq!(gateway.metric(&format!("stc_upstream_in{{upstream=\"http://{dead}\"}}")), 0);
    gateway.says("left out");
    // A client is told only when nothing is left.
    let gateway = Gateway::start(&several(&[refused(), refused()], ""));
    assert!(get(gateway.traffic, "/", "").0.starts_with("http/1.1 502"));
}

/// A request that may have taken effect is not repeated elsewhere; one without effect is.
#[test]
fn only_idempotent_requests_are_repeated() {
    let arrivals = Arc::new(AtomicUsize::new(0));
    let counted = arrivals.clone();
    let closes = upstream(move |mut socket| {
        head(&mut socket);
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let gateway = Gateway::start(&several(&[closes, closes], ""));
    let post = "POST /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello";
    assert!(send(gateway.traffic, post).0.starts_with("http/1.1 502"));
    assert_eq!(arrivals.load(Ordering::Relaxed), 1);
    let gateway = Gateway::start(&several(&[closes, named("a")], ""));
    for _ in 0..4 {
        assert_eq!(get(gateway.traffic, "/x", "").1, "a /x");
    }
}

#[test]
fn health_checks_take_backends_out_and_back() {
    let up = Arc::new(AtomicBool::new(true));
    let state = up.clone();
    let checked = upstream(move |mut socket| {
        let seen = head(&mut socket);
        let fine = state.load(Ordering::Relaxed) || !seen.starts_with("GET /healthy");
        let status = if fine { "200 OK" } else { "500 Internal Server Error" };
        let _ = write!(socket, "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 7\r\n\r\nchecked");
    });
    let health = "health = { path = \"/healthy\", interval = 0.05 }\n";
    let gateway = Gateway::start(&several(&[checked, echo()], health));
    // The echo answers 200 to everything.
    let metric = format!("stc_upstream_in{{upstream=\"http://{checked}\"}}");
    gateway.comes_to(&metric, 1);
    up.store(false, Ordering::Relaxed);
    gateway.comes_to(&metric, 0);
    for _ in 0..6 {
        assert_ne!(get(gateway.traffic, "/x", "").1, "checked");
    }
    up.store(true, Ordering::Relaxed);
    gateway.comes_to(&metric, 1);
    let answers: Vec<_> = (0..6).map(|_| get(gateway.traffic, "/x", "").1).collect();
    assert!(answers.contains(&"checked".to_owned()), "{answers:?}");
}
