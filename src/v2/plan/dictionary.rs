//! The dictionary: beginnings of addresses, and long strings, that stand in the text often enough to be said once.
//!
//! Names for parts of strings are what readers find hardest, so there are few: at most [`MOST`], each used at least
//! [`USES`] times, and an address is cut only where one of its own parts ends. They are chosen one after the other, the
//! one that saves most first, each time as if those chosen before were there already.

use std::ops::Range;

use hashbrown::HashTable;

use super::hash::Hasher;
use crate::estimate::{TOKEN, tokens};
use crate::options::Limits;
use crate::v2::tree::{Token, Tree};

const MOST: usize = 8;
const USES: u32 = 3;
/// Shorter strings are not looked at, nor shorter beginnings.
const SHORTEST: usize = 14;
/// A string that is not cut must be this long.
const WHOLE: usize = 40;
/// Longer beginnings, and more of them in one string, are not looked at.
const LONGEST: usize = 512;
const CUTS: usize = 24;

/// The number of a part that comes too seldom.
const SELDOM: u32 = u32::MAX;

/// A beginning of a string, or all of one.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Where it was met first.
    start: usize,
    length: usize,
    hash: u64,
    /// How many strings have it.
    uses: u32,
    /// What each use saves.
    saves: i64,
}

impl Part {
    #[inline(always)]
    fn text<'a>(&self, tree: Tree<'a>) -> &'a [u8] {
        &tree.text[self.start..self.start + self.length]
    }
}

/// A string of the text.
#[derive(Clone, Copy, Debug)]
struct Found {
    string: Token,
    /// Its parts: from here on in `cuts`, up to where the next string's begin.
    cuts: usize,
    /// The entry that it is said by, plus one.
    entry: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    strings: Vec<Found>,
    cuts: Vec<u32>,
    parts: Vec<Part>,
    map: HashTable<u32>,
    numbers: Vec<u32>,
    gains: Vec<(i64, u32)>,
    chosen: Vec<u32>,
    hasher: Hasher,
    /// Half as many as there may be strings and parts.
    pub(super) few: usize,
}

impl Dictionary {
    pub(super) fn clear(&mut self) {
        self.strings.clear();
        self.cuts.clear();
        self.parts.clear();
        self.map.clear();
        self.chosen.clear();
    }

    /// A string is about to be written.
    pub(super) fn meet(&mut self, tree: Tree<'_>, string: Token) {
        let body = body(tree, string);
        if body.len() < SHORTEST || self.parts.len() + self.strings.len() > 2 * self.few {
            return;
        }
        let first = self.cuts.len();
        let mut hash = self.hasher.start();
        let mut hashed = 0;
        if is_address(body) {
            let within = &body[..body.len().min(LONGEST)];
            for cut in memchr::memchr_iter(b'/', within).take(CUTS) {
                let inside = cut < SHORTEST || matches!(body[cut - 1], b'/' | b'\\' | b':');
                if !inside {
                    hash = self.hasher.text(hash, &body[hashed..cut]);
                    hashed = cut;
                    self.part(tree, string, cut, hash);
                }
            }
        }
        if body.len() >= WHOLE && body.len() <= LONGEST {
            hash = self.hasher.text(hash, &body[hashed..]);
            self.part(tree, string, body.len(), hash);
        }
        if self.cuts.len() > first {
            self.strings.push(Found { string, cuts: first, entry: 0 });
        }
    }

    fn part(&mut self, tree: Tree<'_>, string: Token, length: usize, hash: u64) {
        let Self { parts, map, cuts, .. } = self;
        let start = tree.start(string) + 1;
        let same = |&part: &u32| {
            let part = &parts[part as usize];
            part.length == length && part.text(tree) == &tree.text[start..start + length]
        };
        let part = match map.find(hash, same) {
            Some(&part) => part,
            None => {
                let part = parts.len() as u32;
                parts.push(Part { start, length, hash, uses: 0, saves: 0 });
                map.insert_unique(hash, part, |&part| parts[part as usize].hash);
                part
            }
        };
        parts[part as usize].uses += 1;
        cuts.push(part);
    }

    /// All strings have been met: chooses the entries, and returns about what they save.
    pub(super) fn decide(&mut self, tree: Tree<'_>, limits: &Limits) -> i64 {
        self.prune(tree);
        let most = if limits.header < MOST * LONGEST { 0 } else { MOST.min(limits.columns) };
        self.weigh();
        while self.chosen.len() < most {
            let gain = |&(part, &(gain, _)): &(usize, &(i64, u32))| (gain, std::cmp::Reverse(part));
            let worth = |&(part, &(gain, uses)): &(usize, &(i64, u32))| {
                uses >= USES && gain > self.parts[part].saves + 6 * TOKEN
            };
            let Some((best, _)) = self.gains.iter().enumerate().filter(worth).max_by_key(gain) else { break };
            self.chosen.push(best as u32);
            self.assign_last();
        }
        // What was chosen later may have left an earlier entry with little to do.
        loop {
            let mut uses = [0; MOST];
            for found in self.strings.iter().filter(|found| found.entry > 0) {
                uses[found.entry as usize - 1] += 1;
            }
            let Some(idle) = (0..self.chosen.len()).find(|&entry| uses[entry] < USES) else { break };
            self.chosen.remove(idle);
            self.assign();
        }
        let saves = |entry: u32| self.parts[self.chosen[entry as usize] as usize].saves;
        let said: i64 = self.strings.iter().filter_map(|found| found.entry.checked_sub(1)).map(saves).sum();
        said - self.chosen.iter().map(|&part| self.parts[part as usize].saves + 6 * TOKEN).sum::<i64>()
    }

