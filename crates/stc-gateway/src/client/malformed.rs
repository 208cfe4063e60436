//! Requests that hyper accepts and that must not be forwarded.

use crate::upstream::failed::Failed;
use crate::upstream::forwarded::plain;
use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Request, StatusCode, Version};

/// Checks that a request names one valid host (RFC 9112, 3.2; RFC 9113, 8.3.1), and that no value of an HTTP/2 request begins or
/// ends with white space (RFC 9113, 8.2.1).
pub(crate) fn check<B>(request: &Request<B>) -> Result<(), Failed> {
    let version = request.version();
    let named = request.uri().authority();
    if !named.is_none_or(plain) || !one_host(version, named, request.headers()) {
        return Err(Failed(StatusCode::BAD_REQUEST, "one valid Host header is required"));
    }
    if version == Version::HTTP_2 && !request.headers().values().all(trimmed) {
        return Err(Failed(StatusCode::BAD_REQUEST, "a header's value begins or ends with white space"));
    }
    Ok(())
}

/// Returns whether there is one `Host`, or none where the version allows it. In HTTP/2 it must not differ from `:authority`; the host
/// of an absolute URL in HTTP/1.1 goes before it (RFC 9112, 3.2.2).
fn one_host(version: Version, named: Option<&Authority>, headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(HOST).iter();
    match (lines.next(), lines.next()) {
        (None, _) => version != Version::HTTP_11,
        (Some(host), None) if host.is_empty() => true,
        (Some(host), None) => Authority::try_from(host.as_bytes()).is_ok_and(|host| {
            plain(&host) && named.is_none_or(|named| version != Version::HTTP_2 || is_same(named, &host))
        }),
        (Some(_), Some(_)) => false,
    }
}

/// Compares names without case, and ports with the default ones left out.
fn is_same(one: &Authority, other: &Authority) -> bool {
    let port = |host: &Authority| host.port_u16().filter(|port| ![80, 443].contains(port));
    one.host().eq_ignore_ascii_case(other.host()) && port(one) == port(other)
}

fn trimmed(value: &HeaderValue) -> bool {
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !blank(value.as_bytes().first()) && !blank(value.as_bytes().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        for (version, url, lines, fine) in [
            (Version::HTTP_11, "/x", &[("host", "a")][..], true),
            (Version::HTTP_11, "/x", &[("host", "[::1]:80")], true),
            (Version::HTTP_11, "/x", &[("host", "")], true),
            (Version::HTTP_11, "/x", &[], false),
            (Version::HTTP_11, "/x", &[("host", "a"), ("host", "a")], false),
            (Version::HTTP_11, "/x", &[("host", "a b")], false),
            (Version::HTTP_11, "/x", &[("host", "u@a")], false),
            (Version::HTTP_11, "/x", &[("host", "a/b")], false),
            (Version::HTTP_11, "http://b/x", &[("host", "a")], true),
            (Version::HTTP_11, "http://u@b/x", &[("host", "a")], false),
            (Version::HTTP_10, "/x", &[], true),
            (Version::HTTP_2, "/x", &[], true),
            (Version::HTTP_2, "http://a/x", &[], true),
            (Version::HTTP_2, "http://u@a/x", &[], false),
            (Version::HTTP_2, "http://a/x", &[("host", "A:80")], true),
            (Version::HTTP_2, "https://a:443/x", &[("host", "a")], true),
            (Version::HTTP_2, "http://a/x", &[("host", "b")], false),
            (Version::HTTP_2, "http://a/x", &[("host", "a:81")], false),
            (Version::HTTP_2, "/x", &[("host", "a")], true),
            (Version::HTTP_2, "/x", &[("x", "a b"), ("y", "")], true),
            (Version::HTTP_2, "/x", &[("x", " a")], false),
            (Version::HTTP_2, "/x", &[("x", "a\t")], false),
        ] {
            let mut request = Request::builder().version(version).uri(url);
            for (name, value) in lines {
                request = request.header(*name, *value);
            }
            assert_eq!(check(&request.body(()).unwrap()).is_ok(), fine, "{version:?} {url} {lines:?}");
        }
    }
}
