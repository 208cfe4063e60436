//! What decides whether a document is planned at all: how long its tokens are, and how deep it is.

use super::*;
use crate::json::scan::arch::Fallback;
use crate::testing::{NO_REFERENCES, WHOLE};

fn buffer(starts: &[u32]) -> Buffer<u32> {
    let mut buffer = Buffer::default();
    buffer.extend(starts);
    buffer
}

#[test]
fn a_text_too_long_for_links_is_checked_and_copied() {
    let mut out = Buffer::default();
    assert!(copy_json(b"[1,{}]", &Options::default(), &mut out).is_ok());
    assert_eq!(*out, *b"[1,{}]");
    assert!(copy_json(b"[1,{]", &Options::default(), &mut out).is_err());
    assert_eq!(*out, *b"[1,{}]");
}

/// The checks are at fixed tokens, however the index was cut: it is dropped where the token of a check begins one byte too soon.
#[test]
fn tokens_are_too_short_if_one_of_the_fixed_checks_says_so() {
    const CHECKS: usize = 4;
    let checked = |token: usize| token >= MAX_TOKENS && (token - MAX_TOKENS).is_multiple_of(TOKENS_PER_CHECK);
    let mut starts: Vec<u32> =
        (0..=MAX_TOKENS + (CHECKS - 1) * TOKENS_PER_CHECK + 1).map(|token| (MIN_TOKEN_BYTES * token) as u32).collect();
    let is_dense = |starts: &[u32], cuts: &[usize]| {
        let (mut writer, mut index) = (Writer::default(), Buffer::default());
        let mut from = 0;
        for &to in cuts.iter().chain([&starts.len()]) {
            index.extend(&starts[from..to]);
            writer.check_density(b"", &mut index);
            assert_eq!(index.is_empty(), writer.is_dense);
            from = to;
        }
        writer.is_dense
    };
    let long = starts.len() - 1;
    assert!(!is_dense(&starts, &[]) && !is_dense(&starts, &[MAX_TOKENS, MAX_TOKENS + 1, long]));
    let places = (0..CHECKS).map(|check| MAX_TOKENS + check * TOKENS_PER_CHECK);
    let between =
        [1, TOKENS_PER_CHECK, MAX_TOKENS / 2, MAX_TOKENS - TOKENS_PER_CHECK, MAX_TOKENS + TOKENS_PER_CHECK / 2];
    for token in places.flat_map(|at| [at - 1, at, at + 1]).chain(between) {
        starts[token] -= 1;
        assert_eq!(is_dense(&starts, &[]), checked(token), "token {token}");
        starts[token] += 1;
    }
    // In chunks: the check of a token comes with the chunk that has it.
    let last = MAX_TOKENS + (CHECKS - 1) * TOKENS_PER_CHECK;
    starts[last] -= 1;
    for cuts in [&[last][..], &[last + 1], &[1, MAX_TOKENS + 1, last - 1]] {
        assert!(is_dense(&starts, cuts), "{cuts:?}");
    }
    // A document that is shorter than the first check is planned.
    starts.truncate(MAX_TOKENS);
    starts.fill(0);
    assert!(!is_dense(&starts, &[]));
}

#[test]
fn scalars_are_adjacent_if_one_begins_directly_after_another() {
    let cases: [(&str, &[u32], bool); 12] = [
        ("[12]", &[0, 1, 3, 4], false),
        ("[12]", &[0, 1, 2, 3, 4], true),
        ("1", &[0, 1], false),
        ("12", &[0, 2], false),
        ("12", &[0, 1, 2], true),
        ("[1,2]", &[0, 1, 3, 4, 5], false),
        ("[1][2]", &[0, 1, 2, 3, 4, 5, 6], false),
        ("{\"a\":1}", &[0, 1, 5, 6, 7], false),
        ("[\"a\",true,{}]", &[0, 1, 5, 10, 11, 12, 13], false),
        ("[truefalse]", &[0, 1, 5, 10, 11], true),
        ("[nullnull,1]", &[0, 1, 5, 10, 11, 12], true),
        ("[-1,-12]", &[0, 1, 4, 6, 7, 8], true),
    ];
    for (text, index, expected) in cases {
        assert_eq!(has_adjacent_scalars(text.as_bytes(), index), expected, "{text} {index:?}");
    }
}

