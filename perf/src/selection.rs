//! The documents that a command measures: files and folders from the command line.

use std::path::PathBuf;

use stc_perf::cases;

/// Which documents to measure; the list of the benches if none are named.
#[derive(clap::Args)]
pub(crate) struct Selection {
    /// A JSON file of your own; can be repeated.
    #[arg(long)]
    file: Vec<PathBuf>,
    /// A folder of your own JSON files, searched at any depth; can be repeated.
    #[arg(long)]
    dir: Vec<PathBuf>,
}

impl Selection {
    /// Returns whether no file and no folder was named.
    pub(crate) fn is_empty(&self) -> bool {
        self.file.is_empty() && self.dir.is_empty()
    }

    /// Returns the named files and the JSON files of the named folders.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, String> {
        cases::files(&self.file, &self.dir)
    }
}
