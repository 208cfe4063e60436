//! Started, asked, configured: what an operator does first.

use super::gateway::{Gateway, get, json_upstream, to};
use crate::upstream::{ROWS, ROWS_STC};
use std::process::Command;

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
