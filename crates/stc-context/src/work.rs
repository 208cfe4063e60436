//! The texts of one request, each prepared by itself or taken from its memo.

use crate::Legend;
use crate::dedup::Seen;
use crate::key::{Key, Secret};
use crate::layout::{Answer, Layout};
use crate::lossless::{Outcome, Owed, Rules};
use crate::memo::{self, Entry, Prints};
use crate::report::{Item, Memo, Report, Status};
use crate::source::{Source, Sources};
use crate::store::Write;
use crate::text::Text;
use stc::estimate_tokens;
use stc_wire::Saved;
use stc_wire::edit::Edits;
use stc_wire::span;
use std::collections::HashMap;
use std::sync::Arc;

/// Messages of the user shorter than this stay.
pub(crate) const SHORTEST_USER_TEXT: usize = 4_096;

/// The texts of one request on their way.
pub(crate) struct Work<'a> {
    body: &'a [u8],
    rules: Rules,
    owed: Option<Owed>,
    seen: Option<Seen>,
    memos: Option<Memos<'a>>,
    edits: &'a mut Edits,
    report: &'a mut Report,
    keep: Vec<Write>,
    /// Buffers that every text uses again.
    unescaped: Vec<u8>,
    encoded: Vec<u8>,
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
        rules: &Rules,
        keys: &[Key],
        texts: &[usize],
        found: &'a [Option<Arc<[u8]>>],
    ) -> Self {
        let values = found.iter().map(Option::as_deref).chain(std::iter::repeat(None));
        let by_text = texts.iter().copied().zip(keys.iter().copied().zip(values)).collect();
        Self { secret, settings: memo::of_settings(secret, rules), by_text }
    }
}

