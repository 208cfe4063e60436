//! The tape against the text it was made of: questions about two entries, and the input played back.

use super::*;
use crate::json::lexer::is_number;
use crate::json::scan::{Choice, with_kernel};
use crate::testing::texts;

/// Returns the tape of a text, unless the scanner refuses it.
fn tape_of(json: &str) -> Option<Tape> {
    let mut tape = Tape::default();
    with_kernel!(Choice::best(), kernel => {
        let mut rest = json.as_bytes();
        while rest.len() >= BLOCK {
            rest = tape.take(kernel, rest);
        }
        tape.end_with(kernel, rest);
    });
    (!tape.scanner.is_wrong() && tape.scanner.may_end()).then_some(tape)
}

/// Returns whether this is one good scalar.
fn is_lexeme(bytes: &[u8]) -> bool {
    match bytes {
        b"true" | b"false" | b"null" => true,
        [b'"', inside @ .., b'"'] => !inside.contains(&b'"'),
        _ => is_number(bytes),
    }
}

/// For every text between two entries: each reader accepts it exactly if it is one valid scalar and has after it what the reader
/// requires.
#[test]
fn what_is_between_two_entries() {
    const TOKENS: [&str; 15] =
        ["\"\"", "\"ab\"", "1", "-", "-0.5", "true", "false", "null", "x", ",", ":", "[", "]", "}", " "];
    let length = if cfg!(miri) { 2 } else { 3 };
    let (mut good, mut bad) = (0, 0);
    for middle in texts(&TOKENS, length).map(|tokens| tokens.concat()) {
        // Enough around it for every read.
        let json = format!("[[\"before\",{middle}],\"after\",[]]");
        let Some(tape) = tape_of(&json) else { continue };
        let text = &tape.text[..];
        for pair in tape.index.windows(2).take_while(|pair| (pair[1] as usize) + 4 < text.len()) {
            let (start, next) = (pair[0] as usize, pair[1] as usize);
            let (between, after) = (&text[start..next], text[next]);
            let without_comma = between.strip_suffix(b",").filter(|lexeme| is_lexeme(lexeme));
            for close in [b']', b'}'] {
                let more = without_comma.filter(|_| after == b'"').map(|_| true);
                let expected = more.or((is_lexeme(between) && after == close).then_some(false));
                assert_eq!(follows(text, start, next, close), expected, "{} in {json}", between.escape_ascii());
            }
            let more = without_comma.map(|_| true);
            let expected = more.or((is_lexeme(between) && after == b']').then_some(false));
            assert_eq!(follows_element(text, start, next), expected, "{} in {json}", between.escape_ascii());
            (good, bad) = if expected.is_some() { (good + 1, bad) } else { (good, bad + 1) };

            // What follows after one byte is for the caller to check.
            let end = if matches!(after, b'}' | b']') { next } else { next - 1 };
            let expected = Some(end).filter(|&end| end > start && is_lexeme(&text[start..end]));
            assert_eq!(lexeme(text, start, next).map(|(_, end)| end), expected, "{} in {json}", between.escape_ascii());
            let key = between.strip_suffix(b":").is_some_and(|key| key.starts_with(b"\"") && is_lexeme(key));
            assert_eq!(is_key(text, start, next), key, "{} in {json}", between.escape_ascii());
        }
    }
    assert!(cfg!(miri) || good > 1000 && bad > 1000, "{good} {bad}");
}

/// A stream that can never become JSON is refused with the bytes that show it, and one that can is not.
#[test]
fn what_no_bytes_can_mend_is_seen_at_the_last_token() {
    const MAY: [&str; 24] = [
        "[",
        "[1",
        "[1,",
        "[-",
        "[-0.5",
        "[12345678901234567890",
        "{",
        "{}",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1,",
        "[\"a\"",
        "[\"a\",",
        "[t",
        "[tru",
        "[true",
        "[true,",
        "[fals",
        "[false,",
        "[null",
        "[null,",
        "[[]",
        "[[],",
        "[{\"a\":[]},",
    ];
    const MUST_NOT: [&str; 16] = [
        "[1,,",
        "[1::",
        "[1:,",
        "[1,:",
        "{\"a\"::",
        "[[],,",
        "[null,,",
        ",,",
        "[xxxxxxx",
        "[truetrue",
        "[falsefalse",
        "[nullnull",
        "[nullxxx",
        "[true,1,fxxxxxx",
        "[é",
        "[1,x",
    ];
    for (may, json) in MAY.map(|json| (true, json)).into_iter().chain(MUST_NOT.map(|json| (false, json))) {
        let tape = tape_of(json).expect(json);
        // The last entry of a tape that has ended is its length.
        let last = tape.index[..tape.index.len() - 1].last().copied();
        assert_eq!(may_go_on(&tape.text, last), may, "{json}");
        let knows_without =
            !(json.ends_with(",,") || json.ends_with("::") || json.ends_with(":,") || json.ends_with(",:"));
        assert_eq!(may_go_on(&tape.text, None), knows_without, "{json}");
    }
}

