//! Interleaved rounds: every contender gets a turn in every round, and the median turn counts, so that a noisy machine
//! affects all of them alike.

use std::time::{Duration, Instant};

use stc::internal::Kernel;

use crate::cases::Case;
use crate::contender::{Contender, Ready};
use crate::rotation::Rotations;
use crate::stats::{median, percentile};

/// How long a case is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Time for all contenders together.
    pub time: Duration,
    /// Turns that every contender gets, however slow it is.
    pub turns: usize,
}

impl Effort {
    /// For numbers that are published.
    pub const FULL: Self = Self { time: Duration::from_millis(800), turns: 5 };
    /// For a quick look.
    pub const QUICK: Self = Self { time: Duration::from_millis(150), turns: 3 };
}

/// The result of a contender on a case.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It was timed.
    Timed(Timing),
    /// It rejected the case; the reason.
    Rejected(String),
}

impl Outcome {
    /// Returns the timing, if there is one.
    pub fn timing(&self) -> Option<&Timing> {
        match self {
            Outcome::Timed(timing) => Some(timing),
            Outcome::Rejected(_) => None,
        }
    }
}

/// The time of a contender on a case.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Nanoseconds for a document, the median over the turns.
    pub nanoseconds: f64,
    /// Bytes of a document that count for this contender.
    pub bytes: f64,
    /// Turns taken.
    pub turns: usize,
    /// Whether its answer was equal to the document.
    pub exact: bool,
}

impl Timing {
    /// Returns GB of JSON a second.
    pub fn speed(&self) -> f64 {
        self.bytes / self.nanoseconds
    }
}

/// Times the contenders against each other on one case.
pub fn contest(case: &Case, contenders: &[Contender], kernel: Kernel, effort: Effort) -> Vec<Outcome> {
    let mut rotations = Rotations::new(case);
    let round = rotations.round();
    let mut ready: Vec<Result<Ready<'_>, String>> =
        contenders.iter().map(|contender| contender.prepare(case, kernel)).collect();
    let mut turns: Vec<Vec<f64>> = vec![Vec::new(); contenders.len()];
    let mut spent = vec![Duration::ZERO; contenders.len()];

    let begun = Instant::now();
    let mut forward = true;
    loop {
        // A slow contender skips rounds while it has used more than its share of the time.
        let share = begun.elapsed() / contenders.len().max(1) as u32;
        let over = begun.elapsed() >= effort.time;
        let order = 0..contenders.len();
        let order: Vec<usize> = if forward { order.collect() } else { order.rev().collect() };
        let mut played = false;
        for at in order {
            let Ok(ready) = &mut ready[at] else { continue };
            let owed = turns[at].len() < effort.turns;
            if owed || (!over && spent[at] <= share) {
                let took = (ready.turn)(&mut rotations, round);
                spent[at] += took;
                turns[at].push(took.as_nanos() as f64 / round as f64);
                played = true;
            }
        }
        forward = !forward;
        if over && !played {
            break;
        }
    }

    let outcome = |(contender, (ready, mut turns)): (&Contender, (Result<Ready<'_>, String>, Vec<f64>))| match ready {
        Ok(ready) => Outcome::Timed(Timing {
            nanoseconds: median(&mut turns),
            bytes: case.mean(|document| contender.per.bytes(document)),
            turns: turns.len(),
            exact: ready.exact,
        }),
        Err(refusal) => Outcome::Rejected(refusal),
    };
    contenders.iter().zip(ready.into_iter().zip(turns)).map(outcome).collect()
}

/// The times of one contender, document by document.
#[derive(Clone, Debug)]
pub struct Latencies(Vec<f64>);

impl Latencies {
    /// Returns the nanoseconds that this percentage of the documents do not exceed.
    pub fn percentile(&mut self, percent: f64) -> f64 {
        percentile(&mut self.0, percent)
    }

    /// Returns all times in nanoseconds.
    pub fn all(&self) -> &[f64] {
        &self.0
    }
}

/// Times every document separately; a contender passes over all documents before the next one's turn. A rejected case is
/// an error. Alternating after each document would evict every contender's code from the cache. The times include the
/// cost of reading the clock.
pub fn latencies(
    case: &Case,
    contenders: &[Contender],
    kernel: Kernel,
    rounds: usize,
) -> Result<Vec<Latencies>, String> {
    let ready: Result<Vec<_>, _> = contenders.iter().map(|contender| contender.prepare(case, kernel)).collect();
    let mut ready = ready.map_err(|reason| format!("{}: {reason}", case.name))?;
    let mut rotations = Rotations::new(case);
    let mut all = vec![Latencies(Vec::new()); contenders.len()];
    for _ in 0..rounds {
        for (ready, latencies) in ready.iter_mut().zip(&mut all) {
            let each = || (ready.turn)(&mut rotations, 1).as_nanos() as f64;
            latencies.0.extend(std::iter::repeat_with(each).take(case.documents.len()));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::{TAPE, WARM};

    #[test]
    fn every_contender_is_timed_or_gives_a_reason() {
        let case = Case::new("a number past u64", [b"[123456789012345678901234567890]".to_vec()]).expect("valid");
        let contenders = [WARM[0], WARM[1], TAPE];
        let effort = Effort { time: Duration::ZERO, turns: 2 };
        let outcomes = contest(&case, &contenders, crate::kernel(None).expect("a kernel"), effort);
        assert_eq!(outcomes[0].timing().expect("timed").turns, 2);
        assert!(outcomes[1].timing().expect("timed").speed() > 0.0);
        assert!(matches!(&outcomes[2], Outcome::Rejected(why) if !why.is_empty()));
    }

    #[test]
    fn a_latency_for_every_document_and_round() {
        let case = crate::cases::generated("users", "users", 256, 3).expect("a case");
        let all = latencies(&case, &WARM, crate::kernel(None).expect("a kernel"), 4).expect("timed");
        assert!(all.iter().all(|latencies| latencies.all().len() == 12));
    }
}
