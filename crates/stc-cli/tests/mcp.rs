//! `stc mcp` around servers of a few lines of shell: texts, other bytes, stderr, exit codes, signals.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::command::{run, stc};

/// Nine rows as a text in JSON.
fn rows() -> String {
    let rows: Vec<String> = (1..10).map(|id| format!(r#"{{\"id\": {id}, \"state\": \"open\"}}"#)).collect();
    format!("[{}]", rows.join(", "))
}

/// A request for a tool.
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rows","arguments":{}}}"#;

fn answer(text: &str) -> String {
    format!(r#"{{"jsonrpc": "2.0","id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}}}"#)
}

fn wrapped(flags: &[&str], script: &str, input: &str) -> crate::command::Ran {
    let arguments: Vec<&str> =
        ["mcp", "--min-bytes", "16"].iter().chain(flags).chain(&["--", "sh", "-c", script]).copied().collect();
    run(&arguments, input)
}

#[test]
fn texts_of_results_change_and_requests_pass_unchanged() {
    let script = format!(
        "while IFS= read -r line; do printf '%s\\n' \"$line\" >&2; cat <<'END'\n{}\nEND\ndone",
        answer(&rows())
    );
    for format in crate::command::FORMATS {
        let ran = wrapped(&["--format", format], &script, &format!("{CALL}\n{CALL}\n"));
        assert_eq!(ran.code, Some(0));
        assert_eq!(ran.errors, format!("{CALL}\n{CALL}\n"), "the server gets what the client sends");
        let out = String::from_utf8(ran.out).expect("UTF-8");
        assert_eq!(out.lines().count(), 2);
        for line in out.lines() {
            let message: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let block = &message["result"]["content"][0];
            assert_eq!(block["_meta"]["io.stoa/stc"]["format"], format);
            let json = stc::decode(block["text"].as_str().expect("a text").as_bytes()).expect("STC");
            assert_eq!(json, rows().replace('\\', "").replace(": ", ":").replace(", ", ",").as_bytes());
            assert!(
                line.starts_with(r#"{"jsonrpc": "2.0","id":1,"#) && line.ends_with(r#"],"isError":false}}"#),
                "{line}"
            );
        }
    }
}

/// The model behind the client, by its level or its name.
#[test]
fn the_reader_decides_the_format() {
    let script = format!("IFS= read -r line; cat <<'END'\n{}\nEND", answer(&rows()));
    for (flags, format) in [
        (["--reader", "large"], "stc2"),
        (["--reader", "small"], "stc2-labelled"),
        (["--model", "anthropic/claude-sonnet-4-5"], "stc2"),
        (["--model", "llama3.2:3b"], "stc2-labelled"),
        (["--model", "house"], "stc2-labelled"),
    ] {
        let out = wrapped(&flags, &script, &format!("{CALL}\n")).fine();
        let message: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(message["result"]["content"][0]["_meta"]["io.stoa/stc"]["format"], format, "{flags:?}");
    }
    for flags in
        [&["--reader", "large", "--format", "stc1"][..], &["--reader", "large", "--model", "m"], &["--reader", "m"]]
    {
        assert_eq!(wrapped(flags, &script, "").code, Some(2), "{flags:?}");
    }
}

#[test]
fn answers_to_other_requests_and_words_stay() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#;
    let script = format!("IFS= read -r line; cat <<'END'\n{}\nEND", answer(&rows()));
    assert_eq!(wrapped(&[], &script, &format!("{list}\n")).fine(), format!("{}\n", answer(&rows())).as_bytes());
    let words = answer(&"just words ".repeat(40));
    let script = format!("cat <<'END'\nnot a message\n\n{words}\nEND");
    assert_eq!(wrapped(&[], &script, "").fine(), format!("not a message\n\n{words}\n").as_bytes());
}

#[test]
fn the_legend_is_added_to_the_instructions() {
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let script = r#"IFS= read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"instructions":"Be kind."}}'"#;
    let out = wrapped(&["--legend"], script, &format!("{initialize}\n")).fine();
    let message: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    let instructions = message["result"]["instructions"].as_str().expect("a text");
    assert!(instructions.starts_with("Be kind.\n\nSTC 2"), "{instructions}");
}

#[test]
fn exit_codes_and_stderr_pass() {
    let ran = wrapped(&[], "echo trouble >&2; exit 7", "");
    assert_eq!((ran.code, ran.errors.as_str(), ran.out.as_slice()), (Some(7), "trouble\n", &b""[..]));
    assert_eq!(wrapped(&[], "kill -9 $$", "").code, Some(137));
    let missing = run(&["mcp", "--", "no-such-server-anywhere"], "");
    assert_eq!(missing.code, Some(127));
    assert!(missing.errors.contains("no-such-server-anywhere"), "{}", missing.errors);
    for arguments in [&["mcp"][..], &["mcp", "--"], &["mcp", "--format", "json", "--", "true"], &["mcp", "sh"]] {
        assert_eq!(run(arguments, "").code, Some(2), "{arguments:?}");
    }
}

#[test]
fn the_end_of_input_reaches_the_server() {
    let ran = wrapped(&[], "cat >/dev/null; echo ended", "anything\nwithout an end");
    assert_eq!(ran.fine(), b"ended\n");
}

#[test]
fn signals_reach_the_server() {
    for (signal, code) in [("TERM", 15), ("INT", 2), ("HUP", 1), ("USR1", 10)] {
        let script = format!("trap 'echo {signal}; exit {code}' {signal}; echo ready; while :; do sleep 0.05; done");
        // A shell cannot trap a signal that was ignored when it started, as INT is in the background. Only Linux's `env` can reset it.
        let reset: &[&str] = if cfg!(target_os = "linux") { &["env", "--default-signal"] } else { &[] };
        let arguments = [&["mcp", "--"], reset, &["sh", "-c", &script]].concat();
        let mut child = stc(&arguments).stdin(Stdio::piped()).spawn().expect("stc starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        assert_eq!(lines.next().expect("a line").expect("readable"), "ready");
        let sent = std::process::Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        assert_eq!(lines.next().expect("a line").expect("readable"), signal);
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{signal}");
    }
}

#[test]
fn a_message_is_delivered_before_the_next_one_arrives() {
    let script = "while IFS= read -r line; do printf '%s\\n' \"$line\"; done";
    let mut child = stc(&["mcp", "--", "sh", "-c", script]).stdin(Stdio::piped()).spawn().expect("stc starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for number in 0..20 {
        writeln!(stdin, r#"{{"n":{number}}}"#).expect("written");
        assert_eq!(lines.next().expect("a line").expect("readable"), format!(r#"{{"n":{number}}}"#));
    }
    drop(stdin);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
