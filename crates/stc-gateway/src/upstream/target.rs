//! An upstream as a route reaches it: its address, and how paths outside correspond to paths there.
//!
//! A route with the path `/tools`, the upstream `http://a/v1` and `strip = true` maps `/tools/list?x` to `/v1/list?x`, and
//! maps the references in the upstream's response headers back: `http://a/v1/list` to `http://HOST/tools/list`.

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use std::sync::Arc;

/// What a request arrived at, as the client names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// `http` or `https`.
    pub(crate) scheme: &'static str,
    /// The host and port; `None` if an HTTP/1.0 client sent none.
    pub(crate) host: Option<String>,
}

/// An upstream and the mapping of paths.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    scheme: Scheme,
    authority: Authority,
    /// The path of the upstream's URL, without a slash at its end.
    base: String,
    /// The start of a request's path that the base replaces.
    strip: String,
}

impl Target {
    /// Parses the URL of an upstream: a scheme, a host, optionally a port and a path, and no query.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|_| format!("`{url}` is not a URL"))?;
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(format!("`{url}` is not an http or https URL"));
        };
        if ![Scheme::HTTP, Scheme::HTTPS].contains(&scheme) || authority.host().is_empty() {
            return Err(format!("`{url}` is not an http or https URL"));
        }
        if authority.as_str().contains('@') {
            return Err("the URL of an upstream cannot contain a user name".to_owned());
        }
        let path = parts.path_and_query;
        if path.as_ref().is_some_and(|path| path.query().is_some()) || url.contains('#') {
            return Err(format!("`{url}` has a query or a fragment"));
        }
        let base = path.map_or(String::new(), |path| path.path().trim_end_matches('/').to_owned());
        Ok(Self { scheme, authority, base, strip: String::new() })
    }

    /// Replaces this start of a request's path by the base.
    pub(crate) fn stripping(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.strip);
        self
    }

    /// Returns whether the upstream's URL has a path, which requests must not leave.
    pub(crate) const fn has_base(&self) -> bool {
        !self.base.is_empty()
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    #[cfg(test)]
    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Returns the URL of the upstream, for logs.
    pub(crate) fn name(&self) -> Arc<str> {
        format!("{}://{}{}", self.scheme, self.authority, self.base).into()
    }

    /// Returns the URL of the upstream's host.
    pub(crate) fn root(&self) -> Option<Uri> {
        self.at(PathAndQuery::from_static("/"))
    }

    /// Returns the URL of a request at the upstream.
    pub(crate) fn url(&self, requested: &Uri) -> Option<Uri> {
        self.at(self.path(requested)?)
    }

    /// Returns the path and the query of a request at the upstream.
    pub(crate) fn path(&self, requested: &Uri) -> Option<PathAndQuery> {
        if self.base.is_empty() && self.strip.is_empty() {
            return Some(requested.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/")));
        }
        let path = requested.path_and_query().map_or("/", PathAndQuery::as_str);
        let rest = self.stripped(path);
        let slash = if self.base.is_empty() && !rest.starts_with('/') { "/" } else { "" };
        format!("{}{slash}{rest}", self.base).try_into().ok()
    }

    /// Takes the segments of the route's path off a request's, which may have them in another spelling.
    fn stripped<'a>(&self, path: &'a str) -> &'a str {
        if let Some(rest) = path.strip_prefix(self.strip.as_str()) {
            return rest;
        }
        let end = path.find('?').unwrap_or(path.len());
        let segments = self.strip.matches('/').count();
        let next = path[..end].match_indices('/').nth(segments).map_or(end, |(next, _)| next);
        &path[next..]
    }

    fn at(&self, path: PathAndQuery) -> Option<Uri> {
        Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(path).build().ok()
    }

    /// Returns the URL of a path at the upstream's host, without the mapping.
    pub(crate) fn origin_url(&self, path: &Uri) -> Option<Uri> {
        self.at(path.path_and_query()?.clone())
    }

    /// Returns a reference of the upstream (an absolute URL, or a path) as the client can use it; `None` if it stays.
    pub(crate) fn reference(&self, reference: &str, origin: &Origin) -> Option<String> {
        let Some((scheme, authority, path)) = split(reference) else {
            let moved = self.base != self.strip && reference.starts_with('/');
            return moved.then(|| self.outside(reference)).flatten();
        };
        let own = (self.scheme.as_str(), self.authority.as_str());
        let scheme = scheme.unwrap_or(own.0);
        if !scheme.eq_ignore_ascii_case(own.0) || !same_host(authority, own.1, own.0) {
            return None;
        }
        let path = self.outside(path)?;
        match &origin.host {
            Some(host) => Some(format!("{}://{host}{path}", origin.scheme)),
            // Two slashes would be the start of a host.
            None => (!path.starts_with("//")).then_some(path),
        }
    }

    /// Maps a path at the upstream to the path outside; `None` if no request reaches it.
    fn outside(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(self.base.as_str())?;
        if !rest.is_empty() && !rest.starts_with(['/', '?', '#']) {
            return None;
        }
        let slash = if self.strip.is_empty() && !rest.starts_with('/') { "/" } else { "" };
        Some(format!("{}{slash}{rest}", self.strip))
    }
}

