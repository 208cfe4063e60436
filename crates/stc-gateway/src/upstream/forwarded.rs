//! The headers that tell upstreams and clients about the proxy between them: `Host`, `Forwarded` and `X-Forwarded-*`, `Via`, and
//! references to the upstream in responses.

use crate::request_id::process;
use crate::upstream::failed::Failed;
use crate::upstream::target::{Origin, Target};
use http::header::{CONTENT_LOCATION, COOKIE, FORWARDED, HOST, HeaderName, HeaderValue, LINK, LOCATION, VIA};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, StatusCode, Uri, Version};
use ipnet::IpNet;
use serde::Deserialize;
use std::net::IpAddr;
use std::sync::{LazyLock, Mutex, PoisonError};

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

const X_FORWARDED: &str = "x-forwarded-";

/// This process's name in `Via`. It is its own, so that a chain of several gateways is not taken for a loop.
static VIA_NAME: LazyLock<String> = LazyLock::new(|| format!("stc-gateway-{:08x}", process() as u32));

/// The values of `Via` for HTTP/1.0, 1.1 and 2.
static VIAS: LazyLock<[HeaderValue; 3]> =
    LazyLock::new(|| ["1.0", "1.1", "2.0"].map(|version| value(format!("{version} {}", *VIA_NAME))));

/// The other end of a client's connection, with its texts: they are the same for all requests.
#[derive(Debug)]
pub(crate) struct Peer {
    address: IpAddr,
    /// `http` or `https`.
    proto: &'static str,
    /// Its element of `X-Forwarded-For`.
    text: HeaderValue,
    /// The start of its element of `Forwarded`.
    node: String,
    /// The latest `Host` and the element with it: most requests of a connection name the same.
    latest: Mutex<Option<(HeaderValue, HeaderValue)>>,
}

impl Peer {
    pub(crate) fn new(address: IpAddr, secure: bool) -> Self {
        let proto = if secure { "https" } else { "http" };
        let node = match address.to_canonical() {
            IpAddr::V4(address) => format!("for={address}"),
            IpAddr::V6(address) => format!("for=\"[{address}]\""),
        };
        Self { address, proto, text: value(address.to_canonical().to_string()), node, latest: Mutex::default() }
    }

    /// Returns `http` or `https`.
    pub(crate) const fn scheme(&self) -> &'static str {
        self.proto
    }

    /// Returns the address that a trusted proxy says its client has: of `X-Forwarded-For`, the last that is no trusted proxy's. `None` if
    /// the peer is not trusted, or names none.
    pub(crate) fn forwarded_for(&self, trusted: &TrustedProxies, headers: &HeaderMap) -> Option<IpAddr> {
        if !trusted.contains(self.address) {
            return None;
        }
        let lines: Vec<_> = headers.get_all(FOR).iter().collect();
        let mut elements = lines.into_iter().rev().flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
        elements.find_map(|element| match element.trim().parse() {
            Ok(address) if trusted.contains(address) => None,
            read => Some(read.ok()),
        })?
    }

    /// Returns its element of `Forwarded` (RFC 7239).
    fn element(&self, host: Option<&HeaderValue>) -> HeaderValue {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*latest, host) {
            (Some((known, element)), Some(host)) if known == host => element.clone(),
            _ => {
                let element = self.new_element(host);
                *latest = host.map(|host| (host.clone(), element.clone()));
                element
            }
        }
    }

    fn new_element(&self, host: Option<&HeaderValue>) -> HeaderValue {
        let host = host.and_then(|host| host.to_str().ok());
        let mut text = String::with_capacity(self.node.len() + host.map_or(0, str::len) + 22);
        text.push_str(&self.node);
        if let Some(host) = host {
            text.push_str(";host=\"");
            text.push_str(host);
            text.push('"');
        }
        text.push_str(";proto=");
        text.push_str(self.proto);
        value(text)
    }
}

/// The `Host` that an upstream gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HostHeader {
    /// The client's.
    Keep,
    /// The host of the upstream's URL.
    Upstream,
}

/// The proxies before this program, whose `Forwarded` and `X-Forwarded-*` headers are kept. None by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustedProxies(Vec<IpNet>);

impl<'de> Deserialize<'de> for TrustedProxies {
    /// Reads addresses and networks: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: String| {
            let network = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
            network.ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not an address or a network")))
        };
        Vec::<String>::deserialize(deserializer)?.into_iter().map(read).collect::<Result<_, _>>().map(Self)
    }
}

