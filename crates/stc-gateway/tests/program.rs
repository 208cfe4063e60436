//! The program itself, as an operator runs it: a process, sockets, signals.

use crate::upstream::{ROWS, ROWS_STC};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A running gateway; it goes when this goes.
struct Gateway {
    child: Child,
    traffic: SocketAddr,
    admin: SocketAddr,
    said: mpsc::Receiver<String>,
    _folder: tempfile::TempDir,
    config: PathBuf,
}

impl Gateway {
    fn start(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.toml");
        std::fs::write(&path, config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_stc-gateway"))
            .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--config"])
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, said) = mpsc::channel();
        for pipe in
            [Box::new(child.stderr.take().unwrap()) as Box<dyn Read + Send>, Box::new(child.stdout.take().unwrap())]
        {
            let send = send.clone();
            thread::spawn(move || {
                BufReader::new(pipe).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
            });
        }
        let address = |line: String| line.rsplit("http://").next().unwrap().parse().unwrap();
        let traffic = address(said.recv_timeout(Duration::from_secs(20)).unwrap());
        let admin = address(said.recv_timeout(Duration::from_secs(20)).unwrap());
        Self { child, traffic, admin, said, _folder: folder, config: path }
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Waits for a line that has this in it.
    fn says(&self, what: &str) -> String {
        loop {
            let line = self.said.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("never said {what}"));
            if line.contains(what) {
                return line;
            }
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An upstream that treats every connection with this.
fn upstream(treat: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let treat = treat.clone();
            thread::spawn(move || treat(socket));
        }
    });
    address
}

/// Reads one request's head.
fn head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn json_upstream() -> SocketAddr {
    upstream(|mut socket| {
        while !head(&mut socket).is_empty() {
            let length = ROWS.len();
            let _ = write!(
                socket,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{ROWS}"
            );
        }
    })
}

fn send(address: SocketAddr, request: &str) -> (String, String) {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut response = Vec::new();
    // A connection that was cut short shows what had come.
    let _ = socket.read_to_end(&mut response);
    let response = String::from_utf8(response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
    (head.to_lowercase(), body.to_owned())
}

fn get(address: SocketAddr, path: &str, headers: &str) -> (String, String) {
    send(address, &format!("GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{headers}\r\n"))
}

fn to(upstream: SocketAddr, more: &str) -> String {
    format!("upstream = \"http://{upstream}\"\n{more}")
}

#[test]
fn asked_not_asked_counted_and_written_down() {
    let gateway = Gateway::start(&to(json_upstream(), ""));
    let (head, body) = get(gateway.traffic, "/rows", "");
    assert!(head.starts_with("http/1.1 200") && !head.contains("stc"), "{head}");
    assert_eq!(body, ROWS);
    let (head, body) = get(gateway.traffic, "/rows?x=1", "accept-encoding: stc\r\n");
    assert!(head.contains("content-encoding: stc"), "{head}");
    assert_eq!(body, ROWS_STC);
    let line: serde_json::Value = serde_json::from_str(&gateway.says("\"response\"")).unwrap();
    assert_eq!((&line["path"], &line["outcome"]), (&"/rows".into(), &"sent".into()));
    assert_eq!(line["bytes"], serde_json::json!([ROWS.len(), ROWS_STC.len()]));
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    for expected in [
        "stc_responses_total{door=\"accept-encoding\",format=\"stc1\",outcome=\"sent\"} 1".to_owned(),
        format!("stc_bytes_in_total {}", ROWS.len()),
        "stc_http_responses_total{class=\"2xx\"} 2".to_owned(),
        "stc_encode_seconds_count 1".to_owned(),
        "stc_requests 0".to_owned(),
    ] {
        assert!(metrics.contains(&expected), "{expected}\n{metrics}");
    }
    for (path, status) in [("/healthz", "200"), ("/readyz", "200"), ("/else", "404")] {
        assert!(get(gateway.admin, path, "").0.starts_with(&format!("http/1.1 {status}")), "{path}");
    }
}

#[test]
fn check_config_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        let path = folder.path().join("c.toml");
        std::fs::write(&path, text).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_stc-gateway")).arg("check-config").arg(path).output().unwrap();
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let (good, said) = check("upstream = \"http://a\"\n");
    assert!(good && said.contains("good, 1 routes"), "{said}");
    let (good, said) = check("upstream = \"http://a\"\n[timeouts]\nidel = 3\n");
    assert!(!good && said.contains("c.toml:3:1: ") && said.contains("idel"), "{said}");
}

