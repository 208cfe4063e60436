//! Invalid JSON that arrives in chunks: every format reports it while it arrives, with the error of the whole document.

use stc::{Encoder, Error, ErrorKind, Format, Limits, Options};

/// The bytes that the encoder scans at once: what follows an error by as much has been scanned.
const BLOCK: usize = 64;

fn encoder(format: Format) -> Encoder {
    Encoder::with_options(Options::default().format(format))
}

/// Returns the error of the document as a whole.
fn whole(json: &[u8], format: Format) -> Option<Error> {
    encoder(format).encode(json).err()
}

/// Pushes the document in chunks of `size`. Returns the error and the bytes that were pushed before it, or all if only `finish`
/// fails.
fn in_chunks(json: &[u8], size: usize, format: Format) -> (Option<Error>, usize) {
    let (mut encoder, mut out, mut pushed) = (encoder(format), Vec::new(), 0);
    for chunk in json.chunks(size) {
        if let Err(error) = encoder.push(chunk, &mut out) {
            return (Some(error), pushed);
        }
        pushed += chunk.len();
    }
    (encoder.finish(&mut out).err(), pushed)
}

#[test]
fn a_stream_of_anything_but_json_is_refused_in_its_first_bytes() {
    let streams = [
        "}",
        "]",
        "x",
        ",",
        ":",
        "1 ",
        "true",
        "tru",
        "\"a\" ",
        "\"a\",",
        "[1,,",
        "[:",
        "{,",
        "{1",
        "[}",
        "{]",
        "{\"a\"}",
        "{\"a\",",
        "{\"a\"1",
        "[1}",
        "[1 ,2 3",
        "[]",
        "{}",
        "[[],,",
        "{\"a\":[],,",
        "[[]:",
        "[true,,",
        "[1:",
        "nullnull",
        "é",
        "[",
        "{\"a\":",
    ];
    for start in streams {
        let json = start.repeat((1 << 20) / start.len());
        for format in Format::ALL {
            let expected = whole(json.as_bytes(), format).expect(start);
            assert!(!matches!(expected.kind(), ErrorKind::Truncated(_)), "{start} {format}: {expected}");
            for size in [1, 7, BLOCK, 1000, 64 << 10] {
                let (error, pushed) = in_chunks(json.as_bytes(), size, format);
                assert_eq!(error, Some(expected), "{start} {format} {size}");
                let last = expected.offset() as usize + 2 * BLOCK;
                assert!(pushed <= last, "{start} {format} {size}: found after {pushed}");
            }
        }
    }
}

/// Each text of up to five of these, with whitespace after it and one more token.
#[test]
fn push_refuses_exactly_what_no_further_bytes_can_mend() {
    const PARTS: [&str; 10] = ["{", "}", "[", "]", ",", ":", "\"a\"", "1", "null", " "];
    let limits = Limits::default().depth(3);
    let options = Options::default().limits(limits).format(Format::Json);
    let (mut one, mut other, mut out) = (Encoder::with_options(options), Encoder::with_options(options), Vec::new());
    let (mut refused, mut taken) = (0, 0);
    for number in 0..PARTS.len().pow(5) {
        let parts = (0..5).map(|place| PARTS[number / PARTS.len().pow(place) % PARTS.len()]);
        let json = format!("{}{}1{}", parts.collect::<String>(), " ".repeat(BLOCK), " ".repeat(BLOCK));
        let expected =
            one.encode(json.as_bytes()).err().filter(|error| !matches!(error.kind(), ErrorKind::Truncated(_)));
        let found = other.push(json.as_bytes(), &mut out).err();
        other.clear();
        assert_eq!(found, expected, "{}", json.trim_end());
        (refused, taken) = if found.is_some() { (refused + 1, taken) } else { (refused, taken + 1) };
    }
    assert!(refused > 10_000 && taken > 100, "{refused} refused, {taken} taken");
}

#[test]
fn damage_is_reported_alike_however_the_input_is_cut() {
    let mut damaged = 0;
    for case in ["issues-pretty.json", "keyed.json", "escapes.json", "numbers.json", "depth-200.json", "graphql.json"] {
        let path = format!("{}/corpus/made/{case}", env!("CARGO_MANIFEST_DIR"));
        let mut json = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        json.truncate(30_000);
        for at in (0..json.len()).step_by(json.len() / 40 + 1) {
            for damage in [&b"}"[..], b"]", b",", b":", b"\"", b"1", b"x", b"", b"\\", b"\x01", b"\xff"] {
                let text = [&json[..at], damage, &json[at + 1..]].concat();
                for format in [Format::Json, Format::Stc2Labelled, Format::Stc1] {
                    let expected = whole(&text, format);
                    for size in [1, 63, 1000] {
                        assert_eq!(in_chunks(&text, size, format).0, expected, "{case} {at} {format} {size}");
                    }
                    damaged += usize::from(expected.is_some());
                }
            }
        }
    }
    assert!(damaged > 1000, "{damaged}");
}

/// The same for documents with so many short tokens that version 2 does not plan them, and keeps no index.
#[test]
fn dense_documents_are_checked_as_they_come() {
    let many = "[1,2],".repeat(400_000);
    for (wrong, offset) in [("1 2", 2), ("}", 0), ("[1,,", 3), (":", 0), ("tru,", 3), ("[1}", 2)] {
        let json = format!("[{many}{wrong}{}", ",1".repeat(100_000));
        let begins = 1 + many.len();
        for format in [Format::Json, Format::Stc2Labelled] {
            let expected = whole(json.as_bytes(), format).expect("not JSON");
            assert_eq!(expected.offset(), (begins + offset) as u64, "{wrong}");
            let (error, pushed) = in_chunks(json.as_bytes(), 4096, format);
            assert_eq!(error, Some(expected), "{wrong}");
            assert!(pushed <= begins + offset + 2 * BLOCK, "{wrong}: found after {pushed}");
        }
    }
}

#[test]
fn an_encoder_that_refused_a_chunk_takes_another_document() {
    for format in Format::ALL {
        let (mut encoder, mut out) = (encoder(format), b"before".to_vec());
        encoder.push("[1}".repeat(100).as_bytes(), &mut out).expect_err("not JSON");
        assert_eq!(out, b"before");
        encoder.push(b"[1, 2", &mut out).expect("the beginning of a document");
        encoder.push(b"]", &mut out).expect("its end");
        encoder.finish(&mut out).expect("a document");
        assert_eq!(stc::decode(&out[6..]).expect("it decodes"), b"[1,2]");
    }
}
