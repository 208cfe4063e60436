//! The formats on the command line: their parser with its help, and their names in reports.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use stc::{Format, UnknownFormat};

/// The format of every subcommand that names none.
pub(crate) const DEFAULT: Format = Format::Stc2;

/// The format of `--lines`, if none is named: STC 2 has line feeds inside a document.
pub(crate) const LINES: Format = Format::Stc1;

/// Names that formats had before. They are refused with what they are now.
const BEFORE: [&str; 2] = ["stc2-dense", "stc2-refs"];

/// Parses the name of one of these formats.
pub(crate) fn parser(formats: &[Format]) -> impl TypedValueParser<Value = Format> + use<> {
    let values = formats.iter().map(|format| PossibleValue::new(format.name()).help(about(*format)));
    values_and_hints(values).try_map(|name| name.parse::<Format>())
}

/// Parses one of these names, which are those of formats or of something beside them.
pub(crate) fn names(names: &[&'static str]) -> impl TypedValueParser<Value = String> + use<> {
    let values = names.iter().map(|name| PossibleValue::new(*name));
    let hint = |name: &str| name.parse::<Format>().err().and_then(UnknownFormat::hint);
    values_and_hints(values).try_map(move |name| hint(&name).map_or(Ok(name), Err))
}

/// Lets the names of before through to what comes after, which knows more about them than that they are no possible values.
fn values_and_hints(values: impl Iterator<Item = PossibleValue>) -> PossibleValuesParser {
    PossibleValuesParser::new(values.chain(BEFORE.map(|name| PossibleValue::new(name).hide(true))))
}

/// Returns its line in the help.
fn about(format: Format) -> &'static str {
    match format {
        Format::Json => "Minified JSON",
        Format::Stc2 => "Version 2, for large models and programs: rows are cells, and what repeats has a name",
        Format::Stc2Labelled => "Version 2 for small models: rows keep their keys, a header has what they share",
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
        assert_eq!(Format::STC.map(title), ["STC 1", "STC 2", "STC 2 labelled"]);
        assert_eq!(Format::STC.map(key), ["stc1", "stc2", "stc2_labelled"]);
        for (index, format) in Format::ALL.into_iter().enumerate() {
            assert!(Format::ALL[..index].iter().all(|other| about(*other) != about(format)), "{format}");
        }
    }
}
