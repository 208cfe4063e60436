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

#[test]
fn a_client_s_connection_header_removes_nothing_that_the_gateway_sets() {
    let echo = echo();
    let plugin = "[[plugins]]\nname = \"headers\"\nsettings = { request = { set = { authorization = \"Bearer k\", x-set = \"7\" } } }\n";
    let gateway = Gateway::start(&to(echo, plugin));
    for name in [
        "authorization",
        "x-set",
        "host",
        "x-request-id",
        "content-type",
        "cookie",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "forwarded",
        "via",
    ] {
        let named = format!("connection: close, {name}\r\ncontent-type: text/plain\r\ncookie: a=b\r\nx-own: 1\r\n");
        let (_, seen) = get(gateway.traffic, "/", &named);
        for kept in [
            "authorization: bearer k",
            "x-set: 7",
            "host: h",
            "x-request-id: ",
            "content-type: ",
            "cookie: a=b",
            "x-forwarded-for: ",
            "x-forwarded-host: ",
            "x-forwarded-proto: ",
            "forwarded: ",
            "via: ",
            "x-own: 1",
        ] {
            assert!(seen.to_lowercase().contains(&format!("\r\n{kept}")), "{name}, {kept}: {seen}");
        }
    }
    let (_, seen) =
        get(gateway.traffic, "/", "connection: close, x-own\r\nx-own: 1\r\nx_own: 1\r\nX_Forwarded_For: 6.6.6.6\r\n");
    assert!(!seen.contains("x-own") && !seen.contains('_'), "{seen}");
    let gateway = Gateway::start(&to(echo, "underscores_in_headers = true\n"));
    let (_, seen) = get(gateway.traffic, "/", "x_own: 1\r\n");
    assert!(seen.contains("x_own: 1"), "{seen}");
}

#[test]
fn what_is_matched_is_what_is_forwarded() {
    let echo = echo();
    let routes = format!(
        "[[routes]]\npath = \"/closed\"\nupstream = \"http://{echo}/base\"\nstrip = true\nrate = {{ requests_per_day = 1 }}\n\
         [[routes]]\npath = \"/raw\"\nupstream = \"http://{echo}\"\npaths = \"as-they-come\"\n"
    );
    let gateway = Gateway::start(&to(echo, &routes));
    let (head, seen) = get(gateway.traffic, "/%63losed/%7Ex%3ay?%61", "");
    assert!(head.starts_with("http/1.1 200") && seen.starts_with("GET /base/~x%3Ay?%61 "), "{head} {seen}");
    for path in ["/closed", "/clos%65d/x", "http://h/closed"] {
        assert!(get(gateway.traffic, path, "").0.starts_with("http/1.1 429"), "{path}");
    }
    for path in
        ["//closed", "/x/../closed", "/CLOSED", "/closed;x", "/closed%2fx", "/closed/../secret", "/x%5c", "/x%00", "/%"]
    {
        let (head, body) = get(gateway.traffic, path, "");
        assert!(head.starts_with("http/1.1 400") && body.starts_with("{\"error\":\""), "{path}: {head} {body}");
    }
    for path in ["/raw/a%2fb", "/raw//x", "/raw/%41%5c"] {
        let (_, seen) = get(gateway.traffic, path, "");
        assert!(seen.starts_with(&format!("GET {path} ")), "{path}: {seen}");
    }
}

#[test]
fn a_transfer_coding_that_is_not_decoded_is_not_forwarded() {
    let gateway = Gateway::start(&to(echo(), ""));
    let request = "POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    assert!(send(gateway.traffic, request).0.starts_with("http/1.1 501"));
}
