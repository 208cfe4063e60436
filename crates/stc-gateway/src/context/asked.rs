//! What a request on a route with a context is: a request to a model, another body with strings, or something that is not read.

use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderValue};
use stc_context::{Api, Endpoint};

/// What a request is, where secrets are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A request to a model.
    Model(Endpoint),
    /// JSON that no API explains: only its secrets are replaced.
    Json(Api),
    /// A body or a tunnel that cannot be looked through.
    Unread(Api),
    /// Nothing that could have a secret.
    Nothing,
}

impl Asked {
    /// Reads the head of a request with a body or without one. `model` is what its path says, if its requests are read.
    pub(super) fn of(
        headers: &HeaderMap,
        path: &str,
        has_body: bool,
        is_tunnel: bool,
        model: Option<Endpoint>,
    ) -> Self {
        let api = model.map_or_else(|| Api::guessed(path), |endpoint| endpoint.api);
        match model {
            _ if is_tunnel => Self::Unread(api),
            _ if !has_body => Self::Nothing,
            _ if !is_json(headers) || !is_unicode(headers) => Self::Unread(api),
            Some(endpoint) => Self::Model(endpoint),
            None => Self::Json(api),
        }
    }
}

/// Returns whether a body is JSON by what its head says, or may be because that says nothing.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let is_json = |kind: &HeaderValue| {
        let kind = String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        let is_suffixed = essence.starts_with("application/") && essence.ends_with("+json");
        essence.is_empty() || essence.starts_with("application/json") || essence == "text/json" || is_suffixed
    };
    headers.get_all(CONTENT_TYPE).iter().all(is_json)
}

/// Returns whether no charset but UTF-8 is said.
fn is_unicode(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_TYPE).iter().all(|kind| {
        let kind = String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase();
        let charset = kind.split("charset").nth(1).map(|rest| rest.trim_matches(|sign| " =\"'".contains(sign)));
        charset.is_none_or(|charset| charset.starts_with("utf-8") || charset.starts_with("utf8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read() {
        let model = Some(Endpoint::from(Api::Anthropic));
        let asked = |kinds: &[&'static str], model| {
            let kinds = kinds.iter().map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind)));
            Asked::of(&kinds.collect(), "/v1/responses/x", true, false, model)
        };
        for kinds in [
            &[][..],
            &[""],
            &["application/json"],
            &["APPLICATION/JSON; charset=UTF-8"],
            &["text/json"],
            &["application/vnd.api+json;x=y"],
            &["application/json", "text/json"],
        ] {
            assert_eq!(asked(kinds, model), Asked::Model(Api::Anthropic.into()), "{kinds:?}");
            assert_eq!(asked(kinds, None), Asked::Json(Api::OpenAiResponses), "{kinds:?}");
        }
        for kinds in [
            &["text/plain"][..],
            &["application/octet-stream"],
            &["multipart/form-data; boundary=b"],
            &["text/plain", "application/json"],
            &["application/json; charset=utf-16"],
            &["application/json; charset=\"iso-8859-1\""],
            &["application/x-ndjson"],
        ] {
            assert_eq!(asked(kinds, model), Asked::Unread(Api::Anthropic), "{kinds:?}");
            assert_eq!(asked(kinds, None), Asked::Unread(Api::OpenAiResponses), "{kinds:?}");
        }
        let none = HeaderMap::new();
        assert_eq!(Asked::of(&none, "/", false, false, model), Asked::Nothing);
        assert_eq!(Asked::of(&none, "/", false, true, None), Asked::Unread(Api::OpenAiChat));
    }
}
