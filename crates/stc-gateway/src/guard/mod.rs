//! What a route requires of a request before it is forwarded: credentials, a rate, allowed tools.

mod auth;
mod failures;
mod jwt;
mod rate;
mod rejection;
mod ring_provider;
mod settings;
mod tokens;
mod tools;

pub(crate) use rate::Usage;
pub(crate) use rejection::{REJECTED, Rejection, TOOL};
pub(crate) use settings::{AuthSettings, GuardSettings, RateSettings, TENANT_LENGTH};
pub(crate) use tokens::{SHORTEST_TOKEN, same};
pub(crate) use tools::Stop;

use crate::body::{RequestBody, ResponseBody};
use crate::client::memory::Purse;
use crate::client::pace::Pace;
use crate::pool::Threads;
use crate::upstream::failed::Failed;
use auth::Auth;
use failures::Failures;
use http::header::{AUTHORIZATION, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, Request, Response};
use rate::{Rate, TenantKey};
use std::net::IpAddr;
use std::sync::Arc;
use tools::Tools;

/// The client as its connection shows it.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    /// The address that it is counted under.
    pub(crate) address: IpAddr,
    /// The address that a trusted proxy names, if the client is one.
    pub(crate) forwarded: Option<IpAddr>,
    /// The name in its certificate, if it has a valid one.
    pub(crate) certificate: Option<&'a Arc<str>>,
}

/// Creates the response to a request that lacks what its route requires.
pub(crate) fn answer(rejection: Rejection) -> Response<ResponseBody> {
    let (status, text) = rejection.status();
    let mut response = Failed(status, text).answer();
    let headers = response.headers_mut();
    match rejection {
        Rejection::Missing => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Rejection::Invalid => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"invalid_token\""));
        }
        Rejection::Certificate => {}
        Rejection::Rate(seconds) | Rejection::Quota(seconds) | Rejection::Failures(seconds) => {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
    }
    response
}

/// The requirements of one route.
pub(crate) struct Guard {
    auth: Option<Auth>,
    /// Failed credentials, if they have a limit.
    failures: Option<Failures>,
    rate: Option<Rate>,
    tools: Option<Tools>,
}

impl Guard {
    /// Reads the files that the settings name. `usage` returns what tenants have used of a rate's scope so far; `failed` are the failed
    /// credentials that an address can have in a minute, or 0 for any number. The pool reads long bodies for the tools that they call.
    pub(crate) fn new(
        settings: &GuardSettings,
        failed: u64,
        usage: impl Fn(&str) -> Arc<Usage>,
        pool: &Arc<Threads>,
    ) -> Result<Self, String> {
        let auth = settings.auth.as_ref().filter(|auth| !auth.is_open()).map(Auth::load).transpose()?;
        let rate = settings.rate.as_ref().map(|(scope, rate)| Rate::new(rate.clone(), usage(scope)));
        let tools = settings.tools.clone().map(|allowed| Tools::new(allowed, pool.clone()));
        let failures = (failed > 0 && auth.is_some()).then(|| Failures::new(failed, usage(failures::SCOPE)));
        Ok(Self { auth, failures, rate, tools })
    }

    /// Returns whether anything is required.
    pub(crate) const fn requires_something(&self) -> bool {
        self.auth.is_some() || self.rate.is_some() || self.tools.is_some()
    }

    /// Checks the head of a request, and returns the tenant that its credentials prove. Credentials for this program are
    /// removed from the headers.
    pub(crate) fn admit(&self, headers: &mut HeaderMap, caller: Caller<'_>) -> Result<Option<Arc<str>>, Rejection> {
        let tenant = match &self.auth {
            Some(auth) => self.checked(auth, headers, caller)?,
            None => None,
        };
        if let Some(rate) = &self.rate {
            let key = tenant.clone().map_or(TenantKey::Address(caller.address), TenantKey::Name);
            rate.take(key)?;
        }
        Ok(tenant)
    }

    /// Checks credentials, unless too many have failed that came from there.
    fn checked(&self, auth: &Auth, headers: &mut HeaderMap, caller: Caller<'_>) -> Result<Option<Arc<str>>, Rejection> {
        let failures = self.failures.as_ref().filter(|_| headers.contains_key(AUTHORIZATION));
        let address = caller.forwarded.unwrap_or(caller.address);
        if let Some(failures) = failures {
            failures.check(address)?;
        }
        let checked = auth.check(headers, caller.certificate);
        if let (Some(failures), Err(Rejection::Invalid)) = (failures, &checked) {
            failures.note(address);
        }
        checked
    }

    /// Checks the tools that a request calls.
    pub(crate) async fn check_tools(
        &self,
        request: Request<RequestBody>,
        pace: Pace,
        purse: &Purse,
    ) -> Result<Request<RequestBody>, Stop> {
        match &self.tools {
            Some(tools) => tools.check(request, pace, purse).await,
            None => Ok(request),
        }
    }

    /// Returns whether the route limits the tools that can be called.
    pub(crate) const fn checks_tools(&self) -> bool {
        self.tools.is_some()
    }
}
