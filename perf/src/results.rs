//! Results as JSON lines: one line a case and contender, so that files of them can be filtered, joined and compared
//! with whatever is at hand.

use std::path::Path;

use serde::{Deserialize, Serialize};
use stc_perf::measure::Outcome;
use stc_perf::{Case, Contender, Kernel, cases};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) case: String,
    pub(crate) contender: String,
    /// The scan kernel of the encoder.
    pub(crate) kernel: String,
    /// What the encoder writes; nothing in lines from before there was a choice.
    #[serde(default)]
    pub(crate) format: String,
    /// Of a document: of the JSON read, or written by a decoder.
    pub(crate) bytes: f64,
    /// For a document, the median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nanoseconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gigabytes_per_second: Option<f64>,
    #[serde(default)]
    pub(crate) turns: usize,
    /// Was the answer equal to the document?
    #[serde(default)]
    pub(crate) exact: bool,
    /// Why there is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
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
            refused: match outcome {
                Outcome::Refused(why) => Some(why.clone()),
                Outcome::Timed(_) => None,
            },
        }
    }

    /// The line as it is printed.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("strings and finite numbers")
    }
}

/// Reads lines; what begins with anything but `{` is somebody's note.
pub(crate) fn parse(text: &str) -> Result<Vec<Line>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| line.starts_with('{'));
    lines.map(|(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))).collect()
}

pub(crate) fn read(path: &Path) -> Result<Vec<Line>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The line of a case and a contender.
pub(crate) fn find<'l>(lines: &'l [Line], case: &str, contender: &str) -> Option<&'l Line> {
    lines.iter().find(|line| line.case == case && line.contender == contender)
}

/// The cases, each once, in order.
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

    /// A line as a run would have made it.
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
            refused: None,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let refused =
            Line { nanoseconds: None, gigabytes_per_second: None, refused: Some("no".into()), ..line("b", "x", 1.0) };
        let lines = [line("a", "encode", 2.5), refused];
        let text: String = lines.iter().map(|line| line.json() + "\n").collect();
        assert_eq!(parse(&format!("a note\n{text}")).expect("lines"), lines);
        assert!(parse("{\"case\":1}").expect_err("not a line").starts_with("line 1"));
    }
}
