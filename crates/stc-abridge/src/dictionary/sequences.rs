//! Repeated sequences of tokens: the pair that occurs most often becomes a token of its own, again and again.
//!
//! ```text
//! a b c a b d a b c      pair (a b), 3 times: X = a b
//! X c X d X c            no pair occurs 3 times: `a b` is a candidate
//! ```

use super::choose::FEWEST_PLACES;
use stc_wire::budget::charge_bytes;
use std::collections::HashMap;
use std::ops::Range;

/// The most line feeds of a sequence.
const MOST_LINE_FEEDS: usize = 2;
/// The most pairs that become tokens.
const MOST_PAIRS: usize = 200;

/// A token, and where the text has it first.
#[derive(Clone, Debug)]
struct Token {
    first: Range<usize>,
    line_feeds: usize,
}

/// Returns passages that occur several times.
pub(super) fn candidates(text: &str) -> Vec<&str> {
    let (mut tokens, mut row) = read(text);
    let words = tokens.len();
    for _ in 0..MOST_PAIRS {
        charge_bytes(row.len());
        let Some(pair) = most_frequent(&tokens, &row) else { break };
        let new = tokens.len() as u32;
        row = joined(&row, pair, new);
        let Some((place, _)) = row.iter().find(|(_, token)| *token == new).copied() else { break };
        let length = tokens[pair.0 as usize].first.len() + tokens[pair.1 as usize].first.len();
        let line_feeds = tokens[pair.0 as usize].line_feeds + tokens[pair.1 as usize].line_feeds;
        tokens.push(Token { first: place as usize..place as usize + length, line_feeds });
    }
    tokens[words..].iter().map(|token| &text[token.first.clone()]).collect()
}

/// Reads the words, runs of blanks and single signs of a text: the tokens, and the row of their places and numbers.
fn read(text: &str) -> (Vec<Token>, Vec<(u32, u32)>) {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let (mut tokens, mut row) = (Vec::new(), Vec::new());
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let same = |c: char| match first {
            _ if first.is_alphanumeric() => c.is_alphanumeric(),
            ' ' | '\t' => matches!(c, ' ' | '\t'),
            _ => false,
        };
        let more = text[start..].char_indices().skip(1).find(|(_, c)| !same(*c)).map(|(at, _)| at);
        let end = more.map_or(text.len(), |length| start + length);
        let number = *numbers.entry(&text[start..end]).or_insert_with(|| {
            tokens.push(Token { first: start..end, line_feeds: usize::from(first == '\n') });
            tokens.len() as u32 - 1
        });
        row.push((start as u32, number));
        start = end;
    }
    (tokens, row)
}

/// Returns the pair of neighbours that occurs most often, and at least [`FEWEST_PLACES`] times; of several, the one with the
/// lowest numbers.
fn most_frequent(tokens: &[Token], row: &[(u32, u32)]) -> Option<(u32, u32)> {
    let mut counts: HashMap<(u32, u32), usize> = HashMap::new();
    let mut last = None;
    for two in row.windows(2) {
        let pair = (two[0].1, two[1].1);
        // In `a a a` the pair occurs once.
        if pair.0 == pair.1 && last == Some(pair) {
            last = None;
            continue;
        }
        last = Some(pair);
        if tokens[pair.0 as usize].line_feeds + tokens[pair.1 as usize].line_feeds <= MOST_LINE_FEEDS {
            *counts.entry(pair).or_default() += 1;
        }
    }
    let best = counts.into_iter().max_by_key(|(pair, count)| (*count, std::cmp::Reverse(*pair)));
    best.filter(|(_, count)| *count >= FEWEST_PLACES).map(|(pair, _)| pair)
}

/// Returns the row with every pair as one token.
fn joined(row: &[(u32, u32)], pair: (u32, u32), new: u32) -> Vec<(u32, u32)> {
    let mut out = Vec::with_capacity(row.len());
    let mut at = 0;
    while at < row.len() {
        let is_pair = row.get(at + 1).is_some_and(|next| (row[at].1, next.1) == pair);
        out.push((row[at].0, if is_pair { new } else { row[at].1 }));
        at += 1 + usize::from(is_pair);
    }
    out
}
