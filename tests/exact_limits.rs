//! The laws about limits on the vectors and on random documents: each limit as low as the text needs it, one lower and one
//! higher.

use stc::laws::{decode_in_chunks, decoding_meets_its_limits, encoding_meets_its_limits};
use stc::{Decoder, Encoder, ErrorKind, Limits, Options};

use crate::laws::formats;
use crate::levels::Level;
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
        let all = documents_of_long_tokens(len);
        let all = all.iter().flat_map(|json| formats(Options::default()).map(|options| (json, options)));
        for (number, (json, options)) in all.enumerate() {
            let stc = Encoder::with_options(options).encode(json.as_bytes()).expect("JSON").to_vec();
            // With whitespace after it, fast paths read all of it.
            let padded = [&stc[..], &[b' '; 200]].concat();
            let step = 3 / rounds(3);
            for room in (number % step..json.len()).step_by(step).chain([json.len()]) {
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

/// Documents in which a form needs all of a limit: an open list, one inside another, cells, a constant, a default, objects
/// in cells and in their place, shapes, templates and copies. With each, the keys that it names. (A dictionary is left out: it
/// needs a limit that is enough for any.)
const NEEDY: [(Level, &str, usize); 8] = [
    (Level::Labelled, r#"{"k":"one and the same","n":N}"#, 2),
    (Level::Labelled, r#"{"k":"one and the same","in":{"j":"another of that kind","n":N}}"#, 4),
    (Level::NoReferences, r#"{"first":N,"k":"one and the same","second":N}"#, 3),
    (Level::NoReferences, r#"{"first":N,"default":"oneD and the same","second":N}"#, 3),
    (Level::NoReferences, r#"{"first":N,"of":{"x":N,"y":true},"list":[{"z":N},{"z":7}]}"#, 6),
    (Level::NoReferences, r#"{"first":N,"second":N,"third":N},[{"third":N,"of":[N],"second":1}],{"third":N}"#, 6),
    (Level::Whole, r#"{"id":N,"url":"/users/N","other":"/others/of/N"}"#, 3),
    (Level::Whole, r#"[{"a":[1,2,3],"b":"a long text"},N],[{"c":[D,7],"d":"another long text"}]"#, 0),
];

/// An encoder of version 2 uses every limit up to the last byte, key and name that a decoder takes, but that it counts the quotes
/// of bare keys. With less it writes something else that a decoder takes.
#[test]
fn an_encoder_uses_its_whole_limit() {
    const LIMITS: [fn(Limits, usize) -> Limits; 4] = [
        |limits, keys| limits.columns(keys),
        |limits, bytes| limits.header(bytes),
        |limits, bytes| limits.row(bytes),
        |limits, bytes| limits.anchors(bytes),
    ];
    let mut needed = 0;
    for (level, elements, keys) in NEEDY {
        // `N` is another number each time, and `D` is mostly the same.
        let all = (11..18).map(|n: usize| elements.replace('N', &n.to_string()).replace('D', &(n / 15).to_string()));
        let json = format!("[{}]", all.collect::<Vec<_>>().join(","));
        let encoded = |limits| {
            let mut encoder = Encoder::with_options(level.options().limits(limits));
            encoder.encode(json.as_bytes()).expect("JSON").to_vec()
        };
        let decodes = |stc: &[u8], limits| {
            let mut decoder = Decoder::with_options(Options::default().limits(limits));
            decoder.decode(stc).is_ok_and(|decoded| decoded == json.as_bytes())
        };
        let unlimited = encoded(Limits::DEFAULT);
        assert!(unlimited.len() < json.len() && decodes(&unlimited, Limits::DEFAULT), "{json}");
        for (number, set) in LIMITS.into_iter().enumerate() {
            let need = (0..).find(|&value| decodes(&unlimited, set(Limits::DEFAULT, value))).expect("a limit");
            needed += usize::from(need > 0);
            let used = need + if number == 1 { 2 * keys } else { 0 };
            for value in 0..used + 2 {
                let limits = set(Limits::DEFAULT, value);
                let stc = encoded(limits);
                assert!(decodes(&stc, limits), "{limits:?}: {}", stc.escape_ascii());
                assert_eq!(stc == unlimited, value >= used, "{limits:?}: {}", stc.escape_ascii());
            }
        }
    }
    assert!(needed >= 2 * NEEDY.len(), "{needed}");
}