#[test]
fn sighup_takes_a_good_configuration_and_keeps_the_old_one_over_a_bad() {
    let upstream = json_upstream();
    let gateway = Gateway::start(&to(upstream, ""));
    let asks = || get(gateway.traffic, "/rows", "accept-encoding: stc\r\n").0;
    std::fs::write(&gateway.config, "upstream = 7\n").unwrap();
    gateway.signal("-HUP");
    assert!(gateway.says("kept as it was").contains("gateway.toml:1:12"));
    assert!(asks().contains("content-encoding: stc"));
    std::fs::write(&gateway.config, to(upstream, "[stc]\nmin_bytes = 100000\n")).unwrap();
    gateway.signal("-HUP");
    gateway.says("read again");
    assert!(asks().contains("x-stc-skipped: too-small"));
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    assert!(metrics.contains("{outcome=\"refused\"} 1") && metrics.contains("{outcome=\"taken\"} 1"), "{metrics}");
}

#[test]
fn sigterm_lets_what_is_under_way_finish() {
    let (arrived, arrivals) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let gone = std::sync::Arc::new(std::sync::Mutex::new(gone));
    let slow = upstream(move |mut socket| {
        head(&mut socket);
        let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nhalf");
        arrived.send(()).unwrap();
        gone.lock().unwrap().recv().unwrap();
        let _ = write!(socket, "more");
    });
    let mut gateway = Gateway::start(&to(slow, ""));
    let traffic = gateway.traffic;
    let client = thread::spawn(move || get(traffic, "/", ""));
    arrivals.recv().unwrap();
    gateway.signal("-TERM");
    gateway.says("draining");
    assert!(get(gateway.admin, "/readyz", "").0.starts_with("http/1.1 503"));
    assert!(TcpStream::connect(traffic).is_err(), "no new connections");
    go.send(()).unwrap();
    assert_eq!(client.join().unwrap().1, "halfmore");
    assert!(gateway.child.wait().unwrap().success());
}

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
fn upstreams_that_fail() {
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = upstream(|mut socket| {
        head(&mut socket);
        thread::sleep(Duration::from_secs(60));
    });
    let stalls = upstream(|mut socket| {
        head(&mut socket);
        let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n[1,");
        thread::sleep(Duration::from_secs(60));
    });
    let dies = upstream(|mut socket| {
        head(&mut socket);
        let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n[1,");
    });
    let nonsense = upstream(|mut socket| {
        head(&mut socket);
        let _ = write!(socket, "what?\r\n\r\n");
    });
    for (address, status) in [(refused, "502"), (silent, "504"), (nonsense, "502"), (stalls, ""), (dies, "")] {
        let gateway = Gateway::start(&to(address, "[timeouts]\nresponse = 0.5\nidle = 0.5\n[stc]\nmin_bytes = 1\n"));
        for headers in ["accept-encoding: stc\r\n", ""] {
            let (head, body) = get(gateway.traffic, "/", headers);
            if status.is_empty() {
                // Cut off, so that the client can tell: never a whole answer, and nothing that was not sent.
                let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
                assert_ne!(Some(body.len()), length, "{head}");
                assert!("[1,".starts_with(&body), "{body}");
            } else {
                assert!(head.starts_with(&format!("http/1.1 {status}")), "{head}");
            }
        }
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
