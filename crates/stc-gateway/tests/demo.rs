//! `stc-gateway demo`: its printed commands work, with the README's output.

use crate::gateway::{listen, send, wait_for};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_printed_commands_give_the_readmes_output() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
    demo.args(["demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
    let mut demo = Running(demo.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let said = listen(&mut demo.0);
    let page = wait_for(&said, "The page");
    let lines = [(); 5].map(|()| wait_for(&said, "curl "));
    let answers = lines.each_ref().map(|line| {
        let output = Command::new("sh").args(["-c", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    });

    let json = include_str!("../../../corpus/made/users-small.json");
    assert_eq!(answers[0], json, "unchanged");
    let minified = stc::decode(json.as_bytes()).unwrap();
    assert_eq!(stc::decode(answers[1].as_bytes()).unwrap(), minified, "as STC 2");
    let message: serde_json::Value = serde_json::from_str(&answers[2]).unwrap();
    let block = &message["result"]["content"][0];
    assert_eq!(block["_meta"]["io.stoa/stc"]["format"], "stc2");
    assert_eq!(stc::decode(block["text"].as_str().unwrap().as_bytes()).unwrap(), minified, "inside a message");

    let reply: serde_json::Value = serde_json::from_str(&answers[3]).unwrap();
    assert!(reply["choices"][0]["message"]["content"].as_str().unwrap().contains("1 tool results"), "{reply}");
    let seen: serde_json::Value = serde_json::from_str(&answers[4]).unwrap();
    let text = seen["messages"][2]["content"].as_str().unwrap();
    let issues = include_str!("../../../corpus/made/issues.json");
    // The request names a large model.
    let options = stc::Options::default().format(stc::Format::Stc2);
    let mut encoder = stc::Encoder::with_options(options);
    assert!(text.as_bytes() == encoder.encode(issues.as_bytes()).unwrap(), "{} of {}", text.len(), issues.len());
    assert_eq!(stc::decode(text.as_bytes()).unwrap(), stc::minify(issues.as_bytes()).unwrap(), "as the model saw it");

    let admin = page.rsplit("http://").next().unwrap().trim_end_matches('/').parse().unwrap();
    let sample = format!("POST /sample HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    assert!(send(admin, &sample).0.starts_with("http/1.1 202"));
    let all = format!("GET /state HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\n\r\n");
    let state = || serde_json::from_str::<serde_json::Value>(&send(admin, &all).1).unwrap();
    // The last response of the sample traffic, after those that the commands above got.
    let is_last = |state: &serde_json::Value| {
        let excerpt = &state["excerpt"];
        state["context"]["latest"].as_array().is_some_and(|latest| latest.len() == 2)
            && (excerpt["name"].as_str(), excerpt["format"].as_str()) == (Some("/issues"), Some("stc2"))
    };
    let sent = (0..400).map(|_| state()).find(|state| {
        std::thread::sleep(Duration::from_millis(50));
        is_last(state)
    });
    let sent = sent.expect("sample traffic");
    assert!(sent["sent"].as_u64().unwrap() > 30 && sent["skipped"].as_u64().unwrap() > 0, "{sent}");
    let shown = |part: &str| sent["excerpt"][part].as_str().unwrap().to_owned();
    assert_eq!(shown("before"), issues.chars().take(2000).collect::<String>() + "…");
    assert!(shown("after").contains("[13]{"), "{}", shown("after"));

    let readme = include_str!("../README.md");
    let port = lines[0].split("127.0.0.1:").nth(1).unwrap().split('/').next().unwrap();
    for line in &lines {
        assert!(readme.contains(&line.replace(port, "8080")), "{line}");
    }
    for answer in &answers[1..3] {
        assert!(readme.contains(&format!("```text\n{}\n```", answer.trim_end())), "{answer}");
    }
}
