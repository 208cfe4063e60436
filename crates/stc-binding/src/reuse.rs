//! Encoders and decoders that the one-shot calls of a thread reuse.

use std::cell::RefCell;

use stc::{Decoder, Encoder, Format, Options};

/// Documents longer than this get a codec of their own, so that a thread keeps no large buffers.
const LONGEST_DOCUMENT: usize = 256 << 10;

#[derive(Default)]
struct Kept {
    encoder: Option<(Format, Encoder)>,
    decoder: Option<Decoder>,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

/// Encodes a document with the thread's encoder, if it has one for this format, and returns what `use_text` makes of the text.
pub fn encode<T>(json: &[u8], format: Format, use_text: impl FnOnce(&[u8]) -> T) -> Result<T, stc::Error> {
    let kept = KEPT.with_borrow_mut(|kept| kept.encoder.take()).filter(|(kept, _)| *kept == format);
    let (_, mut encoder) = kept.unwrap_or_else(|| (format, Encoder::with_options(Options::default().format(format))));
    let result = encoder.encode(json).map(use_text);
    if json.len() <= LONGEST_DOCUMENT {
        KEPT.with_borrow_mut(|kept| kept.encoder = Some((format, encoder)));
    }
    result
}

/// Decodes a document with the thread's decoder and returns what `use_json` makes of the JSON. A short text that decodes to a long
/// one gives up the decoder too.
pub fn decode<T>(text: &[u8], use_json: impl FnOnce(&[u8]) -> T) -> Result<T, stc::Error> {
    let mut decoder = KEPT.with_borrow_mut(|kept| kept.decoder.take()).unwrap_or_default();
    let (result, is_short) = match decoder.decode(text) {
        Ok(json) => (Ok(use_json(json)), json.len() <= LONGEST_DOCUMENT),
        Err(error) => (Err(error), false),
    };
    if is_short {
        KEPT.with_borrow_mut(|kept| kept.decoder = Some(decoder));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_codec_writes_what_a_fresh_one_does() {
        let long = format!("[{}1]", "1,".repeat(LONGEST_DOCUMENT));
        for json in ["[1,2]", "[1", r#"[{"a":1},{"a":1},{"a":1}]"#, &long, "{}"] {
            for format in Format::ALL {
                let fresh = Encoder::with_options(Options::default().format(format))
                    .encode(json.as_bytes())
                    .map(<[u8]>::to_vec);
                let text = encode(json.as_bytes(), format, <[u8]>::to_vec);
                assert_eq!(text, fresh);
                if let Ok(text) = text {
                    assert_eq!(decode(&text, <[u8]>::to_vec), stc::decode(&text));
                }
            }
        }
    }
}
