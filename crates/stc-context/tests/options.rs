//! Options of a request: what is followed, what is refused, what is removed.

use stc_context::{Api, Context, Done, HeaderOptions, Mode, Refused, Request, Settings};

fn prepared(context: &Context, api: Api, body: &str, headers: HeaderOptions<'_>) -> Result<Done, Refused> {
    context.prepare(Request { endpoint: api.into(), body: body.as_bytes(), headers, model: None })
}

fn with(options: &str) -> Result<Done, Refused> {
    let context = Context::new(Settings::default()).unwrap();
    let body = format!(r#"{{"model":"m","messages":[],"_stc":{options}}}"#);
    prepared(&context, Api::OpenAiChat, &body, HeaderOptions::default())
}

#[test]
fn options_are_removed() {
    let context = Context::new(Settings::default()).unwrap();
    for (body, expected) in [
        (r#"{"_stc":"lossless","model":"m"}"#, r#"{"model":"m"}"#),
        (r#"{"model":"m" , "_stc" : {"mode":"disabled"} }"#, r#"{"model":"m" }"#),
        (r#"{"_stc":{},"_forge":{"tool_output_compression":"off"},"a":1}"#, r#"{"a":1}"#),
        (
            r#"{"_forge":{"x":1,"tool_output_compression":"on","schema_compression":"none","y":2}}"#,
            r#"{"_forge":{"x":1,"y":2}}"#,
        ),
        (r#"{"_forge":{"schema_compression":"disabled","x":1},"_stc":"lossless"}"#, r#"{"_forge":{"x":1}}"#),
    ] {
        let done = prepared(&context, Api::Anthropic, body, HeaderOptions::default()).unwrap();
        assert_eq!(String::from_utf8(done.body.unwrap()).unwrap(), expected, "{body}");
    }
    for kept in [r#"{"_forge":{"x":1}}"#, r#"{"_forge":7}"#, r#"{"metadata":{"_stc":"x"}}"#] {
        assert_eq!(prepared(&context, Api::Anthropic, kept, HeaderOptions::default()).unwrap().body, None, "{kept}");
    }
    let closed = Context::new(Settings { options: false, ..Settings::default() }).unwrap();
    let body = r#"{"_stc":{"nonsense":1}}"#;
    assert_eq!(prepared(&closed, Api::Anthropic, body, HeaderOptions::default()).unwrap().body, None);
}

#[test]
fn wrong_options_are_named() {
    for (options, expected) in [
        (r#""fast""#, "_stc: expected disabled, lossless, safe, standard or aggressive"),
        ("7", "_stc: expected a mode or an object of options"),
        ("null", "_stc: expected a mode or an object of options"),
        (r#"{"mode":"best"}"#, "_stc.mode: expected disabled, lossless, safe, standard or aggressive"),
        (r#"{"mode":3}"#, "_stc.mode: expected a string"),
        (r#"{"format":"yaml"}"#, "_stc.format: expected by-model, stc2, stc2-labelled, toon or json"),
        (
            r#"{"format":"stc2-dense"}"#,
            "_stc.format: stc2-dense is part of stc2; expected by-model, stc2, stc2-labelled, toon or json",
        ),
        (r#"{"format":"toon"}"#, "_stc.format: this program does not write toon"),
        (r#"{"dedup":"yes"}"#, "_stc.dedup: expected true or false"),
        (r#"{"min_bytes":-1}"#, "_stc.min_bytes: expected a number of bytes"),
        (r#"{"max_output_bytes":0}"#, "_stc.max_output_bytes: expected a positive integer"),
        (r#"{"max_output_bytes":1.5}"#, "_stc.max_output_bytes: expected a positive integer"),
        (r#"{"session_id":""}"#, "_stc.session_id: expected 1 to 256 bytes"),
        (r#"{"method":"zip"}"#, "_stc.method: expected lzw, repair or auto"),
        (r#"{"redact_secrets":1}"#, "_stc.redact_secrets: expected true or false"),
        (r#"{"memo":1}"#, "_stc.memo: expected true or false"),
        (r#"{"expand":true}"#, "_stc.expand: true is not available in this version"),
        (r#"{"schemas":"small"}"#, "_stc.schemas: expected keep or minify"),
        (r#"{"skip_tools":"bash"}"#, "_stc.skip_tools: expected at most 64 names, each of at most 128 bytes"),
        (r#"{"skip_tools":["a["]}"#, "_stc.skip_tools: expected families, names or globs of tools"),
        (
            r#"{"modus":1}"#,
            "_stc: unknown option; expected mode, format, method, dedup, min_bytes, max_output_bytes, redact_secrets, skip_tools, \
             session_id, memo or schemas",
        ),
        (r#"{"dedup":true,"dedup":false}"#, "_stc: a member is given twice"),
        (r#""lossless","_stc":"lossless""#, "_stc: given twice"),
    ] {
        let error = with(options).expect_err(options);
        assert_eq!(error.to_string(), expected);
        assert!(expected.starts_with(error.field()));
    }
    for good in [
        r#"{"memo":false,"redact_secrets":false,"expand":false,"schemas":"keep"}"#,
        r#"{"mode":"aggressive","method":"auto","max_output_bytes":9,"redact_secrets":true}"#,
        "{}",
        r#""disabled""#,
        r#""safe""#,
    ] {
        assert!(with(good).is_ok(), "{good}");
    }
}

#[test]
fn wrong_options_of_forge_are_named() {
    let context = Context::new(Settings::default()).unwrap();
    for (forge, field) in [
        (r#"{"tool_output_compression":"best"}"#, "_forge.tool_output_compression"),
        (r#"{"tool_output_compression":{"mode":"best"}}"#, "_forge.tool_output_compression.mode"),
        (r#"{"tool_output_compression":{"method":3}}"#, "_forge.tool_output_compression.method"),
        (r#"{"tool_output_compression":{"format":"stc2-labelled"}}"#, "_forge.tool_output_compression.format"),
        (r#"{"schema_compression":"small"}"#, "_forge.schema_compression"),
        (r#"{"schema_compression":true}"#, "_forge.schema_compression"),
    ] {
        let body = format!(r#"{{"_forge":{forge}}}"#);
        let error = prepared(&context, Api::OpenAiResponses, &body, HeaderOptions::default()).expect_err(forge);
        assert_eq!(error.field(), field);
    }
}

#[test]
fn the_body_wins_over_headers_and_headers_over_settings() {
    let context = Context::new(Settings::default()).unwrap();
    let mode = |body: &str, headers| prepared(&context, Api::OpenAiChat, body, headers).map(|done| done.report.mode);
    let off = HeaderOptions { mode: Some(b"disabled"), ..HeaderOptions::default() };
    let bypass = HeaderOptions { bypass: Some(b"True"), ..HeaderOptions::default() };
    assert_eq!(mode("{}", HeaderOptions::default()), Ok(Mode::Lossless));
    assert_eq!(mode("{}", off), Ok(Mode::Disabled));
    assert_eq!(mode("{}", bypass), Ok(Mode::Disabled));
    assert_eq!(mode(r#"{"_stc":"lossless"}"#, off), Ok(Mode::Lossless));
    for (headers, field) in [
        (HeaderOptions { mode: Some(b"best"), ..HeaderOptions::default() }, "X-STC-Mode"),
        (HeaderOptions { session: Some(b""), ..HeaderOptions::default() }, "X-STC-Session"),
        (HeaderOptions { bypass: Some(b"maybe"), ..HeaderOptions::default() }, "X-STC-Bypass"),
    ] {
        assert_eq!(mode("{}", headers).expect_err(field).field(), field);
    }
    let only = Context::new(Settings { allow: vec![Mode::Lossless], ..Settings::default() }).unwrap();
    let error = prepared(&only, Api::OpenAiChat, "{}", off).unwrap_err();
    assert_eq!(error.to_string(), "X-STC-Mode: disabled is not allowed here; expected lossless");
}

#[test]
fn errors_have_the_shape_of_the_api() {
    let error = with(r#""fast""#).unwrap_err();
    let openai: serde_json::Value = serde_json::from_str(&Api::OpenAiChat.error(&error)).unwrap();
    assert_eq!(openai["error"]["param"], "_stc");
    assert_eq!(openai["error"]["type"], "invalid_request_error");
    let anthropic: serde_json::Value = serde_json::from_str(&Api::Anthropic.error(&error)).unwrap();
    assert_eq!(
        (anthropic["type"].as_str(), &anthropic["error"]["message"]),
        (Some("error"), &error.to_string().into())
    );
}

/// What `_forge` does not say stays as the route and the headers have it; `on` is the route's own mode; `_stc` wins over it.
#[test]
fn forge_inherits_what_it_does_not_say() {
    let context = Context::new(Settings { mode: Mode::Standard, ..Settings::default() }).unwrap();
    let safe = HeaderOptions { mode: Some(b"safe"), ..HeaderOptions::default() };
    for (forge, expected) in [
        (r#"{}"#, [Mode::Standard, Mode::Safe]),
        (r#"{"schema_compression":"minify"}"#, [Mode::Standard, Mode::Safe]),
        (r#"{"tool_output_compression":{}}"#, [Mode::Standard, Mode::Safe]),
        (r#"{"tool_output_compression":{"dedup":true,"method":"auto"}}"#, [Mode::Standard, Mode::Safe]),
        (r#"{"tool_output_compression":"on"}"#, [Mode::Standard; 2]),
        (r#"{"tool_output_compression":{"mode":"on"}}"#, [Mode::Standard; 2]),
        (r#"{"tool_output_compression":"aggressive"}"#, [Mode::Aggressive; 2]),
        (r#"{"tool_output_compression":"none"}"#, [Mode::Disabled; 2]),
        (r#"{"tool_output_compression":"off"},"_stc":{"dedup":true}"#, [Mode::Disabled; 2]),
        (r#"{"tool_output_compression":"off"},"_stc":"lossless""#, [Mode::Lossless; 2]),
    ] {
        let body = format!(r#"{{"messages":[],"_forge":{forge}}}"#);
        let mode = |headers| prepared(&context, Api::OpenAiChat, &body, headers).unwrap().report.mode;
        assert_eq!([mode(HeaderOptions::default()), mode(safe)], expected, "{forge}");
    }
}
