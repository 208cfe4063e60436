//! The texts of one request, each prepared by itself or taken from its memo.

use crate::chain::{Chain, Input};
use crate::dedup::Seen;
use crate::joined::Replaced;
use crate::key::{Key, Secret};
use crate::layout::{Answer, Layout};
use crate::lossless::{Outcome, Owed, Rules};
use crate::memo::{self, Entry, Prints};
use crate::redaction::Guard;
use crate::refused::RedactionFailed;
use crate::report::{Item, Memo, Report, Status};
use crate::source::{Source, Sources};
use crate::steps::{Step, Steps};
use crate::store::Write;
use crate::text::Text;
use crate::{Legend, Mode};
use stc::estimate_tokens;
use stc_wire::Saved;
use stc_wire::edit::Edits;
use stc_wire::span::{self, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// Messages of the user shorter than this stay.
pub(crate) const SHORTEST_USER_TEXT: usize = 4_096;

/// The texts of one request on their way.
pub(crate) struct Work<'a> {
    body: &'a [u8],
    plan: Plan,
    owed: Option<Owed>,
    seen: Option<Seen>,
    memos: Option<Memos<'a>>,
    edits: &'a mut Edits,
    report: &'a mut Report,
    keep: Vec<Write>,
    /// Texts with a piece of a secret that goes on in the next part, by where they begin.
    parts: HashMap<usize, Replaced>,
    /// Buffers that every text uses again.
    unescaped: Vec<u8>,
    encoded: Vec<u8>,
}

/// What applies to all texts of a request.
pub(crate) struct Plan {
    pub(crate) rules: Rules,
    pub(crate) chain: Chain,
    pub(crate) guard: Guard,
    pub(crate) legend: Legend,
    pub(crate) dedup: bool,
    /// Where the part of the body ends whose texts are handled.
    pub(crate) last: usize,
    /// Whether what programs read keeps its secrets too.
    pub(crate) spares_programs: bool,
    /// Whether what each step does is noted.
    pub(crate) traced: bool,
}

/// The memos of a request.
pub(crate) struct Memos<'a> {
    secret: &'a Secret,
    /// The fingerprint of the settings.
    settings: u128,
    /// By the number of the text: the name, and the value that was found.
    by_text: HashMap<usize, (Key, Option<&'a [u8]>)>,
}

impl<'a> Memos<'a> {
    pub(crate) fn new(
        secret: &'a Secret,
        plan: &Plan,
        redaction: &str,
        keys: &[Key],
        texts: &[usize],
        found: &'a [Option<Arc<[u8]>>],
    ) -> Self {
        let values = found.iter().map(Option::as_deref).chain(std::iter::repeat(None));
        let by_text = texts.iter().copied().zip(keys.iter().copied().zip(values)).collect();
        Self { secret, settings: memo::of_settings(secret, &plan.rules, &plan.chain, redaction), by_text }
    }
}

