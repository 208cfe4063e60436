//! Which passages are worth an entry: the one that saves most first, each with the places that those before it left.

use memchr::memmem;
use stc_wire::budget::charge_bytes;

/// The most entries of a dictionary.
pub(super) const MOST_ENTRIES: usize = 20;
/// The fewest places of an entry.
pub(super) const FEWEST_PLACES: usize = 3;
/// The shortest passage in bytes; shorter ones never pay.
pub(super) const SHORTEST_PASSAGE: usize = 8;
/// The bytes that an entry must save.
const LEAST_SAVING: usize = 16;
/// The most candidates that are searched for in the text.
const MOST_CANDIDATES: usize = 1_000;

/// A passage and where its markers go.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) passage: &'a str,
    /// The offsets of the passage, in order and without overlaps.
    pub(super) places: Vec<usize>,
}

/// Chooses entries among candidates; `width` is that of a marker without its number.
pub(super) fn entries<'a>(text: &'a str, mut candidates: Vec<&'a str>, width: usize) -> Vec<Entry<'a>> {
    candidates.retain(|passage| passage.len() >= SHORTEST_PASSAGE);
    candidates.sort_unstable();
    candidates.dedup();
    // The longest first, where there are too many.
    candidates.sort_by_key(|passage| std::cmp::Reverse(passage.len()));
    candidates.truncate(MOST_CANDIDATES);
    let mut rated: Vec<(usize, &str)> = Vec::with_capacity(candidates.len());
    for passage in candidates {
        // Two searches of the text.
        charge_bytes(2 * text.len());
        let passage = trimmed(text, passage);
        let count = memmem::find_iter(text.as_bytes(), passage.as_bytes()).count();
        rated.extend(saving(passage, count, width + 1).map(|saving| (saving, passage)));
    }
    rated.sort_unstable_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    rated.dedup();
    let mut taken = vec![false; text.len()];
    let mut entries: Vec<Entry<'a>> = Vec::new();
    for (_, passage) in rated {
        if entries.len() == MOST_ENTRIES {
            break;
        }
        let digits = if entries.len() < 9 { 1 } else { 2 };
        charge_bytes(text.len());
        let places = free_places(text, passage, &taken);
        if saving(passage, places.len(), width + digits).is_none() {
            continue;
        }
        for place in &places {
            taken[*place..*place + passage.len()].fill(true);
        }
        entries.push(Entry { passage, places });
    }
    entries
}

/// Returns the bytes that an entry saves, or nothing if they are too few.
fn saving(passage: &str, count: usize, marker: usize) -> Option<usize> {
    let line = marker + passage.len() + "=\n".len();
    let saved = (count * passage.len()).checked_sub(count * marker + line)?;
    (count >= FEWEST_PLACES && saved >= LEAST_SAVING).then_some(saved)
}

fn free_places(text: &str, passage: &str, taken: &[bool]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(length) = memmem::find(&text.as_bytes()[from..], passage.as_bytes()) {
        let place = from + length;
        let end = place + passage.len();
        match taken[place..end].iter().rposition(|taken| *taken) {
            Some(last) => from = place + last + 1,
            None => {
                places.push(place);
                from = end;
            }
        }
    }
    places
}

/// Returns a passage without the parts of words at its ends: `ent-17 error: fi` becomes `-17 error: `. Models read whole words.
fn trimmed<'a>(text: &'a str, passage: &'a str) -> &'a str {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    let (mut before, mut after) = (false, false);
    for place in memmem::find_iter(bytes, passage.as_bytes()) {
        before |= place > 0 && is_word(bytes[place - 1]);
        after |= bytes.get(place + passage.len()).is_some_and(|byte| is_word(*byte));
    }
    let mut trimmed = passage;
    if before {
        trimmed = trimmed.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || !c.is_ascii());
    }
    if after {
        trimmed = trimmed.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || !c.is_ascii());
    }
    if trimmed.len() >= SHORTEST_PASSAGE { trimmed } else { passage }
}
