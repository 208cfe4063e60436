//! Descriptions of the formats for models, added to a server's instructions.

use crate::Format;

/// Returns the legend of a format; none for TOON.
#[must_use]
pub const fn legend(format: Format) -> Option<&'static str> {
    match format.codec() {
        Some(format) => Some(stc::legend(format)),
        None => None,
    }
}
