//! JSON without insignificant whitespace (grammar/STC.md, section 2.2), and whether a text is JSON, by the same engine that encodes.

use crate::encode::Encoder;
use crate::error::Error;
use crate::options::{Format, Options};

/// Removes the insignificant whitespace of one JSON document. Everything else stays as it is, to the last digit and escape.
/// To minify many documents, keep an [`Encoder`] of [`Format::Json`].
///
/// ```
/// assert_eq!(stc::minify(b"{ \"a\" : [1.0, \"\\u0041\"] }")?, br#"{"a":[1.0,"\u0041"]}"#);
/// # Ok::<(), stc::Error>(())
/// ```
pub fn minify(json: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    encoder().encode_into(json, &mut out)?;
    Ok(out)
}

/// Checks that the bytes are one JSON document (RFC 8259) within the default limits.
///
/// ```
/// assert!(stc::validate(br#"{"a": [1, 2]}"#).is_ok());
/// assert_eq!(stc::validate(br#"{"a": [1, 2}"#).unwrap_err().offset(), 11);
/// ```
pub fn validate(json: &[u8]) -> Result<(), Error> {
    encoder().encode(json).map(drop)
}

fn encoder() -> Encoder {
    Encoder::with_options(Options::default().format(Format::Json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_goes_and_nothing_else() {
        let cases: [(&str, &str); 6] = [
            (" [ ] ", "[]"),
            ("\t{\"a b\" : \"c  d\" ,\r\n\"a b\":-0.0e+1}\n", "{\"a b\":\"c  d\",\"a b\":-0.0e+1}"),
            ("\"\\ud800\"", "\"\\ud800\""),
            (" 12345678901234567890 ", "12345678901234567890"),
            ("[1,2]", "[1,2]"),
            ("[{\"a\":1},{\"a\":1}]", "[{\"a\":1},{\"a\":1}]"),
        ];
        for (json, minified) in cases {
            assert_eq!(minify(json.as_bytes()).as_deref(), Ok(minified.as_bytes()), "{json}");
            assert_eq!(validate(json.as_bytes()), Ok(()), "{json}");
        }
    }

    /// Also where a format of STC would be shorter.
    #[test]
    fn a_long_document_stays_json() {
        let rows = |space: &str| vec![format!("{{\"id\":{space}1,\"name\":\"some name\"}}"); 300].join(",");
        let (spaced, minified) = (format!("[{}]", rows(" ")), format!("[{}]", rows("")));
        assert_eq!(minify(spaced.as_bytes()).as_deref(), Ok(minified.as_bytes()));
        assert_eq!(minify(minified.as_bytes()).as_deref(), Ok(minified.as_bytes()));
    }

    #[test]
    fn what_is_refused_is_refused_as_an_encoder_does() {
        for json in ["", "[1 2]", "{\"a\":1,}", "nul", "[1]x", "\"\t\"", "01"] {
            let expected = crate::encode(json.as_bytes()).expect_err("not JSON");
            assert_eq!(minify(json.as_bytes()), Err(expected), "{json}");
            assert_eq!(validate(json.as_bytes()), Err(expected), "{json}");
        }
    }
}
