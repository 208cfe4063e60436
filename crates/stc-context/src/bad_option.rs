//! The error for an option that cannot be followed.

use std::fmt;

/// An option that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOption {
    field: String,
    why: String,
}

impl BadOption {
    pub(crate) fn new(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self { field: field.into(), why: why.into() }
    }

    /// Returns the field: `_stc.mode`, or the name of a header.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.why)
    }
}

impl std::error::Error for BadOption {}

/// Returns names as in a sentence: `a, b or c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
