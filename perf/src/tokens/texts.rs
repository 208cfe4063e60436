//! A document as text in every format.

use serde_json::Value;
use stc::{Encoder, Format, Options, laws};

/// The formats; STC is last.
pub(crate) const FORMATS: [&str; 7] = ["JSON", "JSON, 2 spaces", "YAML", "TOON", "STC 1", "STC 2", "STC 2 labelled"];
/// The index of the baseline: JSON without insignificant whitespace.
pub(crate) const MINIFIED: usize = 0;
/// The index of the rival that has tables too.
pub(crate) const TOON: usize = 3;
/// The index of the first STC format.
pub(crate) const OWN: usize = 4;

/// Returns the document in each of [`FORMATS`]; `None` where a rival rejects it. Fails if the document is not JSON, or if the
/// round trip through an STC format is not exact.
///
/// YAML and TOON are written from serde_json's value, which often spells numbers shorter than the document does; STC and
/// both JSON layouts keep every digit.
pub(crate) fn texts(json: &[u8]) -> Result<[Option<String>; FORMATS.len()], String> {
    let minified = laws::minify(json);
    let [one, two, labelled] = Format::STC.map(|format| encoded(json, &minified, format));
    let value: Option<Value> = serde_json::from_slice(json).ok();
    Ok([
        Some(text(&minified)?),
        Some(text(&pretty(&minified))?),
        value.as_ref().and_then(|value| serde_yaml_ng::to_string(value).ok()),
        value.as_ref().and_then(toon),
        Some(one?),
        Some(two?),
        Some(labelled?),
    ])
}

fn encoded(json: &[u8], minified: &[u8], format: Format) -> Result<String, String> {
    let options = Options::default().format(format);
    let mut stc = Vec::new();
    Encoder::with_options(options).encode_into(json, &mut stc).map_err(|error| error.to_string())?;
    match stc::decode(&stc) {
        Ok(back) if back == minified => text(&stc),
        _ => Err(format!("the round trip through {format} is not exact")),
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

/// Indents JSON by two spaces a level, lexeme by lexeme, so that no digit is lost.
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
    fn pretty_equals_serde_jsons_layout() {
        for file in stc_corpus::made() {
            // Compared after serde_json has normalised numbers and dropped duplicate keys.
            let Ok(value) = serde_json::from_slice::<Value>(&file.bytes) else { continue };
            let again = serde_json::to_vec(&value).expect("a value");
            let expected = serde_json::to_vec_pretty(&value).expect("a value");
            assert!(pretty(&again) == expected, "{}", file.name);
        }
        assert_eq!(pretty(br#"{"a\"{":[],"b":[{}]}"#), b"{\n  \"a\\\"{\": [],\n  \"b\": [\n    {}\n  ]\n}");
    }
}
