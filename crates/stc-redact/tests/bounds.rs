//! What a text may cost.

use stc_redact::{Failed, Redactor};

#[test]
fn texts_without_secrets_are_borrowed() {
    let redactor = Redactor::default();
    for text in ["", "plain", r#"{"a": "b\n\"c\""}"#, "https://example.org/a?b=c", "the password is required"] {
        let redacted = redactor.redact(text).unwrap();
        assert!(matches!(redacted.text, std::borrow::Cow::Borrowed(_)), "{text}");
    }
}

/// Texts that were made to cost much end: in a result or in `Late`, and always in the same.
#[test]
fn hostile_texts_end() {
    let redactor = Redactor::default();
    let length = 400_000;
    let of = |part: &str| part.repeat(length / part.len());
    // The value of each is that of all that follow.
    let late = of("aws_session_token=");
    assert_eq!(redactor.redact(&late).err(), Some(Failed::Late));
    for text in [
        of("x://a:"),
        of("token="),
        of("password:"),
        of("-----BEGIN PRIVATE KEY-----\nA"),
        of("bearer "),
        of("\\"),
        of("\\\\\""),
        of("\\u005c"),
        of("sk-"),
        of("eyJ."),
        of("\x1b["),
        of("Q~"),
        of("[redacted:a]"),
        of("--token "),
        of("name=token\n"),
    ] {
        let first = redactor.redact(&text).map(|redacted| redacted.found);
        let second = redactor.redact(&text).map(|redacted| redacted.found);
        assert_eq!(first, second);
    }
}

/// The tool results that agents see pass: keywords in every line are no reason to be late.
#[test]
fn usual_texts_are_never_late() {
    let redactor = Redactor::default();
    for line in [
        "https://example.org/path/to/page?token=none\n",
        "{\"token\": \"abc\", \"password\": \"short\", \"url\": \"https://example.org/\"},\n",
        "SECRET_KEY=changeme API_KEY=placeholder TOKEN=none\n",
        "Authorization: Bearer <token>\n",
    ] {
        let text = line.repeat(20_000);
        assert!(redactor.redact(&text).is_ok(), "{line}");
    }
}
