//! Requests and responses that take unusual ways: slow uploads, upgrades, trailers, kept connections that were closed.

use crate::gateway::{Gateway, answers, get, head, send, to, upstream};
use crate::rows::ROWS;
use crate::stalled::connect;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Reads the head and a body of this length, then answers.
fn reads(length: usize) -> std::net::SocketAddr {
    upstream(move |mut socket| {
        head(&mut socket);
        let mut body = vec![0; length];
        if socket.read_exact(&mut body).is_ok() {
            let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        }
    })
}

/// Sends a body byte by byte with a pause before each, and returns the response.
fn trickle(gateway: &Gateway, length: usize, pause: u64) -> String {
    trickle_to(gateway, "/", &"x".repeat(length), pause)
}

fn trickle_to(gateway: &Gateway, path: &str, body: &str, pause: u64) -> String {
    let mut socket = TcpStream::connect(gateway.traffic).unwrap();
    let length = body.len();
    // The headers of an MCP client, whose body is read for the name of a tool.
    let accept = "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n";
    write!(socket, "POST {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{accept}content-length: {length}\r\n\r\n")
        .unwrap();
    for byte in body.as_bytes() {
        thread::sleep(Duration::from_millis(pause));
        if socket.write_all(&[*byte]).is_err() {
            break;
        }
    }
    let mut got = String::new();
    let _ = socket.read_to_string(&mut got);
    got
}

/// Where a body is held before it is forwarded, a client may take its time too, but must send something.
#[test]
fn a_slow_upload_can_be_held() {
    let upstream = reads(10);
    for (path, body, route) in [
        ("/", "[1,2,3,45]", format!("upstream = \"http://{upstream}\"\n[[plugins]]\nname = \"tenant\"\n")),
        (
            "/",
            "[1,2,3,45]",
            format!("[[routes]]\nupstream = \"http://{upstream}\"\ntools = {{ include = [\"list_*\"] }}\n"),
        ),
        ("/v1/compress", "{\"messages\":[]}", "[[routes]]\npath = \"/v1/compress\"\ncompress = true\n".to_owned()),
    ] {
        let start = |response: f64, request: f64| {
            let limits =
                format!("[timeouts]\nresponse = {response}\nrequest = {request}\n[limits]\nreceive_rate = 0\n");
            let top = route.starts_with("upstream").then(|| route.split_once('\n').unwrap());
            let (first, rest) = top.unwrap_or(("", &route));
            Gateway::start(&format!("{first}\n{limits}{rest}"))
        };
        let got = trickle_to(&start(1.0, 5.0), path, body, 150);
        assert!(got.starts_with("HTTP/1.1 200"), "{route}: {got}");
        let got = trickle_to(&start(60.0, 0.5), path, body, 1_000);
        assert!(got.starts_with("HTTP/1.1 408"), "{route}: {got}");
    }
}

#[test]
fn the_client_s_upload_is_not_the_upstream_s_time() {
    let config = "[timeouts]\nresponse = 1\nrequest = 5\n[limits]\nreceive_rate = 0\n";
    let gateway = Gateway::start(&to(reads(10), config));
    let got = trickle(&gateway, 10, 150);
    assert!(got.starts_with("HTTP/1.1 200"), "{got}");
}

#[test]
fn a_client_must_send_its_body_in_time() {
    let config = "[timeouts]\nresponse = 60\nrequest = 2\n[limits]\nreceive_rate = 0\n";
    let gateway = Gateway::start(&to(reads(10), config));
    let got = trickle(&gateway, 10, 20);
    assert!(got.starts_with("HTTP/1.1 200"), "{got}");
    // Nothing of the body, and then too little of it.
    let unsent = "POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 10\r\n\r\n";
    assert!(send(gateway.traffic, unsent).0.starts_with("http/1.1 408"));
    let gateway = Gateway::start(&to(reads(100), "[timeouts]\nrequest = 0.5\n[limits]\nreceive_rate = 1000\n"));
    let got = trickle(&gateway, 100, 50);
    assert!(got.starts_with("HTTP/1.1 408"), "{got}");
    assert_eq!(gateway.metric("stc_upstream_failures_total{cause=\"closed\"}"), 0);
}

