//! The steps of the modes that lose something, on one text.
//!
//! ```text
//! ansi, redact, binary ──▶ JSON? ── yes ──▶ another format ──▶ cap            `safe` and more
//!                            └── no ──▶ cap ──▶ table, family, fold, space,    `standard` and more
//!                                               excerpt; noise, dictionary     `aggressive` has the last two
//! ```
//!
//! JSON that is capped is JSON no more, and takes the steps of text.
//!
//! A step's result is kept if it has fewer estimated tokens and no more bytes; those of the first row and `cap` are kept always.
//! The steps after `cap` are taken again until none changes the text, because one may make work for another: what a mode wrote,
//! it does not change again.

use crate::lossless::{Outcome, Owed, Rules};
use crate::redaction::Guard;
use crate::refused::RedactionFailed;
use crate::report::Status;
use crate::steps::{Step, Steps, Trace};
use crate::{Mode, restore};
use stc::estimate_tokens;
use stc_abridge::{Dictionary, Kind, Origin};
use stc_wire::budget;

/// The most rounds of the steps after `cap`. Every round but the last has fewer tokens than the one before.
const STEP_ROUNDS: usize = 8;

/// The [steps](budget) that a text may take after `cap`: so many for each of its bytes, and so many whatever its length.
///
/// What a text becomes thereby depends on that text alone, and not on the others of its request: a conversation that goes on keeps
/// what was sent before. A request costs at most the sum of its texts.
const STEPS_PER_BYTE: u64 = 256;
const STEPS_OF_ANY: u64 = 16 << 10;

/// Returns the steps that a text of this length may take.
const fn most_steps(bytes: usize) -> u64 {
    STEPS_OF_ANY + STEPS_PER_BYTE * bytes as u64
}

/// What applies to every text of a request in a mode that loses something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    pub(crate) mode: Mode,
    /// The most bytes of a text.
    pub(crate) cap: usize,
    /// The most lines of a text, but for those about problems; 0 for all.
    pub(crate) excerpt: usize,
    pub(crate) dictionary: Dictionary,
}

/// A text that came, and where it comes from.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) text: &'a str,
    pub(crate) origin: Origin,
    pub(crate) owed: Option<Owed>,
}

/// A text on its way.
struct Passage<'a> {
    /// The text as the last step left it; `None` as long as it is the one that came.
    text: Option<String>,
    came: &'a str,
    tokens: u64,
    steps: Steps,
    redacted: u32,
    /// What every step did, where that is wanted.
    traces: Option<&'a mut Vec<Trace>>,
}

impl Passage<'_> {
    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or(self.came)
    }

    /// Takes the result of a step; returns whether it was kept.
    fn take(&mut self, step: Step, after: Option<String>, always: bool) -> bool {
        let Some(after) = after else { return false };
        let tokens = estimate_tokens(after.as_bytes());
        let kept = always || (tokens < self.tokens && after.len() <= self.text().len());
        let bytes = [self.text().len() as u64, after.len() as u64];
        if let Some(traces) = &mut self.traces {
            traces.push(Trace { step, kept, bytes, tokens: [self.tokens, tokens] });
        }
        if kept {
            (self.text, self.tokens) = (Some(after), tokens);
            self.steps.add(step);
        }
        kept
    }
}

