//! Secrets of every rule, planted in every way, are gone.

use serde_json::{Value, json};
use stc_redact::Redactor;
use stc_redact::plant::{self, Planted};

/// How a secret is put into a text.
type Plant = fn(&str) -> String;

const WAYS: [(&str, Plant); 12] = [
    ("plain", |secret| secret.to_owned()),
    ("in a log", |secret| format!("2026-11-17T08:00:00Z INFO starting\nconfig {secret}\ndone in 3 ms\n")),
    ("in a string of JSON", |secret| json!({"id": 7, "text": secret, "ok": true}).to_string()),
    ("in a list of JSON", |secret| serde_json::to_string_pretty(&json!([{"a": [secret, "x"]}, {"a": []}])).unwrap()),
    ("in a key of JSON", |secret| json!({secret: 1}).to_string()),
    ("with every character escaped", |secret| format!("{{\"text\":\"{}\"}}", escaped(secret, |_| true))),
    ("with its signs escaped", |secret| {
        format!("{{\"text\":\"{}\"}}", escaped(secret, |unit| !(unit as u8 as char).is_ascii_alphanumeric()))
    }),
    ("in arguments of a call", |secret| {
        let arguments = json!({"command": format!("run {secret}"), "timeout": 3}).to_string();
        json!({"tool_calls": [{"function": {"name": "bash", "arguments": arguments}}]}).to_string()
    }),
    ("in arguments in a recorded request", |secret| {
        let arguments = json!({"text": secret}).to_string();
        let request = json!({"messages": [{"content": arguments}]}).to_string();
        json!({"body": request}).to_string()
    }),
    ("in colour", |secret| format!("\x1b[32mok\x1b[0m \x1b[1;31m{secret}\x1b[0m\n")),
    ("with a change of colour inside", |secret| {
        let middle = secret.len() / 2;
        let middle = (middle..).find(|at| secret.is_char_boundary(*at)).unwrap();
        format!("{}\x1b[7m{}\x1b[0m", &secret[..middle], &secret[middle..])
    }),
    ("in a message about an error", |secret| format!("error: request failed ({secret}), retrying")),
];

fn escaped(secret: &str, is: fn(u16) -> bool) -> String {
    let unit = |unit: u16| match is(unit) || matches!(unit, 0x22 | 0x5c) || unit < 0x20 {
        true => format!("\\u{unit:04x}"),
        false => String::from_utf16_lossy(&[unit]),
    };
    secret.encode_utf16().map(unit).collect()
}

/// Returns the parts that must be gone: those of a name and of a user are none.
fn secrets(planted: &Planted) -> impl Iterator<Item = &String> {
    planted.parts.iter().filter(|part| part.len() >= 12)
}

/// Returns a text with its escapes resolved as often as that is possible.
fn seen(text: &str) -> String {
    let mut all = text.to_owned();
    let mut queue = vec![text.to_owned()];
    while let Some(text) = queue.pop() {
        let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
        let mut values = vec![value];
        while let Some(value) = values.pop() {
            match value {
                Value::String(string) => {
                    all.push_str(&string);
                    queue.push(string);
                }
                Value::Array(elements) => values.extend(elements),
                Value::Object(members) => {
                    for (key, value) in members {
                        all.push_str(&key);
                        values.push(value);
                    }
                }
                _ => {}
            }
        }
    }
    all
}

#[test]
fn every_planted_secret_is_gone() {
    let redactor = Redactor::default();
    let mut count = 0;
    let mut left = Vec::new();
    for (number, (id, example)) in plant::examples().iter().enumerate() {
        for (way, plant) in WAYS {
            for seed in 0..2 {
                let planted = plant::fill(example, seed * 1000 + number as u64);
                let text = plant(&planted.text);
                let redacted = redactor.redact(&text).unwrap();
                let seen = seen(&redacted.text).replace(['\x1b'], "");
                count += 1;
                let plain = seen.replace("[7m", "");
                let is_left = secrets(&planted).any(|part| seen.contains(part) || plain.contains(part));
                if is_left || redacted.found.is_empty() {
                    left.push(format!("{id} {way}: {text} -> {}", redacted.text));
                }
            }
        }
    }
    assert!(count >= 1_000, "{count}");
    assert!(left.is_empty(), "{} of {count}, first:\n{}", left.len(), left[..left.len().min(12)].join("\n"));
}

/// Keys with indented lines, with carriage returns, in quotes of a mail, cut off.
#[test]
fn private_keys_are_found_across_line_wraps() {
    let redactor = Redactor::default();
    let example = plant::examples().into_iter().find(|(id, _)| id == "private-key").unwrap().1;
    for seed in 0..50 {
        let planted = plant::fill(&example, seed);
        let key = &planted.text;
        let header = "-----BEGIN RSA PRIVATE KEY-----";
        let cut = &key[..key.len() / 2];
        for text in [
            key.replace('\n', "\n    "),
            key.replace('\n', "\r\n"),
            key.replace('\n', "\n> "),
            key.replace('\n', " "),
            key.replace('\n', "\\n"),
            key.replace('\n', "\\\\n"),
            format!("\"{}\";", key.trim_end().replace('\n', "\\n\" +\n    \"")),
            json!(key.lines().collect::<Vec<_>>()).to_string(),
            json!(key.lines().map(|line| json!({"line": line, "ok": true})).collect::<Vec<_>>()).to_string(),
            serde_json::to_string_pretty(&json!({"lines": key.lines().collect::<Vec<_>>()})).unwrap(),
            cut.to_owned(),
            key.replace(header, &format!("{header}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123ABCD\n")),
            key.replace("RSA ", "").replace("BEGIN", "BEGIN OPENSSH").replace("END", "END OPENSSH"),
        ] {
            let redacted = redactor.redact(&text).unwrap();
            assert!(secrets(&planted).all(|part| !redacted.text.contains(&part[..20])), "{text} -> {}", redacted.text);
        }
    }
}

/// What shares a line with a secret stays.
#[test]
fn everything_else_stays() {
    let redactor = Redactor::default();
    for (id, example) in plant::examples() {
        let planted = plant::fill(&example, 9);
        let text = format!("before \n{} \nafter", planted.text);
        let redacted = redactor.redact(&text).unwrap().text.into_owned();
        assert!(
            redacted.starts_with("before \n") && redacted.ends_with(" \nafter") || id == "private-key",
            "{redacted}"
        );
        assert!(redacted.contains(&format!("[redacted:{id}]")), "{id}: {text} -> {redacted}");
    }
}
