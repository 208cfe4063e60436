//! A table of HTTP semantics (RFC 9110 to 9112): each request is sent to an origin server directly and through the gateway,
//! by a client without a preference and, where the response may be converted, by one with it.

use crate::gateway::{Gateway, head, send, to, upstream};
use crate::rows::{ROWS, ROWS_STC};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

const ASKS: &str = "accept-encoding: stc\r\n";
const DATE: &str = "Tue, 10 Nov 2026 10:00:00 GMT";
const LATER: &str = "Wed, 11 Nov 2026 10:00:00 GMT";

/// One row: a request, and what must come back.
struct Case {
    /// The section that says so.
    section: &'static str,
    line: &'static str,
    headers: &'static str,
    body: &'static str,
    status: u16,
    /// Headers that the response has; `name:` alone is one that it does not have.
    has: &'static [&'static str],
    answer: &'static str,
}

const CASE: Case = Case { section: "", line: "GET /doc", headers: "", body: "", status: 200, has: &[], answer: ROWS };

/// What every client gets, directly and through the gateway.
const PLAIN: &[Case] = &[
    Case { section: "9110 9.3.1 GET", has: &["etag: \"v1\"", "content-length: 137"], ..CASE },
    Case {
        section: "9110 9.3.2 HEAD",
        line: "HEAD /doc",
        has: &["etag: \"v1\"", "content-length: 137"],
        answer: "",
        ..CASE
    },
    Case { section: "9110 9.3.3 POST", line: "POST /echo", body: "hello", answer: "POST hello", ..CASE },
    Case { section: "9110 9.3.4 PUT", line: "PUT /echo", body: "x", answer: "PUT x", ..CASE },
    Case { section: "9110 9.3.5 DELETE", line: "DELETE /echo", answer: "DELETE ", ..CASE },
    Case { section: "9110 9.3.7 OPTIONS", line: "OPTIONS /echo", answer: "OPTIONS ", ..CASE },
    Case { section: "9110 9.1 unknown methods", line: "BREW /echo", answer: "BREW ", ..CASE },
    Case {
        section: "9110 13.1.2 If-None-Match",
        headers: "if-none-match: \"v0\", \"v1\"\r\n",
        status: 304,
        has: &["etag: \"v1\""],
        answer: "",
        ..CASE
    },
    Case {
        section: "9110 13.1.2 weak comparison",
        headers: "if-none-match: W/\"v1\"\r\n",
        status: 304,
        answer: "",
        ..CASE
    },
    Case { section: "9110 13.1.2 no match", headers: "if-none-match: \"v0\"\r\n", ..CASE },
    Case { section: "9110 13.1.2 If-None-Match: *", headers: "if-none-match: *\r\n", status: 304, answer: "", ..CASE },
    Case { section: "9110 13.1.1 If-Match", headers: "if-match: \"v1\"\r\n", ..CASE },
    Case { section: "9110 13.1.1 failed", headers: "if-match: \"v0\"\r\n", status: 412, answer: "", ..CASE },
    Case {
        section: "9110 13.1.1 strong comparison",
        headers: "if-match: W/\"v1\"\r\n",
        status: 412,
        answer: "",
        ..CASE
    },
    Case {
        section: "9110 13.1.3 If-Modified-Since",
        headers: "if-modified-since: Wed, 11 Nov 2026 10:00:00 GMT\r\n",
        status: 304,
        answer: "",
        ..CASE
    },
    Case {
        section: "9110 14.2 Range",
        headers: "range: bytes=1-4\r\n",
        status: 206,
        has: &["content-range: bytes 1-4/137", "content-length: 4"],
        answer: "{\"id",
        ..CASE
    },
    Case {
        section: "9110 14.2 unsatisfiable",
        headers: "range: bytes=999-\r\n",
        status: 416,
        has: &["content-range: bytes */137"],
        answer: "",
        ..CASE
    },
    Case {
        section: "9110 13.1.5 If-Range",
        headers: "range: bytes=0-0\r\nif-range: \"v1\"\r\n",
        status: 206,
        answer: "[",
        ..CASE
    },
    Case { section: "9110 13.1.5 changed", headers: "range: bytes=0-0\r\nif-range: \"v0\"\r\n", ..CASE },
    Case {
        section: "9110 15.3.5 204",
        line: "GET /empty",
        status: 204,
        has: &["content-length:", "transfer-encoding:"],
        answer: "",
        ..CASE
    },
    Case {
        section: "9110 15.4 redirects",
        line: "GET /moved",
        status: 307,
        has: &["location: /doc?x=1"],
        answer: "",
        ..CASE
    },
    Case {
        section: "9110 8.4 codings of the origin",
        line: "GET /coded",
        has: &["content-encoding: x-own"],
        answer: "coded",
        ..CASE
    },
    Case { section: "9112 7.1 chunked", line: "GET /chunked", has: &["content-length:"], answer: "one two", ..CASE },
    Case { section: "9112 6.3 until the end", line: "GET /until-closed", answer: "until closed", ..CASE },
    Case {
        section: "9110 10.1.1 Expect",
        line: "POST /echo",
        headers: "expect: 100-continue\r\n",
        body: "x",
        answer: "POST x",
        ..CASE
    },
    Case {
        section: "9110 5.3 repeated headers",
        line: "GET /twice",
        has: &["x-twice: 1", "x-twice: 2", "set-cookie: a=1", "set-cookie: b=2"],
        answer: "",
        ..CASE
    },
    Case {
        section: "9110 4.2.3 the path and the query as they are",
        line: "GET /echo-path/...a%20b%3Ac/d;e=f/?g=%20%2e&%2F//../&h",
        answer: "/echo-path/...a%20b%3Ac/d;e=f/?g=%20%2e&%2F//../&h",
        ..CASE
    },
];

