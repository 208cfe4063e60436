//! The formats on the command line: their parser with its help, and their names in reports.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use stc::Format;

/// The format of every subcommand that names none.
pub(crate) const DEFAULT: Format = Format::Stc2Labelled;

/// The format of `--lines`, if none is named: STC 2 has line feeds inside a document.
pub(crate) const LINES: Format = Format::Stc1;

/// Parses the name of one of these formats.
pub(crate) fn parser(formats: &[Format]) -> impl TypedValueParser<Value = Format> + use<> {
    let value = |format: &Format| PossibleValue::new(format.name()).help(about(*format));
    PossibleValuesParser::new(formats.iter().map(value)).try_map(|name| name.parse())
}

/// Returns its line in the help.
fn about(format: Format) -> &'static str {
    match format {
        Format::Json => "Minified JSON",
        Format::Stc2Labelled => {
            "Version 2, the level that a model reads best: rows keep their keys, a header has what they share"
        }
        Format::Stc2Dense => "Version 2 in fewer tokens: rows are cells in the order of a header",
        Format::Stc2 => "Version 2 in the fewest tokens: dense, with a dictionary, templates and anchors",
        _ => "Version 1: bare keys, compact arrays, columns for flat rows; the only one that is written as a stream",
    }
}

/// Returns its name in tables and messages.
pub(crate) fn title(format: Format) -> String {
    format.name().replace("stc", "STC ").replace('-', " ")
}

/// Returns its key in JSON output.
pub(crate) fn key(format: Format) -> String {
    format.name().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_its_own_names_and_help() {
        assert_eq!(Format::STC.map(title), ["STC 1", "STC 2", "STC 2 dense", "STC 2 refs"]);
        assert_eq!(Format::STC.map(key), ["stc1", "stc2-labelled", "stc2_dense", "stc2_refs"]);
        for (index, format) in Format::ALL.into_iter().enumerate() {
            assert!(Format::ALL[..index].iter().all(|other| about(*other) != about(format)), "{format}");
        }
    }
}
