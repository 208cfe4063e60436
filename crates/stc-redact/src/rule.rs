//! One kind of secret: where it is looked for, and what it looks like.

use crate::assigned;
use crate::fill::fill;
use crate::judge::{self, Judge};
use crate::seen::Seen;
use crate::work::{Failed, Work};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

/// The bytes that a pattern reads at most, of a token and of a block that does not say otherwise. A longer secret is followed to its
/// end without the pattern.
const LONGEST_TOKEN: usize = 8 << 10;
const LONGEST_BLOCK: usize = 256;
/// The most bytes that a rule may ask for.
const LONGEST_REACH: usize = 64 << 10;
/// How far before its keyword a secret may begin.
const LONGEST_WORD: usize = 64;
/// Values of this length may be the start of longer ones.
const LONGEST_CUT: usize = 512;
/// How many areas are searched at once where many keywords are tried in vain.
const SWEPT_AREAS: usize = 8;
/// The shortest keyword; shorter ones would be found everywhere.
const SHORTEST_KEYWORD: usize = 2;

/// A rule as it is written: an entry of the file of rules, or of an operator's configuration.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    /// The name, of small letters, digits and hyphens.
    pub id: String,
    /// Words of which one must occur, in any case.
    pub keywords: Vec<String>,
    /// What the secret looks like: an expression of the crate regex without Unicode classes. The group `secret` is what is
    /// replaced; without it, all that matches.
    pub pattern: String,
    /// Where the pattern is tried.
    #[serde(default)]
    pub form: Form,
    /// The least entropy of the secret in bits a byte.
    #[serde(default)]
    pub entropy: f64,
    /// How many of these the secret has at least: small letters, capitals, digits, other signs.
    #[serde(default)]
    pub classes: usize,
    /// Whether a secret that reads like a placeholder is none.
    #[serde(default)]
    pub guess: bool,
    /// Words in the name of a value that is no secret.
    #[serde(default)]
    pub unless: Vec<String>,
    /// The bytes of a block that the pattern reads at most: 256.
    #[serde(default)]
    pub reach: Option<usize>,
    /// A sign that is part of every match; where it is missing, the pattern is not tried.
    #[serde(default)]
    pub sign: Option<char>,
    /// A text with such a secret.
    pub hit: String,
    /// A text that only looks like it.
    #[serde(default)]
    pub miss: Option<String>,
}

/// Where a pattern is tried.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// At the keyword, up to a blank or a quote.
    #[default]
    Token,
    /// In the word that has the keyword.
    Word,
    /// At the value that is assigned to a name with the keyword.
    Value,
    /// At the keyword, over lines.
    Block,
}

/// A rule that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRule {
    id: String,
    why: String,
}

impl BadRule {
    pub(crate) fn new(id: &str, why: impl Into<String>) -> Self {
        Self { id: id.to_owned(), why: why.into() }
    }
}

impl fmt::Display for BadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule `{}`: {}", self.id, self.why)
    }
}

impl std::error::Error for BadRule {}

/// A rule whose pattern is compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) keywords: Vec<String>,
    form: Form,
    pattern: String,
    /// Whether a part of the match is the secret.
    has_group: bool,
    compiled: OnceLock<Option<Regex>>,
    /// The pattern at any place.
    sweeping: OnceLock<Option<Regex>>,
    judge: Judge,
    unless: Vec<String>,
    reach: usize,
    sign: Option<u8>,
    hit: String,
    miss: Option<String>,
}

/// The built-in rules as they are written: the file `rules.toml`.
pub const RULES: &str = include_str!("rules.toml");

/// The rules of the file `rules.toml`.
pub(crate) fn builtin() -> &'static [Arc<Rule>] {
    static RULES: LazyLock<Vec<Arc<Rule>>> = LazyLock::new(|| {
        let rules = texts().into_iter().map(|text| Rule::new(&text).map(Arc::new));
        rules.collect::<Result<_, _>>().expect("the rules are tested")
    });
    &RULES
}

/// Returns the entries of the file `rules.toml`.
pub(crate) fn texts() -> Vec<RuleText> {
    #[derive(Deserialize)]
    struct File {
        rule: Vec<RuleText>,
    }
    let file: File = toml::from_str(RULES).expect("the rules are tested");
    file.rule
}

