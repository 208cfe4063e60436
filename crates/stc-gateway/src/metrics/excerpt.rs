//! The start of the latest converted response before and after, for the page. Nothing is kept unless the operator allows it.

use crate::log::now_ms;
use crate::metrics::savings::name_of;
use serde_json::{Value, json};
use stc_layer::Report;
use std::sync::{Mutex, PoisonError};

/// The longest excerpt in characters.
const LONGEST_EXCERPT: usize = 2000;

/// The excerpt, if there is one.
#[derive(Default)]
pub(crate) struct Excerpt(Mutex<Option<Value>>);

impl Excerpt {
    /// Replaces the excerpt.
    pub(crate) fn note(&self, report: &Report<'_>, before: &[u8], after: &[u8]) {
        let format = report.sent.map(|format| format.name());
        let excerpt = json!({
            "time_ms": now_ms(), "name": name_of(report), "format": format, "bytes": [before.len(), after.len()],
            "before": start(before), "after": start(after),
        });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(excerpt);
    }

    /// Removes the excerpt.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the excerpt for the page.
    pub(crate) fn shown(&self) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the start of a text, and a mark if that is not all of it.
fn start(text: &[u8]) -> String {
    // A character has at most four bytes; one that is cut in two is after the last that is shown.
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST_EXCERPT + 4)]);
    let mut characters = text.chars();
    let kept: String = characters.by_ref().take(LONGEST_EXCERPT).collect();
    if characters.next().is_some() { kept + "…" } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_short_and_whole_characters() {
        assert_eq!(start("é[1]".as_bytes()), "é[1]");
        for letter in ["a", "é", "😀"] {
            assert_eq!(start(letter.repeat(LONGEST_EXCERPT).as_bytes()), letter.repeat(LONGEST_EXCERPT));
            assert_eq!(start(letter.repeat(LONGEST_EXCERPT + 9).as_bytes()), letter.repeat(LONGEST_EXCERPT) + "…");
        }
    }
}
