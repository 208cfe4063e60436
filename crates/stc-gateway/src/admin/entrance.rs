//! Access to the admin address: a token, and a `Host` that no foreign page can have.
//!
//! A page from elsewhere can make a browser send requests to this address under its own host name (DNS rebinding), and then
//! read the answers. So the host must be an address, `localhost`, or a name of the configuration.

use crate::config::AdminAccess;
use crate::guard::{SHORTEST_TOKEN, same};
use crate::upstream::forwarded::host_of;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderValue};
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
    Token,
}

impl Closed {
    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Host => "this host name is not in `admin_hosts`\n",
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