/// A text and where it belongs.
struct Place<'a> {
    number: usize,
    text: &'a Text,
    answer: &'a Answer,
    source: &'a Source,
    /// Why the text stays, if that is known without it.
    stays: Option<Status>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        body: &'a [u8],
        plan: Plan,
        memos: Option<Memos<'a>>,
        edits: &'a mut Edits,
        report: &'a mut Report,
    ) -> Self {
        let legend = if plan.legend == Legend::First { plan.rules.format.legend() } else { "" };
        let owed = (!legend.is_empty()).then(|| Owed { legend, tokens: estimate_tokens(legend.as_bytes()) });
        let (unescaped, encoded) = (Vec::new(), Vec::new());
        let seen = plan.dedup.then(Seen::default);
        let (keep, parts) = (Vec::new(), HashMap::new());
        Self { body, plan, owed, seen, memos, edits, report, keep, parts, unescaped, encoded }
    }

    /// Returns the same with other texts in place of these, which have pieces of secrets.
    pub(crate) fn with_parts(self, parts: HashMap<usize, Replaced>) -> Self {
        Self { parts, ..self }
    }

    /// Prepares all texts, and if secrets are replaced the arguments of calls and the values that are no texts; returns the values to
    /// keep.
    pub(crate) fn all(mut self, layout: &Layout, sources: Sources) -> Result<Vec<Write>, RedactionFailed> {
        self.report.items.reserve(layout.texts.len());
        self.report.tools = sources.tools;
        if self.plan.guard.is_on() {
            if layout.is_ambiguous {
                self.plan.guard.fail()?; // there is more than what was found
            }
            for value in layout.calls.iter().filter_map(|call| call.arguments.as_ref()) {
                self.value(value)?;
            }
            let spares = |source: &Source| self.plan.spares_programs && source.skipped == Some(Status::ForAProgram);
            let spared = layout.results.iter().zip(&sources.all).filter(|(_, source)| spares(source));
            let mut spared = spared.map(|(answer, _)| answer.values.clone()).collect::<Vec<_>>().into_iter().peekable();
            for (number, value) in layout.values.iter().enumerate() {
                while spared.next_if(|values| values.end <= number).is_some() {}
                if !spared.peek().is_some_and(|values| values.contains(&number)) {
                    self.value(value)?;
                }
            }
        }
        for (result, (answer, source)) in layout.results.iter().zip(&sources.all).enumerate() {
            if let (Some(seen), Some(id)) = (&mut self.seen, &answer.id) {
                seen.result(&span::string(self.body, id).unwrap_or_default());
            }
            if layout.ambiguous_from.is_some_and(|from| from <= result) {
                self.seen = None; // there are results whose ids are not known
            }
            for number in answer.texts.clone() {
                let text = &layout.texts[number];
                let cited = layout.cited.contains(&text.value.start).then_some(Status::ForAProgram);
                let far = (text.value.end > self.plan.last).then_some(Status::Large);
                let stays =
                    source.skipped.filter(|why| *why == Status::ForAProgram).or(cited).or(source.skipped).or(far);
                self.text(&Place { number, text, answer, source, stays })?;
            }
        }
        self.report.redactions = self.plan.guard.found;
        self.report.redaction_failures = self.plan.guard.failed;
        Ok(self.keep)
    }

    /// Replaces the secrets in the arguments of a call, or in another value: JSON, or a string that holds JSON.
    fn value(&mut self, place: &Span) -> Result<(), RedactionFailed> {
        let spelled = &self.body[place.clone()];
        let is_string = spelled.first() == Some(&b'"');
        let text = match is_string {
            true => span::string_in(self.body, place, &mut self.unescaped),
            false => std::str::from_utf8(spelled).ok(),
        };
        let Some(text) = text else { return self.plan.guard.fail() };
        let Some((after, _)) = self.plan.guard.redact_plain(text)? else { return Ok(()) };
        let is_json = |text: &str| stc::validate(text.as_bytes()).is_ok();
        if is_json(text) && !is_json(&after) {
            return self.plan.guard.fail();
        }
        let mut written = Vec::with_capacity(after.len() + 2);
        match is_string {
            true => span::quote_into(&after, &mut written),
            false => written.extend_from_slice(after.as_bytes()),
        }
        self.report.values.push((place.clone(), written.len()));
        self.edits.replace(place.clone(), written);
        Ok(())
    }

    fn text(&mut self, place: &Place<'_>) -> Result<(), RedactionFailed> {
        // While the legend is owed, what becomes of a text depends on more than the text.
        // So it does where it has a piece of a secret that goes on in the next part.
        let is_alone = self.owed.is_none() && !self.parts.contains_key(&place.text.value.start);
        let may_know = is_alone && place.stays.is_none();
        let known = may_know.then(|| self.memos.as_ref()?.by_text.get(&place.number).copied()).flatten();
        let Some((key, value)) = known else {
            self.fresh(place)?;
            return Ok(());
        };
        let Some(memos) = &self.memos else { return Ok(()) };
        let input = memo::of_input(memos.secret, &self.body[place.text.place()], place.source.origin);
        let prints = Prints { settings: memos.settings, input };
        let memo = match value.map(|value| memo::read(prints, value)) {
            Some(Ok(entry)) => {
                let Entry { outcome, bytes_in, bytes_out, written } = entry;
                if outcome.status.is_change() {
                    self.edits.replace(place.text.place(), written.to_vec());
                }
                self.note(place, outcome, bytes_in, bytes_out, Some(Memo::Reused));
                return Ok(());
            }
            Some(Err(memo)) => memo,
            None => Memo::Missed,
        };
        let (before, failed) = (self.edits.len(), self.plan.guard.failed);
        let outcome = self.fresh(place)?;
        if self.plan.guard.failed > failed {
            return Ok(()); // what was not looked through is not kept
        }
        if let Some(item) = self.report.items.last_mut() {
            item.memo = Some(memo);
            let written = if self.edits.len() > before { self.edits.last().unwrap_or_default() } else { &[] };
            let Saved { bytes_in, bytes_out, .. } = item.saved;
            let value = memo::write(prints, &Entry { outcome, bytes_in, bytes_out, written });
            self.keep.extend(value.map(|value| Write { key, value }));
        }
        Ok(())
    }

    /// Prepares a text without a memo.
    fn fresh(&mut self, place: &Place<'_>) -> Result<Outcome, RedactionFailed> {
        let text_at = place.text;
        self.encoded.clear();
        let is_spared = self.plan.spares_programs && place.stays == Some(Status::ForAProgram);
        let part = self.parts.remove(&text_at.value.start).filter(|_| !is_spared);
        let Some(came) = text_at.read(self.body, &mut self.unescaped) else {
            let length = text_at.value.len() as u64;
            if self.plan.guard.is_on() && !is_spared {
                self.plan.guard.fail()?;
            }
            let outcome = Outcome::stays(Status::Invalid, 0);
            self.note(place, outcome, length, length, None);
            return Ok(outcome);
        };
        let text = part.as_ref().map_or(came, |part| &part.text);
        let Plan { rules, chain, guard, traced, .. } = &mut self.plan;
        let is_user = place.answer.is_user;
        let is_short = is_user && text.len() < SHORTEST_USER_TEXT;
        let disabled = (chain.mode == Mode::Disabled).then_some(Status::Skipped);
        let excluded = place.stays.or(disabled).or(is_short.then_some(Status::Small));
        let skipped = excluded.or((text.len() < rules.min_bytes).then_some(Status::Small));
        // What a user wrote is converted and never abridged.
        let chain = Chain { mode: if is_user { Mode::Lossless } else { chain.mode }, ..*chain };
        let mut traces = traced.then(Vec::new);
        let mut outcome = match skipped {
            Some(status) if is_spared => Outcome::stays(status, estimate_tokens(text.as_bytes())),
            Some(status) => stays(text, status, guard, &mut self.encoded)?,
            None if chain.mode == Mode::Lossless && !guard.is_on() && traces.is_none() => {
                rules.apply(text, estimate_tokens(text.as_bytes()), self.owed, &mut self.encoded)
            }
            None => {
                let input = Input { text, origin: place.source.origin, owed: self.owed };
                chain.apply(input, rules, guard, traces.as_mut(), &mut self.encoded)?
            }
        };
        if let (Some(seen), None, Some(id)) = (&mut self.seen, excluded, &place.answer.id) {
            let id = span::string(self.body, id).unwrap_or_default();
            let named = place.source.tool.map(|tool| (tool, self.report.tools[tool].as_str()));
            let sent = if self.encoded.is_empty() { text.as_bytes() } else { self.encoded.as_slice() };
            if let Some(line) = seen.line(named, &id, sent) {
                // The names in it are the client's own.
                let line = self.plan.guard.redact(&line)?.map_or(line, |(after, _)| after);
                let tokens_out = estimate_tokens(line.as_bytes());
                if tokens_out < outcome.tokens_out {
                    outcome = Outcome { status: Status::Duplicate, legend: false, tokens_out, ..outcome };
                    self.encoded = line.into_bytes();
                }
            }
        }
        let bytes_in = came.len() as u64;
        if let Some(part) = part {
            went_on(part, estimate_tokens(came.as_bytes()), &mut outcome, &mut self.encoded);
        }
        let mut bytes_out = bytes_in;
        if outcome.status.is_change() {
            // A secret must go and a bound must hold.
            let must = outcome.redacted > 0 || outcome.steps.has(Step::Cap);
            if self.replace(text_at, outcome.legend, must) {
                bytes_out = self.encoded.len() as u64;
            } else {
                let (tokens_out, steps) = (outcome.tokens_in, Steps::default());
                outcome = Outcome { status: Status::NotSmaller, legend: false, tokens_out, steps, ..outcome };
            }
        }
        if outcome.legend {
            self.owed = None;
        }
        self.note(place, outcome, bytes_in, bytes_out, None);
        if let (Some(traces), Some(item)) = (traces, self.report.items.last_mut()) {
            item.traces = traces;
        }
        Ok(outcome)
    }

    /// Puts the new text in the place of the old one; returns false if the client's own spelling has fewer bytes and the new text
    /// need not be sent.
    fn replace(&mut self, text: &Text, has_legend: bool, must: bool) -> bool {
        let place = text.place();
        // What the codec wrote is Unicode, like what it read.
        let encoded = std::str::from_utf8(&self.encoded).unwrap_or_default();
        let most = place.len() + self.owed.filter(|_| has_legend).map_or(0, |owed| 2 * owed.legend.len());
        let (before, after) = text.around();
        // What has more bytes than the client's own spelling is not used.
        let mut written = Vec::with_capacity((encoded.len() + encoded.len() / 4 + 16).min(place.len() + 16));
        written.extend_from_slice(before.as_bytes());
        span::quote_into(encoded, &mut written);
        written.extend_from_slice(after.as_bytes());
        let fits = must || written.len() <= most;
        if fits {
            self.edits.replace(place, written);
        }
        fits
    }

    fn note(&mut self, place: &Place<'_>, outcome: Outcome, bytes_in: u64, bytes_out: u64, memo: Option<Memo>) {
        let Outcome { status, legend, tokens_in, tokens_out, steps, redacted } = outcome;
        let saved = Saved::of([bytes_in, bytes_out], [tokens_in, tokens_out]);
        self.report.saved += saved;
        let (before, after) = place.text.around();
        self.report.items.push(Item {
            text: place.text.value.clone(),
            sent: 0..0,
            call: place.answer.id.clone(),
            arguments: place.source.arguments.clone(),
            status,
            legend,
            steps,
            redacted,
            traces: Vec::new(),
            memo,
            saved,
            family: place.source.family,
            program: place.source.origin.programs.name(),
            tool: place.source.tool,
            place: place.text.place(),
            around: (before.len(), after.len()),
        });
    }
}

/// Leaves a text as it came, but for its secrets.
fn stays(text: &str, status: Status, guard: &mut Guard, encoded: &mut Vec<u8>) -> Result<Outcome, RedactionFailed> {
    let mut outcome = Outcome::stays(status, estimate_tokens(text.as_bytes()));
    if let Some((after, count)) = guard.redact_plain(text)? {
        (outcome.status, outcome.redacted) = (Status::Abridged, count);
        outcome.tokens_out = estimate_tokens(after.as_bytes());
        outcome.steps.add(Step::Redact);
        *encoded = after.into_bytes();
    }
    Ok(outcome)
}

/// Notes that a text had a piece of a secret. The rest is in another part: this one must go, whatever else became of it.
fn went_on(part: Replaced, tokens_in: u64, outcome: &mut Outcome, encoded: &mut Vec<u8>) {
    (outcome.redacted, outcome.tokens_in) = (outcome.redacted + part.count, tokens_in);
    outcome.steps.add(Step::Redact);
    if !outcome.status.is_change() {
        outcome.status = Status::Abridged;
        outcome.tokens_out = estimate_tokens(part.text.as_bytes());
        *encoded = part.text.into_bytes();
    }
}
