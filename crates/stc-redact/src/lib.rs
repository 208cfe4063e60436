#![doc = include_str!("../README.md")]

mod assigned;
mod fill;
mod judge;
mod keywords;
mod places;
#[doc(hidden)]
pub mod plant;
mod rule;
mod view;

pub use rule::{BadRule, Form, RULES, RuleText};

use keywords::Keywords;
use places::Place;
use rule::Rule;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use view::View;

/// How often a text without its secrets is looked through again, until nothing is found.
const REDACTION_ROUNDS: usize = 8;
/// How often a text is unescaped: strings of JSON in strings of JSON.
const LEVELS: usize = 4;
/// The longest text in bytes; places in views have 32 bits.
const LONGEST_TEXT: usize = 1 << 30;
/// Bytes that patterns may read for each byte of the text, and for the text.
const WORK_PER_BYTE: usize = 16;
const WORK_PER_TEXT: usize = 256 << 10;
/// Bytes that each keyword in a text counts as, beside those that its pattern reads: to find it takes time too.
const WORK_PER_HIT: usize = 8;

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

/// The reason why a text was not looked through to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It would take too long: more work than a text of its length may cost. The same text always fails, or never.
    Late,
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

    /// Replaces every secret of a text by `[redacted:ID]`, where the id is that of the rule. JSON stays JSON of the same
    /// structure. What is returned has no secret left that this function would find.
    ///
    /// # Errors
    /// Fails if the text was not looked through to its end.
    pub fn redact<'a>(&self, text: &'a str) -> Result<Redacted<'a>, Failed> {
        if text.len() > LONGEST_TEXT {
            return Err(Failed::Late);
        }
        let mut work = Work { left: WORK_PER_TEXT + WORK_PER_BYTE * text.len() };
        let mut found: BTreeMap<usize, u32> = BTreeMap::new();
        let mut text = Cow::Borrowed(text);
        for _ in 0..REDACTION_ROUNDS {
            let places = self.places(&text, &mut work)?;
            if places.is_empty() {
                let found = found.into_iter().map(|(rule, count)| (self.rules[rule].id, count)).collect();
                return Ok(Redacted { text, found });
            }
            for place in &places {
                *found.entry(place.rule).or_default() += 1;
            }
            text = Cow::Owned(places::replaced(&text, &places, |rule| self.rules[rule].id));
        }
        Err(Failed::Late)
    }

    /// Returns the places of secrets in a text, in order and without overlaps.
    fn places(&self, text: &str, work: &mut Work) -> Result<Vec<Place>, Failed> {
        let mut found = Vec::new();
        self.look(text.as_bytes(), work, |span, rule| found.push(Place { span, rule }))?;
        let mut views: Vec<View> = Vec::new();
        while views.len() < LEVELS {
            let Some(view) = View::of(views.last().map_or(text.as_bytes(), |view| &view.text)) else { break };
            self.look(&view.text, work, |span, rule| {
                let span = views.iter().rev().fold(view.origin(span), |span, view| view.origin(span));
                found.push(Place { span, rule });
            })?;
            views.push(view);
        }
        Ok(places::merged(text, found))
    }

    /// Calls `each` with the range and the rule of every secret in a text.
    fn look(&self, text: &[u8], work: &mut Work, mut each: impl FnMut(Range<usize>, usize)) -> Result<(), Failed> {
        self.keywords.find(text, |keyword, range| {
            for number in &self.by_keyword[keyword] {
                let (span, cost) = self.rules[*number].secret(text, range.clone());
                work.spend(WORK_PER_HIT + cost)?;
                if let Some(span) = span {
                    each(span, *number);
                }
            }
            Ok(())
        })
    }
}

/// The bytes that patterns may still read.
struct Work {
    left: usize,
}

impl Work {
    fn spend(&mut self, bytes: usize) -> Result<(), Failed> {
        self.left = self.left.checked_sub(bytes).ok_or(Failed::Late)?;
        Ok(())
    }
}
