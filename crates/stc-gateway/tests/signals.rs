//! SIGHUP and SIGTERM.

use crate::gateway::{Gateway, get, head, json_upstream, to, upstream};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;

#[test]
fn sighup_applies_a_valid_configuration_and_rejects_a_bad_one() {
    let upstream = json_upstream();
    let gateway = Gateway::start(&to(upstream, ""));
    let asks = || get(gateway.traffic, "/rows", "accept-encoding: stc\r\n").0;
    std::fs::write(&gateway.config, "upstream = 7\n").unwrap();
    gateway.signal("-HUP");
    assert!(gateway.says("kept as it was").contains("gateway.toml:1:12"));
    assert!(asks().contains("content-encoding: stc"));
    std::fs::write(&gateway.config, to(upstream, "[stc]\nmin_bytes = 100000\n")).unwrap();
    gateway.reload();
    assert!(asks().contains("x-stc-skipped: too-small"));
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    assert!(metrics.contains("{outcome=\"refused\"} 1") && metrics.contains("{outcome=\"taken\"} 1"), "{metrics}");
}

/// A request in progress keeps its permit over a reload: the limits do not double.
#[test]
fn sighup_keeps_the_limits() {
    let (arrived, arrivals) = mpsc::channel();
    let slow = upstream(move |mut socket| {
        let asked = head(&mut socket);
        let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha");
        if asked.contains("/slow") {
            arrived.send(()).unwrap();
            let _ = socket.read(&mut [0]);
        }
        let _ = write!(socket, "lf");
    });
    let limits = |requests: usize| to(slow, &format!("[limits]\nrequests = {requests}\n[timeouts]\nqueue = 0.2\n"));
    let gateway = Gateway::start(&limits(1));
    let mut held = TcpStream::connect(gateway.traffic).unwrap();
    write!(held, "GET /slow HTTP/1.1\r\nhost: h\r\n\r\n").unwrap();
    arrivals.recv().unwrap();
    for (requests, expected) in [(1, "503"), (2, "200"), (1, "503")] {
        std::fs::write(&gateway.config, format!("admin_hosts = [\"h\"]\n{}", limits(requests))).unwrap();
        gateway.reload();
        let (head, _) = get(gateway.traffic, "/", "");
        assert!(head.starts_with(&format!("http/1.1 {expected}")), "{requests}: {head}");
        assert_eq!(gateway.metric("stc_held_permits"), 1);
    }
    drop(held);
    gateway.comes_to("stc_held_permits", 0);
    assert!(get(gateway.traffic, "/", "").0.starts_with("http/1.1 200"));
}

#[test]
fn sigterm_lets_requests_in_progress_finish() {
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
fn sigterm_writes_the_last_log_lines() {
    let mut gateway = Gateway::start(&to(json_upstream(), ""));
    for number in 0..50 {
        get(gateway.traffic, &format!("/{number}/"), "accept-encoding: stc\r\n");
    }
    gateway.signal("-TERM");
    assert!(gateway.child.wait().unwrap().success());
    for number in 0..50 {
        gateway.says(&format!("\"/{number}/\""));
    }
}
