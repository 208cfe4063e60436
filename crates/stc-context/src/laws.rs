//! What must hold of every request: one function for each law, run by tests, by the generated requests and by fuzz targets.
//!
//! The laws read requests in another way than the crate does: through serde_json, by value. So a fault in the ranges shows.

mod programs;

use crate::report::Status;
use crate::restore::without_legend;
use crate::steps::Step;
use crate::{Api, Bounds, Caller, Context, Done, HeaderOptions, MemoSettings, MemoryStore, Mode, Request, Store as _};
use serde_json::Value;
use stc_wire::span;

/// Checks every law for a body, whatever its bytes are. Returns what was prepared; `None` if an option was refused.
pub fn all(context: &Context, api: Api, body: &[u8]) -> Option<Done> {
    let done = prepare(context, api, body)?;
    envelope(context, api, body, &done);
    lossless(body, &done);
    never_larger(&done);
    same_bytes(context, api, body, &done);
    prefix(context, api, body, &done);
    memo(context, api, body, &done);
    models(context, api, body);
    steps(&done);
    // Options may say that secrets go.
    if !context.settings().options || !has_options(body) {
        programs::untouched(context, (api, conversation(api)), body, &done);
    }
    idempotent(context, api, body, &done);
    Some(done)
}

fn prepare(context: &Context, api: Api, body: &[u8]) -> Option<Done> {
    context.prepare(Request::new(api, body)).ok()
}

/// Law 1, the envelope: outside the texts of tool results, the members that are options, and descriptions of tools, nothing but
/// secrets differs. Of those descriptions blanks do too.
pub fn envelope(context: &Context, api: Api, body: &[u8], done: &Done) {
    let Some(sent) = &done.body else {
        assert_eq!(done.report.changed(), 0, "a change without a body");
        return;
    };
    // By bytes: with every changed text taken out on both sides, the rest is what came, less the options.
    let changed: Vec<_> = done.report.items.iter().filter(|item| item.status.is_change()).collect();
    let has_options = context.settings().options && has_options(body);
    if !has_options {
        let (mut from, mut at) = (0, 0);
        let mut values = done.report.values.clone();
        values.sort_by_key(|(place, _)| place.start);
        let mut values = values.into_iter().peekable();
        // Goes on to a place that is replaced: what is before it is the client's own.
        let mut go_on = |from: &mut usize, at: &mut usize, to: usize| {
            let same = |from: &mut usize, at: &mut usize, to: usize| {
                let before = &body[*from..to];
                assert!(sent[*at..].starts_with(before), "bytes before a text differ");
                (*from, *at) = (to, *at + before.len());
            };
            while let Some((place, length)) = values.next_if(|(place, _)| place.end <= to) {
                same(from, at, place.start);
                (*from, *at) = (place.end, *at + length);
            }
            same(from, at, to);
        };
        for item in &changed {
            go_on(&mut from, &mut at, item.place.start);
            let (prefix, suffix) = item.around;
            let around = [&b""[..], b"\"text\":", b"{\"output\":"];
            assert!(around.contains(&&sent[at..at + prefix]), "what is written before a text");
            at += prefix;
            let text = string_at(sent, at);
            assert_eq!(item.sent, at..at + text, "the range of a text in what is sent");
            at += text;
            assert!(&sent[at..at + suffix] == [&b""[..], b"}"][suffix], "what is written after a text");
            at += suffix;
            from = item.place.end;
        }
        go_on(&mut from, &mut at, body.len());
        assert!(at == sent.len(), "bytes after the last text differ");
    }
    // By value: with every text of a tool result blanked, both are the same document.
    let parsed = [body, sent.as_slice()].map(|text| serde_json::from_slice::<Value>(text).ok());
    if let [Some(mut came), Some(mut sent)] = parsed {
        if has_options {
            without_options(&mut came, &|name| has_member(body, name));
        }
        for request in [&mut came, &mut sent] {
            blank(context, api, request);
            if !done.report.values.is_empty() {
                blank_values(request);
                for tools in ["tools", "functions", "toolConfig", "generateContentRequest"] {
                    request.get_mut(tools).into_iter().for_each(without_blanks);
                }
            }
        }
        let same = if done.report.values.is_empty() { came == sent } else { same_but_secrets(&came, &sent) };
        assert!(same, "a value outside the tool results differs");
    }
    assert_eq!(stc::validate(sent), Ok(()), "what is sent is not JSON");
}

