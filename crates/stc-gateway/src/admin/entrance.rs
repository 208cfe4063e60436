//! Access to the admin address: a token, a `Host` that no foreign page can have, and no work for foreign pages.
//!
//! A page from elsewhere can make a browser send requests to this address under its own host name (DNS rebinding), and then
//! read the answers. So the host must be an address, `localhost`, or a name of the configuration. A page can also post to this address
//! under its own name: it cannot read the answer, but the work is done, so what is more than a look must come from the page here.

use crate::config::AdminAccess;
use crate::guard::{SHORTEST_TOKEN, same};
use crate::upstream::forwarded::host_of;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HOST, HeaderValue, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use std::net::{Ipv4Addr, Ipv6Addr};

/// What a request without the token gets: a browser asks for a name and a password, and the token is the password.
pub(crate) const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"stc-gateway\", Bearer");

/// What requests to the admin address need.
pub(crate) struct Entrance {
    token: Option<Vec<u8>>,
    hosts: Vec<String>,
}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    Host,
    Origin,
    Token,
}

impl Closed {
    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Host => "this host name is not in `admin_hosts`\n",
            Self::Origin => "not from a page of another origin\n",
            Self::Token => "the token of `admin_token` is required\n",
        }
    }
}

impl Entrance {
    /// Reads the token's file.
    pub(crate) fn new(access: &AdminAccess) -> Result<Self, String> {
        let token = match &access.token {
            None => None,
            Some(path) => {
                let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
                let token = text.trim_ascii().to_vec();
                if token.len() < SHORTEST_TOKEN {
                    return Err(format!("{}: a token has at least {SHORTEST_TOKEN} characters", path.display()));
                }
                Some(token)
            }
        };
        Ok(Self { token, hosts: access.hosts.iter().map(|host| host.to_ascii_lowercase()).collect() })
    }

    /// Checks the head of a request.
    pub(crate) fn check(&self, parts: &Parts) -> Result<(), Closed> {
        if !self.knows(host_of(&parts.uri, &parts.headers)) {
            return Err(Closed::Host);
        }
        if !parts.method.is_safe() && is_foreign(&parts.headers) {
            return Err(Closed::Origin);
        }
        match &self.token {
            Some(token) if !credentials(&parts.headers).is_some_and(|sent| same(&sent, token)) => Err(Closed::Token),
            _ => Ok(()),
        }
    }

    fn knows(&self, host: &str) -> bool {
        let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        host.parse::<Ipv4Addr>().is_ok()
            || inside.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok())
            || host.eq_ignore_ascii_case("localhost")
            || self.hosts.contains(&host.to_ascii_lowercase())
    }
}

/// Returns whether a browser sent a request for a page of another origin. Clients that are no browsers name no origin.
fn is_foreign(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site != "same-origin" && site != "none";
    }
    let host = headers.get(HOST).map_or(&b""[..], HeaderValue::as_bytes);
    headers.get_all(ORIGIN).iter().any(|origin| {
        let authority =
            [&b"http://"[..], b"https://"].iter().find_map(|scheme| origin.as_bytes().strip_prefix(*scheme));
        !authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
    })
}

/// Returns the token of a request: that of `Bearer`, or the password of `Basic`.
fn credentials(headers: &HeaderMap) -> Option<Vec<u8>> {
    let (scheme, rest) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().as_bytes().to_vec());
    }
    let pair = STANDARD.decode(rest.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let colon = pair.iter().position(|byte| *byte == b':')?;
    Some(pair[colon + 1..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_no_foreign_page_can_have() {
        let entrance = Entrance { token: None, hosts: vec!["gateway.example".to_owned()] };
        for (host, expected) in [
            ("127.0.0.1:9090", true),
            ("[::1]:9090", true),
            ("localhost:9090", true),
            ("Gateway.Example", true),
            ("evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example:9090", false),
            ("", false),
        ] {
            let request = http::Request::builder().uri("/").header("host", host).body(()).unwrap();
            assert_eq!(entrance.check(&request.into_parts().0).is_ok(), expected, "{host}");
        }
    }

    #[test]
    fn pages_of_other_origins_make_no_work() {
        let token = "0123456789abcdef";
        let basic = format!("Basic {}", STANDARD.encode(format!("operator:{token}")));
        for (lines, expected) in [
            (&[][..], true),
            (&[("origin", "http://localhost:9090")], true),
            (&[("origin", "https://LOCALHOST:9090")], true),
            (&[("origin", "http://localhost:9090"), ("sec-fetch-site", "same-origin")], true),
            (&[("origin", "https://behind-a-proxy.example"), ("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("origin", "http://evil.example")], false),
            (&[("origin", "http://localhost")], false),
            (&[("origin", "http://localhost:9090.evil.example")], false),
            (&[("origin", "null")], false),
            (&[("origin", "")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("origin", "http://localhost:9090"), ("sec-fetch-site", "cross-site")], false),
            (&[("origin", "http://localhost:9090"), ("origin", "http://evil.example")], false),
        ] {
            for expect_token in [None, Some(token)] {
                let entrance = Entrance { token: expect_token.map(Into::into), hosts: Vec::new() };
                for (method, allowed) in [("POST", expected), ("PUT", expected), ("GET", true), ("HEAD", true)] {
                    let mut request = http::Request::builder().method(method).header("host", "localhost:9090");
                    request = request.header("authorization", &basic);
                    for (name, value) in lines {
                        request = request.header(*name, *value);
                    }
                    let checked = entrance.check(&request.body(()).unwrap().into_parts().0);
                    assert_eq!(checked.is_ok(), allowed, "{method} {lines:?}");
                }
            }
        }
    }

    #[test]
    fn the_token_as_bearer_or_password() {
        let token = "0123456789abcdef";
        let entrance = Entrance { token: Some(token.into()), hosts: Vec::new() };
        let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
        for (sent, expected) in [
            (format!("Bearer {token}"), true),
            (basic(&format!("operator:{token}")), true),
            (basic(&format!(":{token}")), true),
            (basic(&format!("{token}:")), false),
            (basic(token), false),
            (format!("Bearer {token}0"), false),
            ("Bearer ".to_owned(), false),
            (token.to_owned(), false),
        ] {
            let request = http::Request::builder().header("host", "localhost").header("authorization", &sent);
            assert_eq!(entrance.check(&request.body(()).unwrap().into_parts().0).is_ok(), expected, "{sent}");
        }
    }
}
