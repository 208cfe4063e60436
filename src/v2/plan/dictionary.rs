//! The dictionary (STC.md, section 15): beginnings of addresses, and long strings, that occur often enough to be named.
//!
//! Names for parts of strings are the hardest references to read, so there are few: at most [`MAX_ENTRIES`], each used at
//! least [`MIN_USES`] times, and an address is cut only before one of its own `/`. The prefixes of
//! `https://example.org/users/ann` are `https://example.org` and `https://example.org/users`.
//!
//! Entries are chosen one after the other, the one that saves most first. What each saves is counted as if the entries chosen
//! before were in use.

use std::cmp::Reverse;
use std::ops::Range;

use bumpalo::Bump;

use super::hash::Hasher;
use crate::estimate::{TOKEN_COST, tokens};
use crate::options::Limits;
use crate::v2::arena::{ArenaTable, ArenaVec};
use crate::v2::tree::{Token, Tree};

const MAX_ENTRIES: usize = 8;
const MIN_USES: u32 = 3;
/// The fewest bytes of a string, or of a prefix, that is considered.
const MIN_PREFIX_BYTES: usize = 14;
/// The fewest bytes of a string that is considered as a whole.
const MIN_WHOLE_BYTES: usize = 40;
/// The most bytes of a prefix, and the most `/` of one string, that are considered.
const MAX_BYTES: usize = 512;
const MAX_CUTS: usize = 24;
/// The most bytes of all entries as written, quotes included.
const MAX_DICTIONARY_BYTES: usize = MAX_ENTRIES * (MAX_BYTES + 2);

/// The cost of a use: the sigil with the name, and the quote after it.
const USE_COST: i64 = 2 * TOKEN_COST;
/// The cost of an entry besides its body, with something for the reader's effort.
pub(super) const ENTRY_COST: i64 = 6 * TOKEN_COST;

/// The new number of a prefix that is not kept.
const DROPPED: u32 = u32::MAX;

/// A beginning of a string, or a whole string.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    /// Where it came first.
    start: usize,
    length: usize,
    hash: u64,
    /// The number of strings that begin with it.
    uses: u32,
    /// What each use saves.
    saves: i64,
}

impl Prefix {
    #[inline(always)]
    fn text<'a>(&self, tree: Tree<'a>) -> &'a [u8] {
        &tree.text[self.start..self.start + self.length]
    }
}

/// A string that has prefixes.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    string: Token,
    /// Its prefixes: from here on in `prefixes_of`, up to those of the next string.
    first_prefix: usize,
    /// The number of the entry that it uses, plus one; else zero.
    entry: u32,
}

/// The strings and prefixes of a document, in memory that is reused. They may be many, and a vector that grows in an arena
/// leaves its old memory there: 8 MB of addresses of many parts took 90 MB so, and 85 MB is the most they may take.
#[derive(Debug, Default)]
pub(crate) struct DictionarySlots {
    strings: Vec<Candidate>,
    prefixes_of: Vec<u32>,
    prefixes: Vec<Prefix>,
}

/// The strings of a document that may use an entry, and the entries.
pub(crate) struct Dictionary<'a> {
    strings: &'a mut Vec<Candidate>,
    /// The prefixes of all strings, one string after the other.
    prefixes_of: &'a mut Vec<u32>,
    prefixes: &'a mut Vec<Prefix>,
    table: ArenaTable<'a, u32>,
    /// The prefixes that are entries.
    entries: ArenaVec<'a, u32>,
    hasher: Hasher,
    /// Half the most strings and prefixes.
    max_found: usize,
    arena: &'a Bump,
}

/// What a prefix would save as an entry, and the number of strings that would use it.
#[derive(Clone, Copy, Default)]
struct Gain {
    saves: i64,
    uses: u32,
}

impl<'a> Dictionary<'a> {
    /// Returns an empty dictionary for which at most `2 * max_found` strings and prefixes are held.
    pub(super) fn new(arena: &'a Bump, slots: &'a mut DictionarySlots, hasher: Hasher, max_found: usize) -> Self {
        let DictionarySlots { strings, prefixes_of, prefixes } = slots;
        strings.clear();
        prefixes_of.clear();
        prefixes.clear();
        Self {
            strings,
            prefixes_of,
            prefixes,
            table: ArenaTable::new_in(arena),
            entries: ArenaVec::new_in(arena),
            hasher,
            max_found,
            arena,
        }
    }

    /// Takes back everything, before the document is visited once more.
    pub(super) fn clear(&mut self) {
        self.strings.clear();
        self.prefixes_of.clear();
        self.prefixes.clear();
        self.table.clear();
        self.entries.clear();
    }

