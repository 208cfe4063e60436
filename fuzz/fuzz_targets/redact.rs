//! Secrets: redacting ends, once is enough, and JSON stays JSON of the same structure.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use stc_redact::{Redactor, plant};
use std::sync::LazyLock;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    // Gaps like `<40>` become parts of secrets.
    let text = plant::fill(text, choice.into()).text;
    let text = match choice % 4 {
        0 => format!("{{\"a\":\"{text}\",\"b\":[\"{text}\"]}}"),
        1 => Value::String(text).to_string(),
        2 => Value::String(Value::String(text).to_string()).to_string(),
        _ => text,
    };
    let Ok(redacted) = REDACTOR.redact(&text) else { return };
    let again = REDACTOR.redact(&redacted.text).expect("no more work than before");
    assert_eq!(again.text, redacted.text);
    assert_eq!(again.found, []);
    if let Ok(before) = serde_json::from_str::<Value>(&text) {
        let after = serde_json::from_str::<Value>(&redacted.text).expect("JSON stays JSON");
        assert_eq!(shape(&before), shape(&after));
    }
});

/// Returns how arrays nest and what their values are. Objects count as one value: keys that were replaced may be the same.
fn shape(value: &Value) -> String {
    match value {
        Value::Array(elements) => format!("[{}]", elements.iter().map(shape).collect::<Vec<_>>().join(",")),
        Value::Object(_) => "{}".to_owned(),
        Value::String(_) => "s".to_owned(),
        other => other.to_string(),
    }
}
