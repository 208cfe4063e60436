//! Copies (STC.md, sections 19 and 21.3): `stc2` has them for values that repeat, and no other level has any.

use stc::{Decoder, Encoder, Limits, laws};

use crate::levels::Level;
use crate::random::{Choices, Random, rounds};

/// Returns a user as services send them.
fn user(login: &str, id: usize) -> String {
    format!(r#"{{"login":"{login}","id":{id},"url":"https://example.com/users/{login}","bot":false}}"#)
}

/// Returns an object with these members that is no keyed table: its first value is a number.
fn object(values: &[String]) -> String {
    let members: Vec<String> = values.iter().enumerate().map(|(at, value)| format!(r#","k{at}":{value}"#)).collect();
    format!(r#"{{"n":1{}}}"#, members.concat())
}

fn encoded(json: &str, level: Level, limits: Limits) -> String {
    let options = level.options().limits(limits);
    let stc = Encoder::with_options(options).encode(json.as_bytes()).expect("JSON").to_vec();
    let back = Decoder::with_options(options).decode(&stc).map(<[u8]>::to_vec);
    assert_eq!(back.as_deref(), Ok(json.as_bytes()), "{}", String::from_utf8_lossy(&stc));
    String::from_utf8(stc).expect("UTF-8")
}

/// Returns the number of names that are given, and of copies.
fn counts(stc: &str) -> (usize, usize) {
    (stc.matches(":&").count(), stc.matches(":*").count())
}

#[test]
fn only_references_have_copies() {
    let json = object(&[user("ann", 7), user("bob", 8), user("ann", 7), user("ann", 7)]);
    for (level, found) in [(Level::Labelled, (0, 0)), (Level::NoReferences, (0, 0)), (Level::Whole, (1, 2))] {
        let stc = encoded(&json, level, Limits::default());
        assert_eq!(counts(&stc), found, "{stc}");
        assert!(!stc.starts_with("{\"n\""), "minified JSON, at {level}");
    }
}

#[test]
fn the_limits_of_a_decoder_are_kept() {
    let (one, two) = (user("ann", 7), user("bob", 12));
    let json = object(&[one.clone(), two.clone(), one.clone(), two.clone()]);
    let counted = |limits| counts(&encoded(&json, Level::Whole, limits));
    for (bytes, names) in
        [(0, 0), (one.len() - 1, 0), (one.len(), 1), (one.len() + two.len() - 1, 1), (one.len() + two.len(), 2)]
    {
        assert_eq!(counted(Limits::default().anchors(bytes)), (names, names), "{bytes} bytes");
    }
    // One name fewer than there are values to name.
    for (columns, names) in [(1, 1), (2, 2)] {
        assert_eq!(counted(Limits::default().columns(columns)), (names, names), "{columns} names");
    }
}

/// Values inside values, repeated at random places: whatever is a copy of what, the document comes back.
#[test]
fn random_documents_come_back() {
    fn value(random: &mut Random, pool: &mut Vec<String>, depth: usize) -> String {
        if !pool.is_empty() && random.one_in(3) {
            return pool[random.below(pool.len())].clone();
        }
        let members: Vec<String> = (0..1 + random.below(4))
            .map(|at| match random.below(if depth > 3 { 3 } else { 6 }) {
                0 => format!(r#""s{at}":"word{}""#, random.below(4)),
                1 => format!(r#""n{at}":{}"#, random.below(1 << 20)),
                2 => format!(r#""t{at}":"a longer text with spaces, number {}""#, random.below(3)),
                3 => format!(r#""l{at}":[{},{}]"#, value(random, pool, depth + 1), value(random, pool, depth + 1)),
                _ => format!(r#""o{at}":{}"#, value(random, pool, depth + 1)),
            })
            .collect();
        let made = format!("{{{}}}", members.join(","));
        pool.push(made.clone());
        made
    }
    let mut random = Random::new(19);
    let (mut copies, mut longest) = (0, 0);
    for _ in 0..rounds(2000) {
        let mut pool = Vec::new();
        let json = value(&mut random, &mut pool, 0);
        if json.len() > 1 << 16 {
            continue;
        }
        laws::round_trip(json.as_bytes(), Level::Whole.options()).expect("JSON");
        copies += counts(&encoded(&json, Level::Whole, Limits::default())).1;
        longest = longest.max(json.len());
    }
    assert!(copies > rounds(2000) / 4 && longest > 1000, "{copies} copies, up to {longest} bytes");
}