#[test]
fn too_many_headers_are_named_as_the_cause() {
    let headers: String = (0..150).map(|number| format!("x-{number}: 1\r\n")).collect();
    let gateway = Gateway::start(&to(answers(format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n")), ""));
    let (head, body) = get(gateway.traffic, "/", "");
    assert!(head.starts_with("http/1.1 502") && body.contains("too many headers"), "{head} {body}");
    assert_eq!(gateway.metric("stc_upstream_failures_total{cause=\"large-head\"}"), 1);
}

/// Answers an upgrade, and then sends every byte back, upper-cased.
fn websocket() -> std::net::SocketAddr {
    upstream(|mut socket| {
        let seen = head(&mut socket).to_lowercase();
        if !(seen.contains("connection: upgrade\r\n") && seen.contains("upgrade: websocket\r\n")) {
            let _ = write!(socket, "HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\n\r\n");
            return;
        }
        let _ = write!(
            socket,
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\nhello"
        );
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = socket.read(&mut buffer) {
            buffer[..count].make_ascii_uppercase();
            let _ = socket.write_all(&buffer[..count]);
        }
        let _ = socket.write_all(b"bye");
    })
}

const UPGRADE: &str = "GET /ws HTTP/1.1\r\nhost: h\r\nconnection: keep-alive, Upgrade\r\nupgrade: websocket\r\n\
                       sec-websocket-key: k\r\nsec-websocket-version: 13\r\n\r\n";

#[test]
fn websockets_are_tunnelled() {
    let gateway = Gateway::start(&to(websocket(), ""));
    let mut socket = TcpStream::connect(gateway.traffic).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.write_all(UPGRADE.as_bytes()).unwrap();
    let answer = head(&mut socket).to_lowercase();
    assert!(answer.starts_with("http/1.1 101") && answer.contains("sec-websocket-accept: x"), "{answer}");
    let mut read = |expected: &str| {
        let mut got = vec![0; expected.len()];
        socket.read_exact(&mut got).unwrap();
        assert_eq!(String::from_utf8_lossy(&got), expected);
    };
    read("hello");
    gateway.comes_to("stc_tunnels", 1);
    gateway.comes_to("stc_held_permits", 0);
    (&socket).write_all(b"ping").unwrap();
    let mut got = [0; 4];
    socket.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"PING");
    // The end of one direction reaches the other side, and its last words come back.
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let mut rest = String::new();
    socket.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "bye");
    gateway.comes_to("stc_tunnels", 0);
}

/// A program that ends waits for tunnels, as for requests in progress.
#[test]
fn sigterm_lets_tunnels_end() {
    let mut gateway = Gateway::start(&to(websocket(), ""));
    let mut socket = TcpStream::connect(gateway.traffic).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.write_all(UPGRADE.as_bytes()).unwrap();
    assert!(head(&mut socket).starts_with("HTTP/1.1 101"));
    gateway.comes_to("stc_tunnels", 1);
    gateway.signal("-TERM");
    gateway.says("draining");
    let mut got = [0; 9];
    socket.write_all(b"ping").unwrap();
    socket.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"helloPING");
    assert!(gateway.child.try_wait().unwrap().is_none(), "it waits for the tunnel");
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let mut rest = String::new();
    socket.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "bye");
    assert!(gateway.child.wait().unwrap().success());
}

#[test]
fn silent_tunnels_end_and_other_protocols_get_none() {
    let gateway = Gateway::start(&to(websocket(), "[timeouts]\nidle = 0.3\n"));
    let mut socket = TcpStream::connect(gateway.traffic).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.write_all(UPGRADE.as_bytes()).unwrap();
    let mut got = String::new();
    socket.read_to_string(&mut got).unwrap();
    assert!(got.ends_with("hello"), "{got}");
    gateway.comes_to("stc_tunnels", 0);
    // A tunnel in another protocol would carry requests that the gateway does not see.
    let (head, _) = get(gateway.traffic, "/", "connection: upgrade, http2-settings\r\nupgrade: h2c\r\n");
    assert!(head.starts_with("http/1.1 426"), "{head}");
    let unasked = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    let gateway = Gateway::start(&to(answers(unasked), ""));
    assert!(get(gateway.traffic, "/", "").0.starts_with("http/1.1 502"));
}

/// Answers upgrades and `/events` with what stays open, and everything else with rows.
fn open_ended() -> std::net::SocketAddr {
    upstream(|mut socket| {
        loop {
            let seen = head(&mut socket);
            let events = seen.contains(" /events ");
            let text = match () {
                () if seen.is_empty() => return,
                () if seen.to_lowercase().contains("upgrade: websocket") => {
                    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n".to_owned()
                }
                () if events => "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: open\n\n".to_owned(),
                () => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{ROWS}", ROWS.len()),
            };
            let _ = socket.write_all(text.as_bytes());
        }
    })
}

/// Sends a request from 127.0.0.`host` and returns the connection with the head of its answer.
fn ask(host: u8, gateway: &Gateway, request: &str) -> (TcpStream, String) {
    let mut socket = connect(host, gateway.traffic);
    socket.write_all(request.as_bytes()).unwrap();
    let answer = head(&mut socket);
    (socket, answer)
}

const EVENTS: &str = "GET /events HTTP/1.1\r\nhost: h\r\n\r\n";

