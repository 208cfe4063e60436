//! STC 1 against a writer that follows section 8 of the specification value by value, however the document arrives: short and
//! long, read in place and after whitespace, cut between any two of its tokens, on every kernel. What is not JSON is refused on
//! all of those ways.

use std::ops::Range;

use stc::internal::{Kernel, encoder};
use stc::{Encoder, Error, ErrorKind, Limits, Options};

use crate::laws::stc1;
use crate::random::rounds;
use crate::verdict::is_json;

/// The bytes that are scanned at once.
const BLOCK: usize = 64;

/// A string in a document that is too long to be copied before it is read.
const LONG: usize = 4 << 10;

/// A value, and where it is in the text.
struct Value<'a> {
    place: Range<usize>,
    text: &'a str,
    inside: Inside<'a>,
}

enum Inside<'a> {
    Scalar,
    Array(Vec<Value<'a>>),
    Object(Vec<(&'a str, Value<'a>)>),
}

/// Reads the value at `at` of minified JSON.
fn value<'a>(json: &'a str, at: &mut usize) -> Value<'a> {
    let (bytes, start) = (json.as_bytes(), *at);
    let inside = match bytes[start] {
        open @ (b'{' | b'[') => {
            let (mut elements, mut members) = (Vec::new(), Vec::new());
            *at += 1;
            while !matches!(bytes[*at], b'}' | b']') {
                *at += usize::from(bytes[*at] == b',');
                if open == b'[' {
                    elements.push(value(json, at));
                } else {
                    let key = value(json, at).text;
                    *at += 1;
                    members.push((key, value(json, at)));
                }
            }
            *at += 1;
            if open == b'[' { Inside::Array(elements) } else { Inside::Object(members) }
        }
        b'"' => {
            *at += 1;
            while bytes[*at] != b'"' {
                *at += 1 + usize::from(bytes[*at] == b'\\');
            }
            *at += 1;
            Inside::Scalar
        }
        _ => {
            *at += bytes[start..].iter().take_while(|byte| !b",:]}".contains(byte)).count();
            Inside::Scalar
        }
    };
    Value { place: start..*at, text: &json[start..*at], inside }
}

/// What keeps an array plain (section 8.7).
#[derive(Clone, Copy, Debug)]
struct Settings {
    window: usize,
    columns: usize,
    header: usize,
    ratio: usize,
    depth: usize,
}

const NO_LIMITS: Settings =
    Settings { window: usize::MAX, columns: usize::MAX, header: usize::MAX, ratio: 1_000_000, depth: 500 };

impl Settings {
    fn options(self) -> Options {
        let Self { window, columns, header, ratio, depth } = self;
        let limits = Limits::default().columns(columns).header(header).ratio(ratio as u64).depth(depth);
        stc1().window(window).limits(limits)
    }

    /// Returns minified JSON as STC 1.
    fn written(self, json: &str) -> String {
        let mut out = String::new();
        self.write(&value(json, &mut 0), &mut out);
        out
    }

    fn write(self, value: &Value<'_>, out: &mut String) {
        match &value.inside {
            Inside::Scalar => *out += value.text,
            Inside::Object(members) => {
                *out += "{";
                for (at, (key, value)) in members.iter().enumerate() {
                    *out += if at > 0 { ", " } else { "" };
                    *out += written_key(key);
                    match &value.inside {
                        Inside::Array(elements) if self.is_compact(value, elements) => {
                            let inside = &value.text[1..value.text.len() - 1];
                            *out += &format!("[{}]: {inside}", elements.len());
                        }
                        _ => {
                            *out += ": ";
                            self.write(value, out);
                        }
                    }
                }
                *out += "}";
            }
            Inside::Array(elements) => {
                if let Some(table) = self.table(value, elements, out.len()) {
                    *out += &table;
                    return;
                }
                *out += "[";
                for (at, element) in elements.iter().enumerate() {
                    *out += if at > 0 { "," } else { "" };
                    self.write(element, out);
                }
                *out += "]";
            }
        }
    }

