//! Savings by tool and format, and the latest skipped responses, for the page. Bounded, whatever names clients send.

use crate::log::now_ms;
use serde_json::{Value, json};
use stc_layer::{Report, Saved};
use std::collections::{BTreeMap, VecDeque};

/// Pairs of tool and format with a row of their own; all others share one.
const MOST_TOOLS: usize = 200;
/// Skipped responses that are kept.
const LATEST: usize = 30;
/// The longest untrusted name in characters.
const NAME: usize = 80;
/// The row for pairs beyond [`MOST_TOOLS`].
const OTHERS: &str = "(others)";

#[derive(Default)]
pub(crate) struct Savings {
    tools: BTreeMap<(String, &'static str), Tally>,
    skips: VecDeque<Value>,
}

#[derive(Default)]
struct Tally {
    responses: u64,
    saved: Saved,
}

impl Savings {
    pub(crate) fn note(&mut self, report: &Report<'_>) {
        let name = name(report);
        match report.outcome {
            Ok(saved) => {
                let mut key = (name, report.sent.unwrap_or(report.asked).name());
                if self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(&key) {
                    key.0 = OTHERS.to_owned();
                }
                let tally = self.tools.entry(key).or_default();
                tally.responses += 1;
                tally.saved += saved;
            }
            Err(skip) => {
                self.skips.truncate(LATEST - 1);
                self.skips.push_front(json!({
                    "time_ms": now_ms(), "reason": skip.name(), "name": name, "source": report.source.name(),
                    "format": report.asked.name(), "request_id": report.request_id.map(short),
                }));
            }
        }
    }

    pub(crate) fn tools(&self) -> Vec<Value> {
        let row = |((name, format), tally): (&(String, &'static str), &Tally)| {
            let Saved { bytes_in, bytes_out, tokens_in, tokens_out } = tally.saved;
            json!({
                "name": name, "format": format, "responses": tally.responses,
                "bytes": [bytes_in, bytes_out], "estimated_tokens": [tokens_in, tokens_out],
            })
        };
        self.tools.iter().map(row).collect()
    }

    /// Returns the skipped responses, latest first.
    pub(crate) fn skips(&self) -> impl Iterator<Item = &Value> {
        self.skips.iter()
    }
}

/// Returns the tool, or for REST the first segment of the path: the rest often contains personal names.
fn name(report: &Report<'_>) -> String {
    match report.tool {
        Some(tool) => short(tool),
        None => short(
            &report.path[..report.path[1.min(report.path.len())..].find('/').map_or(report.path.len(), |at| at + 1)],
        ),
    }
}

fn short(name: &str) -> String {
    let mut characters = name.chars();
    let kept: String = characters.by_ref().take(NAME).collect();
    if characters.next().is_some() { kept + "…" } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stc_layer::{Format, Protocol, Skip, Source};
    use std::time::Duration;

    fn report<'a>(tool: Option<&'a str>, path: &'a str, outcome: Result<Saved, Skip>) -> Report<'a> {
        Report {
            source: Source::AcceptEncoding,
            asked: Format::Stc2,
            sent: Some(Format::Stc1),
            protocol: Protocol::Rest,
            path,
            request_id: None,
            tool,
            status: None,
            outcome,
            took: Duration::ZERO,
        }
    }

    #[test]
    fn names_are_tools_or_the_first_part_of_a_path() {
        for (path, expected) in [("/", "/"), ("/a", "/a"), ("/a/b/c", "/a"), ("", ""), ("*", "*"), ("/é/x", "/é")] {
            assert_eq!(name(&report(None, path, Err(Skip::Busy))), expected);
        }
        assert_eq!(name(&report(Some("list"), "/mcp", Err(Skip::Busy))), "list");
        assert_eq!(name(&report(Some(&"é".repeat(500)), "/", Err(Skip::Busy))).chars().count(), NAME + 1);
    }

    #[test]
    fn strangers_cannot_make_it_grow() {
        let mut savings = Savings::default();
        let saved = Saved { bytes_in: 2, bytes_out: 1, tokens_in: 2, tokens_out: 1 };
        for number in 0..1000 {
            let tool = format!("tool-{number}");
            savings.note(&report(Some(&tool), "/", Ok(saved)));
            savings.note(&report(Some(&tool), "/", Err(Skip::TooSmall)));
        }
        assert_eq!((savings.tools.len(), savings.skips.len()), (MOST_TOOLS + 1, LATEST));
        let responses: u64 = savings.tools.values().map(|tally| tally.responses).sum();
        assert_eq!(responses, 1000, "none is lost");
        assert_eq!(savings.skips().next().unwrap()["name"], "tool-999", "the latest first");
    }
}
