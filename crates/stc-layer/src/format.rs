//! The formats that a client can prefer, with their names on the wire.

use http::HeaderValue;
use serde::{Deserialize, Serialize};

/// A format in which a response can be sent instead of JSON. A client that reads a version of STC also reads the lower
/// ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Format {
    /// TOON, by the crate toon-format.
    #[serde(rename = "toon")]
    Toon,
    /// STC 1.
    #[serde(rename = "stc1")]
    Stc1,
    /// STC 2, as a model reads it best.
    #[serde(rename = "stc2")]
    Stc2,
    /// STC 2 in fewer tokens.
    #[serde(rename = "stc2-dense")]
    Stc2Dense,
    /// STC 2 dense with references.
    #[serde(rename = "stc2-refs")]
    Stc2Refs,
}

impl Format {
    /// All formats, in the order of the enumeration.
    pub const ALL: [Self; 5] = [Self::Toon, Self::Stc1, Self::Stc2, Self::Stc2Dense, Self::Stc2Refs];

    /// Returns the name used in `X-Prefer-Format`, in `_meta` and in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Toon => "toon",
            Self::Stc1 => "stc1",
            Self::Stc2 => "stc2",
            Self::Stc2Dense => "stc2-dense",
            Self::Stc2Refs => "stc2-refs",
        }
    }

    /// Returns whether this build can write the format.
    #[must_use]
    pub fn is_available(self) -> bool {
        (self == Self::Toon && cfg!(feature = "toon")) || options_for(self).is_some()
    }

    /// Returns the value of `X-STC-Version`; none for TOON.
    #[must_use]
    pub const fn version(self) -> Option<HeaderValue> {
        match self {
            Self::Toon => None,
            Self::Stc1 => Some(HeaderValue::from_static("1")),
            Self::Stc2 => Some(HeaderValue::from_static("2")),
            Self::Stc2Dense => Some(HeaderValue::from_static("2; dense")),
            Self::Stc2Refs => Some(HeaderValue::from_static("2; refs")),
        }
    }

    /// Returns the value of `Content-Type` for a whole body.
    #[must_use]
    pub const fn content_type(self) -> HeaderValue {
        match self {
            Self::Toon => HeaderValue::from_static("text/toon"),
            _ => HeaderValue::from_static("application/stc+json"),
        }
    }

    /// Returns the next lower format that the same client reads.
    #[must_use]
    pub const fn lesser(self) -> Option<Self> {
        match self {
            Self::Stc2Refs => Some(Self::Stc2Dense),
            Self::Stc2Dense => Some(Self::Stc2),
            Self::Stc2 => Some(Self::Stc1),
            Self::Stc1 | Self::Toon => None,
        }
    }
}

/// Returns the codec's options for a format; `None` for TOON, which the codec does not write.
#[must_use]
pub fn options_for(format: Format) -> Option<stc::Options> {
    match format {
        Format::Stc1 => Some(stc::Options::default().format(stc::Format::Stc1)),
        Format::Stc2 => Some(stc::Options::default().format(stc::Format::Stc2)),
        Format::Stc2Dense => Some(stc::Options::default().format(stc::Format::Stc2Dense)),
        Format::Stc2Refs => Some(stc::Options::default().format(stc::Format::Stc2Refs)),
        Format::Toon => None,
    }
}
