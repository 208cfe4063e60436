//! The laws about limits on the vectors and on random documents: each limit as low as the text needs it, one lower and one
//! higher.

use stc::laws::{decode_in_chunks, decoding_meets_its_limits, encoding_meets_its_limits};
use stc::{Decoder, Encoder, ErrorKind, Limits, Options};

use crate::laws::formats;
use crate::random::{Choices, Random, document, rounds};
use crate::vectors::{bytes, cases};

#[test]
fn vectors_are_decoded_within_their_limits() {
    for case in ["encode", "decode", "v2-decode"].into_iter().flat_map(cases) {
        let stc = bytes(&case, "stc");
        decoding_meets_its_limits(&stc).unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
    }
}

#[test]
fn vectors_are_encoded_within_their_limits() {
    for (number, case) in cases("encode").into_iter().enumerate() {
        let options = formats(Options::default())[number % 4];
        let json = bytes(&case, "json");
        encoding_meets_its_limits(&json, options).unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
    }
}

#[test]
fn random_documents_meet_their_limits() {
    let mut random = Random::new(10);
    for round in 0..rounds(300) {
        let json = document(&mut random).into_bytes();
        let options = formats(Options::default())[round % 4];
        encoding_meets_its_limits(&json, options).expect("JSON");
        let stc = Encoder::with_options(options).encode(&json).expect("JSON").to_vec();
        decoding_meets_its_limits(&stc).expect("STC");
    }
}

/// Returns documents whose keys, strings, numbers and lists are as long as the blocks that fast paths copy, and longer, in every form.
fn documents_of_long_tokens(len: usize) -> Vec<String> {
    let [a, b, c] = ["a", "b", "c"].map(|name| name.repeat(len));
    let number = |row: usize| format!("{}{row}", "7".repeat(len));
    let row = |row: usize| {
        format!(r#"{{"{a}":"{row}{b}","{b}":"{c}","n":{},"in":{{"{c}":[{row},"{a}"],"x":"{b}"}}}}"#, number(row))
    };
    let rows = [0, 1, 2, 1].map(row).join(",");
    let list = [0, 1, 2].map(number).join(",");
    vec![
        format!("[{rows}]"),
        format!(r#"{{"{a}":[{rows}],"{b}":{{"{c}":[{list}],"w":["{a}","{b} {c}"]}},"{c}":"{a}"}}"#),
        format!(r#"{{"k-{a}":{{"{b}":"{a} {c}"}},"k-{b}":{{"{b}":"{a} {b}"}},"k-{c}":{{"{b}":"{a} {a}"}}}}"#),
    ]
}

/// A decoder with less room than a document needs says so, wherever the room ends, and never writes more.
#[test]
fn long_tokens_meet_every_limit_of_the_output() {
    let mut random = Random::new(11);
    for len in [30, 33, 64, 70, 130, 200, 290] {
        for (json, options) in documents_of_long_tokens(len)
            .iter()
            .flat_map(|json| formats(Options::default()).map(|options| (json, options)))
        {
            let stc = Encoder::with_options(options).encode(json.as_bytes()).expect("JSON").to_vec();
            // With whitespace after it, fast paths read all of it.
            let padded = [&stc[..], &[b' '; 200]].concat();
            for room in 0..=json.len() {
                let options = options.limits(Limits::DEFAULT.output(room as u64));
                for text in [&stc, &padded] {
                    let mut decoder = Decoder::with_options(options);
                    match decoder.decode(text) {
                        Ok(decoded) => {
                            assert!(room == json.len() && decoded == json.as_bytes(), "{room} bytes of room")
                        }
                        Err(error) => assert!(
                            room < json.len() && error.kind() == ErrorKind::Output,
                            "{room} bytes of room: {error}"
                        ),
                    }
                }
                if room % 16 == 0 {
                    let mut cuts = [random.below(stc.len()), random.below(stc.len())];
                    cuts.sort_unstable();
                    decode_in_chunks(&stc, &cuts, options);
                }
            }
        }
    }
}
