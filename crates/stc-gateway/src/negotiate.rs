//! What the client asked for, by its headers.
//!
//! | first door that speaks wins | asks | refuses |
//! |---|---|---|
//! | `X-Prefer-Format` | `stc`, `stc1`, `stc2`, `stc2-refs`, `toon` | `json`: everything |
//! | `Accept` | `application/stc+json`, `text/toon`, at a weight not under that of `application/json` | `application/stc+json;q=0`: STC |
//! | `Accept-Encoding` | `stc`, at a weight not under that of any other coding | `stc;q=0`: STC |
//! | the MCP extension, in the request's body | see [`crate::mcp`] | |
//!
//! A refusal counts whatever another door asks: JSON can be read by all. Wildcards never ask. `X-STC-Version` says the
//! most that any door may get: `1` without it, `2`, or `2; refs`; with `stc2` and `stc2-refs` it is not needed. What is
//! not understood is as if it had not been sent.

use crate::Format;
use crate::weight::{self, Weighted};
use http::header::{ACCEPT, ACCEPT_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The header that names a format.
pub const PREFER_FORMAT: HeaderName = HeaderName::from_static("x-prefer-format");
/// The header that names the version of STC: asked for in a request, sent in a response.
pub const STC_VERSION: HeaderName = HeaderName::from_static("x-stc-version");

/// The way a client asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Door {
    /// `X-Prefer-Format`.
    PreferFormat,
    /// `Accept`.
    Accept,
    /// `Accept-Encoding`.
    AcceptEncoding,
    /// The MCP extension.
    Extension,
}

impl Door {
    /// Its name in logs and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PreferFormat => "x-prefer-format",
            Self::Accept => "accept",
            Self::AcceptEncoding => "accept-encoding",
            Self::Extension => "mcp-extension",
        }
    }
}

/// A format asked for, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Where.
    pub door: Door,
    /// The most the client reads.
    pub format: Format,
}

/// What the headers of a request say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negotiated {
    /// Nothing: the upstream's bytes, unless the body of an MCP request asks.
    Silent,
    /// JSON: the upstream's bytes, whatever the body says.
    Refused,
    /// A format.
    Asked(Ask),
}

/// Reads the headers of a request.
#[must_use]
pub fn negotiate(headers: &HeaderMap) -> Negotiated {
    if !mentions_us(headers) {
        return Negotiated::Silent;
    }
    let refused = refuses(headers, &ACCEPT, "application/stc+json") || refuses(headers, &ACCEPT_ENCODING, "stc");
    match prefer_format(headers).or_else(|| accept(headers)).or_else(|| accept_encoding(headers)) {
        Some(Some(ask)) if !refused || ask.format == Format::Toon => Negotiated::Asked(ask),
        Some(_) => Negotiated::Refused,
        None if refused => Negotiated::Refused,
        None => Negotiated::Silent,
    }
}

/// A quick look, for the many requests that never heard of us: whether anything in here could ask or refuse. Only then
/// are the lists read properly. What that is worth shows in `cargo bench -p stc-gateway`.
fn mentions_us(headers: &HeaderMap) -> bool {
    let ours = |line: &HeaderValue| {
        let mut windows = line.as_bytes().windows(3);
        windows.any(|three| three.eq_ignore_ascii_case(b"stc") || three.eq_ignore_ascii_case(b"too"))
    };
    headers.contains_key(PREFER_FORMAT)
        || headers.get_all(ACCEPT_ENCODING).iter().any(ours)
        || headers.get_all(ACCEPT).iter().any(ours)
}

/// Whether this list gives this name the weight 0.
fn refuses(headers: &HeaderMap, header: &HeaderName, name: &str) -> bool {
    weight::of(headers, header, name) == Some(0)
}

/// The most that `X-STC-Version` allows, if it is there and makes sense.
fn version(headers: &HeaderMap) -> Option<Format> {
    let value = headers.get(STC_VERSION)?.to_str().ok()?;
    let (number, refs) = match value.split_once(';') {
        Some((number, refs)) => (number, refs.trim().eq_ignore_ascii_case("refs")),
        None => (value, false),
    };
    match (number.trim().parse::<u32>().ok()?, refs) {
        (0, _) => None,
        (1, _) => Some(Format::Stc1),
        (_, false) => Some(Format::Stc2),
        (_, true) => Some(Format::Stc2Refs),
    }
}

