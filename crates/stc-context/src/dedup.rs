//! The same result twice in one request: the later one becomes a line that names the earlier one.
//!
//! The earlier one never changes, so the rule depends only on what comes before a result. An id that two results before the line have
//! is not named, because the model could not tell which of them is meant. If a later result has the id of one that a line names, the
//! line stays, as prompt caches need; it says "earlier", and before it there is one result of that id.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Texts shorter than this are not compared.
pub(crate) const SHORTEST_COMPARED: usize = 256;

/// The longest name in the line, in bytes.
const LONGEST_NAME_IN_LINE: usize = 64;

/// The texts of a request so far.
#[derive(Default)]
pub(crate) struct Seen {
    /// The places in `texts`, by the hash of the tool and the text.
    places: HashMap<u64, Vec<usize>>,
    texts: Vec<Kept>,
    /// The ids of all results so far, and whether several have it.
    ids: HashMap<String, bool>,
    hasher: RandomState,
}

struct Kept {
    tool: Option<usize>,
    id: String,
    text: Vec<u8>,
}

impl Seen {
    /// Notes the id of a result before its texts are looked at.
    pub(crate) fn result(&mut self, id: &str) {
        match self.ids.get_mut(id) {
            Some(is_reused) => *is_reused = true,
            None => drop(self.ids.insert(id.to_owned(), false)),
        }
    }

    fn is_reused(&self, id: &str) -> bool {
        self.ids.get(id).copied().unwrap_or_default()
    }

    /// Returns the line that replaces a text, if an earlier result of the same tool and another id has the same text;
    /// otherwise remembers the text.
    pub(crate) fn line(&mut self, tool: Option<(usize, &str)>, id: &str, text: &[u8]) -> Option<String> {
        if text.len() < SHORTEST_COMPARED || !is_plain(id) {
            return None;
        }
        let number = tool.map(|(number, _)| number);
        let hash = self.hasher.hash_one((number, text));
        let same = |place: &&usize| {
            let kept = &self.texts[**place];
            kept.tool == number && kept.text == text
        };
        match self.places.get(&hash).and_then(|places| places.iter().find(same)).copied() {
            // The same id again is the same result, sent twice by the client: it stays.
            Some(place) if self.texts[place].id == id => None,
            // The earlier id can never be named again, this one may.
            Some(place) if self.is_reused(&self.texts[place].id) => {
                self.texts[place].id = id.to_owned();
                None
            }
            Some(place) => {
                let named = tool.map(|(_, name)| name).filter(|name| is_plain(name));
                let tool = named.map_or(String::new(), |name| format!(" ({name})"));
                Some(format!("[Duplicate of {}{tool}; see earlier result]", self.texts[place].id))
            }
            None => {
                self.places.entry(hash).or_default().push(self.texts.len());
                self.texts.push(Kept { tool: number, id: id.to_owned(), text: text.to_vec() });
                None
            }
        }
    }
}

/// Returns whether a name can stand in the line: nothing else of a client's text may.
fn is_plain(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=LONGEST_NAME_IN_LINE).contains(&name.len()) && name.bytes().all(fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_result_names_the_earlier_one() {
        let mut seen = Seen::default();
        let text = vec![b'x'; SHORTEST_COMPARED];
        assert_eq!(seen.line(Some((0, "list")), "c1", &text), None);
        assert_eq!(seen.line(Some((0, "list")), "c1", &text), None, "the same id");
        assert_eq!(seen.line(Some((1, "other")), "c2", &text), None, "another tool");
        let line = seen.line(Some((0, "list")), "c3", &text);
        assert_eq!(line.as_deref(), Some("[Duplicate of c1 (list); see earlier result]"));
        assert_eq!(seen.line(Some((0, "list")), "c4", &text[1..]), None, "too short");
        assert_eq!(seen.line(Some((0, "list")), "c 5]", &text), None, "an id that cannot be named");
        assert_eq!(seen.line(None, "c6", &text), None);
        assert_eq!(seen.line(None, "c7", &text).as_deref(), Some("[Duplicate of c6; see earlier result]"));
    }

    #[test]
    fn an_id_of_two_results_is_not_named() {
        let mut seen = Seen::default();
        let (a, b) = (vec![b'a'; SHORTEST_COMPARED], vec![b'b'; SHORTEST_COMPARED]);
        let mut line = |id: &str, text: &[u8]| {
            seen.result(id);
            seen.line(None, id, text)
        };
        assert_eq!(line("c1", &a), None);
        assert_eq!(line("c1", &b), None);
        assert_eq!(line("c2", &a), None, "two results are c1");
        assert_eq!(line("c3", &a).as_deref(), Some("[Duplicate of c2; see earlier result]"));
        assert_eq!(line("c4", b"short"), None);
        assert_eq!(line("c4", &b), None, "a short result has the id too");
        assert_eq!(line("c5", &b), None, "and so it is not named");
        assert_eq!(line("c6", &b).as_deref(), Some("[Duplicate of c5; see earlier result]"));
        assert_eq!(line("c5", &a).as_deref(), Some("[Duplicate of c2; see earlier result]"));
        assert_eq!(line("c7", &b), None, "used again after it was named: not from here on");
    }
}
