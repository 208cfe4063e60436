//! The laws on generated requests. `STC_REQUESTS` sets their number: 1,000 by default, 200,000 before a release. `STC_FIRST` is
//! the seed of the first.

use stc_context::{Api, Context, FormatChoice, Legend, Mode, Schemas, Settings, laws};
use stc_wire::Verify;

fn requests() -> u64 {
    std::env::var("STC_REQUESTS").map_or(1_000, |count| count.parse().expect("a number"))
}

fn first() -> u64 {
    std::env::var("STC_FIRST").map_or(0, |seed| seed.parse().expect("a number"))
}

pub(crate) fn api(name: &str) -> Api {
    Api::ALL.into_iter().find(|api| api.name() == name).expect("an API")
}

/// Settings under which every branch is reached.
fn contexts() -> Vec<Context> {
    let usual = Settings::default();
    let short =
        Settings { min_bytes: 100, min_saving: 0.0, skip_tools: Vec::new(), errors: true, ..Settings::default() };
    let legend = Settings { legend: Legend::First, dedup: true, min_bytes: 256, ..Settings::default() };
    let refs = Settings { format: FormatChoice::Stc2, legend: Legend::First, verify: Verify::Always, ..short.clone() };
    let plain = Settings { options: false, dedup: true, skip_unknown: true, ..short.clone() };
    let whole = Settings { user_text: true, gemini_wrap: true, ..short.clone() };
    let schemas = Settings { schemas: Schemas::Minify, ..short.clone() };
    [usual, short, legend, refs, plain, whole, schemas].map(|settings| Context::new(settings).unwrap()).to_vec()
}

/// Settings of the modes that lose something.
fn lossy() -> Vec<Context> {
    let of = |mode| Settings { mode, min_bytes: 100, skip_tools: Vec::new(), errors: true, ..Settings::default() };
    let mut short = of(Mode::Aggressive);
    short.cap.bytes = 1500;
    short.excerpt.lines = 8;
    let legend = Settings { legend: Legend::First, dedup: true, ..of(Mode::Standard) };
    let usual = Settings { mode: Mode::Standard, ..Settings::default() };
    let whole = Settings { user_text: true, gemini_wrap: true, ..of(Mode::Aggressive) };
    let schemas = Settings { schemas: Schemas::Minify, ..of(Mode::Standard) };
    [of(Mode::Safe), of(Mode::Standard), of(Mode::Aggressive), short, legend, usual, whole, schemas]
        .map(|settings| Context::new(settings).unwrap().with_redact(crate::modes::one_word, false))
        .to_vec()
}

/// The seed of a request, printed if a law does not hold for it.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the request of seed {}", self.0);
        }
    }
}

#[test]
fn generated_requests_keep_the_laws() {
    let contexts = contexts();
    let mut changed = [0; Api::ALL.len()];
    for seed in first()..first() + requests() {
        let _printed = Seed(seed);
        let request = stc_corpus::request(seed);
        let api = api(request.api);
        let context = &contexts[seed as usize % contexts.len()];
        let done = laws::all(context, api, &request.body);
        let found = done.map_or(0, |done| done.report.changed());
        changed[Api::ALL.iter().position(|one| *one == api).unwrap()] += found;
    }
    // The laws say little of requests in which nothing changes.
    assert!(changed.iter().all(|count| *count as u64 > requests() / 20), "{changed:?}");
}

#[test]
fn a_request_cut_inside_a_character_keeps_the_laws() {
    let request = stc_corpus::request(95_367);
    assert!(std::str::from_utf8(&request.body).is_err());
    for context in contexts().iter().chain(&lossy()) {
        laws::all(context, api(request.api), &request.body);
    }
}

/// A call whose key has an escape, in a request that has a result only if it is not cut.
#[test]
fn a_call_under_an_escaped_key_keeps_the_laws() {
    let request = stc_corpus::request(49_144);
    assert!(String::from_utf8_lossy(&request.body).contains(r#""\u0066unctionCall""#));
    for context in &lossy() {
        laws::all(context, api(request.api), &request.body);
    }
}

#[test]
fn generated_requests_keep_the_laws_in_every_mode() {
    let contexts = lossy();
    let mut steps = std::collections::BTreeMap::new();
    for seed in first()..first() + requests() {
        let _printed = Seed(seed);
        let request = stc_corpus::request(seed);
        let context = &contexts[seed as usize % contexts.len()];
        let Some(done) = laws::all(context, api(request.api), &request.body) else { continue };
        for step in done.report.items.iter().flat_map(|item| item.steps.iter()) {
            *steps.entry(step.name()).or_insert(0_u64) += 1;
        }
    }
    // The laws say little of steps that are not taken. The dictionary has tests of its own.
    for step in stc_context::Step::ALL.into_iter().filter(|step| *step != stc_context::Step::Dictionary) {
        assert!(steps.get(step.name()).is_some_and(|count| *count > 0), "{}: {steps:?}", step.name());
    }
}

#[test]
fn encoders_that_fail_leave_the_original() {
    let panics: stc_context::Encode = |_| panic!("planted");
    let unable: stc_context::Encode = |_| None;
    for toon in [panics, unable] {
        let settings = Settings { format: FormatChoice::Toon, options: false, ..Settings::default() };
        let context = Context::with_toon(settings, Some(toon)).unwrap();
        for seed in 0..50 {
            let request = stc_corpus::request(seed);
            laws::fail_open(&context, api(request.api), &request.body);
        }
    }
}

/// An option whose key has an escape is the client's own member, whether or not the request has tool results.
#[test]
fn an_option_with_an_escaped_key_is_no_option() {
    let rows = format!("[{}]", [r#"{\"id\":1,\"state\":\"open\"}"#; 60].join(","));
    let tool = format!(r#"{{"role":"tool","content":"{rows}"}}"#);
    let body = format!(r#"{{"\u005fstc":"lossless","messages":[{{"role":"user","content":"x"}},{tool}]}}"#);
    let done = laws::all(&contexts()[0], Api::OpenAiChat, body.as_bytes()).unwrap();
    assert!(done.body.unwrap().starts_with(br#"{"\u005fstc":"lossless","#));
}

/// Every prefix of a request, and every byte replaced: no panic, and the laws hold.
#[test]
fn damaged_requests_keep_the_laws() {
    let context = &contexts()[1];
    let rows = r#"[{\"id\":1,\"state\":\"open\"},{\"id\":2,\"state\":\"open\"},{\"id\":3,\"state\":\"open\"}]"#;
    let body = format!(r#"{{"messages":[{{"role":"tool","content":"{rows}"}}],"_stc":{{"min_bytes":10}}}}"#);
    for end in 0..body.len() {
        laws::all(context, Api::OpenAiChat, &body.as_bytes()[..end]);
    }
    for place in 0..body.len() {
        for byte in *b"\"\\{}[],:0x\x00\xff " {
            let mut body = body.clone().into_bytes();
            body[place] = byte;
            laws::all(context, Api::OpenAiChat, &body);
        }
    }
}
