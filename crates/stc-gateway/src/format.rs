//! The formats a client can ask for, and what each is called on the wire.

use http::HeaderValue;
use serde::{Deserialize, Serialize};

/// A format that a response can be sent in instead of JSON. For STC it is the most the client reads: a reader of STC 2
/// reads STC 1, and everyone reads JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Format {
    /// TOON, by the crate toon-format.
    #[serde(rename = "toon")]
    Toon,
    /// STC 1.
    #[serde(rename = "stc1")]
    Stc1,
    /// STC 2 without references.
    #[serde(rename = "stc2")]
    Stc2,
    /// STC 2 with references.
    #[serde(rename = "stc2-refs")]
    Stc2Refs,
}

impl Format {
    /// Every format, in the order of a [`Format`]'s numbers.
    pub const ALL: [Self; 4] = [Self::Toon, Self::Stc1, Self::Stc2, Self::Stc2Refs];

    /// Its name in `X-Prefer-Format`, in `_meta` and in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Toon => "toon",
            Self::Stc1 => "stc1",
            Self::Stc2 => "stc2",
            Self::Stc2Refs => "stc2-refs",
        }
    }

    /// The value of `X-STC-Version`; none for TOON.
    #[must_use]
    pub const fn version(self) -> Option<HeaderValue> {
        match self {
            Self::Toon => None,
            Self::Stc1 => Some(HeaderValue::from_static("1")),
            Self::Stc2 => Some(HeaderValue::from_static("2")),
            Self::Stc2Refs => Some(HeaderValue::from_static("2; refs")),
        }
    }

    /// The value of `Content-Type` for a whole body.
    #[must_use]
    pub const fn content_type(self) -> HeaderValue {
        match self {
            Self::Toon => HeaderValue::from_static("text/toon"),
            _ => HeaderValue::from_static("application/stc+json"),
        }
    }

    /// The next best for the same client: what it reads besides.
    #[must_use]
    pub const fn lesser(self) -> Option<Self> {
        match self {
            Self::Stc2Refs => Some(Self::Stc2),
            Self::Stc2 => Some(Self::Stc1),
            Self::Stc1 | Self::Toon => None,
        }
    }
}

/// How the codec is set for a format; `None` if this build cannot write it.
#[must_use]
pub fn options_for(format: Format) -> Option<stc::Options> {
    match format {
        Format::Stc1 => Some(stc::Options::default().version(stc::Version::V1)),
        Format::Stc2 => Some(stc::Options::default().version(stc::Version::V2)),
        Format::Stc2Refs => Some(stc::Options::default().version(stc::Version::V2).references(true)),
        Format::Toon => None,
    }
}
