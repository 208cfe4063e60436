//! Why a request is not sent.

use crate::bad_option::BadOption;
use std::fmt;

/// A text could not be looked through for secrets where that is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RedactionFailed;

/// Why a request is not sent. Everything else that goes wrong sends the request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// An option cannot be followed: an answer with status 400.
    Option(BadOption),
    /// A text could not be looked through for secrets where that is required: an answer with status 502.
    Redaction,
}

impl Refused {
    /// Returns the status of the answer.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Option(_) => 400,
            Self::Redaction => 502,
        }
    }

    /// Returns the option's field: `_stc.mode`, or the name of a header; empty if there is none.
    #[must_use]
    pub fn field(&self) -> &str {
        match self {
            Self::Option(bad) => bad.field(),
            Self::Redaction => "",
        }
    }
}

impl From<BadOption> for Refused {
    fn from(bad: BadOption) -> Self {
        Self::Option(bad)
    }
}

impl From<RedactionFailed> for Refused {
    fn from(_: RedactionFailed) -> Self {
        Self::Redaction
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(bad) => bad.fmt(f),
            Self::Redaction => f.write_str("redaction failed"),
        }
    }
}

impl std::error::Error for Refused {}