impl TrustedProxies {
    fn contains(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.0.iter().any(|network| network.contains(&peer))
    }
}

/// Returns the host that a request names, without a port and without a dot at its end, which stands for the root of all names.
pub(crate) fn host_of<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> &'a str {
    let line = || headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = uri.authority().map(Authority::as_str).or_else(line).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    name.trim_end_matches('.')
}

/// Returns whether an authority has no user information.
pub(crate) fn plain(host: &Authority) -> bool {
    !host.as_str().contains('@')
}

/// Adds the headers of a proxy to a request.
pub(crate) fn forward(
    parts: &mut Parts,
    peer: &Peer,
    trusted: &TrustedProxies,
    host: HostHeader,
) -> Result<(), Failed> {
    let found = Found::of(&parts.headers);
    if found.via && has_passed(&parts.headers) {
        return Err(Failed(StatusCode::LOOP_DETECTED, "an upstream of this gateway leads back to it"));
    }
    // The host that a route is chosen by: that of an absolute URL or of `:authority` goes before `Host`.
    let named = parts.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    let is_header = named.is_none();
    let requested = named.or_else(|| parts.headers.get(HOST).filter(|host| !host.is_empty()).cloned());
    let headers = &mut parts.headers;
    if parts.version == Version::HTTP_2 {
        join_cookies(headers);
    }
    // Once for all that is added here.
    headers.reserve(8);
    if found.forwarded && !trusted.contains(peer.address) {
        forget(headers);
    }
    headers.append(FOR, peer.text.clone());
    headers.append(FORWARDED, peer.element(requested.as_ref()));
    if let Some(host) = &requested {
        headers.entry(FORWARDED_HOST).or_insert_with(|| host.clone());
    }
    headers.entry(PROTO).or_insert(HeaderValue::from_static(peer.proto));
    headers.append(
        VIA,
        VIAS[usize::from(parts.version != Version::HTTP_10) + usize::from(parts.version == Version::HTTP_2)].clone(),
    );
    match requested {
        // It stays as it came.
        Some(_) if host == HostHeader::Keep && is_header => {}
        Some(requested) if host == HostHeader::Keep => {
            headers.insert(HOST, requested);
        }
        _ => {
            headers.remove(HOST);
        }
    }
    Ok(())
}

/// Whether a request has headers of proxies before this one.
#[derive(Default)]
struct Found {
    via: bool,
    /// `Forwarded` or `X-Forwarded-*`.
    forwarded: bool,
}

impl Found {
    fn of(headers: &HeaderMap) -> Self {
        let mut found = Self::default();
        for name in headers.keys().map(HeaderName::as_str) {
            found.via |= name == "via";
            found.forwarded |= name == "forwarded" || name.starts_with(X_FORWARDED);
        }
        found
    }
}

/// Returns whether a request has passed this process before.
fn has_passed(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(VIA).into_iter().filter_map(|line| line.to_str().ok());
    let mut hops = lines.flat_map(|line| line.split(','));
    hops.any(|hop| hop.split_ascii_whitespace().nth(1) == Some(VIA_NAME.as_str()))
}

/// Joins cookies to one header: HTTP/2 allows several, HTTP/1.1 does not (RFC 9113, 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let mut lines = headers.get_all(COOKIE).iter();
    if let (Some(_), Some(_)) = (lines.next(), lines.next()) {
        let lines: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
        if let Ok(joined) = HeaderValue::from_bytes(&lines.join(&b"; "[..])) {
            headers.insert(COOKIE, joined);
        }
    }
}

/// Removes what a peer that is not trusted says about itself.
fn forget(headers: &mut HeaderMap) {
    headers.remove(FORWARDED);
    let about = |name: &&HeaderName| name.as_str().starts_with(X_FORWARDED);
    let names: Vec<HeaderName> = headers.keys().filter(about).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

/// Reads where a request arrived, as the client names it, from the headers that [`forward`] has set or left.
fn origin(headers: &HeaderMap) -> Origin {
    let first = |name: HeaderName| headers.get(name)?.to_str().ok()?.split(',').next().map(str::trim);
    let scheme = if first(PROTO) == Some("https") { "https" } else { "http" };
    let host = first(FORWARDED_HOST).filter(|host| host.parse::<Authority>().is_ok_and(|host| plain(&host)));
    Origin { scheme, host: host.map(String::from) }
}

/// Creates a header value of addresses, hosts and names.
fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("unknown"))
}

