//! Secrets that are split over the events of a stream, found in what a client makes of them.
//!
//! ```text
//! data: {"index":0,"delta":{"text":"key ghp_aB3d"}}      joined: key ghp_aB3dE5fG…
//! data: {"index":1,"delta":{"text":"x"}}                 of another index: joined with its own
//! data: {"index":0,"delta":{"text":"E5fG…"}}
//! ```
//!
//! No API is known by name: the strings at the same place of all events are joined, where a place is the keys down to the string and
//! the numbers and ids that are members on the way (`index`, `item_id`, …).

use stc_redact::{Failed, Redactor};
use stc_wire::cursor::Cursor;
use stc_wire::edit::Edits;
use stc_wire::span::{self, Span};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Strings of deeper values are not joined.
const DEEPEST: usize = 24;
/// Members that say which stream of deltas an event belongs to.
const TELLING: [&str; 7] =
    ["index", "item_id", "output_index", "content_index", "summary_index", "tool_index", "part_index"];
/// Members of the envelope, which are whole in each event.
const WHOLE: [&str; 20] = [
    "type",
    "id",
    "model",
    "modelVersion",
    "role",
    "object",
    "item_id",
    "response_id",
    "responseId",
    "event_id",
    "call_id",
    "name",
    "status",
    "system_fingerprint",
    "service_tier",
    "finish_reason",
    "finishReason",
    "stop_reason",
    "obfuscation",
    "created_at",
];

/// What the messages of a stream are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Server-sent events.
    Events,
    /// A line each.
    Lines,
    /// The elements of an array.
    Elements,
}

/// A byte order mark, which a stream may start with.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns a stream without the secrets that are split over its messages; `None` if there are none. Fails where strings of several
/// messages are too deep to be joined.
pub(super) fn redacted(redactor: &Redactor, stream: Stream, body: &[u8]) -> Result<Option<Vec<u8>>, Failed> {
    let Some(body) = body.strip_prefix(MARK) else { return without_mark(redactor, stream, body) };
    Ok(without_mark(redactor, stream, body)?.map(|redacted| [MARK, &redacted].concat()))
}

fn without_mark(redactor: &Redactor, stream: Stream, body: &[u8]) -> Result<Option<Vec<u8>>, Failed> {
    let messages = match stream {
        Stream::Events => events(body),
        Stream::Lines => lines(body).map(|line| Message::of(body, line)).collect(),
        Stream::Elements => {
            let whole = span::document(body).unwrap_or(0..0);
            span::elements(body, whole).map(|element| Message::of(body, element)).collect()
        }
    };
    if messages.len() < 2 {
        return Ok(None);
    }
    let mut edits: Vec<Edits> = vec![Edits::default(); messages.len()];
    for (place, strings) in joined(&messages)? {
        let texts = strings.iter().map(|(_, _, text)| &**text);
        let Some(parts) = redactor.redact_parts(texts)? else { continue };
        let changed = strings.iter().zip(&parts).filter(|((_, _, before), part)| before != *part);
        for ((number, span, _), part) in changed {
            let mut with = Vec::new();
            if place == PLAIN {
                with.extend_from_slice(part.as_bytes())
            } else {
                span::quote_into(part, &mut with)
            }
            edits[*number].replace(span.clone(), with);
        }
    }
    let mut whole = Edits::default();
    for (message, edits) in messages.iter().zip(edits).filter(|(_, edits)| !edits.is_empty()) {
        let Some(text) = edits.apply(&message.text) else { continue };
        whole.replace(message.place.clone(), if message.is_folded { unfolded(&text) } else { text });
    }
    Ok(if whole.is_empty() { None } else { whole.apply(body) })
}

/// A message of a stream.
struct Message<'a> {
    place: Range<usize>,
    text: Cow<'a, [u8]>,
    /// Whether the text came in several lines of data.
    is_folded: bool,
}

impl<'a> Message<'a> {
    fn of(body: &'a [u8], place: Range<usize>) -> Self {
        Self { text: Cow::Borrowed(&body[place.clone()]), place, is_folded: false }
    }
}

/// The place of a message that is not JSON.
const PLAIN: u64 = 0;

/// A string of a message: the number of that, its range there, and what it says.
type Part<'a> = (usize, Span, Cow<'a, str>);