    /// Section 8.5, for an array that is a member's value.
    fn is_compact(self, value: &Value<'_>, elements: &[Value<'_>]) -> bool {
        let kind = |element: &Value<'_>| match element.text.as_bytes()[0] {
            b'"' => 's',
            b't' | b'f' => 'b',
            b'-' | b'0'..=b'9' => 'n',
            _ => '-',
        };
        let first = elements.first().map_or('-', kind);
        first != '-' && elements.iter().all(|element| kind(element) == first) && value.text.len() <= self.window
    }

    /// Section 8.6; `before` bytes of STC come before the array.
    fn table(self, value: &Value<'_>, elements: &[Value<'_>], before: usize) -> Option<String> {
        let mut rows = elements.iter().map(|element| match &element.inside {
            Inside::Object(members) => Some(members),
            _ => None,
        });
        let first = rows.next()??;
        let keys: Vec<&str> = first.iter().map(|&(key, _)| key).collect();
        let has_same_keys = |row: Option<&Vec<(&str, Value<'_>)>>| {
            row.is_some_and(|row| row.iter().map(|&(key, _)| key).eq(keys.iter().copied()))
        };
        let is_distinct = (1..keys.len()).all(|at| !keys[..at].contains(&keys[at]));
        let header: usize = keys.iter().map(|key| written_key(key).len()).sum();
        if elements.len() < 2 || keys.is_empty() || !rows.all(has_same_keys) || !is_distinct {
            return None;
        }
        if value.text.len() > self.window || keys.len() > self.columns || header > self.header {
            return None;
        }
        let keys: Vec<&str> = keys.iter().map(|key| written_key(key)).collect();
        let mut out = format!("]{{{}}}: ", keys.join(","));
        for (at, element) in elements.iter().enumerate() {
            let Inside::Object(members) = &element.inside else { return None };
            if members.iter().any(|(_, cell)| !matches!(cell.inside, Inside::Scalar)) {
                return None;
            }
            if at > 0 {
                // With the comma between rows.
                let end = element.place.end + usize::from(at + 1 < elements.len());
                if end > self.ratio.saturating_mul(before + 1 + out.len()) {
                    return None;
                }
                out += " / ";
            }
            let cells: Vec<&str> = members.iter().map(|(_, cell)| cell.text).collect();
            out += &cells.join(",");
        }
        Some(format!("[{}{out}", elements.len()))
    }
}

/// Section 8.3.
fn written_key(key: &str) -> &str {
    let body = &key[1..key.len() - 1];
    let is_bare = !body.starts_with(|first: char| first.is_ascii_digit())
        && !body.is_empty()
        && body.chars().all(|other| other.is_ascii_alphanumeric() || other == '_');
    if is_bare { body } else { key }
}

/// Returns where each token of a text begins, and its end.
fn boundaries(json: &str) -> Vec<usize> {
    let (bytes, mut at, mut found) = (json.as_bytes(), 0, Vec::new());
    while at < bytes.len() {
        found.push(at);
        at += match bytes[at] {
            b'"' => {
                let mut end = at + 1;
                while end < bytes.len() && bytes[end] != b'"' {
                    end += 1 + usize::from(bytes[end] == b'\\');
                }
                end + 1 - at
            }
            byte if b"{}[],:".contains(&byte) => 1,
            _ => bytes[at..].iter().take_while(|byte| !b"{}[],:\"".contains(byte)).count(),
        };
        at = at.min(bytes.len());
    }
    found.push(bytes.len());
    found
}

/// Encoders of every kernel, and one for chunks.
struct Encoders {
    whole: Vec<Encoder>,
    /// The number of encoders in `whole` that are compared, from the best kernel on.
    kernels: usize,
    pushed: Encoder,
    out: Vec<u8>,
}

impl Encoders {
    fn new(options: Options) -> Self {
        let whole: Vec<Encoder> = Kernel::available().into_iter().map(|kernel| encoder(options, kernel)).collect();
        Self { kernels: whole.len(), whole, pushed: Encoder::with_options(options), out: Vec::new() }
    }