/// Replaces references to the upstream in `Location`, `Content-Location` and `Link` by what the client can use. `request` are the headers
/// that [`forward`] has made.
pub(crate) fn rewrite_references(headers: &mut HeaderMap, target: &Target, request: &HeaderMap) {
    if !headers.keys().any(|name| matches!(name.as_str(), "location" | "content-location" | "link")) {
        return;
    }
    let origin = &origin(request);
    for name in [LOCATION, CONTENT_LOCATION, LINK] {
        let http::header::Entry::Occupied(mut lines) = headers.entry(&name) else { continue };
        for line in lines.iter_mut() {
            let Ok(text) = line.to_str() else { continue };
            let new = if name == LINK { links(text, target, origin) } else { target.reference(text, origin) };
            if let Some(new) = new.and_then(|new| HeaderValue::try_from(new).ok()) {
                *line = new;
            }
        }
    }
}

/// Rewrites the references of a `Link` header: each is between `<` and `>`, outside quoted strings.
fn links(line: &str, target: &Target, origin: &Origin) -> Option<String> {
    let (mut new, mut changed, mut rest, mut quoted) = (String::new(), false, line, false);
    while let Some(at) = rest.find(['<', '"', '\\']) {
        let (before, from) = rest.split_at(at);
        new.push_str(before);
        let end = match from.as_bytes()[0] {
            b'<' if !quoted => from.find('>').map_or(from.len(), |end| end + 1),
            b'\\' if quoted => from.chars().take(2).map(char::len_utf8).sum(),
            mark => {
                quoted ^= mark == b'"';
                1
            }
        };
        let inner = from[..end].strip_prefix('<').and_then(|inner| inner.strip_suffix('>'));
        match inner.and_then(|inner| target.reference(inner.trim(), origin)) {
            Some(reference) => {
                new.push_str(&format!("<{reference}>"));
                changed = true;
            }
            None => new.push_str(&from[..end]),
        }
        rest = &from[end..];
    }
    new.push_str(rest);
    changed.then_some(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn parts(version: Version, lines: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().version(version).uri("/x");
        for (name, value) in lines {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn all(headers: &HeaderMap, name: &str) -> Vec<String> {
        headers.get_all(name).iter().map(|line| line.to_str().unwrap().to_owned()).collect()
    }

    const PEER: &str = "10.0.0.9";
    const FORGED: &[(&str, &str)] = &[
        ("host", "api.example:8080"),
        ("x-forwarded-for", "1.2.3.4"),
        ("x-forwarded-host", "public.example"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-port", "443"),
        ("forwarded", "for=1.2.3.4"),
    ];

    #[test]
    fn the_address_behind_trusted_proxies() {
        let trusted = TrustedProxies(vec!["10.0.0.0/8".parse().unwrap()]);
        let of = |peer: &str, lines: &[&'static str]| {
            let headers = lines.iter().map(|line| (FOR, HeaderValue::from_static(line))).collect();
            Peer::new(peer.parse().unwrap(), false).forwarded_for(&trusted, &headers).map(|address| address.to_string())
        };
        for (peer, lines, expected) in [
            ("10.0.0.9", &["192.0.2.1"][..], Some("192.0.2.1")),
            ("10.0.0.9", &["6.6.6.6, 192.0.2.1"], Some("192.0.2.1")),
            ("10.0.0.9", &["6.6.6.6", "192.0.2.1 , 10.0.0.7"], Some("192.0.2.1")),
            ("::ffff:10.0.0.9", &["2001:db8::1"], Some("2001:db8::1")),
            ("10.0.0.9", &["192.0.2.1, unknown"], None),
            ("10.0.0.9", &["10.0.0.7"], None),
            ("10.0.0.9", &[], None),
            ("192.0.2.9", &["192.0.2.1"], None),
        ] {
            assert_eq!(of(peer, lines).as_deref(), expected, "{peer} {lines:?}");
        }
    }

    #[test]
    fn a_client_cannot_forge_what_proxies_add() {
        let mut parts = parts(Version::HTTP_11, FORGED);
        let none = TrustedProxies::default();
        forward(&mut parts, &Peer::new(PEER.parse().unwrap(), false), &none, HostHeader::Keep)
            .unwrap_or_else(|_| panic!());
        assert_eq!(origin(&parts.headers), Origin { scheme: "http", host: Some("api.example:8080".to_owned()) });
        for (name, expected) in [
            ("x-forwarded-for", &["10.0.0.9"][..]),
            ("x-forwarded-host", &["api.example:8080"]),
            ("x-forwarded-proto", &["http"]),
            ("x-forwarded-port", &[]),
            ("forwarded", &["for=10.0.0.9;host=\"api.example:8080\";proto=http"]),
            ("host", &["api.example:8080"]),
            ("via", &[&format!("1.1 {}", *VIA_NAME)]),
        ] {
            assert_eq!(all(&parts.headers, name), expected, "{name}");
        }
    }

    #[test]
    fn a_trusted_proxy_is_believed() {
        let trusted =
            toml::from_str::<std::collections::HashMap<String, TrustedProxies>>("x = [\"10.0.0.0/8\", \"fd00::1\"]\n");
        let trusted = &trusted.unwrap()["x"];
        let mut parts = parts(Version::HTTP_2, FORGED);
        forward(&mut parts, &Peer::new(PEER.parse().unwrap(), false), trusted, HostHeader::Upstream)
            .unwrap_or_else(|_| panic!());
        assert_eq!(origin(&parts.headers), Origin { scheme: "https", host: Some("public.example".to_owned()) });
        assert_eq!(all(&parts.headers, "x-forwarded-for"), ["1.2.3.4", "10.0.0.9"]);
        assert_eq!(all(&parts.headers, "forwarded").len(), 2);
        assert_eq!(all(&parts.headers, "x-forwarded-host"), ["public.example"]);
        assert_eq!(all(&parts.headers, "x-forwarded-port"), ["443"]);
        assert_eq!(all(&parts.headers, "via"), [format!("2.0 {}", *VIA_NAME)]);
        assert!(!parts.headers.contains_key("host"));
        assert!(trusted.contains("fd00::1".parse().unwrap()) && !trusted.contains("fd00::2".parse().unwrap()));
        assert!(trusted.contains("::ffff:10.1.1.1".parse().unwrap()) && !trusted.contains("11.0.0.1".parse().unwrap()));
    }

    #[test]
    fn a_loop_is_seen_and_another_gateway_is_not_one() {
        let via = |name: &str| {
            let mut parts = parts(Version::HTTP_11, &[("via", &format!("1.0 a, 1.1 {name} (x)")), ("host", "h")]);
            forward(&mut parts, &Peer::new(PEER.parse().unwrap(), false), &TrustedProxies::default(), HostHeader::Keep)
                .is_err()
        };
        assert!(via(&VIA_NAME) && !via("stc-gateway-00000000x") && !via("nginx"));
    }

    #[test]
    fn cookies_of_http2_are_joined() {
        for (version, expected) in [(Version::HTTP_2, &["a=1; b=2"][..]), (Version::HTTP_11, &["a=1", "b=2"])] {
            let mut parts = parts(version, &[("cookie", "a=1"), ("x", "1"), ("cookie", "b=2"), ("host", "h")]);
            let peer = Peer::new(PEER.parse().unwrap(), false);
            let _ = forward(&mut parts, &peer, &TrustedProxies::default(), HostHeader::Keep);
            assert_eq!(all(&parts.headers, "cookie"), expected);
        }
    }

    /// A client must not choose a route by one host and be another for the upstream.
    #[test]
    fn the_host_of_the_url_goes_before_the_header() {
        let mut parts = parts(Version::HTTP_11, &[("host", "b")]);
        parts.uri = Uri::from_static("http://a/x");
        let peer = Peer::new(PEER.parse().unwrap(), false);
        let _ = forward(&mut parts, &peer, &TrustedProxies::default(), HostHeader::Keep);
        assert_eq!((all(&parts.headers, "host"), host_of(&parts.uri, &parts.headers)), (vec!["a".to_owned()], "a"));
    }

    #[test]
    fn links_are_rewritten_one_by_one() {
        let target = Target::parse("http://a").unwrap();
        let origin = Origin { scheme: "http", host: Some("h".to_owned()) };
        for (line, expected) in [
            (
                r#"<http://a/2>; rel="next", <http://b/>; rel=x"#,
                Some(r#"<http://h/2>; rel="next", <http://b/>; rel=x"#),
            ),
            (r#"</2>; title="<http://a/\"2>", <http://a/3>"#, Some(r#"</2>; title="<http://a/\"2>", <http://h/3>"#)),
            ("<http://b/>", None),
            ("<http://a/", None),
            ("", None),
        ] {
            assert_eq!(links(line, &target, &origin).as_deref(), expected, "{line}");
        }
    }
}
