//! One document in every format.

use serde_json::Value;
use stc::{Encoder, Options, Version, laws};

/// The formats, ours last.
pub(crate) const FORMATS: [&str; 7] = ["JSON", "JSON, 2 spaces", "YAML", "TOON", "STC 1", "STC 2", "STC 2 refs"];
/// What all are compared with: JSON without insignificant whitespace.
pub(crate) const MINIFIED: usize = 0;
/// The rival that has tables too.
pub(crate) const TOON: usize = 3;
/// Where our own begin.
pub(crate) const OWN: usize = 4;

/// The document in each of [`FORMATS`]; none where a rival does not take it. An error if it is not JSON, or if it does
/// not come back from one of ours.
///
/// YAML and TOON are made from serde_json's value, so their numbers are spelled serde_json's way, often shorter than they
/// were; ours and both JSONs keep every digit.
pub(crate) fn texts(json: &[u8]) -> Result<[Option<String>; FORMATS.len()], String> {
    let minified = laws::minify(json);
    let [one, two, references] = [(Version::V1, false), (Version::V2, false), (Version::V2, true)]
        .map(|(version, references)| encoded(json, &minified, version, references));
    let value: Option<Value> = serde_json::from_slice(json).ok();
    Ok([
        Some(text(&minified)?),
        Some(text(&pretty(&minified))?),
        value.as_ref().and_then(|value| serde_yaml_ng::to_string(value).ok()),
        value.as_ref().and_then(toon),
        Some(one?),
        Some(two?),
        Some(references?),
    ])
}

fn encoded(json: &[u8], minified: &[u8], version: Version, references: bool) -> Result<String, String> {
    let options = Options::default().version(version).references(references);
    let mut stc = Vec::new();
    Encoder::with_options(options).encode_into(json, &mut stc).map_err(|error| error.to_string())?;
    match stc::decode(&stc) {
        Ok(back) if back == minified => text(&stc),
        _ => Err(format!("the round trip through {version:?}, references {references}, is not exact")),
    }
}

fn text(bytes: &[u8]) -> Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
}

#[cfg(feature = "toon")]
fn toon(value: &Value) -> Option<String> {
    toon_format::encode_default(value).ok()
}

#[cfg(not(feature = "toon"))]
fn toon(_: &Value) -> Option<String> {
    None
}

/// The usual layout with two spaces a level, lexeme by lexeme, so that no digit is lost.
fn pretty(minified: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * minified.len());
    let mut level = 0;
    let line = |level: usize, out: &mut Vec<u8>| {
        out.push(b'\n');
        out.resize(out.len() + 2 * level, b' ');
    };
    let (mut in_string, mut escaped) = (false, false);
    for (at, &byte) in minified.iter().enumerate() {
        if in_string {
            out.push(byte);
            in_string = byte != b'"' || escaped;
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                if minified[at + 1] != byte + 2 {
                    level += 1;
                    line(level, &mut out);
                }
            }
            b'}' | b']' => {
                if minified[at - 1] != byte - 2 {
                    level -= 1;
                    line(level, &mut out);
                }
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(level, &mut out);
            }
            b':' => out.extend(b": "),
            _ => {
                in_string = byte == b'"';
                out.push(byte);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_is_as_serde_json_has_it() {
        for file in stc_corpus::made() {
            // Numbers that serde_json spells otherwise, and keys that it drops, are not what this is about.
            let Ok(value) = serde_json::from_slice::<Value>(&file.bytes) else { continue };
            let again = serde_json::to_vec(&value).expect("a value");
            let expected = serde_json::to_vec_pretty(&value).expect("a value");
            assert!(pretty(&again) == expected, "{}", file.name);
        }
        assert_eq!(pretty(br#"{"a\"{":[],"b":[{}]}"#), b"{\n  \"a\\\"{\": [],\n  \"b\": [\n    {}\n  ]\n}");
    }
}
