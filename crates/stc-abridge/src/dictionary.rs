//! Repeated passages of a text, written once and named by markers.

/// How repeated passages are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dictionary {
    /// Repeated runs of bytes within a line.
    Lzw,
    /// Repeated sequences of tokens, over at most two line feeds.
    Repair,
    /// The smaller of both.
    Auto,
}

/// Returns the text with its repeated passages replaced by markers, or nothing if that saves too little.
#[must_use]
pub fn abbreviate(_text: &str, _how: Dictionary) -> Option<String> {
    None
}

/// Returns the original of a text that [`abbreviate`] wrote, or nothing for any other text.
#[must_use]
pub fn expand(_text: &str) -> Option<String> {
    None
}
