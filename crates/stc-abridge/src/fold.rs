//! Lines that repeat, alone or in cycles of up to four.
//!
//! ```text
//! waiting                    [×4] waiting
//! waiting
//! waiting              ->    [×3, 2 lines]
//! waiting                    ping
//! ping                       pong
//! pong
//! ping
//! pong
//! ping
//! pong
//! ```
//!
//! Nothing is lost.

use crate::lines::{Line, lines};
use stc_wire::budget::{charge, charge_bytes};
use std::borrow::Cow;

/// The most lines of a cycle.
const LONGEST_CYCLE: usize = 4;
/// The fewest times that lines are repeated.
const FEWEST_TIMES: usize = 3;

/// Writes lines that repeat once, with their number; `None` if no line does.
#[must_use]
pub fn fold(text: &str) -> Option<String> {
    fold_by(text, |line| Cow::Borrowed(line), "")
}

/// The bytes that are read to fold a text, over all rounds, for each of its bytes. Lines written to be folded one round after the
/// other would be read once for each of them.
const MOST_READ: usize = 16;

/// Folds lines with equal keys, and says `but` after their number; `None` if none are repeated, or if it would take too many rounds.
pub(crate) fn fold_by(text: &str, key: fn(&str) -> Cow<'_, str>, but: &str) -> Option<String> {
    let mut folded = once(text, key, but)?;
    let mut left = text.len().saturating_mul(MOST_READ);
    // What is folded may be the cycle of others, each of at least three times as many lines.
    while let Some(again) = once(&folded, key, but) {
        left = left.checked_sub(folded.len())?;
        folded = again;
    }
    Some(folded)
}

fn once(text: &str, key: fn(&str) -> Cow<'_, str>, but: &str) -> Option<String> {
    let lines: Vec<_> = lines(text).collect();
    if lines.len() < FEWEST_TIMES {
        return None;
    }
    let keys: Vec<_> = lines.iter().map(|line| key(line.body)).collect();
    let mut cycles = Cycles { keys: &keys, same_until: [0; LONGEST_CYCLE] };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < lines.len() {
        charge(1)?;
        match cycles.longest(at) {
            Some((length, times)) => {
                let end = at + length * times;
                write(&lines[at..at + length], times, but, lines[end - 1].ending, &mut out);
                at = end;
            }
            None => {
                lines[at].write(&mut out);
                at += 1;
            }
        }
    }
    (out.len() < text.len()).then_some(out)
}

/// The cycles of a text, looked for from its start to its end.
///
/// Where lines are the same as those `length` lines after them, for so many lines does a cycle of that length go on. The end of such
/// lines is kept, so that each line is compared once for each length:
///
/// ```text
/// line         a b a b a b c
/// 2 later      a b a b c
/// same         = = = =         from the first line on 4 are the same: a cycle of 2 lines, 1 + 4 / 2 times
/// ```
struct Cycles<'a> {
    keys: &'a [Cow<'a, str>],
    /// For each length, where the lines that are the same as later ones end.
    same_until: [usize; LONGEST_CYCLE],
}

impl Cycles<'_> {
    /// Returns the length of the cycle that starts at a line and covers the most lines, and how often it is repeated. Blank lines alone
    /// are none.
    fn longest(&mut self, at: usize) -> Option<(usize, usize)> {
        let mut best: Option<(usize, usize)> = None;
        let left = self.keys.len() - at;
        for length in 1..=LONGEST_CYCLE.min(left / FEWEST_TIMES) {
            let times = 1 + (self.same_until(length, at) - at) / length;
            let first = &self.keys[at..at + length];
            let is_blank = || first.iter().all(|key| key.trim().is_empty());
            let is_best = best.is_none_or(|(length_of, times_of)| length * times > length_of * times_of);
            if times >= FEWEST_TIMES && is_best && !is_blank() {
                best = Some((length, times));
            }
        }
        best
    }

    /// Returns the first line from `at` on that differs from the one `length` lines after it.
    fn same_until(&mut self, length: usize, at: usize) -> usize {
        let end = &mut self.same_until[length - 1];
        *end = (*end).max(at);
        while self.keys.get(*end + length).is_some_and(|later| *later == self.keys[*end]) {
            charge_bytes(self.keys[*end].len());
            *end += 1;
        }
        *end
    }
}