    /// Requires that a document is written like this, or refused, by every kernel; returns the error.
    fn expect(&mut self, json: &str, expected: Option<&str>) -> Option<Error> {
        let mut error = None;
        for encoder in &mut self.whole[..self.kernels] {
            match (encoder.encode(json.as_bytes()), expected) {
                (Ok(stc), Some(expected)) => assert!(
                    stc == expected.as_bytes(),
                    "{json}\n  became   {}\n  and not  {expected}",
                    String::from_utf8_lossy(stc)
                ),
                (Err(found), None) => {
                    assert!(
                        found.kind() != ErrorKind::Defect && error.is_none_or(|other| other == found),
                        "{found}: {json}"
                    );
                    error = Some(found);
                }
                (Ok(stc), None) => panic!("{json}\n  was accepted and became {}", String::from_utf8_lossy(stc)),
                (Err(found), Some(_)) => panic!("{json}\n  was refused: {found}"),
            }
        }
        error
    }

    /// Requires the same of a document that comes in two parts, the first of which is scanned to its end.
    fn expect_cut(&mut self, json: &str, cut: usize, expected: Option<&str>) {
        let padding = " ".repeat(2 * BLOCK - cut % BLOCK);
        let text = [&json[..cut], &padding, &json[cut..]].concat();
        let error = self.expect(&text, expected);
        self.out.clear();
        let (first, second) = text.as_bytes().split_at(cut + padding.len());
        let pushed = self.pushed.push(first, &mut self.out).and_then(|()| self.pushed.push(second, &mut self.out));
        let found = pushed.and_then(|()| self.pushed.finish(&mut self.out));
        assert_eq!(found.err(), error, "{text}");
        if let Some(expected) = expected {
            assert!(self.out == expected.as_bytes(), "{text}\n  became {}", String::from_utf8_lossy(&self.out));
        }
    }

    /// Requires the same of a text beside a string that makes the document long, in each of these ways.
    fn expect_long(&mut self, text: &str, settings: Settings, filler: &str, ways: impl IntoIterator<Item = usize>) {
        const AROUND: [(&str, &str); 4] =
            [("{\"z\":\"\",\"k\":", "}"), ("{\"k\":", ",\"z\":\"\"}"), ("[\"\",", "]"), ("[", ",\"\"]")];
        for way in ways {
            let (before, after) = AROUND[way % 4];
            let [before_long, after_long] = [before, after].map(|part| part.replace("\"\"", &format!("\"{filler}\"")));
            let json = [&before_long, text, &after_long].concat();
            let expected = is_json([before, text, after].concat().as_bytes()).then(|| settings.written(&json));
            // Without whitespace it is read in place.
            let json = if way % 8 < 4 { json } else { [&before_long, " ", text, &after_long].concat() };
            self.expect(&json, expected.as_deref());
        }
    }
}

