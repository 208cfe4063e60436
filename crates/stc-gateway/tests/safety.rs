//! Hostile requests.

use crate::gateway::{Gateway, get, head, json_upstream, send, to, upstream};
use crate::rows::ROWS;
use crate::stalled::{DATA, GOAWAY, Http2, PING, connect};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

#[test]
fn a_request_with_two_lengths_is_forwarded_with_one() {
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
        // Of the incomplete request the upstream may see a part or nothing.
        assert!(seen.starts_with("post / ") || !whole, "{seen}");
        assert!(!seen.contains("admin") && !seen.contains("zz"), "{seen}");
        assert!(!(seen.contains("content-length") && seen.contains("transfer-encoding")), "{seen}");
    }
}

#[test]
fn long_requests_are_rejected() {
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
    assert_eq!(line["tool"], tool, "one line that contains the name");
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    let lines: Vec<_> = metrics.lines().filter(|line| line.contains("forged")).collect();
    let counts = lines.iter().filter(|line| !line.starts_with("stc_tool_duration_seconds")).count();
    assert!(counts == 3 && lines.iter().all(|line| line.starts_with("stc_tool_")), "{lines:?}");
}

#[test]
fn hop_by_hop_headers_are_not_forwarded() {
    let (arrived, arrivals) = mpsc::channel();
    let spy = upstream(move |mut socket| {
        arrived.send(head(&mut socket)).unwrap();
        let _ = write!(
            socket,
            "HTTP/1.1 200 OK\r\nconnection: close, x-inner\r\nx-inner: 1\r\nkeep-alive: timeout=9\r\nproxy-authenticate: Basic\r\n\
             upgrade: h2c\r\ntransfer-encoding: chunked\r\nx-kept: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        );
    });
    let gateway = Gateway::start(&to(spy, ""));
    let (head, _) = get(
        gateway.traffic,
        "/",
        "x-named: 1\r\nconnection: x-named\r\nkeep-alive: 5\r\nte: deflate\r\nupgrade: websocket\r\nproxy-authorization: x\r\n\
         proxy-connection: keep-alive\r\nx-kept: 1\r\n",
    );
    let seen = arrivals.recv().unwrap().to_lowercase();
    for gone in ["x-named", "keep-alive", "te:", "upgrade", "proxy-authorization", "proxy-connection"] {
        assert!(!seen.contains(gone), "{gone}: {seen}");
    }
    assert!(seen.contains("x-kept: 1") && seen.contains("x-forwarded-for: 127.0.0.1"), "{seen}");
    for gone in ["x-inner", "keep-alive", "proxy-authenticate", "upgrade"] {
        assert!(!head.contains(gone), "{gone}: {head}");
    }
    assert!(head.contains("x-kept: 2"), "{head}");
}

/// Malformed chunks: whatever the gateway makes of them, the bytes after them are not a request.
#[test]
fn bad_chunking_smuggles_nothing() {
    let (arrived, arrivals) = mpsc::channel();
    let spy = upstream(move |mut socket| {
        let _ = socket.set_read_timeout(Some(Duration::from_millis(300)));
        let mut seen = Vec::new();
        let _ = socket.read_to_end(&mut seen);
        arrived.send(String::from_utf8_lossy(&seen).to_lowercase()).unwrap();
    });
    let gateway = Gateway::start(&to(spy, "[timeouts]\nresponse = 1\n"));
    let smuggled = "GET /admin HTTP/1.1\r\nhost: h\r\n\r\n";
    for chunks in [
        format!("-1\r\n{smuggled}"),
        format!("0x0\r\n\r\n{smuggled}"),
        format!("fffffffffffffffff\r\n{smuggled}"),
        format!("1\r\nab\r\n0\r\n\r\n{smuggled}"),
        format!("1\r\na\r\n0\r\n{smuggled}"),
        format!("{}\r\n", "0".repeat(100_000)),
        format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(100_000)),
    ] {
        let start = "POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut socket = TcpStream::connect(gateway.traffic).unwrap();
        // The other end may close before it has all of it.
        let _ = socket.write_all(format!("{start}{chunks}").as_bytes());
        let mut got = Vec::new();
        let _ = socket.read_to_end(&mut got);
        let got = String::from_utf8_lossy(&got);
        assert!(!got.contains(" 200 "), "{chunks:.40}: {got}");
    }
    drop(gateway);
    while let Ok(seen) = arrivals.recv_timeout(Duration::from_secs(1)) {
        // Inside a forwarded body it is only text.
        let request_line = seen.lines().filter(|line| line.ends_with("http/1.1")).collect::<Vec<_>>();
        assert!(request_line.iter().all(|line| line.starts_with("post / ")), "{seen}");
    }
}

