//! Starting, requests, configuration.

use crate::gateway::{Gateway, get, head, json_upstream, send, to, upstream};
use crate::rows::{ROWS, ROWS_STC};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn responses_are_converted_counted_and_logged() {
    let gateway = Gateway::start(&to(json_upstream(), ""));
    let (head, body) = get(gateway.traffic, "/rows", "");
    assert!(head.starts_with("http/1.1 200") && !head.contains("stc"), "{head}");
    assert_eq!(body, ROWS);
    let (head, body) = get(gateway.traffic, "/rows?x=1", "accept-encoding: stc\r\n");
    assert!(head.contains("content-encoding: stc"), "{head}");
    assert_eq!(body, ROWS_STC);
    let line: serde_json::Value = serde_json::from_str(&gateway.says("\"response\"")).unwrap();
    assert_eq!((&line["path"], &line["sent"], &line["reason"]), (&"/rows".into(), &"stc1".into(), &().into()));
    assert_eq!((&line["bytes_in"], &line["bytes_out"]), (&ROWS.len().into(), &ROWS_STC.len().into()));
    assert_eq!(line["ratio"], 0.54);
    assert!(!line.to_string().contains("orders"), "nothing of a body");
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    for expected in [
        "stc_responses_total{source=\"accept-encoding\",format=\"stc1\",outcome=\"sent\"} 1".to_owned(),
        format!("stc_in_bytes_total {}", ROWS.len()),
        "stc_http_responses_total{class=\"2xx\"} 2".to_owned(),
        "stc_encode_seconds_count 1".to_owned(),
        "stc_requests 0".to_owned(),
        "stc_http_request_duration_seconds_count{route=\"/\",code=\"200\"} 2".to_owned(),
        "stc_http_request_duration_seconds_bucket{route=\"/\",code=\"200\",le=\"+Inf\"} 2".to_owned(),
        "stc_upstream_response_duration_seconds_count{route=\"/\",class=\"2xx\"} 2".to_owned(),
        "process_open_fds ".to_owned(),
        "process_resident_memory_bytes ".to_owned(),
        "process_cpu_seconds_total ".to_owned(),
        "process_start_time_seconds 1".to_owned(),
        "stc_tool_responses_total{route=\"/\",tool=\"/rows\",format=\"stc1\"} 1".to_owned(),
        "stc_tool_in_estimated_tokens_total{route=\"/\",tool=\"/rows\",format=\"stc1\"} ".to_owned(),
    ] {
        assert!(metrics.contains(&expected), "{expected}\n{metrics}");
    }
    for (path, status) in [("/healthz", "200"), ("/readyz", "200"), ("/else", "404")] {
        assert!(get(gateway.admin, path, "").0.starts_with(&format!("http/1.1 {status}")), "{path}");
    }
}

#[test]
fn a_request_has_one_id_everywhere() {
    let echo = upstream(|mut socket| {
        let asked = head(&mut socket);
        let length = asked.len();
        let _ = write!(
            socket,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{asked}"
        );
    });
    let gateway = Gateway::start(&to(echo, "[stc]\nmin_bytes = 1\n"));
    let named = |head: &str| head.split("x-request-id: ").nth(1).unwrap().lines().next().unwrap().to_owned();
    for sent in ["", "x-request-id: client-7\r\n", "x-request-id: {\"forged\": 1}\r\n"] {
        let (head, body) = get(gateway.traffic, "/a", &format!("accept-encoding: stc\r\n{sent}"));
        let id = named(&head);
        assert_eq!(named(&body), id, "the upstream gets the same id");
        assert_eq!(id == "client-7", sent.contains("client-7"), "a harmless id is kept: {id}");
        assert!(!body.contains("forged"), "{body}");
        let line: serde_json::Value = serde_json::from_str(&gateway.says("\"response\"")).unwrap();
        assert_eq!((&line["request_id"], &line["reason"]), (&id.into(), &"invalid".into()));
    }
}

