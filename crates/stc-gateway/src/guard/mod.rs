//! What a route requires of a request before it is forwarded: credentials, a rate, allowed tools.

mod auth;
mod jwt;
mod rate;
mod ring_provider;
mod settings;
mod tokens;
mod tools;

pub(crate) use rate::Usage;
pub(crate) use settings::{AuthSettings, GuardSettings, RateSettings};
pub(crate) use tokens::same;
pub(crate) use tools::Stop;

use crate::body::{RequestBody, ResponseBody};
use crate::failed::Failed;
use auth::Auth;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, Request, Response, StatusCode};
use rate::{Rate, TenantKey};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tools::Tools;

/// The client as its connection shows it.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    /// The address that it is counted under.
    pub(crate) address: IpAddr,
    /// The name in its certificate, if it has a valid one.
    pub(crate) certificate: Option<&'a Arc<str>>,
}

/// Why a request is not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// No bearer token.
    Missing,
    /// A bearer token that nothing vouches for.
    Invalid,
    /// No client certificate.
    Certificate,
    /// More requests per second than allowed; the seconds until the next.
    Rate(u64),
    /// More requests than allowed today; the seconds until tomorrow.
    Quota(u64),
}

/// The names of what is counted as rejected.
pub(crate) const REJECTED: [&str; 5] = ["credentials", "certificate", "rate", "quota", "tool"];

/// The place of a blocked tool in [`REJECTED`].
pub(crate) const TOOL: usize = 4;

impl Rejection {
    /// Returns the place of its name in [`REJECTED`].
    pub(crate) const fn place(self) -> usize {
        match self {
            Self::Missing | Self::Invalid => 0,
            Self::Certificate => 1,
            Self::Rate(_) => 2,
            Self::Quota(_) => 3,
        }
    }

    /// Creates the response.
    pub(crate) fn answer(self) -> Response<ResponseBody> {
        let (status, text) = match self {
            Self::Missing => (StatusCode::UNAUTHORIZED, "a bearer token is required"),
            Self::Invalid => (StatusCode::UNAUTHORIZED, "the bearer token is not valid"),
            Self::Certificate => (StatusCode::FORBIDDEN, "a client certificate is required"),
            Self::Rate(_) => (StatusCode::TOO_MANY_REQUESTS, "too many requests per second"),
            Self::Quota(_) => (StatusCode::TOO_MANY_REQUESTS, "too many requests today"),
        };
        let mut response = Failed(status, text).answer();
        let headers = response.headers_mut();
        match self {
            Self::Missing => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Invalid => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"invalid_token\""));
            }
            Self::Certificate => {}
            Self::Rate(seconds) | Self::Quota(seconds) => {
                headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
        }
        response
    }
}

/// The requirements of one route.
pub(crate) struct Guard {
    auth: Option<Auth>,
    rate: Option<Rate>,
    tools: Option<Tools>,
}

impl Guard {
    /// Reads the files that the settings name. `usage` returns what tenants have used of a rate's scope so far.
    pub(crate) fn new(settings: &GuardSettings, usage: impl Fn(&str) -> Arc<Usage>) -> Result<Self, String> {
        let auth = settings.auth.as_ref().filter(|auth| !auth.is_open()).map(Auth::load).transpose()?;
        let rate = settings.rate.as_ref().map(|(scope, rate)| Rate::new(rate.clone(), usage(scope)));
        let tools = settings.tools.clone().map(Tools::new);
        Ok(Self { auth, rate, tools })
    }

    /// Returns whether anything is required.
    pub(crate) const fn requires_something(&self) -> bool {
        self.auth.is_some() || self.rate.is_some() || self.tools.is_some()
    }

    /// Checks the head of a request, and returns the tenant that its credentials prove. Credentials for this program are
    /// removed from the headers.
    pub(crate) fn admit(&self, headers: &mut HeaderMap, caller: Caller<'_>) -> Result<Option<Arc<str>>, Rejection> {
        let tenant = match &self.auth {
            Some(auth) => auth.check(headers, caller.certificate)?,
            None => None,
        };
        if let Some(rate) = &self.rate {
            let key = tenant.clone().map_or(TenantKey::Address(caller.address), TenantKey::Name);
            rate.take(key)?;
        }
        Ok(tenant)
    }

    /// Checks the tools that a request calls.
    pub(crate) async fn check_tools(
        &self,
        request: Request<RequestBody>,
        limit: Duration,
    ) -> Result<Request<RequestBody>, Stop> {
        match &self.tools {
            Some(tools) => tools.check(request, limit).await,
            None => Ok(request),
        }
    }

    /// Returns whether the route limits the tools that can be called.
    pub(crate) const fn checks_tools(&self) -> bool {
        self.tools.is_some()
    }
}
