//! Bodies in memory: they are counted by the bytes that were received, until they are gone, whatever becomes of them.

use crate::gateway::{Gateway, get, head, send, upstream};
use crate::rows::ROWS;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

/// The length of an upstream's long answer.
const LONG: usize = 3 << 20;

/// An upstream that reads requests with a length, and answers by their path. Returns the bodies that it got too.
fn model() -> (SocketAddr, Arc<Mutex<Vec<Vec<u8>>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let bodies = seen.clone();
    let address = upstream(move |mut socket| {
        loop {
            let head = head(&mut socket).to_ascii_lowercase();
            if head.is_empty() || head.contains("/dies") {
                return;
            }
            let length =
                head.split("content-length: ").nth(1).map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
            let mut body = vec![0; length];
            if socket.read_exact(&mut body).is_err() {
                return;
            }
            bodies.lock().unwrap().push(body);
            let answer =
                if head.contains("/long") { format!("[{}1]", "\"x\",".repeat(LONG / 4)) } else { ROWS.to_owned() };
            let length = answer.len() + usize::from(head.contains("/half"));
            let _ = write!(
                socket,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{answer}"
            );
            if head.contains("/half") {
                return;
            }
        }
    });
    (address, seen)
}

fn chat(rows: usize) -> String {
    let row = |id: usize| json!({"id": id, "state": "open", "by": {"name": "someone", "team": "core"}});
    let text = Value::Array((0..rows).map(row).collect()).to_string();
    json!({"model": "m", "messages": [
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
    ]})
    .to_string()
}

fn gateway(address: SocketAddr, more: &str) -> Gateway {
    Gateway::start(&format!(
        "upstream = \"http://{address}\"\n{more}\n\
         [[plugins]]\nname = \"mask-emails\"\nroutes = [\"/mask/**\"]\n\
         [[plugins]]\nname = \"headers\"\ntools = [\"x\"]\nroutes = [\"/call/**\"]\nsettings = {{}}\n\
         [[routes]]\npath = \"/v1\"\nupstream = \"http://{address}\"\ncontext = true\n\
         [[routes]]\npath = \"/tools\"\nupstream = \"http://{address}\"\ntools = {{ include = [\"*\"] }}\n\
         [[routes]]\npath = \"/v1/compress\"\ncompress = true\n"
    ))
}

fn request(path: &str, headers: &str, length: usize) -> Vec<u8> {
    // Plugins for tools read what looks like MCP.
    let accept = if path.starts_with("/v1") { "" } else { "accept: application/json, text/event-stream\r\n" };
    format!(
        "POST {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-type: application/json\r\n\
         {accept}{headers}content-length: {length}\r\n\r\n"
    )
    .into_bytes()
}

/// Sends some of a request, and keeps the connection.
fn begin(to: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(to).unwrap();
    socket.write_all(bytes).unwrap();
    socket
}

fn whole(to: SocketAddr, path: &str, headers: &str, body: &[u8]) -> (String, Vec<u8>) {
    let mut bytes = request(path, headers, body.len());
    bytes.extend_from_slice(body);
    rest(begin(to, &bytes))
}

fn rest(mut socket: TcpStream) -> (String, Vec<u8>) {
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(answer.len());
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    (head, answer.split_off((end + 4).min(answer.len())))
}

