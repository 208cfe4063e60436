//! The vectors of grammar/vectors, which the reference decoders run too.

use serde_json::Value;
use stc::laws::minify;
use stc::{Format, Options};

use crate::laws::{encoded, stc1};

/// Returns the cases of one vector file.
pub(crate) fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/grammar/vectors/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let Value::Array(cases) = file["cases"].take() else { panic!("{path}: no cases") };
    cases
}

/// Returns a field of a case; text that is not UTF-8 is given in hexadecimal.
pub(crate) fn bytes(case: &Value, field: &str) -> Vec<u8> {
    if let Some(text) = case[field].as_str() {
        return text.as_bytes().to_vec();
    }
    let hex = case[format!("{field}_hex")].as_str().unwrap_or_else(|| panic!("no {field} in {case}"));
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal")).collect()
}

#[test]
fn encode() {
    let cases = cases("encode");
    for case in &cases {
        let (json, stc) = (bytes(case, "json"), bytes(case, "stc"));
        let encoded = encoded(&json, stc1()).unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        assert_eq!(encoded.escape_ascii().to_string(), stc.escape_ascii().to_string(), "{}", case["name"]);
        assert_eq!(stc::decode(&stc).as_deref(), Ok(&minify(&json)[..]), "{}", case["name"]);
    }
    assert!(cases.len() >= 100, "{} cases", cases.len());
    println!("rust: {} encode vectors passed", cases.len());
}

/// The pairs of version 2 are informative (grammar/STC.md, 21.3): another encoder may write other texts.
#[test]
fn encode_v2() {
    let cases = cases("v2-encode");
    for case in &cases {
        let (json, stc) = (bytes(case, "json"), bytes(case, "stc"));
        let level = case["level"].as_str().unwrap_or_else(|| panic!("{}: no level", case["name"]));
        let format = level.parse::<Format>().unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        let encoded = encoded(&json, Options::default().format(format))
            .unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        assert_eq!(encoded.escape_ascii().to_string(), stc.escape_ascii().to_string(), "{}", case["name"]);
        assert_eq!(stc::decode(&stc).as_deref(), Ok(&minify(&json)[..]), "{}", case["name"]);
    }
    for format in [Format::Stc2, Format::Stc2Labelled] {
        let pairs = cases.iter().filter(|case| case["level"] == format.to_string()).count();
        assert!(pairs >= 7, "{format}: {pairs} pairs");
    }
    println!("rust: {} encode vectors of version 2 passed", cases.len());
}

#[test]
fn decode() {
    let cases = [cases("decode"), cases("v2-decode")].concat();
    let wrong = cases.iter().filter_map(|case| match stc::decode(&bytes(case, "stc")) {
        Err(error) => Some(format!("{}: {error}", case["name"])),
        Ok(json) if json != bytes(case, "json") => Some(format!("{}: {}", case["name"], json.escape_ascii())),
        Ok(_) => None,
    });
    assert_none(wrong);
    assert!(cases.len() >= 130, "{} cases", cases.len());
    println!("rust: {} decode vectors passed", cases.len());
}

#[test]
fn reject() {
    let cases = [cases("reject"), cases("v2-reject")].concat();
    let wrong = cases.iter().filter_map(|case| match stc::decode(&bytes(case, "stc")) {
        Ok(json) => Some(format!("{}: accepted as {}", case["name"], json.escape_ascii())),
        Err(error) if Some(error.offset()) != case["offset"].as_u64() => {
            Some(format!("{}: {error}, not {}", case["name"], case["offset"]))
        }
        Err(_) => None,
    });
    assert_none(wrong);
    assert!(cases.len() >= 300, "{} cases", cases.len());
    println!("rust: {} reject vectors passed", cases.len());
}

/// Rejects each case inside a long document, so that the fast paths see it: the offsets have to be the same.
#[test]
fn fast_paths_reject_each_vector_at_the_same_offset() {
    let filler = br#"{a: "text", b: [1,2,3], c: {d: null}},"#.repeat(300);
    let mut tried = 0;
    let cases = [cases("reject"), cases("v2-reject")].concat();
    let wrong = cases.iter().filter_map(|case| {
        let (stc, offset) = (bytes(case, "stc"), case["offset"].as_u64().expect("an offset"));
        // Without the cases that are invalid only at the beginning or at the end of a text.
        let alone = ["array-closed-twice", "columnar-closing-bracket", "columnar-too-many-cells-in-last-row"];
        let alone = alone.contains(&case["name"].as_str()?) || case["name"] == "v2-table-row-too-many";
        if alone || offset >= stc.len() as u64 || stc.starts_with(b"$") || stc.starts_with(b"\xEF") {
            return None;
        }
        tried += 1;
        let before = filler.len() as u64 + 1;
        let text = [b"[", &filler[..], &stc, b",", &filler, b"0]"].concat();
        match stc::decode(&text) {
            Ok(_) => Some(format!("{}: accepted", case["name"])),
            Err(error) if error.offset() != before + offset => {
                Some(format!("{}: {error}, not {}", case["name"], before + offset))
            }
            Err(_) => None,
        }
    });
    assert_none(wrong);
    assert!(tried > 250, "{tried} cases");
}

/// Asserts that nothing is wrong, and reports all faults at once.
fn assert_none(wrong: impl Iterator<Item = String>) {
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn reject_json() {
    let cases = cases("reject-json");
    for case in &cases {
        let error = stc::encode(&bytes(case, "json")).expect_err(&case["name"].to_string());
        assert_eq!(Some(error.offset()), case["offset"].as_u64(), "{}: {error}", case["name"]);
    }
    assert!(cases.len() >= 40, "{} cases", cases.len());
    println!("rust: {} reject-json vectors passed", cases.len());
}

#[test]
fn every_error_has_its_own_message() {
    let mut said = std::collections::HashMap::new();
    for (file, field) in [("reject", "stc"), ("reject-json", "json")] {
        for case in cases(file) {
            let text = bytes(&case, field);
            let answer = if field == "stc" { stc::decode(&text) } else { stc::encode(&text) };
            let error = answer.expect_err(&case["name"].to_string());
            let message = error.to_string();
            assert!(message.ends_with(&format!(" at byte {}", error.offset())), "{message}");
            said.insert(error.kind(), error.kind().to_string());
        }
    }
    let messages: std::collections::HashSet<&String> = said.values().collect();
    assert_eq!(messages.len(), said.len(), "two kinds of error say the same: {said:?}");
    assert!(said.len() > 25, "{} kinds", said.len());
}