/// What a client with a preference for STC gets through the gateway.
const CONVERTED: &[Case] = &[
    Case {
        section: "9110 9.3.1 GET",
        has: &["etag: \"v1-stc1\"", "content-length: 74", "content-encoding: stc"],
        answer: ROWS_STC,
        ..CASE
    },
    Case {
        section: "9110 9.3.2 HEAD",
        line: "HEAD /doc",
        has: &["etag: \"v1-stc1\"", "content-length: 74", "content-encoding: stc"],
        answer: "",
        ..CASE
    },
    Case {
        section: "9110 13.1.2 If-None-Match",
        headers: "if-none-match: \"v1-stc1\"\r\n",
        status: 304,
        has: &["etag: \"v1-stc1\"", "vary: accept, accept-encoding, x-prefer-format, x-stc-version"],
        answer: "",
        ..CASE
    },
    Case { section: "9110 13.1.2 another form", headers: "if-none-match: \"v1-stc2\"\r\n", answer: ROWS_STC, ..CASE },
    Case { section: "9110 13.1.1 If-Match", headers: "if-match: \"v1-stc1\"\r\n", answer: ROWS_STC, ..CASE },
    Case { section: "9110 13.1.1 failed", headers: "if-match: \"v0-stc1\"\r\n", status: 412, answer: "", ..CASE },
    Case {
        section: "9110 14.2 Range",
        headers: "range: bytes=1-4\r\n",
        status: 206,
        has: &["content-range: bytes 1-4/137", "etag: \"v1\""],
        answer: "{\"id",
        ..CASE
    },
    Case {
        section: "9110 13.1.5 If-Range",
        headers: "range: bytes=0-0\r\nif-range: \"v1-stc1\"\r\n",
        answer: ROWS_STC,
        ..CASE
    },
    Case { section: "9110 15.3.5 204", line: "GET /empty", status: 204, has: &["x-stc-skipped:"], answer: "", ..CASE },
    Case {
        section: "9110 8.3 the original type",
        line: "GET /problem",
        has: &["content-type: application/stc+json", "x-stc-content-type: application/problem+json"],
        answer: ROWS_STC,
        ..CASE
    },
];

/// An origin server with the semantics that the table needs.
fn origin() -> SocketAddr {
    upstream(|mut socket| {
        let seen = head(&mut socket);
        if !seen.is_empty() {
            let answer = answer(&seen, &mut socket);
            let _ = socket.write_all(answer.as_bytes());
        }
    })
}

