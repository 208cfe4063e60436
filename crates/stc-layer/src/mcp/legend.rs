//! Descriptions of the formats for models, added to a server's instructions.

use crate::Format;

/// Returns the legend of a format; none for TOON.
#[must_use]
pub const fn legend(format: Format) -> Option<&'static str> {
    match format {
        Format::Stc1 => Some(stc::legend(stc::Version::V1, false)),
        Format::Stc2 => Some(stc::legend(stc::Version::V2, false)),
        Format::Stc2Refs => Some(stc::legend(stc::Version::V2, true)),
        Format::Toon => None,
    }
}
