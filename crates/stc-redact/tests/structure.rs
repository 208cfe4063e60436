//! JSON stays JSON, and what was redacted once is not redacted again.

use serde_json::{Value, json};
use stc_redact::{Redactor, RuleText, plant};

/// Returns a value with every string and key blanked.
fn shape(value: &Value) -> Value {
    match value {
        Value::String(_) => Value::Null,
        Value::Array(elements) => elements.iter().map(shape).collect(),
        Value::Object(members) => members.values().map(shape).collect(),
        other => other.clone(),
    }
}

#[test]
fn json_keeps_its_structure() {
    let redactor = Redactor::default();
    let secret = plant::fill("<40>", 1).text;
    for text in [
        format!(r#"{{"api_key":"{secret}","n":[1,2.5e3,null,true,{{}}]}}"#),
        format!(r#"{{"password":-1.5E+10,"token":123456789012345678,"x":"{secret}"}}"#),
        format!(r#"{{"a":"\npm_{secret}","b":"\\npm_{secret}","c":"\u123eyJ{secret}.{secret}.{secret}"}}"#),
        format!(r#"{{"password":"ab\"cd{secret}\\","b":"c"}}"#),
        format!(r#"{{"a":"-----BEGIN PRIVATE KEY-----\n{secret}","b":"-----END PRIVATE KEY-----"}}"#),
        format!(r#"{{"a":"x:\\","password":"\\{secret}\\\\"}}"#),
        format!(r#"["\ud83d\ude00api_key={secret}\ud83d\ude00","token",7,"secret","{secret}"]"#),
        format!(r#"{{"name":"API_TOKEN","value":"{secret}","next":[{{"name":"PORT","value":8080}}]}}"#),
        format!(r#"{{"url":"https://a:{secret}@","x":"@b"}}"#),
    ] {
        let before: Value = serde_json::from_str(&text).unwrap();
        let redacted = redactor.redact(&text).unwrap();
        let after: Value =
            serde_json::from_str(&redacted.text).unwrap_or_else(|_| panic!("{text} -> {}", redacted.text));
        assert_eq!(shape(&before), shape(&after), "{text} -> {}", redacted.text);
        assert_eq!(redactor.redact(&redacted.text).unwrap().found, [], "{}", redacted.text);
    }
}

#[test]
fn passwords_with_escaped_quotes_are_replaced_as_a_whole() {
    let redactor = Redactor::default();
    let redacted = redactor.redact(r#"{"password":"ab\"cd1!ef","x":"y"}"#).unwrap();
    assert_eq!(redacted.text, r#"{"password":"[redacted:password]","x":"y"}"#);
}

/// Random mixtures of keywords, quotes, escapes and parts of secrets.
#[test]
fn redaction_is_idempotent_and_json_stays_json() {
    let redactor = Redactor::default();
    let secret = plant::fill("<32>", 3).text;
    let examples: Vec<_> = plant::examples().iter().map(|(_, hit)| plant::fill(hit, 5).text).collect();
    let parts = [
        "password",
        "token",
        "\"",
        "\\",
        "\\\"",
        "\\n",
        "\\u002d",
        ":",
        "=",
        " ",
        ",",
        "[redacted:secret]",
        "://",
        "@",
        "a1!",
        "eyJ",
        ".",
        "{",
        "}",
        "\n",
        "\x1b[0m",
        "-----BEGIN PRIVATE KEY-----",
        "é",
        "😀",
        "\\ud83d\\ude00",
        "npm_",
        "bearer ",
        "value",
        "--token ",
        "/",
        "sk-",
        "<",
        ">",
    ];
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 20) as usize % below
    };
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..random(12) + 1 {
            match random(10) {
                0 => text.push_str(&secret[..random(secret.len())]),
                1 => text.push_str(&examples[random(examples.len())]),
                _ => text.push_str(parts[random(parts.len())]),
            }
        }
        for text in [text.clone(), json!({"a": text, "b": [text]}).to_string(), format!("{{\"a\":\"{text}\"}}")] {
            let redacted = redactor.redact(&text).unwrap_or_else(|why| panic!("{why:?}: {text:?}"));
            let again = redactor.redact(&redacted.text).unwrap();
            assert_eq!(again.text, redacted.text, "{text:?}");
            assert_eq!(again.found, [], "{text:?}");
            if let Ok(before) = serde_json::from_str::<Value>(&text) {
                let after = serde_json::from_str::<Value>(&redacted.text);
                let after = after.unwrap_or_else(|_| panic!("{text:?} -> {:?}", redacted.text));
                // Two keys that were replaced may be one; their values are not compared.
                if !text.contains("[redacted:") && before.as_object().is_none_or(|before| before.len() == 2) {
                    assert_eq!(shape(&before), shape(&after), "{text:?}");
                }
            }
        }
    }
}

#[test]
fn an_operator_leaves_rules_out_and_adds_some() {
    let badge: RuleText =
        toml_rule("id = \"badge\"\nkeywords = [\"bdg-\"]\npattern = 'bdg-[0-9]{6}'\nhit = \"bdg-<6d>\"");
    let redactor = Redactor::new(&["password".to_owned()], &[badge]).unwrap();
    let text = "password=Tr0ub4dor&3 bdg-123456";
    assert_eq!(redactor.redact(text).unwrap().text, "password=Tr0ub4dor&3 [redacted:badge]");
    assert!(redactor.ids().any(|id| id == "badge") && !redactor.ids().any(|id| id == "password"));
    let error = Redactor::new(&["pasword".to_owned()], &[]).unwrap_err();
    assert_eq!(error.to_string(), "rule `pasword`: no such rule");
    for (rule, expected) in [
        ("id = \"A\"\nkeywords = [\"ab\"]\npattern = 'ab'\nhit = \"ab\"", "an id has"),
        ("id = \"a\"\nkeywords = [\"a\"]\npattern = 'ab'\nhit = \"ab\"", "expected 1 to 64 keywords"),
        ("id = \"a\"\nkeywords = [\"ab\"]\npattern = 'a('\nhit = \"ab\"", "is not a regular expression"),
        ("id = \"a\"\nkeywords = [\"ab\"]\npattern = 'abc'\nhit = \"ab\"", "`hit` has no secret"),
        ("id = \"a\"\nkeywords = [\"ab\"]\npattern = 'ab'\nhit = \"ab\"\nmiss = \"ab\"", "`miss` has a secret"),
    ] {
        let error = Redactor::new(&[], &[toml_rule(rule)]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

fn toml_rule(text: &str) -> RuleText {
    toml::from_str(text).unwrap()
}