/// Law 2, lossless: every text that became STC by no other step, less the legend, decodes to the minified text that came.
pub fn lossless(body: &[u8], done: &Done) {
    for (item, after) in changed_texts(body, done) {
        if item.status != Status::Duplicate && !item.steps.iter().eq([Step::Json]) {
            assert!(done.report.mode.is_lossy() || item.redacted > 0, "a step of another mode");
            continue;
        }
        let before = crate::text(body, &item.text).expect("a changed text is Unicode");
        let minified = stc::minify(before.as_bytes()).ok();
        match item.status {
            Status::Stc2 | Status::Stc2Labelled => {
                let text = if item.legend { without_legend(&after) } else { &after };
                assert!(stc::decode(text.as_bytes()).ok() == minified, "a text does not decode to what came");
            }
            Status::Minified => assert!(Some(after.into_bytes()) == minified, "a text is not what came, minified"),
            Status::Duplicate => {
                assert!(after.starts_with("[Duplicate of ") && after.ends_with("; see earlier result]"));
            }
            _ => {}
        }
    }
}

/// Law 3, the prefix: for every cut of the conversation, the shorter request's output is a prefix of the longer one's, up to
/// the end of its last message.
pub fn prefix(context: &Context, api: Api, body: &[u8], done: &Done) {
    prefix_by(&|body| prepare(context, api, body), api, body, done);
}

/// The same for any way to prepare a request.
fn prefix_by(prepare: &dyn Fn(&[u8]) -> Option<Done>, api: Api, body: &[u8], done: &Done) {
    let Some(document) = span::document(body).filter(|_| stc::validate(body).is_ok()) else { return };
    let Some(rows) = span::member(body, document, conversation(api)) else { return };
    let elements: Vec<_> = span::elements(body, rows.value.clone()).collect();
    let whole = done.body.as_deref().unwrap_or(body);
    // All cuts of a short conversation, and a few of a long one.
    let step = elements.len().div_ceil(6).max(1);
    for last in elements.iter().step_by(step) {
        let cut = [&body[..last.end], b"]", &body[rows.value.end..]].concat();
        let Some(shorter) = prepare(&cut) else { panic!("a cut request is refused") };
        let shorter = shorter.body.unwrap_or(cut);
        let Some(end) = end_of_rows(api, &shorter) else { panic!("a cut request lost its conversation") };
        if !whole.starts_with(&shorter[..end]) {
            let (cut, whole) = around_difference(&shorter[..end], whole);
            panic!("a message depends on what follows it: {cut}\n\n{whole}");
        }
    }
}

/// Law 4, never larger: the estimated tokens of no text grow, legend and reference lines counted, and neither do the bytes
/// of a text without them. What replaces a secret may be longer, and a text that is capped has fewer bytes.
pub fn never_larger(done: &Done) {
    for item in &done.report.items {
        let may_grow = item.redacted > 0 || item.is_capped();
        assert!(may_grow || item.saved.tokens_out <= item.saved.tokens_in, "more tokens: {item:?}");
        let may_grow = item.redacted > 0 || item.legend;
        assert!(may_grow || item.saved.bytes_out <= item.saved.bytes_in, "more bytes: {item:?}");
    }
}

/// The steps of a text fit its status and the mode.
pub fn steps(done: &Done) {
    for item in &done.report.items {
        let steps = item.steps;
        match item.status {
            Status::Abridged => assert!(steps.lose(), "{item:?}"),
            Status::Cleaned => assert!(!steps.lose() && !steps.is_empty(), "{item:?}"),
            Status::Duplicate => {}
            status => assert_eq!(status.is_change(), steps.has(Step::Json), "{item:?}"),
        }
        assert_eq!(item.redacted > 0, steps.has(Step::Redact), "{item:?}");
        let aggressive = steps.has(Step::Noise) || steps.has(Step::Dictionary);
        assert!(!aggressive || done.report.mode == Mode::Aggressive, "{item:?}");
    }
}