/// Values in every form, and nearly in it.
const VALUES: [&str; 48] = [
    "1",
    "-0.5e+1",
    "\"\"",
    "true",
    "null",
    "{}",
    "[]",
    "[[]]",
    "[{}]",
    "[[],[]]",
    "[{},{}]",
    "{\"a\":{}}",
    "{\"a\":[]}",
    "{\"a\":[],\"b\":{},\"c\":[{}]}",
    "{\"a\":{\"b\":{}},\"c\":{}}",
    "[1,2]",
    "[[1,2],[3,4]]",
    "[[1],2,[[3]]]",
    "[[[1]],[\"a\",[true]],{}]",
    "{\"a\":[1]}",
    "{\"a\":[1,2,3],\"b\":[\"x\"],\"c\":[true,false,true]}",
    "{\"a\":[null,null]}",
    "{\"a\":[1,2,3,4,5,\"x\",7]}",
    "{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12]}",
    "{\"a\":[\"x\",1]}",
    "{\"a\":[true,null]}",
    "{\"a\":[1,[2]],\"b\":[[1],2]}",
    "{\"a\":[[1,2],[3,4]],\"b\":[{\"c\":[1]}]}",
    "{\"a\":1}",
    "{\"a\":1,\"b\":\"x\",\"c\":null}",
    "{\"a-b\":1,\"9\":\"x\",\"\":false,\"_\":2}",
    "{\"ab-cd\":[1],\"a b\":{\"9\":[]},\"\":[{\"a\":1},{\"a\":2}]}",
    "{\"a\":{\"b\":{\"c\":1}},\"d\":{\"e\":2}}",
    "[{\"a\":1},{\"a\":2}]",
    "[{\"a\":1,\"b\":\"x\"},{\"a\":2,\"b\":\"y\"},{\"a\":null,\"b\":true}]",
    "[{\"a\":1},{\"b\":2}]",
    "[{\"a\":1},{\"a\":1,\"b\":2}]",
    "[{\"a\":1,\"b\":2},{\"a\":1}]",
    "[{\"a\":1,\"a\":2},{\"a\":1,\"a\":2}]",
    "[{\"a\":1},{\"a\":[1]}]",
    "[{\"a\":{}},{\"a\":1}]",
    "[{\"a\":1},{},{\"a\":2}]",
    "[{\"a\":1}]",
    "[{\"a\":1},2]",
    "[{\"a\":[{\"b\":1},{\"b\":2}]},{\"a\":3}]",
    "{\"t\":[{\"a\":1},{\"a\":2}],\"u\":[{\"a\":1,\"b\":2},{\"a\":3,\"b\":4}]}",
    "[[{\"a\":1},{\"a\":2}],[{\"b\":\"\"},{\"b\":\"}\"}]]",
    "[{\"a\":1},{\"a\":2},{\"a\":3},{\"a\":4},{\"a\":5},{\"a\":6},{\"a\":7},{\"a\":8},{\"a\":9},{\"a\":10},{\"a\":[]}]",
];

/// Returns a text with each token left out, doubled, or with another token before it or in its place.
fn nearly(text: &str) -> Vec<String> {
    const TOKENS: [&str; 9] = [",", ":", "[", "]", "{", "}", "1", "\"a\"", "null"];
    let ends = boundaries(text);
    let mut all = Vec::new();
    for pair in ends.windows(2) {
        let (before, token, after) = (&text[..pair[0]], &text[pair[0]..pair[1]], &text[pair[1]..]);
        all.push([before, after].concat());
        all.extend(TOKENS.iter().map(|other| [before, other, token, after].concat()));
        all.extend(TOKENS.iter().map(|other| [before, other, after].concat()));
    }
    all
}

/// Every value is written by the letter of the specification, and what differs from it by a token is JSON of another form or
/// refused.
#[test]
fn every_form_and_all_that_nearly_is_one() {
    let mut encoders = Encoders::new(NO_LIMITS.options());
    let filler = "z".repeat(LONG + BLOCK);
    let (mut number, step) = (0, if cfg!(miri) { 9973 } else { 5 / rounds(5) });
    let (mut good, mut bad) = (0, 0);
    for text in VALUES {
        for (at, text) in std::iter::once(text.to_owned()).chain(nearly(text)).enumerate() {
            number += 1;
            if at > 0 && number % step != 0 {
                continue;
            }
            let expected = is_json(text.as_bytes()).then(|| NO_LIMITS.written(&text));
            (good, bad) = if expected.is_some() { (good + 1, bad) } else { (good, bad + 1) };
            // Fillers of all lengths, so that blocks end everywhere.
            let (filler, cuts) = (&filler[number % BLOCK..], boundaries(&text));
            if at == 0 {
                encoders.kernels = encoders.whole.len();
                encoders.expect_long(&text, NO_LIMITS, filler, 0..8);
                cuts.iter().for_each(|&cut| encoders.expect_cut(&text, cut, expected.as_deref()));
                encoders.kernels = 1;
            } else {
                // The text ends the document in one of them.
                encoders.expect_long(&text, NO_LIMITS, filler, [2 * (number / step), 2 * (number / step / 4) + 1]);
                (0..2).for_each(|at| {
                    encoders.expect_cut(&text, cuts[(number / step + 5 * at) % cuts.len()], expected.as_deref())
                });
            }
        }
    }
    assert!(cfg!(miri) || good > 500 / step && bad > 5000 / step, "{good} {bad}");
}

