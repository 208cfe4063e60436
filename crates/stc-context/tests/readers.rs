//! The format by the model that reads: in all APIs, in a conversation that changes its model, and for names that are odd.

use crate::laws::api;
use stc_context::{
    Api, Bounds, Caller, Context, Done, Format, FormatChoice, HeaderOptions, Memo, MemoryStore, Reader, ReaderLine,
    Request, Settings, Status, Store, laws, restore,
};
use stc_wire::span;

const APIS: [&str; 6] = ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "ollama"];
const LARGE: &str = "us.anthropic.claude-sonnet-4-20250514-v1:0";
const SMALL: &str = "gpt-4.1-nano";

fn context(settings: Settings) -> Context {
    Context::new(settings).unwrap()
}

fn prepared(context: &Context, api: Api, body: &[u8], model: Option<&str>) -> Done {
    context.prepare(Request { model, ..Request::new(api, body) }).unwrap()
}

/// Makes the request of a turn of an agent that has called a tool once more in each: the first rows of the longest.
fn turns(name: &'static str, count: usize) -> Vec<Vec<u8>> {
    let whole = stc_corpus::long_request(name, count, 1_500).body;
    let document = span::document(&whole).unwrap();
    let conversation = ["messages", "input", "contents"]
        .iter()
        .find_map(|member| span::member(&whole, document.clone(), member))
        .unwrap()
        .value;
    let ends: Vec<_> = span::elements(&whole, conversation.clone()).map(|row| row.end).collect();
    // A question, and two rows for each call.
    (1..=count).map(|turn| [&whole[..ends[2 * turn]], &whole[conversation.end - 1..]].concat()).collect()
}

