//! Routes that allow some MCP tools only.

use crate::gateway::{Gateway, get, head, send, upstream};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::mpsc;

/// Starts an MCP server that reports the bodies it gets.
fn server() -> (SocketAddr, mpsc::Receiver<String>) {
    let (report, bodies) = mpsc::channel();
    let address = upstream(move |mut socket| {
        let seen = head(&mut socket).to_lowercase();
        let length =
            seen.split("content-length: ").nth(1).map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
        let mut body = vec![0; length];
        let _ = socket.read_exact(&mut body);
        let _ = report.send(String::from_utf8(body).unwrap());
        let _ = write!(socket, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\ndone");
    });
    (address, bodies)
}

fn post(address: SocketAddr, body: &str, headers: &str) -> (String, String) {
    let length = body.len();
    let head =
        format!("POST /mcp HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n");
    send(address, &(head + body))
}

#[test]
fn only_allowed_tools_reach_the_server() {
    let (server, bodies) = server();
    let tools = "tools = { include = [\"list_*\"], exclude = [\"list_secrets\"] }";
    let plugin = "[[plugins]]\nname = \"tenant\"\n";
    for plugins in ["", plugin] {
        let config = format!("[[routes]]\npath = \"/mcp\"\nupstream = \"http://{server}\"\n{tools}\n{plugins}");
        let gateway = Gateway::start(&config);
        let call = |id: &str, name: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#)
        };
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned();
        for allowed in [call("1", "list_users"), list] {
            assert_eq!(post(gateway.traffic, &allowed, "").1, "done");
            assert_eq!(bodies.recv().unwrap(), allowed, "unchanged");
        }
        assert_eq!(get(gateway.traffic, "/mcp", "").1, "done", "no body");
        assert_eq!(bodies.recv().unwrap(), "");
        for id in ["7", "\"a\\u0062\""] {
            for name in ["delete_users", "list_secrets"] {
                let (head, body) = post(gateway.traffic, &call(id, name), "");
                assert!(head.starts_with("http/1.1 200") && head.contains("application/json"), "{head}");
                let expected = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"the tool `{name}` is not allowed here"}}}}"#
                );
                assert_eq!(body, expected);
            }
        }
        let batch = format!("[{},{}]", call("1", "list_users"), call("2", "delete_users"));
        for (body, headers) in [
            (batch.as_str(), ""),
            ("{\"method\":", ""),
            (r#"{"id":"delete_users","method":"tools/call","params":{"name":"list_users","name":"x"}}"#, ""),
            (&call("1", "list_users"), "mcp-method: tools/call\r\nmcp-name: delete_users\r\n"),
        ] {
            let (head, answer) = post(gateway.traffic, body, headers);
            assert!(answer.contains("\"error\":{\"code\":-3260"), "{head} {answer}");
            // A 400 repeats nothing of the request.
            let echoes = answer.contains("delete_users") || !answer.contains("\"id\":null");
            assert!(!head.starts_with("http/1.1 400") || !echoes, "{head} {answer}");
        }
        assert!(post(gateway.traffic, "xx", "content-encoding: gzip\r\n").0.starts_with("http/1.1 415"));
        let long = format!("{{\"x\":\"{}\"}}", "x".repeat(5 << 20));
        assert!(post(gateway.traffic, &long, "").0.starts_with("http/1.1 413"));
        let upgrade = "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: x\r\n";
        assert!(get(gateway.traffic, "/mcp", upgrade).0.starts_with("http/1.1 403"));
        assert!(bodies.try_recv().is_err(), "the server saw none of these");
        assert_eq!(gateway.metric("stc_rejected_requests_total{reason=\"tool\"}"), 8);
    }
}