/// `Some(None)` is a refusal; `None` is silence.
fn prefer_format(headers: &HeaderMap) -> Option<Option<Ask>> {
    let value = headers.get(PREFER_FORMAT)?.to_str().ok()?.trim();
    let at_most = version(headers);
    let format = match value.to_ascii_lowercase().as_str() {
        "json" => return Some(None),
        "toon" => Format::Toon,
        "stc" => at_most.unwrap_or(Format::Stc1),
        "stc1" => Format::Stc1,
        "stc2" => at_most.map_or(Format::Stc2, |most| most.min(Format::Stc2)),
        "stc2-refs" => at_most.unwrap_or(Format::Stc2Refs),
        _ => return None,
    };
    Some(Some(Ask { door: Door::PreferFormat, format }))
}

fn accept(headers: &HeaderMap) -> Option<Option<Ask>> {
    let json = weight::of(headers, &ACCEPT, "application/json").unwrap_or(0);
    let stc = weight::of(headers, &ACCEPT, "application/stc+json").unwrap_or(0);
    let toon = weight::of(headers, &ACCEPT, "text/toon").unwrap_or(0);
    let format = match () {
        () if stc > 0 && stc >= toon && stc >= json => version(headers).unwrap_or(Format::Stc1),
        () if toon > 0 && toon >= json => Format::Toon,
        () => return None,
    };
    Some(Some(Ask { door: Door::Accept, format }))
}

fn accept_encoding(headers: &HeaderMap) -> Option<Option<Ask>> {
    let stc = weight::of(headers, &ACCEPT_ENCODING, "stc").filter(|weight| *weight > 0)?;
    let better = |other: Weighted<'_>| other.weight > stc;
    if weight::list(headers, &ACCEPT_ENCODING).any(better) {
        return None;
    }
    Some(Some(Ask { door: Door::AcceptEncoding, format: version(headers).unwrap_or(Format::Stc1) }))
}

