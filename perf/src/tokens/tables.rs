//! The measurements as Markdown, and as JSON lines.

use std::fmt::Write as _;

use serde::Serialize;

use super::sizes::{CL100K, Measured, O200K, Size, UNITS};
use super::texts::{FORMATS, MINIFIED, OWN, TOON};
use crate::table::Table;

/// Prefixes of files recorded from real interfaces; they also form a group together.
const API: [&str; 5] = ["gh", "aws", "k8s", "api", "mcp"];

/// Files that are summarised together.
struct Group<'m> {
    name: String,
    files: Vec<&'m Measured>,
}

/// Returns the groups: all files, those of [`API`] together, and those of each prefix.
fn groups(measured: &[Measured]) -> Vec<Group<'_>> {
    let of = |name: &str, wanted: &dyn Fn(&Measured) -> bool| Group {
        name: name.into(),
        files: measured.iter().filter(|file| wanted(file)).collect(),
    };
    let mut prefixes: Vec<&str> = measured.iter().filter_map(Measured::prefix).collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    let mut groups = vec![of("all", &|_| true)];
    if prefixes.iter().any(|prefix| API.contains(prefix)) {
        groups.push(of(&API.join(" "), &|file| file.prefix().is_some_and(|prefix| API.contains(&prefix))));
    }
    groups.extend(prefixes.into_iter().map(|prefix| of(prefix, &|file| file.prefix() == Some(prefix))));
    groups
}

impl Group<'_> {
    /// Returns the mean of the files' shares, and the share of the sums, over the files that both formats can express.
    fn shares(&self, format: usize, unit: usize) -> Option<(f64, f64)> {
        let both = self.files.iter().filter_map(|file| Some((file.sizes[format]?, file.sizes[MINIFIED]?)));
        let (mut shares, mut sizes, mut minified, mut count) = (0.0, 0, 0, 0_u32);
        for (size, whole) in both {
            shares += size.unit(unit) as f64 / whole.unit(unit) as f64;
            sizes += size.unit(unit);
            minified += whole.unit(unit);
            count += 1;
        }
        (count > 0).then(|| (shares / f64::from(count), sizes as f64 / minified as f64))
    }
}

/// Formats all tables as Markdown.
pub(super) fn markdown(measured: &[Measured], brief: bool) -> String {
    let mut text =
        String::from("Shares of minified JSON. The round trip of every STC text was checked byte for byte.\n");
    if !brief {
        for unit in [O200K, CL100K] {
            let _ = write!(text, "\n**{} tokens, file by file**\n\n{:#}", UNITS[unit], files(measured, unit));
        }
    }
    for (unit, name) in UNITS.iter().enumerate() {
        let tables = [("mean over files", true), ("weighted by size", false)];
        for (title, mean) in tables {
            let _ = write!(text, "\n**{name}, {title}**\n\n{:#}", means(measured, unit, mean));
        }
    }
    let _ = write!(text, "\n**The worst files**\n\n{:#}", worst(measured));
    let _ = write!(text, "\n**`stc::estimate_tokens` against o200k**\n\n{:#}", estimates(measured));
    text
}

fn files(measured: &[Measured], unit: usize) -> Table {
    let mut table = Table::new(["file", "tokens"].into_iter().chain(FORMATS[1..].iter().copied()));
    for file in measured {
        let tokens = file.sizes[MINIFIED].map_or(String::new(), |size| size.unit(unit).to_string());
        let shares = (1..FORMATS.len()).map(|format| share(file.share(format, unit)));
        table.row([file.file.clone(), tokens].into_iter().chain(shares));
    }
    table
}

fn means(measured: &[Measured], unit: usize, mean: bool) -> Table {
    let mut table = Table::new(["group", "files"].into_iter().chain(FORMATS[1..].iter().copied()));
    for group in groups(measured) {
        let shares = (1..FORMATS.len()).map(|format| {
            let shares = group.shares(format, unit);
            share(shares.map(|(each, whole)| if mean { each } else { whole }))
        });
        table.row([group.name.clone(), group.files.len().to_string()].into_iter().chain(shares));
    }
    table
}

/// Lists the worst file of each STC format, against minified JSON and against TOON.
fn worst(measured: &[Measured]) -> Table {
    let mut table = Table::new(["format", "against", "unit", "worst", "file"]);
    for (format, name) in FORMATS.iter().enumerate().skip(OWN) {
        for (other, unit) in [(MINIFIED, 0), (MINIFIED, O200K), (MINIFIED, CL100K), (TOON, O200K)] {
            let ratios = measured.iter().filter_map(|file| Some((file.ratio(format, other, unit)?, file)));
            let Some((ratio, file)) = ratios.max_by(|one, two| one.0.total_cmp(&two.0)) else { continue };
            table.row([*name, FORMATS[other], UNITS[unit], share(Some(ratio)).as_str(), file.file.as_str()]);
        }
    }
    table
}

