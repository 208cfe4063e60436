//! The client's preference, read from its headers.
//!
//! | source, in order of precedence | preference | refusal |
//! |---|---|---|
//! | `X-Prefer-Format` | `stc`, `stc1`, `stc2`, `stc2-labelled`, `toon` | `json`: every format |
//! | `Accept` | `application/stc+json`, `text/toon`, with a q-value not below that of `application/json` | `application/stc+json;q=0`: STC |
//! | `Accept-Encoding` | `stc`, with a q-value not below that of any other coding | `stc;q=0`: STC |
//! | the MCP extension, in the request's body | see [`crate::mcp`] | |
//!
//! The first preference wins. A refusal in any source counts, because every client reads JSON. A wildcard is never a
//! preference. `X-STC-Version` limits the version and its level for every source: `1` (the default), `2; labelled`, or `2`; with a
//! format's full name it is not needed. Values and parameters that are not understood are ignored, so `2; dense` and `2; refs`, which
//! named parts of version 2 once, are `2`: every decoder of version 2 reads all of it. Only an unknown format in `X-Prefer-Format` is
//! reported to the client, if no other header has a preference.

use crate::Format;
use crate::qvalue::{self, Element};
use http::header::{ACCEPT, ACCEPT_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The header that names a format.
pub const PREFER_FORMAT: HeaderName = HeaderName::from_static("x-prefer-format");
/// The header with the version of STC: the highest that the client reads, or the one that was sent.
pub const STC_VERSION: HeaderName = HeaderName::from_static("x-stc-version");

/// Where a client's preference was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// `X-Prefer-Format`.
    PreferFormat,
    /// `Accept`.
    Accept,
    /// `Accept-Encoding`.
    AcceptEncoding,
    /// The MCP extension.
    Extension,
    /// The operator decided it for a client that has no preference.
    Operator,
}

impl Source {
    /// Returns the name used in logs and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PreferFormat => "x-prefer-format",
            Self::Accept => "accept",
            Self::AcceptEncoding => "accept-encoding",
            Self::Extension => "mcp-extension",
            Self::Operator => "operator",
        }
    }
}

/// A client's preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Where it was found.
    pub source: Source,
    /// The highest format that the client reads.
    pub format: Format,
}

/// The result of reading a request's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negotiated {
    /// No preference: the upstream's bytes, unless the body of an MCP request has one.
    Silent,
    /// JSON: the upstream's bytes, whatever the body contains.
    Refused,
    /// `X-Prefer-Format` names an unknown format, and no other header has a preference.
    Unknown,
    /// A format.
    Asked(Ask),
}

/// Reads the headers of a request. A preference without a version is for STC 1.
#[must_use]
pub fn negotiate(headers: &HeaderMap) -> Negotiated {
    negotiate_with(headers, Format::Stc1)
}

/// Reads the headers of a request. A preference without a version is for `default`.
pub(crate) fn negotiate_with(headers: &HeaderMap, default: Format) -> Negotiated {
    if !mentions_format(headers) {
        return Negotiated::Silent;
    }
    let refused = refuses(headers, &ACCEPT, "application/stc+json") || refuses(headers, &ACCEPT_ENCODING, "stc");
    match prefer_format(headers, default)
        .or_else(|| accept(headers, default))
        .or_else(|| accept_encoding(headers, default))
    {
        Some(Some(ask)) if !refused || ask.format == Format::Toon => Negotiated::Asked(ask),
        Some(_) => Negotiated::Refused,
        None if refused => Negotiated::Refused,
        None if headers.contains_key(PREFER_FORMAT) => Negotiated::Unknown,
        None => Negotiated::Silent,
    }
}

/// Fast path for clients without STC: whether any header could contain a preference or a refusal. Only then are the
/// lists parsed. `cargo bench -p stc-layer` shows the gain.
fn mentions_format(headers: &HeaderMap) -> bool {
    let ours = |line: &HeaderValue| {
        let mut windows = line.as_bytes().windows(3);
        windows.any(|three| three.eq_ignore_ascii_case(b"stc") || three.eq_ignore_ascii_case(b"too"))
    };
    headers.contains_key(PREFER_FORMAT)
        || headers.get_all(ACCEPT_ENCODING).iter().any(ours)
        || headers.get_all(ACCEPT).iter().any(ours)
}

/// Returns whether this list gives this name the q-value 0.
fn refuses(headers: &HeaderMap, header: &HeaderName, name: &str) -> bool {
    qvalue::of(headers, header, name) == Some(0)
}

/// Returns the highest format that a valid `X-STC-Version` allows.
fn version(headers: &HeaderMap) -> Option<Format> {
    let value = headers.get(STC_VERSION)?.to_str().ok()?;
    let mut parts = value.split(';').map(str::trim);
    match parts.next()?.parse::<u32>().ok()? {
        0 => None,
        1 => Some(Format::Stc1),
        _ if parts.any(|parameter| parameter.eq_ignore_ascii_case("labelled")) => Some(Format::Stc2Labelled),
        _ => Some(Format::Stc2),
    }
}