/// Law 7, idempotent: what was prepared is not changed again. Not so where a duplicate became a line, a text has the legend, or
/// the request is longer than what is handled of it.
pub fn idempotent(context: &Context, api: Api, body: &[u8], done: &Done) {
    let settings = context.settings();
    let has_options = settings.options && has_options(body);
    // A text that was past the bound may come before it.
    let is_longer = body.len() > settings.max_request_bytes;
    if has_options || is_longer || settings.dedup || done.report.items.iter().any(|item| item.legend) {
        return;
    }
    let Some(sent) = &done.body else { return };
    let again = prepare(context, api, sent).expect("the options were good before");
    if let Some(body) = &again.body {
        let (sent, again) = around_difference(sent, body);
        panic!("what was prepared changes again: {sent}\n\n{again}");
    }
}

/// Returns what is around the first difference of two bodies.
fn around_difference(one: &[u8], other: &[u8]) -> (String, String) {
    let at = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let part = |body: &[u8]| {
        let (start, end) = (at.saturating_sub(300).min(body.len()), body.len().min(at + 300));
        String::from_utf8_lossy(&body[start..end]).into_owned()
    };
    (part(one), part(other))
}

/// Law 5, fail open: with an encoder that fails in every way, the original goes out. `context` must have such an encoder.
pub fn fail_open(context: &Context, api: Api, body: &[u8]) {
    let Some(done) = prepare(context, api, body) else { return };
    let kept = |status: Status| !status.is_change() || matches!(status, Status::Minified | Status::Duplicate);
    assert!(done.report.items.iter().all(|item| kept(item.status)));
    envelope(context, api, body, &done);
    lossless(body, &done);
}

/// Law 6, same bytes: the same input and settings give the same output, in a new context and after other requests too.
pub fn same_bytes(context: &Context, api: Api, body: &[u8], done: &Done) {
    let fresh = context.fresh();
    for context in [context, &fresh] {
        let again = prepare(context, api, body).expect("the options were good before");
        assert!(again.body == done.body, "the same request gives other bytes");
        assert_eq!(again.report.header(), done.report.header());
    }
}

/// A memo changes no byte: with a store, and with what an earlier request left there, a request becomes the same.
pub fn memo(context: &Context, api: Api, body: &[u8], done: &Done) {
    let MemoSettings { entry_bytes, session_bytes, sessions, total_bytes, ttl, .. } = context.settings().memo;
    let store = MemoryStore::new(Bounds { entry_bytes, session_bytes, sessions, total_bytes, ttl: ttl * 1000 });
    let headers = HeaderOptions { session: Some(b"s"), ..HeaderOptions::default() };
    for turn in 0..2 {
        let caller = Caller { tenant: b"t", route: "/" };
        let begun =
            context.begin(Request { endpoint: api.into(), body, headers, model: None }, caller).expect("good before");
        let found = store.get(begun.keys(), turn);
        let again = context.finish(body, begun, &found).expect("good before");
        assert!(again.body == done.body, "with a memo a request gives other bytes");
        assert_eq!(again.report.header(), done.report.header());
        store.put(again.keep, turn);
    }
}

/// The law of models: a request becomes what the format for its model makes of it, message by message; also where a conversation
/// changes its model and changes back, with a store that remembers all of it.
pub fn models(context: &Context, api: Api, body: &[u8]) {
    if context.settings().format.fixed().is_some() || (context.settings().options && has_options(body)) {
        return;
    }
    let MemoSettings { entry_bytes, session_bytes, sessions, total_bytes, ttl, .. } = context.settings().memo;
    // Twice the bytes: a session has the texts of both formats.
    let session_bytes = 2 * session_bytes;
    let store = MemoryStore::new(Bounds { entry_bytes, session_bytes, sessions, total_bytes, ttl: ttl * 1000 });
    let asked = |model| Request { model: Some(model), ..Request::new(api, body) };
    for (turn, model) in ["claude-opus-4", "x-1b", "claude-opus-4", "x-1b"].into_iter().enumerate() {
        let reading = context.settings().reading(Some(model)).expect("the format is not fixed");
        let fixed = prepare(&context.with_format(reading.format), api, body).expect("good before");
        let done = context.prepare(asked(model)).expect("good before");
        assert!(done.body == fixed.body, "a model changes more than the format");
        if turn == 0 {
            let of_model = |body: &[u8]| context.prepare(Request { body, ..asked(model) }).ok();
            prefix_by(&of_model, api, body, &done);
        }
        let headers = HeaderOptions { session: Some(b"s"), ..HeaderOptions::default() };
        let caller = Caller { tenant: b"t", route: "/" };
        let begun = context.begin(Request { headers, ..asked(model) }, caller).expect("good before");
        let found = store.get(begun.keys(), turn as u64);
        let again = context.finish(body, begun, &found).expect("good before");
        assert!(again.body == done.body, "after another model a request gives other bytes");
        store.put(again.keep, turn as u64);
    }
}

