//! The way back: a prepared request with its texts as minified JSON again.

use crate::layout::{Counted, Layout, Slot};
use crate::{Api, Format};
use stc_wire::edit::Edits;
use stc_wire::span::{self, Span};

/// What is read as a result on the way back: messages of the user too. Whole responses of Gemini are objects, which cannot be STC.
const EVERY: Counted = Counted { user_text: true, gemini_wrap: false };

/// A request whose texts were decoded.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The body.
    pub body: Vec<u8>,
    /// The number of texts that were STC.
    pub texts: usize,
}

/// Decodes every text of a tool result that is STC and not JSON. A legend before a text is removed. `None` if the body is not
/// a request of this API.
#[must_use]
pub fn restore(api: Api, body: &[u8]) -> Option<Restored> {
    stc::validate(body).ok()?;
    let layout = Layout::read(&[api], EVERY, body)?;
    let mut edits = Edits::default();
    for place in layout.results.iter().flat_map(|answer| &layout.texts[answer.texts.clone()]) {
        // Only a string can be STC.
        let Some(text) = span::string(body, &place.value) else { continue };
        let Some(json) = decoded(without_legend(&text)) else { continue };
        let mut quoted = Vec::with_capacity(json.len() + 2);
        span::quote_into(&json, &mut quoted);
        edits.replace(place.value.clone(), quoted);
    }
    let texts = edits.len();
    Some(Restored { body: edits.apply(body)?, texts })
}

/// Returns the ranges of the texts of tool results, with their quotes, as the default settings count them; none if the body is not a request of this API.
#[must_use]
pub fn texts(api: Api, body: &[u8]) -> Vec<Span> {
    let layout = stc::validate(body).ok().and_then(|()| Layout::read(&[api], Counted::default(), body));
    let Some(layout) = layout else { return Vec::new() };
    let texts = layout.results.iter().flat_map(|answer| &layout.texts[answer.texts.clone()]);
    texts.map(|text| text.value.clone()).collect()
}

/// Returns whether a body is a request of this API: an object with the list that has the conversation, or in Responses a text.
#[must_use]
pub fn is_request(api: Api, body: &[u8]) -> bool {
    let layout = stc::validate(body).ok().and_then(|()| Layout::read(&[api], Counted::default(), body));
    layout.is_some_and(|layout| match layout.conversation {
        Slot::Missing => false,
        Slot::Once(span) => body[span.start] == b'[' || (api == Api::OpenAiResponses && body[span.start] == b'"'),
        Slot::Repeated => true,
    })
}

/// Returns a text after its legend.
pub(crate) fn without_legend(text: &str) -> &str {
    let stripped = |format: Format| match format.legend() {
        "" => None,
        legend => text.strip_prefix(legend),
    };
    Format::ALL.into_iter().find_map(stripped).unwrap_or(text)
}

/// Bytes of JSON for each byte of STC, and those that any text may have, up to which [`is_stc`] decodes.
const MOST_RATIO: u64 = 100;
const MOST_DECODED: u64 = 64 << 10;

/// Returns whether a text is STC and not JSON. One whose references stand for very much is STC, too: it is not decoded to its end.
pub(crate) fn is_stc(text: &str) -> bool {
    let text = without_legend(text);
    if !text.starts_with(['[', '{']) || stc::validate(text.as_bytes()).is_ok() {
        return false;
    }
    let limits = stc::Limits::default().ratio(MOST_RATIO).ratio_after(MOST_DECODED);
    match stc::Decoder::with_options(stc::Options::default().limits(limits)).decode(text.as_bytes()) {
        Ok(json) => std::str::from_utf8(json).is_ok(),
        Err(error) => matches!(error.kind(), stc::ErrorKind::Ratio | stc::ErrorKind::Output),
    }
}

/// Returns the JSON of an STC text; `None` if the text is JSON already, a string or number, or not STC.
fn decoded(text: &str) -> Option<String> {
    if stc::validate(text.as_bytes()).is_ok() {
        return None;
    }
    let json = stc::decode(text.as_bytes()).ok()?;
    String::from_utf8(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_other_documents() {
        for (api, member) in Api::ALL.map(|api| (api, api.conversation())) {
            assert!(is_request(api, format!("{{\"model\":\"m\",\"{member}\":[]}}").as_bytes()), "{member}");
            assert!(is_request(api, format!("{{\"{member}\":[],\"{member}\":[]}}").as_bytes()), "{member}: one of two");
            for other in ["{}", "[]", "7", "", "{\"model\":\"m\"}", "[{\"messages\":[]}]", "{\"messages\":[]"] {
                assert!(!is_request(api, other.as_bytes()), "{other}");
            }
            for value in ["{}", "7", "null", "true"] {
                assert!(!is_request(api, format!("{{\"{member}\":{value}}}").as_bytes()), "{member}: {value}");
            }
            let text = format!("{{\"{member}\":\"a question\"}}");
            assert_eq!(is_request(api, text.as_bytes()), api == Api::OpenAiResponses, "{member}");
        }
        assert!(is_request(Api::Gemini, br#"{"generateContentRequest":{"contents":[]}}"#));
    }

    #[test]
    fn references_that_stand_for_very_much_are_stc() {
        assert!(is_stc("[3]{a,b}: 1,2 / 3,4 / 5,6"));
        for other in ["[1,2,3]", "[info] started", "plain", ""] {
            assert!(!is_stc(other), "{other}");
        }
        let json = format!("[{}]", vec![format!("{{\"a\":\"{}\"}}", "x".repeat(60_000)); 200].join(","));
        let options = stc::Options::default().format(stc::Format::Stc2);
        let stc = stc::Encoder::with_options(options).encode(json.as_bytes()).unwrap().to_vec();
        assert!(json.len() > 100 * stc.len() && json.len() as u64 > MOST_DECODED);
        assert!(is_stc(std::str::from_utf8(&stc).unwrap()));
    }
}
