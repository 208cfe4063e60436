//! Removes from a request, before anything reads it, the headers that are for this connection only, and those whose names upstreams
//! may take for others.
//!
//! `Connection` names further headers of its connection (RFC 9110, 7.6.1). They go here and not on the way to the upstream, where a
//! client could name headers that a plugin or this program has set.

use crate::upstream::failed::Failed;
use crate::upstream::forward::{HOP_BY_HOP, accepts_trailers, hop_by_hop};
use crate::upstream::tunnel;
use http::header::{CONNECTION, TE, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// Headers that no `Connection` removes: what a request is, whom it is from, and what proxies before this program have said.
const KEPT: [&str; 16] = [
    "authorization",
    "cache-control",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "origin",
    "range",
    "traceparent",
    "tracestate",
    "via",
    "x-api-key",
    "x-real-ip",
    "x-request-id",
    "x-tenant",
    "api-key",
];

/// The starts of names of such headers.
const KEPT_STARTS: [&str; 5] = ["content-", "sec-", "x-forwarded-", "x-stc-", "mcp-"];

/// Checks the framing of a body, and removes the headers of the connection. Those of an upgrade to a WebSocket and `TE: trailers` stay,
/// for the request to the upstream asks for the same. `underscores` keeps names with `_`.
pub(crate) fn clean(parts: &mut Parts, underscores: bool) -> Result<(), Failed> {
    if parts.headers.contains_key(TRANSFER_ENCODING) {
        chunked(&parts.headers)?;
    }
    let is_odd = |name: &&HeaderName| name.as_str().contains('_');
    if !underscores && parts.headers.keys().any(|name| is_odd(&name)) {
        let names: Vec<_> = parts.headers.keys().filter(is_odd).cloned().collect();
        for name in names {
            parts.headers.remove(name);
        }
    }
    if hop_by_hop(&parts.headers) != 0 {
        remove_hops(parts);
    }
    Ok(())
}

fn remove_hops(parts: &mut Parts) {
    let (tunnel, trailers) = (tunnel::is_requested(parts), accepts_trailers(&parts.headers));
    let headers = &mut parts.headers;
    let mut names: Vec<HeaderName> = named(headers).filter(|name| !is_kept(name.as_str())).collect();
    names.extend(HOP_BY_HOP.iter().cloned());
    for name in names {
        headers.remove(name);
    }
    if tunnel {
        tunnel::set_headers(headers);
    } else if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
}

/// Returns the headers that `Connection` names.
fn named(headers: &HeaderMap) -> impl Iterator<Item = HeaderName> {
    let lines = headers.get_all(CONNECTION).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).filter_map(|name| name.trim().parse().ok())
}

fn is_kept(name: &str) -> bool {
    KEPT.contains(&name) || KEPT_STARTS.iter().any(|start| name.starts_with(start))
}

/// Checks that a body has no transfer coding but chunks: one that is not decoded here would reach the upstream without its name.
fn chunked(headers: &HeaderMap) -> Result<(), Failed> {
    let mut codings =
        headers.get_all(TRANSFER_ENCODING).iter().flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    match (codings.next(), codings.next()) {
        (Some(coding), None) if coding.trim_ascii().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(Failed(StatusCode::NOT_IMPLEMENTED, "no transfer coding but `chunked`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn cleaned(lines: &[(&str, &str)], underscores: bool) -> Result<Vec<String>, Failed> {
        let mut request = Request::builder().uri("/");
        for (name, value) in lines {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        clean(&mut parts, underscores)?;
        let mut left: Vec<_> =
            parts.headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        left.sort();
        Ok(left)
    }

    #[test]
    fn headers_of_the_connection_go_and_no_others() {
        let kept = [
            "authorization",
            "content-length",
            "content-type",
            "content-encoding",
            "cookie",
            "forwarded",
            "host",
            "via",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-proto",
            "x-request-id",
            "x-tenant",
            "traceparent",
            "x-stc-mode",
            "mcp-session-id",
            "sec-websocket-key",
            "sec-fetch-site",
        ];
        for name in kept {
            let lines = [("connection", &*format!("close, {}", name.to_uppercase())), (name, "7")];
            assert_eq!(cleaned(&lines, false).unwrap(), [format!("{name}: 7")], "{name}");
        }
        let lines = [
            ("connection", "close, X-Secret,x-other ,, b@d"),
            ("connection", "Keep-Alive, x-third"),
            ("x-secret", "1"),
            ("x-other", "1"),
            ("x-third", "1"),
            ("keep-alive", "timeout=5"),
            ("proxy-authorization", "x"),
            ("proxy-connection", "close"),
            ("transfer-encoding", "Chunked"),
            ("upgrade", "h2c"),
            ("te", "gzip"),
            ("x-else", "7"),
        ];
        assert_eq!(cleaned(&lines, false).unwrap(), ["x-else: 7"]);
    }

    #[test]
    fn what_the_upstream_is_asked_too_stays() {
        let upgrade = [("connection", "keep-alive, Upgrade, authorization"), ("upgrade", "websocket")];
        assert_eq!(cleaned(&upgrade, false).unwrap(), ["connection: upgrade", "upgrade: websocket"]);
        let trailers = [("connection", "te"), ("te", "gzip;q=0.5, Trailers")];
        assert_eq!(cleaned(&trailers, false).unwrap(), ["te: trailers"]);
    }

    #[test]
    fn names_with_underscores_go_unless_they_are_kept() {
        let lines = [("x_forwarded_for", "6.6.6.6"), ("content_length", "9"), ("api_key", "x"), ("x-else", "7")];
        assert_eq!(cleaned(&lines, false).unwrap(), ["x-else: 7"]);
        assert_eq!(cleaned(&lines, true).unwrap().len(), 4);
    }

    #[test]
    fn chunks_are_the_only_transfer_coding() {
        for lines in
            [&["gzip, chunked"][..], &["gzip", "chunked"], &["chunked, chunked"], &["identity"], &["x\u{7f}"], &[""]]
        {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(
                    TRANSFER_ENCODING,
                    HeaderValue::from_bytes(line.as_bytes()).unwrap_or(HeaderValue::from_static("?")),
                );
            }
            assert_eq!(chunked(&headers).map_err(|failed| failed.0), Err(StatusCode::NOT_IMPLEMENTED), "{lines:?}");
        }
        assert!(cleaned(&[("transfer-encoding", " CHUNKED")], false).is_ok());
    }
}
