//! What is measured: every step, rule and walk, as work on a text.

use super::shapes::{REQUESTS, SECRETS, Shape, TEXTS, quoted};
use http::{HeaderMap, HeaderValue};
use stc_abridge::{Dictionary, Kind, Origin, Programs};
use stc_context::{Api, Caller, Context, HeaderOptions, Mode, RedactSettings, RedactWhen, Request, Schemas, Settings};
use stc_layer::Policy;
use stc_layer::mcp::{Calls, convert};
use stc_wire::cursor::Cursor;
use stc_wire::edit::Edits;
use stc_wire::span;
use stc_wire::sse::Events;
use std::hint::black_box;

/// Work on a text.
pub(super) type Work = Box<dyn Fn(&str)>;

/// Something that is measured, with the shapes that it gets.
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) shapes: &'static [Shape],
    pub(super) work: Work,
    /// The longest text that it takes, if it leaves longer ones. Its work on each byte is bounded, and may grow up to that bound.
    pub(super) longest: Option<usize>,
}

fn measured(name: impl Into<String>, shapes: &'static [Shape], work: impl Fn(&str) + 'static) -> Measured {
    Measured { name: name.into(), shapes, work: Box::new(work), longest: None }
}

fn text(name: &str, work: impl Fn(&str) + 'static) -> Measured {
    measured(name, TEXTS, work)
}

/// Returns everything that is measured, but for exchanges.
pub(super) fn all() -> Vec<Measured> {
    let mut all = steps();
    all.extend(walks());
    all.extend(contexts());
    all.extend(redacting());
    all
}

fn steps() -> Vec<Measured> {
    let of = |kind: Kind, command: &str| {
        let programs = stc_abridge::commands(command).fold(Programs::default(), |all, one| all.and(Programs::of(&one)));
        move |text: &str| drop(black_box(stc_abridge::family(text, Origin { kind, programs })))
    };
    let every =
        "cargo test; git status; pytest; npm install; pip install x; make; docker build .; mvn test; apt-get install x";
    let mut all = vec![
        text("ansi", |text| drop(black_box(stc_abridge::ansi(text, false)))),
        text("ansi, overwritten", |text| drop(black_box(stc_abridge::ansi(text, true)))),
        text("binary", |text| drop(black_box(stc_abridge::binary(text)))),
        text("cap", |text| drop(black_box(stc_abridge::cap(text, text.len() / 2)))),
        text("table", |text| drop(black_box(stc_abridge::table(text)))),
        text("family, programs", of(Kind::Text, every)),
        text("family, searches", of(Kind::Search, "")),
        text("family, lists", of(Kind::Listing, "")),
        text("fold", |text| drop(black_box(stc_abridge::fold(text)))),
        text("space", |text| drop(black_box(stc_abridge::space(text)))),
        text("noise", |text| drop(black_box(stc_abridge::noise(text)))),
        text("excerpt", |text| drop(black_box(stc_abridge::excerpt(text, 40)))),
        text("expand", |text| drop(black_box(stc_abridge::expand(text)))),
        text("is_error", |text| {
            black_box(stc_abridge::is_error(text));
        }),
        text("commands", |text| {
            stc_abridge::commands(text).for_each(|one| {
                black_box(Programs::of(&one));
            });
        }),
    ];
    for (name, how) in [("dictionary, lzw", Dictionary::Lzw), ("dictionary, repair", Dictionary::Repair)] {
        let work = move |text: &str| drop(black_box(stc_abridge::abbreviate(text, how)));
        all.push(Measured { longest: Some(50_000), ..text(name, work) });
    }
    let redactor = stc_redact::Redactor::default();
    all.push(text("redact", move |text| {
        black_box(redactor.redact(text).is_ok());
    }));
    all
}

fn walks() -> Vec<Measured> {
    vec![
        text("span", |text| {
            let text = text.as_bytes();
            let whole = 0..text.len();
            black_box(span::document(text));
            black_box(span::members(text, whole.clone()).count() + span::elements(text, whole.clone()).count());
            black_box(span::member(text, whole.clone(), "a"));
            black_box(span::string(text, &whole));
        }),
        text("cursor", |text| {
            let mut cursor = Cursor::new(text.as_bytes());
            black_box(cursor.array(|cursor| cursor.object(|cursor, _| cursor.skip().map(drop)).map(drop)));
        }),
        text("edit", |text| {
            let mut edits = Edits::default();
            edits.remove_members(text.as_bytes(), &(0..text.len()), |member| member.key.len() < 4);
            black_box(edits.apply(text.as_bytes()));
        }),
        text("escape", |text| {
            let quoted = quoted_by_span(text);
            let mut buffer = Vec::new();
            black_box(span::string_in(&quoted, &(0..quoted.len()), &mut buffer));
            let raw = format!("\"{text}\"").into_bytes();
            black_box(span::string(&raw, &(0..raw.len())));
        }),
        text("events", |text| {
            let mut out = Vec::new();
            let mut rewrite = |message: &[u8]| Some(message.to_vec());
            for size in [1, 1 << 20] {
                let mut events = Events::new(1 << 20);
                text.as_bytes().chunks(size).for_each(|chunk| events.push(chunk, &mut out, &mut rewrite));
                events.finish(&mut out);
            }
            black_box(out);
        }),
        text("transcode", |text| {
            for format in stc::Format::STC {
                let verify = stc_wire::Verify::Always;
                black_box(stc_wire::transcode::transcode(text.as_bytes(), format, verify).is_ok());
            }
        }),
        text("negotiate", |text| {
            let value = HeaderValue::from_str(&text.replace(|c: char| !c.is_ascii_graphic(), ",")).expect("ASCII");
            for name in [http::header::ACCEPT, http::header::ACCEPT_ENCODING] {
                let headers = HeaderMap::from_iter([
                    (name, HeaderValue::try_from([value.as_bytes(), b",stc;q=0.5"].concat()).expect("ASCII")),
                    (stc_layer::STC_VERSION, value.clone()),
                ]);
                black_box(stc_layer::negotiate(&headers));
            }
        }),
        text("calls", |text| drop(black_box(Calls::read(&text.as_bytes().to_vec().into())))),
        text("a message that answers nothing", |text| {
            black_box(convert(text.as_bytes(), &Calls::default(), &Policy::default(), stc_layer::Format::Stc2Labelled));
        }),
    ]
}