/// Splits an absolute reference into scheme, authority and the rest; `None` if it has no authority.
fn split(reference: &str) -> Option<(Option<&str>, &str, &str)> {
    let (scheme, rest) = match reference.strip_prefix("//") {
        Some(rest) => (None, rest),
        None => {
            let (scheme, rest) = reference.split_once("://")?;
            if !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return None;
            }
            (Some(scheme), rest)
        }
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some((scheme, &rest[..end], &rest[end..]))
}

/// Compares hosts with their ports; the scheme's default port can be left out.
fn same_host(one: &str, other: &str, scheme: &str) -> bool {
    let port = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    one.strip_suffix(port).unwrap_or(one).eq_ignore_ascii_case(other.strip_suffix(port).unwrap_or(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(host: Option<&str>) -> Origin {
        Origin { scheme: "https", host: host.map(String::from) }
    }

    #[test]
    fn paths_there_and_back() {
        for (url, strip, requested, expected) in [
            ("http://a", "", "/x?y=1", "http://a/x?y=1"),
            ("http://a:81/", "", "/", "http://a:81/"),
            ("http://a/v1", "", "/x", "http://a/v1/x"),
            ("http://a/v1/", "/tools", "/tools/list?x", "http://a/v1/list?x"),
            ("http://a/v1", "/tools", "/tools", "http://a/v1"),
            ("http://a/v1", "/tools", "/tools?x", "http://a/v1?x"),
            ("http://a", "/tools", "/tools", "http://a/"),
            ("http://a", "/tools", "/tools?x", "http://a/?x"),
            ("https://a", "/tools", "/tools/x", "https://a/x"),
            ("http://a/v1", "/a:b/c", "/a%3Ab/c/x%3Ay?z=/", "http://a/v1/x%3Ay?z=/"),
            ("http://a/v1", "/a:b/c", "/a%3Ab/c?z=/", "http://a/v1?z=/"),
        ] {
            let target = Target::parse(url).unwrap().stripping(strip);
            let got = target.url(&requested.parse().unwrap()).unwrap();
            assert_eq!(got, expected, "{url} {strip} {requested}");
        }
    }

    #[test]
    fn references_to_the_upstream_come_back_as_the_client_names_it() {
        let plain = Target::parse("http://a:80").unwrap();
        let moved = Target::parse("http://a/v1").unwrap().stripping("/tools");
        let stripped = Target::parse("http://a").unwrap().stripping("/tools");
        for (target, reference, expected) in [
            (&plain, "http://a/x?y#z", Some("https://h/x?y#z")),
            (&plain, "HTTP://A:80", Some("https://h/")),
            (&plain, "//a/x", Some("https://h/x")),
            (&plain, "https://a/x", None),
            (&plain, "http://b/x", None),
            (&plain, "http://a:81/x", None),
            (&plain, "http://user@a/x", None),
            (&plain, "http://a.b/x", None),
            (&plain, "/x", None),
            (&plain, "x", None),
            (&plain, "mailto:x", None),
            (&moved, "http://a/v1/x", Some("https://h/tools/x")),
            (&moved, "http://a/v1", Some("https://h/tools")),
            (&moved, "http://a/v12", None),
            (&moved, "http://a/x", None),
            (&moved, "/v1/x?y", Some("/tools/x?y")),
            (&moved, "/x", None),
            (&moved, "x", None),
            (&stripped, "/x", Some("/tools/x")),
            (&stripped, "http://a", Some("https://h/tools")),
        ] {
            assert_eq!(target.reference(reference, &origin(Some("h"))).as_deref(), expected, "{reference}");
        }
        assert_eq!(plain.reference("http://a/x", &origin(None)).as_deref(), Some("/x"));
        assert_eq!(plain.reference("http://a//evil.example", &origin(None)), None);
    }

    #[test]
    fn urls_that_are_refused() {
        for url in ["", "a", "a:80", "ftp://a", "http://", "http:///x", "http://u:p@a", "http://a?x", "http://a/#x"] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
    }
}
