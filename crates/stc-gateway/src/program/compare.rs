//! One document in every format, side by side: for the page.

use crate::policy::Verify;
use crate::transcode::encoded;
use crate::{Format, Skip};
use serde_json::{Value, json};
use stc::estimate_tokens;

/// The most that is compared.
pub(crate) const MOST: usize = 1 << 20;

/// Minified JSON and each format, with their sizes; or where the text stops being JSON.
pub(crate) fn compare(json: &[u8]) -> Result<Value, String> {
    stc::encode(json).map_err(|error| {
        let place = error.position(json);
        format!("not JSON: {} at line {}, column {}", kind(error), place.line, place.column)
    })?;
    let minified = stc::decode(json).map_err(|error| error.to_string())?;
    let names = [Format::Stc1, Format::Stc2, Format::Stc2Refs, Format::Toon];
    let formats = names.map(|format| match encoded(json, format, Verify::Always) {
        Ok(text) => sized(format.name(), &text),
        Err(skip) => json!({"format": format.name(), "skipped": why(format, skip)}),
    });
    Ok(json!({"json": sized("json", &minified), "formats": formats}))
}

fn sized(format: &str, text: &[u8]) -> Value {
    json!({
        "format": format, "bytes": text.len(), "estimated_tokens": estimate_tokens(text),
        "text": String::from_utf8_lossy(text),
    })
}

/// An error without its offset: people are told line and column.
fn kind(error: stc::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at byte ").map_or(text.clone(), |(kind, _)| kind.to_owned())
}

fn why(format: Format, skip: Skip) -> &'static str {
    match (format, skip) {
        (Format::Toon, Skip::Invalid) => "TOON cannot carry this exactly",
        (_, skip) => skip.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_with_its_sizes() {
        let compared = compare(br#"[{"id": 1, "on": true}, {"id": 2, "on": false}]"#).unwrap();
        assert_eq!(compared["json"]["text"], r#"[{"id":1,"on":true},{"id":2,"on":false}]"#);
        assert_eq!(compared["formats"][0]["text"], "[2]{id,on}: 1,true / 2,false");
        let names: Vec<_> = compared["formats"].as_array().unwrap().iter().map(|one| &one["format"]).collect();
        assert_eq!(names, ["stc1", "stc2", "stc2-refs", "toon"]);
        for one in compared["formats"].as_array().unwrap() {
            assert_eq!(one["bytes"], one["text"].as_str().unwrap().len());
        }
        let compared = compare(br#"{"n": 123456789012345678901234567890}"#).unwrap();
        assert_eq!(compared["formats"][3]["skipped"], "TOON cannot carry this exactly");
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(compare(b"[1,\n 2,]").unwrap_err(), "not JSON: expected a value at line 2, column 4");
    }
}