/// However much of the text has been dropped, what is left is played back with every byte at its offset, and a space for each
/// byte of whitespace.
#[test]
fn what_is_held_is_played_back_at_its_offsets() {
    let some = "[1, {\"a b\": \"c  d\"},\n\t\"é\" , -2.5e3,true ,[ ]";
    let long = [some, &" ".repeat(150), ",\"", &"x".repeat(70), " \"", &" ".repeat(64), "7,  8 ", some].concat();
    for size in [5, 63, 64, 65, 1000] {
        for drop in [1, 7, 40, 1000] {
            let (mut tape, mut dropped) = (Tape::default(), 0);
            let mut pushed = 0;
            for chunk in long.as_bytes().chunks(size) {
                let mut rest = chunk;
                while !rest.is_empty() {
                    rest = with_kernel!(Choice::best(), kernel => tape.take(kernel, rest));
                }
                pushed += chunk.len();
                // The input that has been kept, at its offsets, up to what has been scanned.
                let (mut in_string, mut kept) = (false, Vec::new());
                for (offset, &byte) in long.as_bytes()[..pushed].iter().enumerate() {
                    in_string ^= byte == b'"';
                    let is_white = !in_string && b" \n\t".contains(&byte);
                    kept.push((offset as u64, if is_white { b' ' } else { byte }, !is_white));
                }
                let held: Vec<usize> = (0..kept.len()).filter(|&at| kept[at].2).skip(dropped).collect();
                for start in (0..tape.text.len()).step_by(37) {
                    let expected: Vec<(u64, u8)> =
                        kept[held[start]..].iter().map(|&(offset, byte, _)| (offset, byte)).collect();
                    // Input that has not been scanned is played back as it is.
                    let found: Vec<(u64, u8)> = tape
                        .played_back(start)
                        .map(|(offset, byte)| {
                            (offset, if byte.is_ascii_whitespace() && !kept[offset as usize].2 { b' ' } else { byte })
                        })
                        .collect();
                    assert_eq!(found, expected, "chunks of {size}, {dropped} dropped, from {start}");
                }
                for &entry in tape.index.iter() {
                    assert!(b"{}[]\"-0123456789tfn".contains(&tape.text[entry as usize]), "{entry}");
                }
                let bytes = drop.min(tape.text.len());
                let entries = tape.index.iter().filter(|&&entry| (entry as usize) < bytes).count();
                tape.forget(bytes, entries);
                dropped += bytes;
            }
        }
    }
}

/// Reading goes over from the caller's bytes to the tape's text at the first block with whitespace, wherever that is.
#[test]
fn what_was_read_in_place_is_held() {
    for (white, is_last) in (0..75).flat_map(|number| [(4 * number, false), (4 * number, true)]) {
        let mut json = "[10,".repeat(80).into_bytes();
        json.insert(white, b' ');
        let begins = white / BLOCK * BLOCK;
        if is_last {
            json.truncate(begins + BLOCK);
        }
        for at_once in [true, false] {
            for choice in Choice::available() {
                let (mut tape, mut at) = (Tape::default(), 0);
                let indexed = with_kernel!(choice, kernel => tape.index_in_place(kernel, &json, &mut at));
                assert_eq!((indexed, at), (Indexed::Stopped, begins));
                let needed = if at_once { 0 } else { at / 2 };
                let entries = tape.index.iter().filter(|&&entry| (entry as usize) < needed).count();
                tape.index.drop_front(entries);
                tape.hold(&json[needed..at], needed);
                let mut rest = &json[at..];
                with_kernel!(choice, kernel => {
                    while rest.len() >= BLOCK {
                        rest = tape.take(kernel, rest);
                    }
                    tape.end_with(kernel, rest);
                });
                let expected: Vec<u8> = json[needed..].iter().copied().filter(|&byte| byte != b' ').collect();
                assert_eq!(*tape.text, expected);
                let begins = |&at: &usize| expected[at] == b'[' || expected[at] == b'1';
                let index: Vec<u32> =
                    (0..expected.len()).filter(begins).chain([expected.len()]).map(|at| at as u32).collect();
                assert_eq!(*tape.index, index, "{choice:?}, whitespace at {white}");
            }
        }
    }
}

/// A text of every length is indexed in place to its end, also where that is the end of a block.
#[test]
fn a_text_of_every_length_is_indexed_in_place() {
    for length in 1..=2 * BLOCK + 2 {
        let json = "[".repeat(length);
        for choice in Choice::available() {
            let (mut tape, mut at) = (Tape::default(), 0);
            let mut indexed = Indexed::Batch;
            for _ in 0..3 {
                if indexed == Indexed::Batch {
                    indexed = with_kernel!(choice, kernel => tape.index_in_place(kernel, json.as_bytes(), &mut at));
                }
            }
            assert_eq!((indexed, at, tape.index.len()), (Indexed::Ended, length, length + 1), "{choice:?}");
        }
    }
}
