//! `tokens`: bytes and tokens of a document in every format. Nothing is timed: the numbers are the same on every machine.
//! The round trip of every STC text is checked before it counts.

mod sizes;
mod tables;
mod texts;

use std::path::PathBuf;

use crate::progress;
use crate::selection::Selection;
use crate::show::show;
pub(crate) use sizes::{Measured, O200K};
use stc_perf::cases;
pub(crate) use texts::{FORMATS, MINIFIED};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// Print JSON lines instead of Markdown: one for each file and format, then one for each group and format.
    #[arg(long)]
    json: bool,
    /// Print only the groups, not every file.
    #[arg(long)]
    brief: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let selection = &arguments.selection;
    let (measured, rejected) = if selection.is_empty() { (made()?, 0) } else { of_files(&selection.files()?) };
    show(if arguments.json { tables::lines(&measured) } else { tables::markdown(&measured, arguments.brief) })?;
    if rejected > 0 { Err(format!("{rejected} files were rejected")) } else { Ok(()) }
}

/// Measures files; returns them with the number of rejected files, each reported on standard error.
pub(crate) fn of_files(paths: &[PathBuf]) -> (Vec<Measured>, usize) {
    let bar = progress::bar(paths.len());
    let (mut measured, mut rejected) = (Vec::new(), 0);
    for (path, name) in paths.iter().zip(cases::names(paths)) {
        bar.set_message(name.clone());
        let json = std::fs::read(path).map_err(|error| format!("{name}: {error}"));
        match json.and_then(|json| Measured::new(name, &json)) {
            Ok(file) => measured.push(file),
            Err(error) => {
                bar.suspend(|| eprintln!("stc-perf: {error}"));
                rejected += 1;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    (measured, rejected)
}

/// Measures the files of corpus/made.
pub(crate) fn made() -> Result<Vec<Measured>, String> {
    let name = |name: &str| name.trim_end_matches(".json").to_owned();
    stc_corpus::made().iter().map(|file| Measured::new(name(&file.name), &file.bytes)).collect()
}
