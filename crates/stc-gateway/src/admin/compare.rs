//! One document in every format, for the page.

use serde_json::{Value, json};
use stc::estimate_tokens;
use stc_layer::{Format, Skip, Verify, encode};

/// The longest document that is compared.
pub(crate) const LONGEST_COMPARED: usize = 1 << 20;

/// Returns minified JSON and each format with their sizes, or the position at which the text is not JSON.
pub(crate) fn compare(json: &[u8]) -> Result<Value, String> {
    let minified = stc::minify(json).map_err(|error| {
        let place = error.position(json);
        format!("not JSON: {} at line {}, column {}", kind(error), place.line, place.column)
    })?;
    let offered = [Format::Stc1, Format::Stc2, Format::Stc2Labelled, Format::Toon];
    let offered = offered.into_iter().filter(|format| format.is_available());
    let formats = offered.map(|format| match encode(json, format, Verify::Always) {
        Ok(text) => sized(format.name(), &text),
        Err(skip) => json!({"format": format.name(), "skipped": reason(format, skip)}),
    });
    Ok(json!({"json": sized("json", &minified), "formats": formats.collect::<Vec<_>>()}))
}

fn sized(format: &str, text: &[u8]) -> Value {
    json!({
        "format": format, "bytes": text.len(), "estimated_tokens": estimate_tokens(text),
        "text": String::from_utf8_lossy(text),
    })
}

/// Returns an error's text without the offset: the page shows line and column.
fn kind(error: stc::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at byte ").map_or(text.clone(), |(kind, _)| kind.to_owned())
}

fn reason(format: Format, skip: Skip) -> &'static str {
    match (format, skip) {
        (Format::Toon, Skip::Invalid) => "TOON cannot represent this exactly",
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
        assert_eq!(names[..3], ["stc1", "stc2", "stc2-labelled"]);
        assert_eq!(names.len(), if cfg!(feature = "toon") { 4 } else { 3 });
        for one in compared["formats"].as_array().unwrap() {
            assert_eq!(one["bytes"], one["text"].as_str().unwrap().len());
        }
    }

    #[cfg(feature = "toon")]
    #[test]
    fn toon_that_would_lose_something() {
        let compared = compare(br#"{"n": 123456789012345678901234567890}"#).unwrap();
        assert_eq!(compared["formats"][3]["skipped"], "TOON cannot represent this exactly");
    }

    #[test]
    fn errors_have_positions() {
        assert_eq!(compare(b"[1,\n 2,]").unwrap_err(), "not JSON: expected a value at line 2, column 4");
    }
}
