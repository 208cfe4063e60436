//! The formats that can be asked for by name, and what each means to the library.

use clap::ValueEnum;
use stc::{Options, Version};

/// A way to write STC. The first is what `Accept-Encoding: stc` means, so it is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Version 1: bare keys, compact arrays, columns for flat rows
    #[default]
    Stc1,
    /// Version 2: tables of ragged and nested rows, constants, shapes; never longer than minified JSON
    Stc2,
    /// Version 2 with references: a dictionary, templates and anchors besides
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

    /// What people call it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Stc1 => "STC 1",
            Self::Stc2 => "STC 2",
            Self::Stc2Refs => "STC 2 refs",
        }
    }

    /// Its key in JSON for machines.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Stc1 => "stc1",
            Self::Stc2 => "stc2",
            Self::Stc2Refs => "stc2_refs",
        }
    }
}
