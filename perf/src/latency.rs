//! `latency`: the time for a small reply, document by document. 256 different replies rotate, because branch predictors
//! learn a single one and then all contenders look too fast.

use stc_perf::contenders::{RIVALS, WARM};
use stc_perf::measure::{Latencies, latencies};
use stc_perf::{Case, Contender, Kernel, cases};

use crate::progress;
use crate::show::show;
use crate::table::{Table, time};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The scan kernel: avx512, avx2, neon or portable; the fastest one if none is named.
    #[arg(long)]
    kernel: Option<String>,
    /// The format that the encoder writes.
    #[arg(long, default_value = cases::DEFAULT, value_parser = cases::FORMATS)]
    format: String,
    /// Measure a fifth of the rounds.
    #[arg(long)]
    quick: bool,
}

/// Kinds and sizes; users have small rows, issues are what agents read most.
const REPLIES: [(&str, &str, usize); 4] = [
    ("users-256B", "users", 256),
    ("users-1KiB", "users", 1 << 10),
    ("users-4KiB", "users", 4 << 10),
    ("issues-4KiB", "issues", 4 << 10),
];

/// Different replies of each kind.
const DIFFERENT: u64 = 256;

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let kernel = stc_perf::kernel(arguments.kernel.as_deref())?;
    let rounds = if arguments.quick { 10 } else { 50 };
    let (format, options) = (&arguments.format, cases::options(&arguments.format)?);
    show(format_args!(
        "Time for a document, {DIFFERENT} different ones in rotation, {format}, kernel {}\n\n",
        kernel.name()
    ))?;
    let mut table = Table::new(["reply", "contender", "p50", "p90", "p99", "p99.9", "maximum"]);
    let bar = progress::bar(REPLIES.len());
    for (name, kind, bytes) in REPLIES {
        let case = replies(name, kind, bytes)?.written_with(options)?;
        for (contender, mut latencies) in measure(&case, kernel, rounds)? {
            let cells = [50.0, 90.0, 99.0, 99.9, 100.0].map(|percent| time(latencies.percentile(percent)));
            table.row([name.to_owned(), contender.name.into()].into_iter().chain(cells));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    show(&table)?;
    Ok(())
}

/// Builds the case of different replies of a kind and size.
pub(crate) fn replies(name: &str, kind: &str, bytes: usize) -> Result<Case, String> {
    cases::generated(name, kind, bytes, DIFFERENT)
}

/// Returns the latencies of the codec and of the rivals that accept all of the replies.
pub(crate) fn measure(case: &Case, kernel: Kernel, rounds: usize) -> Result<Vec<(Contender, Latencies)>, String> {
    let all_contenders = WARM.iter().chain(RIVALS).copied();
    let willing: Vec<Contender> = all_contenders.filter(|contender| contender.prepare(case, kernel).is_ok()).collect();
    let all = latencies(case, &willing, kernel, rounds)?;
    Ok(willing.into_iter().zip(all).collect())
}
