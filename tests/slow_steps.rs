//! The recorded slow-path steps of small texts: a fast path that stops too soon changes no output, and only this count shows it.
//!
//! Each text is read alone, between others, with whitespace after it, and cut at several lengths, so that every fast path meets
//! its end of the input. `STC_RECORD=1 cargo test slow_steps::` records the counts again after an intended change.
// Steps are counted with debug assertions only, and Miri would take an hour.
#![cfg(all(debug_assertions, not(miri)))]

use stc::internal::{Kernel, decoder, encoder, walked};
use stc::{Encoder, Limits, Options};

use crate::chosen::assert_recorded;
use crate::laws::versions;
use crate::random::{Random, document};
use crate::vectors::{bytes, cases};

/// The names of the formats, in the order of [`versions`].
const FORMATS: [&str; 3] = ["stc1", "stc2", "refs"];

const PREFACE: &str = "\
# Slow-path steps of small texts, the sum for each group. `STC_RECORD=1 cargo test slow_steps::` records them.
#
# The columns: each text alone; between other values; with whitespace after it; cut at eight lengths; with strict limits.
";

/// Returns a text in each place that a column of the record is about.
fn places(text: &[u8], filler: &str) -> [Vec<Vec<u8>>; 4] {
    let between = [b"[", filler.as_bytes(), b",", text, b",", filler.as_bytes(), b"]"].concat();
    let cut = (1..=8).map(|part| text[..text.len() * part / 9].to_vec()).collect();
    [vec![text.to_vec()], vec![between], vec![[text, &[b' '; 150]].concat()], cut]
}

/// Returns a line of the record: the sums of the steps that `steps` returns for each text.
fn line(name: &str, texts: &[Vec<u8>], filler: &str, steps: impl Fn(&[u8], Limits) -> u64) -> String {
    let mut sums = [0; 5];
    for text in texts {
        for (sum, texts) in sums.iter_mut().zip(places(text, filler)) {
            *sum += texts.iter().map(|text| steps(text, Limits::default())).sum::<u64>();
        }
        let strict = Limits::default().depth(4).columns(4).header(40).row(60).anchors(60).free(100).ratio(3);
        sums[4] += steps(text, strict);
    }
    let [alone, between, before, cut, strict] = sums;
    format!("{name}: {alone} {between} {before} {cut} {strict}\n")
}

/// Returns the slow-path steps that `work` takes with each kernel, which must be the same number.
fn of_every_kernel(work: impl Fn(Kernel)) -> u64 {
    let steps = |kernel| {
        walked();
        work(kernel);
        walked()
    };
    let all: Vec<u64> = Kernel::available().into_iter().map(steps).collect();
    assert!(all.iter().all(|steps| *steps == all[0]), "{all:?}");
    all[0]
}

/// Returns the lines of texts that are decoded.
fn decoding(name: &str, texts: &[Vec<u8>]) -> String {
    let filler = r#"{a: "text", b: [1,2,3], c: {d: null}}"#;
    line(&format!("decode {name}"), texts, filler, |text, limits| {
        of_every_kernel(|kernel| {
            let _ = decoder(Options::default().limits(limits), kernel).decode(text);
        })
    })
}

/// Returns the lines of texts that are encoded in each format, as they are and with whitespace.
fn encoding(name: &str, texts: &[Vec<u8>]) -> String {
    let filler = r#"{"a":"text","b":[1,2,3],"c":{"d":null},"e":[{"f":1},{"f":2}]}"#;
    let mut lines = String::new();
    for (format, options) in FORMATS.into_iter().zip(versions(Options::default())) {
        lines += &line(&format!("encode {name} as {format}"), texts, filler, |text, limits| {
            of_every_kernel(|kernel| {
                let _ = encoder(options.limits(limits), kernel).encode(text);
            })
        });
    }
    lines
}

/// Returns JSON with whitespace after each comma and colon outside its strings.
fn spaced(json: &[u8]) -> Vec<u8> {
    let (mut out, mut in_string, mut escaped) = (Vec::new(), false, false);
    for &byte in json {
        out.push(byte);
        match byte {
            b'"' if !escaped => in_string = !in_string,
            b',' if !in_string => out.extend(b"\n  "),
            b':' if !in_string => out.push(b' '),
            _ => {}
        }
        escaped = in_string && !escaped && byte == b'\\';
    }
    out
}

/// Asserts that the lines are those of tests/slow_steps/`name`.txt.
fn assert_steps(name: &str, lines: &str) {
    assert_recorded(&format!("slow_steps/{name}"), &format!("{PREFACE}\n{lines}"));
}

#[test]
fn decoding_version_1() {
    let texts = |file| cases(file).iter().map(|case| bytes(case, "stc")).collect::<Vec<_>>();
    assert_steps("decode", &["encode", "decode", "reject"].map(|file| decoding(file, &texts(file))).concat());
}

#[test]
fn decoding_version_2() {
    let texts = |file| cases(file).iter().map(|case| bytes(case, "stc")).collect::<Vec<_>>();
    assert_steps("decode-v2", &["v2-decode", "v2-reject"].map(|file| decoding(file, &texts(file))).concat());
}

#[test]
fn encoding_with_and_without_whitespace() {
    let lines = ["encode", "decode", "v2-decode", "reject-json"].map(|file| {
        let texts: Vec<_> = cases(file).iter().map(|case| bytes(case, "json")).collect();
        let with_whitespace: Vec<_> = texts.iter().map(|json| spaced(json)).collect();
        encoding(file, &texts) + &encoding(&format!("{file}, spaced"), &with_whitespace)
    });
    assert_steps("encode", &lines.concat());
}

#[test]
fn random_documents_in_both_directions() {
    let mut random = Random::new(11);
    let documents: Vec<_> = (0..40).map(|_| document(&mut random).into_bytes()).collect();
    let mut lines = String::new();
    for (number, documents) in documents.chunks(10).enumerate() {
        lines += &encoding(&format!("random {number}"), documents);
        lines += &decoding(&format!("random {number}, JSON"), documents);
        for (format, options) in FORMATS.into_iter().zip(versions(Options::default())) {
            let encode = |json: &Vec<u8>| Encoder::with_options(options).encode(json).expect("JSON").to_vec();
            lines +=
                &decoding(&format!("random {number}, {format}"), &documents.iter().map(encode).collect::<Vec<_>>());
        }
    }
    assert_steps("random", &lines);
}
