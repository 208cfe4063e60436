//! Savings by route, tool and format and by tenant, durations by tool, and the latest skipped responses, for the page and the
//! metrics. Bounded, whatever names clients send.

use crate::log::now_ms;
use crate::metrics::timings::Histogram;
use serde_json::{Value, json};
use stc_layer::{Report, Saved};
use std::collections::{BTreeMap, VecDeque};

/// Triples of route, tool and format with a row of their own; all others of a route and format share one. So do durations, by route
/// and tool. A tool gets a row of its own with a conversion: the name is the request's, and anyone can call tools that do not exist.
const MOST_TOOLS: usize = 200;
/// Tenants with a row of their own; all others share one.
const MOST_TENANTS: usize = 100;
/// Skipped responses that are kept.
const LATEST_SKIPS: usize = 30;
/// The longest untrusted name in characters.
const LONGEST_UNTRUSTED_NAME: usize = 80;
/// The row for names beyond the limits.
const OTHERS: &str = "(others)";

#[derive(Default)]
pub(crate) struct Savings {
    tools: BTreeMap<Key, Tally>,
    tenants: BTreeMap<String, Tally>,
    /// By route and tool.
    durations: BTreeMap<(String, String), Histogram>,
    skips: VecDeque<Value>,
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) route: String,
    /// The tool, or for REST the first segment of the path.
    pub(crate) tool: String,
    pub(crate) format: &'static str,
}

/// The sum of a row.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) responses: u64,
    pub(crate) saved: Saved,
}

impl Tally {
    fn add(&mut self, saved: Saved) {
        self.responses += 1;
        self.saved += saved;
    }

    /// Returns the sum for the page, which compares with minified JSON.
    fn shown(&self) -> Value {
        let Saved { bytes_minified, bytes_out, tokens_minified, tokens_out, .. } = self.saved;
        json!({
            "responses": self.responses, "bytes": [bytes_minified, bytes_out],
            "estimated_tokens": [tokens_minified, tokens_out],
        })
    }
}

impl Savings {
    pub(crate) fn note(&mut self, route: &str, report: &Report<'_>) {
        if let Some(tool) = report.tool {
            let mut key = (route.to_owned(), short(tool));
            let is_over = self.durations.len() >= MOST_TOOLS || report.outcome.is_err();
            if is_over && !self.durations.contains_key(&key) {
                OTHERS.clone_into(&mut key.1);
            }
            self.durations.entry(key).or_default().observe(report.waited);
        }
        let name = name_of(report);
        match report.outcome {
            Ok(saved) => {
                let format = report.sent.or(report.asked).map_or("unknown", |format| format.name());
                let mut key = Key { route: route.to_owned(), tool: name, format };
                if self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(&key) {
                    OTHERS.clone_into(&mut key.tool);
                }
                self.tools.entry(key).or_default().add(saved);
                if let Some(tenant) = report.tenant {
                    let mut tenant = short(tenant);
                    if self.tenants.len() >= MOST_TENANTS && !self.tenants.contains_key(&tenant) {
                        OTHERS.clone_into(&mut tenant);
                    }
                    self.tenants.entry(tenant).or_default().add(saved);
                }
            }
            Err(skip) => {
                self.skips.truncate(LATEST_SKIPS - 1);
                self.skips.push_front(json!({
                    "time_ms": now_ms(), "reason": skip.name(), "name": name, "route": route, "source": report.source.name(),
                    "format": report.asked.map(|format| format.name()),
                    "request_id": report.request_id.map(short),
                }));
            }
        }
    }

    /// Returns the sums by route, tool and format.
    pub(crate) const fn by_tool(&self) -> &BTreeMap<Key, Tally> {
        &self.tools
    }

    /// Returns the time until results were converted or skipped, by route and tool.
    pub(crate) const fn durations(&self) -> &BTreeMap<(String, String), Histogram> {
        &self.durations
    }

    pub(crate) fn tools(&self) -> Vec<Value> {
        let row = |(key, tally): (&Key, &Tally)| {
            let mut row = tally.shown();
            row["name"] = key.tool.as_str().into();
            row["route"] = key.route.as_str().into();
            row["format"] = key.format.into();
            row
        };
        self.tools.iter().map(row).collect()
    }

    pub(crate) fn tenants(&self) -> Vec<Value> {
        let row = |(tenant, tally): (&String, &Tally)| {
            let mut row = tally.shown();
            row["name"] = tenant.as_str().into();
            row
        };
        self.tenants.iter().map(row).collect()
    }

