//! `profile FILE`: time, memory and allocations of one document in both directions, stage by stage. The scan can run alone and is
//! timed alone; the stages after it follow each other for every document, so samples divide their time.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use stc::internal::{Stages, decoder, encoder};
use stc_perf::cases::{self, Document};
use stc_perf::stats::median;

use crate::flame::{DECODE, Direction, ENCODE, Samples};
use crate::show::show;
use crate::table::{Table, size, time};
use crate::worktree::outputs;
use crate::{allocations, flame, progress};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A JSON file; without one, ten generated megabytes of pods.
    file: Option<PathBuf>,
    /// The format that the encoder writes and the decoder reads.
    #[arg(long, default_value = cases::DEFAULT, value_parser = cases::FORMATS)]
    format: String,
    /// The scan kernel: avx512, avx2, neon or portable; the fastest one if none is named.
    #[arg(long)]
    kernel: Option<String>,
    /// Seconds of sampling for the flamegraph of each direction; 0 for none.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
}

/// What is timed: the scan alone, and both directions.
const TIMED: [&str; 3] = ["scan", "encode", "decode"];

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let kernel = stc_perf::kernel(arguments.kernel.as_deref())?;
    let time_to_sample =
        Duration::try_from_secs_f64(arguments.seconds).map_err(|error| format!("--seconds: {error}"))?;
    let folder = outputs()?;
    let path = match &arguments.file {
        Some(path) => path.clone(),
        None => generated(folder.join("pods-10MiB.json"))?,
    };
    let options = cases::options(&arguments.format)?;
    let case = cases::read(&path, false)?.written_with(options)?;
    let Document { json, stc, minified } = &case.documents[0];

    let bar = progress::bar(4);
    bar.set_message("time");
    let mut stages = Stages::new(kernel);
    let entries = stages.scan(json);
    let (mut encoder, mut decoder) = (encoder(options, kernel), decoder(options, kernel));
    let mut encode = || {
        black_box(encoder.encode(black_box(json)).is_ok());
    };
    let mut decode = || {
        black_box(decoder.decode(black_box(stc)).is_ok());
    };
    let mut scan = || {
        black_box(stages.scan(black_box(json)));
    };
    let times = times([&mut scan, &mut encode, &mut decode], json.len());
    bar.inc(1);
    bar.set_message("allocations");
    let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
    let counted = allocations::count(&[&path.to_string_lossy()], kernel.name(), Some(&arguments.format))?;
    let counted = counted.first().ok_or("nothing was counted")?;
    bar.inc(1);
    let mut sampled: Vec<(&Direction, Result<Samples, String>)> = Vec::new();
    let directions: [(&Direction, &mut dyn FnMut()); 2] = [(&ENCODE, &mut encode), (&DECODE, &mut decode)];
    for (direction, work) in directions {
        bar.set_message(format!("flamegraph of {}", direction.name));
        if !time_to_sample.is_zero() {
            sampled.push((direction, flame::sample(direction, &folder, time_to_sample, work)));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();

    let (format, kernel) = (&arguments.format, kernel.name());
    show(format_args!("{}: {} of JSON, {format}, kernel {kernel}\n", case.name, size(json.len() as f64)))?;
    show(format_args!("{entries} index entries; {} of STC\n\n", size(stc.len() as f64)))?;
    show(table(&times, [json.len(), json.len(), minified.len()]))?;
    let [scan, rest] = &counted.stages;
    show(format_args!(
        "\na new encoder: {} allocations of {} for the scan, {} of {} for the other stages\n",
        scan.allocations,
        size(scan.bytes as f64),
        rest.allocations,
        size(rest.bytes as f64)
    ))?;
    for (direction, memory, input) in [("encode", counted.encode, json), ("decode", counted.decode, stc)] {
        let peak = memory.peak as f64;
        show(format_args!(
            "{direction}: peak memory {}, {:.2} for a byte of input; {} allocations by a new codec, {} by a warm one\n",
            size(peak),
            peak / input.len() as f64,
            memory.cold,
            memory.warm
        ))?;
    }
    for (direction, samples) in sampled {
        match samples {
            Ok(samples) => show(format_args!("\n{}", by_stage(direction, &samples)))?,
            Err(why) => show(format_args!("\n{}: {why}\n", direction.name))?,
        }
    }
    Ok(())
}

/// Formats the share of each stage, the largest first.
fn by_stage(direction: &Direction, samples: &Samples) -> String {
    let mut table = Table::new([format!("{}, by {} samples", direction.name, samples.count), "share".to_owned()]);
    let mut shares = samples.shares.clone();
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    for (stage, share) in shares {
        table.row([format!("  {stage}"), format!("{:.0} %", share * 100.0)]);
    }
    format!("{table}flamegraph: {}\n", samples.graph.display())
}

fn generated(path: PathBuf) -> Result<PathBuf, String> {
    let json = stc_corpus::make("pods", 1, 10 << 20).ok_or("the corpus makes no pods")?;
    std::fs::write(&path, json).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Returns the median nanoseconds of each work; they take turns.
fn times(mut works: [&mut dyn FnMut(); 3], bytes: usize) -> [f64; 3] {
    let mut turns: [Vec<f64>; 3] = Default::default();
    let repeats = (64 << 10) / bytes.max(1) + 1;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) || turns[0].len() < 9 {
        for (work, turns) in works.iter_mut().zip(&mut turns) {
            let begun = Instant::now();
            (0..repeats).for_each(|_| work());
            turns.push(begun.elapsed().as_nanos() as f64 / repeats as f64);
        }
    }
    turns.map(|mut turns| median(&mut turns))
}

/// Returns the table of what was timed, each with the bytes of JSON that it reads or writes.
fn table(times: &[f64; 3], bytes: [usize; 3]) -> Table {
    let mut table = Table::new(["", "time", "of encode", "ns/KB", "GB/s"]);
    for ((name, spent), bytes) in TIMED.into_iter().zip(times).zip(bytes) {
        table.row([
            name.into(),
            time(*spent),
            format!("{:.0} %", spent / times[1] * 100.0),
            format!("{:.1}", spent / bytes as f64 * 1000.0),
            format!("{:.2}", bytes as f64 / spent.max(1.0)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        let cells =
            |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(String::from).collect();
        text.lines().map(cells).collect()
    }

    #[test]
    fn both_directions_are_measured_by_their_json() {
        let rows = rows(&table(&[1000.0, 4000.0, 2000.0], [4000, 4000, 1000]).to_string());
        assert_eq!(rows[1], ["scan", "1.00 µs", "25 %", "250.0", "4.00"]);
        assert_eq!(rows[2], ["encode", "4.00 µs", "100 %", "1000.0", "1.00"]);
        assert_eq!(rows[3], ["decode", "2.00 µs", "50 %", "2000.0", "0.50"]);
    }

    #[test]
    fn stages_are_listed_by_their_share() {
        let shares = vec![("scan", 0.2), ("plan columns", 0.5), ("write", 0.3)];
        let text = by_stage(&ENCODE, &Samples { graph: "graph.svg".into(), count: 90, shares });
        let rows = rows(&text);
        assert_eq!(rows[0], ["encode, by 90 samples", "share"]);
        assert_eq!(rows[1..4].iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["plan columns", "write", "scan"]);
        assert_eq!((rows[1][1].as_str(), rows[4][0].as_str()), ("50 %", "flamegraph: graph.svg"));
    }
}
