//! The names of the formats on the command line, and the library options of each.

use clap::ValueEnum;
use stc::Options;

/// A format of STC. The first is the meaning of `Accept-Encoding: stc`, so it is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Version 1: bare keys, compact arrays, columns for flat rows
    #[default]
    Stc1,
    /// Version 2, the form that a model reads best: rows keep their keys; never longer than minified JSON
    Stc2,
    /// Version 2 in fewer tokens: rows are cells in the order of a header, with defaults and shapes
    Stc2Dense,
    /// Version 2 dense, with references: also a dictionary, templates and anchors
    Stc2Refs,
}

impl Format {
    pub(crate) const ALL: [Self; 4] = [Self::Stc1, Self::Stc2, Self::Stc2Dense, Self::Stc2Refs];

    /// Returns the library's name of it.
    pub(crate) fn of(self) -> stc::Format {
        match self {
            Self::Stc1 => stc::Format::Stc1,
            Self::Stc2 => stc::Format::Stc2,
            Self::Stc2Dense => stc::Format::Stc2Dense,
            Self::Stc2Refs => stc::Format::Stc2Refs,
        }
    }

    pub(crate) fn apply(self, options: Options) -> Options {
        options.format(self.of())
    }

    /// Returns its name in tables.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Stc1 => "STC 1",
            Self::Stc2 => "STC 2",
            Self::Stc2Dense => "STC 2 dense",
            Self::Stc2Refs => "STC 2 refs",
        }
    }

    /// Returns its key in JSON output.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Stc1 => "stc1",
            Self::Stc2 => "stc2",
            Self::Stc2Dense => "stc2_dense",
            Self::Stc2Refs => "stc2_refs",
        }
    }
}