/// Returns an id that lives as long as the program. Each id is kept once.
fn kept(id: &str) -> &'static str {
    static IDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut ids = IDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(id) = ids.get(id) {
        return id;
    }
    let id: &'static str = Box::leak(id.to_owned().into_boxed_str());
    ids.insert(id);
    id
}

impl Rule {
    pub(crate) fn new(text: &RuleText) -> Result<Self, BadRule> {
        let is_id = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if text.id.is_empty() || text.id.len() > 64 || !text.id.bytes().all(is_id) {
            return Err(BadRule::new(&text.id, "an id has 1 to 64 small letters, digits and hyphens"));
        }
        let fits = |keyword: &String| (SHORTEST_KEYWORD..=64).contains(&keyword.len());
        if text.keywords.is_empty() || text.keywords.len() > 64 || !text.keywords.iter().all(fits) {
            return Err(BadRule::new(&text.id, "expected 1 to 64 keywords of 2 to 64 bytes"));
        }
        if text.reach.is_some_and(|reach| reach > LONGEST_REACH) {
            return Err(BadRule::new(&text.id, "`reach` is over 65,536"));
        }
        Ok(Self {
            id: kept(&text.id),
            keywords: text.keywords.iter().map(|keyword| keyword.to_ascii_lowercase()).collect(),
            form: text.form,
            pattern: text.pattern.clone(),
            has_group: text.pattern.contains("<secret>"),
            compiled: OnceLock::new(),
            sweeping: OnceLock::new(),
            judge: Judge { entropy: text.entropy, classes: text.classes, guess: text.guess },
            unless: text.unless.clone(),
            reach: text.reach.unwrap_or(LONGEST_BLOCK),
            sign: text.sign.and_then(|sign| u8::try_from(sign).ok()).filter(u8::is_ascii),
            hit: text.hit.clone(),
            miss: text.miss.clone(),
        })
    }

    /// Fails if the pattern is wrong, or the examples are not what they say.
    pub(crate) fn check(&self) -> Result<(), BadRule> {
        if self.regex().is_none() {
            return Err(BadRule::new(self.id, "the pattern is not a regular expression of at most 1 MB"));
        }
        if !self.finds(&fill(&self.hit, 0).text) {
            return Err(BadRule::new(self.id, "`hit` has no secret for it"));
        }
        if self.miss.as_ref().is_some_and(|miss| self.finds(&fill(miss, 0).text)) {
            return Err(BadRule::new(self.id, "`miss` has a secret for it"));
        }
        Ok(())
    }

    /// Returns whether a text has such a secret.
    pub(crate) fn finds(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        let finds = |keyword: Range<usize>| {
            let (mut seen, mut work) = (Seen::default(), Work::of(text.len()));
            matches!(self.secret(text.as_bytes(), keyword, 0, &mut seen, &mut work), Ok(Some(_)))
        };
        self.keywords.iter().any(|keyword| {
            let mut hits = lower.match_indices(keyword.as_str());
            hits.any(|(at, _)| finds(at..at + keyword.len()))
        })
    }

    fn regex(&self) -> Option<&Regex> {
        let anchor = if self.form == Form::Word { "" } else { r"\A" };
        self.compiled.get_or_init(|| compiled(&format!("{anchor}(?:{})", self.pattern))).as_ref()
    }