/// Compares the token estimate with the real count, over all files and file by file.
fn estimates(measured: &[Measured]) -> Table {
    let mut table = Table::new(["text", "estimate / tokens", "mean error", "lowest", "highest"]);
    for format in std::iter::once(MINIFIED).chain(OWN..FORMATS.len()) {
        let sizes = || measured.iter().filter_map(|file| file.sizes[format]);
        let ratios: Vec<f64> = sizes().map(|size| size.estimate as f64 / size.o200k as f64).collect();
        let whole =
            sizes().map(|size| size.estimate).sum::<u64>() as f64 / sizes().map(|size| size.o200k).sum::<u64>() as f64;
        let error = ratios.iter().map(|ratio| (ratio - 1.0).abs()).sum::<f64>() / ratios.len() as f64;
        let [lowest, highest] = [ratios.iter().copied().reduce(f64::min), ratios.iter().copied().reduce(f64::max)];
        table.row([FORMATS[format].into(), share(Some(whole)), share(Some(error)), share(lowest), share(highest)]);
    }
    table
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{share:.3}"))
}

/// A line of `--json` for a file and a format.
#[derive(Serialize)]
struct FileLine<'m> {
    file: &'m str,
    format: &'m str,
    #[serde(flatten)]
    size: Size,
}

/// A line of `--json` for a group, a format and a unit.
#[derive(Serialize)]
struct GroupLine<'m> {
    group: &'m str,
    files: usize,
    format: &'m str,
    unit: &'m str,
    mean: f64,
    weighted: f64,
}

/// Formats all measurements as JSON lines.
pub(super) fn lines(measured: &[Measured]) -> String {
    let mut text = String::new();
    for file in measured {
        for (&format, size) in FORMATS.iter().zip(file.sizes) {
            if let Some(size) = size {
                put(&mut text, &FileLine { file: &file.file, format, size });
            }
        }
    }
    for group in groups(measured) {
        for (format, name) in FORMATS.iter().enumerate() {
            for (unit, unit_name) in UNITS.iter().enumerate() {
                let Some((mean, weighted)) = group.shares(format, unit) else { continue };
                let (files, group) = (group.files.len(), group.name.as_str());
                put(&mut text, &GroupLine { group, files, format: name, unit: unit_name, mean, weighted });
            }
        }
    }
    text
}

fn put(text: &mut String, line: &impl Serialize) {
    *text += &serde_json::to_string(line).expect("strings and finite numbers");
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::sizes::tests::measured;
    use super::*;

    fn some() -> [Measured; 3] {
        [
            measured("gh__a", [100, 200, 150, 120, 110, 40, 90].map(Some)),
            measured("k8s__b", [300, 600, 450, 360, 330, 240, 300].map(Some)),
            measured("sj__c", [Some(400), Some(800), None, None, Some(400), Some(400), Some(400)]),
        ]
    }

    #[test]
    fn groups_have_means_and_weighted_means() {
        let some = some();
        let groups = groups(&some);
        let names: Vec<(&str, usize)> = groups.iter().map(|group| (group.name.as_str(), group.files.len())).collect();
        assert_eq!(names, [("all", 3), ("gh aws k8s api mcp", 2), ("gh", 1), ("k8s", 1), ("sj", 1)]);
        let (mean, weighted) = groups[1].shares(5, O200K).expect("shares");
        assert!((mean - 0.6).abs() < 1e-9 && (weighted - 0.7).abs() < 1e-9);
        // A file that TOON cannot express counts on neither side.
        assert_eq!(groups[0].shares(TOON, 0), Some((1.2, 1.2)));
        assert_eq!(groups[4].shares(TOON, 0), None);
    }

    #[test]
    fn the_worst_file_is_named() {
        let text = format!("{:#}", worst(&some()));
        let row = |format: &str, against: &str| {
            let mut rows = text.lines().filter(|line| line.contains(format) && line.contains(against));
            rows.next().expect("a row").to_owned()
        };
        assert!(row("STC 2 ", "JSON").contains("1.000") && row("STC 1", "JSON").contains("1.100"));
        assert!(row("STC 2 ", "TOON").contains("0.667") && row("STC 2 ", "TOON").contains("k8s__b"));
    }

    #[test]
    fn markdown_and_lines_agree() {
        let some = some();
        let markdown = markdown(&some, false);
        assert!(markdown.contains("| gh__a ") && markdown.contains("0.600") && markdown.contains("0.700"));
        assert!(!super::markdown(&some, true).contains("gh__a  "));
        let lines: Vec<serde_json::Value> =
            lines(&some).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.iter().filter(|line| line.get("file").is_some()).count(), 3 * FORMATS.len() - 2);
        let group = |line: &&serde_json::Value| {
            line["group"] == "gh aws k8s api mcp" && line["format"] == "STC 2" && line["unit"] == "o200k"
        };
        let found = lines.iter().find(group).expect("a line");
        assert!((found["mean"].as_f64().expect("a number") - 0.6).abs() < 1e-9);
    }
}