/// Returns each changed item with its text after the change.
fn changed_texts<'a>(body: &'a [u8], done: &'a Done) -> Vec<(&'a crate::Item, String)> {
    let Some(sent) = &done.body else { return Vec::new() };
    let items = &done.report.items;
    if done.report.left.is_some() {
        return Vec::new(); // only options were removed
    }
    assert_eq!(stc::validate(sent), Ok(()), "{} bytes became something else than JSON", body.len());
    let changed = items.iter().filter(|item| item.status.is_change());
    let text = |item: &crate::Item| span::string(sent, &item.sent).map(String::from);
    changed.map(|item| (item, text(item).expect("a new text is a string of Unicode"))).collect()
}

fn conversation(api: Api) -> &'static str {
    match api {
        Api::OpenAiResponses => "input",
        Api::Gemini => "contents",
        _ => "messages",
    }
}

/// Returns the end of the last message of a request.
fn end_of_rows(api: Api, body: &[u8]) -> Option<usize> {
    let rows = span::member(body, span::document(body)?, conversation(api))?;
    span::elements(body, rows.value).last().map(|last| last.end)
}

/// Returns the length of the string that starts at `at`.
fn string_at(text: &[u8], at: usize) -> usize {
    assert_eq!(text.get(at), Some(&b'"'), "a text is not a string");
    let mut end = at + 1;
    while text[end] != b'"' {
        end += if text[end] == b'\\' { 2 } else { 1 };
    }
    end + 1 - at
}

fn has_options(body: &[u8]) -> bool {
    has_member(body, b"\"_stc\"") || has_member(body, b"\"_forge\"")
}

/// Returns whether the request has a member whose key is spelled so; a key with an escape is no option.
fn has_member(body: &[u8], key: &[u8]) -> bool {
    let Some(document) = span::document(body) else { return false };
    span::members(body, document).any(|member| &body[member.key] == key)
}

fn without_options(request: &mut Value, has: &dyn Fn(&[u8]) -> bool) {
    let Value::Object(members) = request else { return };
    if has(b"\"_stc\"") {
        members.remove("_stc");
    }
    let forge = members.get_mut("_forge").filter(|_| has(b"\"_forge\""));
    if let Some(Value::Object(forge)) = forge {
        let before = forge.len();
        forge.remove("tool_output_compression");
        forge.remove("schema_compression");
        if forge.is_empty() && before > 0 {
            members.remove("_forge");
        }
    }
}

