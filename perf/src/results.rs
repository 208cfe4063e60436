//! Results as JSON lines: one line for each case and contender, so that ordinary tools can filter, join and compare them.

use std::path::Path;

use serde::{Deserialize, Serialize};
use stc_perf::measure::Outcome;
use stc_perf::{Case, Contender, Kernel, cases};

/// The result of one contender on one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) case: String,
    pub(crate) contender: String,
    /// The scan kernel of the encoder.
    pub(crate) kernel: String,
    /// The format that the encoder writes; empty in lines of older versions.
    #[serde(default)]
    pub(crate) format: String,
    /// Bytes of a document: of the JSON read, or written by a decoder.
    pub(crate) bytes: f64,
    /// Nanoseconds for a document, the median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nanoseconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gigabytes_per_second: Option<f64>,
    #[serde(default)]
    pub(crate) turns: usize,
    /// Whether the answer was equal to the document.
    #[serde(default)]
    pub(crate) exact: bool,
    /// Why there is no time: the reason for the rejection.
    #[serde(default, alias = "refused", skip_serializing_if = "Option::is_none")]
    pub(crate) rejected: Option<String>,
}

impl Line {
    pub(crate) fn new(case: &Case, contender: &Contender, kernel: Kernel, outcome: &Outcome) -> Self {
        let timing = outcome.timing();
        Self {
            case: case.name.clone(),
            contender: contender.name.into(),
            kernel: kernel.name().into(),
            format: cases::format(&case.options).into(),
            bytes: case.mean(|document| contender.per.bytes(document)),
            nanoseconds: timing.map(|timing| timing.nanoseconds),
            gigabytes_per_second: timing.map(|timing| timing.speed()),
            turns: timing.map_or(0, |timing| timing.turns),
            exact: timing.is_some_and(|timing| timing.exact),
            rejected: match outcome {
                Outcome::Rejected(why) => Some(why.clone()),
                Outcome::Timed(_) => None,
            },
        }
    }

    /// Returns the line as JSON.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("strings and finite numbers")
    }
}

/// Parses lines; a line that does not begin with `{` is a comment.
pub(crate) fn parse(text: &str) -> Result<Vec<Line>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| line.starts_with('{'));
    let parsed =
        lines.map(|(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1)));
    parsed.map(|line| line.map(|line: Line| Line { case: current_name(&line.case), ..line })).collect()
}

/// Returns the name of a case; in lines of older versions, 4096 bytes are called 4KB.
fn current_name(case: &str) -> String {
    let digit_before =
        |unit: &str| case.find(unit).is_some_and(|at| case[..at].ends_with(|c: char| c.is_ascii_digit()));
    match ["KB", "MB"].into_iter().find(|unit| digit_before(unit)) {
        Some(unit) => case.replacen(unit, &format!("{}iB", &unit[..1]), 1),
        None => case.to_owned(),
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<Line>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the line of a case and a contender.
pub(crate) fn find<'l>(lines: &'l [Line], case: &str, contender: &str) -> Option<&'l Line> {
    lines.iter().find(|line| line.case == case && line.contender == contender)
}

/// Returns the names of the cases, each once, in order.
pub(crate) fn cases(lines: &[Line]) -> Vec<&str> {
    let mut cases: Vec<&str> = Vec::new();
    for line in lines {
        if !cases.contains(&line.case.as_str()) {
            cases.push(&line.case);
        }
    }
    cases
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Builds a line like those of a run.
    pub(crate) fn line(case: &str, contender: &str, speed: f64) -> Line {
        Line {
            case: case.into(),
            contender: contender.into(),
            kernel: "portable".into(),
            format: "stc1".into(),
            bytes: 1000.0,
            nanoseconds: Some(1000.0 / speed),
            gigabytes_per_second: Some(speed),
            turns: 9,
            exact: true,
            rejected: None,
        }
    }

    #[test]
    fn lines_survive_the_round_trip() {
        let rejected =
            Line { nanoseconds: None, gigabytes_per_second: None, rejected: Some("no".into()), ..line("b", "x", 1.0) };
        let lines = [line("a", "encode", 2.5), rejected];
        let text: String = lines.iter().map(|line| line.json() + "\n").collect();
        assert_eq!(parse(&format!("a note\n{text}")).expect("lines"), lines);
        let old = line("users-4KB", "encode", 1.0).json() + "\n" + &line("users-10MB-stc2", "encode", 1.0).json();
        assert_eq!(cases(&parse(&old).expect("lines")), ["users-4KiB", "users-10MiB-stc2"]);
        assert!(parse("{\"case\":1}").expect_err("not a line").starts_with("line 1"));
    }
}
