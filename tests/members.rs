//! Members of every length and kind, written as the rules say, and what only looks like one refused.
//!
//! The fast ways through a document look at 64 bytes at a time, so lengths go past that, and every kernel is asked.

use stc::internal::{Kernel, decoder, encoder};
use stc::{Decoder, Encoder, Error, ErrorKind, Limits, Options, Version};

use crate::verdict::is_json;

/// A key as STC 1 has it, by the letter of the specification.
fn written(key: &str) -> String {
    let bare = key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.chars().all(|other| other.is_ascii_alphanumeric() || other == '_');
    if bare { key.to_owned() } else { format!("\"{key}\"") }
}

/// JSON and STC 1 of an object whose values are the same in both.
fn object(members: &[(&str, &str)]) -> (String, String) {
    let all = |member: &dyn Fn(&str, &str) -> String, separator: &str| {
        let members: Vec<String> = members.iter().map(|&(key, value)| member(key, value)).collect();
        format!("{{{}}}", members.join(separator))
    };
    let json = all(&|key, value| format!("\"{key}\":{value}"), ",");
    (json, all(&|key, value| format!("{}: {value}", written(key)), ", "))
}

fn both(kernel: Kernel) -> (Encoder, Decoder) {
    (encoder(Options::default(), kernel), decoder(Options::default(), kernel))
}

