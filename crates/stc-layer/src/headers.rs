//! The headers of a response that was converted or skipped.

use crate::coding::Coding;
use crate::qvalue::split;
use crate::{Format, Saved, Skip, etag};
use http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The header with the ratio of bytes sent to bytes received, with two decimals.
pub const STC_RATIO: HeaderName = HeaderName::from_static("x-stc-ratio");
/// The header with the reason why a response was sent unchanged.
pub const STC_SKIPPED: HeaderName = HeaderName::from_static("x-stc-skipped");

/// The header with the media type of the original body, if that is not `application/json`.
pub const STC_CONTENT_TYPE: HeaderName = HeaderName::from_static("x-stc-content-type");

const VARIES_BY: HeaderValue = HeaderValue::from_static("Accept, Accept-Encoding, X-Prefer-Format, X-STC-Version");

/// Sets the headers for a whole body in another format, which has this length in this coding.
pub(crate) fn whole(headers: &mut HeaderMap, format: Format, saved: Saved, length: usize, coding: Coding) {
    body_changed(headers, format, coding);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    let original = headers.insert(CONTENT_TYPE, format.content_type());
    if let Some(original) = original.filter(|original| !original.as_bytes().eq_ignore_ascii_case(b"application/json")) {
        headers.insert(STC_CONTENT_TYPE, original);
    }
    let codings = match (format.version().is_some(), coding) {
        (true, Coding::Identity) => Some(HeaderValue::from_static("stc")),
        (true, Coding::Gzip) => Some(HeaderValue::from_static("stc, gzip")),
        (true, Coding::Brotli) => Some(HeaderValue::from_static("stc, br")),
        (true, Coding::Zstd) => Some(HeaderValue::from_static("stc, zstd")),
        (false, coding) => coding.name().map(HeaderValue::from_static),
    };
    set_codings(headers, codings);
    if let Some(version) = format.version() {
        headers.insert(crate::negotiate::STC_VERSION, version);
    }
    let hundredths = (saved.bytes_out * 200 + saved.bytes_in) / (saved.bytes_in * 2).max(1);
    let ratio = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    headers.insert(STC_RATIO, HeaderValue::try_from(ratio).expect("digits and a point"));
}

/// Sets the headers for a message with converted texts: JSON of another length.
pub(crate) fn message(headers: &mut HeaderMap, format: Format, length: usize, coding: Coding) {
    body_changed(headers, format, coding);
    set_codings(headers, coding.name().map(HeaderValue::from_static));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
}

/// Sets the headers for an original body in a content coding, whose length is unknown.
pub(crate) fn compressed(headers: &mut HeaderMap, coding: Coding) {
    forget(headers);
    etag::mark(headers, None, coding);
    set_codings(headers, coding.name().map(HeaderValue::from_static));
    headers.remove(CONTENT_LENGTH);
}

fn set_codings(headers: &mut HeaderMap, codings: Option<HeaderValue>) {
    match codings {
        Some(codings) => headers.insert(CONTENT_ENCODING, codings),
        None => headers.remove(CONTENT_ENCODING),
    };
}

/// Sets the headers for a body that a plugin replaced, independent of any preference. A strong ETag becomes weak: the
/// plugin's part in the body has no name that could be added to it.
pub fn replaced(headers: &mut HeaderMap, length: usize) {
    forget(headers);
    if let Some(etag) = headers.get(ETAG).filter(|etag| !etag.as_bytes().starts_with(b"W/")) {
        match HeaderValue::from_bytes(&[b"W/", etag.as_bytes()].concat()) {
            Ok(weak) => headers.insert(ETAG, weak),
            Err(_) => headers.remove(ETAG),
        };
    }
    headers.remove(CONTENT_ENCODING);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
}

/// Sets the headers for a stream of messages, whose new length is unknown.
pub(crate) fn stream(headers: &mut HeaderMap, format: Format) {
    body_changed(headers, format, Coding::Identity);
    headers.remove(CONTENT_LENGTH);
}

/// Sets the headers for a response that is sent unchanged.
pub(crate) fn skipped(headers: &mut HeaderMap, skip: Skip) {
    vary(headers);
    headers.insert(STC_SKIPPED, skip.header());
}

/// Keeps a response out of shared caches: no header of the request names what decided its form.
pub(crate) fn private(headers: &mut HeaderMap) {
    if headers.get_all(CACHE_CONTROL).iter().any(|line| line.to_str().is_err()) {
        // A line that cannot be read stays, for it may say more. Of directives that contradict each other the strictest applies.
        headers.append(CACHE_CONTROL, HeaderValue::from_static("private"));
        return;
    }
    let lines = headers.get_all(CACHE_CONTROL).iter().filter_map(|line| line.to_str().ok());
    let is = |directive: &str, names: [&str; 2]| {
        let name = directive.split('=').next().unwrap_or_default().trim();
        names.iter().any(|other| name.eq_ignore_ascii_case(other))
    };
    let directives = lines.flat_map(|line| split(line, b',')).map(str::trim);
    let mut kept: Vec<&str> = directives.filter(|one| !one.is_empty() && !is(one, ["public", "s-maxage"])).collect();
    // With a value, `private` is about single headers.
    if !kept.iter().any(|one| !one.contains('=') && is(one, ["private", "no-store"])) {
        kept.push("private");
    }
    if let Ok(line) = HeaderValue::try_from(kept.join(", ")) {
        headers.insert(CACHE_CONTROL, line);
    }
}

/// Removes trailers that describe the old bytes.
pub(crate) fn trailers(trailers: &mut HeaderMap) {
    for name in DIGESTS {
        trailers.remove(name);
    }
}

const DIGESTS: [&str; 4] = ["content-digest", "repr-digest", "digest", "content-md5"];

fn body_changed(headers: &mut HeaderMap, format: Format, coding: Coding) {
    vary(headers);
    forget(headers);
    etag::mark(headers, Some(format), coding);
}

/// Removes what described the old bytes only: digests and ranges.
fn forget(headers: &mut HeaderMap) {
    trailers(headers);
    headers.remove(ACCEPT_RANGES);
}

/// Names the headers that decide the form of a response.
pub(crate) fn vary(headers: &mut HeaderMap) {
    headers.append(VARY, VARIES_BY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_cannot_be_read_stays() {
        let lines = ["no-store, x=\"é\"", "max-age=60"].map(|line| HeaderValue::from_bytes(line.as_bytes()).unwrap());
        let mut headers: HeaderMap = lines.clone().into_iter().map(|line| (CACHE_CONTROL, line)).collect();
        private(&mut headers);
        let got: Vec<_> = headers.get_all(CACHE_CONTROL).iter().cloned().collect();
        assert_eq!(got, [&lines[..], &[HeaderValue::from_static("private")]].concat());
    }
}
