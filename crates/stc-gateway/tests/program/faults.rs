//! Upstreams that fail, each in its own way.

use super::gateway::{Gateway, get, head, to, upstream};
use std::io::Write;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

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