/// Event streams and tunnels have limits of their own; other requests pass meanwhile.
#[test]
fn event_streams_and_tunnels_are_limited() {
    let limits = "[limits]\nstreams = 3\nstreams_per_client = 2\nrequests = 2\nrequests_per_client = 1\n";
    let gateway = Gateway::start(&to(open_ended(), limits));
    let opens = |host: u8, request: &str| {
        let (socket, answer) = ask(host, &gateway, request);
        assert!(answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.1 101"), "{answer}");
        socket
    };
    let refused = |host: u8, request: &str| {
        let (_, answer) = ask(host, &gateway, request);
        assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: 5\r\n"), "{answer}");
    };
    let held = "stc_held_stream_permits";
    let (events, tunnel) = (opens(2, EVENTS), opens(2, UPGRADE));
    gateway.comes_to(held, 2);
    refused(2, EVENTS);
    refused(2, UPGRADE);
    let _other = opens(3, UPGRADE);
    refused(3, EVENTS);
    assert_eq!(gateway.metric("stc_refused_requests_total{reason=\"client-streams\"}"), 2);
    assert_eq!(gateway.metric("stc_refused_requests_total{reason=\"total-streams\"}"), 1);
    // None of them holds a permit for requests.
    gateway.comes_to("stc_held_permits", 0);
    opens(2, "GET /rows HTTP/1.1\r\nhost: h\r\n\r\n");
    // What a POST did is done: its answer passes, and holds the permit of its request.
    let answer = opens(2, "POST /events HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n");
    assert_eq!((gateway.metric("stc_held_permits"), gateway.metric(held)), (1, 3));
    drop(answer);
    gateway.comes_to("stc_held_permits", 0);
    drop(events);
    gateway.comes_to(held, 2);
    let events = opens(2, EVENTS);
    gateway.comes_to(held, 3);
    drop(tunnel);
    gateway.comes_to(held, 2);
    opens(2, UPGRADE);
    drop(events);
    gateway.comes_to(held, 1);
}

/// A tunnel keeps its connection's place, and is not idle.
#[test]
fn a_tunnel_keeps_its_place() {
    let gateway = Gateway::start(&to(open_ended(), "[limits]\nconnections = 1\nconnections_per_client = 1\n"));
    let (tunnel, answer) = ask(2, &gateway, UPGRADE);
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    gateway.comes_to("stc_tunnels", 1);
    let traffic = gateway.traffic;
    let other = std::thread::spawn(move || get(traffic, "/rows", "").1);
    // Longer than an idle connection is safe for.
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!((gateway.metric("stc_tunnels"), gateway.metric("stc_evicted_connections_total")), (1, 0));
    assert!(!other.is_finished(), "it waits");
    drop(tunnel);
    assert_eq!(other.join().unwrap(), ROWS);
}

#[test]
fn trailers_pass_in_both_directions() {
    let echo = upstream(|mut socket| {
        let mut seen = head(&mut socket);
        let mut byte = [0];
        while !seen.ends_with("x-sum: 7\r\n\r\n") && socket.read(&mut byte).is_ok_and(|count| count == 1) {
            seen.push(char::from(byte[0]));
        }
        let _ = write!(
            socket,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-check\r\n\r\n{:x}\r\n{seen}\r\n0\r\nx-check: 9\r\n\r\n",
            seen.len()
        );
    });
    let gateway = Gateway::start(&to(echo, "[timeouts]\nresponse = 5\n"));
    let (head, body) = send(
        gateway.traffic,
        "POST / HTTP/1.1\r\nhost: h\r\nconnection: close, te\r\nte: trailers\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n\
         2\r\nok\r\n0\r\nx-sum: 7\r\n\r\n",
    );
    assert!(head.contains("trailer: x-check"), "{head}");
    assert!(body.contains("te: trailers\r\n") && body.contains("0\r\nx-sum: 7\r\n"), "{body}");
    assert!(body.ends_with("0\r\nx-check: 9\r\n\r\n"), "{body}");
}

/// The upstream closes each connection after its second request arrived, as one does whose idle limit has passed.
#[test]
fn a_closed_kept_connection_costs_no_idempotent_request() {
    let arrivals = Arc::new(AtomicUsize::new(0));
    let counted = arrivals.clone();
    let closes = upstream(move |mut socket| {
        for number in 0..2 {
            if head(&mut socket).is_empty() {
                return;
            }
            counted.fetch_add(1, Ordering::Relaxed);
            if number == 0 {
                let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
            }
        }
    });
    let gateway = Gateway::start(&to(closes, "workers = 1\n"));
    for number in 0..10 {
        let (head, _) = get(gateway.traffic, "/", "");
        assert!(head.starts_with("http/1.1 200"), "request {number}: {head}");
    }
    assert!(arrivals.load(Ordering::Relaxed) > 10, "some were sent twice");
    // A POST may have taken effect: it is not repeated.
    let before = arrivals.load(Ordering::Relaxed);
    let post = "POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let answers: Vec<_> = (0..4).map(|_| send(gateway.traffic, post).0[9..12].to_owned()).collect();
    assert!(answers.contains(&"502".to_owned()) && answers.contains(&"200".to_owned()), "{answers:?}");
    assert_eq!(arrivals.load(Ordering::Relaxed) - before, 4);
}
