//! What is known of a text before a keyword in it is looked at, so that no bytes are read once for each keyword.
//!
//! ```text
//! text   nvapi-nvapi-nvapi-nvapi- nvapi-
//!        ^                       ^         the token ends there, for all four keywords
//!        |----------------------|          found, or searched without result: three keywords need no pattern
//! ```

use crate::work::{Failed, Work};
use std::ops::Range;

/// What begins so many bytes before the end of a secret may end after it. Whatever begins earlier in it is part of it.
const LONGEST_OVERLAP: usize = 128;

/// Bytes that a search for one byte reads at once.
const BLOCK: usize = 8;

/// What is known of one part of a text.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Ends of tokens, of words that follow a long token, of values without quotes, of names, of what has no digit and no sign, and
    /// of parts of a view.
    pub(crate) token: Run,
    pub(crate) follow: Run,
    pub(crate) bare: Run,
    pub(crate) name: Run,
    pub(crate) plain: Run,
    pub(crate) part: Run,
    /// Where the last secret ends: the next one may begin there.
    pub(crate) ended: usize,
    /// By the number of the rule.
    rules: Vec<Known>,
}

/// What is known of one rule.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Keywords that begin here need no pattern.
    done: Range<usize>,
    /// How far a pattern was tried last without a match.
    failed: usize,
    sign: Run,
}

impl Seen {
    fn rule(&mut self, number: usize) -> &mut Known {
        if self.rules.len() <= number {
            self.rules.resize(number + 1, Known::default());
        }
        &mut self.rules[number]
    }

    /// Returns whether a keyword that begins here needs no pattern.
    pub(crate) fn is_done(&self, number: usize, at: usize) -> bool {
        self.rules.get(number).is_some_and(|known| known.done.contains(&at))
    }

    /// Keeps that keywords in a range need no pattern.
    pub(crate) fn done(&mut self, number: usize, range: Range<usize>) {
        let done = &mut self.rule(number).done;
        // Ranges that touch are one. One that comes late, as its keyword is longer, is left out.
        if done.contains(&range.start) {
            done.end = done.end.max(range.end);
        } else if range.end > done.end {
            *done = range;
        }
    }

    /// Keeps a secret. One that ends with its area hides all that begins in it.
    pub(crate) fn found(&mut self, number: usize, span: &Range<usize>, ends_area: bool) {
        self.ended = span.end;
        let end = if ends_area { span.end } else { span.end.saturating_sub(LONGEST_OVERLAP) };
        if end > span.start {
            self.done(number, span.start..end);
        }
    }

    /// Keeps that a pattern was tried in vain; returns whether one was in bytes that this one has tried too.
    pub(crate) fn failed(&mut self, number: usize, area: &Range<usize>) -> bool {
        let known = self.rule(number);
        let again = known.failed > area.start;
        known.failed = known.failed.max(area.end);
        again
    }

    /// Returns where the next sign is; the end of the text if there is none.
    pub(crate) fn sign(
        &mut self,
        number: usize,
        text: &[u8],
        at: usize,
        sign: u8,
        work: &mut Work,
    ) -> Result<usize, Failed> {
        self.rule(number).sign.next(text, at, work, sign)
    }
}

/// Where a run of bytes ends, kept so that each byte of it is read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    known: Option<(usize, usize)>,
}

impl Run {
    /// Returns the next place of a byte; the end of the text if there is none.
    pub(crate) fn next(&mut self, text: &[u8], at: usize, work: &mut Work, byte: u8) -> Result<usize, Failed> {
        if let Some((from, until)) = self.known
            && (from..=until).contains(&at)
        {
            return Ok(until);
        }
        let length = memchr::memchr(byte, &text[at..]).unwrap_or(text.len() - at);
        work.read(length / BLOCK)?;
        self.known = Some((at, at + length));
        Ok(at + length)
    }

    /// Returns the first place from `at` on where the rest of the text ends a run. The rest is never empty.
    pub(crate) fn end(
        &mut self,
        text: &[u8],
        at: usize,
        work: &mut Work,
        ends: impl Fn(&[u8]) -> bool,
    ) -> Result<usize, Failed> {
        let known = self.known.filter(|known| at <= known.1);
        let most = match known {
            Some((from, until)) if from <= at => return Ok(until),
            Some((from, _)) => from,
            None => text.len(),
        };
        let end = (at..most).find(|place| ends(&text[*place..]));
        work.read(end.unwrap_or(most) - at.min(most))?;
        let end = end.or(known.map(|known| known.1)).unwrap_or(text.len());
        self.known = Some((at, end));
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_runs_are_those_of_a_search() {
        let text = b"ab cde  f";
        let mut run = Run::default();
        for at in [0, 1, 2, 4, 3, 2, 0, 5, 7, 8, 6, 9, 8] {
            let expected = (at..text.len()).find(|place| text[*place] == b' ').unwrap_or(text.len());
            let end = run.end(text, at, &mut Work::of(100), |rest| rest[0] == b' ').unwrap();
            assert_eq!(end, expected, "{at}");
        }
    }

    #[test]
    fn each_byte_of_a_run_is_read_once() {
        let text = vec![b'a'; 10_000];
        let (mut run, mut work) = (Run::default(), Work::of(text.len()));
        for at in 0..text.len() {
            assert_eq!(run.end(&text, at, &mut work, |_| false), Ok(text.len()));
        }
        assert_eq!(work.steps, 2_500);
    }

    #[test]
    fn a_secret_hides_keywords_in_it() {
        let mut seen = Seen::default();
        seen.found(3, &(10..1_000), false);
        assert!(!seen.is_done(3, 9) && seen.is_done(3, 10) && seen.is_done(3, 871) && !seen.is_done(3, 872));
        seen.found(3, &(900..1_000), true);
        assert!(seen.is_done(3, 999) && !seen.is_done(3, 1_000) && !seen.is_done(2, 10));
        assert!(!seen.failed(1, &(0..10)) && seen.failed(1, &(5..12)) && !seen.failed(1, &(12..20)));
    }
}