    /// Returns the range of the secret that a keyword belongs to. `number` is that of the rule in `seen`.
    pub(crate) fn secret(
        &self,
        text: &[u8],
        keyword: Range<usize>,
        number: usize,
        seen: &mut Seen,
        work: &mut Work,
    ) -> Result<Option<Range<usize>>, Failed> {
        if seen.is_done(number, keyword.start) {
            return Ok(None);
        }
        let Some(area) = self.area(text, &keyword, seen, work)? else { return Ok(None) };
        let Some(regex) = self.regex() else { return Ok(None) };
        if let Some(sign) = self.sign
            && seen.sign(number, text, area.from, sign, work)? >= area.until
        {
            return Ok(None);
        }
        let all = &text[area.from..area.until];
        let Some(whole) = regex.find(all) else {
            work.spend(all.len())?;
            self.missed(text, &area, number, seen, work)?;
            return Ok(None);
        };
        work.spend(whole.end())?;
        if self.form == Form::Word && area.from + whole.start() > keyword.start {
            seen.done(number, keyword.start..area.from + whole.start());
            return Ok(None);
        }
        // Groups are found in a second, slower search, and only where there is something to find.
        let span = match self.has_group {
            true => {
                work.spend(whole.end())?;
                regex.captures(all).and_then(|groups| Some(groups.name("secret")?.range())).unwrap_or(whole.range())
            }
            false => whole.range(),
        };
        self.judge.spend(span.len(), work)?;
        let cut = area.must_end && whole.end() < all.len();
        let goes_on = self.form == Form::Value && all.get(whole.end()).is_some_and(u8::is_ascii_alphanumeric);
        if cut || goes_on || !self.judge.accepts(&all[span.clone()]) {
            return Ok(None);
        }
        let mut span = area.from + span.start..area.from + span.end;
        let ends_area = span.end == area.until;
        // A secret that is longer than the area belongs to it as a whole.
        if ends_area && area.is_cut && self.form != Form::Value {
            span.end =
                seen.follow.end(text, span.end, work, |rest| !is_of_word(rest[0]) && !b"+/=".contains(&rest[0]))?;
        }
        seen.found(number, &span, ends_area && !area.is_cut && !area.must_end);
        span.end = area.lines_end.unwrap_or(span.end);
        Ok(Some(span))
    }

    /// Searches the area of a keyword at once, where the pattern was tried in vain before, and keeps where a match may begin.
    fn missed(&self, text: &[u8], area: &Area, number: usize, seen: &mut Seen, work: &mut Work) -> Result<(), Failed> {
        let range = area.from..area.until;
        if self.form == Form::Value || !seen.failed(number, &range) {
            return Ok(());
        }
        // Longer runs are searched further than an area, so that few bytes are searched twice.
        let length = range.len();
        let most = if area.is_cut { text.len().min(area.from + SWEPT_AREAS * length) } else { area.until };
        let rest = &text[area.from..most];
        let compile =
            || Some(&self.pattern).filter(|pattern| is_alike_anywhere(pattern)).and_then(|text| compiled(text));
        let Some(regex) = self.sweeping.get_or_init(compile).as_ref() else { return Ok(()) };
        let found = regex.find(rest);
        work.spend(found.map_or(rest.len(), |found| found.end()))?;
        // A match may end in bytes that were not searched.
        let searched = if most < text.len() && area.is_cut { most - length } else { most };
        let until = found.map_or(searched, |found| searched.min(area.from + found.start()));
        seen.done(number, area.from..until.max(area.from + 1));
        Ok(())
    }

    /// Returns where the pattern is tried; none if the keyword is not at such a place.
    fn area(
        &self,
        text: &[u8],
        keyword: &Range<usize>,
        seen: &mut Seen,
        work: &mut Work,
    ) -> Result<Option<Area>, Failed> {
        let begins = keyword.start == seen.ended || begins(text, keyword.start);
        Ok(match self.form {
            Form::Token if begins => Some(Area::token(text, keyword.start, keyword.end, seen, work)?),
            Form::Block if begins => {
                let most = text.len().min(keyword.start + self.reach);
                // Parts of a view are separated by NUL.
                let until = seen.part.next(text, keyword.start, work, 0)?.min(most);
                Some(Area { is_cut: until < text.len(), ..Area::of(keyword.start..until) })
            }
            Form::Token | Form::Block => None,
            Form::Word => {
                let word = text[..keyword.start].iter().rev().take(LONGEST_WORD).take_while(|byte| is_of_word(**byte));
                let length = word.count();
                work.read(length)?;
                Some(Area::token(text, keyword.start - length, keyword.end, seen, work)?)
            }
            Form::Value => {
                let Some(value) = assigned::value(text, keyword.clone(), seen, work)? else { return Ok(None) };
                let is_plain = |seen: &mut Seen, work: &mut Work| {
                    Ok(seen.plain.end(text, value.from, work, |rest| judge::is_of_classes(rest[0]))? >= value.until)
                };
                if self.judge.classes >= 2 && value.from < value.until && is_plain(seen, work)? {
                    return Ok(None);
                }
                let excluded = assigned::words(&text[value.name.clone()]).iter().any(|word| self.excludes(word));
                let assigned::Value { from, until, quoted, end, .. } = value;
                let area = Area { must_end: quoted, lines_end: end, ..Area::of(from..until) };
                // A value without quotes may have been cut.
                (!excluded).then_some(Area { is_cut: until - from >= LONGEST_CUT, ..area })
            }
        })
    }

