//! Configured plugins.

use crate::gateway::{Gateway, answers, get, head, send, to, upstream};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

const USERS: &str = r#"[{"id": 1, "mail": "ada@example.org", "admin": true}, {"id": 2, "mail": "bob@example.org", "admin": false}, {"id": 3, "mail": "cy@example.org", "admin": false}]"#;

/// Answers with the users, or with the request if the path is `/echo`.
fn users() -> SocketAddr {
    upstream(|mut socket| {
        let asked = head(&mut socket);
        let length =
            asked.to_lowercase().split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        let mut sent = vec![0; length.unwrap_or(0)];
        let _ = socket.read_exact(&mut sent);
        let sent = String::from_utf8(sent).unwrap();
        let body = if asked.contains(" /echo") { format!("{asked}{sent}") } else { USERS.to_owned() };
        let kind = if asked.contains("/events") { "text/event-stream" } else { "application/json" };
        let length = body.len();
        let _ = write!(
            socket,
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nserver: secret\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
    })
}

const MASK: &str = "[[plugins]]\nname = \"mask-emails\"\npriority = 100\nrequired = true\nroutes = [\"/users\", \"/events\"]\nsettings = { replacement = \"-\" }\n";

#[test]
fn a_filter_runs_before_compression() {
    let gateway = Gateway::start(&to(users(), &format!("[stc]\nmin_bytes = 1\n{MASK}")));
    let masked = USERS.replace("ada@example.org", "-").replace("bob@example.org", "-").replace("cy@example.org", "-");
    let (head, body) = get(gateway.traffic, "/users", "");
    assert_eq!(body, masked, "{head}");
    assert!(!head.contains("vary"), "the response does not depend on a preference: {head}");
    assert!(head.contains(&format!("content-length: {}", masked.len())), "{head}");
    let (head, body) = get(gateway.traffic, "/users", "accept-encoding: stc\r\n");
    assert!(head.contains("content-encoding: stc"), "{head}");
    assert_eq!(stc::decode(body.as_bytes()).unwrap(), stc::decode(masked.as_bytes()).unwrap());
    // Not bound to this route.
    assert_eq!(get(gateway.traffic, "/others", "").1, USERS);
    // An endless stream cannot be held, and the filter is required.
    let (head, body) = get(gateway.traffic, "/events", "");
    assert!(head.starts_with("http/1.1 502") && !body.contains("example.org"), "{head} {body}");
}

/// Secrets are gone from responses before they are compressed, in bodies of any length; JSON stays JSON.
#[test]
fn secrets_are_replaced_in_responses() {
    let password = ["Tr0ub", "4dor!3x"].concat();
    let small = format!(
        r#"[{{"id": 1, "note": "login with password=\"{password}\"", "url": "https://ada:{password}@git.example/"}}]"#
    );
    let small = serde_json::json!([{"id": 1, "note": small, "password": password, "url": format!("https://a:{password}@b.example/")}]);
    let small = small.to_string();
    let rows = r#"{"id": 7, "name": "an ordinary row"}, "#.repeat(20_000);
    let large = format!(r#"[{rows}{{"password": "{password}"}}]"#);
    let answers = std::sync::Arc::new((small, large));
    let held = answers.clone();
    let server = upstream(move |mut socket| {
        let asked = head(&mut socket);
        let body = if asked.contains(" /large") { &held.1 } else { &held.0 };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let _ = socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(body.as_bytes()));
    });
    let plugin = "[[plugins]]\nname = \"redact-secrets\"\nrequired = true\n";
    let gateway = Gateway::start(&to(server, &format!("[stc]\nmin_bytes = 1\n{plugin}")));
    for (path, original) in [("/small", &answers.0), ("/large", &answers.1)] {
        let (head, body) = get(gateway.traffic, path, "");
        assert!(head.starts_with("http/1.1 200") && !body.contains(&password), "{head}");
        assert!(
            body.contains(r#""password":"[redacted:password]""#)
                || body.contains(r#""password": "[redacted:password]""#)
        );
        let rows = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap().as_array().unwrap().len();
        assert_eq!(rows(&body), rows(original));
        let (head, packed) = get(gateway.traffic, path, "accept-encoding: stc\r\n");
        assert!(head.contains("content-encoding: stc") && !packed.contains(&password), "{head}");
    }
}

/// Answers with a secret in the way that the path says, and with a part of it where a range is asked for.
fn secrets(secret: String) -> SocketAddr {
    use flate2::{Compression, write::GzEncoder};
    let (start, end) = (secret[..20].to_owned(), secret[20..].to_owned());
    let document = format!(r#"{{"a":"{}","key":"{secret}","b":"{}"}}"#, "x".repeat(50), "y".repeat(50));
    let delta =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let stream = ["the key is ", &start, &end, "."].map(delta).concat();
    let answer = move |path: &str, range: bool| -> (&'static str, &'static str, Vec<u8>) {
        let plain = document.clone().into_bytes();
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        match path {
            _ if range => {
                ("206 Partial Content", "application/json\r\ncontent-range: bytes 0-9/200", plain[..80].to_vec())
            }
            "/utf-16" => ("200 OK", "application/json; charset=utf-16", [vec![0xff, 0xfe], wide(&document)].concat()),
            "/utf-16-silent" => ("200 OK", "application/json", wide(&document)),
            "/utf-7" => ("200 OK", "application/json; charset=utf-7", plain),
            "/gzip" => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&plain).unwrap();
                ("200 OK", "application/json", encoder.finish().unwrap())
            }
            "/noise" => ("200 OK", "application/json", [&[0x8b, 0x02, 0x80, 0xff].repeat(30), &plain[..]].concat()),
            "/deflate" => ("200 OK", "application/json\r\ncontent-encoding: deflate", plain),
            "/part" => ("206 Partial Content", "application/json\r\ncontent-range: bytes 0-9/200", plain),
            "/parts" => ("200 OK", "multipart/byteranges; boundary=a", plain),
            "/late" => {
                ("200 OK", "application/json", [secret.as_bytes(), &b"aws_session_token=".repeat(20_000)].concat())
            }
            "/stream" => ("200 OK", "text/event-stream", stream.clone().into_bytes()),
            "/upgrade" => ("101 Switching Protocols", "text/plain\r\nconnection: upgrade\r\nupgrade: websocket", plain),
            _ => ("200 OK", "application/json\r\netag: \"1\"", plain),
        }
    };
    upstream(move |mut socket| {
        let asked = head(&mut socket).to_lowercase();
        let path = asked.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, kind, body) = answer(&path, asked.contains("range: "));
        let length = body.len();
        let close = if status.starts_with("101") {
            String::new()
        } else {
            format!("content-length: {length}\r\nconnection: close\r\n")
        };
        let _ = write!(socket, "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{close}\r\n");
        let _ = socket.write_all(&body);
    })
}

/// Sends a request; returns the head, and the body as bytes.
fn ask(to: SocketAddr, method: &str, path: &str, lines: &str) -> (String, Vec<u8>) {
    let mut socket = TcpStream::connect(to).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let close = if lines.contains("upgrade") { "" } else { "connection: close\r\n" };
    write!(socket, "{method} {path} HTTP/1.1\r\nhost: h\r\n{close}{lines}content-length: 0\r\n\r\n").unwrap();
    let mut got = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = socket.read(&mut chunk) {
        got.extend_from_slice(&chunk[..length]);
        // What follows a change of protocols does not end.
        if lines.contains("upgrade") && got.windows(4).any(|end| end == b"\r\n\r\n") {
            break;
        }
    }
    let end = got.windows(4).position(|end| end == b"\r\n\r\n").expect("a head");
    (String::from_utf8_lossy(&got[..end]).to_lowercase(), got[end + 4..].to_vec())
}

/// No part of a secret passes a required plugin, whatever a client asks for and however the upstream answers.
#[test]
fn responses_that_hide_a_secret_are_read_or_refused() {
    let secret = ["ghp_", "k7QzT2mWx9Rb4LhVs8NdP3cYj6GfA5tHuJ1e"].concat();
    let server = secrets(secret.clone());
    let plugin = "[[plugins]]\nname = \"redact-secrets\"\nrequired = true\ntimeout = 20\n";
    let gateway = Gateway::start(&to(server, plugin));
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\nsec-websocket-version: 13\r\n";
    for (method, path, lines, status) in [
        ("GET", "/plain", "", "200"),
        ("GET", "/plain", "range: bytes=0-79\r\n", "200"),
        ("GET", "/plain", "range: bytes=0-79\r\nif-range: \"1\"\r\n", "200"),
        ("GET", "/utf-16", "", "200"),
        ("GET", "/utf-16-silent", "", "200"),
        ("GET", "/gzip", "", "200"),
        ("POST", "/stream", "", "200"),
        ("GET", "/stream", "", "502"),
        ("GET", "/utf-7", "", "502"),
        ("GET", "/noise", "", "502"),
        ("GET", "/deflate", "", "502"),
        ("GET", "/part", "", "502"),
        ("GET", "/parts", "", "502"),
        ("GET", "/late", "", "502"),
        ("GET", "/upgrade", upgrade, "502"),
    ] {
        let (head, body) = ask(gateway.traffic, method, path, lines);
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{path}: {head}");
        let text = String::from_utf8_lossy(&body).replace('\0', "");
        let leaks = (0..secret.len() - 8).any(|at| text.contains(&secret[at..at + 8]));
        assert!(!leaks, "{path} {lines}: {text}");
        assert!(status == "502" || text.contains("[redacted:github-token]"), "{path}: {text}");
        assert!(status == "502" || !head.contains("content-range"), "{path}: {head}");
    }
    // As STC too, and with a head alone.
    let (head, body) = ask(gateway.traffic, "GET", "/plain", "x-prefer-format: stc2\r\n");
    assert!(!String::from_utf8_lossy(&body).contains(&secret[..20]), "{head}");
    assert!(ask(gateway.traffic, "HEAD", "/plain", "").0.starts_with("http/1.1 200"));
}

/// Where the plugin is not required, what it cannot read passes, and is counted.
#[test]
fn responses_that_cannot_be_read_are_counted() {
    let secret = ["ghp_", "k7QzT2mWx9Rb4LhVs8NdP3cYj6GfA5tHuJ1e"].concat();
    let gateway = Gateway::start(&to(secrets(secret.clone()), "[[plugins]]\nname = \"redact-secrets\"\n"));
    let faults = "stc_plugin_faults_total";
    let paths = ["/utf-7", "/noise", "/deflate", "/part", "/parts"];
    for (number, path) in paths.iter().enumerate() {
        assert_eq!(gateway.metric(faults), number as u64, "{path}");
        let (_, body) = ask(gateway.traffic, "GET", path, "");
        assert!(String::from_utf8_lossy(&body).contains(&secret), "{path}");
    }
    assert_eq!(gateway.metric(faults), paths.len() as u64);
    let (_, body) = ask(gateway.traffic, "POST", "/stream", "");
    assert!(!String::from_utf8_lossy(&body).contains(&secret[20..]));
    assert_eq!(gateway.metric(faults), paths.len() as u64);
}

#[test]
fn tenants_and_headers() {
    let text = "[[plugins]]\nname = \"tenant\"\npriority = 1\nsettings = { header = \"x-team\", required = true }\n\
        [[plugins]]\nname = \"headers\"\ntenants = [\"blue-*\"]\n\
        settings = { request = { set = { authorization = \"Bearer 7\" }, remove = [\"cookie\"] }, response = { remove = [\"server\"] } }\n";
    let gateway = Gateway::start(&to(users(), text));
    let (head, body) = get(gateway.traffic, "/echo", "");
    assert!(head.starts_with("http/1.1 403") && body.contains("no tenant"), "{head} {body}");
    let (head, body) = get(gateway.traffic, "/echo", "x-team: blue-1\r\ncookie: c\r\n");
    assert!(
        !head.contains("server:") && body.contains("authorization: Bearer 7") && !body.contains("cookie"),
        "{head} {body}"
    );
    let (head, body) = get(gateway.traffic, "/echo", "x-team: red\r\ncookie: c\r\n");
    assert!(head.contains("server: secret") && body.contains("cookie: c") && !body.contains("Bearer"), "{head} {body}");
}

#[test]
fn conditions_on_tools_read_the_request_and_leave_it_unchanged() {
    let text = "[[plugins]]\nname = \"headers\"\ntools = [\"list_*\"]\nsettings = { request = { set = { x-listing = \"1\" } } }\n";
    let gateway = Gateway::start(&to(users(), text));
    for (tool, listing) in [("list_users", true), ("delete_user", false)] {
        let call = serde_json::json!({"id": 1, "method": "tools/call", "params": {"name": tool}}).to_string();
        let request = format!(
            "POST /echo HTTP/1.1\r\nhost: h\r\nconnection: close\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{call}",
            call.len()
        );
        let (_, body) = send(gateway.traffic, &request);
        assert!(body.ends_with(&call), "{body}");
        assert_eq!(body.contains("x-listing: 1"), listing, "{tool}: {body}");
    }
}

/// A plugin that belongs to a tool runs for every request that may call it, whatever its headers say.
#[test]
fn no_spelling_of_a_call_passes_by_its_plugin() {
    let upstream = upstream(|mut socket| {
        let asked = head(&mut socket).to_lowercase();
        let length = asked.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        let _ = socket.read_exact(&mut vec![0; length.unwrap_or(0)]);
        let _ = write!(
            socket,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{USERS}",
            USERS.len()
        );
    });
    let call = |name: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    let (body, mcp) = (call("get_user"), "accept: application/json, text/event-stream\r\n");
    let meant: Vec<(&str, Vec<u8>)> = vec![
        (mcp, body.clone().into()),
        ("mcp-method: tools/call\r\nmcp-name: harmless\r\n", body.clone().into()),
        ("mcp-name: \r\n", body.clone().into()),
        ("mcp-name: get_user\r\n", call("harmless").into()),
        (mcp, format!("[{body},{body}]").into()),
        (mcp, format!("[{},{body}]", call("other")).into()),
        ("accept: */*\r\n", body.clone().into()),
        ("", body.clone().into()),
        ("content-encoding: gzip\r\n", b"\x1f\x8b\x08".to_vec()),
        (mcp, body.replace(r#"{"name""#, r#"{"name":"x","name""#).into()),
        (mcp, body.replace(r#""get_user""#, r#""get_user","name":"x""#).into()),
        (mcp, body.replace(r#"{"name""#, r#"{"Name""#).into()),
        (mcp, body.replace(r#""params""#, r#""PARAMS""#).into()),
        (mcp, body.replace("tools/call", r"tools\/call").into()),
        (mcp, body.replace("get_user", r"get\u005fuser").into()),
        (mcp, format!("\u{feff}{body}").into()),
        (mcp, format!("{body}\n{body}").into()),
        (mcp, body.encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ];
    let others: Vec<(&str, Vec<u8>)> = vec![
        (mcp, call("other").into()),
        (mcp, format!("[{}]", call("other")).into()),
        (mcp, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.into()),
        ("mcp-name: other\r\n", call("other").into()),
        ("", r#"{"name":"get_user"}"#.into()),
        ("", Vec::new()),
    ];
    for required in [true, false] {
        let text = format!("[[plugins]]\nname = \"mask-emails\"\nrequired = {required}\ntools = [\"get_user\"]\n");
        let gateway = Gateway::start(&to(upstream, &text));
        for (is_meant, cases) in [(true, &meant), (false, &others)] {
            for (headers, body) in cases {
                let head = format!(
                    "POST /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
                    body.len()
                );
                let mut socket = TcpStream::connect(gateway.traffic).unwrap();
                socket.write_all(&[head.as_bytes(), body].concat()).unwrap();
                let mut answer = String::new();
                let _ = socket.read_to_string(&mut answer);
                let shown = String::from_utf8_lossy(body);
                assert_eq!(!answer.contains("ada@example.org"), is_meant, "{required} {headers} {shown}: {answer}");
            }
        }
        // A stream that is resumed may have the answer of any call, and a tunnel that of all.
        let socket = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let (head, answer) = get(gateway.traffic, "/x", "last-event-id: 7\r\n");
        assert!(!answer.contains("ada@example.org"), "{head} {answer}");
        let (head, _) = get(gateway.traffic, "/x", socket);
        assert_eq!(head.starts_with("http/1.1 502"), required, "{head}");
    }
}

/// MCP's earlier transport answers calls in a stream that a plain GET opens: what a required plugin has to see is not sent there.
#[test]
fn a_stream_that_may_answer_calls_needs_the_required_plugin() {
    let stream = answers(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: ada@example.org\n\n",
    );
    for (required, routes, sent) in [(true, "/sse", false), (false, "/sse", true), (true, "/other", true)] {
        let text = format!(
            "[[plugins]]\nname = \"mask-emails\"\nrequired = {required}\ntools = [\"get_user\"]\nroutes = [\"{routes}\"]\n"
        );
        let gateway = Gateway::start(&to(stream, &text));
        let (head, answer) = get(gateway.traffic, "/sse", "");
        assert_eq!(answer.contains("ada@example.org"), sent, "{required} {routes}: {head} {answer}");
        assert_eq!(head.starts_with("http/1.1 502"), !sent, "{head}");
    }
}

#[test]
fn mistakes_are_found_by_check_config() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    for (plugin, expected) in [
        (
            "name = \"mask-email\"",
            "c.toml:2:1: no plugin `mask-email`; there are context, headers, mask-emails, redact-secrets, tenant",
        ),
        ("name = \"headers\"\nsettings = { reqest = {} }", "c.toml:2:1: headers: unknown field `reqest`"),
        ("name = \"mask-emails\"\nsettings = { replacement = \"\\\"\" }", "replacement is not a plain string"),
        ("name = \"tenant\"\ntools = [\"{\"]", "c.toml:2:1: "),
        ("name = \"tenant\"\nprority = 7", "c.toml:4:1: unknown field `prority`"),
    ] {
        std::fs::write(&path, format!("upstream = \"http://a\"\n[[plugins]]\n{plugin}\n")).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_stc-gateway")).arg("check-config").arg(&path).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(expected), "{plugin}: {said}");
    }
}

/// A client must send a body that a plugin needs at the rate of any other.
#[test]
fn a_slow_request_body_times_out() {
    let text = "[timeouts]\nrequest = 0.5\n[[plugins]]\nname = \"headers\"\ntools = [\"x\"]\nsettings = {}\n";
    let gateway = Gateway::start(&to(users(), text));
    let mut socket = TcpStream::connect(gateway.traffic).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head =
        "POST /echo HTTP/1.1\r\nhost: h\r\naccept: application/json, text/event-stream\r\ncontent-length: 100\r\n\r\n{";
    socket.write_all(head.as_bytes()).unwrap();
    let mut start = [0; 12];
    socket.read_exact(&mut start).expect("an answer");
    assert_eq!(&start, b"HTTP/1.1 408");
    gateway.comes_to("stc_requests", 0);
}

/// A body that ends early is the client's error, not a long body.
#[test]
fn a_broken_request_body_is_a_bad_request() {
    let text = "[[plugins]]\nname = \"headers\"\ntools = [\"x\"]\nsettings = {}\n";
    let gateway = Gateway::start(&to(users(), text));
    let request = "POST /echo HTTP/1.1\r\nhost: h\r\naccept: application/json, text/event-stream\r\n\
                   transfer-encoding: chunked\r\n\r\nzz\r\n";
    let (head, _) = send(gateway.traffic, request);
    assert!(head.starts_with("http/1.1 400"), "{head}");
    assert_eq!(gateway.metric("stc_http_responses_total{class=\"4xx\"}"), 1);
}

/// In a plugin's `routes`, as in a policy's, `*` stays within a segment of the path.
#[test]
fn a_star_does_not_cross_a_slash() {
    let text = "[[plugins]]\nname = \"headers\"\nroutes = [\"/a/*\"]\nsettings = { response = { set = { x-seen = \"1\" } } }\n";
    let gateway = Gateway::start(&to(users(), text));
    for (path, seen) in [("/a/b", true), ("/a/b/c", false)] {
        assert_eq!(get(gateway.traffic, path, "").0.contains("x-seen"), seen, "{path}");
    }
}

/// The bodies that plugins need are bounded in total, and count until their requests are answered.
#[test]
fn bodies_for_plugins_share_a_limit() {
    // The limit's earlier name; a client's share of it is half if none is written.
    let text = "[limits]\nheld_request_bytes = 1000\nheld_bytes_per_client = 1000\n[timeouts]\nqueue = 0.2\n[[plugins]]\nname = \"headers\"\ntools = [\"x\"]\nsettings = {}\n";
    let gateway = Gateway::start(&to(users(), text));
    let body = "x".repeat(700);
    let request = format!(
        "POST /echo HTTP/1.1\r\nhost: h\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n\
         content-length: 700\r\n\r\n{body}"
    );
    for _ in 0..2 {
        let (head, got) = send(gateway.traffic, &request);
        assert!(head.starts_with("http/1.1 200") && got.ends_with(&body), "{head}");
    }
    gateway.comes_to("stc_requests", 0);
    let (sent, rest) = request.split_at(request.len() - 1);
    let mut slow = TcpStream::connect(gateway.traffic).unwrap();
    slow.write_all(sent.as_bytes()).unwrap();
    gateway.comes_to("stc_requests", 1);
    let (head, _) = send(gateway.traffic, &request);
    assert!(head.starts_with("http/1.1 503"), "{head}");
    slow.write_all(rest.as_bytes()).unwrap();
    let mut got = String::new();
    slow.read_to_string(&mut got).unwrap();
    assert!(got.starts_with("HTTP/1.1 200") && got.ends_with(&body), "{got}");
    assert!(send(gateway.traffic, &request).0.starts_with("http/1.1 200"));
}