/// The texts of `length` of these tokens.
fn texts<'a>(tokens: &'a [&'a str], length: u32) -> impl Iterator<Item = String> + 'a {
    let some = move |number: usize| (0..length).map(move |at| tokens[number / tokens.len().pow(at) % tokens.len()]);
    (0..tokens.len().pow(length)).map(move |number| some(number).collect())
}

#[test]
fn every_length_of_key_and_value() {
    let values: Vec<String> =
        ["0", "-1", "-2.5e3", "12345678", "true", "false", "null", "{}", "[]", "\",\"", "\"\\\"\""]
            .into_iter()
            .map(str::to_owned)
            .chain((0..140).step_by(3).map(|length| format!("\"{}\"", "v".repeat(length))))
            .collect();
    for kernel in Kernel::available() {
        let (mut encoder, mut decoder) = both(kernel);
        let mut check = |json: String, stc: String| {
            let found = encoder.encode(json.as_bytes()).expect("JSON");
            assert_eq!(String::from_utf8_lossy(found), stc, "{} of {json}", kernel.name());
            // JSON is STC too.
            for text in [&stc, &json] {
                assert_eq!(decoder.decode(text.as_bytes()), Ok(json.as_bytes()), "{} of {text}", kernel.name());
            }
        };
        for length in (0..70).step_by(if cfg!(miri) { 33 } else { 1 }) {
            let stem = "k".repeat(length);
            for key in [stem.clone(), format!("{stem}-"), format!("9{stem}"), format!("{stem}\\\\")] {
                for (value, other) in values.iter().zip(values.iter().cycle().skip(length + 1)) {
                    let (inner, inner_stc) = object(&[(&key, value)]);
                    for members in [[(&*key, &**value), ("b", other)], [("b", other), (&key, value)]] {
                        let (json, stc) = object(&members);
                        check(json, stc);
                        let [(one, first), (two, second)] = members;
                        let json = format!("{{\"{one}\":{first},\"o\":{inner},\"{two}\":{second},\"p\":{inner}}}");
                        let (one, two) = (written(one), written(two));
                        check(json, format!("{{{one}: {first}, o: {inner_stc}, {two}: {second}, p: {inner_stc}}}"));
                    }
                }
            }
        }
    }
}

/// The same in version 2, where members that are written out are stored 32 and 64 bytes at a time.
#[test]
fn every_length_of_key_and_value_in_version_2() {
    // Literals are what bare keys pay for, and the last value is text enough to be stored from.
    let rest = format!("a:null,b:null,c:true,d:false,z:\"{}\"}}", "z".repeat(200));
    let rest_json = ["a", "b", "c", "d", "z"]
        .iter()
        .fold(rest.clone(), |rest, key| rest.replacen(&format!("{key}:"), &format!("\"{key}\":"), 1));
    let strings = (0..6).chain(56..70).chain(120..134).map(|length| format!("\"{}\"", "v".repeat(length)));
    let values: Vec<String> = ["0", "-2.5e3", "null"].into_iter().map(str::to_owned).chain(strings).collect();
    let options = Options::default().version(Version::V2);
    for kernel in Kernel::available() {
        let (mut encoder, mut decoder) = (encoder(options, kernel), decoder(options, kernel));
        for length in (0..70).step_by(if cfg!(miri) { 33 } else { 1 }) {
            let stem = "k".repeat(length);
            for key in [stem.clone(), format!("{stem}-"), format!("9{stem}")] {
                for value in &values {
                    // Without a comma before it, and with one.
                    let json = format!("{{\"{key}\":{value},\"_{key}\":{value},{rest_json}");
                    let (one, two) = (written(&key), written(&format!("_{key}")));
                    let stc = format!("{{{one}:{value},{two}:{value},{rest}");
                    let found = encoder.encode(json.as_bytes()).expect("JSON");
                    assert_eq!(String::from_utf8_lossy(found), stc, "{} of {json}", kernel.name());
                    assert_eq!(decoder.decode(stc.as_bytes()), Ok(json.as_bytes()), "{} of {stc}", kernel.name());
                }
            }
        }
    }
}

/// What is inside a container is written in the ways of each version, so only that it comes back is looked at, and that
/// kernels agree.
#[test]
fn containers_behind_keys_of_every_length() {
    const VALUES: [&str; 6] =
        ["{\"m\":1}", "[1,2]", "[{\"m\":1}]", "[{\"m\":1},{\"m\":2}]", "[\"a\",{}]", "{\"m\":{\"n\":[]}}"];
    let filler = "z".repeat(150);
    for length in (24..70).step_by(if cfg!(miri) { 37 } else { 1 }) {
        for (key, value) in ["", "-"].iter().flat_map(|end| VALUES.map(|value| ("k".repeat(length) + end, value))) {
            let json = format!("{{\"{key}\":{value},\"b\":{{\"{key}\":{value}}},\"{key}2\":7,\"z\":\"{filler}\"}}");
            for version in [Version::V1, Version::V2] {
                let options = Options::default().version(version);
                let expected = Encoder::with_options(options).encode(json.as_bytes()).expect("JSON").to_vec();
                for kernel in Kernel::available() {
                    let mut encoder = encoder(options, kernel);
                    assert_eq!(encoder.encode(json.as_bytes()), Ok(&*expected), "{} of {json}", kernel.name());
                    let mut decoder = decoder(options, kernel);
                    assert_eq!(decoder.decode(&expected), Ok(json.as_bytes()), "{} of {json}", kernel.name());
                }
            }
        }
    }
}

/// Every text of a few tokens inside an object, behind a good member and before filler: taken exactly if it is JSON, and
/// then it comes back.
#[test]
fn what_only_looks_like_a_member() {
    const MEMBERS: [&str; 10] = ["\"", "a", ":", ",", "}", "{", "1", "-", "[]", "true"];
    const LISTS: [&str; 9] = ["[", "]", "{", "}", ",", "\"a\":", "1", "\"s\"", "null"];
    let length = if cfg!(miri) { 2 } else { 5 };
    let filler = format!("\"z\":\"{}\"}}", "z".repeat(150));
    for kernel in Kernel::available() {
        let (mut encoder, mut decoder) = both(kernel);
        for tokens in [&MEMBERS[..], &LISTS] {
            let mut good = 0;
            for some in texts(tokens, length) {
                let (behind, inside) = (format!("{{\"k\":1,{some},{filler}"), format!("{{\"k\":[{some}],{filler}"));
                for json in [format!("{{{some}"), format!("{{\"k\":{some},{filler}"), behind, inside] {
                    let stc = encoder.encode(json.as_bytes());
                    assert_eq!(stc.is_ok(), is_json(json.as_bytes()), "{} of {json}", kernel.name());
                    if let Ok(stc) = stc {
                        assert_eq!(decoder.decode(stc), Ok(json.as_bytes()), "{} of {json}", kernel.name());
                        good += 1;
                    }
                }
            }
            assert!(cfg!(miri) || good > 100, "{good}");
        }
    }
}

/// Every text of a few tokens of STC, with what may be read many at a time before and behind it: whatever the kernel and
/// whether it comes whole or byte by byte, where nothing is read many at a time, it gives the same JSON or error.
#[test]
fn what_only_looks_like_a_member_of_stc() {
    const FIRST: [&str; 12] = ["a", ": ", ", ", "{", "}", "[", "]", "1", "\"s\"", ":", ",", "[2]: "];
    const SECOND: [&str; 12] = ["a", "\"s\"", ",", "=", "?", ".{", "{", "}", "1", ":\n", "\n", "(1)"];
    let length = if cfg!(miri) { 1 } else { 4 };
    let long = "z".repeat(150);
    for some in texts(&FIRST, length) {
        same_in_pieces(&format!("{{k: 1, {some}, z: \"{long}\", y: 2}}"), Limits::default());
        same_in_pieces(&format!("{{k:{{j:1,{some},z:\"{long}\"}}}}"), Limits::default());
    }
    for some in texts(&SECOND, length) {
        same_in_pieces(&format!("{{t:[2]{{a,{some},z=\"{long}\"}}:\n1\n2\n}}"), Limits::default());
        same_in_pieces(&format!("{{t:[2]{{a,b=1,{some},c?}}:\n1,\"{long}\"\n2,{some}\n}}"), Limits::default());
    }
}

/// A header read many columns at a time meets its limits where one does that is read byte by byte.
#[test]
fn headers_end_at_their_limits() {
    let long = "z".repeat(60);
    let header = "[2]{a,b=\"some\",c=-12,d?,\"e-f\".{g,h=null},i=[{j:true}],k=7}";
    let stc = format!("{{t:{header}:\n1,,\"{long}\"\n2,3,4\n,z:\"{long}\"}}");
    for most in 1..=header.len() {
        same_in_pieces(&stc, Limits::default().header(most));
        same_in_pieces(&stc, Limits::default().columns(most));
    }
}

/// Many brackets that close behind a member, and then no more text, or a line feed.
#[test]
fn what_closes_may_be_where_the_text_ends() {
    for depth in [1, 2, 60, 129, 130, 140, 300] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth - 1));
        for behind in ["", ",", ",{", ",{}", ",{\nd: 1}]", ",{d: 1}]", ", {d: 1}]", "]", "}"] {
            same_in_pieces(&format!("{open}{{b: 1, c: 2}}{close}{behind}"), Limits::default());
        }
    }
}

