//! Secrets in tool results: when they are replaced, and by which rules.

use stc_context::{Api, Context, HeaderOptions, Mode, RedactSettings, RedactWhen, Request, Settings};

/// A request with a secret in a tool result, and options of its own.
fn body(options: &str) -> String {
    let password = ["Tr0ub", "4dor!3x"].concat();
    let call = r#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"env","arguments":"{}"}}]}"#;
    format!(
        r#"{{{options}"messages":[{call},{{"role":"tool","tool_call_id":"c","content":"DB_PASSWORD={password}"}}]}}"#
    )
}

fn sent(mode: Mode, redact: RedactSettings, options: &str) -> Result<String, String> {
    let context = Context::new(Settings { mode, redact, ..Settings::default() })?;
    let body = body(options);
    let request =
        Request { endpoint: Api::OpenAiChat.into(), body: body.as_bytes(), headers: HeaderOptions::default() };
    let done = context.prepare(request).map_err(|refused| refused.to_string())?;
    Ok(done.body.map_or(body, |body| String::from_utf8(body).unwrap()))
}

fn when(enabled: RedactWhen) -> RedactSettings {
    RedactSettings { enabled, ..RedactSettings::default() }
}

#[test]
fn settings_say_when_secrets_are_replaced() {
    for (enabled, mode, replaced) in [
        (RedactWhen::ByMode, Mode::Lossless, false),
        (RedactWhen::ByMode, Mode::Safe, true),
        (RedactWhen::On, Mode::Lossless, true),
        (RedactWhen::On, Mode::Disabled, false),
        (RedactWhen::Required, Mode::Disabled, true),
        (RedactWhen::Required, Mode::Aggressive, true),
        (RedactWhen::Off, Mode::Safe, false),
    ] {
        let sent = sent(mode, when(enabled), "").unwrap();
        let expected = body("").replace("Tr0ub4dor!3x", "[redacted:password]");
        assert_eq!(sent, if replaced { expected } else { body("") }, "{enabled:?} {mode:?}");
    }
}

#[test]
fn a_request_cannot_refuse_what_is_required() {
    let options = r#""_stc":{"redact_secrets":false},"#;
    let error = sent(Mode::Safe, when(RedactWhen::Required), options).unwrap_err();
    assert!(error.contains("_stc.redact_secrets: false is not allowed here"), "{error}");
    assert!(sent(Mode::Safe, when(RedactWhen::ByMode), options).unwrap().contains("dor!3x"));
    let options = r#""_stc":{"redact_secrets":true},"#;
    assert!(!sent(Mode::Lossless, when(RedactWhen::Off), options).unwrap().contains("dor!3x"));
}

#[test]
fn rules_are_those_of_the_settings() {
    let rules = vec!["-password".to_owned()];
    let without = RedactSettings { enabled: RedactWhen::Required, rules, more: Vec::new() };
    assert_eq!(sent(Mode::Lossless, without, "").unwrap(), body(""));
    let wrong = RedactSettings { rules: vec!["password".to_owned()], ..RedactSettings::default() };
    let error = sent(Mode::Lossless, wrong, "").unwrap_err();
    assert!(error.starts_with("`context.redact.rules`: expected ids"), "{error}");
}
