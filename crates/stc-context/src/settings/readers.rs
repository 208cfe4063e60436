//! What an operator says of models: `readers = [{ model = "gpt-*", format = "stc2" }]`.

use crate::settings::choices::Format;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// The most bytes of a glob. It is part of reports.
const LONGEST_GLOB: usize = 128;
/// The most lines: every request of an unknown model is compared with all of them.
pub(crate) const MOST_LINES: usize = 64;

/// A model and its format.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ReaderLine {
    /// A glob, of which `*` stands for anything: it fits a name, or the end of one after `/`, `:`, `.` or `@`.
    #[serde(deserialize_with = "glob")]
    pub model: String,
    /// The format that its requests get.
    pub format: Format,
}

impl ReaderLine {
    /// Returns the first line that decides for no name, because one before it fits them all; and that one.
    #[must_use]
    pub fn shadowed(lines: &[Self]) -> Option<(&Self, &Self)> {
        let by =
            |number: usize| lines[..number].iter().find(|line| crate::reader::fits(&lines[number].model, &line.model));
        (1..lines.len()).find_map(|number| Some((&lines[number], by(number)?)))
    }
}

fn glob<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let glob = String::deserialize(deserializer)?;
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/@+*".contains(&byte);
    match (1..=LONGEST_GLOB).contains(&glob.len()) && glob.bytes().all(is_fine) {
        true => Ok(glob),
        false => {
            let why = "`context.readers`: expected 1 to 128 letters, digits and - _ . : / @ +, of which * stands for anything";
            Err(D::Error::custom(why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_decide_nothing() {
        let shadowed = |globs: &[&str]| {
            let line = |glob: &&str| ReaderLine { model: (*glob).to_owned(), format: Format::Json };
            let lines: Vec<_> = globs.iter().map(line).collect();
            ReaderLine::shadowed(&lines).map(|(line, by)| (line.model.clone(), by.model.clone()))
        };
        let pair = |line: &str, by: &str| Some((line.to_owned(), by.to_owned()));
        assert_eq!(shadowed(&["gpt-4*", "gpt-*", "claude-*"]), None);
        assert_eq!(shadowed(&["gpt-*", "claude-*", "GPT-4*"]), pair("GPT-4*", "gpt-*"));
        assert_eq!(shadowed(&["*", "x"]), pair("x", "*"));
        assert_eq!(shadowed(&["gpt-*", "azure/gpt-4o"]), pair("azure/gpt-4o", "gpt-*"));
        assert_eq!(shadowed(&["a", "a*"]), None);
        assert_eq!(shadowed(&[]), None);
    }
}
