//! Why a response that was asked for in another format was sent as it came.

use http::HeaderValue;
use std::fmt;

/// A reason, as `X-STC-Skipped` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skip {
    /// Shorter than the policy's `min_bytes`.
    TooSmall,
    /// Longer than the policy's `max_bytes`.
    TooLarge,
    /// The content type is not JSON.
    NotJson,
    /// The result would have had as many bytes, or more estimated tokens.
    NotSmaller,
    /// The body says it is JSON and is not, or the format cannot carry it exactly.
    Invalid,
    /// `Cache-Control: no-transform`.
    NoTransform,
    /// A content coding that is not undone here.
    Encoded,
    /// The policy leaves out this route, tool, status or format.
    Excluded,
    /// As many bodies as the policy allows are being held already.
    Busy,
}

impl Skip {
    /// Every reason.
    pub const ALL: [Self; 9] = [
        Self::TooSmall,
        Self::TooLarge,
        Self::NotJson,
        Self::NotSmaller,
        Self::Invalid,
        Self::NoTransform,
        Self::Encoded,
        Self::Excluded,
        Self::Busy,
    ];

    /// The reason in a word.
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
        }
    }

    /// The value of `X-STC-Skipped`.
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
