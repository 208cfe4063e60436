//! The modes that lose something, on requests: what is sent, what is redacted, and what is not sent at all.

use stc_context::{
    Api, Context, Done, HeaderOptions, Mode, RedactSettings, RedactWhen, Refused, Request, Settings, Status, Step,
};
use stc_redact::{Failed, Redacted};
use std::borrow::Cow;

const SECRET: &str = "hunter2-hunter2";

/// Finds one word, also in JSON.
pub(crate) fn one_word(text: &str) -> Result<Redacted<'_>, Failed> {
    let count = text.matches(SECRET).count() as u32;
    if count == 0 {
        return Ok(Redacted { text: Cow::Borrowed(text), found: Vec::new() });
    }
    Ok(Redacted { text: Cow::Owned(text.replace(SECRET, "[redacted:test]")), found: vec![("test", count)] })
}

fn too_late(_: &str) -> Result<Redacted<'_>, Failed> {
    Err(Failed::Late)
}

fn context(mode: Mode) -> Context {
    Context::new(Settings { mode, ..Settings::default() }).unwrap().with_redact(one_word, false)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Makes a chat with one call and its result.
fn chat(tool: &str, arguments: &str, text: &str) -> String {
    let (arguments, text) = (quoted(arguments), quoted(text));
    format!(
        r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"c","type":"function","function":{{"name":"{tool}","arguments":{arguments}}}}}]}},{{"role":"tool","tool_call_id":"c","content":{text}}}]}}"#
    )
}

fn prepared(context: &Context, body: &str) -> Result<Done, Refused> {
    let headers = HeaderOptions::default();
    context.prepare(Request { endpoint: Api::OpenAiChat.into(), body: body.as_bytes(), headers, model: None })
}

fn sent(done: &Done, came: &str) -> String {
    done.body.clone().map_or(came.to_owned(), |body| String::from_utf8(body).unwrap())
}

