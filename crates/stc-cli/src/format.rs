//! The names of the formats on the command line, and the library options of each.

use clap::ValueEnum;
use stc::{Options, Version};

/// A format of STC. The first is the meaning of `Accept-Encoding: stc`, so it is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Version 1: bare keys, compact arrays, columns for flat rows
    #[default]
    Stc1,
    /// Version 2: tables of ragged and nested rows, constants, shapes; never longer than minified JSON
    Stc2,
    /// Version 2 with references: also a dictionary, templates and anchors
    Stc2Refs,
}

impl Format {
    pub(crate) const ALL: [Self; 3] = [Self::Stc1, Self::Stc2, Self::Stc2Refs];

    pub(crate) fn version(self) -> Version {
        match self {
            Self::Stc1 => Version::V1,
            Self::Stc2 | Self::Stc2Refs => Version::V2,
        }
    }

    pub(crate) fn has_references(self) -> bool {
        self == Self::Stc2Refs
    }

    pub(crate) fn apply(self, options: Options) -> Options {
        options.version(self.version()).references(self.has_references())
    }

    /// Returns its name in tables.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Stc1 => "STC 1",
            Self::Stc2 => "STC 2",
            Self::Stc2Refs => "STC 2 refs",
        }
    }

    /// Returns its key in JSON output.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Stc1 => "stc1",
            Self::Stc2 => "stc2",
            Self::Stc2Refs => "stc2_refs",
        }
    }
}
