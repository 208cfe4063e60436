//! What the page shows: every case, latency, growth and tokens, measured in one process, and where that was.

use std::path::PathBuf;

use stc::Format;
use stc_perf::contenders::{PLAIN, RIVALS, WARM};
use stc_perf::measure::{Effort, Latencies, contest};
use stc_perf::{Case, Contender, Kernel, cases};

use crate::results::Line;
use crate::selection::Selection;
use crate::{budget, latency, progress, scaling, tokens, worktree};

/// The formats that the page compares.
pub(super) const FORMATS: [&str; 2] = [Format::Stc1.name(), Format::Stc2.name()];

/// Where and when the page was measured.
pub(super) struct Origin {
    pub(super) date: String,
    pub(super) commit: String,
    pub(super) processor: String,
    pub(super) kernel: &'static str,
}

/// The measurements that the page shows.
pub(super) struct Measured {
    pub(super) origin: Origin,
    /// The cases, with a line for each contender and each of [`FORMATS`].
    pub(super) results: Vec<Line>,
    /// Whether the cases are the user's own files.
    pub(super) own_files: bool,
    /// For each of [`FORMATS`]: the contenders and their times.
    pub(super) latencies: Vec<Vec<(Contender, Latencies)>>,
    /// For each of [`FORMATS`]: a size in bytes, with nanoseconds a byte of encode, decode and simd-json.
    pub(super) costs: Vec<Vec<(usize, [f64; 3])>>,
    /// The files in every format.
    pub(super) tokens: Vec<tokens::Measured>,
}

/// Sizes of the growth plot below those of `scaling`.
const SMALL: [usize; 2] = [1 << 10, 4 << 10];

impl Measured {
    /// Measures the selected files, or the listed cases if none is selected.
    pub(super) fn new(selection: &Selection, quick: bool, kernel: Kernel) -> Result<Self, String> {
        let own_files = !selection.is_empty();
        let contenders: Vec<Contender> = WARM.iter().chain(&PLAIN).chain(RIVALS).copied().collect();
        let effort = if quick { Effort::QUICK } else { Effort::FULL };
        let sources = sources(selection, quick)?;
        let bar = progress::bar(FORMATS.len() * (sources.len() + 2) + 1);
        let (mut results, mut latencies, mut costs) = (Vec::new(), Vec::new(), Vec::new());
        for format in FORMATS {
            let options = cases::options(format)?;
            for source in &sources {
                let case = source.case()?.written_with(options)?;
                bar.set_message(format!("{}, {format}", case.name));
                let outcomes = contest(&case, &contenders, kernel, effort);
                let line = |(contender, outcome)| Line::new(&case, contender, kernel, outcome);
                results.extend(contenders.iter().zip(&outcomes).map(line));
                bar.inc(1);
            }
            bar.set_message(format!("latency, {format}"));
            let replies = match own_files {
                true => Case::new("files", documents(&sources)?)?,
                false => latency::replies("issues-4KiB", "issues", 4 << 10)?,
            };
            latencies.push(latency::measure(&replies.written_with(options)?, kernel, if quick { 5 } else { 20 })?);
            bar.inc(1);
            if !own_files {
                bar.set_message(format!("growth, {format}"));
                let sizes: Vec<usize> = SMALL.into_iter().chain(scaling::sizes(quick)).collect();
                let made = |&bytes: &usize| cases::generated("users", "users", bytes, 1)?.written_with(options);
                let made: Result<Vec<Case>, String> = sizes.iter().map(made).collect();
                costs.push(sizes.into_iter().zip(scaling::costs(&made?, kernel, scaling::effort(quick))).collect());
            }
            bar.inc(1);
        }
        bar.set_message("tokens");
        let tokens = if own_files { tokens::of_files(&selection.files()?).0 } else { tokens::made()? };
        bar.finish_and_clear();
        Ok(Self { origin: Origin::new(kernel), results, own_files, latencies, costs, tokens })
    }
}

/// A case that is built when it is measured, and dropped afterwards.
enum Source {
    Listed(&'static str),
    File(PathBuf, String),
}

impl Source {
    fn case(&self) -> Result<Case, String> {
        match self {
            Source::Listed(line) => cases::case(line),
            Source::File(path, name) => cases::read(path, false).map(|case| Case { name: name.clone(), ..case }),
        }
    }
}

fn sources(selection: &Selection, quick: bool) -> Result<Vec<Source>, String> {
    if !selection.is_empty() {
        let paths = selection.files()?;
        let names = cases::names(&paths);
        return Ok(paths.into_iter().zip(names).map(|(path, name)| Source::File(path, name)).collect());
    }
    // Lines with their own format are for benches: here every case is measured in both formats.
    let listed = cases::listed().filter(|line| line.split(' ').count() < 4);
    let large = if quick { &[][..] } else { &cases::LARGE };
    Ok(listed.chain(large.iter().copied()).map(Source::Listed).collect())
}

/// Returns the documents of the files.
fn documents(sources: &[Source]) -> Result<Vec<Vec<u8>>, String> {
    let document = |source: &Source| Ok(source.case()?.documents.swap_remove(0).json);
    sources.iter().map(document).collect()
}

impl Origin {
    fn new(kernel: Kernel) -> Self {
        let commit = worktree::state().unwrap_or_else(|_| "unknown".to_owned());
        Self { date: budget::today(), commit, processor: processor(), kernel: kernel.name() }
    }
}

/// Returns the name of the processor and the number of its threads, or the architecture if the system does not tell.
fn processor() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model_name(&text));
    let brand = || worktree::output(std::process::Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"])).ok();
    let name = cpuinfo.or_else(brand).unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {threads} threads", name.trim())
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_has_a_name() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t: fpu\n";
        assert_eq!(model_name(text).as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(model_name("processor : 0\n"), None);
        assert!(processor().ends_with(" threads"));
    }
}
