//! The options in the headers of a request.

use http::{HeaderMap, HeaderName, HeaderValue};
use stc_context::HeaderOptions;

const MODE: HeaderName = HeaderName::from_static("x-stc-mode");
const SESSION_OPTION: HeaderName = HeaderName::from_static("x-stc-session");
const BYPASS: HeaderName = HeaderName::from_static("x-stc-bypass");
/// The same as [`BYPASS`], by the name that LiteLLM's guardrail has for it.
const HEADROOM_BYPASS: HeaderName = HeaderName::from_static("x-headroom-bypass");

/// The options in the headers of a request, taken out of it.
#[derive(Default)]
pub(super) struct Options {
    mode: Option<HeaderValue>,
    session: Option<HeaderValue>,
    bypass: Option<HeaderValue>,
}

impl Options {
    /// Takes the options out of the headers, if they are read at all.
    pub(super) fn take(headers: &mut HeaderMap, are_read: bool) -> Self {
        if !are_read {
            return Self::default();
        }
        let headroom = headers.remove(HEADROOM_BYPASS);
        Self {
            mode: headers.remove(MODE),
            session: headers.remove(SESSION_OPTION),
            bypass: headers.remove(BYPASS).or(headroom),
        }
    }

    pub(super) fn headers(&self) -> HeaderOptions<'_> {
        HeaderOptions {
            mode: self.mode.as_ref().map(HeaderValue::as_bytes),
            session: self.session.as_ref().map(HeaderValue::as_bytes),
            bypass: self.bypass.as_ref().map(HeaderValue::as_bytes),
        }
    }
}
