//! The credentials of a request: a bearer token from a list or with a signature, a client certificate.

use super::jwt::Jwt;
use super::rejection::Rejection;
use super::settings::AuthSettings;
use super::tokens::Tokens;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use std::sync::Arc;

/// The credentials that a route requires.
pub(crate) struct Auth {
    tokens: Option<Tokens>,
    jwt: Option<Jwt>,
    client_certificate: bool,
    forward: bool,
}

impl Auth {
    /// Reads the files that the settings name.
    pub(crate) fn load(settings: &AuthSettings) -> Result<Self, String> {
        let AuthSettings { tokens, jwt, client_certificate, forward } = settings;
        Ok(Self {
            tokens: tokens.as_deref().map(Tokens::load).transpose()?,
            jwt: jwt.as_ref().map(Jwt::load).transpose()?,
            client_certificate: *client_certificate,
            forward: *forward,
        })
    }

    /// Returns the tenant that a request's credentials prove; that of its bearer token, if one is required.
    pub(crate) fn check(
        &self,
        headers: &mut HeaderMap,
        certificate: Option<&Arc<str>>,
    ) -> Result<Option<Arc<str>>, Rejection> {
        if self.client_certificate && certificate.is_none() {
            return Err(Rejection::Certificate);
        }
        if self.tokens.is_none() && self.jwt.is_none() {
            return Ok(certificate.filter(|_| self.client_certificate).cloned());
        }
        let token = bearer(headers)?;
        let listed = self.tokens.as_ref().and_then(|tokens| tokens.tenant(token));
        let tenant = listed.or_else(|| self.jwt.as_ref().and_then(|jwt| jwt.tenant(token)));
        let tenant = tenant.ok_or(Rejection::Invalid)?;
        if !self.forward {
            headers.remove(AUTHORIZATION);
        }
        Ok(Some(tenant))
    }
}

/// Returns the bearer token of a request.
fn bearer(headers: &HeaderMap) -> Result<&str, Rejection> {
    let mut lines = headers.get_all(AUTHORIZATION).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return Err(if headers.contains_key(AUTHORIZATION) { Rejection::Invalid } else { Rejection::Missing });
    };
    let (scheme, token) = line.to_str().ok().and_then(|line| line.split_once(' ')).ok_or(Rejection::Missing)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(Rejection::Missing) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn one_bearer_token() {
        for (lines, expected) in [
            (&["Bearer abc"][..], Ok("abc")),
            (&["bearer  abc "], Ok("abc")),
            (&["Basic abc"], Err(Rejection::Missing)),
            (&["Bearer"], Err(Rejection::Missing)),
            (&[], Err(Rejection::Missing)),
            (&["Bearer abc", "Bearer def"], Err(Rejection::Invalid)),
        ] {
            let headers = lines.iter().map(|line| (AUTHORIZATION, HeaderValue::from_static(line))).collect();
            assert_eq!(bearer(&headers), expected, "{lines:?}");
        }
    }
}
