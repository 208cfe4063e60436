//! The packaged files fit the program: valid configurations, existing commands.

use crate::gateway::{Gateway, answers, get, json_upstream, send, to};
use crate::rows::ROWS;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn packaged(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging").join(name)).unwrap()
}

fn check(configuration: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.toml");
    std::fs::write(&path, configuration).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
    let output =
        command.arg("check-config").arg(&path).env("STC_STORE_SECRET", "of the test, long enough").output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn configurations_are_valid() {
    for (name, routes) in [
        ("gateway.toml", 1),
        ("kustomize/gateway.toml", 1),
        ("kustomize-redis/gateway.toml", 1),
        ("compose/gateway.toml", 2),
    ] {
        let said = check(&packaged(name));
        assert!(said.contains(&format!("good, {routes} routes")), "{name}: {said}");
    }
    let sidecar = packaged("kubernetes-sidecar.yaml");
    let inside = sidecar.split("gateway.toml: |\n").nth(1).unwrap().split("---").next().unwrap();
    let unindented = |text: &str| text.lines().map(|line| line.trim_start().to_owned() + "\n").collect::<String>();
    let said = check(&unindented(inside));
    assert!(said.contains("good, 1 routes"), "{said}");
    let compose = packaged("compose-redis.yaml");
    let said = check(&unindented(compose.split("content: |\n").nth(1).unwrap()));
    assert!(said.contains("good, 1 routes"), "{said}");
}

/// systemd is told when the program listens and when it drains, at a path or at an abstract name.
#[test]
fn systemd_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let name = format!("stc-gateway-test-{}", std::process::id());
    let bind = |address: SocketAddr| UnixDatagram::bind_addr(&address).unwrap();
    let sockets = [
        (path.to_str().unwrap().to_owned(), bind(SocketAddr::from_pathname(&path).unwrap())),
        (format!("@{name}"), bind(SocketAddr::from_abstract_name(&name).unwrap())),
    ];
    for (named, socket) in sockets {
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
        command.args(["--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:1", "--log", "off"]);
        let mut child = command.env("NOTIFY_SOCKET", &named).spawn().unwrap();
        let hears = || {
            let mut message = [0; 100];
            let length = socket.recv(&mut message).unwrap();
            String::from_utf8_lossy(&message[..length]).into_owned()
        };
        assert_eq!(hears(), "READY=1", "{named}");
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        assert_eq!(hears(), "STOPPING=1", "{named}");
        assert!(child.wait().unwrap().success());
    }
    assert!(packaged("stc-gateway.service").contains("Type=notify\n"));
}

/// Every metric that the dashboard shows is one that the program exposes.
#[test]
fn the_dashboard_shows_metrics_that_exist() {
    let result = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{ROWS:?}}}]}}}}"#);
    let length = result.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}");
    let mcp = answers(format!("{head}\r\nconnection: close\r\n\r\n{result}"));
    let route = format!("[[routes]]\npath = \"/mcp\"\nupstream = \"http://{mcp}\"\n");
    let gateway = Gateway::start(&to(json_upstream(), &route));
    get(gateway.traffic, "/rows", "accept-encoding: stc\r\n");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_rows"}}"#;
    let head = "POST /mcp HTTP/1.1\r\nhost: h\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n\
                content-type: application/json\r\n";
    for (format, is_skipped) in [("stc", false), ("stc2-labelled", true)] {
        let asks = format!("x-prefer-format: {format}\r\ncontent-length: {}\r\n", call.len());
        let (head, _) = send(gateway.traffic, &format!("{head}{asks}\r\n{call}"));
        assert_eq!(head.contains("x-stc-skipped: not-smaller"), is_skipped, "{head}");
    }
    let (_, metrics) = get(gateway.admin, "/metrics", "");
    let exposed = |name: &str| {
        metrics.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])))
    };
    let dashboard: serde_json::Value = serde_json::from_str(&packaged("grafana/dashboard.json")).unwrap();
    let mut names = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let words =
                target["expr"].as_str().unwrap().split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            names.extend(words.filter(|word| word.starts_with("stc_") || word.starts_with("process_")));
        }
    }
    assert!(names.len() > 20, "{names:?}");
    let missing: Vec<_> = names.iter().filter(|name| !exposed(name)).collect();
    assert!(missing.is_empty(), "{missing:?}\n{metrics}");
    assert!(exposed("stc_build_info"), "the variable of the dashboard");
    let tool = "stc_tool_duration_seconds_count{route=\"/mcp\",tool=\"list_rows\"} 2\n";
    assert!(metrics.contains(tool), "{metrics}");
}

#[test]
fn commands_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_stc-gateway")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for name in [
        "stc-gateway.service",
        "kubernetes-sidecar.yaml",
        "kustomize/deployment.yaml",
        "compose/compose.yaml",
        "compose-redis.yaml",
        "Dockerfile",
    ] {
        let text = packaged(name);
        let words = text.split(|letter: char| letter.is_whitespace() || "\"[],=".contains(letter));
        let flags: Vec<_> = words
            .filter(|word| word.starts_with("--config") || word.starts_with("STC_GATEWAY") || *word == "check-config")
            .collect();
        assert!(!flags.is_empty() && flags.iter().all(|flag| help.contains(flag)), "{name}: {flags:?}");
    }
}
