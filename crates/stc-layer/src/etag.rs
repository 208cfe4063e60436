//! Entity tags: every form of a response has its own.
//!
//! A form is a format and a content coding; its name is added to the service's tag, and taken off again when the client
//! sends it back:
//!
//! ```text
//! "v1"              the service's own bytes
//! "v1-stc2"         as STC 2
//! "v1-stc2.gzip"    as STC 2, compressed
//! "v1-json.gzip"    the service's own text, compressed
//! ```

use crate::Format;
use crate::coding::Coding;
use crate::qvalue::split;
use http::header::{ETAG, HeaderName, IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE};
use http::{HeaderMap, HeaderValue};

/// The name of a compressed original.
const ORIGINAL: &str = "json";

/// Adds the form of a body to its tag, if it has one and is not the service's own.
pub(crate) fn mark(headers: &mut HeaderMap, format: Option<Format>, coding: Coding) {
    let Some(tag) = headers.get(ETAG).and_then(|tag| tag.to_str().ok()) else { return };
    if format.is_none() && coding == Coding::Identity {
        return;
    }
    let name = format.map_or(ORIGINAL, Format::name);
    let coding = match coding.name() {
        Some(coding) => format!(".{coding}"),
        None => String::new(),
    };
    let marked = tag.strip_suffix('"').map(|start| format!("{start}-{name}{coding}\""));
    // A tag without quotes is invalid; beside another body it would be wrong as well.
    match marked.and_then(|tag| HeaderValue::try_from(tag).ok()) {
        Some(tag) => headers.insert(ETAG, tag),
        None => headers.remove(ETAG),
    };
}

/// The tags of `If-None-Match` as the client sent them.
#[derive(Clone, Debug)]
pub(crate) struct Tags(Vec<Box<str>>);

/// Takes the names of forms off the tags in a request's conditions. `format` is what the client would get now: a tag of another
/// format does not match that. Ranges of a converted body cannot be served, so such an `If-Range` is a mismatch.
pub(crate) fn unmark(headers: &mut HeaderMap, format: Option<Format>) -> Option<Tags> {
    if headers.get(IF_RANGE).and_then(form).is_some() {
        headers.remove(IF_RANGE);
        headers.remove(RANGE);
    }
    let all = |headers: &HeaderMap, name: HeaderName| {
        let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
        let tags: Vec<Box<str>> = lines.flat_map(|line| split(line, b',')).map(Into::into).collect();
        tags
    };
    let written = all(headers, IF_MATCH);
    if written.iter().any(|tag| form_of(tag).is_some()) {
        set(headers, IF_MATCH, written.iter().map(|tag| plain(tag)));
    }
    let tags = all(headers, IF_NONE_MATCH);
    if tags.iter().any(|tag| form_of(tag).is_some()) {
        let fits = |tag: &str| {
            form_of(tag).is_none_or(|name| name == ORIGINAL || format.is_some_and(|format| format.name() == name))
        };
        set(headers, IF_NONE_MATCH, tags.iter().filter(|tag| fits(tag)).map(|tag| plain(tag)));
    }
    (!tags.is_empty()).then_some(Tags(tags))
}

impl Tags {
    /// Puts the client's own tag into a 304 that confirms it, because the 304 has the service's.
    pub(crate) fn restore(&self, headers: &mut HeaderMap) {
        let Some(tag) = headers.get(ETAG).and_then(|tag| tag.to_str().ok()) else { return };
        let weak = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
        let tag = weak(tag);
        let confirmed = self.0.iter().find(|own| weak(&plain(own)) == tag);
        if let Some(tag) = confirmed.and_then(|tag| HeaderValue::from_str(tag).ok()) {
            headers.insert(ETAG, tag);
        }
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, tags: impl Iterator<Item = String>) {
    let list = tags.collect::<Vec<_>>().join(", ");
    match HeaderValue::try_from(list).ok().filter(|list| !list.is_empty()) {
        Some(list) => headers.insert(name, list),
        None => headers.remove(name),
    };
}

fn form(value: &HeaderValue) -> Option<&'static str> {
    value.to_str().ok().and_then(form_of)
}

/// Returns the name of the format in a tag; `None` for the service's own.
fn form_of(tag: &str) -> Option<&'static str> {
    parse(tag).map(|(_, name)| name)
}

/// Returns a tag without the name of a form.
fn plain(tag: &str) -> String {
    parse(tag).map_or_else(|| tag.to_owned(), |(start, _)| format!("{start}\""))
}