fn quoted_by_span(text: &str) -> Vec<u8> {
    let mut quoted = Vec::new();
    span::quote_into(text, &mut quoted);
    quoted
}

fn settings(mode: Mode) -> Settings {
    let redact = RedactSettings { enabled: RedactWhen::Off, ..RedactSettings::default() };
    let base = Settings { mode, redact, min_bytes: 16, errors: true, skip_tools: Vec::new(), ..Settings::default() };
    Settings { dedup: true, user_text: true, gemini_wrap: true, schemas: Schemas::Minify, ..base }
}

fn contexts() -> Vec<Measured> {
    let mut all = Vec::new();
    for mode in [Mode::Lossless, Mode::Safe, Mode::Standard, Mode::Aggressive] {
        let context = Context::new(settings(mode)).expect("good settings");
        let name = format!("context, {mode:?}");
        let longest = (mode == Mode::Aggressive).then_some(50_000);
        let of_text = one_text(context.clone());
        all.push(Measured { longest, ..measured(format!("{name}, one text"), TEXTS, of_text) });
        for api in Api::ALL {
            let context = context.clone();
            let of_request = move |body: &str| prepare(&context, api, body);
            all.push(measured(format!("{name}, {}", api.name()), REQUESTS, of_request));
        }
        all.push(measured(format!("{name}, compress"), REQUESTS, move |body| {
            let compressed = context.compress(body.as_bytes(), HeaderOptions::default());
            black_box(compressed.expect("no options").map(|compressed| compressed.body.len()));
        }));
    }
    all
}

/// Prepares a request with a text as its only result.
fn one_text(context: Context) -> impl Fn(&str) {
    move |text| {
        let text = quoted(text);
        let call = r#"{"type":"tool_use","id":"t","name":"bash","input":{"command":"git log"}}"#;
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"t","content":{text}}}"#);
        let messages = format!(r#"{{"role":"assistant","content":[{call}]}},{{"role":"user","content":[{result}]}}"#);
        prepare(&context, Api::Anthropic, &format!(r#"{{"messages":[{messages}]}}"#));
    }
}

/// Requests whose secrets are replaced.
fn redacting() -> Vec<Measured> {
    let redact = RedactSettings { enabled: RedactWhen::On, ..RedactSettings::default() };
    let context = Context::new(Settings { redact, ..settings(Mode::Lossless) }).expect("good settings");
    let of = |api: Api| {
        let context = context.clone();
        move |body: &str| prepare(&context, api, body)
    };
    vec![
        measured("redaction, one text", TEXTS, one_text(context.clone())),
        measured("redaction, anthropic", REQUESTS, of(Api::Anthropic)),
        measured("redaction, gemini", REQUESTS, of(Api::Gemini)),
        measured("redaction, places", SECRETS, of(Api::Anthropic)),
    ]
}

fn prepare(context: &Context, api: Api, body: &str) {
    let request = Request::new(api, body.as_bytes());
    let caller = Caller { tenant: b"", route: "" };
    let begun = context.begin(request, caller).expect("no options");
    black_box(context.finish(body.as_bytes(), begun, &[]).expect("no redaction"));
}

/// Converts the answers of an exchange.
pub(super) fn exchange((calls, answers): &(String, String)) {
    let calls = Calls::read(&calls.clone().into_bytes().into());
    black_box(calls.are_answered_by(answers.as_bytes()));
    let policy: Policy = toml::from_str(
        "min_bytes = 16\n[mcp]\nstructured = \"strip\"\n[[overrides]]\ntools = [\"a*z\", \"b\"]\nformat = \"stc1\"\n",
    )
    .expect("a policy");
    black_box(convert(answers.as_bytes(), &calls, &policy, stc_layer::Format::Stc2Labelled));
}