    /// Forgets the parts that come too seldom, which most do, and sees what the others save.
    fn prune(&mut self, tree: Tree<'_>) {
        let Self { strings, cuts, parts, numbers, .. } = self;
        // By part: its number among those that are kept.
        numbers.clear();
        let mut kept = 0;
        for at in 0..parts.len() {
            let often = parts[at].uses >= USES;
            numbers.push(if often { kept } else { SELDOM });
            if often {
                let saves = tokens(parts[at].text(tree)) - 2 * TOKEN;
                parts[kept as usize] = Part { saves, ..parts[at] };
                kept += 1;
            }
        }
        parts.truncate(kept as usize);
        let (mut kept_strings, mut kept) = (0, 0);
        for at in 0..strings.len() {
            let first = kept;
            for cut in cuts_of(strings, cuts, at) {
                let number = numbers[cuts[cut] as usize];
                if number != SELDOM {
                    cuts[kept] = number;
                    kept += 1;
                }
            }
            if kept > first {
                strings[kept_strings] = Found { cuts: first, ..strings[at] };
                kept_strings += 1;
            }
        }
        strings.truncate(kept_strings);
        cuts.truncate(kept);
    }

    /// What each part would save, and in how many strings.
    fn weigh(&mut self) {
        let Self { gains, parts, cuts, .. } = self;
        gains.clear();
        gains.resize(parts.len(), (0, 0));
        for &part in cuts.iter() {
            let saves = parts[part as usize].saves;
            if saves > 0 {
                let gain = &mut gains[part as usize];
                *gain = (gain.0 + saves, gain.1 + 1);
            }
        }
    }

    /// Gives the entry that was chosen last to each string in which it saves more than the one before. Whatever else is
    /// in the string saves so much less on top of it.
    fn assign_last(&mut self) {
        let Some(&last) = self.chosen.last() else { return };
        let Self { strings, cuts, parts, gains, chosen, .. } = self;
        let saves = |part: u32| parts[part as usize].saves;
        for at in 0..strings.len() {
            let before = strings[at].entry.checked_sub(1).map_or(0, |entry| saves(chosen[entry as usize]));
            let cuts = &cuts[cuts_of(strings, cuts, at)];
            if saves(last) <= before || !cuts.contains(&last) {
                continue;
            }
            strings[at].entry = chosen.len() as u32;
            for &part in cuts {
                let gain = &mut gains[part as usize];
                let (more, less) = ((saves(part) - before).max(0), (saves(part) - saves(last)).max(0));
                gain.0 -= more - less;
                gain.1 -= u32::from(more > 0 && less == 0);
            }
        }
    }

    /// Gives each string the entry that saves most in it.
    fn assign(&mut self) {
        for at in 0..self.strings.len() {
            let best = (0..self.chosen.len())
                .filter(|&entry| self.cuts[cuts_of(&self.strings, &self.cuts, at)].contains(&self.chosen[entry]))
                .max_by_key(|&entry| (self.parts[self.chosen[entry] as usize].saves, std::cmp::Reverse(entry)));
            self.strings[at].entry = best.map_or(0, |entry| entry as u32 + 1);
        }
    }

    /// The bodies of the entries, in order.
    pub(crate) fn entries<'a>(&'a self, tree: Tree<'a>) -> impl Iterator<Item = &'a [u8]> {
        self.chosen.iter().map(move |&part| self.parts[part as usize].text(tree))
    }

    /// The string that comes after the first `met`, if it is this one: its entry, if any, and how much that is.
    pub(crate) fn look_up(&self, met: &mut usize, string: Token) -> Option<(u32, usize)> {
        let found = self.strings.get(*met).filter(|found| found.string == string)?;
        *met += 1;
        let entry = found.entry.checked_sub(1)?;
        Some((entry, self.parts[self.chosen[entry as usize] as usize].length))
    }
}

/// Where the parts of a string are among all.
fn cuts_of(strings: &[Found], cuts: &[u32], string: usize) -> Range<usize> {
    strings[string].cuts..strings.get(string + 1).map_or(cuts.len(), |next| next.cuts)
}

#[inline(always)]
fn body<'a>(tree: Tree<'a>, string: Token) -> &'a [u8] {
    let span = tree.span(string);
    &span[1..span.len() - 1]
}

fn is_address(body: &[u8]) -> bool {
    body.starts_with(b"arn:") || body[..body.len().min(12)].windows(3).any(|three| three == b"://")
}