/// Returns the strings of all messages by their places, in order.
fn joined<'a>(messages: &'a [Message<'_>]) -> Result<BTreeMap<u64, Vec<Part<'a>>>, Failed> {
    let mut deep = 0;
    let mut places: BTreeMap<u64, Vec<Part<'a>>> = BTreeMap::new();
    for (number, message) in messages.iter().enumerate() {
        let text = &*message.text;
        let mut strings = Strings::default();
        let _ = collect(text, &mut Cursor::new(text), &mut strings, 0);
        deep += usize::from(strings.has_deeper);
        // What is deeper than any codec goes is none either.
        if !stc_wire::transcode::is_json(text) {
            // The end of a stream in some APIs.
            if let Ok(plain) = std::str::from_utf8(text)
                && plain != "[DONE]"
            {
                places.entry(PLAIN).or_default().push((number, 0..text.len(), Cow::Borrowed(plain)));
            }
            continue;
        }
        for (place, span) in strings.found {
            if let Some(string) = span::string(text, &span) {
                places.entry(place | 1).or_default().push((number, span, string));
            }
        }
    }
    if deep > 1 {
        return Err(Failed::Late);
    }
    places.retain(|_, strings| strings.len() > 1);
    Ok(places)
}

/// The strings of a message, with their places.
#[derive(Default)]
struct Strings {
    found: Vec<(u64, Span)>,
    /// Whether there are deeper ones, which are not collected.
    has_deeper: bool,
}

/// Collects the strings of the next value, with their places in it. Returns a number for what tells it from others beside it.
fn collect(text: &[u8], cursor: &mut Cursor<'_>, strings: &mut Strings, depth: usize) -> Option<Option<u64>> {
    let first = strings.found.len();
    match cursor.peek()? {
        b'"' => {
            strings.found.push((0, cursor.skip()?));
            Some(None)
        }
        b'{' if depth < DEEPEST => {
            let mut tells = None;
            cursor.object(|cursor, key| {
                let inner = strings.found.len();
                if TELLING.contains(&&*key)
                    && let Some(value) = cursor.clone().skip()
                {
                    tells = Some(hashed(&(tells, &*key, &text[value])));
                }
                if WHOLE.contains(&&*key) {
                    return cursor.skip().map(|_| ());
                }
                collect(text, cursor, strings, depth + 1)?;
                strings.found[inner..].iter_mut().for_each(|string| string.0 = hashed(&(string.0, &*key)));
                Some(())
            })?;
            strings.found[first..].iter_mut().for_each(|string| string.0 = hashed(&(string.0, tells)));
            Some(tells)
        }
        b'[' if depth < DEEPEST => {
            let mut number = 0_u64;
            cursor.array(|cursor| {
                let inner = strings.found.len();
                // An element that has an index is not told by its place.
                let at = if collect(text, cursor, strings, depth + 1)?.is_some() { u64::MAX } else { number };
                strings.found[inner..].iter_mut().for_each(|string| string.0 = hashed(&(string.0, at)));
                number += 1;
                Some(())
            })?;
            Some(None)
        }
        _ if depth < DEEPEST => cursor.skip().map(|_| None),
        _ => {
            let deeper = cursor.skip();
            strings.has_deeper |= deeper.clone().map_or(text, |span| &text[span]).contains(&b'"');
            deeper.map(|_| None)
        }
    }
}

fn hashed(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the data of the events, those of several lines as one text.
fn events(body: &[u8]) -> Vec<Message<'_>> {
    let mut events: Vec<Message<'_>> = Vec::new();
    // Where a further line of data of the same event would begin.
    let mut next = None;
    for line in lines(body) {
        let Some(value) = body[line.clone()].strip_prefix(b"data:") else { continue };
        let value = line.end - value.strip_prefix(b" ").unwrap_or(value).len()..line.end;
        match events.last_mut().filter(|_| next == Some(line.start)) {
            Some(event) => {
                event.text.to_mut().push(b'\n');
                event.text.to_mut().extend_from_slice(&body[value]);
                event.place.end = line.end;
                event.is_folded = true;
            }
            None => events.push(Message::of(body, value)),
        }
        let break_length = if body[line.end..].starts_with(b"\r\n") { 2 } else { 1 };
        next = Some(line.end + break_length);
    }
    events
}

/// Returns a text of several lines as lines of data. What was in one line of JSON may be in another afterwards.
fn unfolded(text: &[u8]) -> Vec<u8> {
    text.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\ndata: "[..])
}

/// Returns the lines of a text, without what ends them.
fn lines(body: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = body.get(at..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len());
        let line = at..at + length;
        at = line.end + if body[line.end..].starts_with(b"\r\n") { 2 } else { 1 };
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn secret() -> String {
        stc_redact::plant::fill("ghp_<36>", 1).text
    }

    /// Makes events of a value for each cut of a text.
    fn stream(text: &str, step: usize, event: impl Fn(&str) -> Value) -> String {
        let cuts: Vec<_> = (0..text.len()).step_by(step).chain([text.len()]).collect();
        cuts.windows(2).map(|cut| format!("event: x\ndata: {}\n\n", event(&text[cut[0]..cut[1]]))).collect()
    }

    fn whole(redacted: &[u8], pointer: &str) -> String {
        let events = events(redacted);
        let texts = events.iter().filter_map(|event| serde_json::from_slice::<Value>(&event.text).ok());
        texts.filter_map(|value| Some(value.pointer(pointer)?.as_str()?.to_owned())).collect()
    }

    #[test]
    fn deltas_of_all_apis_are_joined() {
        type Event = fn(&str) -> Value;
        let apis: [(&str, Event); 8] = [
            ("/choices/0/delta/content", |text| json!({"id":"c","choices":[{"index":0,"delta":{"content":text}}]})),
            (
                "/choices/0/delta/tool_calls/0/function/arguments",
                |text| json!({"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":text}}]}}]}),
            ),
            (
                "/delta/text",
                |text| json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":text}}),
            ),
            (
                "/delta/partial_json",
                |text| json!({"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":text}}),
            ),
            ("/delta", |text| json!({"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":text})),
            ("/delta", |text| json!({"type":"response.function_call_arguments.delta","item_id":"f","delta":text})),
            (
                "/candidates/0/content/parts/0/text",
                |text| json!({"candidates":[{"content":{"role":"model","parts":[{"text":text}]}}]}),
            ),
            ("/message/content", |text| json!({"model":"m","message":{"role":"assistant","content":text}})),
        ];
        let redactor = Redactor::default();
        for (pointer, event) in apis {
            for step in [1, 4, 20] {
                let body = stream(&format!("a key: {} and more", secret()), step, event);
                let redacted = redacted(&redactor, Stream::Events, body.as_bytes()).unwrap().unwrap();
                assert_eq!(whole(&redacted, pointer), "a key: [redacted:github-token] and more", "{pointer} {step}");
                let count = |text: &[u8]| events(text).len();
                assert_eq!(count(&redacted), count(body.as_bytes()));
            }
        }
    }

    #[test]
    fn deltas_of_two_indices_are_told_apart() {
        let secret = secret();
        let (start, end) = secret.split_at(20);
        let event = |index: u64, text: &str| {
            format!("data: {}\n\n", json!({"choices":[{"delta":{"content":text},"index":index}]}))
        };
        let mixed = [event(0, start), event(1, "x"), event(0, end), event(1, "y")].concat();
        let redactor = Redactor::default();
        let redacted = redacted(&redactor, Stream::Events, mixed.as_bytes()).unwrap().unwrap();
        let expected = [event(0, "[redacted:github-token]"), event(1, "x"), event(0, ""), event(1, "y")].concat();
        assert_eq!(String::from_utf8(redacted).unwrap(), expected);
        let apart = [event(0, start), event(1, end)].concat();
        assert_eq!(super::redacted(&redactor, Stream::Events, apart.as_bytes()).unwrap(), None);
    }

    #[test]
    fn other_streams_are_joined_too() {
        let secret = secret();
        let (start, end) = secret.split_at(20);
        let redactor = Redactor::default();
        for (stream, body) in [
            (Stream::Events, format!("data: {start}\n\ndata: {end}\n\ndata: [DONE]\n\n")),
            (Stream::Events, format!("data: \"{start}\"\r\n\r\ndata:\"{end}\"\r\n\r\n")),
            (Stream::Events, format!("data: {{\"t\":\ndata: \"{start}\"}}\n\ndata: {{\"t\":\ndata: \"{end}\"}}\n\n")),
            (Stream::Lines, format!("{{\"t\":\"{start}\"}}\n{{\"t\":\"{end}\"}}\n")),
            (Stream::Elements, format!("[{{\"t\":\"{start}\"}},\n{{\"t\":\"{end}\"}}]")),
        ] {
            for body in [format!("\u{feff}{body}"), body] {
                let redacted = redacted(&redactor, stream, body.as_bytes()).unwrap().unwrap();
                let expected = body.replace(start, "[redacted:github-token]").replace(end, "");
                assert_eq!(String::from_utf8(redacted).unwrap(), expected);
            }
        }
        assert_eq!(redacted(&redactor, Stream::Events, b"data: a\n\ndata: b\n\n").unwrap(), None);
    }

    /// A secret in strings that are too deep to be joined would pass, so the stream fails; deep numbers hold none.
    #[test]
    fn strings_that_are_too_deep_fail() {
        let event =
            |depth: usize, text: &str| format!("data: {{\"a\":{}{text}{}}}\n\n", "[".repeat(depth), "]".repeat(depth));
        let redactor = Redactor::default();
        for (depth, text, expected) in [
            (DEEPEST - 1, "\"x\"", Ok(None)),
            (DEEPEST, "\"x\"", Err(Failed::Late)),
            (1000, "\"x\"", Err(Failed::Late)),
            (1000, "7", Ok(None)),
        ] {
            let got = redacted(&redactor, Stream::Events, event(depth, text).repeat(2).as_bytes());
            assert_eq!(got, expected, "{depth} {text}");
        }
        let once = event(1000, "\"x\"") + &event(1, "\"x\"");
        assert_eq!(redacted(&redactor, Stream::Events, once.as_bytes()), Ok(None), "in one message it is whole");
    }

    /// Every cut of a stream, deep values, and many keys end.
    #[test]
    fn broken_streams_end() {
        let redactor = Redactor::default();
        let body = stream(&secret(), 9, |text| json!({"choices":[{"index":0,"delta":{"content":text}}]}));
        for end in 0..body.len() {
            redacted(&redactor, Stream::Events, &body.as_bytes()[..end]).unwrap();
        }
        let deep = format!("data: {}\n\n", "[".repeat(100_000)).repeat(2);
        assert_eq!(redacted(&redactor, Stream::Events, deep.as_bytes()).unwrap(), None);
    }
}
