//! Copies at the level `stc2` (STC.md, sections 19 and 21.3): values that repeat, their names, and the limits on them.

use stc::{Decoder, Encoder, Limits, Options, laws};

use crate::random::{Choices, Random, rounds};

/// Returns a user as services send them, with a login that makes a name.
fn user(login: &str, id: usize) -> String {
    format!(r#"{{"login":"{login}","id":{id},"url":"https://example.com/users/{login}","bot":false}}"#)
}

/// Returns an object with these members that is no keyed table: its first value is a number.
fn object(values: &[String]) -> String {
    let members: Vec<String> = values.iter().enumerate().map(|(at, value)| format!(r#","k{at}":{value}"#)).collect();
    format!(r#"{{"n":1{}}}"#, members.concat())
}

fn encoded(json: &str, limits: Limits) -> String {
    let options = Options::default().limits(limits);
    let stc = Encoder::with_options(options).encode(json.as_bytes()).expect("JSON").to_vec();
    let back = Decoder::with_options(options).decode(&stc).map(<[u8]>::to_vec);
    assert_eq!(back.as_deref(), Ok(json.as_bytes()), "{}", String::from_utf8_lossy(&stc));
    String::from_utf8(stc).expect("the names are ASCII")
}

/// Returns the number of names that are given, and of copies.
fn counts(stc: &str) -> (usize, usize) {
    (stc.matches(":&").count(), stc.matches(":*").count())
}

#[test]
fn a_name_is_a_word_of_the_value() {
    let long = "a-word-of-17-byte";
    for (value, name) in [
        (user("ann", 7), "ann"),
        (user("Ann_B-c", 7), "Ann_B-c"),
        (user("a-word-of-16-byt", 7), "a-word-of-16-byt"),
        // No word: too long, too short, a literal, one that ends like a number, one with another byte. The key is the name then.
        (user(long, 7), "k0"),
        (user("a", 7), "k0"),
        (user("null", 7), "k0"),
        (user("ann-2", 7), "k0"),
        (user("ann.b", 7), "k0"),
        (user("\\u0061nn", 7), "k0"),
        // A key is no word, nor is a number; a string further inside is one.
        (r#"{"key":12345678,"inner":{"at":[1.5,2.5,"deep","other"]},"rest":true}"#.to_owned(), "deep"),
        (format!("[{}]", ["123456"; 9].join(",")), "k0"),
    ] {
        let stc = encoded(&object(&[value.clone(), value]), Limits::default());
        assert!(
            stc.contains(&format!(":&{name}{}", if name == "k0" && stc.contains("k0[") { "[" } else { "" })),
            "{stc}"
        );
        assert!(stc.ends_with(&format!(",k1:*{name}}}")), "{stc}");
    }
}

#[test]
fn values_with_the_same_word_are_numbered() {
    let values: Vec<String> = (0..12).chain(0..12).map(|id| user("ann", id)).collect();
    let stc = encoded(&object(&values), Limits::default());
    assert_eq!(counts(&stc), (12, 12));
    for number in 1..=12 {
        let name = if number == 1 { "ann".to_owned() } else { format!("ann-{number}") };
        assert!(stc.contains(&format!("k{}:&{name}{{", number - 1)), "{name}: {stc}");
        assert!(stc.contains(&format!("k{}:*{name}", number + 11)), "{name}: {stc}");
    }
}

#[test]
fn a_value_that_has_no_word_is_x() {
    let list = format!("[{}]", ["123456"; 9].join(","));
    let stc = encoded(&format!(r#"{{"n":0,"1":{list},"2":{list}}}"#), Limits::default());
    assert_eq!(stc, format!(r#"{{n:0,"1":&x{list},"2":*x}}"#));
}

#[test]
fn short_values_and_elements_are_written_again() {
    let short = r#"{"a":1,"b":2,"c":3}"#.to_owned();
    assert_eq!(counts(&encoded(&object(&[short.clone(), short]), Limits::default())), (0, 0));
    let elements = format!("[{0},{0},7]", user("ann", 7));
    assert_eq!(counts(&encoded(&object(&[elements]), Limits::default())), (0, 0));
    // But an element of a copied array is copied with it.
    let elements = format!("[{},7]", user("ann", 7));
    assert_eq!(counts(&encoded(&object(&[elements.clone(), elements]), Limits::default())), (1, 1));
}

#[test]
fn a_value_is_written_again_if_its_name_stands_in_three_strings_after_it() {
    let by = user("ann", 7);
    let address = r#""https://example.com/ann/1""#;
    let copies = |before: &[&str], after: &[&str]| {
        let values = [before, &[&by], after, &[&by]].concat().into_iter().map(str::to_owned);
        counts(&encoded(&object(&values.collect::<Vec<_>>()), Limits::default()))
    };
    assert_eq!(copies(&[], &[address; 2]), (1, 1));
    assert_eq!(copies(&[], &[address; 3]), (0, 0));
    assert_eq!(copies(&[], &[address, "17", address, "[]", address]), (0, 0));
    // Only strings of the same object count, those after the value, of at most 256 bytes, among 32 members.
    assert_eq!(copies(&[address; 3], &[address; 2]), (1, 1));
    let list = format!("[{address},{address},{address}]");
    assert_eq!(copies(&[], &[&list]), (1, 1));
    for (length, found) in [(256, (0, 0)), (257, (1, 1))] {
        let long = format!(r#""ann{}""#, "x".repeat(length - 5));
        assert_eq!(copies(&[], &[address, address, &long]), found, "{length}");
    }
    for (numbers, found) in [(29, (0, 0)), (30, (1, 1))] {
        let after = [&vec!["17"; numbers][..], &[address; 3]].concat();
        assert_eq!(copies(&[], &after), found, "{numbers}");
    }
    // The second copy is not compared with the strings again, and other values have their names.
    let other = user("bob", 12);
    let values = [&by, &other, address, address, address, &by, &other, &by].map(str::to_owned);
    let stc = encoded(&object(&values), Limits::default());
    assert_eq!(counts(&stc), (1, 1), "{stc}");
    assert!(stc.contains("k6:*bob,k7:{login:ann"), "{stc}");
}

#[test]
fn a_constant_is_no_copy_and_defines_no_name() {
    let rows: Vec<String> = (0..4).map(|id| format!(r#"{{"id":{id},"by":{}}}"#, user("ann", 7))).collect();
    let (rows, by) = (rows.join(","), user("ann", 7));
    for json in [format!(r#"{{"n":1,"rows":[{rows}],"by":{by}}}"#), format!(r#"{{"n":1,"by":{by},"rows":[{rows}]}}"#)] {
        let stc = encoded(&json, Limits::default());
        assert!(stc.contains("by={login:ann"), "{stc}");
        assert_eq!(counts(&stc), (0, 0), "{stc}");
    }
}

#[test]
fn constants_of_lists_below_rows_are_no_copies_either() {
    let by = user("ann", 7);
    let row = |id: usize| {
        let other = if id == 3 { format!(r#","other":{by}"#) } else { String::new() };
        format!(
            r#"{{"id":{id},"spec":{{"n":{id},"by":{by}}},"list":[{{"m":{id},"by":{by}}},{{"m":9,"by":{by}}}]{other}}}"#
        )
    };
    let array: Vec<String> = (0..6).map(row).collect();
    let keyed: Vec<String> = (0..6).map(|id| format!(r#""r{id}":{}"#, row(id))).collect();
    for rows in [format!("[{}]", array.join(",")), format!("{{{}}}", keyed.join(","))] {
        let json = format!(r#"{{"n":1,"rows":{rows},"last":{by},"again":{by}}}"#);
        let stc = encoded(&json, Limits::default());
        assert!(stc.matches("by={login:ann").count() == 2 && stc.contains(r#"other:&ann{login:ann"#), "{stc}");
        assert!(stc.ends_with("last:*ann,again:*ann}"), "{stc}");
        assert_eq!(counts(&encoded(&json, Limits::default().anchors(by.len() - 1))), (0, 0));
    }
}

#[test]
fn the_limits_of_a_decoder_are_kept() {
    let (one, two) = (user("ann", 7), user("bob", 12));
    let json = object(&[one.clone(), two.clone(), one.clone(), two.clone()]);
    for (bytes, names) in
        [(0, 0), (one.len() - 1, 0), (one.len(), 1), (one.len() + two.len() - 1, 1), (one.len() + two.len(), 2)]
    {
        assert_eq!(counts(&encoded(&json, Limits::default().anchors(bytes))), (names, names), "{bytes} bytes");
    }
    // One name fewer than there are values to name.
    for (columns, names) in [(1, 1), (2, 2)] {
        assert_eq!(counts(&encoded(&json, Limits::default().columns(columns))), (names, names), "{columns} names");
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
        laws::round_trip(json.as_bytes(), Options::default()).expect("JSON");
        copies += counts(&encoded(&json, Limits::default())).1;
        longest = longest.max(json.len());
    }
    assert!(copies > rounds(2000) / 4 && longest > 1000, "{copies} copies, up to {longest} bytes");
}