/// Reads `X-Prefer-Format`: `Some(None)` is a refusal, `None` no preference.
fn prefer_format(headers: &HeaderMap, default: Format) -> Option<Option<Ask>> {
    let value = headers.get(PREFER_FORMAT)?.to_str().ok()?.trim();
    let at_most = version(headers);
    let format = match value.to_ascii_lowercase().as_str() {
        "json" => return Some(None),
        "stc" => at_most.unwrap_or(default),
        name => {
            let format = Format::named(name)?;
            // TOON is lower than every version.
            at_most.map_or(format, |most| most.min(format))
        }
    };
    Some(Some(Ask { source: Source::PreferFormat, format }))
}

fn accept(headers: &HeaderMap, default: Format) -> Option<Option<Ask>> {
    let json = qvalue::of(headers, &ACCEPT, "application/json").unwrap_or(0);
    let stc = qvalue::of(headers, &ACCEPT, "application/stc+json").unwrap_or(0);
    let toon = qvalue::of(headers, &ACCEPT, "text/toon").unwrap_or(0);
    let format = match () {
        () if stc > 0 && stc >= toon && stc >= json => version(headers).unwrap_or(default),
        () if toon > 0 && toon >= json => Format::Toon,
        () => return None,
    };
    Some(Some(Ask { source: Source::Accept, format }))
}

fn accept_encoding(headers: &HeaderMap, default: Format) -> Option<Option<Ask>> {
    let stc = qvalue::of(headers, &ACCEPT_ENCODING, "stc").filter(|qvalue| *qvalue > 0)?;
    let better = |other: Element<'_>| other.qvalue > stc;
    if qvalue::list(headers, &ACCEPT_ENCODING).any(better) {
        return None;
    }
    Some(Some(Ask { source: Source::AcceptEncoding, format: version(headers).unwrap_or(default) }))
}

