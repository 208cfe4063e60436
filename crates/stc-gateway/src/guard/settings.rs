//! The settings of a guard, as they are written.

use crate::config::values::{Seconds, positive};
use serde::Deserialize;
use serde::de::Error as _;
use stc_layer::Filter;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The longest name of a tenant in bytes.
pub(crate) const TENANT_LENGTH: usize = 128;

/// The requirements of a route.
#[derive(Clone, Debug, Default)]
pub(crate) struct GuardSettings {
    pub(crate) auth: Option<AuthSettings>,
    /// The rate, with the scope that its tenants are counted in.
    pub(crate) rate: Option<(String, RateSettings)>,
    /// The tools that can be called.
    pub(crate) tools: Option<Filter>,
}

/// The credentials that a request needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AuthSettings {
    /// A file with bearer tokens, each in a line `TENANT TOKEN` or `TENANT sha256:DIGITS`.
    pub(crate) tokens: Option<PathBuf>,
    /// Bearer tokens that are signed.
    pub(crate) jwt: Option<JwtSettings>,
    /// Whether the client needs a certificate that `tls.client_ca` vouches for: no.
    pub(crate) client_certificate: bool,
    /// Whether the upstream gets `Authorization`: no.
    pub(crate) forward: bool,
}

impl AuthSettings {
    /// Returns whether `Authorization` is removed once it was checked.
    pub(crate) const fn removes_token(&self) -> bool {
        (self.tokens.is_some() || self.jwt.is_some()) && !self.forward
    }

    /// Returns whether nothing is required.
    pub(crate) const fn is_open(&self) -> bool {
        self.tokens.is_none() && self.jwt.is_none() && !self.client_certificate
    }
}

/// How JSON Web Tokens are verified.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JwtSettings {
    pub(crate) algorithm: Signature,
    /// A file: the secret for HS256, a public key in PEM otherwise.
    pub(crate) key: PathBuf,
    /// The required `iss`.
    pub(crate) issuer: Option<String>,
    /// The required `aud`. Without it, tokens that have an `aud` are rejected.
    pub(crate) audience: Option<String>,
    /// The claim that names the tenant: `sub`.
    #[serde(default = "subject")]
    pub(crate) tenant: String,
    /// Seconds that clocks may differ: 60.
    #[serde(default = "usual_leeway")]
    pub(crate) leeway: Seconds,
}

fn subject() -> String {
    "sub".to_owned()
}

const fn usual_leeway() -> Seconds {
    Seconds::of(60)
}

/// The algorithm of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum Signature {
    HS256,
    RS256,
    ES256,
}

/// How many requests each tenant can send. Without credentials, each address is a tenant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateSettings {
    #[serde(default, deserialize_with = "per_second")]
    requests_per_second: Option<f64>,
    /// Requests at once after a pause: those of one second, and at least 1.
    #[serde(default, deserialize_with = "some_positive")]
    burst: Option<u64>,
    /// Requests from midnight to midnight UTC.
    #[serde(default, deserialize_with = "some_positive")]
    requests_per_day: Option<u64>,
    /// Tenants with other allowances.
    #[serde(default)]
    tenants: BTreeMap<String, Allowance>,
}

/// What one tenant can send.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Allowance {
    #[serde(deserialize_with = "per_second")]
    requests_per_second: Option<f64>,
    #[serde(deserialize_with = "some_positive")]
    burst: Option<u64>,
    #[serde(deserialize_with = "some_positive")]
    requests_per_day: Option<u64>,
}

impl RateSettings {
    /// Checks that every allowance limits something.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.usual().check().map_err(|why| format!("`rate`: {why}"))?;
        let named = |(name, allowance): (&String, &Allowance)| {
            allowance.check().map_err(|why| format!("the rate of the tenant `{name}`: {why}"))
        };
        self.tenants.iter().try_for_each(named)
    }

    const fn usual(&self) -> Allowance {
        let Self { requests_per_second, burst, requests_per_day, .. } = self;
        Allowance { requests_per_second: *requests_per_second, burst: *burst, requests_per_day: *requests_per_day }
    }

    /// Returns the allowance of a tenant; `None` is an address.
    pub(crate) fn of(&self, tenant: Option<&str>) -> Allowance {
        tenant.and_then(|tenant| self.tenants.get(tenant)).copied().unwrap_or_else(|| self.usual())
    }
}

impl Allowance {
    /// Allows this many in a minute, also at once.
    pub(crate) fn in_a_minute(count: u64) -> Self {
        Self { requests_per_second: Some(count as f64 / 60.0), burst: Some(count), requests_per_day: None }
    }

    fn check(&self) -> Result<(), &'static str> {
        match () {
            () if self.requests_per_second.is_none() && self.requests_per_day.is_none() => {
                Err("`requests_per_second` or `requests_per_day` is required")
            }
            () if self.burst.is_some() && self.requests_per_second.is_none() => {
                Err("`burst` needs `requests_per_second`")
            }
            () => Ok(()),
        }
    }

    /// Returns the requests per second and at once; `None` if they have no limit.
    pub(crate) fn rate(&self) -> Option<(f64, f64)> {
        let rate = self.requests_per_second?;
        Some((rate, self.burst.map_or(rate.ceil().max(1.0), |burst| burst as f64)))
    }

    /// Returns the requests per day; `None` if they have no limit.
    pub(crate) const fn per_day(&self) -> Option<u64> {
        self.requests_per_day
    }
}

fn per_second<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let rate = f64::deserialize(deserializer)?;
    let allowed = (0.001..=1e9).contains(&rate);
    if allowed { Ok(Some(rate)) } else { Err(D::Error::custom("requests per second must be between 0.001 and 1e9")) }
}

fn some_positive<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    positive(deserializer).map(Some)
}
