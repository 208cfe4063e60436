//! Ids and names of calls, for comparison with those of results.

use stc_wire::span::{self, Span};
use std::borrow::Cow;
use std::collections::HashSet;

/// The calls of programs so far, by what their results name them with.
#[derive(Debug, Default)]
pub(super) struct Programs<'a> {
    pub(super) ids: HashSet<Cow<'a, [u8]>>,
    pub(super) names: HashSet<Cow<'a, [u8]>>,
    /// Whether there was a call of a program whose id or name is ambiguous: any later result may be its.
    pub(super) is_hidden: bool,
}

/// Returns an id or a name for comparison: one string may be spelled in several ways.
pub(super) fn label<'a>(text: &'a [u8], value: &Span) -> Cow<'a, [u8]> {
    match span::string(text, value) {
        Some(Cow::Borrowed(string)) => Cow::Borrowed(string.as_bytes()),
        Some(Cow::Owned(string)) => Cow::Owned(string.into_bytes()),
        // Not a string of Unicode. Its quotes keep it apart from one that is.
        None => Cow::Borrowed(&text[value.clone()]),
    }
}
