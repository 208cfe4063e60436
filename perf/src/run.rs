//! `run`: the speed of every contender on every case, as a table or JSON lines, with the ratios to the rivals last.

use stc_perf::contenders::{self, OTHERWISE, PLAIN, RIVALS, TAPE, TAPE_MINIFIED, WARM};
use stc_perf::measure::{Effort, contest};
use stc_perf::stats::geometric_mean;
use stc_perf::{Case, Contender, Kernel, cases};

use crate::progress;
use crate::results::{Line, find};
use crate::selection::Selection;
use crate::show::show;
use crate::table::{Table, size, time};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// The scan kernel: avx512, avx2, neon or portable; the fastest one if none is named.
    #[arg(long)]
    kernel: Option<String>,
    /// Remove insignificant whitespace from your files first.
    #[arg(long)]
    minify: bool,
    /// The format that the encoder writes.
    #[arg(long, default_value = cases::DEFAULT, value_parser = cases::FORMATS)]
    format: String,
    /// JSON lines instead of tables.
    #[arg(long)]
    json: bool,
    /// Measure for a fifth of the time, without the streaming contenders.
    #[arg(long)]
    quick: bool,
    /// Include the case of 100 MiB.
    #[arg(long)]
    huge: bool,
    /// Only these contenders, by name: encode,decode,simd-json.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let kernel = stc_perf::kernel(arguments.kernel.as_deref())?;
    let effort = if arguments.quick { Effort::QUICK } else { Effort::FULL };
    let candidates = WARM.iter().chain(&PLAIN).chain(if arguments.quick { &[][..] } else { &OTHERWISE }).chain(RIVALS);
    // `--only simd-json` includes simd-json on the bytes that the decoder writes.
    let same = |only: &str, name: &str| only == name || only == TAPE.name && name == TAPE_MINIFIED.name;
    let wanted = |contender: &&Contender| {
        arguments.only.is_empty() || arguments.only.iter().any(|only| same(only, contender.name))
    };
    let is_unknown = |only: &&String| !contenders::all().any(|contender| contender.name == only.as_str());
    if let Some(unknown) = arguments.only.iter().find(is_unknown) {
        let names: Vec<&str> = contenders::all().map(|contender| contender.name).collect();
        return Err(format!("no contender {unknown}; there are: {}", names.join(", ")));
    }
    let contenders: Vec<Contender> = candidates.filter(wanted).copied().collect();
    let sources = sources(arguments)?;
    let options = cases::options(&arguments.format)?;

    let bar = progress::bar(sources.len());
    let (mut lines, mut rejected) = (Vec::new(), 0);
    for source in &sources {
        let case = match source.case().and_then(|case| case.written_with(options)) {
            Ok(case) => case,
            Err(error) => {
                bar.suspend(|| eprintln!("stc-perf: {error}"));
                rejected += 1;
                continue;
            }
        };
        bar.set_message(case.name.clone());
        let outcomes = contest(&case, &contenders, kernel, effort);
        let fresh =
            contenders.iter().zip(&outcomes).map(|(contender, outcome)| Line::new(&case, contender, kernel, outcome));
        let fresh: Vec<Line> = fresh.collect();
        if arguments.json {
            let text: String = fresh.iter().map(|line| line.json() + "\n").collect();
            bar.suspend(|| show(text))?;
        }
        lines.extend(fresh);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if !arguments.json {
        show(Tables { lines: &lines, contenders: &contenders, kernel, format: &arguments.format })?;
    }
    if rejected > 0 { Err(format!("{rejected} of {} documents were rejected", sources.len())) } else { Ok(()) }
}

/// The origin of a case; documents are generated or read when they are needed, and dropped afterwards.
enum Source {
    Listed(&'static str),
    /// A file, its name in tables, and whether to minify it.
    File(std::path::PathBuf, String, bool),
}

impl Source {
    fn case(&self) -> Result<Case, String> {
        match self {
            Source::Listed(line) => cases::case(line),
            Source::File(path, name, minify) => {
                cases::read(path, *minify).map(|case| Case { name: name.clone(), ..case })
            }
        }
    }
}

fn sources(arguments: &Arguments) -> Result<Vec<Source>, String> {
    let Arguments { selection, quick, huge, minify, .. } = arguments;
    if selection.is_empty() {
        let large = if *quick { &[][..] } else { &cases::LARGE };
        let huge = if *huge { &cases::HUGE[..] } else { &[] };
        // Lines with their own format are for benches: here the format is an argument.
        let listed = cases::listed().filter(|line| line.split(' ').count() < 4);
        return Ok(listed.chain(large.iter().chain(huge).copied()).map(Source::Listed).collect());
    }
    let paths = selection.files()?;
    let names = cases::names(&paths);
    Ok(paths.into_iter().zip(names).map(|(path, name)| Source::File(path, name, *minify)).collect())
}

/// The tables that a run prints.
struct Tables<'r> {
    lines: &'r [Line],
    contenders: &'r [Contender],
    kernel: Kernel,
    format: &'r str,
}