/// Takes the asking out of a request that we are going to answer ourselves: the upstream is asked for plain JSON,
/// not compressed, so that it need not be decompressed here.
pub(crate) fn ask_upstream_for_json(headers: &mut HeaderMap) {
    headers.remove(PREFER_FORMAT);
    headers.remove(STC_VERSION);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let ours = |name: &str| name.eq_ignore_ascii_case("application/stc+json") || name.eq_ignore_ascii_case("text/toon");
    if weight::list(headers, &ACCEPT).any(|element| ours(element.name)) {
        let mut json = String::from("application/json");
        for element in weight::list(headers, &ACCEPT).filter(|element| !ours(element.name)) {
            let Weighted { name, weight } = element;
            json.push_str(&format!(", {name};q={}.{:03}", weight / 1000, weight % 1000));
        }
        if let Ok(value) = HeaderValue::try_from(json) {
            headers.insert(ACCEPT, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    fn asked(lines: &[(&'static str, &'static str)]) -> String {
        match negotiate(&headers(lines)) {
            Negotiated::Silent => "silent".to_owned(),
            Negotiated::Refused => "refused".to_owned(),
            Negotiated::Asked(Ask { door, format }) => format!("{} by {}", format.name(), door.name()),
        }
    }

    /// The precedence table. Each row: what is sent, what it means.
    #[test]
    fn precedence() {
        let table: &[(&[(&str, &str)], &str)] = &[
            // Nobody asked.
            (&[], "silent"),
            (&[("accept", "*/*"), ("accept-encoding", "gzip, deflate, br, zstd")], "silent"),
            (&[("accept", "application/*"), ("accept-encoding", "*")], "silent"),
            (&[("accept-encoding", "stcx, x-stc, gstc")], "silent"),
            (&[("x-stc-version", "2")], "silent"),
            (&[("x-prefer-format", "xml")], "silent"),
            // One door.
            (&[("accept-encoding", "stc")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "gzip, STC")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "gzip;q=0.5, stc;q=0.5")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "gzip"), ("accept-encoding", "stc")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "stc;q=0.4, identity;q=0")], "stc1 by accept-encoding"),
            (&[("x-prefer-format", "stc")], "stc1 by x-prefer-format"),
            (&[("x-prefer-format", " STC1 ")], "stc1 by x-prefer-format"),
            (&[("x-prefer-format", "stc2")], "stc2 by x-prefer-format"),
            (&[("x-prefer-format", "stc2-refs")], "stc2-refs by x-prefer-format"),
            (&[("x-prefer-format", "toon")], "toon by x-prefer-format"),
            (&[("accept", "application/stc+json")], "stc1 by accept"),
            (&[("accept", "text/toon")], "toon by accept"),
            (&[("accept", "application/stc+json, text/toon")], "stc1 by accept"),
            (&[("accept", "application/stc+json;q=0.5, text/toon")], "toon by accept"),
            // Weights: another is wanted more.
            (&[("accept-encoding", "gzip, stc;q=0.5")], "silent"),
            (&[("accept-encoding", "identity, stc;q=0.9")], "silent"),
            (&[("accept", "application/json, application/stc+json;q=0.9")], "silent"),
            (&[("accept", "application/json;q=0.9, application/stc+json")], "stc1 by accept"),
            // Between doors.
            (&[("x-prefer-format", "toon"), ("accept", "application/stc+json")], "toon by x-prefer-format"),
            (&[("x-prefer-format", "toon"), ("accept-encoding", "stc")], "toon by x-prefer-format"),
            (&[("x-prefer-format", "stc2"), ("accept-encoding", "stc")], "stc2 by x-prefer-format"),
            (&[("x-prefer-format", "xml"), ("accept-encoding", "stc")], "stc1 by accept-encoding"),
            (&[("accept", "text/toon"), ("accept-encoding", "stc")], "toon by accept"),
            // Refusals.
            (&[("x-prefer-format", "json"), ("accept-encoding", "stc")], "refused"),
            (&[("x-prefer-format", "json"), ("accept", "text/toon")], "refused"),
            (&[("accept-encoding", "stc;q=0")], "refused"),
            (&[("accept-encoding", "stc;q=0.000, *")], "refused"),
            (&[("accept-encoding", "stc;q=0"), ("x-prefer-format", "stc")], "refused"),
            (&[("accept-encoding", "stc;q=0"), ("accept", "application/stc+json")], "refused"),
            (&[("accept", "application/stc+json;q=0"), ("accept-encoding", "stc")], "refused"),
            (&[("accept-encoding", "stc;q=0"), ("x-prefer-format", "toon")], "toon by x-prefer-format"),
            // Versions.
            (&[("accept-encoding", "stc"), ("x-stc-version", "1")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2")], "stc2 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2; refs")], "stc2-refs by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2;REFS")], "stc2-refs by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "9")], "stc2 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "0")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "two")], "stc1 by accept-encoding"),
            (&[("accept", "application/stc+json"), ("x-stc-version", "2")], "stc2 by accept"),
            (&[("x-prefer-format", "stc"), ("x-stc-version", "2")], "stc2 by x-prefer-format"),
            (&[("x-prefer-format", "stc1"), ("x-stc-version", "2")], "stc1 by x-prefer-format"),
            (&[("x-prefer-format", "stc2"), ("x-stc-version", "1")], "stc1 by x-prefer-format"),
            (&[("x-prefer-format", "stc2"), ("x-stc-version", "2; refs")], "stc2 by x-prefer-format"),
            (&[("x-prefer-format", "stc2-refs"), ("x-stc-version", "2")], "stc2 by x-prefer-format"),
            (&[("x-prefer-format", "toon"), ("x-stc-version", "2")], "toon by x-prefer-format"),
        ];
        for (lines, expected) in table {
            assert_eq!(asked(lines), *expected, "{lines:?}");
        }
    }

    #[test]
    fn the_upstream_is_asked_for_plain_json() {
        let mut request = headers(&[
            ("accept", "application/stc+json, text/html;q=0.5"),
            ("accept-encoding", "gzip, stc"),
            ("x-prefer-format", "stc"),
            ("x-stc-version", "1"),
        ]);
        ask_upstream_for_json(&mut request);
        let left = headers(&[("accept", "application/json, text/html;q=0.500"), ("accept-encoding", "identity")]);
        assert_eq!(request, left);
    }
}