    /// Returns the skipped responses, latest first.
    pub(crate) fn skips(&self) -> impl Iterator<Item = &Value> {
        self.skips.iter()
    }
}

/// Returns the tool, or for REST the first segment of the path: the rest often contains personal names.
pub(crate) fn name_of(report: &Report<'_>) -> String {
    match report.tool {
        Some(tool) => short(tool),
        None => short(
            &report.path[..report.path[1.min(report.path.len())..].find('/').map_or(report.path.len(), |at| at + 1)],
        ),
    }
}

/// Returns an untrusted name as it is shown: not too long, and without control characters.
pub(crate) fn short(name: &str) -> String {
    let mut characters = name.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter });
    let kept: String = characters.by_ref().take(LONGEST_UNTRUSTED_NAME).collect();
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
            asked: Some(Format::Stc2),
            sent: Some(Format::Stc1),
            protocol: Protocol::Rest,
            path,
            request_id: None,
            tool,
            tenant: tool,
            status: None,
            outcome,
            took: Duration::ZERO,
            waited: Duration::from_millis(3),
        }
    }

    #[test]
    fn names_are_tools_or_the_first_part_of_a_path() {
        for (path, expected) in [("/", "/"), ("/a", "/a"), ("/a/b/c", "/a"), ("", ""), ("*", "*"), ("/é/x", "/é")] {
            assert_eq!(name_of(&report(None, path, Err(Skip::Busy))), expected);
        }
        assert_eq!(name_of(&report(Some("list"), "/mcp", Err(Skip::Busy))), "list");
        assert_eq!(
            name_of(&report(Some(&"é".repeat(500)), "/", Err(Skip::Busy))).chars().count(),
            LONGEST_UNTRUSTED_NAME + 1
        );
    }

    #[test]
    fn an_unknown_format_is_shown_with_its_reason() {
        let mut savings = Savings::default();
        let unknown = Report { asked: None, sent: None, ..report(None, "/rows", Err(Skip::UnknownFormat)) };
        savings.note("/", &unknown);
        let shown = savings.skips().next().unwrap();
        assert_eq!((&shown["reason"], &shown["format"]), (&"unknown-format".into(), &Value::Null));
        let page = include_str!("../admin/page/page.js");
        for skip in Skip::ALL {
            assert!(page.contains(&format!("\n  \"{skip}\": \"")), "the page explains {skip}");
        }
    }

    /// Calls of tools that do not exist take no rows from those that do.
    #[test]
    fn a_tool_has_a_duration_of_its_own_after_a_conversion() {
        let mut savings = Savings::default();
        let rows = |savings: &Savings| savings.durations.keys().map(|(_, tool)| tool.clone()).collect::<Vec<_>>();
        for number in 0..2 * MOST_TOOLS {
            savings.note("/", &report(Some(&format!("forged-{number}")), "/", Err(Skip::TooSmall)));
        }
        assert_eq!(rows(&savings), [OTHERS]);
        savings.note("/", &report(Some("list"), "/", Ok(Saved::of([2, 1], [2, 1]))));
        savings.note("/", &report(Some("list"), "/", Err(Skip::TooSmall)));
        assert_eq!(rows(&savings), [OTHERS, "list"]);
        let sum = savings.durations[&("/".to_owned(), "list".to_owned())].sum();
        assert!(sum > 0.0059, "{sum}: a skipped result has a duration too");
    }

    #[test]
    fn strangers_cannot_make_it_grow() {
        let mut savings = Savings::default();
        let saved = Saved::of([2, 1], [2, 1]);
        for number in 0..1000 {
            let tool = format!("tool-{number}");
            savings.note("/", &report(Some(&tool), "/", Ok(saved)));
            savings.note("/", &report(Some(&tool), "/", Err(Skip::TooSmall)));
        }
        let sizes = (savings.tools.len(), savings.tenants.len(), savings.skips.len(), savings.durations.len());
        assert_eq!(sizes, (MOST_TOOLS + 1, MOST_TENANTS + 1, LATEST_SKIPS, MOST_TOOLS + 1));
        assert!(savings.durations.values().map(Histogram::sum).sum::<f64>() > 5.99, "none is lost");
        for rows in [savings.tools.values().collect::<Vec<_>>(), savings.tenants.values().collect()] {
            assert_eq!(rows.iter().map(|tally| tally.responses).sum::<u64>(), 1000, "none is lost");
        }
        assert_eq!(savings.skips().next().unwrap()["name"], "tool-999", "the latest first");
    }
}