#[test]
fn the_command_of_a_call_decides() {
    let log = "   Compiling a v1.0.0\n".repeat(3) + &"   Compiling bee v1.0.1\n".repeat(60) + "warning: unused\n";
    for (tool, arguments, expected) in [
        (
            "bash",
            r#"{"command":"cd x && cargo build 2>&1 | tail -5"}"#,
            "[63 progress lines left out]\\nwarning: unused\\n",
        ),
        ("shell", r#"{"command":["bash","-lc","cargo build"]}"#, "[63 progress lines left out]"),
        ("build", r#"{"cmd":"cargo build"}"#, "[63 progress lines left out]"),
        ("bash", r#"{"command":"./build.sh"}"#, "[×60]"),
        ("bash", r#"{"command":"cat build.log"}"#, "Compiling bee v1.0.1\\n   Compiling bee v1.0.1"),
    ] {
        let body = chat(tool, arguments, &log);
        let done = prepared(&context(Mode::Standard), &body).unwrap();
        assert!(sent(&done, &body).contains(expected), "{tool} {arguments}: {}", sent(&done, &body));
    }
    let body = chat("bash", r#"{"command":"cargo build"}"#, &log);
    let done = prepared(&context(Mode::Standard), &body).unwrap();
    let item = &done.report.items[0];
    assert_eq!((item.status, item.family(), item.program()), (Status::Abridged, "bash", Some("cargo")));
    assert!(item.is_abridged() && !item.is_capped() && item.steps.has(Step::Family));
    assert_eq!(prepared(&context(Mode::Lossless), &body).unwrap().body, None);
}

#[test]
fn secrets_go_wherever_they_are() {
    let rows: Vec<_> = (0..60).map(|n| format!(r#"{{"id":{n},"password":"{SECRET}"}}"#)).collect();
    let json = format!("[{}]", rows.join(","));
    for (tool, arguments, text, redacted) in [
        ("list", "{}", format!("short {SECRET}"), 1),
        ("read_file", "{}", format!("{SECRET} in a file that is skipped"), 1),
        ("list", r#"{"token":"hunter2-hunter2"}"#, "nothing".to_owned(), 0),
        ("list", "{}", json, 60),
        ("list", "{}", format!("hunter2\u{1b}[0m-hunter2 in colour {}", "x ".repeat(900)), 1),
    ] {
        let body = chat(tool, arguments, &text);
        for mode in [Mode::Safe, Mode::Standard, Mode::Aggressive] {
            let done = prepared(&context(mode), &body).unwrap();
            let sent = sent(&done, &body);
            assert!(!sent.contains(SECRET) && sent.contains("[redacted:test]"), "{mode:?}: {sent}");
            assert_eq!(done.report.items[0].redacted, redacted, "{mode:?}: {text:.40}");
            let all = redacted + u32::from(arguments.contains(SECRET));
            assert_eq!(done.report.redactions, [("test", u64::from(all))]);
            serde_json::from_str::<serde_json::Value>(&sent).unwrap();
        }
        assert!(sent(&prepared(&context(Mode::Lossless), &body).unwrap(), &body).contains("hunter2"));
        let wanted = body.replacen('{', r#"{"_stc":{"redact_secrets":true},"#, 1);
        let done = prepared(&context(Mode::Lossless), &wanted).unwrap();
        assert!(!sent(&done, &wanted).contains(SECRET), "{}", sent(&done, &wanted));
    }
}

#[test]
fn redaction_that_fails_is_counted_or_fails_the_request() {
    let body = chat("list", "{}", "any text");
    let settings = || Settings { mode: Mode::Safe, ..Settings::default() };
    let open = Context::new(settings()).unwrap().with_redact(too_late, false);
    let done = prepared(&open, &body).unwrap();
    // The text, the arguments, and what else has strings in the three messages.
    assert!(done.body.is_none() && done.report.redaction_failures > 2, "{:?}", done.report);
    let closed = Context::new(settings()).unwrap().with_redact(too_late, true);
    assert!(closed.requires_redaction());
    assert_eq!(prepared(&closed, &body).unwrap_err(), Refused::Redaction);
    assert_eq!(Refused::Redaction.status(), 502);
    for api in Api::ALL {
        assert!(api.error(&Refused::Redaction).contains("redaction failed"));
    }
    // What is not read cannot be looked through.
    assert_eq!(prepared(&closed, &body[..body.len() - 1]).unwrap_err(), Refused::Redaction);
    // So is what has nothing of a tool in it; without strings of some length there is nothing to look through.
    let hello = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    assert_eq!(prepared(&closed, hello).unwrap_err(), Refused::Redaction);
    assert!(prepared(&closed, "{}").is_ok());
}

/// The settings decide when secrets are replaced; a request cannot switch off what is required.
#[test]
fn the_settings_say_when_secrets_go() {
    let secret = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT".repeat(2).get(..36).unwrap());
    let body = chat("list", "{}", &format!("the token is {secret}"));
    let sends = |enabled: RedactWhen, mode: Mode, option: &str| {
        let redact = RedactSettings { enabled, ..RedactSettings::default() };
        let context = Context::new(Settings { mode, redact, ..Settings::default() }).unwrap();
        let body = body.replacen('{', &format!("{{{option}"), 1);
        prepared(&context, &body).map(|done| sent(&done, &body).contains(&secret))
    };
    let (yes, no) = (r#""_stc":{"redact_secrets":true},"#, r#""_stc":{"redact_secrets":false},"#);
    for (enabled, mode, option, expected) in [
        (RedactWhen::ByMode, Mode::Lossless, "", true),
        (RedactWhen::ByMode, Mode::Safe, "", false),
        (RedactWhen::ByMode, Mode::Safe, no, true),
        (RedactWhen::ByMode, Mode::Lossless, yes, false),
        (RedactWhen::On, Mode::Lossless, "", false),
        (RedactWhen::On, Mode::Disabled, "", true),
        (RedactWhen::Off, Mode::Aggressive, "", true),
        (RedactWhen::Required, Mode::Disabled, "", false),
        (RedactWhen::Required, Mode::Lossless, r#""_stc":"disabled","#, false),
    ] {
        assert_eq!(sends(enabled, mode, option), Ok(expected), "{enabled:?} {mode:?} {option}");
    }
    let refused = sends(RedactWhen::Required, Mode::Safe, no).unwrap_err();
    assert_eq!(refused.to_string(), "_stc.redact_secrets: false is not allowed here: redaction is required");
}

#[test]
fn a_request_chooses_its_bound() {
    let log = "a line of the log\n".repeat(2000);
    let body = chat("bash", r#"{"command":"./run.sh"}"#, &log);
    let done = prepared(&context(Mode::Safe), &body).unwrap();
    assert_eq!(done.body, None, "36,000 bytes are below the bound");
    let own = body.replacen('{', r#"{"_stc":{"max_output_bytes":3000},"#, 1);
    let done = prepared(&context(Mode::Safe), &own).unwrap();
    let item = &done.report.items[0];
    assert!(item.is_capped() && item.saved.bytes_out <= 3000);
    assert_eq!(item.status, Status::Abridged);
}

/// A request cannot choose a longer bound than 1,048,576 bytes, by either name of the option.
#[test]
fn a_request_s_bound_is_clamped() {
    let log = "a line of the log\n".repeat((1 << 20) / 18 + 2000);
    let settings = Settings { mode: Mode::Safe, max_bytes: 8 << 20, ..Settings::default() };
    let context = Context::new(settings).unwrap();
    let body = chat("bash", r#"{"command":"./run.sh"}"#, &log);
    for option in ["_stc\":{", "_forge\":{\"tool_output_compression\":{"] {
        for bytes in ["1048576", "1048577", "18446744073709551615"] {
            let end = "}".repeat(option.matches('{').count());
            let own = body.replacen('{', &format!("{{\"{option}\"max_output_bytes\":{bytes}{end},"), 1);
            let done = prepared(&context, &own).unwrap();
            let sent = done.report.items[0].saved.bytes_out;
            assert!(
                done.report.items[0].is_capped() && (1 << 19..=1 << 20).contains(&sent),
                "{option} {bytes}: {sent}"
            );
        }
    }
}
