//! `scaling`: the cost of a byte in small and large documents, and of hostile keys against friendly ones. Work that grows
//! faster than the input shows here.

use std::time::Duration;

use stc::Options;
use stc_perf::contenders::{TAPE, WARM};
use stc_perf::measure::{Effort, contest};
use stc_perf::stats::median;
use stc_perf::{Case, Kernel, cases, hostile};

use crate::progress;
use crate::show::show;
use crate::table::{Table, size};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The scan kernel: avx512, avx2, neon or portable; the fastest one if none is named.
    #[arg(long)]
    kernel: Option<String>,
    /// The format that the encoder writes.
    #[arg(long, default_value = cases::DEFAULT, value_parser = cases::FORMATS)]
    format: String,
    /// Stop at 10 MiB and measure for a shorter time.
    #[arg(long)]
    quick: bool,
}

/// Flat rows, nested and ragged objects, long strings, numbers.
const KINDS: [&str; 4] = ["users", "pods", "markdown", "geojson"];

const SIZES: [usize; 5] = [10 << 10, 100 << 10, 1 << 20, 10 << 20, 100 << 20];

/// Keys in an attack.
const KEYS: usize = 100_000;

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let kernel = stc_perf::kernel(arguments.kernel.as_deref())?;
    let effort = effort(arguments.quick);
    let (format, kernel_name) = (&arguments.format, kernel.name());
    let options = cases::options(format)?;
    show(format_args!(
        "Nanoseconds a KB of JSON, {format}, kernel {kernel_name}; growth: highest cost over lowest\n\n"
    ))?;
    show(format_args!("{}\n", growth(options, kernel, effort, arguments.quick)?))?;
    show(format_args!("Cost of {KEYS} hostile keys over a friendly document of the same cells\n\n"))?;
    show(attacks(options, kernel, effort)?)
}

pub(crate) fn effort(quick: bool) -> Effort {
    Effort { time: Duration::from_millis(if quick { 50 } else { 250 }), turns: 5 }
}

/// Returns nanoseconds a byte of encode, decode and simd-json; the last shows what the machine's own caches cost. Each case
/// gets three turns, so that a noisy moment does not affect one of them alone.
pub(crate) fn costs(cases: &[Case], kernel: Kernel, effort: Effort) -> Vec<[f64; 3]> {
    let mut turns = vec![[[f64::NAN; 3]; 3]; cases.len()];
    for turn in 0..3 {
        for (case, turns) in cases.iter().zip(&mut turns) {
            let outcomes = contest(case, &[WARM[0], WARM[1], TAPE], kernel, effort);
            for (turns, outcome) in turns.iter_mut().zip(&outcomes) {
                turns[turn] = outcome.timing().map_or(f64::NAN, |timing| 1.0 / timing.speed());
            }
        }
    }
    turns.into_iter().map(|turns| turns.map(|mut turns| median(&mut turns))).collect()
}

/// Returns the sizes to measure.
pub(crate) fn sizes(quick: bool) -> impl Iterator<Item = usize> {
    SIZES.into_iter().filter(move |&bytes| !quick || bytes <= 10 << 20)
}

fn growth(options: Options, kernel: Kernel, effort: Effort, quick: bool) -> Result<Table, String> {
    let sizes: Vec<usize> = sizes(quick).collect();
    let heads = sizes.iter().map(|&bytes| size(bytes as f64));
    let mut table = Table::new(["kind".into(), String::new()].into_iter().chain(heads).chain(["growth".into()]));
    let bar = progress::bar(KINDS.len());
    for kind in KINDS {
        bar.set_message(kind);
        let made = |&bytes: &usize| cases::generated(kind, kind, bytes, 1)?.written_with(options);
        let costs = costs(&sizes.iter().map(made).collect::<Result<Vec<_>, _>>()?, kernel, effort);
        bar.inc(1);
        for (at, what) in ["encode", "decode", "simd-json"].into_iter().enumerate() {
            let of = costs.iter().map(|cost| cost[at] * 1000.0);
            let (least, most) =
                of.clone().fold((f64::MAX, 0.0_f64), |(low, high), cost| (low.min(cost), high.max(cost)));
            let cells = of.map(|cost| format!("{cost:.0}")).chain([format!("{:.2}x", most / least)]);
            table.row([kind.into(), what.to_owned()].into_iter().chain(cells));
        }
    }
    bar.finish_and_clear();
    Ok(table)
}

fn attacks(options: Options, kernel: Kernel, effort: Effort) -> Result<Table, String> {
    let mut table = Table::new(["attack", "bytes", "encode", "decode", "simd-json", "what it does"]);
    let attacks = hostile::attacks(KEYS);
    let bar = progress::bar(attacks.len());
    for attack in attacks {
        bar.set_message(attack.name);
        let bytes = size(attack.hostile.len() as f64);
        let case = |json| Case::new(attack.name, [json])?.written_with(options);
        let cases = [case(attack.hostile)?, case(attack.friendly)?];
        let costs = costs(&cases, kernel, effort);
        let ratios = (0..3).map(|at| format!("{:.2}x", costs[0][at] / costs[1][at]));
        table.row([attack.name.into(), bytes].into_iter().chain(ratios).chain([attack.about.into()]));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(table)
}
