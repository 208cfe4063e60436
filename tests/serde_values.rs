//! Rust values both ways: what serde structs keep, and the causes of errors.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use stc::{ErrorKind, Expected, Format, SerdeError};

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Page {
    total: u64,
    items: Vec<Item>,
    by_name: BTreeMap<String, Item>,
    next: Option<String>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Item {
    id: i128,
    #[serde(rename = "full name")]
    name: String,
    state: State,
    at: (f64, f64),
    tags: Vec<String>,
    nested: Option<Box<Item>>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    Closed { by: String },
    Merged(u8, char),
}

fn item(id: i128, nested: Option<Item>) -> Item {
    let state = match id.rem_euclid(3) {
        0 => State::Open,
        1 => State::Closed { by: format!("ann \"{id}\"\n") },
        _ => State::Merged(255, '\u{1F600}'),
    };
    let tags = (0..id.rem_euclid(4)).map(|tag| format!("tag / {tag}")).collect();
    let at = (-0.0, 1.0 / 3.0 + id as f64);
    Item { id, name: format!("ünï {id}"), state, at, tags, nested: nested.map(Box::new) }
}

fn page() -> Page {
    let ids = [0, 1, 2, 3, i128::MAX, i128::MIN];
    let items: Vec<_> = ids.iter().map(|&id| item(id, (id == 3).then(|| item(4, None)))).collect();
    let by_name = items.iter().map(|item| (item.name.clone(), item.clone())).collect();
    Page { total: u64::MAX, items, by_name, next: None }
}

#[test]
fn structs_make_the_round_trip_in_every_format_and_by_every_call() {
    let page = page();
    for format in Format::ALL {
        let text = stc::to_string(&page, format).expect("it serializes");
        assert_eq!(stc::from_str::<Page>(&text).expect("it reads"), page, "{format}");

        let bytes = stc::to_vec(&page, format).expect("it serializes");
        assert_eq!(bytes, text.as_bytes(), "{format}");
        assert_eq!(stc::from_slice::<Page>(&bytes).expect("it reads"), page, "{format}");

        let mut written = Vec::new();
        stc::to_writer(&mut written, &page, format).expect("it serializes");
        assert_eq!(written, bytes, "{format}");
        assert_eq!(stc::from_reader::<Page>(&written[..]).expect("it reads"), page, "{format}");

        let json = serde_json::to_vec(&page).expect("it serializes");
        assert_eq!(stc::decode(&bytes).expect("it reads"), json, "{format}");
    }
}

#[test]
fn the_format_is_the_one_that_is_named() {
    let page = page();
    let json = serde_json::to_vec(&page).expect("it serializes");
    for format in Format::ALL {
        let mut encoder = stc::Encoder::with_options(stc::Options::default().format(format));
        assert_eq!(
            stc::to_vec(&page, format).expect("it serializes"),
            encoder.encode(&json).expect("JSON"),
            "{format}"
        );
    }
    assert_eq!(stc::to_vec(&page, Format::Json).expect("it serializes"), json);
}

#[test]
fn values_longer_than_a_chunk_are_written_and_read() {
    let texts: Vec<String> = (0..400).map(|number| number.to_string().repeat(300)).collect();
    for format in Format::ALL {
        let mut stc = Vec::new();
        stc::to_writer(&mut stc, &texts, format).expect("it serializes");
        assert!(stc.len() > 256 << 10);
        assert_eq!(stc::from_reader::<Vec<String>>(&stc[..]).expect("it reads"), texts);
    }
}

#[test]
fn a_value_of_no_sized_type_is_serialized() {
    assert_eq!(stc::to_string("text", Format::Stc1).expect("it serializes"), r#""text""#);
    assert_eq!(stc::to_vec(&[1, 2][..], Format::Stc1).expect("it serializes"), b"[1,2]");
    stc::to_writer(io::sink(), "text", Format::Stc1).expect("it serializes");
}

#[test]
fn structs_reject_a_duplicate_key_and_a_value_keeps_the_last() {
    for stc in [r#"{total: 1, total: 2}"#, r#"{"total":1,"total":2}"#] {
        #[derive(Deserialize, Debug)]
        struct Total {
            #[serde(rename = "total")]
            _total: u64,
        }
        let error = stc::from_str::<Total>(stc).expect_err("twice");
        assert!(matches!(&error, SerdeError::Json(error) if error.is_data()), "{error}");
        assert!(error.to_string().contains("duplicate field `total`"), "{error}");

        let value: Value = stc::from_str(stc).expect("a value");
        assert_eq!(value, serde_json::json!({"total": 2}));
        // The decoder itself keeps both.
        assert_eq!(stc::decode_str(stc).as_deref(), Ok(r#"{"total":1,"total":2}"#));
    }
}

#[test]
fn a_struct_keeps_big_numbers_and_a_value_rounds_them() {
    let big = u128::MAX.to_string();
    for format in Format::ALL {
        let stc = stc::to_string(&[u128::MAX], format).expect("it serializes");
        assert_eq!(stc::decode_str(&stc).expect("it reads"), format!("[{big}]"));
        assert_eq!(stc::from_str::<[u128; 1]>(&stc).expect("it reads"), [u128::MAX]);
    }
    let value: Value = stc::from_str(&big).expect("a number");
    assert_eq!(value.as_f64(), Some(u128::MAX as f64));
    let respelled = stc::to_string(&value, Format::Json).expect("it serializes");
    assert_ne!(respelled, big);
    assert_eq!(respelled.parse(), Ok(u128::MAX as f64));

    let value: Value = serde_json::from_str("[1.0e1, -0.0, 100]").expect("JSON");
    assert_eq!(stc::to_string(&value, Format::Stc1).expect("it serializes"), "[10.0,-0.0,100]");

    let error = stc::from_str::<u64>(&big).expect_err("too big for 64 bits");
    assert!(matches!(error, SerdeError::Json(_)), "{error}");
}

/// Fails after some elements have been serialized.
struct Fails;

impl Serialize for Fails {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no such value"))
    }
}

#[test]
fn an_error_of_the_value_is_serde_jsons() {
    let check = |error: SerdeError| {
        assert!(matches!(error, SerdeError::Json(_)), "{error:?}");
        assert_eq!((error.to_string().as_str(), error.kind()), ("no such value", None));
        let source = error.source().expect("a source");
        assert!(source.downcast_ref::<serde_json::Error>().is_some_and(serde_json::Error::is_data));
        let error = io::Error::from(error);
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.get_ref().is_some_and(|inner| inner.is::<serde_json::Error>()));
    };
    // Long enough to have been passed on to the encoder before the value fails.
    let value = ("long ".repeat(40_000), Fails);
    for format in Format::ALL {
        check(stc::to_string(&value, format).expect_err("it fails"));
        check(stc::to_writer(io::sink(), &value, format).expect_err("it fails"));
        check(stc::to_writer(io::sink(), &Fails, format).expect_err("it fails"));
    }
}

#[test]
fn an_error_of_the_text_is_stcs() {
    let check = |error: SerdeError, kind, offset| {
        assert!(matches!(error, SerdeError::Stc(error) if error.offset() == offset), "{error:?}");
        assert_eq!(error.kind(), Some(kind));
        let source = error.source().expect("a source");
        assert!(source.downcast_ref::<stc::Error>().is_some_and(|error| error.kind() == kind));
        assert_eq!(error.to_string(), source.to_string());
        let error = io::Error::from(error);
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.get_ref().is_some_and(|inner| inner.is::<stc::Error>()));
    };
    let cases = [
        ("", ErrorKind::Truncated(Expected::Value), 0),
        ("{a: [1,]}", ErrorKind::Syntax(Expected::Value), 7),
        ("{a: [1]", ErrorKind::Truncated(Expected::CommaOrBrace), 7),
        ("[1] x", ErrorKind::Syntax(Expected::End), 4),
    ];
    for (stc, kind, offset) in cases {
        check(stc::from_str::<Value>(stc).expect_err(stc), kind, offset);
        check(stc::from_slice::<Value>(stc.as_bytes()).expect_err(stc), kind, offset);
        check(stc::from_reader::<Value>(stc.as_bytes()).expect_err(stc), kind, offset);
    }
    check(stc::from_slice::<String>(b"\"\xff\"").expect_err("not UTF-8"), ErrorKind::Utf8, 1);

    // A value may exceed a limit too; its offset counts in the JSON.
    let deep = (0..600).fold(Value::Null, |value, _| Value::Array(vec![value]));
    for format in Format::ALL {
        check(stc::to_string(&deep, format).expect_err("too deep"), ErrorKind::Depth, 512);
        check(stc::to_writer(io::sink(), &deep, format).expect_err("too deep"), ErrorKind::Depth, 512);
    }
}

#[test]
fn an_error_of_the_type_is_serde_jsons() {
    let stc = "[2]{id,ok}: 1,true / 2,false";
    for error in [
        stc::from_str::<Vec<u64>>(stc).expect_err("objects"),
        stc::from_slice::<Vec<u64>>(stc.as_bytes()).expect_err("objects"),
        stc::from_reader::<Vec<u64>>(stc.as_bytes()).expect_err("objects"),
    ] {
        assert!(matches!(&error, SerdeError::Json(error) if error.is_data()), "{error:?}");
        assert_eq!(error.kind(), None);
    }
}

/// Neither reads nor writes.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_of_a_reader_or_writer_stays_what_it_is() {
    let check = |error: SerdeError, kind| {
        assert!(matches!(&error, SerdeError::Io(error) if error.kind() == kind), "{error:?}");
        assert!(error.source().is_some_and(|source| source.is::<io::Error>()));
        assert_eq!(error.kind(), None);
        assert_eq!(io::Error::from(error).kind(), kind);
    };
    check(stc::from_reader::<Value>((&b"[1,"[..]).chain(Broken)).expect_err("reset"), io::ErrorKind::ConnectionReset);
    for format in Format::ALL {
        check(stc::to_writer(Broken, &[1, 2], format).expect_err("full"), io::ErrorKind::StorageFull);
        let long = vec!["text"; 100_000];
        check(stc::to_writer(Broken, &long, format).expect_err("full"), io::ErrorKind::StorageFull);
    }
}
