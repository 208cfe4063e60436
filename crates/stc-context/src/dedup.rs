//! The same result twice in one request: the later one becomes a line that names the earlier one.
//!
//! The earlier one never changes, so the rule depends only on what comes before a result.

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
    hasher: RandomState,
}

struct Kept {
    tool: Option<usize>,
    id: String,
    text: Vec<u8>,
}

impl Seen {
    /// Returns the line that replaces a text, if an earlier result of the same tool and another id has the same text;
    /// otherwise remembers the text.
    pub(crate) fn line(&mut self, tool: Option<(usize, &str)>, id: &str, text: &[u8]) -> Option<String> {
        if text.len() < SHORTEST_COMPARED || !is_plain(id) {
            return None;
        }
        let number = tool.map(|(number, _)| number);
        let hash = self.hasher.hash_one((number, text));
        let places = self.places.entry(hash).or_default();
        let same = |place: &&usize| {
            let kept = &self.texts[**place];
            kept.tool == number && kept.text == text
        };
        match places.iter().find(same) {
            // The same id again is the same result, sent twice by the client: it stays.
            Some(place) if self.texts[*place].id == id => None,
            Some(place) => {
                let named = tool.map(|(_, name)| name).filter(|name| is_plain(name));
                let tool = named.map_or(String::new(), |name| format!(" ({name})"));
                Some(format!("[Duplicate of {}{tool}; see earlier result]", self.texts[*place].id))
            }
            None => {
                places.push(self.texts.len());
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
}
