//! The formats that a client can prefer, with their names on the wire.

use http::HeaderValue;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// A format in which a response can be sent instead of JSON. A client that reads one of STC also reads the lower ones: one
/// decoder reads them all, and the order is that of how hard they are for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Format {
    /// TOON, by the crate toon-format.
    #[serde(rename = "toon")]
    Toon,
    /// STC 1.
    #[serde(rename = "stc1")]
    Stc1,
    /// STC 2 for small models: rows keep their keys.
    #[serde(rename = "stc2-labelled")]
    Stc2Labelled,
    /// The whole of STC 2, for large models and programs: rows are cells in the order of a header, and what repeats has a name.
    #[serde(rename = "stc2")]
    Stc2,
}

impl Format {
    /// All formats, in the order of the enumeration.
    pub const ALL: [Self; 4] = [Self::Toon, Self::Stc1, Self::Stc2Labelled, Self::Stc2];

    /// Returns the name used in `X-Prefer-Format`, in `_meta` and in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.codec() {
            Some(format) => format.name(),
            None => "toon",
        }
    }

    /// Returns the format of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns what is wrong with a name that [`named`](Self::named) does not find.
    pub(crate) fn unknown(name: &str) -> String {
        let hint = name.parse::<stc::Format>().err().and_then(stc::UnknownFormat::hint);
        hint.map_or_else(
            || format!("unknown format `{name}`: expected {}", Self::ALL.map(Self::name).join(", ")),
            String::from,
        )
    }

    /// Returns the codec's format; none for TOON, which the codec does not write.
    pub(crate) const fn codec(self) -> Option<stc::Format> {
        match self {
            Self::Toon => None,
            Self::Stc1 => Some(stc::Format::Stc1),
            Self::Stc2Labelled => Some(stc::Format::Stc2Labelled),
            Self::Stc2 => Some(stc::Format::Stc2),
        }
    }

    /// Returns whether this build can write the format.
    #[must_use]
    pub fn is_available(self) -> bool {
        cfg!(feature = "toon") || self.codec().is_some()
    }

    /// Returns the value of `X-STC-Version`; none for TOON.
    #[must_use]
    pub const fn version(self) -> Option<HeaderValue> {
        match self {
            Self::Toon => None,
            Self::Stc1 => Some(HeaderValue::from_static("1")),
            Self::Stc2Labelled => Some(HeaderValue::from_static("2; labelled")),
            Self::Stc2 => Some(HeaderValue::from_static("2")),
        }
    }

    /// Returns the media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Toon => "text/toon",
            _ => "application/stc+json",
        }
    }

    /// Returns the value of `Content-Type` for a whole body.
    #[must_use]
    pub const fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(self.media_type())
    }

    /// Returns the next lower format that the same client reads.
    #[must_use]
    pub const fn lesser(self) -> Option<Self> {
        match self {
            Self::Stc2 => Some(Self::Stc2Labelled),
            Self::Stc2Labelled => Some(Self::Stc1),
            Self::Stc1 | Self::Toon => None,
        }
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| D::Error::custom(Self::unknown(&name)))
    }
}

/// Returns the codec's options for a format; `None` for TOON, which the codec does not write.
#[must_use]
pub fn options_for(format: Format) -> Option<stc::Options> {
    format.codec().map(|format| stc::Options::default().format(format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_one_name_everywhere() {
        for format in Format::ALL {
            assert_eq!(Format::named(format.name()), Some(format));
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
            assert_eq!(serde_json::from_value::<Format>(format.name().into()).unwrap(), format);
        }
        let mut of_codec: Vec<_> = Format::ALL[1..].iter().filter_map(|format| format.codec()).collect();
        of_codec.sort_by_key(|format| stc::Format::STC.iter().position(|other| other == format));
        assert_eq!(of_codec, stc::Format::STC);
        assert_eq!(Format::named("stc3"), None);
    }

    #[test]
    fn an_unknown_name_is_refused_with_what_may_be_meant() {
        for (name, why) in [
            ("stc3", "unknown format `stc3`: expected toon, stc1, stc2-labelled, stc2"),
            ("json", "unknown format `json`: expected toon, stc1, stc2-labelled, stc2"),
            ("stc2-refs", "stc2-refs is now stc2"),
            ("stc2-dense", "stc2-dense is part of stc2"),
        ] {
            let error = serde_json::from_value::<Format>(name.into()).unwrap_err();
            assert_eq!(error.to_string(), why);
        }
    }

    #[test]
    fn a_lesser_format_is_the_next_lower_one() {
        let down = std::iter::successors(Some(Format::Stc2), |format| format.lesser());
        let names: Vec<_> = down.map(Format::name).collect();
        assert_eq!(names, ["stc2", "stc2-labelled", "stc1"]);
        assert_eq!(Format::Toon.lesser(), None);
        assert!(Format::ALL.into_iter().all(|format| format.lesser().is_none_or(|lesser| lesser < format)));
    }
}