/// Returns the body of a request with another model in it.
fn of_model(body: &[u8], model: &str) -> Vec<u8> {
    let text = std::str::from_utf8(body).unwrap();
    assert_eq!(text.matches(r#""model":"sample""#).count(), 1);
    text.replace(r#""model":"sample""#, &format!(r#""model":"{model}""#)).into_bytes()
}

/// Returns what is sent up to the end of the last message.
fn rows(body: &[u8]) -> &[u8] {
    let end = body.iter().rposition(|byte| *byte == b']').unwrap();
    &body[..end]
}

fn statuses(done: &Done) -> Vec<Status> {
    done.report.items.iter().map(|item| item.status).collect()
}

#[test]
fn the_laws_hold_for_every_reader() {
    let context = context(Settings { min_bytes: 100, ..Settings::default() });
    for name in APIS {
        let body = stc_corpus::long_request(name, 6, 1_000).body;
        for model in ["sample", LARGE, SMALL] {
            let done = laws::all(&context, api(name), &of_model(&body, model)).unwrap();
            assert!(done.report.changed() > 1, "{name} {model}");
        }
    }
}

/// Each API, by the model in the body and by that in the path: what a large and a small model get.
#[test]
fn the_format_is_that_of_the_model() {
    let context = context(Settings::default());
    for name in APIS {
        let plain = stc_corpus::long_request(name, 3, 4_000).body;
        for (model, format, status) in [
            (LARGE, Format::Stc2, Status::Stc2),
            (SMALL, Format::Stc2Labelled, Status::Stc2Labelled),
            ("sample", Format::Stc2Labelled, Status::Stc2Labelled),
        ] {
            let body = of_model(&plain, model);
            let done = prepared(&context, api(name), &body, None);
            assert_eq!(statuses(&done)[..2], [status; 2], "{name} {model}");
            assert_eq!(done.report.reading.as_ref().unwrap().format, format);
            let named = prepared(&context, api(name), &plain, Some(model));
            assert_eq!(statuses(&named), statuses(&done), "{name} {model}: in the path");
            assert_eq!(named.report.header(), done.report.header());
            let fixed = Context::new(Settings { format: format.into(), ..Settings::default() }).unwrap();
            assert_eq!(prepared(&fixed, api(name), &body, None).body, done.body, "{name} {model}: the format alone");
            let back = restore(api(name), &done.body.unwrap()).unwrap();
            assert!(back.texts >= 2, "{name} {model}");
        }
        let wins = prepared(&context, api(name), &of_model(&plain, SMALL), Some(LARGE));
        assert_eq!(statuses(&wins), [Status::Stc2; 3], "{name}: the path wins");
    }
}

#[test]
fn the_header_says_who_reads_and_why() {
    let header = |settings: Settings, model: &str| {
        let body = of_model(&stc_corpus::long_request("openai-chat", 1, 4_000).body, model);
        let header = prepared(&context(settings), Api::OpenAiChat, &body, None).report.header();
        header.splitn(4, "; ").nth(3).unwrap_or_default().to_owned()
    };
    let usual = Settings::default;
    assert_eq!(header(usual(), LARGE), "reader=large; by=readers.toml:claude-*");
    assert_eq!(header(usual(), "llama3.1:8b"), "reader=small; by=readers.toml:below-100b");
    assert_eq!(header(usual(), "gpt-x\\u0000<script>; left=y-nano"), "reader=small; by=readers.toml:nano");
    assert_eq!(header(usual(), "<script>"), "reader=small; by=unknown-model");
    assert_eq!(header(Settings { format: FormatChoice::Stc2, ..usual() }, LARGE), "");
    let line = |format| vec![ReaderLine { model: "house/*".to_owned(), format }];
    let readers = |format| Settings { readers: line(format), ..usual() };
    assert_eq!(header(readers(Format::Stc2), "house/x"), "reader=large; by=context.readers:house/*");
    assert_eq!(header(readers(Format::Json), "house/x"), "by=context.readers:house/*");
    assert_eq!(
        header(Settings { unknown_reader: Reader::Large, ..usual() }, "sample"),
        "reader=large; by=unknown-model"
    );
}

/// What a request says for itself wins; it may say that its model decides.
#[test]
fn a_request_chooses_its_format() {
    let body = |model: &str, format: &str| {
        let body = of_model(&stc_corpus::long_request("anthropic", 1, 4_000).body, model);
        let options = format!(r#"{{"_stc":{{"format":"{format}"}},"#);
        [options.as_bytes(), &body[1..]].concat()
    };
    let usual = context(Settings::default());
    let status = |context: &Context, body: &[u8]| statuses(&prepared(context, Api::Anthropic, body, None))[0];
    assert_eq!(status(&usual, &body(LARGE, "stc2-labelled")), Status::Stc2Labelled);
    assert_eq!(status(&usual, &body(SMALL, "stc2")), Status::Stc2);
    assert_eq!(status(&usual, &body(LARGE, "by-model")), Status::Stc2);
    let fixed = context(Settings { format: FormatChoice::Stc2Labelled, ..Settings::default() });
    assert_eq!(status(&fixed, &body(LARGE, "by-model")), Status::Stc2);
}

/// Names that no API would take, and bodies that name no model or two: never a failure, and never more than a name deserves.
#[test]
fn odd_names() {
    let context = context(Settings::default());
    let body = stc_corpus::long_request("openai-chat", 1, 4_000).body;
    let long = |unit: &str, count| format!("\"{}\"", unit.repeat(count));
    for (model, expected) in [
        (r#""gpt-5""#.to_owned(), "reader=large; by=readers.toml:gpt-*"),
        (r#""\u0067pt-5""#.to_owned(), "reader=large; by=readers.toml:gpt-*"),
        (r#""gpt-5\u0000\u001b[31m\r\nx: y""#.to_owned(), "reader=large; by=readers.toml:gpt-*"),
        (r#""gpt-5 наno""#.to_owned(), "reader=large; by=readers.toml:gpt-*"),
        (r#""*""#.to_owned(), "reader=small; by=unknown-model"),
        (r#""[!a]*{b,c}\\""#.to_owned(), "reader=small; by=unknown-model"),
        (r#""""#.to_owned(), "reader=small; by=unknown-model"),
        (long("x", 100 << 10), "reader=small; by=unknown-model"),
        (long("gpt-5/", 20 << 10), "reader=small; by=unknown-model"),
        (long("\\u0067", 20 << 10), "reader=small; by=unknown-model"),
        ("7".to_owned(), "reader=small; by=no-model"),
        ("null".to_owned(), "reader=small; by=no-model"),
        (r#"["gpt-5"]"#.to_owned(), "reader=small; by=no-model"),
        (r#"{"name":"gpt-5"}"#.to_owned(), "reader=small; by=no-model"),
        (r#""\ud800gpt-5""#.to_owned(), "reader=small; by=no-model"),
        (r#""gpt-5","model":"gpt-5""#.to_owned(), "reader=small; by=two-models"),
        (r#""gpt-5","mod\u0065l":"claude-opus-4""#.to_owned(), "reader=small; by=two-models"),
        (r#""x","model":"claude-opus-4""#.to_owned(), "reader=small; by=two-models"),
    ] {
        let text = String::from_utf8(body.clone()).unwrap().replace("\"sample\"", &model);
        let done = laws::all(&context, Api::OpenAiChat, text.as_bytes()).unwrap();
        let header = done.report.header();
        assert!(header.ends_with(expected), "{model:.60}: {header}");
        assert!(header.len() < 200 && header.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    }
    let without = String::from_utf8(body).unwrap().replace("\"model\"", "\"mode1\"");
    let done = prepared(&context, Api::OpenAiChat, without.as_bytes(), None);
    assert!(done.report.header().ends_with("reader=small; by=no-model"));
    let model = prepared(&context, Api::OpenAiChat, without.as_bytes(), Some("\u{0}"));
    assert!(model.report.header().ends_with("reader=small; by=unknown-model"));
}

/// Twenty turns of an agent in each API. The model changes before the eighth turn and changes back before the fourteenth: of each
/// model, what was sent once is how the next request begins, and the store helps without changing a byte.
#[test]
fn twenty_turns_with_a_change_of_the_model() {
    let context = context(Settings::default());
    for name in APIS {
        let bounds =
            Bounds { entry_bytes: 64 << 10, session_bytes: 4 << 20, sessions: 9, total_bytes: 9 << 20, ttl: 1_000_000 };
        let store = MemoryStore::new(bounds);
        let mut before: Option<(&str, Vec<u8>)> = None;
        let mut of_large = Vec::new();
        let mut reused = 0;
        for (turn, body) in turns(name, 20).into_iter().enumerate() {
            let model = if (7..13).contains(&turn) { SMALL } else { LARGE };
            let body = of_model(&body, model);
            let headers = HeaderOptions { session: Some(b"s"), ..HeaderOptions::default() };
            let request = Request { headers, ..Request::new(api(name), &body) };
            let begun = context.begin(request, Caller { tenant: b"t", route: "/" }).unwrap();
            let found = store.get(begun.keys(), turn as u64);
            let done = context.finish(&body, begun, &found).unwrap();
            assert_eq!(
                done.report.memos(Memo::Changed),
                0,
                "{name} {turn}: a model does not take the place of another"
            );
            reused += done.report.memos(Memo::Reused);
            store.put(done.keep, turn as u64);
            let sent = done.body.expect("results that become shorter");
            assert!(prepared(&context, api(name), &body, None).body.as_ref() == Some(&sent), "{name} {turn}");
            match &before {
                Some((last, earlier)) if *last == model => assert!(sent.starts_with(rows(earlier)), "{name} {turn}"),
                Some(_) if turn == 13 => assert!(sent.starts_with(rows(&of_large)), "{name}: the first model again"),
                Some((_, earlier)) => assert!(!sent.starts_with(rows(earlier)), "{name} {turn}: another prefix"),
                None => {}
            }
            if model == LARGE {
                of_large.clone_from(&sent);
            }
            before = Some((model, sent));
        }
        // Results of Ollama have no ids to keep them under.
        assert_eq!(reused > 100, name != "ollama", "{name}: {reused}");
    }
}

/// A result that repeats an earlier one is a line in each format.
#[test]
fn duplicates_with_every_reader() {
    let context = context(Settings { dedup: true, ..Settings::default() });
    let row = |id: usize| format!(r#"{{"id":{},"state":"open","by":"ann"}}"#, id * 7919 % 1009);
    let text = serde_json::Value::from(format!("[{}]", (0..200).map(row).collect::<Vec<_>>().join(",")));
    let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":{text}}}"#);
    let body = format!(r#"{{"model":"sample","messages":[{},{}]}}"#, result("c1"), result("c2"));
    for (model, first) in [(LARGE, Status::Stc2), (SMALL, Status::Stc2Labelled)] {
        let body = of_model(body.as_bytes(), model);
        let done = laws::all(&context, Api::OpenAiChat, &body).unwrap();
        assert_eq!(statuses(&done), [first, Status::Duplicate], "{model}");
    }
}

#[test]
fn compressed_rows_say_who_reads() {
    let context = context(Settings::default());
    let plain = stc_corpus::long_request("openai-chat", 1, 4_000).body;
    for (model, status, reader, by) in [
        (LARGE, "stc2", "large", "readers.toml:claude-*"),
        (SMALL, "stc2-labelled", "small", "readers.toml:nano"),
        ("sample", "stc2-labelled", "small", "unknown-model"),
    ] {
        let done = context.compress(&of_model(&plain, model), HeaderOptions::default()).unwrap().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&done.body).unwrap();
        assert_eq!(answer["transforms_applied"], serde_json::json!([status]));
        assert_eq!((&answer["reader"], &answer["reader_by"]), (&reader.into(), &by.into()));
    }
}

#[test]
fn toon_for_a_model_needs_an_encoder() {
    let readers = vec![ReaderLine { model: "x-*".to_owned(), format: Format::Toon }];
    let settings = Settings { readers, ..Settings::default() };
    let error = Context::new(settings.clone()).unwrap_err();
    assert_eq!(error, "`context.readers`: `x-*`: this program does not write toon");
    assert!(Context::with_toon(settings, Some(|_| None)).is_ok());
    let readers = vec![ReaderLine { model: "x".to_owned(), format: Format::Json }; 65];
    let error = Context::new(Settings { readers, ..Settings::default() }).unwrap_err();
    assert_eq!(error, "`context.readers`: expected at most 64 lines");
}