/// Writes the lines of a cycle; the last of them ends as its last copy does.
fn write(lines: &[Line<'_>], times: usize, but: &str, ending: &str, out: &mut String) {
    let Some((last, others)) = lines.split_last() else { return };
    if others.is_empty() {
        out.push_str(&format!("[×{times}{but}] "));
    } else {
        out.push_str(&format!("[×{times}, {} lines{but}]\n", lines.len()));
    }
    others.iter().for_each(|line| line.write(out));
    Line { ending, ..*last }.write(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_lines_are_written_once() {
        for (text, expected) in [
            ("waiting\nwaiting\nwaiting\nwaiting\ndone\n", "[×4] waiting\ndone\n"),
            ("ping\npong\nping\npong\nping\npong\nend", "[×3, 2 lines]\nping\npong\nend"),
            ("a b c d e\r\na b c d e\r\na b c d e\r\n", "[×3] a b c d e\r\n"),
            ("one line\none line\none line", "[×3] one line"),
            ("x\n\nx\n\nx\n\nx\n\nx\n\nx\n\nx\n\nend", "[×7, 2 lines]\nx\n\nend"),
        ] {
            assert_eq!(fold(text).as_deref(), Some(expected), "{text:?}");
            assert_eq!(fold(expected), None);
        }
    }

    /// Counts a cycle anew at each line: the plain way, which takes the square of the lines.
    fn plainly(keys: &[Cow<'_, str>]) -> Option<(usize, usize)> {
        let mut best: Option<(usize, usize)> = None;
        for length in 1..=LONGEST_CYCLE.min(keys.len() / FEWEST_TIMES) {
            let first = &keys[..length];
            let times = 1 + keys[length..].chunks_exact(length).take_while(|next| *next == first).count();
            let is_blank = first.iter().all(|key| key.trim().is_empty());
            let is_best = best.is_none_or(|(length_of, times_of)| length * times > length_of * times_of);
            if times >= FEWEST_TIMES && is_best && !is_blank {
                best = Some((length, times));
            }
        }
        best
    }

    #[test]
    fn cycles_are_those_of_the_plain_way() {
        let mut found = 0;
        for seed in 0..3_000 {
            let mut rng = stc_corpus::Rng::named("cycles", seed);
            let few = 1 + rng.below(4);
            let count = rng.below(40);
            let keys: Vec<_> =
                (0..count).map(|_| Cow::Borrowed(["", "a", "b", " "][rng.below(few) as usize])).collect();
            let mut cycles = Cycles { keys: &keys, same_until: [0; LONGEST_CYCLE] };
            let mut at = 0;
            while at < keys.len() {
                let cycle = cycles.longest(at);
                assert_eq!(cycle, plainly(&keys[at..]), "{seed}: {at} of {keys:?}");
                found += u32::from(cycle.is_some());
                at += cycle.map_or(1, |(length, times)| length * times);
            }
        }
        assert!(found > 1_000, "{found}");
    }

    #[test]
    fn lines_written_to_be_folded_round_after_round_stay() {
        let ladder = |rounds: usize| -> String {
            let line = |marks: usize| "[×3] ".repeat(marks) + "a longer line\n";
            (1..rounds).rev().map(|marks| line(marks).repeat(2)).collect::<String>() + &line(0).repeat(3)
        };
        assert_eq!(fold(&ladder(5)).unwrap(), "[×3] ".repeat(5) + "a longer line\n");
        assert_eq!(fold(&ladder(200)), None);
    }

    #[test]
    fn lines_that_do_not_pay_stay() {
        for text in ["", "a", "a\na\n", "a\nb\na\nb\n", "\n\n\n\n\n\n", "a\na\na\n"] {
            assert_eq!(fold(text), None, "{text:?}");
        }
    }

    #[test]
    fn folds_of_folds_end() {
        let inner = "alpha alpha\nalpha alpha\nalpha alpha\nbeta\n".repeat(3) + "gamma gamma\n";
        let text = inner.repeat(5);
        let folded = fold(&text).unwrap();
        assert!(folded.len() < text.len() / 4, "{folded}");
        assert_eq!(fold(&folded), None, "{folded}");
    }
}