/// Replaces every text that may change by `null`.
fn blank(context: &Context, api: Api, request: &mut Value) {
    let settings = context.settings();
    let Some(Value::Array(rows)) = request.get_mut(conversation(api)) else { return };
    for row in rows {
        let kind = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(String::from);
        let is_user = kind(row, "role").is_none_or(|role| role == "user");
        if is_user && settings.user_text {
            blank_member(row, "content");
            blank_member(row, "parts");
        }
        match api {
            Api::OpenAiChat | Api::Ollama if matches!(kind(row, "role").as_deref(), Some("tool" | "function")) => {
                blank_texts(row.get_mut("content"));
            }
            Api::OpenAiResponses
                if matches!(kind(row, "type").as_deref(), Some("function_call_output" | "custom_tool_call_output")) =>
            {
                blank_texts(row.get_mut("output"));
            }
            Api::Anthropic => {
                let Some(Value::Array(blocks)) = row.get_mut("content") else { continue };
                for block in blocks {
                    if kind(block, "type").as_deref() == Some("tool_result") {
                        blank_texts(block.get_mut("content"));
                    }
                }
            }
            Api::Gemini => {
                let Some(Value::Array(parts)) = row.get_mut("parts") else { continue };
                for part in parts {
                    for key in ["functionResponse", "function_response"] {
                        let Some(response) = part.get_mut(key) else { continue };
                        if settings.gemini_wrap {
                            blank_member(response, "response");
                        }
                        for key in ["output", "result", "content"] {
                            let text = response.get_mut("response").and_then(|response| response.get_mut(key));
                            blank_texts(text.filter(|text| text.is_string()));
                        }
                    }
                }
            }
            Api::Bedrock => {
                let Some(Value::Array(blocks)) = row.get_mut("content") else { continue };
                for block in blocks {
                    let content = block.get_mut("toolResult").and_then(|result| result.get_mut("content"));
                    let Some(Value::Array(parts)) = content else { continue };
                    for part in parts {
                        if part.get("text").is_some() || part.get("json").is_some() {
                            *part = Value::Null;
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns whether two values differ in nothing but what became `[redacted:…]`.
fn same_but_secrets(came: &Value, sent: &Value) -> bool {
    match (came, sent) {
        (Value::String(came), Value::String(sent)) => {
            let shown = stc_abridge::ansi(came, false);
            came == sent || is_redacted(came, sent) || shown.is_some_and(|shown| is_redacted(&shown, sent))
        }
        (Value::Array(came), Value::Array(sent)) => {
            came.len() == sent.len() && came.iter().zip(sent).all(|(came, sent)| same_but_secrets(came, sent))
        }
        (Value::Object(came), Value::Object(sent)) => {
            let renamed = |key: &str, value: &Value| {
                let mut others = sent.iter().filter(|(other, _)| !came.contains_key(*other));
                others.any(|(other, sent)| is_redacted(key, other) && same_but_secrets(value, sent))
            };
            let is_there = |(key, value): (&String, &Value)| match sent.get(key) {
                Some(sent) => same_but_secrets(value, sent),
                None => renamed(key, value),
            };
            came.iter().all(is_there) && sent.len() <= came.len()
        }
        (came, sent) => came == sent,
    }
}

/// Returns whether a text is another with marks in place of some of it.
fn is_redacted(came: &str, sent: &str) -> bool {
    let mut rest = sent;
    let mut left = came;
    let mut is_first = true;
    while let Some((before, after)) = rest.split_once("[redacted:") {
        let Some((_, after)) = after.split_once(']') else { return false };
        let at = if is_first { left.starts_with(before).then_some(0) } else { left.find(before) };
        let Some(at) = at else { return false };
        (left, rest, is_first) = (&left[at + before.len()..], after, false);
    }
    !is_first && left.ends_with(rest)
}

/// Replaces every value that may be the arguments of a call, or a response of Gemini, by `null`.
fn blank_values(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    "arguments" | "input" | "args" | "response" if !value.is_array() => *value = Value::Null,
                    _ => blank_values(value),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(blank_values),
        _ => {}
    }
}

/// Replaces the blanks in every `description` by one each, and removes those that are nothing else.
fn without_blanks(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members
                .retain(|key, value| key != "description" || value.as_str().is_none_or(|text| !text.trim().is_empty()));
            for (key, value) in members {
                match value {
                    Value::String(text) if key == "description" => {
                        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    }
                    value => without_blanks(value),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(without_blanks),
        _ => {}
    }
}

fn blank_member(object: &mut Value, key: &str) {
    if let Some(value) = object.get_mut(key) {
        *value = Value::Null;
    }
}

fn blank_texts(content: Option<&mut Value>) {
    match content {
        Some(text @ Value::String(_)) => *text = Value::Null,
        Some(Value::Array(parts)) => {
            for part in parts {
                let is_text = matches!(part.get("type").and_then(Value::as_str), Some("text" | "input_text"));
                if let Some(text @ Value::String(_)) = part.get_mut("text").filter(|_| is_text) {
                    *text = Value::Null;
                }
            }
        }
        _ => {}
    }
}
