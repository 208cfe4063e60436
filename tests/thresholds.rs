//! The recorded choices of an encoder of version 2 near its thresholds: families of documents in which one count and one length
//! grow step by step, so that every form comes to the point where it just pays, and where it just does not.
//!
//! `STC_RECORD=1 cargo test thresholds::` records them again after an intended change.
// Miri would take an hour.
#![cfg(all(debug_assertions, not(miri)))]

use stc::Encoder;

use crate::chosen::{assert_recorded, checksum};
use crate::levels::Level;
use crate::texts::array;

const PREFACE: &str = "\
# What an encoder of version 2 writes for families of documents. `STC_RECORD=1 cargo test thresholds::` records it.
#
# FAMILY COUNT: LENGTH CHECKSUM of the texts for all lengths together.
";

/// Makes a document of a count and a length.
pub(crate) type Family = fn(usize, usize) -> String;

/// Returns a text of this many bytes: words of six letters, each different.
fn words(length: usize) -> String {
    let mut text: String = (0..length / 7 + 1).map(|number| format!("w{:05} ", number * 7919 % 100_000)).collect();
    text.truncate(length);
    text
}

/// Returns a key of this many letters.
fn key(length: usize) -> String {
    "abcdefghijklmnopqrstuvwxyz".chars().cycle().take(length + 1).collect()
}

pub(crate) const FAMILIES: [(&str, Family); 19] = [
    ("rows", |count, length| array(count, |n| format!(r#"{{"{}":{n},"b":"x{n}"}}"#, key(length)))),
    ("one key", |count, length| array(count, |n| format!(r#"{{"{}":{n}}}"#, key(length)))),
    ("constant", |count, length| array(count, |n| format!(r#"{{"id":{n},"k":"{}"}}"#, words(length)))),
    ("default", |count, length| {
        array(count, |n| format!(r#"{{"id":{n},"k":"{}"}}"#, if n % 3 == 2 { format!("o{n}") } else { words(length) }))
    }),
    ("optional", |count, length| {
        let optional = |n: usize| if n % 3 == 1 { String::new() } else { format!(r#","{}":{n}"#, key(length)) };
        array(count, |n| format!(r#"{{"id":{n}{},"z":0{n}.5}}"#, optional(n)).replace(":0", ":1"))
    }),
    ("empty rows", |count, length| {
        array(count, |n| if n % 4 == 3 { "{}".to_owned() } else { format!(r#"{{"{}":{n},"b":"x{n}"}}"#, key(length)) })
    }),
    ("rarely there", |count, length| {
        let rare = |n: usize| if n == 1 { format!(r#","{}":true"#, key(length)) } else { String::new() };
        array(count, |n| format!(r#"{{"id":{n},"name":"n{n}"{}}}"#, rare(n)))
    }),
    ("nested", |count, length| array(count, |n| format!(r#"{{"id":{n},"of":{{"{}":{n},"y":"y{n}"}}}}"#, key(length)))),
    ("lists of objects", |count, length| {
        let inner = |n: usize| array(1 + n % 3, |m| format!(r#"{{"{}":{m},"q":"r{n}"}}"#, key(length)));
        array(count, |n| format!(r#"{{"id":{n},"of":{}}}"#, inner(n)))
    }),
    ("sometimes an object", |count, length| {
        let of =
            |n: usize| if n.is_multiple_of(2) { format!(r#"{{"{}":{n}}}"#, key(length)) } else { "null".to_owned() };
        array(count, |n| format!(r#"{{"id":{n},"of":{}}}"#, of(n)))
    }),
    ("keyed", |count, length| {
        let member = |n: usize| format!(r#""k{n}":{{"{}":{n},"b":"x{n}"}}"#, key(length));
        format!("{{{}}}", (0..count).map(member).collect::<Vec<_>>().join(","))
    }),
    ("shapes", |count, length| {
        let object = |n: usize| format!(r#"{{"{0}":{n},"second_{0}":"x{n}"}}"#, key(length));
        format!(r#"{{"k":{},"l":[1,{}]}}"#, object(0), array(count, |n| format!("[{}]", object(n))))
    }),
    ("a text again", |count, length| array(count, |n| format!(r#"["{}",{n}]"#, words(length)))),
    ("a text again in rows", |count, length| {
        array(2 * count, |n| {
            format!(r#"{{"id":{n},"t":"{}"}}"#, if n.is_multiple_of(2) { words(length) } else { format!("x{n}") })
        })
    }),
    ("a beginning again", |count, length| array(count, |n| format!(r#""https://{}.org/{}""#, key(length), n * 7919))),
    ("template", |count, length| array(count, |n| format!(r#"{{"id":{n},"u":"{}/{n}"}}"#, words(length)))),
    ("template of two", |count, length| {
        array(count, |n| format!(r#"{{"a":"p{n}","b":{0},"u":"{1}p{n}-{0}"}}"#, n * 31, words(length)))
    }),
    ("a container again", |count, length| array(count, |n| format!(r#"[{n},{{"a":"{}","b":[1,2]}}]"#, words(length)))),
    ("a spliced object again", |count, length| {
        let of = |n: usize| if n.is_multiple_of(2) { 0 } else { n };
        array(2 + count, |n| format!(r#"{{"id":{n},"of":{{"x":{0},"y":"{1}{0}"}}}}"#, of(n), words(length)))
    }),
];

/// Asserts that the choices at a level are those of the file of its name in tests/thresholds.
fn assert_choices(level: Level) {
    let mut encoder = Encoder::with_options(level.options());
    let mut found = format!("{PREFACE}\n");
    for (name, family) in FAMILIES {
        for count in 1..9 {
            let mut all = Vec::new();
            for json in (0..44).map(|length| family(count, length)) {
                let stc = encoder.encode(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"));
                assert_eq!(stc::decode(stc).as_deref(), Ok(json.as_bytes()), "{name}");
                all.extend_from_slice(stc);
            }
            found += &format!("{name} {count}: {} {:08x}\n", all.len(), checksum(&all));
        }
    }
    assert_recorded(&format!("thresholds/{}", level.name()), &found);
}

#[test]
fn open_lists() {
    assert_choices(Level::Labelled);
}

#[test]
fn tables_without_references() {
    assert_choices(Level::NoReferences);
}

#[test]
fn the_whole_format() {
    assert_choices(Level::Whole);
}