fn answer(seen: &str, socket: &mut TcpStream) -> String {
    let value = |name: &str| {
        let mut lines = seen.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let mut words = seen.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    if value("expect").is_some() {
        let _ = write!(socket, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    let mut body = vec![0; value("content-length").map_or(0, |length| length.parse().unwrap())];
    socket.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let whole = |status: &str, headers: &str, body: &str| {
        let sent = if method == "HEAD" { "" } else { body };
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{sent}", body.len())
    };
    match target {
        "/echo" => whole("200 OK", "", &format!("{method} {body}")),
        "/empty" => "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned(),
        "/moved" => whole("307 Temporary Redirect", "location: /doc?x=1\r\n", ""),
        "/coded" => whole("200 OK", "content-type: application/json\r\ncontent-encoding: x-own\r\n", "coded"),
        "/chunked" => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n4;a=b\r\none \r\n3\r\ntwo\r\n0\r\n\r\n".to_owned(),
        "/until-closed" => "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil closed".to_owned(),
        "/twice" => whole("200 OK", "x-twice: 1\r\nx-twice: 2\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n", ""),
        "/problem" => whole("200 OK", "content-type: application/problem+json\r\n", ROWS),
        path if path.starts_with("/echo-path") => whole("200 OK", "", path),
        _ => document(&value, whole),
    }
}

/// Answers for `/doc`, which has the tag `"v1"` and was changed at [`DATE`].
fn document(value: &impl Fn(&str) -> Option<String>, whole: impl Fn(&str, &str, &str) -> String) -> String {
    let tags = |name: &str| {
        let line = value(name)?;
        Some(line.split(',').map(|tag| tag.trim().to_owned()).collect::<Vec<_>>())
    };
    let meta = format!("content-type: application/json\r\netag: \"v1\"\r\nlast-modified: {DATE}\r\n");
    if tags("if-match").is_some_and(|tags| !tags.iter().any(|tag| tag == "*" || tag == "\"v1\"")) {
        return whole("412 Precondition Failed", "", "");
    }
    let unchanged = match tags("if-none-match") {
        Some(tags) => tags.iter().any(|tag| tag == "*" || tag.trim_start_matches("W/") == "\"v1\""),
        None => value("if-modified-since").is_some_and(|date| date == LATER),
    };
    if unchanged {
        return format!("HTTP/1.1 304 Not Modified\r\n{meta}connection: close\r\n\r\n");
    }
    let range = value("range").filter(|_| value("if-range").is_none_or(|tag| tag == "\"v1\""));
    let Some(range) = range else { return whole("200 OK", &meta, ROWS) };
    let (first, last) = range.trim_start_matches("bytes=").split_once('-').unwrap();
    let first: usize = first.parse().unwrap();
    if first >= ROWS.len() {
        return whole("416 Range Not Satisfiable", &format!("content-range: bytes */{}\r\n", ROWS.len()), "");
    }
    let last: usize = last.parse().unwrap();
    let part = &ROWS[first..=last];
    whole("206 Partial Content", &format!("{meta}content-range: bytes {first}-{last}/{}\r\n", ROWS.len()), part)
}

/// Joins a chunked body.
fn unchunked(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.split(';').next().unwrap(), 16).unwrap();
        whole.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    whole
}

fn check(address: SocketAddr, case: &Case, more: &str, way: &str) {
    let Case { section, line, headers, body, status, has, answer } = case;
    let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let request = format!("{line} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{headers}{more}{length}\r\n{body}");
    let (mut head, mut got) = send(address, &request);
    if head.starts_with("http/1.1 100") {
        let (next, rest) = got.split_once("\r\n\r\n").unwrap();
        (head, got) = (next.to_lowercase(), rest.to_owned());
    }
    let shown = format!("RFC {section}, {way}: {head}");
    assert!(head.starts_with(&format!("http/1.1 {status} ")), "{shown}");
    for expected in *has {
        let absent = expected.strip_suffix(':').map(|_| *expected);
        match absent {
            Some(name) => assert!(!head.contains(&format!("\n{name}")), "{name} in {shown}"),
            None => assert!(format!("{head}\r").contains(&format!("\n{expected}\r")), "no {expected}: {shown}"),
        }
    }
    let got = if head.contains("transfer-encoding: chunked") { unchunked(&got) } else { got };
    assert_eq!(got, *answer, "{shown}");
}

#[test]
fn direct_and_through_are_the_same() {
    let origin = origin();
    let gateway = Gateway::start(&to(origin, ""));
    for case in PLAIN {
        check(origin, case, "", "direct");
        check(gateway.traffic, case, "", "through");
    }
}

#[test]
fn converted_responses_keep_the_semantics() {
    let gateway = Gateway::start(&to(origin(), ""));
    for case in CONVERTED {
        check(gateway.traffic, case, ASKS, "with a preference");
    }
    // Nothing to convert: the same as without a preference.
    for case in PLAIN.iter().filter(|case| !case.line.ends_with("/doc")) {
        check(gateway.traffic, case, ASKS, "with a preference");
    }
}
