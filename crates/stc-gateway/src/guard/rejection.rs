//! Why a request lacks what its route requires.

use http::StatusCode;

/// Why a request is not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// No bearer token.
    Missing,
    /// A bearer token that is not valid.
    Invalid,
    /// No client certificate.
    Certificate,
    /// More requests per second than allowed; the seconds until the next.
    Rate(u64),
    /// More requests than allowed today; the seconds until tomorrow.
    Quota(u64),
    /// More failed credentials from one address than allowed; the seconds until the next.
    Failures(u64),
}

/// The names under which rejected requests are counted, by reason.
pub(crate) const REJECTED: [&str; 6] = ["credentials", "certificate", "rate", "quota", "tool", "failures"];

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
            Self::Failures(_) => 5,
        }
    }

    /// Returns the status and the text of the response.
    pub(crate) const fn status(self) -> (StatusCode, &'static str) {
        match self {
            Self::Missing => (StatusCode::UNAUTHORIZED, "a bearer token is required"),
            Self::Invalid => (StatusCode::UNAUTHORIZED, "the bearer token is not valid"),
            Self::Certificate => (StatusCode::FORBIDDEN, "a client certificate is required"),
            Self::Rate(_) => (StatusCode::TOO_MANY_REQUESTS, "too many requests per second"),
            Self::Quota(_) => (StatusCode::TOO_MANY_REQUESTS, "too many requests today"),
            Self::Failures(_) => (StatusCode::TOO_MANY_REQUESTS, "too many failed credentials from this address"),
        }
    }
}
