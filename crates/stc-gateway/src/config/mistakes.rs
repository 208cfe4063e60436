//! The mistakes of a configuration: all of them at once, each at its own place, with the name that was probably meant.
//!
//! A reader of settings stops at the first mistake. So what it points to is cut out of the document, and the rest is read
//! again, until nothing is wrong or nothing can be cut.

use crate::config::values::ErrorAt;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

/// The most mistakes that are reported.
const MOST: usize = 50;

/// The mistakes of a configuration, not empty.
#[derive(Debug)]
pub(crate) struct Mistakes(pub(crate) Vec<ErrorAt>);

impl From<ErrorAt> for Mistakes {
    fn from(one: ErrorAt) -> Self {
        Self(vec![one])
    }
}

/// A table of the document, with the places of its members.
pub(crate) type Document<'a> = Spanned<DeTable<'a>>;

/// Parses a document.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, Mistakes> {
    DeTable::parse(text).map_err(|error| Mistakes::from(at(&error, text)))
}

/// Reads a table; returns what could be read, and the mistakes in the rest. `text` is that of the whole document.
pub(crate) fn read<T: DeserializeOwned>(mut table: Document<'_>, text: &str) -> (Option<T>, Vec<ErrorAt>) {
    let mut found = Vec::new();
    loop {
        let error = match T::deserialize(Deserializer::from(table.clone())) {
            Ok(read) => return (Some(read), found),
            Err(error) => error,
        };
        let mistake = at(&error, text);
        let is_cut = mistake.0.is_some_and(|offset| cut(table.get_mut(), offset));
        found.push(mistake);
        if !is_cut || found.len() == MOST {
            return (None, found);
        }
    }
}

/// Returns the member at the end of a path, as far as the path is there, with its place.
pub(crate) fn member<'a, 'b>(table: &'b DeTable<'a>, path: &[&str]) -> Option<&'b Spanned<DeValue<'a>>> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    match value.get_ref() {
        DeValue::Table(inner) => member(inner, rest).or(Some(value)),
        _ => Some(value),
    }
}

/// Returns a value as a document, if it is a table.
pub(crate) fn table<'a>(value: &Spanned<DeValue<'a>>) -> Option<Document<'a>> {
    match value.get_ref() {
        DeValue::Table(table) => Some(Spanned::new(value.span(), table.clone())),
        _ => None,
    }
}

/// Removes the innermost member or element that is at `offset`; returns whether there was one.
pub(crate) fn cut(table: &mut DeTable<'_>, offset: usize) -> bool {
    if table.iter_mut().any(|(_, value)| cut_inside(value, offset)) {
        return true;
    }
    let is_here = |key: std::ops::Range<usize>, value: &Spanned<DeValue<'_>>| {
        key.contains(&offset) || value.span().contains(&offset)
    };
    let key = table.iter().find(|(key, value)| is_here(key.span(), value)).map(|(key, _)| key.get_ref().to_string());
    key.is_some_and(|key| table.remove(key.as_str()).is_some())
}

fn cut_inside(value: &mut Spanned<DeValue<'_>>, offset: usize) -> bool {
    match value.get_mut() {
        DeValue::Table(table) => cut(table, offset),
        DeValue::Array(array) => {
            if array.iter_mut().any(|value| cut_inside(value, offset)) {
                return true;
            }
            let count = array.len();
            let all = std::mem::replace(array, DeArray::new()).into_iter();
            *array = all.filter(|value| !value.span().contains(&offset)).collect();
            array.len() < count
        }
        _ => false,
    }
}

fn at(error: &toml::de::Error, text: &str) -> ErrorAt {
    let written = error.span().and_then(|span| text.get(span)).unwrap_or_default();
    (error.span().map(|span| span.start), explained(error.message().trim(), written))
}

/// Returns a message with the name that was probably meant. `written` is what the message is about.
pub(crate) fn explained(message: &str, written: &str) -> String {
    let Some((before, expected)) = message.rsplit_once("expected ") else { return message.to_owned() };
    let unknown = before.split_once("unknown field `").or_else(|| before.split_once("unknown variant `"));
    match unknown.and_then(|(_, rest)| rest.split('`').next()) {
        Some(name) => {
            let names = expected.split('`').skip(1).step_by(2);
            match nearest(name, names) {
                Some(meant) => format!("{}; did you mean `{meant}`?", before.trim_end_matches([',', ' '])),
                None => message.to_owned(),
            }
        }
        None => {
            let names = expected.split([' ', ',']).filter(|word| !word.is_empty() && *word != "or");
            let name = written.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
            match name.and_then(|name| nearest(name, names)) {
                Some(meant) => format!("{message}; did you mean `{meant}`?"),
                None => message.to_owned(),
            }
        }
    }
}

