//! Clients that stop reading: their responses are closed, and they never hold what other clients need.
//!
//! The misbehaving clients come from 127.0.0.2, the well-behaved client from 127.0.0.1, because shares go by peer address.

use crate::gateway::{Gateway, get, head, to, upstream};
use crate::rows::ROWS;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Longer than every socket buffer on the way.
const LARGE: usize = 64 << 20;

/// Long enough for anything that is going to happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// Answers `/large` with [`LARGE`] bytes and anything else with rows.
fn large_upstream() -> SocketAddr {
    upstream(|mut socket| {
        loop {
            let request = head(&mut socket);
            if request.is_empty() {
                return;
            }
            let large = request.starts_with("GET /large");
            let length = if large { LARGE } else { ROWS.len() };
            let _ =
                write!(socket, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
            if !large {
                let _ = socket.write_all(ROWS.as_bytes());
                continue;
            }
            let chunk = " ".repeat(1 << 20);
            for _ in 0..LARGE >> 20 {
                if socket.write_all(chunk.as_bytes()).is_err() {
                    return;
                }
            }
        }
    })
}

/// Connects from 127.0.0.`host`.
pub(crate) fn connect(host: u8, address: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let socket = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, host], 0))).unwrap();
        socket.connect(address).await.unwrap().into_std().unwrap()
    });
    socket.set_nonblocking(false).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Requests a path over HTTP/1 and reads nothing.
fn request(host: u8, address: SocketAddr, path: &str) -> TcpStream {
    let mut socket = connect(host, address);
    write!(socket, "GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").unwrap();
    socket
}

