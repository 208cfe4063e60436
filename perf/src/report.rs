//! `report`: one HTML page with all plots. The command measures everything it shows, so a page describes one machine, one
//! build and one point in time, and says which.

mod measured;
mod page;

use std::path::PathBuf;

use crate::selection::Selection;
use crate::show::show;
use crate::worktree;
use measured::Measured;
use page::page;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// The file to write; target/perf/report.html by default.
    #[arg(long)]
    out: Option<PathBuf>,
    /// The scan kernel: avx512, avx2, neon or portable; the fastest one if none is named.
    #[arg(long)]
    kernel: Option<String>,
    /// Stop at 10 MiB and measure for a shorter time.
    #[arg(long)]
    quick: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let kernel = stc_perf::kernel(arguments.kernel.as_deref())?;
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => worktree::outputs()?.join("report.html"),
    };
    let page = page(&Measured::new(&arguments.selection, arguments.quick, kernel)?);
    std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    show(format_args!("{}\n", path.display()))?;
    Ok(())
}
