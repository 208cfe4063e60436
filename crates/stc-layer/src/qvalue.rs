//! Lists of headers, with parameters and q-values: `Accept` and `Accept-Encoding` (RFC 9110, 5.6 and 12.4.2).
//!
//! The crate `headers` has neither header (its issue 53). headers-accept has `Accept` only, and parses an element into a media type,
//! where negotiation passes elements to the upstream as they were written. Either would leave most of this file in use.

use http::{HeaderMap, HeaderName};

/// An element of a list with q-values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    /// The coding or media type, as written.
    pub(crate) name: &'a str,
    /// Its q-value in thousandths: 1000 without `q`, 0 is a refusal.
    pub(crate) qvalue: u16,
    /// The whole element with its parameters, as written.
    pub(crate) text: &'a str,
}

/// Returns the elements of every line of this header. Lines that are not ASCII and elements with an invalid q-value are
/// left out.
pub(crate) fn list<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = Element<'a>> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| split(line, b',')).filter_map(element)
}

/// Returns the q-value of exactly this name; the first, if the name occurs twice.
pub(crate) fn of(headers: &HeaderMap, header: &HeaderName, name: &str) -> Option<u16> {
    list(headers, header).find(|element| element.name.eq_ignore_ascii_case(name)).map(|element| element.qvalue)
}

/// Splits at a separator outside quoted strings. Space around a part is removed.
pub(crate) fn split(line: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let (mut quoted, mut escaped) = (false, false);
        let end = line.bytes().position(|byte| {
            let escape = quoted && !escaped && byte == b'\\';
            quoted ^= byte == b'"' && !escaped;
            escaped = escape;
            byte == separator && !quoted
        });
        rest = end.map(|end| &line[end + 1..]);
        Some(line[..end.unwrap_or(line.len())].trim_matches([' ', '\t']))
    })
}

fn element(text: &str) -> Option<Element<'_>> {
    let mut parts = split(text, b';');
    let name = parts.next().filter(|name| !name.is_empty())?;
    let q = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.eq_ignore_ascii_case("q").then_some(value)
    });
    Some(Element { name, qvalue: q.map_or(Some(1000), thousandths)?, text })
}

/// Parses `0`, `0.25`, `1`, `1.000`: at most three decimals, at most 1.
fn thousandths(q: &str) -> Option<u16> {
    let (whole, decimals) = q.split_once('.').unwrap_or((q, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let decimals = format!("{decimals:0<3}").parse::<u16>().ok()?;
    match whole {
        "0" => Some(decimals),
        "1" if decimals == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qvalues() {
        for (text, expected) in [
            ("stc", Some(1000)),
            ("stc;q=0", Some(0)),
            ("stc ; Q=0.5", Some(500)),
            ("stc;q=0.001", Some(1)),
            ("stc;q=1.000", Some(1000)),
            ("a/b;title=\"x;q=0\";q=0.5", Some(500)),
            ("stc;level=1;q=.5", None),
            ("stc;q=1.5", None),
            ("stc;q=0.1234", None),
            ("stc;q=-1", None),
            ("stc;q=", None),
            (";q=1", None),
        ] {
            assert_eq!(element(text).map(|element| element.qvalue), expected, "{text}");
        }
    }

    #[test]
    fn separators_in_quoted_strings_do_not_separate() {
        for (line, expected) in [
            ("a, b,c", &["a", "b", "c"][..]),
            (r#"a;x="1,2", b"#, &[r#"a;x="1,2""#, "b"]),
            (r#"a;x="\",", b"#, &[r#"a;x="\",""#, "b"]),
            (r#"a;x="\\", b"#, &[r#"a;x="\\""#, "b"]),
            (r#"a"b,c"#, &[r#"a"b,c"#]),
            (r"a\,b", &[r"a\", "b"]),
            ("", &[""]),
            (",", &["", ""]),
        ] {
            assert_eq!(split(line, b',').collect::<Vec<_>>(), expected, "{line}");
        }
    }
}