/// `[1 2` is no JSON, but without its whitespace and its index it looks like `[12`.
#[test]
fn adjacent_scalars_are_remembered_when_the_index_is_dropped() {
    let (adjacent, good): (&[u32], &[u32]) = (&[0, 1, 2, 3], &[0, 1, 3]);
    for (indexes, expected) in [
        (&[good, good][..], false),
        (&[adjacent], true),
        (&[adjacent, good], true),
        (&[good, adjacent, good], true),
        (&[adjacent, adjacent], true),
    ] {
        let mut writer = Writer { is_dense: true, ..Writer::default() };
        for index in indexes {
            writer.check_density(b"[12]", &mut buffer(index));
        }
        let mut out = Buffer::default();
        let written = writer.write(Fallback, b"[12]", &[], &Options::default(), &mut out);
        assert_eq!((written.is_err(), &*out), (expected, if expected { &b""[..] } else { b"[12]" }), "{indexes:?}");
        // What was scanned last is still in the index.
        let written = writer.write(Fallback, b"[12]", adjacent, &Options::default(), &mut out);
        assert!(written.is_err(), "{indexes:?}");
    }
}

/// A document of up to half a million tokens gets references whatever their length, others if a token has eight bytes on average.
#[test]
fn many_short_tokens_get_no_references() {
    const MOST: usize = MAX_TOKENS_WITH_REFERENCES;
    const BYTES: usize = MIN_TOKEN_BYTES_WITH_REFERENCES;
    let (text, index) = (vec![0; 11 * (MOST + 1)], vec![0; MOST + 1]);
    let cases = [
        (1, MOST, true),
        (MOST, MOST - 1, true),
        (MOST, MOST, true),
        (BYTES * MOST - 1, MOST, true),
        (2 * (MOST + 1), MOST + 1, false),
        (6 * (MOST + 1), MOST + 1, false),
        (BYTES * (MOST + 1) - 1, MOST + 1, false),
        (BYTES * (MOST + 1), MOST + 1, true),
        (10 * (MOST + 1), MOST + 1, true),
        (11 * (MOST + 1), MOST + 1, true),
    ];
    for (bytes, tokens, has_references) in cases {
        for format in Format::ALL {
            let options = Options::default().format(format);
            let expected =
                if format == Format::Stc2 && !has_references { options.without_references() } else { options };
            let found = options_for(&options, 1, &text[..bytes], &index[..tokens]);
            assert_eq!(found, expected, "{bytes} bytes, {tokens} tokens, {format}");
        }
    }
}

#[test]
fn the_deepest_document_with_references() {
    for (depth, has_references) in
        [(1, true), (MAX_DEPTH_WITH_REFERENCES, true), (MAX_DEPTH_WITH_REFERENCES + 1, false)]
    {
        let expected = if has_references { WHOLE } else { NO_REFERENCES };
        assert_eq!(options_for(&WHOLE, depth, b"[]", &[0, 1, 2]), expected, "{depth} levels");
    }
}

#[test]
fn the_deepest_document_that_is_planned() {
    for (depth, is_planned) in [(MAX_DEPTH - 1, true), (MAX_DEPTH, true), (MAX_DEPTH + 1, false)] {
        let json = [&b"[".repeat(depth)[..], &b"]".repeat(depth)].concat();
        let mut options = Options::default();
        options.limits = options.limits.depth(depth);
        let (mut writer, mut tape, mut out) = (Writer::default(), Tape::default(), Buffer::default());
        assert!(writer.encode(Fallback, &json, &mut tape, &options, &mut out).is_ok());
        assert_eq!((writer.planned_with.is_some(), *out == *json), (is_planned, true), "{depth} levels");
    }
}

#[test]
fn only_a_document_of_format_json_is_not_planned() {
    let json = br#"{"a":null,"b":true,"c":[null,{"d":false}]}"#;
    for format in [Format::Json, Format::Stc2, Format::Stc2Labelled] {
        let (mut writer, mut tape, mut out) = (Writer::default(), Tape::default(), Buffer::default());
        let options = Options::default().format(format);
        assert!(writer.encode(Fallback, json, &mut tape, &options, &mut out).is_ok());
        assert_eq!((writer.planned_with.is_some(), &*out == json), (format != Format::Json, format == Format::Json));
    }
}