/// Whatever way a request ends, nothing of its bodies counts afterwards.
#[test]
fn nothing_counts_after_any_end() {
    let (address, _) = model();
    let gateway = gateway(address, "");
    let (to, call) = (gateway.traffic, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#);
    let long = chat(4000);
    assert!(long.len() > 200_000);
    for (path, body) in [
        ("/v1/chat/completions", long.as_str()),
        ("/v1/compress", &long),
        ("/tools", call),
        ("/call/x", call),
        ("/mask/x", call),
    ] {
        // An answer, an upstream that dies before and within it, and a client that leaves in its body, and before the answer.
        for path in [path.to_owned(), format!("/v1/dies/{path}"), format!("{path}?/dies"), format!("{path}?/half")] {
            whole(to, &path, "x-prefer-format: stc2\r\n", body.as_bytes());
        }
        let mut bytes = request(path, "", body.len() + 1000);
        bytes.extend_from_slice(body.as_bytes());
        drop(begin(to, &bytes));
        let mut bytes = request(path, "", body.len());
        bytes.extend_from_slice(body.as_bytes());
        drop(begin(to, &bytes));
        whole(to, path, "", b"{");
    }
    for path in ["/long", "/mask/long", "/rows", "/half", "/mask/half"] {
        for headers in ["", "x-prefer-format: stc2\r\n", "x-prefer-format: stc2\r\naccept-encoding: gzip\r\n"] {
            let asks = format!("GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{headers}\r\n");
            rest(begin(to, asks.as_bytes()));
            // A client that reads nothing, and leaves.
            let asks = format!("GET {path} HTTP/1.1\r\nhost: h\r\n{headers}\r\n");
            drop(begin(to, asks.as_bytes()));
        }
    }
    gateway.comes_to("stc_held_bytes", 0);
    gateway.comes_to("stc_requests", 0);
}

/// What a client only announces is not counted, and keeps no other out.
#[test]
fn an_announced_length_takes_nothing() {
    let (address, _) = model();
    let gateway = gateway(address, "[limits]\nheld_bytes = 1000000\n[timeouts]\nqueue = 0.2\n");
    let silent: Vec<_> = (0..8)
        .flat_map(|_| ["/v1/chat/completions", "/v1/compress", "/tools", "/call/x"])
        .map(|path| {
            let mut bytes = request(path, "", 3 << 20);
            bytes.push(b'{');
            begin(gateway.traffic, &bytes)
        })
        .collect();
    gateway.comes_to("stc_requests", 32);
    assert!(gateway.metric("stc_held_bytes") <= 32);
    let (head, _) = whole(gateway.traffic, "/v1/chat/completions", "", chat(60).as_bytes());
    assert!(head.contains("changed=1"), "{head}");
    drop(silent);
    gateway.comes_to("stc_held_bytes", 0);
}

/// Where bodies have taken all, the next waits, and passes or is refused when it has waited for too long.
#[test]
fn the_next_body_waits_for_room() {
    let (address, seen) = model();
    let limits = "[limits]\nheld_bytes = 400000\nheld_bytes_per_client = 300000\n";
    // An eighth is for short bodies.
    let (body, short) = (chat(1500), chat(60));
    let filled = |gateway: &Gateway, of: &str| {
        let mut bytes = request(of, "", 262_500);
        bytes.extend(vec![b' '; 262_000]);
        let socket = begin(gateway.traffic, &bytes);
        gateway.comes_to("stc_held_bytes", 262_500);
        socket
    };
    for of in ["/v1/compress", "/tools", "/call/x", "/v1/chat/completions"] {
        let gateway = gateway(address, &format!("{limits}[timeouts]\nqueue = 0.3\n"));
        let full = filled(&gateway, of);
        let (head, _) = whole(gateway.traffic, "/v1/chat/completions", "", body.as_bytes());
        assert!(head.starts_with("http/1.1 200") && head.contains("left=busy"), "{of}: {head}");
        assert_eq!(seen.lock().unwrap().last().unwrap(), body.as_bytes(), "as it came");
        for path in ["/v1/compress", "/tools", "/call/x"] {
            let (head, _) = whole(gateway.traffic, path, "", body.as_bytes());
            assert!(head.starts_with("http/1.1 503"), "{of}, {path}: {head}");
        }
        let (head, answer) = get(gateway.traffic, "/long", "x-prefer-format: stc2\r\n");
        assert!(head.contains("x-stc-skipped: busy") && answer.len() >= LONG, "{head}");
        let (head, _) = get(gateway.traffic, "/rows", "x-prefer-format: stc2\r\n");
        assert!(head.contains("x-stc-ratio") && !head.contains("skipped"), "{head}");
        let (head, _) = whole(gateway.traffic, "/v1/chat/completions", "", short.as_bytes());
        assert!(head.contains("changed=1"), "a short body does not wait: {head}");
        drop(full);
        gateway.comes_to("stc_held_bytes", 0);
    }
    let gateway = gateway(address, &format!("{limits}[timeouts]\nqueue = 60\n"));
    let full = filled(&gateway, "/v1/compress");
    let mut bytes = request("/v1/chat/completions", "", body.len());
    bytes.extend_from_slice(body.as_bytes());
    let waits = begin(gateway.traffic, &bytes);
    gateway.comes_to("stc_requests", 2);
    drop(full);
    let (head, _) = rest(waits);
    assert!(head.contains("changed=1"), "it waited for room: {head}");
}

/// A body that is checked for tools, read by a plugin and prepared counts once: it does not wait for itself.
#[test]
fn a_body_counts_once_whatever_reads_it() {
    let (address, _) = model();
    let body = chat(1500);
    // An eighth is for short bodies.
    let share = body.len() * 5 / 4;
    let gateway = Gateway::start(&format!(
        "upstream = \"http://{address}\"\n[limits]\nheld_bytes = {share}\nheld_bytes_per_client = {share}\n\
         [timeouts]\nqueue = 0.3\n\
         [[plugins]]\nname = \"headers\"\ntools = [\"x\"]\nsettings = {{}}\n\
         [[plugins]]\nname = \"redact-secrets\"\n\
         [[routes]]\npath = \"/v1\"\nupstream = \"http://{address}\"\ncontext = true\ntools = {{ include = [\"*\"] }}\n"
    ));
    for _ in 0..3 {
        let (head, _) = whole(gateway.traffic, "/v1/chat/completions", "", body.as_bytes());
        assert!(head.starts_with("http/1.1 200") && head.contains("changed=1"), "{head}");
        gateway.comes_to("stc_held_bytes", 0);
    }
}

/// A few bytes in a content coding count as what they stand for, and only then.
#[test]
fn a_coded_request_counts_without_its_coding() {
    let (address, seen) = model();
    let gateway = gateway(address, "[limits]\nheld_bytes = 4000000\n[timeouts]\nqueue = 0.2\n");
    let gzip = |plain: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(plain).unwrap();
        gzip.finish().unwrap()
    };
    let bomb = gzip(format!("{{\"messages\":[],\"x\":\"{}\"}}", "a".repeat(3 << 20)).as_bytes());
    let (head, _) = whole(gateway.traffic, "/v1/chat/completions", "content-encoding: gzip\r\n", &bomb);
    assert!(head.contains("left=busy"), "{head}");
    assert_eq!(*seen.lock().unwrap().last().unwrap(), bomb);
    let usual = gzip(chat(600).as_bytes());
    let (head, _) = whole(gateway.traffic, "/v1/chat/completions", "content-encoding: gzip\r\n", &usual);
    assert!(head.contains("changed=1"), "{head}");
    gateway.comes_to("stc_held_bytes", 0);
}