#[test]
fn the_admin_address_shows_savings_and_nothing_of_a_body() {
    let gateway = Gateway::start(&to(json_upstream(), ""));
    get(gateway.traffic, "/rows/7?secret=1", "accept-encoding: stc\r\n");
    get(gateway.traffic, "/rows", "x-prefer-format: stc2\r\ncache-control: no-transform\r\n");
    let (head, page) = get(gateway.admin, "/", "");
    assert!(head.contains("text/html") && head.contains("script-src 'self'"), "{head}");
    for outside in ["http://", "https://"] {
        let links = page.matches(outside).count() - page.matches(&format!("{outside}forge.example")).count();
        assert_eq!(links, 0, "nothing from elsewhere: {outside}");
    }
    for (path, kind) in [("/page.css", "text/css"), ("/page.js", "text/javascript")] {
        assert!(page.contains(&path[1..]) && get(gateway.admin, path, "").0.contains(kind), "{path}");
    }
    let (_, state) = get(gateway.admin, "/state", "");
    let shown: serde_json::Value = serde_json::from_str(&state).unwrap();
    assert_eq!((&shown["tools"][0]["name"], &shown["tools"][0]["format"]), (&"/rows".into(), &"stc1".into()));
    assert_eq!((&shown["skips"][0]["reason"], &shown["sent"]), (&"no-transform".into(), &1.into()));
    assert!(!state.contains("orders") && !state.contains("secret"), "{state}");
    assert_eq!((&shown["excerpt"], &shown["has_sample"]), (&().into(), &false.into()));
    let minified = stc::minify(ROWS.as_bytes()).unwrap();
    assert_eq!(shown["bytes"], serde_json::json!([minified.len(), ROWS_STC.len()]), "compared with minified JSON");
    assert_eq!(shown["tools"][0]["bytes"], shown["bytes"]);
    assert_eq!(shown["tools"][0]["estimated_tokens"], shown["estimated_tokens"]);
    let sample = "POST /sample HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    assert!(send(gateway.admin, sample).0.starts_with("http/1.1 405"), "the demo only");
    let post = |text: &str| {
        send(
            gateway.admin,
            &format!(
                "POST /compare HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}",
                text.len()
            ),
        )
    };
    assert!(post(ROWS).1.contains(&serde_json::Value::from(ROWS_STC).to_string()));
    assert!(post("[1,").0.starts_with("http/1.1 400"));
    assert!(post(&" ".repeat(2 << 20)).0.starts_with("http/1.1 413"));
    assert!(
        send(gateway.admin, "DELETE / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").0.starts_with("http/1.1 405")
    );
}

/// The page shows the start of a body only where the operator allows it, and forgets it when that changes.
#[test]
fn excerpts_are_opt_in() {
    let config = to(json_upstream(), "");
    let gateway = Gateway::start(&format!("admin_hosts = [\"h\"]\nexcerpts = true\n{config}"));
    let state = || serde_json::from_str::<serde_json::Value>(&get(gateway.admin, "/state", "").1).unwrap();
    get(gateway.traffic, "/rows?secret=1", "");
    assert!(state()["excerpt"].is_null(), "not converted");
    get(gateway.traffic, "/rows?secret=1", "accept-encoding: stc\r\n");
    let shown = state();
    let excerpt = &shown["excerpt"];
    assert_eq!((&excerpt["before"], &excerpt["after"]), (&ROWS.into(), &ROWS_STC.into()));
    assert_eq!((&excerpt["name"], &excerpt["format"]), (&"/rows".into(), &"stc1".into()));
    assert!(!shown.to_string().contains("secret"), "{shown}");
    std::fs::write(&gateway.config, format!("admin_hosts = [\"h\"]\n{config}")).unwrap();
    gateway.reload();
    get(gateway.traffic, "/rows", "accept-encoding: stc\r\n");
    assert!(state()["excerpt"].is_null() && !state().to_string().contains("orders"), "{}", state());
}