    fn excludes(&self, word: &str) -> bool {
        self.unless.iter().any(|entry| match entry.strip_suffix('*') {
            Some(start) => word.starts_with(start),
            None => word == entry,
        })
    }
}

/// The bytes that a pattern is tried on.
struct Area {
    from: usize,
    until: usize,
    /// Whether the pattern must match to the end.
    must_end: bool,
    /// Whether the text goes on after a limit.
    is_cut: bool,
    /// Where the lines end that belong to the secret.
    lines_end: Option<usize>,
}

impl Area {
    const fn of(range: Range<usize>) -> Self {
        Self { from: range.start, until: range.end, must_end: false, is_cut: false, lines_end: None }
    }

    /// Returns the area from here to the first blank, quote or bracket after the keyword.
    fn token(text: &[u8], from: usize, keyword_end: usize, seen: &mut Seen, work: &mut Work) -> Result<Self, Failed> {
        let most = text.len().min(from + LONGEST_TOKEN).max(keyword_end);
        let ends = |rest: &[u8]| {
            let byte = rest[0];
            byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"'`<>".contains(&byte)
        };
        let end = seen.token.end(text, keyword_end, work, ends)?;
        Ok(Self { is_cut: end > most, ..Self::of(from..end.min(most)) })
    }
}

/// Returns whether a pattern matches the same bytes wherever a search for it begins: it does not ask what is before them.
fn is_alike_anywhere(pattern: &str) -> bool {
    let start = pattern.trim_start_matches("(?i)").trim_start_matches("(?:");
    let asks = |sign: &str| pattern.replace("[^", "").contains(sign);
    !(asks("^") || asks(r"\A") || asks(r"\B") || asks(r"\b{") || asks("|\\b") || asks(r"\<"))
        && (!start.starts_with(r"\b") || start.starts_with(r"\b["))
}

/// Compiles a pattern.
fn compiled(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).size_limit(1 << 20).dfa_size_limit(1 << 20).build().ok()
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_~.-".contains(&byte)
}

/// Returns whether a word may begin here: a letter or digit does not follow another, unless that ends a `%3D`.
fn begins(text: &[u8], at: usize) -> bool {
    if at == 0 || !text[at].is_ascii_alphanumeric() || !text[at - 1].is_ascii_alphanumeric() {
        return true;
    }
    at >= 3 && text[at - 3] == b'%' && text[at - 2].is_ascii_hexdigit() && text[at - 1].is_ascii_hexdigit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_hits_and_misses_its_examples() {
        for rule in builtin() {
            rule.check().unwrap();
            assert!(rule.miss.is_some(), "{}", rule.id);
        }
    }

    #[test]
    fn ids_and_keywords_are_in_order() {
        let ids: BTreeSet<_> = builtin().iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), builtin().len(), "every id once");
        for text in texts() {
            assert!(text.keywords.iter().all(|keyword| *keyword == keyword.to_ascii_lowercase()), "{}", text.id);
        }
    }

    /// A pattern that asks what is before it is tried at every keyword.
    #[test]
    fn patterns_of_operators_are_found_after_many_keywords() {
        for pattern in ["^bdg-[0-9]{6}", r"\Abdg-[0-9]{6}", r"\bbdg-[0-9]{6}", r"(?:x|\bbdg-[0-9]{6})", "bdg-[0-9]{6}"]
        {
            let text = format!("id = \"badge\"\nkeywords = [\"bdg-\"]\npattern = '{pattern}'\nhit = \"bdg-123456\"");
            let redactor = crate::Redactor::new(&[], &[toml::from_str(&text).unwrap()]).unwrap();
            let redacted = redactor.redact("bdg-1/bdg-2/bdg-3/_bdg-4/bdg-5/_bdg-123456/").unwrap();
            assert_eq!(redacted.text, "bdg-1/bdg-2/bdg-3/_bdg-4/bdg-5/_[redacted:badge]/", "{pattern}");
        }
    }

    #[test]
    fn a_word_begins_after_anything_but_letters_and_digits() {
        for (text, at, expected) in
            [("ab", 0, true), ("ab", 1, false), ("_b", 1, true), ("%3Db", 3, true), ("x3Db", 3, false), ("a-", 1, true)]
        {
            assert_eq!(begins(text.as_bytes(), at), expected, "{text}");
        }
    }
}
