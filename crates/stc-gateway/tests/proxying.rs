//! What a proxy tells upstreams and clients: hosts, forwarding headers, references, loops.

use crate::gateway::{Gateway, get, head, send, to, upstream};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, OnceLock};
use std::thread;

/// Starts an upstream that answers with the head of the request as its body.
pub(crate) fn echo() -> SocketAddr {
    upstream(|mut socket| {
        loop {
            let seen = head(&mut socket);
            if seen.is_empty() {
                return;
            }
            let _ = write!(
                socket,
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n{seen}",
                seen.len()
            );
        }
    })
}

#[test]
fn the_client_s_host_is_kept_or_replaced() {
    let echo = echo();
    for (setting, expected) in
        [("", "h".to_owned()), ("host = \"keep\"\n", "h".to_owned()), ("host = \"upstream\"\n", echo.to_string())]
    {
        let gateway = Gateway::start(&to(echo, setting));
        let (_, seen) = get(gateway.traffic, "/", "");
        assert!(seen.contains(&format!("host: {expected}\r\n")), "{setting}: {seen}");
        assert!(seen.contains("x-forwarded-host: h\r\n"), "{seen}");
    }
}

#[test]
fn forwarding_headers_are_added_and_cannot_be_forged() {
    let echo = echo();
    let forged = "x-forwarded-for: 6.6.6.6\r\nx-forwarded-proto: https\r\nx-forwarded-host: evil\r\nforwarded: for=6.6.6.6\r\n\
                  via: 1.0 cache\r\n";
    let gateway = Gateway::start(&to(echo, ""));
    let (_, seen) = get(gateway.traffic, "/", forged);
    for expected in [
        "x-forwarded-for: 127.0.0.1\r\n",
        "x-forwarded-proto: http\r\n",
        "x-forwarded-host: h\r\n",
        "forwarded: for=127.0.0.1;host=\"h\";proto=http\r\n",
        "via: 1.0 cache\r\nvia: 1.1 stc-gateway-",
    ] {
        assert!(seen.contains(expected), "{expected}: {seen}");
    }
    assert!(!seen.contains("6.6.6.6") && !seen.contains("evil"), "{seen}");
    let gateway = Gateway::start(&to(echo, "trusted_proxies = [\"127.0.0.0/8\"]\n"));
    let (_, seen) = get(gateway.traffic, "/", forged);
    for expected in
        ["x-forwarded-for: 6.6.6.6\r\nx-forwarded-for: 127.0.0.1\r\n", "x-forwarded-proto: https\r\n", "evil"]
    {
        assert!(seen.contains(expected), "{expected}: {seen}");
    }
}

/// References to the upstream would lead the client past the gateway.
#[test]
fn references_to_the_upstream_lead_through_the_gateway() {
    let own = Arc::new(OnceLock::<SocketAddr>::new());
    let known = own.clone();
    let redirects = upstream(move |mut socket| {
        head(&mut socket);
        let own = known.get().unwrap();
        let _ = write!(
            socket,
            "HTTP/1.1 201 Created\r\nlocation: http://{own}/made/1?x#y\r\ncontent-location: http://{own}/made\r\n\
             link: <http://{own}/2>; rel=\"next\", <https://elsewhere.example/>; rel=\"up\"\r\ncontent-length: 0\r\n\r\n"
        );
    });
    own.set(redirects).unwrap();
    let gateway = Gateway::start(&to(redirects, "host = \"upstream\"\n"));
    let (head, _) = send(gateway.traffic, "GET / HTTP/1.1\r\nhost: api.example:8080\r\nconnection: close\r\n\r\n");
    for expected in [
        "\nlocation: http://api.example:8080/made/1?x#y\r",
        "\ncontent-location: http://api.example:8080/made\r",
        "\nlink: <http://api.example:8080/2>; rel=\"next\", <https://elsewhere.example/>; rel=\"up\"\r",
    ] {
        assert!(head.contains(expected), "{expected}: {head}");
    }
}

/// Passes every connection on to an address that is set later.
fn relay(to: Arc<OnceLock<SocketAddr>>) -> SocketAddr {
    upstream(move |mut from| {
        let mut into = TcpStream::connect(to.get().unwrap()).unwrap();
        let (mut back, mut out) = (into.try_clone().unwrap(), from.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut back, &mut out));
        let _ = std::io::copy(&mut from, &mut into);
    })
}

#[test]
fn a_gateway_whose_upstream_is_itself_answers_508() {
    let own = Arc::new(OnceLock::new());
    let gateway =
        Gateway::start(&to(relay(own.clone()), "[timeouts]\nresponse = 5\nqueue = 5\n[limits]\nrequests = 20\n"));
    own.set(gateway.traffic).unwrap();
    let (head, body) = get(gateway.traffic, "/", "");
    assert!(head.starts_with("http/1.1 508"), "{head} {body}");
    // A chain of two gateways is no loop.
    let first = Gateway::start(&to(echo(), ""));
    let second = Gateway::start(&to(first.traffic, ""));
    let (head, seen) = get(second.traffic, "/", "");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert_eq!(seen.matches("via: 1.1 stc-gateway-").count(), 2, "{seen}");
}

/// RFC 9112, 3.2: an HTTP/1.1 request names one host.
#[test]
fn a_request_without_one_host_is_refused() {
    let gateway = Gateway::start(&to(echo(), ""));
    for (hosts, status) in
        [("", "400"), ("host: a\r\nhost: b\r\n", "400"), ("host: a b\r\n", "400"), ("host: a\r\n", "200")]
    {
        let (head, _) = send(gateway.traffic, &format!("GET / HTTP/1.1\r\nconnection: close\r\n{hosts}\r\n"));
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{hosts:?}: {head}");
    }
    let mut old = TcpStream::connect(gateway.traffic).unwrap();
    old.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut got = String::new();
    old.read_to_string(&mut got).unwrap();
    assert!(got.starts_with("HTTP/1.0 200"), "{got}");
}