/// Strangers can name tools as they like: labels are escaped, and their number is bounded.
#[test]
fn names_of_tools_in_labels() {
    let text = serde_json::Value::from(ROWS).to_string();
    let answer =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}");
    let server = upstream(move |mut socket| {
        loop {
            let seen = head(&mut socket).to_lowercase();
            let Some(length) = seen.split("content-length: ").nth(1) else { return };
            let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
            let _ = socket.read_exact(&mut body);
            let length = answer.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
            let _ = socket.write_all((head + &answer).as_bytes());
        }
    });
    let gateway = Gateway::start(&to(server, ""));
    for number in 0..220 {
        let name = format!("a\\\"\\n{number}");
        let call =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\"}}}}");
        let length = call.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: h\r\nconnection: close\r\naccept: application/json, text/event-stream\r\nx-prefer-format: stc1\r\ncontent-length: {length}\r\n\r\n{call}"
        );
        assert!(send(gateway.traffic, &request).1.contains("io.stoa/stc"));
    }
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    let lines: Vec<_> = metrics.lines().filter(|line| line.starts_with("stc_tool_responses_total{")).collect();
    assert_eq!(lines.len(), 201);
    assert!(
        lines.contains(&"stc_tool_responses_total{route=\"/\",tool=\"a\\\"\u{fffd}7\",format=\"stc1\"} 1"),
        "{}",
        lines[0]
    );
    assert!(lines.contains(&"stc_tool_responses_total{route=\"/\",tool=\"(others)\",format=\"stc1\"} 20"), "{lines:?}");
}

