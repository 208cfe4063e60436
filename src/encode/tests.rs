//! Defects that are planted, and what the encoder tells about documents it has taken.

use super::*;
use crate::error::Expected;
use crate::{Format, Limits};

thread_local! {
    pub(super) static PLANTED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Returns what `encode` returns while the writers refuse every document.
fn refused<T>(encode: impl FnOnce() -> Result<T, Error>) -> Option<(ErrorKind, u64)> {
    PLANTED.set(true);
    let result = encode();
    PLANTED.set(false);
    result.err().map(|error| (error.kind(), error.offset()))
}

#[test]
fn a_refusal_of_a_valid_document_is_a_defect() {
    for format in Format::ALL {
        let mut encoder = Encoder::with_options(Options::default().format(format));
        let mut out = b"before".to_vec();
        let whole = refused(|| encoder.encode_into(b"[1, 2]", &mut out));
        assert_eq!(whole, Some((ErrorKind::Defect, 6)), "{format}");
        let pushed = refused(|| encoder.push(b"[1, 2", &mut out));
        assert_eq!(pushed, Some((ErrorKind::Defect, 5)), "{format}");
        encoder.push(b"[1]", &mut out).expect("valid");
        assert_eq!(refused(|| encoder.finish(&mut out)), Some((ErrorKind::Defect, 3)), "{format}");
        assert!(out.starts_with(b"before") && encoder.encode(b"[]").is_ok(), "{format}");
    }
    assert!(!ErrorKind::Defect.is_limit());
}

#[test]
fn a_refusal_with_a_cause_is_that_of_the_document() {
    let mut encoder = Encoder::new();
    let mut out = Vec::new();
    assert_eq!(refused(|| encoder.encode(b"[1").map(drop)), Some((ErrorKind::Truncated(Expected::CommaOrBracket), 2)));
    encoder.push(b"[1", &mut out).expect("valid so far");
    let ended = refused(|| encoder.finish(&mut out));
    assert_eq!(ended, Some((ErrorKind::Truncated(Expected::CommaOrBracket), 2)));
    assert_eq!(refused(|| encoder.push(b"[1}", &mut out)), Some((ErrorKind::Syntax(Expected::CommaOrBracket), 2)));
    let mut encoder = Encoder::with_options(Options::default().limits(Limits::default().output(1)));
    assert_eq!(refused(|| encoder.encode(b"[1]").map(drop)).map(|(kind, _)| kind), Some(ErrorKind::Output));
}

/// A caller that compares with minified JSON gets it where the encoder has made it, and nothing else.
#[test]
fn minified_json_is_at_hand_after_a_document_with_whitespace() {
    for format in Format::ALL {
        let mut encoder = Encoder::with_options(Options::default().format(format));
        assert_eq!(encoder.minified(), None, "{format}");
        for (json, minified) in [("{\"a\": [1, 2]}", "{\"a\":[1,2]}"), ("[ \"a b\"]", "[\"a b\"]")] {
            encoder.encode(json.as_bytes()).expect("JSON");
            let expected = (format.version() == Version::V2).then_some(minified.as_bytes());
            assert_eq!(encoder.minified(), expected, "{format} {json}");
        }
        encoder.encode(b"[1,2]").expect("JSON");
        assert_eq!(encoder.minified(), None, "{format}: it had no whitespace");
        encoder.push(format!("[1, {}", "2, ".repeat(60)).as_bytes(), &mut Vec::new()).expect("valid so far");
        assert_eq!(encoder.minified(), None, "{format}: it has not ended");
    }
}

/// What has been taken counts for the offset of an error and for the limit on input, however it came.
#[test]
fn what_was_pushed_counts_by_the_byte() {
    for format in Format::ALL {
        for size in [1, 10, 64, 65, 100, 110, 130, 200] {
            let mut encoder =
                Encoder::with_options(Options::default().format(format).limits(Limits::default().input(200)));
            let mut out = Vec::new();
            let json = format!("[{}x{}", "1,".repeat(60), ",1".repeat(100));
            let mut chunks = json.as_bytes()[..200].chunks(size);
            let found = chunks.find_map(|chunk| encoder.push(chunk, &mut out).err()).map(|error| error.offset());
            assert_eq!(found, Some(121), "{format} {size}");
            let json = "[1,".repeat(100);
            let found = json.as_bytes().chunks(size).find_map(|chunk| encoder.push(chunk, &mut out).err());
            assert_eq!(
                found.map(|error| (error.kind(), error.offset())),
                Some((ErrorKind::Input, 200)),
                "{format} {size}"
            );
            encoder.push(&json.as_bytes()[..200], &mut out).expect("no more than the limit");
        }
    }
}
