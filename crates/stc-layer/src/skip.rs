//! The reasons why a response is sent unchanged although the client opted in.

use http::HeaderValue;
use std::fmt;

/// A reason, as `X-STC-Skipped` contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skip {
    /// Shorter than the policy's `min_bytes`.
    TooSmall,
    /// Longer than the policy's `max_bytes`.
    TooLarge,
    /// The content type is not JSON.
    NotJson,
    /// The result would have at least as many bytes, or more estimated tokens.
    NotSmaller,
    /// The content type is JSON and the body is not, or the format cannot represent it exactly.
    Invalid,
    /// `Cache-Control: no-transform`.
    NoTransform,
    /// A content coding that is not decoded here, or STC already.
    Encoded,
    /// The policy excludes this route, tool, status or format.
    Excluded,
    /// The policy's `max_held` bodies are in memory already.
    Busy,
    /// `X-Prefer-Format` names no format that this build knows.
    UnknownFormat,
}

impl Skip {
    /// All reasons.
    pub const ALL: [Self; 10] = [
        Self::TooSmall,
        Self::TooLarge,
        Self::NotJson,
        Self::NotSmaller,
        Self::Invalid,
        Self::NoTransform,
        Self::Encoded,
        Self::Excluded,
        Self::Busy,
        Self::UnknownFormat,
    ];

    /// Returns the name used in headers, logs and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooSmall => "too-small",
            Self::TooLarge => "too-large",
            Self::NotJson => "not-json",
            Self::NotSmaller => "not-smaller",
            Self::Invalid => "invalid",
            Self::NoTransform => "no-transform",
            Self::Encoded => "encoded",
            Self::Excluded => "excluded",
            Self::Busy => "busy",
            Self::UnknownFormat => "unknown-format",
        }
    }

    /// Returns the value of `X-STC-Skipped`.
    #[must_use]
    pub const fn header(self) -> HeaderValue {
        HeaderValue::from_static(self.name())
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
