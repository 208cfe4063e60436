//! Lists with q-values, as `Accept` and `Accept-Encoding` have them (RFC 9110, 12.4.2).

use http::{HeaderMap, HeaderName};

/// One element of such a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weighted<'a> {
    /// The coding or media type, as written.
    pub(crate) name: &'a str,
    /// Its weight in thousandths: 1000 without `q`, 0 is a refusal.
    pub(crate) weight: u16,
}

/// The elements of every line of this header. A line that is not ASCII and an element whose weight makes no sense are
/// left out.
pub(crate) fn list<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = Weighted<'a>> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).filter_map(element)
}

/// The weight given to exactly this name, if any; the first, if it is there twice.
pub(crate) fn of(headers: &HeaderMap, header: &HeaderName, name: &str) -> Option<u16> {
    list(headers, header).find(|element| element.name.eq_ignore_ascii_case(name)).map(|element| element.weight)
}

fn element(element: &str) -> Option<Weighted<'_>> {
    let mut parts = element.split(';').map(|part| part.trim_matches([' ', '\t']));
    let name = parts.next().filter(|name| !name.is_empty())?;
    let q = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.eq_ignore_ascii_case("q").then_some(value)
    });
    Some(Weighted { name, weight: q.map_or(Some(1000), thousandths)? })
}

/// `0`, `0.25`, `1`, `1.000`: at most three decimals, at most 1.
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
    fn weights() {
        for (text, expected) in [
            ("stc", Some(1000)),
            ("stc;q=0", Some(0)),
            ("stc ; Q=0.5", Some(500)),
            ("stc;q=0.001", Some(1)),
            ("stc;q=1.000", Some(1000)),
            ("stc;level=1;q=.5", None),
            ("stc;q=1.5", None),
            ("stc;q=0.1234", None),
            ("stc;q=-1", None),
            ("stc;q=", None),
            (";q=1", None),
        ] {
            assert_eq!(element(text).map(|element| element.weight), expected, "{text}");
        }
    }
}
