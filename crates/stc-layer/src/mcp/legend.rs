//! Descriptions of the formats for models, added to a server's instructions.

use crate::Format;

/// Returns the legend of a format; none for TOON.
#[must_use]
pub const fn legend(format: Format) -> Option<&'static str> {
    match format {
        Format::Stc1 => Some(stc::legend(stc::Format::Stc1)),
        Format::Stc2 => Some(stc::legend(stc::Format::Stc2)),
        Format::Stc2Dense => Some(stc::legend(stc::Format::Stc2Dense)),
        Format::Stc2Refs => Some(stc::legend(stc::Format::Stc2Refs)),
        Format::Toon => None,
    }
}