/// Keys and values of every length around the sizes that are read and copied at once, as members, as lists and in rows.
#[test]
fn keys_and_values_of_every_length() {
    let mut encoders = Encoders::new(NO_LIMITS.options());
    let filler = "z".repeat(LONG + BLOCK);
    let (mut number, step) = (0, if cfg!(miri) { 997 } else { 5 / rounds(5) });
    for key_len in [1, 2, 7, 8, 20, 22, 23, 24, 27, 28, 29, 30, 31, 32, 33, 34, 59, 60, 61, 62, 63, 64, 65, 66, 130] {
        for len in 0..=140 {
            number += 1;
            if number % step != 0 {
                continue;
            }
            let key = ["k", "k", "k-"][number % 3].repeat(key_len)[..key_len].to_owned();
            let end = ["", r#"\","#, r"\\", "}", r#"\"}"#][number / 3 % 5];
            let text = format!("\"{}{end}\"", "v".repeat(len));
            let other = if number % 2 == 0 { "1".repeat(1 + len) } else { "false".to_owned() };
            let documents = [
                format!(r#"{{"{key}":{text},"b":1,"{key}_":{other}}}"#),
                format!(r#"{{"{key}":{{"{key}":{other},"b":{text}}},"c":{{"d":{text}}},"e":[]}}"#),
                format!(r#"{{"{key}":[{text},"x"],"{key}_":[{other},{other}],"b":{{}}}}"#),
                format!(r#"[{{"{key}":{text},"b":{other}}},{{"{key}":"","b":{text}}},{{"{key}":{other},"b":1}}]"#),
                format!(r#"{{"{key}":[{{"b":{other},"{key}":{text}}},{{"b":{text},"{key}":null}}],"c":{other}}}"#),
                // The last row has another key.
                format!(r#"[{{"{key}":{text},"b":1}},{{"{key}":2,"b":3}},{{"{}x":2,"b":4}}]"#, &key[1..]),
            ];
            for json in documents.into_iter().skip(number % 2).step_by(2) {
                let expected = NO_LIMITS.written(&json);
                encoders.expect(&json, Some(&expected));
                let cuts = boundaries(&json);
                encoders.expect_cut(&json, cuts[number % cuts.len()], Some(&expected));
                if number % 7 == 0 {
                    encoders.expect_long(&json, NO_LIMITS, &filler[number % BLOCK..], [number, number + 2]);
                }
            }
        }
    }
}

/// Each setting that keeps an array plain, one by one over all values that matter, and the depth.
#[test]
fn arrays_stay_plain_exactly_where_a_setting_says_so() {
    let long = "k".repeat(40);
    let rows = |row: &dyn Fn(usize) -> String| (0..12).map(row).collect::<Vec<_>>().join(",");
    let wide = rows(&|row| format!(r#"{{"{long}":{row},"b":"{}"}}"#, "x".repeat(row)));
    let narrow = rows(&|row| format!(r#"{{"a":{},"b-c":null}}"#, row * row));
    let documents = [
        format!("[{wide}]"),
        format!("[{narrow}]"),
        format!(r#"{{"one":[1,2,3],"two":["a","b"],"t":[{narrow}],"{long}":[{wide}],"three":[1,2]}}"#),
        r#"{"a":[1,2,3,4,5,6,7,8,9,10,11,12],"b":[true],"c":["x","y",1]}"#.to_owned(),
        r#"[[{"a":1},{"a":2}],{"b":[{"a":1},{"a":2},{"a":3}],"c":[[{"d":""},{"d":"d"}]]}]"#.to_owned(),
        r#"{"a":{"b":{"c":{}}},"d":[[[]]],"e":[[{"f":1}]],"g":[{"h":1},{"h":2}],"i":[[1]],"j":[1]}"#.to_owned(),
    ];
    type Set = fn(usize) -> Settings;
    let set: [(usize, Set); 5] = [
        (700, |window| Settings { window, ..NO_LIMITS }),
        (4, |columns| Settings { columns, ..NO_LIMITS }),
        (60, |header| Settings { header, ..NO_LIMITS }),
        (12, |ratio| Settings { ratio, ..NO_LIMITS }),
        (6, |depth| Settings { depth, ..NO_LIMITS }),
    ];
    for (number, json) in documents.iter().enumerate() {
        let cuts = boundaries(json);
        let (mut open, mut depth) = (0, 0);
        for &at in &cuts {
            match json.as_bytes().get(at) {
                Some(b'{' | b'[') => open += 1,
                Some(b'}' | b']') => open -= 1,
                _ => {}
            }
            depth = depth.max(open);
        }
        for (most, settings) in set {
            let step = if most > 100 { 11 / rounds(11) } else { 1 };
            for setting in (0..=most).step_by(step) {
                let settings = settings(setting);
                let mut encoders = Encoders::new(settings.options());
                let expected = (depth <= settings.depth).then(|| settings.written(json));
                encoders.expect(json, expected.as_deref());
                for at in 0..4 {
                    let cut = cuts[(setting * 7 + at * 31 + number) % cuts.len()];
                    encoders.expect_cut(json, cut, expected.as_deref());
                }
            }
        }
    }
}

/// A document as long as the limits allow is taken, and one byte more is not: short, long, with whitespace or without, and after
/// other output.
#[test]
fn a_document_may_be_as_long_as_its_limits() {
    let numbers = (0..20_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let texts = [
        "[1,2,3]".to_owned(),
        "{\"a\": [{\"b\":1}, {\"b\":2}]}".to_owned(),
        format!("[\"{}\",1]", "z".repeat(5000)),
        format!("{{\"z\":\"{}\", \"a\":[1]}}", "z".repeat(5000)),
        format!("[{numbers}]"),
        format!("[{numbers}, 1]"),
        format!("[ {numbers}]"),
    ];
    for json in &texts {
        let minified: String = json.chars().filter(|&other| other != ' ').collect();
        let expected = NO_LIMITS.written(&minified);
        let (len, written) = (json.len() as u64, expected.len() as u64);
        let limits = Limits::default;
        for (limits, refused) in [
            (limits(), None),
            (limits().input(len).output(written), None),
            (limits().input(len - 1), Some((ErrorKind::Input, len - 1))),
            (limits().output(written - 1), Some((ErrorKind::Output, len))),
            (limits().output(1), Some((ErrorKind::Output, len))),
        ] {
            for kernel in Kernel::available() {
                let mut encoder = encoder(stc1().limits(limits), kernel);
                let before = "x".repeat(100);
                let mut out = before.clone().into_bytes();
                let found =
                    encoder.encode_into(json.as_bytes(), &mut out).err().map(|error| (error.kind(), error.offset()));
                assert_eq!(found, refused, "{limits:?}");
                let all = if refused.is_none() { [&before, &*expected].concat() } else { before };
                assert!(out == all.as_bytes(), "{limits:?}");
                for size in [100, 70_000] {
                    let mut out = Vec::new();
                    let pushed = json.as_bytes().chunks(size).try_for_each(|chunk| encoder.push(chunk, &mut out));
                    let found = pushed.and_then(|()| encoder.finish(&mut out)).err();
                    assert_eq!(
                        found.map(|error| (error.kind(), error.offset())),
                        refused,
                        "{limits:?}, chunks of {size}"
                    );
                    assert!(refused.is_some() || out == expected.as_bytes(), "{limits:?}, chunks of {size}");
                }
            }
        }
    }
}
