//! Requests whose signature or digest covers the body: a changed body would be refused.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Returns whether a header of the request depends on the bytes of its body.
pub(super) fn is_signed(headers: &HeaderMap) -> bool {
    let names = ["content-md5", "digest", "content-digest", "repr-digest", "x-amz-content-sha256", "signature"];
    let by_aws = |value: &http::HeaderValue| value.as_bytes().starts_with(b"AWS4-");
    names.iter().any(|name| headers.contains_key(*name)) || headers.get(AUTHORIZATION).is_some_and(by_aws)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};

    #[test]
    fn signatures_and_digests() {
        for (name, value, expected) in [
            ("authorization", "AWS4-HMAC-SHA256 Credential=a", true),
            ("authorization", "Bearer AWS4-", false),
            ("content-md5", "x", true),
            ("content-digest", "sha-256=:x:", true),
            ("content-type", "application/json", false),
        ] {
            let pair = (HeaderName::from_static(name), HeaderValue::from_static(value));
            assert_eq!(is_signed(&HeaderMap::from_iter([pair])), expected, "{name}: {value}");
        }
    }
}