/// Returns the name that differs least from a written one, if it differs little.
pub(crate) fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer than any name.
    if written.len() > 64 {
        return None;
    }
    let near = |name: &'a str| {
        let steps = distance(written, name);
        (steps <= 1 + name.len().min(8) / 4 && steps < name.len()).then_some((steps, name))
    };
    names.into_iter().filter_map(near).min_by_key(|(steps, _)| *steps).map(|(_, name)| name)
}

/// Returns the number of letters that are missing, added, replaced or swapped with the next; case, `-` and `_` are no difference.
fn distance(one: &str, other: &str) -> usize {
    let plain = |text: &str| -> Vec<char> {
        text.chars().map(|letter| if letter == '-' { '_' } else { letter.to_ascii_lowercase() }).collect()
    };
    let (one, other) = (plain(one), plain(other));
    let (mut before, mut last) = (Vec::new(), (0..=other.len()).collect::<Vec<_>>());
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, wanted) in other.iter().enumerate() {
            let mut steps =
                (last[column] + usize::from(letter != wanted)).min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && one[row - 1] == *wanted && *letter == other[column - 1] {
                steps = steps.min(before[column - 1] + 1);
            }
            next.push(steps);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[test]
    fn names_that_were_meant() {
        let names = ["mode", "min_bytes", "max_bytes", "redact", "telemetry", "api"];
        for (written, expected) in [
            ("mod", Some("mode")),
            ("modes", Some("mode")),
            ("min-bytes", Some("min_bytes")),
            ("MIN_BYTES", Some("min_bytes")),
            ("mni_byte", Some("min_bytes")),
            ("redcat", Some("redact")),
            ("telemtry", Some("telemetry")),
            ("apis", Some("api")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, names), expected, "{written}");
        }
        assert_eq!(nearest(&"m".repeat(1 << 20), names), None);
    }

    #[test]
    fn messages_with_the_name_that_was_meant() {
        for (message, written, expected) in [
            ("unknown field `mod`, expected one of `mode`, `api`", "mod", "unknown field `mod`; did you mean `mode`?"),
            ("unknown field `x`, expected `mode` or `api`", "x", "unknown field `x`, expected `mode` or `api`"),
            ("unknown variant `jsn`, expected one of `json`", "\"jsn\"", "unknown variant `jsn`; did you mean `json`?"),
            (
                "`m`: expected lossless, safe or x",
                "\"safer\"",
                "`m`: expected lossless, safe or x; did you mean `safe`?",
            ),
            ("`m`: expected lossless, safe or x", "7", "`m`: expected lossless, safe or x"),
            ("a number is required", "\"a\"", "a number is required"),
        ] {
            assert_eq!(explained(message, written), expected);
        }
    }

    #[test]
    fn every_mistake_at_its_place() {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only its mistakes count")]
        struct Wanted {
            number: Option<u8>,
            list: Option<Vec<bool>>,
            inner: Option<Inner>,
            rows: Option<Vec<Inner>>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only its mistakes count")]
        struct Inner {
            flag: Option<bool>,
        }
        let text = "numbr = 1\nlist = [true, 1, \"x\"]\nnumber = 300\ninner = { flag = 1, flg = true }\n\
                    [[rows]]\nflag = true\n[[rows]]\nflag = \"no\"\n[rest]\na = 1\n";
        let (read, found) = read::<Wanted>(parse(text).unwrap(), text);
        assert!(read.is_some());
        let mut places: Vec<_> = found.iter().map(|(offset, _)| &text[offset.unwrap()..][..4]).collect();
        places.sort_unstable();
        assert_eq!(places, ["\"no\"", "\"x\"]", "1, \"", "1, f", "300\n", "flg ", "numb", "rest"], "{found:?}");
        assert!(parse("a = [\n").is_err());
    }
}