/// Replaces the client's preference by one for plain, uncompressed JSON, which needs no decompression here.
pub(crate) fn prefer_json(headers: &mut HeaderMap) {
    headers.remove(PREFER_FORMAT);
    headers.remove(STC_VERSION);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let ours = |name: &str| name.eq_ignore_ascii_case("application/stc+json") || name.eq_ignore_ascii_case("text/toon");
    if qvalue::list(headers, &ACCEPT).any(|element| ours(element.name)) {
        let mut json = String::from("application/json");
        for element in qvalue::list(headers, &ACCEPT).filter(|element| !ours(element.name)) {
            json.push_str(", ");
            json.push_str(element.text);
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
            Negotiated::Unknown => "unknown".to_owned(),
            Negotiated::Asked(Ask { source, format }) => format!("{} by {}", format.name(), source.name()),
        }
    }

    /// The precedence table: headers, and the preference they mean.
    #[test]
    fn precedence() {
        let table: &[(&[(&str, &str)], &str)] = &[
            // No preference.
            (&[], "silent"),
            (&[("accept", "*/*"), ("accept-encoding", "gzip, deflate, br, zstd")], "silent"),
            (&[("accept", "application/*"), ("accept-encoding", "*")], "silent"),
            (&[("accept-encoding", "stcx, x-stc, gstc")], "silent"),
            (&[("x-stc-version", "2")], "silent"),
            (&[("x-prefer-format", "xml")], "unknown"),
            // One source.
            (&[("accept-encoding", "stc")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "gzip, STC")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "gzip;q=0.5, stc;q=0.5")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "gzip"), ("accept-encoding", "stc")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "stc;q=0.4, identity;q=0")], "stc1 by accept-encoding"),
            (&[("x-prefer-format", "stc")], "stc1 by x-prefer-format"),
            (&[("x-prefer-format", " STC1 ")], "stc1 by x-prefer-format"),
            (&[("x-prefer-format", "stc2-labelled")], "stc2-labelled by x-prefer-format"),
            (&[("x-prefer-format", "STC2-Labelled")], "stc2-labelled by x-prefer-format"),
            (&[("x-prefer-format", "stc2")], "stc2 by x-prefer-format"),
            (&[("x-prefer-format", "stc2-dense")], "unknown"),
            (&[("x-prefer-format", "stc2-refs")], "unknown"),
            (&[("x-prefer-format", "stc2-refs"), ("accept-encoding", "stc")], "stc1 by accept-encoding"),
            (&[("x-prefer-format", "stc2-")], "unknown"),
            (&[("x-prefer-format", "toon")], "toon by x-prefer-format"),
            (&[("accept", "application/stc+json")], "stc1 by accept"),
            (&[("accept", "text/toon")], "toon by accept"),
            (&[("accept", "application/stc+json, text/toon")], "stc1 by accept"),
            (&[("accept", "application/stc+json;q=0.5, text/toon")], "toon by accept"),
            // Q-values: another is preferred.
            (&[("accept-encoding", "gzip, stc;q=0.5")], "silent"),
            (&[("accept-encoding", "identity, stc;q=0.9")], "silent"),
            (&[("accept", "application/json, application/stc+json;q=0.9")], "silent"),
            (&[("accept", "application/json;q=0.9, application/stc+json")], "stc1 by accept"),
            // Between sources.
            (&[("x-prefer-format", "toon"), ("accept", "application/stc+json")], "toon by x-prefer-format"),
            (&[("x-prefer-format", "toon"), ("accept-encoding", "stc")], "toon by x-prefer-format"),
            (&[("x-prefer-format", "stc2-labelled"), ("accept-encoding", "stc")], "stc2-labelled by x-prefer-format"),
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
            (&[("accept-encoding", "stc"), ("x-stc-version", "2; labelled")], "stc2-labelled by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2;LABELLED")], "stc2-labelled by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", " 2 ;Labelled ")], "stc2-labelled by accept-encoding"),
            (
                &[("accept-encoding", "stc"), ("x-stc-version", "2; more=1; labelled")],
                "stc2-labelled by accept-encoding",
            ),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2; labelled; refs")], "stc2-labelled by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "9; labelled")], "stc2-labelled by accept-encoding"),
            // Parameters that are not understood, those of before too, leave the whole of version 2.
            (&[("accept-encoding", "stc"), ("x-stc-version", "2; refs")], "stc2 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2; dense")], "stc2 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2; labelledx")], "stc2 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2; labelled=1")], "stc2 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2;")], "stc2 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "1; labelled")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "9")], "stc2 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "0")], "stc1 by accept-encoding"),
            (&[("accept-encoding", "stc"), ("x-stc-version", "two")], "stc1 by accept-encoding"),
            (&[("accept", "application/stc+json"), ("x-stc-version", "2")], "stc2 by accept"),
            (&[("accept", "application/stc+json"), ("x-stc-version", "2; labelled")], "stc2-labelled by accept"),
            (&[("x-prefer-format", "stc"), ("x-stc-version", "2")], "stc2 by x-prefer-format"),
            (&[("x-prefer-format", "stc"), ("x-stc-version", "2; labelled")], "stc2-labelled by x-prefer-format"),
            (&[("x-prefer-format", "stc1"), ("x-stc-version", "2")], "stc1 by x-prefer-format"),
            (&[("x-prefer-format", "stc2"), ("x-stc-version", "1")], "stc1 by x-prefer-format"),
            (&[("x-prefer-format", "stc2"), ("x-stc-version", "2")], "stc2 by x-prefer-format"),
            (&[("x-prefer-format", "stc2"), ("x-stc-version", "2; labelled")], "stc2-labelled by x-prefer-format"),
            (&[("x-prefer-format", "stc2-labelled"), ("x-stc-version", "1")], "stc1 by x-prefer-format"),
            (&[("x-prefer-format", "stc2-labelled"), ("x-stc-version", "2")], "stc2-labelled by x-prefer-format"),
            (&[("x-prefer-format", "toon"), ("x-stc-version", "2")], "toon by x-prefer-format"),
        ];
        for (lines, expected) in table {
            assert_eq!(asked(lines), *expected, "{lines:?}");
        }
    }

    #[test]
    fn an_operator_s_default_is_for_clients_that_name_no_version() {
        for (lines, expected) in [
            (&[("accept-encoding", "stc")][..], Format::Stc2Labelled),
            (&[("accept", "application/stc+json")], Format::Stc2Labelled),
            (&[("x-prefer-format", "stc")], Format::Stc2Labelled),
            (&[("x-prefer-format", "stc1")], Format::Stc1),
            (&[("accept-encoding", "stc"), ("x-stc-version", "1")], Format::Stc1),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2; labelled")], Format::Stc2Labelled),
            (&[("accept-encoding", "stc"), ("x-stc-version", "2")], Format::Stc2),
            (&[("x-prefer-format", "toon")], Format::Toon),
        ] {
            let negotiated = negotiate_with(&headers(lines), Format::Stc2Labelled);
            assert!(matches!(negotiated, Negotiated::Asked(ask) if ask.format == expected), "{lines:?}");
        }
    }

    #[test]
    fn the_upstream_gets_a_preference_for_plain_json() {
        let mut request = headers(&[
            ("accept", "application/stc+json, text/html;q=0.5, application/json;profile=\"a, b\";q=0.9"),
            ("accept-encoding", "gzip, stc"),
            ("x-prefer-format", "stc"),
            ("x-stc-version", "1"),
        ]);
        prefer_json(&mut request);
        let accept = "application/json, text/html;q=0.5, application/json;profile=\"a, b\";q=0.9";
        let left = headers(&[("accept", accept), ("accept-encoding", "identity")]);
        assert_eq!(request, left);
    }
}