/// A text and where it belongs.
struct Place<'a> {
    number: usize,
    text: &'a Text,
    answer: &'a Answer,
    source: &'a Source,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        body: &'a [u8],
        rules: Rules,
        legend: Legend,
        dedup: bool,
        memos: Option<Memos<'a>>,
        edits: &'a mut Edits,
        report: &'a mut Report,
    ) -> Self {
        let legend = if legend == Legend::First { rules.format.legend() } else { "" };
        let owed = (!legend.is_empty()).then(|| Owed { legend, tokens: estimate_tokens(legend.as_bytes()) });
        let (unescaped, encoded) = (Vec::new(), Vec::new());
        let seen = dedup.then(Seen::default);
        Self { body, rules, owed, seen, memos, edits, report, keep: Vec::new(), unescaped, encoded }
    }

    /// Prepares all texts; returns the values to keep.
    pub(crate) fn all(mut self, layout: &Layout, sources: Sources) -> Vec<Write> {
        self.report.items.reserve(layout.texts.len());
        self.report.tools = sources.tools;
        for (answer, source) in layout.results.iter().zip(&sources.all) {
            for number in answer.texts.clone() {
                self.text(&Place { number, text: &layout.texts[number], answer, source });
            }
        }
        self.keep
    }

    fn text(&mut self, place: &Place<'_>) {
        // While the legend is owed, what becomes of a text depends on more than the text.
        let known = self.owed.is_none().then(|| self.memos.as_ref()?.by_text.get(&place.number).copied()).flatten();
        let Some((key, value)) = known else {
            self.fresh(place);
            return;
        };
        let Some(memos) = &self.memos else { return };
        let input = memo::of_input(memos.secret, &self.body[place.text.place()]);
        let prints = Prints { settings: memos.settings, input };
        let memo = match value.map(|value| memo::read(prints, value)) {
            Some(Ok(entry)) => {
                let Entry { outcome, bytes_in, bytes_out, written } = entry;
                if outcome.status.is_change() {
                    self.edits.replace(place.text.place(), written.to_vec());
                }
                let Outcome { status, tokens_in, tokens_out, .. } = outcome;
                let saved = Saved { bytes_in, bytes_out, tokens_in, tokens_out };
                return self.note(place, status, false, saved, Some(Memo::Reused));
            }
            Some(Err(memo)) => memo,
            None => Memo::Missed,
        };
        let before = self.edits.len();
        let outcome = self.fresh(place);
        if let Some(item) = self.report.items.last_mut() {
            item.memo = Some(memo);
            let written = if self.edits.len() > before { self.edits.last().unwrap_or_default() } else { &[] };
            let Saved { bytes_in, bytes_out, .. } = item.saved;
            let value = memo::write(prints, &Entry { outcome, bytes_in, bytes_out, written });
            self.keep.extend(value.map(|value| Write { key, value }));
        }
    }

    /// Prepares a text without a memo.
    fn fresh(&mut self, place: &Place<'_>) -> Outcome {
        let text_at = place.text;
        self.encoded.clear();
        let Some(text) = text_at.read(self.body, &mut self.unescaped) else {
            let length = text_at.value.len() as u64;
            let saved = Saved { bytes_in: length, bytes_out: length, ..Saved::default() };
            self.note(place, Status::Invalid, false, saved, None);
            return Outcome { status: Status::Invalid, legend: false, tokens_in: 0, tokens_out: 0 };
        };
        let short = place.answer.is_user && text.len() < SHORTEST_USER_TEXT;
        let skipped = place.source.skipped.or(short.then_some(Status::Small));
        let mut outcome = match skipped {
            Some(status) => {
                let tokens = estimate_tokens(text.as_bytes());
                Outcome { status, legend: false, tokens_in: tokens, tokens_out: tokens }
            }
            None => self.rules.apply(text, self.owed, &mut self.encoded),
        };
        if let (Some(seen), None, Some(id)) = (&mut self.seen, skipped, &place.answer.id) {
            let id = span::string(self.body, id).unwrap_or_default();
            let named = place.source.tool.map(|tool| (tool, self.report.tools[tool].as_str()));
            let sent = if self.encoded.is_empty() { text.as_bytes() } else { self.encoded.as_slice() };
            if let Some(line) = seen.line(named, &id, sent) {
                let tokens_out = estimate_tokens(line.as_bytes());
                if tokens_out < outcome.tokens_out {
                    outcome = Outcome { status: Status::Duplicate, legend: false, tokens_out, ..outcome };
                    self.encoded = line.into_bytes();
                }
            }
        }
        let bytes_in = text.len() as u64;
        let mut bytes_out = bytes_in;
        if outcome.status.is_change() {
            if self.replace(text_at, outcome.legend) {
                bytes_out = self.encoded.len() as u64;
            } else {
                let tokens_out = outcome.tokens_in;
                outcome = Outcome { status: Status::NotSmaller, legend: false, tokens_out, ..outcome };
            }
        }
        if outcome.legend {
            self.owed = None;
        }
        let Outcome { status, legend, tokens_in, tokens_out } = outcome;
        self.note(place, status, legend, Saved { bytes_in, bytes_out, tokens_in, tokens_out }, None);
        outcome
    }

    /// Puts the new text in the place of the old one; returns false if the client's own spelling has fewer bytes.
    fn replace(&mut self, text: &Text, has_legend: bool) -> bool {
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
        let fits = written.len() <= most;
        if fits {
            self.edits.replace(place, written);
        }
        fits
    }

    fn note(&mut self, place: &Place<'_>, status: Status, legend: bool, saved: Saved, memo: Option<Memo>) {
        self.report.saved += saved;
        let (before, after) = place.text.around();
        self.report.items.push(Item {
            text: place.text.value.clone(),
            sent: 0..0,
            call: place.answer.id.clone(),
            arguments: place.source.arguments.clone(),
            status,
            legend,
            memo,
            saved,
            family: place.source.family,
            tool: place.source.tool,
            place: place.text.place(),
            around: (before.len(), after.len()),
        });
    }
}