/// The configuration alone decides the upstream, whatever the request's target.
#[test]
fn a_request_cannot_choose_its_upstream() {
    let (arrived, arrivals) = mpsc::channel();
    let spy = upstream(move |mut socket| {
        arrived.send(head(&mut socket)).unwrap();
        let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    let gateway = Gateway::start(&to(spy, ""));
    let (head, _) = send(
        gateway.traffic,
        "GET http://elsewhere.example/x HTTP/1.1\r\nhost: elsewhere.example\r\nconnection: close\r\n\r\n",
    );
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let seen = arrivals.recv().unwrap();
    assert!(seen.starts_with("GET /x HTTP/1.1"), "{seen}");
    let (head, _) = send(
        gateway.traffic,
        "CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example\r\nconnection: close\r\n\r\n",
    );
    assert!(head.starts_with("http/1.1 404"), "{head}");
    assert!(arrivals.try_recv().is_err());
}

const EVICTED: &str = "stc_evicted_connections_total";

/// Clients that hold every place and say nothing do not keep others out.
#[test]
fn idle_connections_make_room() {
    let gateway = Gateway::start(&to(json_upstream(), "[limits]\nconnections = 4\nconnections_per_client = 4\n"));
    let mut held: Vec<_> = (0..4).map(|_| connect(2, gateway.traffic)).collect();
    gateway.comes_to("stc_connections", 4);
    // Longer than a connection is safe for: nothing closes while nothing waits.
    thread::sleep(Duration::from_millis(1500));
    assert_eq!((gateway.metric(EVICTED), gateway.metric("stc_connections")), (0, 4));
    for _ in 0..8 {
        assert_eq!(get(gateway.traffic, "/", "").1, ROWS);
    }
    // The one that was idle longest was closed.
    assert_eq!(held[0].read(&mut [0]).unwrap(), 0);
    assert!((1..=4).contains(&gateway.metric(EVICTED)));
}

/// An HTTP/2 client is told before its idle connection closes, and a request that was on the way is answered.
#[test]
fn an_idle_http_2_connection_is_closed_in_order() {
    let gateway = Gateway::start(&to(json_upstream(), "[limits]\nconnections = 1\nconnections_per_client = 1\n"));
    let mut client = Http2::connect(2, gateway.traffic, 1 << 16);
    let answer = |client: &mut Http2, stream: u32| {
        let mut body = Vec::new();
        loop {
            let frame = client.receive().expect("a frame");
            if frame.kind == DATA && frame.stream == stream {
                body.extend_from_slice(&frame.payload);
                if frame.flags & 1 == 1 {
                    return String::from_utf8(body).unwrap();
                }
            }
        }
    };
    client.request(1, "/");
    assert_eq!(answer(&mut client, 1), ROWS);
    let traffic = gateway.traffic;
    let other = thread::spawn(move || get(traffic, "/", "").1);
    while client.receive().expect("a frame").kind != GOAWAY {}
    client.request(3, "/");
    let mut ping = None;
    while ping.is_none() {
        let frame = client.receive().expect("a frame");
        ping = (frame.kind == PING && frame.flags == 0).then_some(frame.payload);
    }
    assert_eq!(answer(&mut client, 3), ROWS);
    assert_eq!(other.join().unwrap(), ROWS, "its place is free at once");
    client.send(PING, 1, 0, &ping.unwrap());
    while client.receive().is_some() {}
    assert_eq!(gateway.metric(EVICTED), 1);
}

/// Where all connections are busy, the next waits, also while the configuration is read again, and none is closed for it.
#[test]
fn busy_connections_stay() {
    let (arrived, arrivals) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let gone = Arc::new(Mutex::new(gone));
    let slow = upstream(move |mut socket| {
        head(&mut socket);
        let length = ROWS.len();
        let _ =
            write!(socket, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{}", &ROWS[..9]);
        arrived.send(()).unwrap();
        gone.lock().unwrap().recv().unwrap();
        let _ = write!(socket, "{}", &ROWS[9..]);
    });
    let gateway = Gateway::start(&to(slow, "[limits]\nconnections = 2\nconnections_per_client = 2\n"));
    let traffic = gateway.traffic;
    let mut busy = Http2::connect(2, traffic, 1 << 16);
    busy.request(1, "/");
    arrivals.recv().unwrap();
    let other = thread::spawn(move || get(traffic, "/", "").1);
    arrivals.recv().unwrap();
    let waiting = thread::spawn(move || {
        let mut socket = connect(3, traffic);
        write!(socket, "GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    });
    thread::sleep(Duration::from_millis(1500));
    gateway.reload();
    thread::sleep(Duration::from_millis(100));
    assert_eq!((gateway.metric(EVICTED), gateway.metric("stc_connections")), (0, 2));
    assert!(arrivals.try_recv().is_err(), "the third waits");
    for _ in 0..3 {
        go.send(()).unwrap();
    }
    assert_eq!(other.join().unwrap(), ROWS);
    assert!(waiting.join().unwrap().ends_with(ROWS));
    let mut body = Vec::new();
    while body.len() < ROWS.len() {
        let frame = busy.receive().expect("a frame");
        if frame.kind == DATA {
            body.extend(frame.payload);
        }
    }
    assert_eq!(body, ROWS.as_bytes());
}

/// One client cannot take every place for connections; another is served meanwhile.
#[test]
fn a_client_has_its_share_of_connections() {
    let gateway = Gateway::start(&to(json_upstream(), "[limits]\nconnections = 10\nconnections_per_client = 4\n"));
    let _held: Vec<_> = (0..20).map(|_| connect(2, gateway.traffic)).collect();
    gateway.comes_to("stc_refused_connections_total", 16);
    gateway.comes_to("stc_connections", 4);
    assert_eq!(get(gateway.traffic, "/", "").1, ROWS);
}