/// A body that a plugin read, or that was converted, counts while a client does not read it; others pass, or wait.
#[test]
fn what_waits_for_a_slow_reader_counts() {
    let (address, _) = model();
    let gateway = gateway(
        address,
        "[limits]\nheld_bytes = 20000000\nheld_bytes_per_client = 10000000\n[timeouts]\nqueue = 0.2\n",
    );
    let slow: Vec<_> = (0..12).map(|_| begin(gateway.traffic, b"GET /mask/long HTTP/1.1\r\nhost: h\r\n\r\n")).collect();
    // Those that find no room pass, and may have ended by now: 3 MiB fit into the buffers of a connection.
    for _ in 0..400 {
        if gateway.metric("stc_held_bytes") >= LONG as u64 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    let held = gateway.metric("stc_held_bytes");
    assert!((LONG as u64..=8_750_000).contains(&held), "{held}");
    let (head, _) = send(gateway.traffic, "GET /rows HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
    assert!(head.starts_with("http/1.1 200"), "a body that passes needs no room: {head}");
    drop(slow);
    gateway.comes_to("stc_held_bytes", 0);
}

/// The limit has an earlier name; both at once are an error that says so.
#[test]
fn the_earlier_name_of_the_limit_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let check = |limits: &str| {
        let path = folder.path().join("gateway.toml");
        std::fs::write(&path, format!("upstream = \"http://127.0.0.1:1\"\n[limits]\n{limits}")).unwrap();
        let program =
            std::process::Command::new(env!("CARGO_BIN_EXE_stc-gateway")).arg("check-config").arg(path).output();
        let output = program.unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(check("held_request_bytes = 7").0);
    assert!(check("held_bytes = 7\nheld_bytes_per_client = 7").0);
    for (bad, why) in
        [("held_request_bytes = 7\nheld_bytes = 8", "duplicate field"), ("held_bytes_per_client = 0", "at least 1")]
    {
        let (good, said) = check(bad);
        assert!(!good && said.contains(why), "{bad}: {said}");
    }
}