impl Chain {
    /// Takes the steps of the mode on a text; writes the new text to `out`, which is empty, or leaves `out` empty if the text stays.
    pub(crate) fn apply(
        &self,
        input: Input<'_>,
        rules: &Rules,
        guard: &mut Guard,
        traces: Option<&mut Vec<Trace>>,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, RedactionFailed> {
        let Input { text: came, origin, owed } = input;
        let tokens_in = estimate_tokens(came.as_bytes());
        let mut passage = Passage { text: None, came, tokens: tokens_in, steps: Steps::default(), redacted: 0, traces };
        let is_lossy = self.mode.is_lossy();
        if is_lossy {
            // The lines of a dictionary are this mode's own: a carriage return inside them overwrites nothing.
            let overwritten = self.mode >= Mode::Standard && stc_abridge::expand(came).is_none();
            let plain = stc_abridge::ansi(came, overwritten);
            passage.take(Step::Ansi, plain, true);
        }
        let redacted = if is_lossy { guard.redact(passage.text())? } else { guard.redact_plain(came)? };
        if let Some((after, count)) = redacted {
            passage.redacted = count;
            passage.take(Step::Redact, Some(after), true);
        }
        if is_lossy {
            let suppressed = stc_abridge::binary(passage.text());
            if passage.take(Step::Binary, suppressed, true) {
                return Ok(finished(passage, Status::NotJson, false, tokens_in, out));
            }
        }
        let (mut status, legend) = convert(&mut passage, rules, owed);
        if is_lossy {
            let capped = stc_abridge::cap(passage.text(), self.cap);
            let is_capped = passage.take(Step::Cap, capped, true);
            // What is capped is text, whatever it was.
            status = if is_capped { Status::NotJson } else { status };
            if status == Status::NotJson && self.mode >= Mode::Standard && !self.shorten(&mut passage, origin) {
                status = Status::Failed;
            }
        }
        Ok(finished(passage, status, legend, tokens_in, out))
    }

    /// Takes the steps after `cap` on a text that is not JSON. Returns false, and leaves the text, if they cost more than a text of its
    /// length may.
    fn shorten(&self, passage: &mut Passage<'_>, origin: Origin) -> bool {
        let before = (passage.text.clone(), passage.tokens, passage.steps);
        let traced = passage.traces.as_ref().map_or(0, |traces| traces.len());
        let most = most_steps(passage.text().len());
        let in_time = budget::within(most, || self.take_steps(passage, origin)).is_some();
        if !in_time {
            (passage.text, passage.tokens, passage.steps) = before;
            let undone = passage.traces.iter_mut().flat_map(|traces| &mut traces[traced..]);
            undone.for_each(|trace| trace.kept = false);
        }
        in_time
    }

    fn take_steps(&self, passage: &mut Passage<'_>, origin: Origin) {
        // Files have their own bytes; what a mode wrote stays.
        let is_written = |text: &str| stc_abridge::expand(text).is_some() || restore::is_stc(text);
        if origin.kind == Kind::File || is_written(passage.text()) {
            return;
        }
        for _ in 0..STEP_ROUNDS {
            let mut changed = false;
            if origin.may_have_tables() {
                let after = stc_abridge::table(passage.text());
                changed |= passage.take(Step::Table, after, false);
            }
            let after = stc_abridge::family(passage.text(), origin);
            changed |= passage.take(Step::Family, after, false);
            let after = stc_abridge::fold(passage.text());
            changed |= passage.take(Step::Fold, after, false);
            let after = stc_abridge::space(passage.text());
            changed |= passage.take(Step::Space, after, false);
            if self.mode == Mode::Aggressive && origin.kind == Kind::Text {
                let after = stc_abridge::noise(passage.text());
                changed |= passage.take(Step::Noise, after, false);
            }
            let after = stc_abridge::excerpt(passage.text(), self.excerpt);
            changed |= passage.take(Step::Excerpt, after, false);
            if !changed || budget::charge(0).is_none() {
                break;
            }
        }
        if self.mode == Mode::Aggressive && budget::charge(0).is_some() {
            let after = stc_abridge::abbreviate(passage.text(), self.dictionary);
            passage.take(Step::Dictionary, after, false);
        }
    }
}

/// Takes the step to another format, if the text is JSON. Returns what became of it, and whether it has the legend.
fn convert(passage: &mut Passage<'_>, rules: &Rules, owed: Option<Owed>) -> (Status, bool) {
    let mut encoded = Vec::new();
    let outcome = rules.apply(passage.text(), passage.tokens, owed, &mut encoded);
    // What the codec wrote is Unicode, like what it read.
    let encoded = String::from_utf8(encoded).ok().filter(|encoded| !encoded.is_empty());
    passage.take(Step::Json, encoded, true);
    (outcome.status, outcome.legend)
}

fn finished(passage: Passage<'_>, mut status: Status, mut legend: bool, tokens_in: u64, out: &mut Vec<u8>) -> Outcome {
    let Passage { text, tokens, mut steps, redacted, .. } = passage;
    // A secret must go and a bound must hold, whatever that costs.
    let must = redacted > 0 || steps.has(Step::Cap);
    let text = text.filter(|_| tokens <= tokens_in || must);
    let mut tokens_out = tokens_in;
    match text {
        Some(text) => {
            (*out, tokens_out) = (text.into_bytes(), tokens);
            if !status.is_change() {
                status = if steps.lose() { Status::Abridged } else { Status::Cleaned };
            }
        }
        None => {
            (steps, legend) = (Steps::default(), false);
            status = if status.is_change() { Status::NotSmaller } else { status };
        }
    }
    Outcome { status, legend, tokens_in, tokens_out, steps, redacted }
}

#[cfg(test)]
mod tests;