/// The whole response to a request from 127.0.0.1, or what arrived of it.
fn response(address: SocketAddr, path: &str) -> String {
    let mut bytes = Vec::new();
    let _ = request(1, address, path).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether every one of these requests, one after another, is answered with the rows.
fn healthy(address: SocketAddr, count: usize) {
    for number in 0..count {
        let response = response(address, "/rows");
        assert!(response.starts_with("HTTP/1.1 200") && response.ends_with(ROWS), "request {number}: {response:?}");
    }
}

/// An HTTP/2 client of a few frames, which controls every window itself.
pub(crate) struct Http2 {
    socket: TcpStream,
}

pub(crate) const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

/// One frame from the server.
pub(crate) struct Received {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Http2 {
    /// Connects, with this window for each stream.
    pub(crate) fn connect(host: u8, address: SocketAddr, window: u32) -> Self {
        let mut client = Self { socket: connect(host, address) };
        client.socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        let initial_window_size = [&[0, 4][..], &window.to_be_bytes()].concat();
        client.send(SETTINGS, 0, 0, &initial_window_size);
        client
    }

    pub(crate) fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let frame = [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat();
        // The server may have closed the connection already.
        let _ = self.socket.write_all(&frame);
    }

    /// Sends a GET request.
    pub(crate) fn request(&mut self, stream: u32, path: &str) {
        // HPACK: `:method GET`, `:scheme http`, literal `:path`, literal `:authority`.
        let length = u8::try_from(path.len()).unwrap();
        let block = [&[0x82, 0x86, 0x04, length][..], path.as_bytes(), &[0x01, 1, b'h']].concat();
        self.send(HEADERS, 0x5, stream, &block);
    }

    fn widen(&mut self, stream: u32, bytes: u32) {
        self.send(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
    }

    /// Receives the next frame; `None` once the connection is closed.
    pub(crate) fn receive(&mut self) -> Option<Received> {
        let mut head = [0; 9];
        self.socket.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        self.socket.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        if head[3] == SETTINGS && head[4] == 0 {
            self.send(SETTINGS, 1, 0, &[]);
        }
        Some(Received { kind: head[3], flags: head[4], stream, payload })
    }

    /// Receives frames until this many streams have ended, and says how each did.
    fn endings(&mut self, count: usize) -> Vec<Ending> {
        let mut endings = Vec::new();
        let mut refused = Vec::new();
        while endings.len() < count {
            let frame = self.receive().unwrap_or_else(|| panic!("{} of {count} streams ended", endings.len()));
            // By the text: the status is in HPACK's dynamic table after the first.
            if frame.kind == DATA
                && String::from_utf8_lossy(&frame.payload).contains("too many requests in progress on this")
            {
                refused.push(frame.stream);
            }
            if frame.kind == RST_STREAM {
                endings.push(Ending::Reset);
            } else if matches!(frame.kind, DATA | HEADERS) && frame.flags & 1 == 1 {
                endings.push(if refused.contains(&frame.stream) { Ending::Refused } else { Ending::Whole });
            }
        }
        endings
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Whole,
    /// Answered with 503.
    Refused,
    Reset,
}

const STREAM: &str = "stc_stalled_sends_total{level=\"stream\"}";
const CONNECTION: &str = "stc_stalled_sends_total{level=\"connection\"}";

/// The first attack: HTTP/2 streams whose window stays 0.
#[test]
fn streams_without_a_window_leave_other_clients_alone() {
    let limits = "[limits]\nrequests = 20\nrequests_per_client = 10\n[timeouts]\nsend = 2\n";
    let gateway = Gateway::start(&to(large_upstream(), limits));
    let mut attackers: Vec<_> = (0..5).map(|_| Http2::connect(2, gateway.traffic, 0)).collect();
    for attacker in &mut attackers {
        for stream in 0..20 {
            attacker.request(stream * 2 + 1, "/large");
        }
    }
    gateway.comes_to("stc_held_permits", 10);
    healthy(gateway.traffic, 50);
    // With no window, a refusal's body cannot be sent either: every stream ends in a reset.
    for attacker in &mut attackers {
        assert_eq!(attacker.endings(20), [Ending::Reset; 20]);
    }
    gateway.comes_to(STREAM, 100);
    gateway.comes_to("stc_requests", 0);
    healthy(gateway.traffic, 1);
}

/// The second attack: HTTP/1 sockets that request much and are never read.
#[test]
fn sockets_that_are_not_read_leave_other_clients_alone() {
    let limits = "[limits]\nrequests = 20\nrequests_per_client = 10\n[timeouts]\nsend = 2\nqueue = 30\n";
    let gateway = Gateway::start(&to(large_upstream(), limits));
    let attackers: Vec<_> = (0..30).map(|_| request(2, gateway.traffic, "/large")).collect();
    gateway.comes_to("stc_held_permits", 10);
    healthy(gateway.traffic, 50);
    gateway.comes_to(CONNECTION, 30);
    gateway.comes_to("stc_requests", 0);
    for mut attacker in attackers {
        let mut bytes = Vec::new();
        let _ = attacker.read_to_end(&mut bytes);
        assert!(bytes.len() < LARGE, "cut off");
    }
    healthy(gateway.traffic, 1);
}

/// A load balancer's address is the address of all clients: the operator raises the share, and the send timeout frees permits.
#[test]
fn permits_come_back_where_all_clients_share_an_address() {
    let limits = "[limits]\nrequests = 20\nrequests_per_client = 20\nrequests_per_connection = 20\n\
                  [timeouts]\nsend = 1\nqueue = 30\n";
    let gateway = Gateway::start(&to(large_upstream(), limits));
    let mut attacker = Http2::connect(1, gateway.traffic, 0);
    for stream in 0..20 {
        attacker.request(stream * 2 + 1, "/large");
    }
    gateway.comes_to("stc_held_permits", 20);
    healthy(gateway.traffic, 5);
    assert_eq!(attacker.endings(20), [Ending::Reset; 20]);
}

/// Opens a stream on `/large`, accepts `step` bytes every 50 ms, and returns what arrived until the stream ended or 2 MB came.
fn accept_slowly(address: SocketAddr, step: u32) -> (usize, Option<Ending>) {
    let mut client = Http2::connect(2, address, step);
    client.request(1, "/large");
    client.widen(0, 1 << 30);
    let mut socket = Http2 { socket: client.socket.try_clone().unwrap() };
    let (stop, stopped) = mpsc::channel::<()>();
    let widening = thread::spawn(move || {
        while stopped.recv_timeout(Duration::from_millis(50)) == Err(mpsc::RecvTimeoutError::Timeout) {
            socket.widen(1, step);
        }
    });
    let mut arrived = 0;
    let ending = loop {
        let frame = client.receive().expect("the connection stays");
        match frame.kind {
            RST_STREAM => break Some(Ending::Reset),
            DATA => arrived += frame.payload.len(),
            _ => {}
        }
        if arrived > 2 << 20 {
            break None;
        }
    };
    drop(stop);
    widening.join().unwrap();
    (arrived, ending)
}

#[test]
fn a_stream_must_keep_up_with_the_rate() {
    // 64 KB every 50 ms is 1.3 MB/s.
    let config = |rate: u32| to(large_upstream(), &format!("[limits]\nsend_rate = {rate}\n[timeouts]\nsend = 1\n"));
    let gateway = Gateway::start(&config(100_000_000));
    let (arrived, ending) = accept_slowly(gateway.traffic, 64 << 10);
    assert_eq!(ending, Some(Ending::Reset), "{arrived} bytes");
    assert!(arrived > 64 << 10, "it made progress: {arrived} bytes");
    gateway.comes_to(STREAM, 1);
    let gateway = Gateway::start(&config(1_000));
    assert_eq!(accept_slowly(gateway.traffic, 64 << 10).1, None);
    assert_eq!(gateway.metric(STREAM), 0);
}

#[test]
fn a_socket_must_keep_up_with_the_rate() {
    let config = |rate: u32| to(large_upstream(), &format!("[limits]\nsend_rate = {rate}\n[timeouts]\nsend = 1\n"));
    let read_slowly = |gateway: &Gateway| {
        let mut socket = request(2, gateway.traffic, "/large");
        let mut buffer = vec![0; 256 << 10];
        let mut arrived = 0;
        loop {
            match socket.read(&mut buffer) {
                Ok(0) | Err(_) => return arrived,
                Ok(count) => arrived += count,
            }
            thread::sleep(Duration::from_millis(20));
        }
    };
    let gateway = Gateway::start(&config(1_000_000_000));
    assert!(read_slowly(&gateway) < LARGE);
    gateway.comes_to(CONNECTION, 1);
    let gateway = Gateway::start(&config(1_000));
    assert!(read_slowly(&gateway) > LARGE);
    assert_eq!(gateway.metric(CONNECTION), 0);
}

/// An event stream with nothing to send is idle, not stalled, for longer than the send timeout.
#[test]
fn idle_event_streams_live_on() {
    let (go, gone) = mpsc::channel::<()>();
    let gone = Arc::new(Mutex::new(gone));
    let events = upstream(move |mut socket| {
        head(&mut socket);
        let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: first\n\n");
        gone.lock().unwrap().recv().unwrap();
        let _ = write!(socket, "data: second\n\n");
    });
    let gateway = Gateway::start(&to(events, "[timeouts]\nsend = 0.2\n"));
    let mut http1 = request(1, gateway.traffic, "/events");
    let mut arrived = Vec::new();
    while !arrived.ends_with(b"data: first\n\n\r\n") {
        let mut byte = [0];
        http1.read_exact(&mut byte).unwrap();
        arrived.push(byte[0]);
    }
    // The window ends with the first event.
    let mut http2 = Http2::connect(1, gateway.traffic, "data: first\n\n".len() as u32);
    http2.request(1, "/events");
    while http2.receive().expect("a frame").payload != b"data: first\n\n" {}
    thread::sleep(Duration::from_secs(1));
    go.send(()).unwrap();
    go.send(()).unwrap();
    http1.read_to_end(&mut arrived).unwrap();
    assert!(String::from_utf8_lossy(&arrived).contains("data: second"));
    http2.widen(1, 1000);
    while http2.receive().expect("a frame").payload != b"data: second\n\n" {}
    assert_eq!((gateway.metric(STREAM), gateway.metric(CONNECTION)), (0, 0));
}

#[test]
fn a_connection_has_its_share() {
    let limits = "[limits]\nrequests = 20\nrequests_per_connection = 2\n[timeouts]\nqueue = 0.2\n";
    let gateway = Gateway::start(&to(large_upstream(), limits));
    let mut greedy = Http2::connect(1, gateway.traffic, 1000);
    for stream in 0..5 {
        greedy.request(stream * 2 + 1, "/large");
    }
    assert_eq!(greedy.endings(3), [Ending::Refused; 3]);
    gateway.comes_to("stc_refused_requests_total{reason=\"connection\"}", 3);
    // The same client is served on another connection.
    healthy(gateway.traffic, 5);
}

#[test]
fn a_client_has_its_share() {
    let limits = "[limits]\nrequests = 20\nrequests_per_client = 2\n[timeouts]\nqueue = 0.2\n";
    let gateway = Gateway::start(&to(large_upstream(), limits));
    let _held = [request(2, gateway.traffic, "/large"), request(2, gateway.traffic, "/large")];
    gateway.comes_to("stc_held_permits", 2);
    let mut refused = String::new();
    request(2, gateway.traffic, "/rows").read_to_string(&mut refused).unwrap();
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1\r\n"), "{refused}");
    gateway.comes_to("stc_refused_requests_total{reason=\"client\"}", 1);
    healthy(gateway.traffic, 5);
}

#[test]
fn saturation_is_reported_and_passes() {
    let limits = "[limits]\nrequests = 2\n[timeouts]\nqueue = 0.2\nsaturated = 0.5\n";
    let gateway = Gateway::start(&to(large_upstream(), limits));
    let ready = || get(gateway.admin, "/readyz", "");
    assert!(ready().0.starts_with("http/1.1 200"));
    let held = [request(2, gateway.traffic, "/large"), request(2, gateway.traffic, "/large")];
    gateway.comes_to("stc_held_permits", 2);
    let refused = response(gateway.traffic, "/rows");
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1\r\n"), "{refused}");
    gateway.comes_to("stc_refused_requests_total{reason=\"total\"}", 1);
    gateway.comes_to("stc_saturated", 1);
    let (head, body) = ready();
    assert!(head.starts_with("http/1.1 503") && body == "saturated\n", "{head} {body}");
    drop(held);
    gateway.comes_to("stc_saturated", 0);
    assert!(ready().0.starts_with("http/1.1 200"));
    healthy(gateway.traffic, 5);
}

/// The loopback addresses that these tests use are different clients.
#[test]
fn peers_differ() {
    let address = large_upstream();
    let hosts = [1, 2].map(|host| connect(host, address).local_addr().unwrap().ip());
    assert_eq!(hosts, [IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2])]);
}