/// Something empty is a level too, wherever its depth is remembered: in an anchor, in a constant.
#[test]
fn what_is_empty_is_as_deep_as_what_is_not() {
    let more: String = (0..60).map(|number| format!(",p{number}:1")).collect();
    for empty in ["{}", "[]", " {}", "1"] {
        for around in 0..6 {
            let (open, close) = ("[".repeat(around), "]".repeat(around));
            for stc in [
                format!("[&a{{k:{{z:1,x:{empty}{more}}}}},{open}*a{close}]"),
                format!("{open}[2]{{id,c={{k:{{z:1,x:{empty}{more}}}}}}}:\n1\n2\n{close}"),
            ] {
                for depth in 1..12 {
                    same_in_pieces(&stc, Limits::default().depth(depth));
                }
            }
        }
    }
}

fn same_in_pieces(stc: &str, limits: Limits) {
    let options = Options::default().limits(limits);
    let byte_by_byte = || -> Result<Vec<u8>, Error> {
        let (mut decoder, mut json) = (Decoder::with_options(options), Vec::new());
        for byte in stc.as_bytes().chunks(1) {
            decoder.push(byte, &mut json)?;
        }
        decoder.finish(&mut json)?;
        Ok(json)
    };
    let expected = byte_by_byte();
    for kernel in Kernel::available() {
        let found = decoder(options, kernel).decode(stc.as_bytes()).map(<[u8]>::to_vec);
        assert_eq!(found, expected, "{} of {stc}", kernel.name());
    }
    if let Ok(json) = expected {
        assert!(is_json(&json), "{stc}");
    }
}

/// What a byte too many does where a value is long, or a row begins.
#[test]
fn what_only_looks_like_a_row() {
    let digits = "1".repeat(64);
    let bad = [
        format!("{{\"a\":{digits}:,\"b\":1}}"),
        format!("{{\"b\":1,\"a\":{digits}:}}"),
        format!("[{{\"a\":1,\"b\":2}},{{\"a\":{digits}:,\"b\":2}}]"),
        format!("[{{\"a\":1}},{{\"a\":{digits}:}}]"),
        "[{\"a\":1},{,\"a\":1},{\"a\":1}]".to_owned(),
        "[{\"a\":1},{:\"a\":1},{\"a\":1}]".to_owned(),
        "[{\"a\":1},{\"a\":1,},{\"a\":1}]".to_owned(),
    ];
    let filler = format!(",\"{}\"]", "z".repeat(80));
    for json in bad.into_iter().flat_map(|json| [format!("[{json}{filler}"), json]) {
        assert!(!is_json(json.as_bytes()), "{json}");
        for kernel in Kernel::available() {
            assert!(encoder(Options::default(), kernel).encode(json.as_bytes()).is_err(), "{json}");
        }
    }
}

