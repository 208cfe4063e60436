#![doc = include_str!("../README.md")]

mod assigned;
mod fill;
mod judge;
mod keywords;
mod places;
#[doc(hidden)]
pub mod plant;
mod rule;
mod seen;
mod view;
mod work;

pub use rule::{BadRule, Form, RULES, RuleText};

use keywords::{Keywords, PARTS};
use places::Place;
use rule::Rule;
use seen::Seen;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use view::View;
use work::Work;

pub use work::Failed;

/// How often a text without its secrets is looked through again, until nothing is found.
const REDACTION_ROUNDS: usize = 8;
/// How often it is looked through in parts, which is faster. A secret that follows another without a gap is found after that one, so
/// not at the start of a part.
const ROUNDS_IN_PARTS: usize = 3;
/// How often a text is unescaped: strings of JSON in strings of JSON.
const LEVELS: usize = 4;
/// The longest text in bytes; places in views have 32 bits.
const LONGEST_TEXT: usize = 1 << 30;
/// Steps of a keyword and of a secret, beside the bytes that are read for them.
const WORK_PER_HIT: usize = 4;

/// The rules, ready to be applied by any number of threads.
pub struct Redactor {
    rules: Vec<Arc<Rule>>,
    keywords: Keywords,
    /// By the number of the keyword: the numbers of its rules.
    by_keyword: Vec<Vec<usize>>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self::of(rule::builtin().to_vec())
    }
}

/// A text without its secrets.
#[derive(Debug)]
pub struct Redacted<'a> {
    /// The text; borrowed if nothing was found.
    pub text: Cow<'a, str>,
    /// The rules that found something, and how often.
    pub found: Vec<(&'static str, u32)>,
}

impl Redactor {
    /// Returns the redactor with the built-in rules, which the whole program shares.
    #[must_use]
    pub fn shared() -> Arc<Self> {
        static SHARED: LazyLock<Arc<Redactor>> = LazyLock::new(Arc::default);
        SHARED.clone()
    }

    /// Creates a redactor with all rules but those of the ids in `off`, and with `more` of them.
    ///
    /// # Errors
    /// Fails if an id in `off` is unknown, or a rule of `more` is wrong or misses its own example.
    pub fn new(off: &[String], more: &[RuleText]) -> Result<Self, BadRule> {
        for id in off {
            if !rule::builtin().iter().any(|rule| rule.id == id.as_str()) {
                return Err(BadRule::new(id, "no such rule"));
            }
        }
        // Rules of the operator are specific: they give the name.
        let mut rules = more.iter().map(|text| Rule::new(text).map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
        for rule in &rules {
            rule.check()?;
        }
        rules.extend(rule::builtin().iter().filter(|rule| !off.iter().any(|id| rule.id == id.as_str())).cloned());
        Ok(Self::of(rules))
    }

    fn of(rules: Vec<Arc<Rule>>) -> Self {
        let mut by_keyword: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, rule) in rules.iter().enumerate() {
            for keyword in &rule.keywords {
                by_keyword.entry(keyword.clone()).or_default().push(number);
            }
        }
        let keywords = Keywords::new(by_keyword.keys());
        Self { rules, keywords, by_keyword: by_keyword.into_values().collect() }
    }

