//! Changes to a text by span: every byte outside the spans stays.

use crate::span::{self, Span};

/// A list of replacements that do not overlap, in any order.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    edits: Vec<(Span, Vec<u8>)>,
}

impl Edits {
    /// Returns whether there is no edit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Replaces the bytes of `span` by `with`. An empty span inserts.
    pub fn replace(&mut self, span: Span, with: Vec<u8>) {
        self.edits.push((span, with));
    }

    /// Removes the member with this key from an object, together with one comma.
    pub fn remove_member(&mut self, text: &[u8], object: &Span, key: &str) {
        let Some(gone) = span::member(text, object.clone(), key) else { return };
        let mut before = None;
        let mut after = None;
        for member in span::members(text, object.clone()) {
            if member.value.end < gone.key.start {
                before = Some(member.value.end);
            } else if member.key.start > gone.value.end && after.is_none() {
                after = Some(member.key.start);
            }
        }
        let span = match (before, after) {
            (Some(before), _) => before..gone.value.end,
            (None, Some(after)) => gone.key.start..after,
            (None, None) => gone.key.start..gone.value.end,
        };
        self.replace(span, Vec::new());
    }

    /// Drops the edits after the first `count`.
    pub fn truncate(&mut self, count: usize) {
        self.edits.truncate(count);
    }

    /// Returns the number of edits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.edits.len()
    }

    /// Returns the text with every edit made; `None` if two of them overlap.
    #[must_use]
    pub fn apply(mut self, text: &[u8]) -> Option<Vec<u8>> {
        self.edits.sort_by_key(|(span, _)| (span.start, span.end));
        let mut out = Vec::with_capacity(text.len());
        let mut kept = 0;
        for (span, with) in &self.edits {
            out.extend_from_slice(text.get(kept..span.start)?);
            out.extend_from_slice(with);
            kept = span.end;
        }
        out.extend_from_slice(text.get(kept..)?);
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_removed_with_one_comma() {
        for (text, expected) in [
            (r#"{"x":[1,2]}"#, "{}"),
            (r#"{ "x" : 1 , "b":2}"#, r#"{ "b":2}"#),
            (r#"{"a":1, "x":{"y":","} }"#, r#"{"a":1 }"#),
            (r#"{"a":1,"x":"\"",  "b":2}"#, r#"{"a":1,  "b":2}"#),
            (r#"{"a":1,"y":2}"#, r#"{"a":1,"y":2}"#),
            (r#"{"x":1,"x":2}"#, r#"{"x":1,"x":2}"#),
        ] {
            let mut edits = Edits::default();
            edits.remove_member(text.as_bytes(), &(0..text.len()), "x");
            assert_eq!(String::from_utf8(edits.apply(text.as_bytes()).unwrap()).unwrap(), expected);
        }
    }

    #[test]
    fn edits_in_any_order_and_overlaps_rejected() {
        let mut edits = Edits::default();
        edits.replace(4..5, b"E".to_vec());
        edits.replace(0..0, b"<".to_vec());
        edits.replace(1..3, Vec::new());
        assert_eq!(edits.clone().apply(b"abcdef").unwrap(), b"<adEf");
        edits.replace(2..4, b"!".to_vec());
        assert_eq!(edits.apply(b"abcdef"), None);
    }
}
