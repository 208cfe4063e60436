//! The keywords of all rules, found in one pass over a text.
//!
//! An automaton has to know its state before a byte to find the state after it, so a processor waits for its memory at each byte.
//! A long text is therefore read in four parts at once, a byte of each in turn:
//!
//! ```text
//! text   |---- part 0 ----|---- part 1 ----|---- part 2 ----|---- part 3 ----|
//! read    abc▶             def▶             ghi▶             jkl▶
//! ```
//!
//! A keyword belongs to the part in which it begins; a part is read on after its end for the keywords that begin in it.

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind, StartKind};
use std::ops::Range;

/// The most parts of a text.
pub(crate) const PARTS: usize = 4;
/// Texts are read in parts if each of them has as many bytes.
const SHORTEST_TEXT_PART: usize = 512;

/// The keywords. Case does not matter.
pub(crate) struct Keywords {
    automaton: DFA,
    start: StateID,
    /// The bytes of the longest keyword.
    longest: usize,
}

impl Keywords {
    pub(crate) fn new<'a>(words: impl Iterator<Item = &'a String> + Clone) -> Self {
        let automaton = DFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .start_kind(StartKind::Unanchored)
            .prefilter(false)
            .build(words.clone())
            .expect("the number and length of keywords is bounded");
        let start = automaton.start_state(Anchored::No).expect("the automaton was built for this");
        Self { automaton, start, longest: words.map(String::len).max().unwrap_or(0) }
    }

    /// Calls `each` with the part, the number and the range of every keyword in a text, until it fails. Those of a part come in the
    /// order in which they end. `one` says that the text is one part.
    pub(crate) fn find<E>(
        &self,
        text: &[u8],
        one: bool,
        mut each: impl FnMut(usize, usize, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let length = text.len() / PARTS;
        if one || length < SHORTEST_TEXT_PART {
            return self.on(self.start, text, 0..text.len(), |number, range| each(0, number, range));
        }
        let (one, rest) = text.split_at(length);
        let (two, rest) = rest.split_at(length);
        let (three, four) = rest.split_at(length);
        let mut states = [self.start; PARTS];
        for (at, (((one, two), three), four)) in one.iter().zip(two).zip(three).zip(four).enumerate() {
            for (state, byte) in states.iter_mut().zip([one, two, three, four]) {
                *state = self.automaton.next_state(Anchored::No, *state, *byte);
            }
            if states.iter().any(|state| self.automaton.is_special(*state)) {
                for (part, state) in states.iter().enumerate() {
                    let mut found = |number, range| each(part, number, range);
                    self.ending(*state, part * length + at + 1, &mut found)?;
                }
            }
        }
        for (part, state) in states[..3].iter().enumerate() {
            let end = (part + 1) * length;
            let further = end..(end + self.longest).min(text.len());
            self.on(
                *state,
                text,
                further,
                |number, range| if range.start < end { each(part, number, range) } else { Ok(()) },
            )?;
        }
        self.on(states[3], text, PARTS * length..text.len(), |number, range| each(PARTS - 1, number, range))
    }

    /// Reads a range of a text from a state on.
    fn on<E>(
        &self,
        mut state: StateID,
        text: &[u8],
        range: Range<usize>,
        mut each: impl FnMut(usize, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (at, byte) in range.clone().zip(&text[range]) {
            state = self.automaton.next_state(Anchored::No, state, *byte);
            if self.automaton.is_special(state) {
                self.ending(state, at + 1, &mut each)?;
            }
        }
        Ok(())
    }

    /// Calls `each` with the keywords that end here.
    #[cold]
    fn ending<E>(
        &self,
        state: StateID,
        end: usize,
        each: &mut impl FnMut(usize, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.automaton.is_match(state) {
            return Ok(());
        }
        for place in 0..self.automaton.match_len(state) {
            let word = self.automaton.match_pattern(state, place);
            each(word.as_usize(), end - self.automaton.pattern_len(word)..end)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Every keyword is found once, wherever the parts of the text begin.
    #[test]
    fn keywords_are_found_across_parts() {
        let words = ["token", "to", "ken-", "api_key", "key"].map(String::from);
        let keywords = Keywords::new(words.iter());
        for length in (0..40).chain(4 * SHORTEST_TEXT_PART - 3..4 * SHORTEST_TEXT_PART + 40) {
            let text: String = "x TOKEN-api_Key tokto ken-- ".chars().cycle().skip(length % 28).take(length).collect();
            let mut found = Vec::new();
            let done: Result<(), Infallible> = keywords.find(text.as_bytes(), false, |_, number, range| {
                found.push((range.start, number));
                Ok(())
            });
            assert_eq!(done, Ok(()));
            found.sort_unstable();
            let text = text.to_ascii_lowercase();
            let all = words.iter().enumerate();
            let mut expected: Vec<_> = all
                .flat_map(|(number, word)| {
                    let is_there = |at: &usize| text[*at..].starts_with(word.as_str());
                    (0..text.len()).filter(is_there).map(move |at| (at, number)).collect::<Vec<_>>()
                })
                .collect();
            expected.sort_unstable();
            assert_eq!(found, expected, "{length}");
        }
    }

    #[test]
    fn an_error_ends_the_search() {
        let keywords = Keywords::new([String::from("ab")].iter());
        for length in [10, 4 * SHORTEST_TEXT_PART] {
            let mut count = 0;
            let done = keywords.find("ab".repeat(length).as_bytes(), false, |_, _, _| {
                count += 1;
                if count == 3 { Err(()) } else { Ok(()) }
            });
            assert_eq!((done, count), (Err(()), 3));
        }
    }
}
