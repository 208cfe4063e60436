//! Repeated passages of a text, written once and named by markers.
//!
//! ```text
//! [Repeated passages are written once: in the text after this list, «1» stands for what follows «1»= in it. «» ends the list.]
//! «1»=/usr/local/lib/python3.11/site-packages/
//! «»
//! «1»requests/api.py
//! «1»requests/auth.py
//! ```
//!
//! The sign that opens a marker does not occur in the text, so a marker in the result is never part of the text, and a passage
//! of the list ends where the next marker begins.

mod choose;
mod sequences;
mod substrings;

use choose::Entry;

/// How repeated passages are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dictionary {
    /// Repeated runs of bytes within a line.
    Lzw,
    /// Repeated sequences of tokens, over at most two line feeds.
    Repair,
    /// The smaller of both.
    Auto,
}

/// The longest text that is taken, in bytes.
const LONGEST_ABBREVIATED: usize = 50_000;
/// What a dictionary must save: bytes, and percent of the text.
const LEAST_BYTES: usize = 32;
const LEAST_PERCENT: usize = 3;
/// The signs around the number of a marker. The first whose opening does not occur in a text is used.
const SIGNS: [(char, char); 5] = [('«', '»'), ('‹', '›'), ('⟦', '⟧'), ('⟨', '⟩'), ('¤', '¤')];
/// The start of the line that explains the markers.
const HEADER: &str = "[Repeated passages are written once: in the text after this list, ";

/// Returns the text with its repeated passages replaced by markers, or nothing if that saves too little. A text that has such
/// markers already is not taken.
#[must_use]
pub fn abbreviate(text: &str, how: Dictionary) -> Option<String> {
    if text.len() > LONGEST_ABBREVIATED || memchr::memmem::find(text.as_bytes(), HEADER.as_bytes()).is_some() {
        return None;
    }
    let signs = *SIGNS.iter().find(|(open, _)| !text.contains(*open))?;
    let most = text.len().checked_sub(LEAST_BYTES)?.min(text.len() - (text.len() * LEAST_PERCENT).div_ceil(100));
    let header = header(signs).len();
    if header >= most {
        return None;
    }
    let width = signs.0.len_utf8() + signs.1.len_utf8();
    let with = |candidates: Vec<&str>| {
        let entries = choose::entries(text, candidates, width);
        let written = (!entries.is_empty()).then(|| write(text, &entries, signs))?;
        // The rest of the program relies on it, so it is never only assumed.
        (written.len() <= most && expand(&written).as_deref() == Some(text)).then_some(written)
    };
    let lzw = || with(substrings::candidates(text));
    let repair = || with(sequences::candidates(text));
    match how {
        Dictionary::Lzw => lzw(),
        Dictionary::Repair => repair(),
        Dictionary::Auto => [lzw(), repair()].into_iter().flatten().min_by_key(String::len),
    }
}

/// Returns the original of a text that [`abbreviate`] wrote, or nothing for any other text.
#[must_use]
pub fn expand(text: &str) -> Option<String> {
    if !text.starts_with(HEADER) {
        return None;
    }
    let signs = *SIGNS.iter().find(|signs| text.starts_with(&header(**signs)))?;
    let mut rest = &text[header(signs).len()..];
    let mut passages: Vec<&str> = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(&*format!("{}{}\n", signs.0, signs.1)) {
            rest = after;
            break;
        }
        let after = rest.strip_prefix(&*format!("{}=", marker(passages.len() + 1, signs)))?;
        let end = after.find(signs.0)?;
        passages.push(after[..end].strip_suffix('\n')?);
        rest = &after[end..];
    }
    let is_counted = (1..=choose::MOST_ENTRIES).contains(&passages.len());
    let mut original = String::with_capacity(text.len());
    while let Some(at) = rest.find(signs.0).filter(|_| is_counted) {
        original.push_str(&rest[..at]);
        let (number, after) = rest[at + signs.0.len_utf8()..].split_once(signs.1)?;
        let number = number.parse::<usize>().ok().filter(|parsed| parsed.to_string() == number)?;
        original.push_str(passages.get(number.checked_sub(1)?)?);
        if original.len() > LONGEST_ABBREVIATED {
            return None;
        }
        rest = after;
    }
    original.push_str(rest);
    (is_counted && original.len() <= LONGEST_ABBREVIATED).then_some(original)
}

fn marker(number: usize, (open, close): (char, char)) -> String {
    format!("{open}{number}{close}")
}

/// Returns the line that explains the markers.
fn header(signs: (char, char)) -> String {
    let first = marker(1, signs);
    format!("{HEADER}{first} stands for what follows {first}= in it. {}{} ends the list.]\n", signs.0, signs.1)
}

fn write(text: &str, entries: &[Entry<'_>], signs: (char, char)) -> String {
    let mut out = header(signs);
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        out.push_str(&marker(number + 1, signs));
        out.push('=');
        out.push_str(entry.passage);
        out.push('\n');
        places.extend(entry.places.iter().map(|place| (*place, number)));
    }
    out.push(signs.0);
    out.push(signs.1);
    out.push('\n');
    places.sort_unstable();
    let mut kept = 0;
    for (place, number) in places {
        out.push_str(&text[kept..place]);
        out.push_str(&marker(number + 1, signs));
        kept = place + entries[number].passage.len();
    }
    out.push_str(&text[kept..]);
    out
}

#[cfg(test)]
mod tests;