/// Splits a marked tag into what comes before the mark and the format: `"v1-stc2.gzip"` into `"v1` and `stc2`. `None` for the
/// service's own tags.
fn parse(tag: &str) -> Option<(&str, &'static str)> {
    let text = tag.strip_suffix('"')?;
    let coding = |coding: &Coding| text.strip_suffix(coding.name()?)?.strip_suffix('.');
    let uncoded = Coding::COMPRESSED.iter().find_map(coding);
    let names = Format::ALL.map(Format::name);
    let original = uncoded.is_some().then_some(ORIGINAL);
    names.into_iter().chain(original).find_map(|name| {
        let start = uncoded.unwrap_or(text).strip_suffix(name)?.strip_suffix('-')?;
        start.contains('"').then_some((start, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn every_mark_comes_off_again() {
        for tag in ["\"v1\"", "W/\"v1\"", "\"\"", "\"a-gzip\"", "\"a-json\"", "\"a-stc3\"", "\"a,b\""] {
            assert_eq!(form_of(tag), None, "{tag}");
            for format in Format::ALL.map(Some).into_iter().chain([None]) {
                for coding in Coding::COMPRESSED.into_iter().chain([Coding::Identity]) {
                    let mut marked = headers(ETAG, tag);
                    mark(&mut marked, format, coding);
                    let marked = marked[ETAG].to_str().unwrap();
                    assert_eq!(marked == tag, format.is_none() && coding == Coding::Identity, "{marked}");
                    assert_eq!(plain(marked), tag, "{marked}");
                    assert_eq!(marked.starts_with("W/"), tag.starts_with("W/"), "as strong as before");
                    if marked != tag {
                        assert_eq!(form_of(marked), Some(format.map_or("json", Format::name)));
                    }
                }
            }
        }
        let mut invalid = headers(ETAG, "v1");
        mark(&mut invalid, Some(Format::Stc2Labelled), Coding::Identity);
        assert!(invalid.is_empty());
    }

    #[test]
    fn conditions_reach_the_service_with_its_own_tags() {
        for (name, value, expected) in [
            (IF_MATCH, "\"v1-stc2-labelled\"", "\"v1\""),
            (IF_MATCH, "\"v1-stc1.br\", W/\"v2\"", "\"v1\", W/\"v2\""),
            (IF_MATCH, "*", "*"),
            (IF_MATCH, "\"a, b\",  \"c\"", "\"a, b\",  \"c\""),
            (IF_NONE_MATCH, "\"v1-stc2-labelled\", \"v2\"", "\"v1\", \"v2\""),
            (IF_NONE_MATCH, "W/\"v1-stc2-labelled.gzip\"", "W/\"v1\""),
            (IF_NONE_MATCH, "\"v1-json.gzip\"", "\"v1\""),
            (IF_NONE_MATCH, "\"v1-stc1\", \"v2-stc2-labelled\"", "\"v2\""),
            (IF_NONE_MATCH, "\"v1-stc1\"", ""),
            (IF_NONE_MATCH, "*", "*"),
            (IF_RANGE, "\"v1\"", "\"v1\""),
            (IF_RANGE, "\"v1-stc2-labelled\"", ""),
        ] {
            let mut conditions = headers(name.clone(), value);
            conditions.insert(RANGE, HeaderValue::from_static("bytes=0-1"));
            unmark(&mut conditions, Some(Format::Stc2Labelled));
            let left = conditions.get(&name).map_or("", |left| left.to_str().unwrap());
            assert_eq!(left, expected, "{name}: {value}");
            assert_eq!(conditions.contains_key(RANGE), !(name == IF_RANGE && expected.is_empty()), "{name}: {value}");
        }
    }

    #[test]
    fn a_304_confirms_the_client_s_own_tag() {
        let mut request = headers(IF_NONE_MATCH, "\"v0-stc2-labelled\", W/\"v1-stc2-labelled\"");
        let tags = unmark(&mut request, Some(Format::Stc2Labelled)).unwrap();
        for (tag, expected) in
            [("\"v1\"", "W/\"v1-stc2-labelled\""), ("W/\"v0\"", "\"v0-stc2-labelled\""), ("\"v2\"", "\"v2\"")]
        {
            let mut response = headers(ETAG, tag);
            tags.restore(&mut response);
            assert_eq!(response[ETAG], expected);
        }
    }
}
