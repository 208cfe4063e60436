//! Memory: a warm codec allocates nothing, and a stream holds no more than it must.

use allocation_counter::measure;
use stc::{Decoder, Encoder, Limits, Options};

use crate::laws::{formats, stc1};
use crate::random::{Random, document, rounds};

/// Returns documents of every kind, minified and spaced, longer than several buffers.
fn documents() -> Vec<Vec<u8>> {
    let mut random = Random::new(11);
    let rows: Vec<String> = (0..rounds(3000)).map(|_| document(&mut random)).collect();
    let wide: Vec<String> = (0..200).map(|column| format!("\"column {column}\":{column}")).collect();
    vec![
        format!("[{}]", rows.join(",")).into_bytes(),
        format!("[ {} ]", rows.join(" ,\n")).into_bytes(),
        format!("[{}]", vec![format!("{{{}}}", wide.join(",")); 300].join(",")).into_bytes(),
        ["[".repeat(5000), "]".repeat(5000)].concat().into_bytes(),
        repeated().into_bytes(),
        br#"{"a":1}"#.to_vec(),
    ]
}

/// Returns rows that references shorten: repeated values, words, prefixes and objects.
fn repeated() -> String {
    let owner = r#"{"login":"somebody","id":12345,"url":"https://example.org/users/somebody","tags":["a","b"]}"#;
    let row = |id| {
        format!(
            r#"{{"id":{id},"url":"https://example.org/things/{id}","kind":"a longer word that returns","owner":{owner}}}"#
        )
    };
    let rows: Vec<String> = (0..400).map(row).collect();
    format!(r#"{{"rows":[{}],"owner":{owner},"more":[{owner},1,{owner}]}}"#, rows.join(","))
}

/// Returns the options of everything that an encoder writes.
fn options() -> [Options; 4] {
    formats(Options::default().limits(Limits::default().depth(10_000)))
}

fn every() -> impl Iterator<Item = (Options, Vec<u8>)> {
    documents().into_iter().flat_map(|json| options().map(|options| (options, json.clone())))
}

#[test]
fn a_warm_encoder_and_decoder_allocate_nothing() {
    for (options, json) in every() {
        let mut encoder = Encoder::with_options(options);
        let mut decoder = Decoder::with_options(options);
        let stc = encoder.encode(&json).expect("valid").to_vec();
        decoder.decode(&stc).expect("valid");
        let warm = measure(|| {
            encoder.encode(&json).expect("valid");
            decoder.decode(&stc).expect("valid");
        });
        assert_eq!(warm.count_total, 0, "{} bytes, {options:?}", json.len());
    }
}

#[test]
fn a_warm_stream_allocates_nothing() {
    for (options, json) in every() {
        let mut encoder = Encoder::with_options(options);
        let mut decoder = Decoder::with_options(options);
        let (mut stc, mut back) = (Vec::new(), Vec::new());
        for round in 0..2 {
            stc.clear();
            back.clear();
            let used = measure(|| {
                for chunk in json.chunks(1000) {
                    encoder.push(chunk, &mut stc).expect("valid");
                }
                encoder.finish(&mut stc).expect("valid");
                for chunk in stc.chunks(1000) {
                    decoder.push(chunk, &mut back).expect("valid");
                }
                decoder.finish(&mut back).expect("valid");
            });
            assert!(round == 0 || used.count_total == 0, "{} bytes, {options:?}: {used:?}", json.len());
        }
    }
}

#[test]
fn a_long_stream_is_encoded_and_decoded_in_little_memory() {
    // 30 MB of nested rows, of which little has to be held, pushed in chunks.
    let row = br#"{"id": 12345, "tags": ["a", "b"], "owner": {"login": "somebody", "id": 7}}, "#;
    let used = measure(|| {
        let mut encoder = Encoder::with_options(stc1());
        let mut decoder = Decoder::new();
        let (mut stc, mut json) = (Vec::new(), Vec::new());
        let mut pass = |chunk: &[u8]| {
            encoder.push(chunk, &mut stc).expect("valid");
            decoder.push(&stc, &mut json).expect("valid");
            stc.clear();
            json.clear();
        };
        pass(b"[");
        for _ in 0..rounds(400_000) {
            pass(row);
        }
        pass(b"null]");
        encoder.finish(&mut stc).expect("valid");
        decoder.push(&stc, &mut json).expect("valid");
        decoder.finish(&mut json).expect("valid");
    });
    assert!(used.bytes_max < 256 << 10, "{used:?}");
}

#[test]
fn a_window_bounds_the_memory_of_an_array() {
    let texts = format!("\"{}\",", "x".repeat(70));
    let arrays: [(&str, &str, &str); 3] = [
        ("[", r#"{"id":12345,"name":"somebody"},"#, "null]"),
        (r#"{"a":["#, "12345,", "6]}"),
        (r#"{"a":["#, &texts, r#""last"]}"#),
    ];
    for (open, element, close) in arrays {
        let used = measure(|| {
            let mut encoder = Encoder::with_options(stc1().window(64 << 10));
            let mut stc = Vec::new();
            encoder.push(open.as_bytes(), &mut stc).expect("valid");
            for _ in 0..rounds(400_000).max(40_000) {
                encoder.push(element.as_bytes(), &mut stc).expect("valid");
                stc.clear();
            }
            encoder.push(close.as_bytes(), &mut stc).expect("valid");
            encoder.finish(&mut stc).expect("valid");
        });
        assert!(used.bytes_max < 1 << 20, "{element}: {used:?}");
    }
}

#[test]
fn a_reader_of_expanding_rows_holds_little() {
    // Every `1 / ` expands to a key of 100,000 bytes.
    let long = "x".repeat(3_000_000);
    let bomb = format!("[\"{long}\",[2000]{{{}}}: {}]", "k".repeat(100_000), vec!["1"; 2000].join(" / "));
    let used = measure(|| {
        let mut reader = stc::io::DecodeReader::new(bomb.as_bytes());
        let mut total = 0;
        let mut buffer = [0; 4096];
        loop {
            match std::io::Read::read(&mut reader, &mut buffer).expect("within the limits") {
                0 => break,
                count => total += count,
            }
        }
        assert!(total > 200_000_000);
    });
    assert!(used.bytes_max < 1 << 20, "{used:?}");
}

#[test]
fn a_stream_of_tables_does_not_accumulate() {
    for phase in 0..rounds(20) {
        let used = measure(|| {
            let mut encoder = Encoder::with_options(stc1());
            let mut stc = Vec::new();
            let mut push = |chunk: &[u8]| {
                encoder.push(chunk, &mut stc).expect("valid");
                stc.clear();
            };
            push(format!("[\"{}\",", "x".repeat(phase)).as_bytes());
            let tables = r#"[{"a":1},{"a":2}],"#.repeat(4096);
            for _ in 0..rounds(40).max(4) {
                push(tables.as_bytes());
            }
            push(b"1]");
            encoder.finish(&mut stc).expect("valid");
        });
        assert!(used.bytes_max < 2 << 20, "{phase}: {used:?}");
    }
}