    /// Adds a string that is about to be written.
    pub(super) fn add(&mut self, tree: Tree<'_>, string: Token) {
        let body = body(tree, string);
        if body.len() < MIN_PREFIX_BYTES || self.prefixes.len() + self.strings.len() > 2 * self.max_found {
            return;
        }
        let first_prefix = self.prefixes_of.len();
        let mut hash = self.hasher.start();
        let mut hashed = 0;
        if is_address(body) {
            let within = &body[..body.len().min(MAX_BYTES)];
            for cut in memchr::memchr_iter(b'/', within).take(MAX_CUTS) {
                // Not inside `://`, and not inside the escape `\/`.
                let inside = cut < MIN_PREFIX_BYTES || matches!(body[cut - 1], b'/' | b'\\' | b':');
                if !inside {
                    hash = self.hasher.text(hash, &body[hashed..cut]);
                    hashed = cut;
                    self.add_prefix(tree, string, cut, hash);
                }
            }
        }
        if body.len() >= MIN_WHOLE_BYTES && body.len() <= MAX_BYTES {
            hash = self.hasher.text(hash, &body[hashed..]);
            self.add_prefix(tree, string, body.len(), hash);
        }
        if self.prefixes_of.len() > first_prefix {
            self.strings.push(Candidate { string, first_prefix, entry: 0 });
        }
    }

    fn add_prefix(&mut self, tree: Tree<'_>, string: Token, length: usize, hash: u64) {
        let Self { prefixes, table, prefixes_of, .. } = self;
        let start = tree.start(string) + 1;
        let same = |&prefix: &u32| {
            let prefix = &prefixes[prefix as usize];
            prefix.length == length && prefix.text(tree) == &tree.text[start..start + length]
        };
        let prefix = match table.find(hash, same) {
            Some(&prefix) => prefix,
            None => {
                let prefix = prefixes.len() as u32;
                prefixes.push(Prefix { start, length, hash, uses: 0, saves: 0 });
                table.insert_unique(hash, prefix, |&prefix| prefixes[prefix as usize].hash);
                prefix
            }
        };
        prefixes[prefix as usize].uses += 1;
        prefixes_of.push(prefix);
    }

    /// Chooses the entries, once all strings have been added, and returns an estimate of what they save.
    pub(super) fn decide(&mut self, tree: Tree<'_>, limits: &Limits) -> i64 {
        self.drop_rare_prefixes(tree);
        // With a limit below the longest possible dictionary there is none, so every decoder with these limits accepts it (STC.md,
        // section 20.3).
        let max_entries = if limits.header < MAX_DICTIONARY_BYTES { 0 } else { MAX_ENTRIES.min(limits.columns) };
        let mut gains = self.gains();
        while self.entries.len() < max_entries {
            let Some(best) = self.best_prefix(&gains) else { break };
            self.entries.push(best);
            self.use_last_entry(&mut gains);
        }
        self.remove_idle_entries();
        let saves = |entry: u32| self.prefixes[self.entries[entry as usize] as usize].saves;
        let uses: i64 = self.strings.iter().filter_map(|string| string.entry.checked_sub(1)).map(saves).sum();
        uses - self.entries.iter().map(|&prefix| self.prefixes[prefix as usize].saves + ENTRY_COST).sum::<i64>()
    }

    /// Returns the prefix that saves most, if it pays for its entry; of equal ones the first.
    fn best_prefix(&self, gains: &[Gain]) -> Option<u32> {
        let pays = |&(prefix, gain): &(usize, &Gain)| {
            gain.uses >= MIN_USES && gain.saves > self.prefixes[prefix].saves + ENTRY_COST
        };
        let best = gains.iter().enumerate().filter(pays).max_by_key(|&(prefix, gain)| (gain.saves, Reverse(prefix)));
        best.map(|(prefix, _)| prefix as u32)
    }

    /// Removes entries that entries chosen later have left with too few uses.
    fn remove_idle_entries(&mut self) {
        loop {
            let mut uses = [0; MAX_ENTRIES];
            for string in self.strings.iter().filter(|string| string.entry > 0) {
                uses[string.entry as usize - 1] += 1;
            }
            let Some(idle) = (0..self.entries.len()).find(|&entry| uses[entry] < MIN_USES) else { break };
            self.entries.remove(idle);
            self.reassign_entries();
        }
    }

    /// Drops the prefixes with too few uses, which most have, and computes what the others save.
    fn drop_rare_prefixes(&mut self, tree: Tree<'_>) {
        let Self { strings, prefixes_of, prefixes, arena, .. } = self;
        // By prefix: its number among those that are kept.
        let numbers: &mut [u32] = arena.alloc_slice_fill_copy(prefixes.len(), DROPPED);
        let mut kept = 0;
        for at in 0..prefixes.len() {
            if prefixes[at].uses >= MIN_USES {
                numbers[at] = kept;
                let saves = tokens(prefixes[at].text(tree)) - USE_COST;
                prefixes[kept as usize] = Prefix { saves, ..prefixes[at] };
                kept += 1;
            }
        }
        prefixes.truncate(kept as usize);
        let (mut kept_strings, mut kept) = (0, 0);
        for at in 0..strings.len() {
            let first_prefix = kept;
            for prefix in prefix_range(strings, prefixes_of, at) {
                let number = numbers[prefixes_of[prefix] as usize];
                if number != DROPPED {
                    prefixes_of[kept] = number;
                    kept += 1;
                }
            }
            if kept > first_prefix {
                strings[kept_strings] = Candidate { first_prefix, ..strings[at] };
                kept_strings += 1;
            }
        }
        strings.truncate(kept_strings);
        prefixes_of.truncate(kept);
    }