/// A trace passes to the upstream as it came, and its id is in the access log.
#[test]
fn traces_pass() {
    let gateway = Gateway::start(&to(crate::proxying::echo(), ""));
    let parent = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\ntracestate: a=b\r\n";
    let (_, seen) = get(gateway.traffic, "/", parent);
    assert!(seen.contains(parent), "{seen}");
    let line: serde_json::Value = serde_json::from_str(&gateway.says("\"access\"")).unwrap();
    assert_eq!(line["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
}

#[test]
fn check_config_reports_positions() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        let path = folder.path().join("c.toml");
        std::fs::write(&path, text).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_stc-gateway")).arg("check-config").arg(path).output().unwrap();
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let (good, said) = check("upstream = \"http://a\"\n");
    assert!(good && said.contains("good, 1 routes, 0 plugins") && !said.contains("warning"), "{said}");
    let (good, said) = check("[context]\nmode = \"safe\"\n[[routes]]\nupstream = \"http://a\"\n");
    assert!(good && said.contains("good, 1 routes"), "a setting without effect is no mistake: {said}");
    assert!(said.contains("warning: ") && said.contains("c.toml:1:1: `[context]` applies to no route"), "{said}");
    let (good, said) = check("upstrem = \"http://a\"\n[context]\nmod = 1\n[limits]\nrequests = 0\n");
    let places = ["c.toml:1:1: ", "c.toml:3:1: ", "c.toml:5:12: ", "did you mean `upstream`?", "did you mean `mode`?"];
    assert!(!good && places.iter().all(|place| said.contains(place)), "{said}");
    for (wrong, place) in [
        ("[timeouts]\nsend = -1\n", "c.toml:3:8: "),
        ("[timeouts]\nsend = 0\n", "c.toml:3:8: "),
        ("[timeouts]\nsend = nan\n", "c.toml:3:8: "),
        ("[timeouts]\ndrain = 1e300\n", "c.toml:3:9: "),
        ("[limits]\nrequests = 0\n", "c.toml:3:12: "),
        ("[limits]\nconnections = 9223372036854775807\n", "c.toml:3:15: "),
        ("[limits]\nstreams = 0\n", "c.toml:3:11: "),
        ("[limits]\nstreams_per_client = -1\n", "c.toml:3:22: "),
        ("[stc]\nmin_bytes = 100\nmax_bytes = 10\n", "max_bytes"),
        (
            "[[routes]]\npath = \"/a\"\nupstream = \"http://a\"\n[[routes]]\npath = \"/a/\"\nupstream = \"http://b\"\n",
            "c.toml:6:8: ",
        ),
        (
            "[[routes]]\nhosts = [\"a\", \"b\"]\nupstream = \"http://a\"\n[[routes]]\npath = \"/\"\nhosts = [\"B\"]\n\
             upstream = \"http://b\"\n",
            "c.toml:6:8: an earlier route has this path for `b`",
        ),
        (
            "[[routes]]\nhosts = [\"*.a\"]\nupstream = \"http://a\"\n[[routes]]\nhosts = [\"c\", \"b.a\"]\n\
             upstream = \"http://b\"\n",
            "an earlier route has this path for `b.a`",
        ),
        ("[limits]\nrequest_bytes = 0\n", "c.toml:3:17: "),
        ("prices = { a = -1 }\n", "the price of `a`"),
        ("[[plugins]]\nname = \"tenant\"\ntimeout = -1\n", "c.toml:4:11: "),
        ("[[plugins]]\nname = \"mask-emails\"\nsettings = { replacment = \"x\" }\n", "replacment"),
    ] {
        let (good, said) = check(&format!("upstream = \"http://a\"\n{wrong}"));
        assert!(!good && said.contains(place), "{wrong}: {said}");
    }
    for listen in ["127.0.0.1", "0.0.0.0"] {
        let text = format!("upstream = \"http://a\"\nlisten = \"{listen}:8080\"\nadmin = \"127.0.0.1:8080\"\n");
        let (good, said) = check(&text);
        assert!(!good && said.contains("c.toml:3:9: "), "{said}");
    }
    let hosts = "hosts = [\"b.a\"]\nupstream = \"http://a\"\n[[routes]]\nhosts = [\"*.a\"]\nupstream = \"http://b\"\n";
    let (good, said) = check(&format!("[[routes]]\n{hosts}[[routes]]\nupstream = \"http://c\"\n"));
    assert!(good, "a route for some of the hosts of a later one: {said}");
    let (good, said) = check("upstream = \"http://a\"\nlisten = \"localhost:8080\"\nadmin = \"localhost:9090\"\n");
    assert!(good, "{said}");
    let (good, said) = check("upstream = \"http://a\"\n[timeouts]\nidel = 3\n");
    assert!(!good && said.contains("c.toml:3:1: ") && said.contains("idel"), "{said}");
}

/// One permit: the next request waits for it, but not for event streams, which hold none.
#[test]
fn permits_for_requests() {
    let (arrived, arrivals) = mpsc::channel();
    let patient = upstream(move |mut socket| {
        let asked = head(&mut socket);
        let kind = if asked.contains("/events") { "text/event-stream" } else { "application/json" };
        let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n: open\n\n");
        arrived.send(asked).unwrap();
        // Until the client disconnects.
        let _ = socket.read(&mut [0]);
    });
    let gateway = Gateway::start(&to(patient, "[limits]\nrequests = 1\n"));
    let open = |path: &str| {
        let mut socket = TcpStream::connect(gateway.traffic).unwrap();
        write!(socket, "GET {path} HTTP/1.1\r\nhost: h\r\n\r\n").unwrap();
        socket
    };
    let arrives = |patience| arrivals.recv_timeout(Duration::from_millis(patience)).is_ok();
    let _streams = [open("/events/1"), open("/events/2")];
    assert!(arrives(20_000) && arrives(20_000), "both streams are open");
    let first = open("/1");
    assert!(arrives(20_000), "a request beside them has the permit");
    let _second = open("/2");
    assert!(!arrives(500), "the next waits");
    drop(first);
    assert!(arrives(20_000), "until the permit is free");
}

#[test]
fn missing_root_certificates_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, "upstream = \"https://a\"\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
    command.arg("check-config").arg(&path).env("SSL_CERT_FILE", folder.path().join("missing.pem"));
    let output = command.output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!output.status.success() && said.contains("SSL_CERT_FILE") && said.contains("missing.pem"), "{said}");
}

/// A connection that never says what it wants is closed: it holds one of `limits.connections`.
#[test]
fn silent_connections_are_closed() {
    let gateway = Gateway::start(&to(json_upstream(), "[timeouts]\nrequest = 0.5\n"));
    for start in ["", "PRI * HTTP", "GET / HTTP"] {
        let mut socket = TcpStream::connect(gateway.traffic).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        socket.write_all(start.as_bytes()).unwrap();
        let mut rest = Vec::new();
        let closed = socket.read_to_end(&mut rest);
        assert!(
            !matches!(&closed, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock),
            "{start:?} stays open"
        );
    }
    gateway.comes_to("stc_connections", 0);
}
