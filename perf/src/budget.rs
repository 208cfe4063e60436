//! `budget.toml`: what each class of response may cost, since when, and why. A budget without a reason is rejected: the
//! reason is needed when the budget is changed next.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::SystemTime;

use serde::Deserialize;
use stc_perf::cases::CLASSES;

use crate::context;

/// The costs of one direction: allowed or measured.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Costs {
    /// Instructions a byte of JSON.
    pub(crate) instructions: f64,
    /// Allocations of a warm codec.
    pub(crate) allocations: u64,
    /// Peak bytes of a new codec for a byte of its input.
    pub(crate) peak: f64,
    /// Time for the document over the time of simd-json's tape.
    pub(crate) latency: f64,
}

/// The budget of a class.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The day it was set, for example 2026-11-30.
    date: String,
    reason: String,
    pub(crate) encode: Costs,
    pub(crate) decode: Costs,
}

/// The placeholder that `--update` writes as a reason; a budget that still has it is rejected.
const UNSAID: &str = "SAY WHY";

/// The budget of requests to models, beside the classes of responses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextEntry {
    date: String,
    reason: String,
    prepare: context::Costs,
    standard: context::Costs,
}

/// The name of the budget of requests to models.
const CONTEXT: &str = "context";

/// Parses the budgets of requests to models, by the names of the requests.
pub(crate) fn parse_context(text: &str) -> Result<BTreeMap<&'static str, context::Costs>, String> {
    #[derive(Deserialize)]
    struct Only {
        context: ContextEntry,
    }
    let entry = toml::from_str::<Only>(text).map_err(|error| error.to_string())?.context;
    if entry.reason.trim().is_empty() || entry.reason.contains(UNSAID) || !is_date(&entry.date) {
        return Err("context: the budget has no reason or no date".to_owned());
    }
    Ok([("prepare", entry.prepare), ("standard", entry.standard)].into())
}

/// Parses the budgets: exactly one for every class.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<String, Entry>, String> {
    let mut tables: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
    tables.remove(CONTEXT);
    let entries: BTreeMap<String, Entry> = tables.try_into().map_err(|error: toml::de::Error| error.to_string())?;
    for (class, _, _) in CLASSES {
        let entry = entries.get(class).ok_or_else(|| format!("no budget for {class}"))?;
        if entry.reason.trim().is_empty() || entry.reason.contains(UNSAID) {
            return Err(format!("{class}: the budget has no reason"));
        }
        if !is_date(&entry.date) {
            return Err(format!("{class}: {:?} is not a date", entry.date));
        }
    }
    match entries.keys().find(|name| !CLASSES.iter().any(|(class, _, _)| class == name)) {
        Some(name) => Err(format!("{name}: no such class")),
        None => Ok(entries),
    }
}

fn is_date(text: &str) -> bool {
    let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts[..], [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2))
}

/// Returns the budget for measured costs: a tenth of room for exact counts, and twice the measurement for time, because a
/// busy neighbour on the same core can cost half of the speed.
pub(crate) fn suggest(class: &str, encode: Costs, decode: Costs, today: &str) -> String {
    let mut text = format!("[{class}]\ndate = \"{today}\"\nreason = \"{UNSAID}\"\n");
    for (direction, costs) in [("encode", encode), ("decode", decode)] {
        let Costs { instructions, allocations, peak, latency } = costs;
        // Rounded up to two digits; the small subtraction absorbs representation errors such as 3.3000000000000003.
        let up = |value: f64, room: f64| (value * room * 100.0 - 1e-6).ceil() / 100.0;
        let _ = writeln!(
            text,
            "{direction} = {{ instructions = {:.2}, allocations = {allocations}, peak = {:.2}, latency = {:.2} }}",
            up(instructions, 1.1),
            up(peak, 1.1),
            up(latency, 2.0)
        );
    }
    text
}

/// Returns the current date (UTC).
pub(crate) fn today() -> String {
    date(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400))
}

/// Converts days since 1970 to a date (Howard Hinnant's algorithm); no calendar library is needed for this alone.
fn date(days: u64) -> String {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { instructions: 3.0, allocations: 0, peak: 2.0, latency: 0.5 };

    fn complete() -> String {
        let entry = |(class, _, _): &(&str, &str, &str)| suggest(class, COSTS, COSTS, "2026-11-30");
        CLASSES.iter().map(entry).collect::<String>().replace(UNSAID, "because")
    }

    #[test]
    fn a_suggestion_becomes_a_budget_with_a_reason() {
        let entries = parse(&complete()).expect("complete");
        assert_eq!(entries["small"].encode, Costs { instructions: 3.3, allocations: 0, peak: 2.2, latency: 1.0 });
        assert!(parse(&complete().replacen("because", UNSAID, 1)).expect_err("unsaid").contains("no reason"));
    }

    #[test]
    fn a_budget_has_exactly_the_classes() {
        assert!(parse("").expect_err("empty").contains("no budget for"));
        let extra = complete() + &suggest("other", COSTS, COSTS, "2026-11-30");
        assert!(parse(&extra).expect_err("one more").contains("no such class"));
        assert!(parse(&complete().replacen("2026-11-30", "soon", 1)).expect_err("a date").contains("not a date"));
        assert!(parse(&complete().replacen("peak", "peek", 1)).is_err());
    }

    #[test]
    fn the_committed_budget_is_valid() {
        parse(include_str!("../budget.toml")).expect("perf/budget.toml");
        parse_context(include_str!("../budget.toml")).expect("perf/budget.toml, context");
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_787), "2026-11-30");
    }
}
