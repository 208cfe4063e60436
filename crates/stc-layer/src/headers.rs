//! The headers of a response that was converted or skipped.

use crate::Saved;
use crate::{Format, Skip};
use http::header::{ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The header with the ratio of bytes sent to bytes received, with two decimals.
pub const STC_RATIO: HeaderName = HeaderName::from_static("x-stc-ratio");
/// The header with the reason why a response was sent unchanged.
pub const STC_SKIPPED: HeaderName = HeaderName::from_static("x-stc-skipped");

const VARIES_BY: HeaderValue = HeaderValue::from_static("Accept, Accept-Encoding, X-Prefer-Format, X-STC-Version");

/// Sets the headers for a whole body in another format.
pub(crate) fn whole(headers: &mut HeaderMap, format: Format, saved: Saved) {
    body_changed(headers);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(saved.bytes_out));
    headers.insert(CONTENT_TYPE, format.content_type());
    headers.remove(CONTENT_ENCODING);
    if let Some(version) = format.version() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("stc"));
        headers.insert(crate::negotiate::STC_VERSION, version);
    }
    let hundredths = (saved.bytes_out * 200 + saved.bytes_in) / (saved.bytes_in * 2).max(1);
    let ratio = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    headers.insert(STC_RATIO, HeaderValue::try_from(ratio).expect("digits and a point"));
}

/// Sets the headers for a message with converted texts: JSON of another length.
pub(crate) fn message(headers: &mut HeaderMap, length: usize) {
    body_changed(headers);
    headers.remove(CONTENT_ENCODING);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
}

/// Sets the headers for a body that a plugin replaced, independent of any preference.
pub fn replaced(headers: &mut HeaderMap, length: usize) {
    forget(headers);
    headers.remove(CONTENT_ENCODING);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
}

/// Sets the headers for a stream of messages, whose new length is unknown.
pub(crate) fn stream(headers: &mut HeaderMap) {
    body_changed(headers);
    headers.remove(CONTENT_LENGTH);
}

/// Sets the headers for a response that is sent unchanged.
pub(crate) fn skipped(headers: &mut HeaderMap, skip: Skip) {
    vary(headers);
    headers.insert(STC_SKIPPED, skip.header());
}

/// Removes trailers that describe the old bytes.
pub(crate) fn trailers(trailers: &mut HeaderMap) {
    for name in DIGESTS {
        trailers.remove(name);
    }
}

const DIGESTS: [&str; 4] = ["content-digest", "repr-digest", "digest", "content-md5"];

fn body_changed(headers: &mut HeaderMap) {
    vary(headers);
    forget(headers);
}

/// Removes what described the old bytes only: digests and ranges. A strong ETag becomes weak, which means "the same
/// data", and still lets the client revalidate.
fn forget(headers: &mut HeaderMap) {
    trailers(headers);
    headers.remove(ACCEPT_RANGES);
    if let Some(etag) = headers.get(ETAG).filter(|etag| !etag.as_bytes().starts_with(b"W/")) {
        match HeaderValue::from_bytes(&[b"W/", etag.as_bytes()].concat()) {
            Ok(weak) => headers.insert(ETAG, weak),
            Err(_) => headers.remove(ETAG),
        };
    }
}

fn vary(headers: &mut HeaderMap) {
    headers.append(VARY, VARIES_BY);
}
