//! What an encoder of version 2 writes: JSON as it is, its two formats, and between them what `stc2` falls back to.

use stc::{Format, Options, internal};

/// A level of version 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// `json`.
    Json,
    /// `stc2-labelled`.
    Labelled,
    /// `stc2` without references, as documents get it that have no room for them or in which they do not pay.
    NoReferences,
    /// `stc2`.
    Whole,
}

use Level::{Json, Labelled, NoReferences, Whole};

impl Level {
    /// All levels, the least first.
    pub(crate) const ALL: [Self; 4] = [Json, Labelled, NoReferences, Whole];

    /// The levels that are planned.
    pub(crate) const PLANNED: [Self; 3] = [Labelled, NoReferences, Whole];

    /// Returns its name in records: that of the format, if it has one.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Json => Format::Json.name(),
            Labelled => Format::Stc2Labelled.name(),
            NoReferences => "no-references",
            Whole => Format::Stc2.name(),
        }
    }

    /// Returns these options with the format of this level.
    pub(crate) fn of(self, options: Options) -> Options {
        match self {
            Json => options.format(Format::Json),
            Labelled => options.format(Format::Stc2Labelled),
            NoReferences => internal::without_references(options.format(Format::Stc2)),
            Whole => options.format(Format::Stc2),
        }
    }

    /// Returns the default options with the format of this level.
    pub(crate) fn options(self) -> Options {
        self.of(Options::default())
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.name())
    }
}
