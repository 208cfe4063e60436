//! `layouts`: decoding speed of the same rows in other layouts, and of small tables with wide headers next to simd-json.

use std::time::Duration;

use stc_perf::contenders::{TAPE_MINIFIED, WARM};
use stc_perf::measure::{Effort, Outcome, contest};
use stc_perf::stats::median;
use stc_perf::variants::{WIDE_WANTED, layouts, wide_tables};
use stc_perf::{Case, Kernel, cases};

use crate::progress;
use crate::show::show;
use crate::table::{Table, size};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The scan kernel: avx512, avx2, neon or portable; the fastest one if none is named.
    #[arg(long)]
    kernel: Option<String>,
    /// Measure 1 MiB instead of 12 MiB, and for a shorter time.
    #[arg(long)]
    quick: bool,
}

/// Turns that every layout gets, interleaved.
const TURNS: usize = 3;

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let kernel = stc_perf::kernel(arguments.kernel.as_deref())?;
    let time = Duration::from_millis(if arguments.quick { 100 } else { 500 });
    let effort = Effort { time, turns: 3 };
    let bytes = if arguments.quick { 1 << 20 } else { 12 << 20 };
    show(format_args!("Decoding the same rows in other layouts, kernel {}; GB of input a second\n\n", kernel.name()))?;
    show(format_args!("{}\n", by_layout(bytes, kernel, effort)?))?;
    show("Decoding small tables of 35 columns over simd-json on the same minified JSON\n\n")?;
    show(by_size(kernel, effort)?)
}

fn by_layout(bytes: usize, kernel: Kernel, effort: Effort) -> Result<Table, String> {
    let layouts = layouts(bytes)?;
    let mut turns: Vec<Vec<f64>> = vec![Vec::new(); layouts.len()];
    let bar = progress::bar(TURNS * layouts.len());
    for _ in 0..TURNS {
        for (layout, turns) in layouts.iter().zip(&mut turns) {
            bar.set_message(layout.name);
            let times = times(&layout.case, &contest(&layout.case, &WARM[1..], kernel, effort))?;
            turns.push(layout.case.documents[0].stc.len() as f64 / times[0]);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let speeds: Vec<f64> = turns.iter_mut().map(|turns| median(turns)).collect();
    let mut table = Table::new(["layout", "bytes", "GB/s", "over minified", "wanted"]);
    for (layout, speed) in layouts.iter().zip(&speeds) {
        table.row([
            layout.name.into(),
            size(layout.case.json_bytes() as f64),
            format!("{speed:.2}"),
            format!("{:.2}x", speed / speeds[0]),
            format!("{:.2}x", layout.wanted),
        ]);
    }
    Ok(table)
}

fn by_size(kernel: Kernel, effort: Effort) -> Result<Table, String> {
    let mut table = Table::new(["table", "bytes", "format", "decode", "simd-json", "ratio", "wanted"]);
    for format in ["stc1", "stc2", "stc2-labelled"] {
        for case in wide_tables()? {
            let case = case.written_with(cases::options(format)?)?;
            let times = times(&case, &contest(&case, &[WARM[1], TAPE_MINIFIED], kernel, effort))?;
            let bytes = case.mean(|document| document.minified.len());
            table.row([
                case.name.clone(),
                size(bytes),
                format.into(),
                format!("{:.2} GB/s", bytes / times[0]),
                format!("{:.2} GB/s", bytes / times[1]),
                format!("{:.2}x", times[1] / times[0]),
                format!("{WIDE_WANTED:.2}x"),
            ]);
        }
    }
    Ok(table)
}

/// Returns the nanoseconds of each contender for a document.
fn times(case: &Case, outcomes: &[Outcome]) -> Result<Vec<f64>, String> {
    let time = |outcome: &Outcome| match outcome {
        Outcome::Timed(timing) => Ok(timing.nanoseconds),
        Outcome::Rejected(reason) => Err(format!("{}: {reason}", case.name)),
    };
    outcomes.iter().map(time).collect()
}
