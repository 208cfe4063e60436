//! `compare A B`: two commits, or two files of JSON lines, as Markdown. Commits take turns on the machine, together with the
//! rivals: those did not change, so the distance of their ratio from 1 is the noise.

use std::path::{Path, PathBuf};
use std::process::Command;

use stc_perf::contenders::RIVALS;
use stc_perf::stats::{geometric_mean, median};

use crate::results::{self, Line, cases, find};
use crate::show::show;
use crate::table::Table;
use crate::{progress, worktree};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A commit, a file of JSON lines, or `.` for the working tree.
    before: String,
    /// The same, to compare with it.
    after: String,
    /// Turns for each commit.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Arguments of `run` for the commits: `-- --quick --dir FOLDER`.
    #[arg(last = true, default_values = ["--quick", "--format", stc_perf::cases::DEFAULT, "--only", "encode,decode,simd-json,memcpy"])]
    run: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let aside = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut sides = [Side::new(&arguments.before)?, Side::new(&arguments.after)?];
    let steps = sides.iter().map(|side| if side.source.is_some() { 1 + arguments.rounds } else { 0 }).sum();
    let bar = progress::bar(steps);
    for side in &mut sides {
        bar.set_message(format!("building {}", side.name));
        if side.build(aside.path())? {
            bar.inc(1);
        }
    }
    for _ in 0..arguments.rounds {
        for side in &mut sides {
            bar.set_message(format!("running {}", side.name));
            if side.run(&arguments.run)? {
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    let [before, after] = sides.map(|side| (side.name, middle(&side.lines)));
    comparable(&before.1, &after.1)?;
    show(markdown((&before.0, &before.1), (&after.0, &after.1)))
}

/// One side of the comparison.
struct Side {
    name: String,
    /// What to build; none for a file of results.
    source: Option<Source>,
    binary: Option<PathBuf>,
    lines: Vec<Line>,
}

enum Source {
    Commit(String),
    WorkingTree,
}

impl Side {
    fn new(what: &str) -> Result<Self, String> {
        let path = Path::new(what);
        let (name, source, lines) = if path.is_file() {
            let stem = path.file_stem().map_or(what.into(), |stem| stem.to_string_lossy().into_owned());
            (stem, None, results::read(path)?)
        } else if what == "." {
            ("working tree".into(), Some(Source::WorkingTree), Vec::new())
        } else {
            let commit = worktree::commit(what)?;
            (commit.clone(), Some(Source::Commit(commit)), Vec::new())
        };
        Ok(Self { name, source, binary: None, lines })
    }

    fn build(&mut self, aside: &Path) -> Result<bool, String> {
        self.binary = match &self.source {
            Some(Source::Commit(commit)) => Some(worktree::build(Some(commit), aside)?),
            Some(Source::WorkingTree) => Some(worktree::build(None, aside)?),
            None => None,
        };
        Ok(self.binary.is_some())
    }

    fn run(&mut self, arguments: &[String]) -> Result<bool, String> {
        let Some(binary) = &self.binary else { return Ok(false) };
        let printed = worktree::output(Command::new(binary).args(["run", "--json"]).args(arguments))
            .map_err(|error| format!("{}: `run` failed in this version: {error}", self.name))?;
        self.lines.extend(results::parse(&printed)?);
        Ok(true)
    }
}

/// Fails unless both sides measured the same format and have a case and contender in common. Lines without a format
/// (written by older versions) are accepted.
fn comparable(before: &[Line], after: &[Line]) -> Result<(), String> {
    let formats = |lines: &[Line]| lines.iter().map(|line| line.format.clone()).find(|format| !format.is_empty());
    if let (Some(one), Some(other)) = (formats(before), formats(after))
        && one != other
    {
        return Err(format!("different formats: {one} and {other}"));
    }
    match before.iter().any(|line| find(after, &line.case, &line.contender).is_some()) {
        true => Ok(()),
        false => Err("the two sides have no case and contender in common".into()),
    }
}

/// Reduces several lines for the same case and contender to their median.
fn middle(lines: &[Line]) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    for line in lines {
        if find(&all, &line.case, &line.contender).is_some() {
            continue;
        }
        let same = lines.iter().filter(|other| other.case == line.case && other.contender == line.contender);
        let mut speeds: Vec<f64> = same.filter_map(|line| line.gigabytes_per_second).collect();
        let speed = (!speeds.is_empty()).then(|| median(&mut speeds));
        all.push(Line { gigabytes_per_second: speed, ..line.clone() });
    }
    all
}

fn markdown(before: (&str, &[Line]), after: (&str, &[Line])) -> String {
    let mut table = Table::new(["case", "", before.0, after.0, "ratio"].map(String::from));
    let mut contenders: Vec<&str> = Vec::new();
    let mut pairs: Vec<(&str, f64)> = Vec::new();
    for case in cases(before.1) {
        for line in before.1.iter().filter(|line| line.case == case) {
            let other = find(after.1, case, &line.contender);
            let speeds = line.gigabytes_per_second.zip(other.and_then(|line| line.gigabytes_per_second));
            let Some((old, new)) = speeds else { continue };
            pairs.push((&line.contender, new / old));
            if !contenders.contains(&line.contender.as_str()) {
                contenders.push(&line.contender);
            }
            if !is_rival(&line.contender) {
                let cells = [format!("{old:.2}"), format!("{new:.2}"), format!("{:.2}x", new / old)];
                table.row([case.to_owned(), line.contender.clone()].into_iter().chain(cells));
            }
        }
    }
    let mut means = Table::new(["geometric mean", "ratio", "cases"]);
    for contender in contenders {
        let ratios: Vec<f64> = pairs.iter().filter(|(name, _)| *name == contender).map(|&(_, ratio)| ratio).collect();
        let name = if is_rival(contender) { format!("{contender} (noise)") } else { contender.into() };
        let mean = geometric_mean(ratios.iter().copied()).unwrap_or(f64::NAN);
        means.row([name, format!("{mean:.2}x"), ratios.len().to_string()]);
    }
    format!("GB of JSON a second; above 1.00x, {} is faster.\n\n{table:#}\n{means:#}", after.0)
}

fn is_rival(contender: &str) -> bool {
    RIVALS.iter().any(|rival| rival.name == contender)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::line;

    #[test]
    fn the_median_of_three_runs_counts() {
        let lines = [line("a", "encode", 1.0), line("a", "encode", 9.0), line("a", "encode", 2.0)];
        let middle = middle(&lines);
        assert_eq!(middle.len(), 1);
        assert_eq!(middle[0].gigabytes_per_second, Some(2.0));
    }

    #[test]
    fn rivals_are_noise_and_unmatched_cases_are_left_out() {
        let before = [line("a", "encode", 1.0), line("a", "simd-json", 1.0), line("b", "encode", 1.0)];
        let after = [line("a", "encode", 2.0), line("a", "simd-json", 1.1)];
        let text = markdown(("old", &before), ("new", &after));
        assert!(text.contains("| a    | encode | 1.00 | 2.00 | 2.00x |"), "{text}");
        assert!(text.contains("| simd-json (noise) | 1.10x |     1 |"), "{text}");
        assert!(!text.contains("| b "), "{text}");
    }

    #[test]
    fn a_side_is_a_file_or_a_commit() {
        assert!(Side::new("no-such-thing-anywhere").is_err());
        assert!(Side::new(".").expect("the working tree").source.is_some());
    }
}
