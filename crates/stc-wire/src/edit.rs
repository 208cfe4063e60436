//! Changes to a text by span: every byte outside the spans stays.

use crate::span::{self, Member, Span};

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
        self.remove_members(text, object, |member| *member == gone);
    }

    /// Removes the members that `is_gone` chooses from an object, each together with one comma.
    pub fn remove_members(&mut self, text: &[u8], object: &Span, is_gone: impl Fn(&Member) -> bool) {
        // The end of the last member that stays, and the members after it that go.
        let mut kept = None;
        let mut gone: Option<Span> = None;
        for member in span::members(text, object.clone()) {
            if is_gone(&member) {
                gone = Some(gone.map_or(member.key.start, |gone| gone.start)..member.value.end);
                continue;
            }
            if let Some(gone) = gone.take() {
                let span = kept.map_or(gone.start..member.key.start, |kept| kept..gone.end);
                self.replace(span, Vec::new());
            }
            kept = Some(member.value.end);
        }
        if let Some(gone) = gone {
            self.replace(kept.unwrap_or(gone.start)..gone.end, Vec::new());
        }
    }

    /// Returns what each edit writes, to be changed.
    pub fn written_mut(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
        self.edits.iter_mut().map(|(_, with)| with)
    }

    /// Adds the edits of another list.
    pub fn append(&mut self, mut other: Self) {
        self.edits.append(&mut other.edits);
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

    /// Returns what the latest edit writes.
    #[must_use]
    pub fn last(&self) -> Option<&[u8]> {
        self.edits.last().map(|(_, with)| with.as_slice())
    }

    /// Returns the range of each edit and the length of what it writes, in the order of the text.
    #[must_use]
    pub fn sizes(&self) -> Vec<(Span, usize)> {
        let mut sizes: Vec<_> = self.edits.iter().map(|(span, with)| (span.clone(), with.len())).collect();
        sizes.sort_by_key(|(span, _)| (span.start, span.end));
        sizes
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
    fn members_side_by_side_are_removed_together() {
        for (text, expected) in [
            (r#"{"x":1,"y":2}"#, "{}"),
            (r#"{"x":1,"y":2,"a":3}"#, r#"{"a":3}"#),
            (r#"{"a":3, "x":1 ,"y":2 }"#, r#"{"a":3 }"#),
            (r#"{"x":1,"a":3,"y":2,"b":4,"x":5}"#, r#"{"a":3,"b":4}"#),
            (r#"{"a":3}"#, r#"{"a":3}"#),
        ] {
            let mut edits = Edits::default();
            let is_gone = |member: &Member| matches!(&text[member.key.clone()], r#""x""# | r#""y""#);
            edits.remove_members(text.as_bytes(), &(0..text.len()), is_gone);
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
