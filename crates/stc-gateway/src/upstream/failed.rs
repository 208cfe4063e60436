//! Answers of the gateway itself, when the upstream's response is missing.

use http::StatusCode;

/// The status and text of an answer when the upstream's response is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed(pub(crate) StatusCode, pub(crate) &'static str);

/// The answer to a request whose body ends early.
pub(crate) const INCOMPLETE: Failed = Failed(StatusCode::BAD_REQUEST, "the request's body is incomplete or malformed");

/// The answer to a request over the size limit.
pub(crate) const TOO_LONG: Failed = Failed(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long");

/// Any error of a body.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
