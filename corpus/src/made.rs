//! The small files of `corpus/made/`: every kind once, some kinds again in another style or size, and the files written by
//! hand. A test and `stc-corpus check` compare them with the committed files.

use crate::by_hand::PAGES;
use crate::catalogue::{catalogue, kind};
use crate::rng::Rng;
use crate::style::Style;

/// A small file of the corpus.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its name in `corpus/made/`, with its extension.
    pub name: String,
    /// A description in one line.
    pub about: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Returns all files of `corpus/made/`, sorted by name.
pub fn made() -> Vec<Made> {
    let by_kind = catalogue().iter().map(|kind| {
        let bytes = SIZES.iter().find(|(name, _)| *name == kind.name).map_or(6_000, |(_, bytes)| *bytes);
        (kind.name, kind.about.to_owned(), kind.make(&mut Rng::named(kind.name, 1), bytes))
    });
    let again = AGAIN.iter().map(|&(file, name, style, bytes, why)| {
        let kind = kind(name).expect("AGAIN names kinds of the catalogue");
        (file, format!("{name}: {why}"), kind.make_in(style, &mut Rng::named(file, 1), bytes))
    });
    let by_hand = PAGES.iter().map(|&(name, about, text)| (name, about.to_owned(), text.as_bytes().to_vec()));
    let mut all: Vec<Made> = by_kind
        .chain(again)
        .chain(by_hand)
        .map(|(name, about, bytes)| Made { name: format!("{name}.json"), about, bytes })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Kinds whose file is not of the default 6,000 bytes.
const SIZES: &[(&str, usize)] = &[
    ("issues", 24_000),
    ("pulls", 20_000),
    ("repositories", 30_000),
    ("commits", 16_000),
    ("repository", 9_000),
    ("invoices", 12_000),
    ("orders", 14_000),
    ("search-hits", 12_000),
    ("pods", 40_000),
    ("deployments", 20_000),
    ("events", 16_000),
    ("instances", 24_000),
    ("security-groups", 14_000),
    ("sql-rows", 16_000),
    ("sql-wide", 12_000),
    ("weather", 10_000),
    ("metrics", 12_000),
    ("logs", 20_000),
    ("logs-ragged", 16_000),
    ("graphql", 14_000),
    ("mcp-result", 20_000),
    ("mcp-result-pretty", 16_000),
    ("mcp-tools", 18_000),
    ("config-deep", 10_000),
    ("package", 16_000),
    ("lock-file", 12_000),
    ("geojson", 12_000),
    ("tickets", 20_000),
    ("page-blocks", 16_000),
    ("ci-runs", 12_000),
    ("markdown", 14_000),
    ("stack-traces", 12_000),
    ("diffs", 12_000),
    // Long enough to hold the twelfth row, which differs.
    ("near-table", 10_000),
];

type Again = (&'static str, &'static str, Style, usize, &'static str);

/// Further files of a kind: file, kind, style, bytes, description.
const AGAIN: &[Again] = &[
    ("issues-small", "issues", Style::PYTHON, 2_000, "a row or two, spaced"),
    ("issues-pretty", "issues", Style::PRETTY_2, 12_000, "indented by two"),
    ("users-small", "users", Style::MINIFIED, 700, "three rows"),
    ("repositories-spaced", "repositories", Style::PYTHON, 8_000, "spaced"),
    ("pods-minified", "pods", Style::GO, 16_000, "as the API itself sends it"),
    ("pods-large", "pods", Style::MINIFIED, 58_000, "the largest file here"),
    ("instances-minified", "instances", Style::MINIFIED, 8_000, "without indentation"),
    ("sql-rows-pretty", "sql-rows", Style::PRETTY_4, 4_000, "a flat table indented by four"),
    ("sql-rows-small", "sql-rows", Style::MINIFIED, 450, "three rows"),
    ("weather-pretty", "weather", Style::PRETTY_2, 5_000, "one number per line"),
    ("logs-small", "logs", Style::PYTHON, 900, "a few lines"),
    ("customers-minified", "customers", Style::MINIFIED, 5_000, "without indentation"),
    ("geojson-pretty", "geojson", Style::PRETTY_2, 6_000, "one coordinate per line"),
    ("matrix-pretty", "matrix", Style::PRETTY_4, 2_000, "one number per line"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::fault;
    use std::path::Path;

    #[test]
    fn committed_files_equal_generated_ones() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("made");
        for file in made() {
            let found = std::fs::read(dir.join(&file.name)).unwrap_or_default();
            assert!(found == file.bytes, "{}: run `cargo run -p stc-corpus -- make`", file.name);
        }
        let committed = std::fs::read_dir(dir).expect("corpus/made").count();
        assert_eq!(committed, made().len(), "a file in corpus/made that is not generated");
    }

    #[test]
    fn files_are_well_formed_small_and_explained() {
        let readme = include_str!("../README.md");
        for file in made() {
            assert_eq!(fault(&file.bytes), None, "{}", file.name);
            assert!(file.bytes.len() <= 64_000, "{}", file.name);
            assert!(readme.contains(&format!("`{}`", file.name)), "{} is not in README.md", file.name);
        }
    }

    #[test]
    fn every_size_names_a_kind() {
        for (name, _) in SIZES {
            assert!(kind(name).is_some(), "{name}");
        }
    }
}
