//! What a rewrite of a message is given, and what it reports.

use super::calls::Calls;
use crate::{Format, Policy, Saved, Skip};

/// What applies to every message of one response.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) format: Format,
    pub(crate) calls: &'a Calls,
}

/// What was found in a message, or in all the messages of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The number of texts that changed.
    pub(crate) changed: u64,
    /// What that saved.
    pub(crate) saved: Saved,
    /// Why the last unchanged text did not change.
    pub(crate) skipped: Option<Skip>,
}
