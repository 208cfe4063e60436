//! Sample traffic for the page: REST, MCP and chat requests, in every format.

use super::model;
use super::samples::SAMPLES;
use stc_layer::Format;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The time that one response may take.
const RESPONSE_TIME: Duration = Duration::from_secs(10);

/// Sends all requests to the proxy, one after the other. What fails is on the page.
pub(super) fn send(proxy: SocketAddr) {
    let post = |path: &str, headers: &str, body: &str| {
        let length = body.len();
        exchange(
            proxy,
            &format!("POST {path}"),
            &format!("{headers}content-type: application/json\r\ncontent-length: {length}\r\n"),
            body,
        );
    };
    for format in Format::ALL.map(Format::name) {
        let prefers = format!("x-prefer-format: {format}\r\n");
        for sample in &SAMPLES {
            exchange(proxy, &format!("GET {}", sample.path), &prefers, "");
            let call =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}"}}}}"#, sample.tool);
            post("/mcp", &format!("{prefers}accept: application/json, text/event-stream\r\n"), &call);
        }
    }
    post(model::CHAT, "", &model::request());
    // The page shows the latest.
    exchange(proxy, "GET /issues", "x-prefer-format: stc2\r\n", "");
}

/// Sends a request, and waits until its response has ended.
fn exchange(proxy: SocketAddr, line: &str, headers: &str, body: &str) {
    let sent = || {
        let mut socket = TcpStream::connect(proxy)?;
        socket.set_read_timeout(Some(RESPONSE_TIME))?;
        let request = format!("{line} HTTP/1.1\r\nhost: {proxy}\r\nconnection: close\r\n{headers}\r\n{body}");
        socket.write_all(request.as_bytes())?;
        socket.read_to_end(&mut Vec::new())
    };
    let _ = sent();
}