    /// Returns the ids of the rules.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.rules.iter().map(|rule| rule.id)
    }

    /// Returns the length of the shortest keyword: a shorter text has no secret.
    #[must_use]
    pub fn shortest(&self) -> usize {
        self.rules.iter().flat_map(|rule| &rule.keywords).map(String::len).min().unwrap_or(usize::MAX)
    }

    /// Replaces every secret of a text by `[redacted:ID]`, where the id is that of the rule. JSON stays JSON of the same
    /// structure. What is returned has no secret left that this function would find.
    ///
    /// # Errors
    /// Fails if the text was not looked through to its end.
    pub fn redact<'a>(&self, text: &'a str) -> Result<Redacted<'a>, Failed> {
        self.replaced(text, &mut [], &mut Work::of(text.len()))
    }

    /// Replaces the secrets of a text that came in parts: those that begin in one part and end in another too. A name is in the
    /// part in which its secret began; later parts lose their bytes of it. Returns `None` if nothing was found.
    ///
    /// # Errors
    /// Fails if the text was not looked through to its end.
    pub fn redact_parts<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> Result<Option<Vec<String>>, Failed> {
        let mut text = String::new();
        let mut ends = Vec::new();
        for part in parts {
            text.push_str(part);
            ends.push(text.len());
        }
        let redacted = self.replaced(&text, &mut ends, &mut Work::of(text.len()))?;
        if redacted.found.is_empty() {
            return Ok(None);
        }
        let starts = [0].into_iter().chain(ends.iter().copied());
        Ok(Some(starts.zip(&ends).map(|(start, end)| redacted.text[start..*end].to_owned()).collect()))
    }

    /// Returns the steps that [`Redactor::redact`] takes for a text, whether it fails or not. They are bounded by a multiple of the
    /// length.
    #[doc(hidden)]
    #[must_use]
    pub fn work(&self, text: &str) -> usize {
        let mut work = Work::of(text.len());
        let _ = self.replaced(text, &mut [], &mut work);
        work.steps
    }

    /// Replaces the secrets of a text, and moves offsets in it to where their bytes are then.
    fn replaced<'a>(&self, text: &'a str, offsets: &mut [usize], work: &mut Work) -> Result<Redacted<'a>, Failed> {
        if text.len() > LONGEST_TEXT {
            return Err(Failed::Late);
        }
        let mut found: BTreeMap<usize, u32> = BTreeMap::new();
        let mut text = Cow::Borrowed(text);
        for round in 0..REDACTION_ROUNDS {
            let places = self.places(&text, round >= ROUNDS_IN_PARTS, work)?;
            if places.is_empty() {
                let found = found.into_iter().map(|(rule, count)| (self.rules[rule].id, count)).collect();
                return Ok(Redacted { text, found });
            }
            for place in &places {
                *found.entry(place.rule).or_default() += 1;
            }
            work.read(text.len() + offsets.len())?;
            let id = |rule: usize| self.rules[rule].id;
            places::moved(offsets, &places, id);
            text = Cow::Owned(places::replaced(&text, &places, id));
        }
        Err(Failed::Late)
    }

    /// Returns the places of secrets in a text, in order and without overlaps.
    fn places(&self, text: &str, one: bool, work: &mut Work) -> Result<Vec<Place>, Failed> {
        let mut found = Vec::new();
        self.look(text.as_bytes(), one, work, |span, rule| found.push(Place { span, rule }))?;
        let mut views: Vec<View> = Vec::new();
        while views.len() < LEVELS {
            let seen = views.last().map_or(text.as_bytes(), |view| &view.text);
            work.read(seen.len())?;
            let Some(view) = View::of(seen) else { break };
            self.look(&view.text, one, work, |span, rule| {
                let span = views.iter().rev().fold(view.origin(span), |span, view| view.origin(span));
                found.push(Place { span, rule });
            })?;
            views.push(view);
        }
        places::merged(text, found, work)
    }

    /// Calls `each` with the range and the rule of every secret in a text.
    fn look(
        &self,
        text: &[u8],
        one: bool,
        work: &mut Work,
        mut each: impl FnMut(Range<usize>, usize),
    ) -> Result<(), Failed> {
        work.read(text.len())?;
        let mut seen: [Seen; PARTS] = Default::default();
        self.keywords.find(text, one, |part, keyword, range| {
            for number in &self.by_keyword[keyword] {
                work.spend(WORK_PER_HIT)?;
                let span = self.rules[*number].secret(text, range.clone(), *number, &mut seen[part], work)?;
                if let Some(span) = span {
                    each(span, *number);
                }
            }
            Ok(())
        })
    }
}
