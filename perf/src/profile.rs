//! `profile FILE`: time, memory and allocations of one document, stage by stage. The scan can run alone and is timed alone;
//! the stages after it are a single pass, so their time is the difference, and samples divide it.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use stc::internal::Stages;
use stc_perf::cases::{self, Document};
use stc_perf::stats::median;

use crate::show::show;
use crate::table::{Table, size, time};
use crate::worktree::outputs;
use crate::{allocations, flame, progress};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A JSON file; without one, ten generated megabytes of pods.
    file: Option<PathBuf>,
    /// The scan kernel: avx512, avx2, neon or portable; the fastest one if none is named.
    #[arg(long)]
    kernel: Option<String>,
    /// Seconds of sampling for the flamegraph; 0 for none.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
}

const STAGES: [&str; 2] = ["scan", "tape, analyze, write"];

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let kernel = stc_perf::kernel(arguments.kernel.as_deref())?;
    let time_to_sample =
        Duration::try_from_secs_f64(arguments.seconds).map_err(|error| format!("--seconds: {error}"))?;
    let folder = outputs()?;
    let path = match &arguments.file {
        Some(path) => path.clone(),
        None => generated(folder.join("pods-10MB.json"))?,
    };
    let case = cases::read(&path, false)?;
    let Document { json, stc, .. } = &case.documents[0];

    let bar = progress::bar(3);
    bar.set_message("time by stage");
    let mut stages = Stages::new(kernel);
    let entries = stages.scan(json);
    let times = stage_times(&mut stages, json);
    bar.inc(1);
    bar.set_message("allocations by stage");
    let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
    let counted = allocations::count(&[&path.to_string_lossy()], kernel.name())?;
    let counted = counted.first().ok_or("nothing was counted")?;
    bar.inc(1);
    bar.set_message("flamegraph");
    let wanted = !time_to_sample.is_zero();
    let samples = wanted.then(|| {
        flame::sample(&folder, time_to_sample, || {
            black_box(stages.encode(black_box(json)));
        })
    });
    bar.finish_and_clear();

    show(format_args!("{}: {} of JSON, kernel {}\n", case.name, size(json.len() as f64), kernel.name()))?;
    show(format_args!("{entries} index entries; {} of STC\n\n", size(stc.len() as f64)))?;
    show(table(&times, json.len(), &counted.stages))?;
    for (direction, memory, input) in [("encode", counted.encode, json), ("decode", counted.decode, stc)] {
        let peak = memory.peak as f64;
        show(format_args!(
            "\n{direction}: peak memory {}, {:.2} for a byte of input; {} allocations by a new codec, {} by a warm one\n",
            size(peak),
            peak / input.len() as f64,
            memory.cold,
            memory.warm
        ))?;
    }
    match samples {
        Some(Ok(samples)) => {
            let share = |(stage, share): &(&str, f64)| format!("{stage} {:.0} %", share * 100.0);
            show(format_args!(
                "\nby {} samples: {}; members written during analysis count as analyze\n",
                samples.count,
                samples.shares.iter().map(share).collect::<Vec<_>>().join(", ")
            ))?;
            show(format_args!("flamegraph: {}\n", samples.graph.display()))?;
        }
        Some(Err(why)) => show(format_args!("\n{why}\n"))?,
        None => {}
    }
    Ok(())
}

fn generated(path: PathBuf) -> Result<PathBuf, String> {
    let json = stc_corpus::make("pods", 1, 10 << 20).ok_or("the corpus makes no pods")?;
    std::fs::write(&path, json).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Returns the median nanoseconds from the start to the end of each stage; the stages take turns.
fn stage_times(stages: &mut Stages, json: &[u8]) -> [f64; 2] {
    let mut turns: [Vec<f64>; 2] = Default::default();
    let repeats = (64 << 10) / json.len().max(1) + 1;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) || turns[0].len() < 9 {
        let mut turn = |at: usize, work: &mut dyn FnMut()| {
            let begun = Instant::now();
            (0..repeats).for_each(|_| work());
            turns[at].push(begun.elapsed().as_nanos() as f64 / repeats as f64);
        };
        turn(0, &mut || {
            black_box(stages.scan(black_box(json)));
        });
        turn(1, &mut || {
            black_box(stages.encode(black_box(json)));
        });
    }
    turns.map(|mut turns| median(&mut turns))
}

fn table(times: &[f64; 2], bytes: usize, memory: &[allocations::Stage; 2]) -> Table {
    let mut table = Table::new(["stage", "time", "share", "ns/KB", "GB/s", "allocations, new", "bytes allocated"]);
    let whole = times[1];
    let mut row = |stage: &str, time_spent: f64, allocations: u64, allocated: u64| {
        table.row([
            stage.into(),
            time(time_spent),
            format!("{:.0} %", time_spent / whole * 100.0),
            format!("{:.1}", time_spent / bytes as f64 * 1024.0),
            format!("{:.2}", bytes as f64 / time_spent.max(1.0)),
            allocations.to_string(),
            size(allocated as f64),
        ]);
    };
    let mut before = 0.0;
    for ((stage, time), memory) in STAGES.into_iter().zip(times).zip(memory) {
        row(stage, (time - before).max(0.0), memory.allocations, memory.bytes);
        before = *time;
    }
    let (allocations, allocated) =
        memory.iter().fold((0, 0), |(count, bytes), stage| (count + stage.allocations, bytes + stage.bytes));
    row("all", whole, allocations, allocated);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_costs_what_it_adds() {
        let memory = [allocations::Stage { allocations: 2, bytes: 2048 }; 2];
        let text = table(&[1000.0, 4000.0], 4096, &memory).to_string();
        let cells =
            |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(String::from).collect();
        let rows: Vec<Vec<String>> = text.lines().map(cells).collect();
        assert_eq!(rows[2][..4], ["tape, analyze, write", "3.00 µs", "75 %", "750.0"]);
        assert_eq!(rows[3][..3], ["all", "4.00 µs", "100 %"]);
        assert_eq!(rows[3][5..], ["4", "4.0 KB"]);
    }
}
