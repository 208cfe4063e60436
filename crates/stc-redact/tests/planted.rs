//! Secrets of every rule, planted in every way, are gone.

use serde_json::Value;
use stc_redact::{Redactor, plant};

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
        for (way, text_with) in plant::WAYS {
            for seed in 0..2 {
                let planted = plant::fill(example, seed * 1000 + number as u64);
                let text = text_with(&planted.text);
                let redacted = redactor.redact(&text).unwrap();
                let seen = seen(&redacted.text).replace(['\x1b'], "");
                count += 1;
                let plain = seen.replace("[7m", "").replace("\u{9b}7m", "").replace("\u{90}q\u{9c}\u{84}", "");
                let is_left = planted.secrets().any(|part| seen.contains(part) || plain.contains(part));
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
        for text in plant::wrapped(&planted.text) {
            let redacted = redactor.redact(&text).unwrap();
            assert!(planted.secrets().all(|part| !redacted.text.contains(&part[..20])), "{text} -> {}", redacted.text);
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