    /// Returns what each prefix would save, with no other entry in use.
    fn gains(&self) -> ArenaVec<'a, Gain> {
        let mut gains = ArenaVec::with_capacity_in(self.prefixes.len(), self.arena);
        gains.resize(self.prefixes.len(), Gain::default());
        for &prefix in self.prefixes_of.iter() {
            let saves = self.prefixes[prefix as usize].saves;
            if saves > 0 {
                let gain = &mut gains[prefix as usize];
                *gain = Gain { saves: gain.saves + saves, uses: gain.uses + 1 };
            }
        }
        gains
    }

    /// Gives the last entry to each string in which it saves more than the entry before. Every other prefix of such a string
    /// then gains less by as much.
    fn use_last_entry(&mut self, gains: &mut [Gain]) {
        let Some(&last) = self.entries.last() else { return };
        let Self { strings, prefixes_of, prefixes, entries, .. } = self;
        let saves = |prefix: u32| prefixes[prefix as usize].saves;
        for at in 0..strings.len() {
            let before = strings[at].entry.checked_sub(1).map_or(0, |entry| saves(entries[entry as usize]));
            let of_string = &prefixes_of[prefix_range(strings, prefixes_of, at)];
            if saves(last) <= before || !of_string.contains(&last) {
                continue;
            }
            strings[at].entry = entries.len() as u32;
            for &prefix in of_string {
                let gain = &mut gains[prefix as usize];
                let (was, is) = ((saves(prefix) - before).max(0), (saves(prefix) - saves(last)).max(0));
                gain.saves -= was - is;
                gain.uses -= u32::from(was > 0 && is == 0);
            }
        }
    }

    /// Gives each string the entry that saves most in it.
    fn reassign_entries(&mut self) {
        for at in 0..self.strings.len() {
            let of_string = &self.prefixes_of[prefix_range(self.strings, self.prefixes_of, at)];
            let best = (0..self.entries.len())
                .filter(|&entry| of_string.contains(&self.entries[entry]))
                .max_by_key(|&entry| (self.prefixes[self.entries[entry] as usize].saves, Reverse(entry)));
            self.strings[at].entry = best.map_or(0, |entry| entry as u32 + 1);
        }
    }

    /// Returns the bodies of the entries, in order.
    pub(crate) fn entries<'t>(&self, tree: Tree<'t>) -> impl Iterator<Item = &'t [u8]> {
        self.entries.iter().map(move |&prefix| self.prefixes[prefix as usize].text(tree))
    }

    /// Returns the entry that a string uses, if any, and the length of its body. Strings are looked up in the order they
    /// were added in; `next` is the number of the one that comes next.
    pub(crate) fn entry_of(&self, next: &mut usize, string: Token) -> Option<(u32, usize)> {
        let found = self.strings.get(*next).filter(|found| found.string == string)?;
        *next += 1;
        let entry = found.entry.checked_sub(1)?;
        Some((entry, self.prefixes[self.entries[entry as usize] as usize].length))
    }
}

/// Returns where the prefixes of a string are among all.
fn prefix_range(strings: &[Candidate], prefixes_of: &[u32], string: usize) -> Range<usize> {
    strings[string].first_prefix..strings.get(string + 1).map_or(prefixes_of.len(), |next| next.first_prefix)
}

/// Returns a string without its quotes.
#[inline(always)]
fn body<'t>(tree: Tree<'t>, string: Token) -> &'t [u8] {
    let text = tree.value(string);
    &text[1..text.len() - 1]
}

/// Returns what a string costs after another one, if there are entries for what the two begin with alike.
pub(super) fn cost_after(body: &[u8], before: &[u8]) -> i64 {
    let mut alike = body.iter().zip(before).take_while(|(one, other)| one == other).count();
    if body.len() < MIN_WHOLE_BYTES || alike < body.len() || body.len() != before.len() {
        alike = if is_address(body) { memchr::memrchr(b'/', &body[..alike]).unwrap_or(0) } else { 0 };
    }
    if alike < MIN_PREFIX_BYTES { i64::MAX } else { USE_COST + tokens(&body[alike..]) }
}

/// Returns whether a string is a URL or an ARN.
pub(super) fn is_address(body: &[u8]) -> bool {
    body.starts_with(b"arn:") || body[..body.len().min(12)].windows(3).any(|three| three == b"://")
}

#[cfg(test)]
mod tests;
