//! Members of every length and type are written by the rules, and what only resembles a member is rejected.
//!
//! The fast paths process blocks of 64 bytes, so lengths exceed that, and every kernel is tested.

use stc::internal::{Kernel, decoder, encoder};
use stc::{Decoder, Encoder, Error, ErrorKind, Format, Limits, Options};

use crate::laws::{encoded, stc1};
use crate::random::rounds;
use crate::texts::texts;
use crate::verdict::is_json;

/// Returns a key as STC 1 writes it, by the letter of the specification.
fn written(key: &str) -> String {
    let bare = key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.chars().all(|other| other.is_ascii_alphanumeric() || other == '_');
    if bare { key.to_owned() } else { format!("\"{key}\"") }
}

/// Returns an object as JSON and as STC 1; its values are the same in both.
fn object(members: &[(&str, &str)]) -> (String, String) {
    let all = |member: &dyn Fn(&str, &str) -> String, separator: &str| {
        let members: Vec<String> = members.iter().map(|&(key, value)| member(key, value)).collect();
        format!("{{{}}}", members.join(separator))
    };
    let json = all(&|key, value| format!("\"{key}\":{value}"), ",");
    (json, all(&|key, value| format!("{}: {value}", written(key)), ", "))
}

fn both(kernel: Kernel) -> (Encoder, Decoder) {
    (encoder(stc1(), kernel), decoder(Options::default(), kernel))
}

