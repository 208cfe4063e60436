//! `stc context`: the table, the report, the prepared request and the way back.

use std::fs;

use serde_json::Value;

use crate::command::{folder, run, text};

fn request(name: &'static str) -> Vec<u8> {
    stc_corpus::long_request(name, 6, 4_000).body
}

#[test]
fn a_request_there_and_back() {
    let folder = folder("context");
    for api in ["openai-chat", "openai-responses", "anthropic"] {
        let [file, prepared] = [format!("{api}.json"), format!("{api}.prepared.json")].map(|name| folder.join(name));
        let body = request(api);
        fs::write(&file, &body).unwrap();
        let table = run(&["context", text(&file), "--out", text(&prepared)], "").fine();
        let table = String::from_utf8(table).unwrap();
        assert!(table.starts_with(&format!("{api}, lossless, ")), "{table}");
        assert!(table.contains("call_0") && table.contains("stc2-labelled"), "{table}");
        let shorter = fs::read(&prepared).unwrap();
        assert!(shorter.len() < body.len());
        assert_eq!(run(&["context", "--back", text(&prepared)], "").fine(), body, "{api}");
    }
}

/// The model in the request, the one that a path would name, and a reader by its level.
#[test]
fn the_model_decides_the_format() {
    let body = String::from_utf8(request("anthropic")).unwrap();
    let of = |model: &str| body.replace("\"sample\"", &format!("{model:?}"));
    for (flags, body, status, head) in [
        (&[][..], body.clone(), "stc2-labelled", "for a small reader by unknown-model\n"),
        (&[], of("claude-opus-4-5"), "stc2", "for a large reader by readers.toml:claude-*\n"),
        (&[], of("gpt-4.1-nano"), "stc2-labelled", "for a small reader by readers.toml:nano\n"),
        (&["--model", "gpt-5"], of("x-1b"), "stc2", "for a large reader by readers.toml:gpt-*\n"),
        (&["--reader", "large"], of("x-1b"), "stc2", "for a large reader by context.reader\n"),
        (&["--reader", "small"], of("claude-opus-4-5"), "stc2-labelled", "for a small reader by context.reader\n"),
        (&["--format", "stc2-labelled"], of("claude-opus-4-5"), "stc2-labelled", "of 6 texts changed\n"),
    ] {
        let table = String::from_utf8(run(&[&["context"], flags].concat(), &body).fine()).unwrap();
        assert!(table.lines().next().is_some_and(|line| format!("{line}\n").ends_with(head)), "{flags:?}: {table}");
        let report = run(&[&["context", "--json"], flags].concat(), &body).fine();
        let report: Value = serde_json::from_slice(&report).unwrap();
        assert_eq!(report["results"][0]["status"], status, "{flags:?}");
        assert_eq!(report["reader"].is_null(), flags.first() == Some(&"--format"), "{flags:?}");
    }
    assert_eq!(run(&["context", "--reader", "huge"], &body).code, Some(2));
}

#[test]
fn the_report_counts_real_tokens() {
    let report = run(&["context", "--json"], request("anthropic")).fine();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["api"], "anthropic");
    assert_eq!(report["results"].as_array().unwrap().len(), 6);
    let [before, after] = [0, 1].map(|side| report["total"]["o200k"][side].as_u64().unwrap());
    assert!(after < before);
    let sum: u64 = report["results"].as_array().unwrap().iter().map(|row| row["o200k"][1].as_u64().unwrap()).sum();
    assert_eq!(sum, after);
}

#[test]
fn a_mode_that_changes_nothing() {
    let body = request("openai-chat");
    let folder = folder("context-disabled");
    let out = folder.join("out.json");
    let table = run(&["context", "--mode", "disabled", "--out", text(&out)], &body).fine();
    assert!(String::from_utf8(table).unwrap().starts_with("openai-chat, disabled, left as it came: skipped, 0 of 0"));
    assert_eq!(fs::read(&out).unwrap(), body);
    assert_eq!(run(&["context", "--mode", "best"], &body).code, Some(2));
}

#[test]
fn what_is_not_a_request_is_rejected() {
    assert!(run(&["context"], "{").rejected().contains("<stdin>"));
    for body in ["[]", "{}", "7", r#"[{"messages":[]}]"#, r#"{"messages":7}"#, r#"{"result":[{"id":1}]}"#] {
        for flags in [&["context"][..], &["context", "--json"], &["context", "--back"], &["context", "--api", "gemini"]]
        {
            let refused = run(flags, body);
            assert_eq!(refused.code, Some(2), "{flags:?} {body}");
            assert!(refused.errors.contains("<stdin>: not a request"), "{}", refused.errors);
        }
    }
    let other = run(&["context", "--api", "gemini"], r#"{"messages":[]}"#);
    assert!(other.code == Some(2) && other.errors.contains("not a request of gemini"), "{}", other.errors);
    for body in [r#"{"messages":[]}"#, r#"{"input":"hello"}"#, r#"{"contents":[]}"#] {
        let table = String::from_utf8(run(&["context"], body).fine()).unwrap();
        assert!(table.contains("0 of 0 texts changed"), "{table}");
    }
    let refused = run(&["context"], r#"{"messages":[],"_stc":{"mode":"best"}}"#);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.errors.contains("_stc.mode: expected disabled, lossless, safe, standard or aggressive"),
        "{}",
        refused.errors
    );
}

#[test]
fn the_steps_of_a_mode() {
    let log = "\u{1b}[32m   Compiling\u{1b}[0m a v1.0.0\\n".replace('\u{1b}', "\\u001b").repeat(60);
    let body = format!(
        r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"c1","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"cargo build\"}}"}}}}]}},{{"role":"tool","tool_call_id":"c1","content":"{log}"}}]}}"#
    );
    let table = run(&["context", "--mode", "standard", "--steps"], &body).fine();
    let table = String::from_utf8(table).unwrap();
    assert!(
        table.starts_with("openai-chat, standard, 1 of 1 texts changed, for a small reader by no-model\n"),
        "{table}"
    );
    for words in ["c1", "abridged", "ansi", "family", "estimated tokens"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    let report: Value =
        serde_json::from_slice(&run(&["context", "--mode", "safe", "--steps", "--json"], &body).fine()).unwrap();
    assert_eq!(report["results"][0]["steps"][0]["step"], "ansi");
    assert_eq!(report["results"][0]["steps"].as_array().unwrap().len(), 1);
}