impl std::fmt::Display for Tables<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (own, others): (Vec<Contender>, Vec<Contender>) =
            self.contenders.iter().partition(|contender| !OTHERWISE.iter().any(|other| other.name == contender.name));
        writeln!(
            f,
            "GB of JSON a second, median turn; {}, kernel {}. A decoder's GB are those it writes.",
            self.format,
            self.kernel.name()
        )?;
        writeln!(f, "~ the answer differs from the document; - the document is rejected\n")?;
        writeln!(f, "{}", throughput(self.lines, &own))?;
        if !others.is_empty() {
            writeln!(
                f,
                "Time for a document; tail: from the arrival of the last chunk of 16 KiB to the last byte of output\n"
            )?;
            writeln!(f, "{}", times(self.lines, &others))?;
        }
        write!(f, "{}", ratios(self.lines))
    }
}

fn throughput(lines: &[Line], contenders: &[Contender]) -> Table {
    let names = contenders.iter().map(|contender| contender.name);
    let mut table = Table::new(["case", "bytes", "µs"].into_iter().chain(names).chain(["encode/simd-json"]));
    for case in crate::results::cases(lines) {
        let of = |contender: &str| find(lines, case, contender).and_then(|line| line.gigabytes_per_second);
        let speeds = contenders.iter().map(|contender| cell(find(lines, case, contender.name)));
        let bytes = lines.iter().find(|line| line.case == case).map_or(0.0, |line| line.bytes);
        let first = find(lines, case, "encode").and_then(|line| line.nanoseconds);
        let ratio = of("encode").zip(of("simd-json")).map(|(encode, tape)| format!("{:.2}x", encode / tape));
        let head = [case.into(), size(bytes), first.map_or(String::new(), |time| format!("{:.2}", time / 1e3))];
        table.row(head.into_iter().chain(speeds).chain(ratio));
    }
    table
}

fn cell(line: Option<&Line>) -> String {
    match line.and_then(|line| Some((line.gigabytes_per_second?, line.exact))) {
        Some((speed, exact)) => {
            let digits = if speed < 0.1 { 3 } else { 2 };
            format!("{}{speed:.digits$}", if exact { "" } else { "~" })
        }
        None => "-".into(),
    }
}

fn times(lines: &[Line], contenders: &[Contender]) -> Table {
    let names = contenders.iter().map(|contender| contender.name);
    let mut table = Table::new(["case"].into_iter().chain(names));
    for case in crate::results::cases(lines) {
        let cells = contenders.iter().map(|contender| find(lines, case, contender.name));
        let cells = cells.map(|line| line.and_then(|line| line.nanoseconds).map_or("-".into(), time));
        table.row([case.to_string()].into_iter().chain(cells));
    }
    table
}

/// Compares the codec with each rival over the cases that both accept: geometric mean, worst case and its name.
fn ratios(lines: &[Line]) -> Table {
    let mut table = Table::new(["times as fast", "geometric mean", "worst", "", "cases"]);
    for (own, rival) in contenders::ratios() {
        let speed = |case, contender| find(lines, case, contender)?.gigabytes_per_second;
        let ratio = |case| Some((speed(case, own)? / speed(case, rival)?, case));
        let ratios: Vec<(f64, &str)> = crate::results::cases(lines).into_iter().filter_map(ratio).collect();
        let worst = ratios.iter().min_by(|left, right| left.0.total_cmp(&right.0));
        if let (Some(mean), Some((worst, case))) = (geometric_mean(ratios.iter().map(|&(ratio, _)| ratio)), worst) {
            let what = format!("{own} / {rival}");
            table.row([what, format!("{mean:.2}x"), format!("{worst:.2}x"), (*case).into(), ratios.len().to_string()]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::line;

    #[test]
    fn ratios_name_the_worst_case_and_skip_rejected_ones() {
        let rejected = Line { gigabytes_per_second: None, ..line("c", "simd-json", 1.0) };
        let lines = [
            line("a", "encode", 2.0),
            line("a", "simd-json", 1.0),
            line("b", "encode", 4.0),
            line("b", "simd-json", 0.5),
            line("c", "encode", 9.0),
            rejected,
        ];
        let text = ratios(&lines).to_string();
        let row = text.lines().nth(1).expect("a row");
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>(),
            ["encode", "/", "simd-json", "4.00x", "2.00x", "a", "2"]
        );
        assert_eq!(text.lines().count(), 2, "no rival without a case");
    }

    #[test]
    fn an_inexact_answer_is_marked_and_a_rejection_is_a_dash() {
        let inexact = Line { exact: false, ..line("a", "simd-json", 0.05) };
        assert_eq!(cell(Some(&inexact)), "~0.050");
        assert_eq!(cell(Some(&line("a", "encode", 1.0))), "1.00");
        assert_eq!(cell(None), "-");
    }
}