#[test]
fn every_length_of_key_and_value() {
    let values: Vec<String> =
        ["0", "-1", "-2.5e3", "12345678", "true", "false", "null", "{}", "[]", "\",\"", "\"\\\"\""]
            .into_iter()
            .map(str::to_owned)
            .chain((0..140).step_by(3).map(|length| format!("\"{}\"", "v".repeat(length))))
            .collect();
    let step = 7 / rounds(7);
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
                let pairs = values.iter().zip(values.iter().cycle().skip(length + 1));
                for (value, other) in pairs.skip(length % step).step_by(step) {
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

/// The same in version 2, which copies plain members 32 and 64 bytes at a time.
#[test]
fn every_length_of_key_and_value_in_version_2() {
    // Enough literals to make bare keys worthwhile, and a last value long enough for copies of 64 bytes.
    let rest = format!("a:null,b:null,c:true,d:false,z:\"{} \"}}", "z".repeat(200));
    let rest_json = ["a", "b", "c", "d", "z"]
        .iter()
        .fold(rest.clone(), |rest, key| rest.replacen(&format!("{key}:"), &format!("\"{key}\":"), 1));
    // Each value, and how it is written: bare, if it is a word.
    let lengths = (0..6).chain(26..36).chain(56..70).chain(120..134);
    let strings = lengths.map(|length| "v".repeat(length)).flat_map(|word| {
        let bare = if word.is_empty() { "\"\"".to_owned() } else { word.clone() };
        let spaced = format!("\"{word} \"");
        [(format!("\"{word}\""), bare), (spaced.clone(), spaced)]
    });
    let scalars = ["0", "-2.5e3", "null", "\"true\""].into_iter().map(|scalar| (scalar.to_owned(), scalar.to_owned()));
    let values: Vec<(String, String)> = scalars.chain(strings).collect();
    let options = Options::default().format(Format::Stc2Labelled);
    for kernel in Kernel::available() {
        let (mut encoder, mut decoder) = (encoder(options, kernel), decoder(options, kernel));
        for length in (0..70).step_by(if cfg!(miri) { 33 } else { 1 }) {
            let stem = "k".repeat(length);
            for key in [stem.clone(), format!("{stem}-"), format!("9{stem}")] {
                for (value, value_written) in &values {
                    // Without and with a comma before it.
                    let json = format!("{{\"{key}\":{value},\"_{key}\":{value},{rest_json}");
                    let (one, two) = (written(&key), written(&format!("_{key}")));
                    let stc = format!("{{{one}:{value_written},{two}:{value_written},{rest}");
                    let found = encoder.encode(json.as_bytes()).expect("JSON");
                    assert_eq!(String::from_utf8_lossy(found), stc, "{} of {json}", kernel.name());
                    assert_eq!(decoder.decode(stc.as_bytes()), Ok(json.as_bytes()), "{} of {stc}", kernel.name());
                }
            }
        }
    }
}

/// Numbers are read 32 bytes at a time, and such a span may end in any part of one.
#[test]
fn numbers_of_every_length_in_every_form() {
    let digits = "1234567890".repeat(8);
    for length in (1..72).step_by(if cfg!(miri) { 31 } else { 1 }) {
        let some = &digits[..length];
        for number in
            [some.to_owned(), format!("-1.{some}"), format!("{some}e5"), format!("1e{some}"), format!("-0.5E-{some}")]
        {
            let row = format!("{{\"first key\":{number},\"second_key\":1,\"third_key\":{number}}}");
            let rows = [&*row; 3].join(",").replacen(&number, "7", 1);
            let json = format!("{{\"k\":{number},\"l\":[{number},{number}],\"m\":[{rows}],\"z\":{number}}}");
            for options in Format::ALL.map(|format| Options::default().format(format)) {
                let expected = Encoder::with_options(options).encode(json.as_bytes()).expect("JSON").to_vec();
                for kernel in Kernel::available() {
                    let mut decoder = decoder(options, kernel);
                    assert_eq!(decoder.decode(&expected), Ok(json.as_bytes()), "{} of {json}", kernel.name());
                    let mut encoder = encoder(options, kernel);
                    assert_eq!(encoder.encode(json.as_bytes()), Ok(&*expected), "{} of {json}", kernel.name());
                }
            }
        }
    }
}

/// The inside of a container depends on the version, so only the round trip and the agreement of kernels are tested.
#[test]
fn containers_after_keys_of_every_length() {
    const VALUES: [&str; 6] =
        ["{\"m\":1}", "[1,2]", "[{\"m\":1}]", "[{\"m\":1},{\"m\":2}]", "[\"a\",{}]", "{\"m\":{\"n\":[]}}"];
    let filler = "z".repeat(150);
    for length in (24..70).step_by(if cfg!(miri) { 37 } else { 1 }) {
        for (key, value) in ["", "-"].iter().flat_map(|end| VALUES.map(|value| ("k".repeat(length) + end, value))) {
            let json = format!("{{\"{key}\":{value},\"b\":{{\"{key}\":{value}}},\"{key}2\":7,\"z\":\"{filler}\"}}");
            for format in Format::ALL {
                let options = Options::default().format(format);
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

/// Every text of a few tokens inside an object, after a valid member and before filler: accepted exactly if it is JSON, and
/// then restored.
#[test]
fn texts_that_resemble_a_member() {
    const MEMBERS: [&str; 10] = ["\"", "a", ":", ",", "}", "{", "1", "-", "[]", "true"];
    const LISTS: [&str; 9] = ["[", "]", "{", "}", ",", "\"a\":", "1", "\"s\"", "null"];
    let length = if cfg!(miri) { 2 } else { 5 };
    // A prime, so that a run with fewer rounds meets every token in every place.
    let step = if cfg!(miri) { 1 } else { 11 / rounds(11) };
    let filler = format!("\"z\":\"{}\"}}", "z".repeat(150));
    for kernel in Kernel::available() {
        let (mut encoder, mut decoder) = both(kernel);
        for tokens in [&MEMBERS[..], &LISTS] {
            let mut good = 0;
            for some in texts(tokens, length).step_by(step) {
                let (after, inside) = (format!("{{\"k\":1,{some},{filler}"), format!("{{\"k\":[{some}],{filler}"));
                for json in [format!("{{{some}"), format!("{{\"k\":{some},{filler}"), after, inside] {
                    let stc = encoder.encode(json.as_bytes());
                    assert_eq!(stc.is_ok(), is_json(json.as_bytes()), "{} of {json}", kernel.name());
                    if let Ok(stc) = stc {
                        assert_eq!(decoder.decode(stc), Ok(json.as_bytes()), "{} of {json}", kernel.name());
                        good += 1;
                    }
                }
            }
            assert!(cfg!(miri) || good > 100 / step, "{good}");
        }
    }
}

/// Every text of a few tokens of STC, between members that fast paths read: every kernel, and the slow path byte by byte,
/// give the same JSON or error.
#[test]
fn texts_that_resemble_a_member_of_stc() {
    const FIRST: [&str; 12] = ["a", ": ", ", ", "{", "}", "[", "]", "1", "\"s\"", ":", ",", "[2]: "];
    const SECOND: [&str; 12] = ["a", "\"s\"", ",", "=", "?", ".{", "{", "}", "1", ":\n", "\n", "(1)"];
    let length = if cfg!(miri) { 1 } else { 4 };
    let step = if cfg!(miri) { 1 } else { 7 / rounds(7) };
    let long = "z".repeat(150);
    for some in texts(&FIRST, length).step_by(step) {
        same_in_chunks(&format!("{{k: 1, {some}, z: \"{long}\", y: 2}}"), Limits::default());
        same_in_chunks(&format!("{{k:{{j:1,{some},z:\"{long}\"}}}}"), Limits::default());
    }
    for some in texts(&SECOND, length).step_by(step) {
        same_in_chunks(&format!("{{t:[2]{{a,{some},z=\"{long}\"}}:\n1\n2\n}}"), Limits::default());
        same_in_chunks(&format!("{{t:[2]{{a,b=1,{some},c?}}:\n1,\"{long}\"\n2,{some}\n}}"), Limits::default());
    }
}

/// A header meets its limits at the same byte on the fast path and on the slow path.
#[test]
fn headers_end_at_their_limits() {
    let long = "z".repeat(60);
    let header = "[2]{a,b=\"some\",c=-12,d?,\"e-f\".{g,h=null},i=[{j:true}],k=7}";
    let stc = format!("{{t:{header}:\n1,,\"{long}\"\n2,3,4\n,z:\"{long}\"}}");
    for most in 1..=header.len() {
        same_in_chunks(&stc, Limits::default().header(most));
        same_in_chunks(&stc, Limits::default().columns(most));
    }
}

/// Many closing brackets after a member, then the end of the text or a line feed.
#[test]
fn closing_brackets_at_the_end_of_the_text() {
    for depth in [1, 2, 60, 129, 130, 140, 300] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth - 1));
        for after in ["", ",", ",{", ",{}", ",{\nd: 1}]", ",{d: 1}]", ", {d: 1}]", "]", "}"] {
            same_in_chunks(&format!("{open}{{b: 1, c: 2}}{close}{after}"), Limits::default());
        }
    }
}

/// An empty container is a level too, also in an anchor and in a constant.
#[test]
fn empty_containers_count_as_a_level() {
    let more: String = (0..60).map(|number| format!(",p{number}:1")).collect();
    for empty in ["{}", "[]", " {}", "1"] {
        for around in 0..6 {
            let (open, close) = ("[".repeat(around), "]".repeat(around));
            for stc in [
                format!("[&a{{k:{{z:1,x:{empty}{more}}}}},{open}*a{close}]"),
                format!("{open}[2]{{id,c={{k:{{z:1,x:{empty}{more}}}}}}}:\n1\n2\n{close}"),
            ] {
                for depth in 1..12 {
                    same_in_chunks(&stc, Limits::default().depth(depth));
                }
            }
        }
    }
}

fn same_in_chunks(stc: &str, limits: Limits) {
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

/// An extra byte in a long value or at the beginning of a row.
#[test]
fn texts_that_resemble_a_row() {
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
            assert!(encoder(stc1(), kernel).encode(json.as_bytes()).is_err(), "{json}");
        }
    }
}

#[test]
fn depth_is_limited_in_every_form() {
    let filler = "z".repeat(200);
    for value in ["{\"b\":1}", "{}", "[]", "[1]", "[{\"b\":1}]"] {
        for key in ["a", "a-"] {
            let json = format!("{{\"x\":1,\"{key}\":{value},\"z\":\"{filler}\"}}");
            let depth = 2 + usize::from(value.starts_with("[{"));
            for kernel in Kernel::available() {
                let encode = |depth| {
                    encoder(stc1().limits(Limits::default().depth(depth)), kernel)
                        .encode(json.as_bytes())
                        .map(<[u8]>::len)
                };
                assert!(encode(depth).is_ok(), "{json}");
                assert_eq!(encode(depth - 1).map_err(|error| error.kind()), Err(ErrorKind::Depth), "{json}");
                for stc in [encoded(json.as_bytes(), stc1()).expect("JSON"), json.clone().into_bytes()] {
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

/// Every text of the characters of numbers, as a member, a cell and an element, across the end of a block.
#[test]
fn texts_that_resemble_a_number() {
    let filler = "z".repeat(150);
    let mut encoders: Vec<(Kernel, Vec<Encoder>)> = Kernel::available()
        .into_iter()
        .map(|kernel| {
            (
                kernel,
                [Format::Stc1, Format::Stc2Labelled]
                    .map(|format| encoder(Options::default().format(format), kernel))
                    .into(),
            )
        })
        .collect();
    let numbers = (1..=5).flat_map(|length| texts(&["-", "+", ".", "e", "0", "7", "x"], length));
    for text in numbers.step_by(11 / rounds(11)) {
        // Its position in a block, mostly at the end.
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

/// Every byte below 0x20, and some others, at every position of two blocks, with and without whitespace.
#[test]
fn control_characters_are_whitespace_or_wrong() {
    let value = "v".repeat(60);
    let minified = format!("{{\"a\":1,\"key\":\"{value}\",\"list\":[1,true,\"{value}\"],\"b\":null}}");
    let pretty = minified.replace(',', ",\n  ").replace(':', ": ");
    for json in [minified, pretty] {
        for kernel in Kernel::available() {
            for format in [Format::Stc1, Format::Stc2Labelled] {
                let mut encoder = encoder(Options::default().format(format), kernel);
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