#[test]
fn nothing_gets_too_deep() {
    let filler = "z".repeat(200);
    for value in ["{\"b\":1}", "{}", "[]", "[1]", "[{\"b\":1}]"] {
        for key in ["a", "a-"] {
            let json = format!("{{\"x\":1,\"{key}\":{value},\"z\":\"{filler}\"}}");
            let depth = 2 + usize::from(value.starts_with("[{"));
            for kernel in Kernel::available() {
                let encode = |depth| {
                    encoder(Options::default().limits(Limits::default().depth(depth)), kernel)
                        .encode(json.as_bytes())
                        .map(<[u8]>::len)
                };
                assert!(encode(depth).is_ok(), "{json}");
                assert_eq!(encode(depth - 1).map_err(|error| error.kind()), Err(ErrorKind::Depth), "{json}");
                for stc in [stc::encode(json.as_bytes()).expect("JSON"), json.clone().into_bytes()] {
                    let decode = |depth| {
                        decoder(Options::default().limits(Limits::default().depth(depth)), kernel)
                            .decode(&stc)
                            .map(<[u8]>::len)
                    };
                    assert!(decode(depth).is_ok(), "{json}");
                    assert_eq!(decode(depth - 1).map_err(|error| error.kind()), Err(ErrorKind::Depth), "{json}");
                }
            }
        }
    }
}

/// Every text of what numbers are made of, as a member, a row's cell and an element, across the edge of a block.
#[test]
fn what_only_looks_like_a_number() {
    let filler = "z".repeat(150);
    let mut encoders: Vec<(Kernel, Vec<Encoder>)> = Kernel::available()
        .into_iter()
        .map(|kernel| {
            (
                kernel,
                [Version::V1, Version::V2].map(|version| encoder(Options::default().version(version), kernel)).into(),
            )
        })
        .collect();
    for text in (1..=5).flat_map(|length| texts(&["-", "+", ".", "e", "0", "7", "x"], length)) {
        // Where in a block it begins, mostly at the end.
        for before in [0, 40, 48, 50, 51, 52, 53, 54] {
            let space = " ".repeat(before);
            let (member, row) = (format!("{space}\"k\":{text},\"l\":{text}}}"), format!("{{\"k\":{text}}}"));
            let json = match before % 3 {
                0 => format!("{{{member}"),
                1 => format!("{{{},\"z\":\"{filler}\"}}", member.trim_end_matches('}')),
                _ => format!("[{space}{row},{row},{row}]"),
            };
            let good = is_json(json.as_bytes());
            for (kernel, encoders) in &mut encoders {
                for encoder in encoders {
                    assert_eq!(encoder.encode(json.as_bytes()).is_ok(), good, "{} of {json}", kernel.name());
                }
            }
        }
    }
}

/// Every byte below 0x20, and some others, at every place of two blocks, with whitespace around and without.
#[test]
fn control_characters_are_whitespace_or_wrong() {
    let value = "v".repeat(60);
    let minified = format!("{{\"a\":1,\"key\":\"{value}\",\"list\":[1,true,\"{value}\"],\"b\":null}}");
    let pretty = minified.replace(',', ",\n  ").replace(':', ": ");
    for json in [minified, pretty] {
        for kernel in Kernel::available() {
            for version in [Version::V1, Version::V2] {
                let mut encoder = encoder(Options::default().version(version), kernel);
                for byte in (0..0x20).chain([b' ', b'"', 0x7F, b',', b':']) {
                    for at in 0..=json.len() {
                        let mut other = json.clone().into_bytes();
                        other.insert(at, byte);
                        let good = is_json(&other);
                        let found = encoder.encode(&other).map(<[u8]>::to_vec);
                        assert_eq!(found.is_ok(), good, "{byte:#x} at {at}: {} of {json}", kernel.name());
                        if let Err(error) = found {
                            assert!(error.offset() <= other.len() as u64, "{byte:#x} at {at}: {error}");
                        }
                    }
                }
            }
        }
    }
}
