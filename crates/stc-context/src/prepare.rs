//! One request: its options are read and removed, its tool results converted, everything else is the client's own bytes.

use crate::chain::Chain;
use crate::everywhere::{self, Everywhere, Places};
use crate::key::{Caller, Key, Secret, Session};
use crate::layout::{Counted, Layout, Slot};
use crate::lossless::{Encode, Rules};
use crate::options::{Allowed, Choice, SkipTools};
use crate::reader::{Model, Reading};
use crate::redaction::{Finder, Guard, Redaction};
use crate::refused::{RedactionFailed, Refused};
use crate::report::{Report, Status};
use crate::schemas;
use crate::settings::MOST_LINES;
use crate::source::Sources;
use crate::store::Write;
use crate::text::Text;
use crate::work::{Memos, Plan, Work};
use crate::{Api, Endpoint, Format, FormatChoice, HeaderOptions, Mode, Reader, RedactWhen, Schemas, Settings};
use memchr::memmem;
use stc_wire::edit::Edits;
use stc_wire::span::{self, Member, Span};
use stc_wire::transcode;
use std::collections::HashSet;
use std::sync::Arc;

/// The settings of a route, compiled. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    settings: Arc<Settings>,
    skip: Arc<SkipTools>,
    toon: Option<Encode>,
    secret: Secret,
    finder: Finder,
    traced: bool,
}

/// A request to a model.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The API and its path.
    pub endpoint: Endpoint,
    /// The body, without a content coding.
    pub body: &'a [u8],
    /// The headers that are options.
    pub headers: HeaderOptions<'a>,
    /// The model, if the path names it: [`model_in_path`](crate::model_in_path). Otherwise it is the body's `model`.
    pub model: Option<&'a str>,
}

impl<'a> Request<'a> {
    /// Returns a request without options in headers, whose path names no model.
    #[must_use]
    pub fn new(endpoint: impl Into<Endpoint>, body: &'a [u8]) -> Self {
        Self { endpoint: endpoint.into(), body, headers: HeaderOptions::default(), model: None }
    }
}

/// A prepared request.
#[derive(Clone, Debug)]
pub struct Done {
    /// The body to send; `None` for the body that came.
    pub body: Option<Vec<u8>>,
    /// What became of its tool results.
    pub report: Report,
    /// Values for a store, from which later requests of the session are prepared with less work.
    pub keep: Vec<Write>,
}

/// A request that was read, and waits for what a store has of its session.
#[derive(Debug)]
pub struct Begun {
    report: Report,
    choice: Choice,
    layout: Layout,
    edits: Edits,
    sources: Sources,
    /// The names of the memos that may help, and the text of each.
    keys: Vec<Key>,
    texts: Vec<usize>,
    length: usize,
}

impl Begun {
    /// Returns the format that JSON becomes.
    fn format(&self) -> Format {
        format_of(&self.choice, &self.report)
    }

    /// Returns the names of the values that [`Context::finish`] can use. None without a session.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    fn left(api: Api, choice: Choice, why: Option<Status>) -> Self {
        let report = Report::new(api, choice.mode, why);
        let (layout, edits, sources) = (Layout::default(), Edits::default(), Sources::default());
        Self { report, choice, layout, edits, sources, keys: Vec::new(), texts: Vec::new(), length: 0 }
    }
}

impl Context {
    /// Compiles settings. An error names the setting.
    pub fn new(settings: Settings) -> Result<Self, String> {
        Self::with_toon(settings, None)
    }

    /// Compiles settings for a host that can write TOON.
    pub fn with_toon(settings: Settings, toon: Option<Encode>) -> Result<Self, String> {
        if settings.max_bytes < settings.min_bytes {
            return Err("`context.max_bytes` is less than `context.min_bytes`".to_owned());
        }
        if settings.format == FormatChoice::Toon && toon.is_none() {
            return Err("`context.format`: this program does not write toon".to_owned());
        }
        if let Some(line) = settings.readers.iter().find(|line| line.format == Format::Toon && toon.is_none()) {
            return Err(format!("`context.readers`: `{}`: this program does not write toon", line.model));
        }
        if settings.readers.len() > MOST_LINES {
            return Err(format!("`context.readers`: expected at most {MOST_LINES} lines"));
        }
        let skip = SkipTools::new(&settings.skip_tools).map_err(|why| format!("`context.skip_tools`: {why}"))?;
        let secret = Secret::new([0; 16]);
        let finder = Finder::Rules(settings.redact.redactor()?);
        Ok(Self { settings: Arc::new(settings), skip: Arc::new(skip), toon, secret, finder, traced: false })
    }

    /// Returns the same with another search for secrets, which is required or not.
    #[cfg(feature = "__internal")]
    #[doc(hidden)]
    #[must_use]
    pub fn with_redact(self, redact: crate::Redact, required: bool) -> Self {
        Self { finder: Finder::Test(redact, required), ..self }
    }

    /// Returns a new context with the same settings.
    #[cfg(feature = "__internal")]
    pub(crate) fn fresh(&self) -> Self {
        let fresh = Self::new((*self.settings).clone()).expect("the settings were good before");
        Self { finder: self.finder.clone(), ..fresh }
    }

    /// Returns the same with a format that is fixed.
    #[cfg(feature = "__internal")]
    pub(crate) fn with_format(&self, format: Format) -> Self {
        let settings = Settings { format: format.into(), ..(*self.settings).clone() };
        Self { settings: Arc::new(settings), ..self.clone() }
    }

    /// Returns the same with reports that have what each step did to each text.
    #[must_use]
    pub fn with_traces(self) -> Self {
        Self { traced: true, ..self }
    }

    /// Returns the same with the secret by which sessions are named. Without it, names can be guessed.
    #[must_use]
    pub fn with_secret(self, secret: Secret) -> Self {
        Self { secret, ..self }
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns whether a body may have to change: it may have tool results, or options of its own. A body of which this is
    /// false can be sent as it came, and [`prepare`](Self::prepare) says the same.
    #[must_use]
    pub fn may_change(&self, api: Api, body: &[u8]) -> bool {
        let has_options = || {
            let named = |name: &str| memmem::find(body, name.as_bytes()).is_some();
            self.settings.options && (named("\"_stc\"") || named("\"_forge\""))
        };
        let has_user_text = self.settings.user_text && body.len() >= crate::work::SHORTEST_USER_TEXT;
        let has_schemas = || self.settings.schemas == Schemas::Minify && schemas::may_have(body);
        has_user_text || self.redacts() || api.may_have_results(body) || has_options() || has_schemas()
    }

    /// Returns whether a request must not be sent if it cannot be looked through for secrets.
    #[must_use]
    pub fn requires_redaction(&self) -> bool {
        self.redaction(self.settings.mode, None) == Redaction::Required
    }

    fn redacts_by_mode(&self) -> bool {
        self.settings.redact.enabled == RedactWhen::ByMode
    }

    /// Returns whether requests are looked through for secrets, unless they choose something else.
    #[must_use]
    pub fn redacts(&self) -> bool {
        self.redaction(self.settings.mode, None).is_on()
    }

    /// Returns whether secrets are replaced in a request of this mode; `wanted` is its own option.
    fn redaction(&self, mode: Mode, wanted: Option<bool>) -> Redaction {
        match Redaction::of(&self.settings, mode, wanted) {
            Redaction::On if self.finder.requires() => Redaction::Required,
            redaction => redaction,
        }
    }

    /// Prepares a request. An error is for the client, as an answer with [its status](Refused::status).
    pub fn prepare(&self, request: Request<'_>) -> Result<Done, Refused> {
        self.prepare_messages(request, &[request.endpoint.api])
    }

    /// Replaces the secrets in a body that is no request of a known path; `api` is that of the report. Nothing else changes.
    pub fn look_through(&self, api: Api, body: &[u8]) -> Result<Done, Refused> {
        let begun = self.begin_unknown(api, body)?;
        self.finish(body, begun, &[])
    }

    /// Reads a body that is no request of a known path: the first half of [`look_through`](Self::look_through). The second is
    /// [`finish`](Self::finish).
    pub fn begin_unknown(&self, api: Api, body: &[u8]) -> Result<Begun, Refused> {
        let allowed = Allowed { settings: &self.settings, skip: &self.skip, toon: self.toon.is_some() };
        let choice = Choice { schemas: Schemas::Keep, ..allowed.choice() };
        match self.redaction(choice.mode, None) {
            Redaction::Off => Ok(Begun::left(api, choice, None)),
            redaction => match self.unreadable(body) {
                None => Ok(Begun { length: body.len(), ..Begun::left(api, choice, None) }),
                Some(why) => Self::unsearched(api, choice, redaction, why),
            },
        }
    }

    /// Returns why a body is not read, if it is not.
    fn unreadable(&self, body: &[u8]) -> Option<Status> {
        match () {
            () if body.len() > self.settings.longest_request() => Some(Status::Large),
            // The ranges of everything that is found are reliable in JSON only.
            () if !transcode::is_json(body) => Some(Status::Invalid),
            () => None,
        }
    }

    /// Leaves a request alone: what is not read is not looked through either.
    fn unsearched(api: Api, choice: Choice, redaction: Redaction, why: Status) -> Result<Begun, Refused> {
        let mut begun = Begun::left(api, choice, Some(why));
        match redaction {
            Redaction::Required => return Err(Refused::Redaction),
            Redaction::On => begun.report.redaction_failures = 1,
            Redaction::Off => {}
        }
        Ok(begun)
    }

    /// Prepares a request whose messages may be of several APIs.
    pub(crate) fn prepare_messages(&self, request: Request<'_>, apis: &[Api]) -> Result<Done, Refused> {
        let begun = self.begin_rows(request, apis, None)?;
        self.finish(request.body, begun, &[])
    }

    /// Reads a request: the first half of [`prepare`](Self::prepare), for a host that keeps values from one request to the next.
    /// The second is [`finish`](Self::finish).
    pub fn begin(&self, request: Request<'_>, caller: Caller<'_>) -> Result<Begun, Refused> {
        self.begin_rows(request, &[request.endpoint.api], Some(caller))
    }

    fn begin_rows(&self, request: Request<'_>, apis: &[Api], caller: Option<Caller<'_>>) -> Result<Begun, Refused> {
        let allowed = Allowed { settings: &self.settings, skip: &self.skip, toon: self.toon.is_some() };
        let mut choice = allowed.choice();
        if self.settings.options {
            allowed.headers(&request.headers, &mut choice)?;
        }
        let body = request.body;
        let api = request.endpoint.api;
        let redaction = self.redaction(choice.mode, None);
        if !redaction.is_on() && !apis.iter().any(|api| self.may_change(*api, body)) {
            return Ok(Begun::left(api, choice, None));
        }
        if let Some(why) = self.unreadable(body) {
            return Self::unsearched(api, choice, redaction, why);
        }
        let counted = Counted { user_text: self.settings.user_text, gemini_wrap: self.settings.gemini_wrap };
        let Some(layout) = Layout::read(apis, counted, body) else {
            return Self::unsearched(api, choice, redaction, Status::Invalid);
        };
        if request.endpoint.versioned && !layout.versioned {
            // A request of an API that is not known: only its secrets change.
            let length = if redaction.is_on() { body.len() } else { 0 };
            let choice = Choice { schemas: Schemas::Keep, ..choice };
            return Ok(Begun { length, ..Begun::left(api, choice, None) });
        }
        let mut edits = Edits::default();
        if self.settings.options {
            allowed.body(body, &layout.stc, &layout.forge, &mut choice)?;
            if layout.has_options() {
                remove_options(body, &layout, &mut edits);
            }
        }
        let is_off = choice.mode == Mode::Disabled && !self.redaction(choice.mode, choice.redact).is_on();
        let skipped = is_off.then_some(Status::Skipped);
        let mut begun = Begun { layout, edits, length: body.len(), ..Begun::left(api, choice, skipped) };
        if skipped.is_none() {
            if begun.choice.mode != Mode::Disabled {
                let model = Model::of(request.model, body, &begun.layout.model);
                begun.report.reading = Reading::of(&self.settings, begun.choice.format, &model);
            }
            let programs = begun.choice.mode.is_lossy();
            begun.sources = Sources::read(body, &begun.layout, &begun.choice.skip, &self.settings, programs);
            if let Some(caller) = caller {
                self.name_memos(body, caller, &mut begun);
            }
        }
        Ok(begun)
    }

    /// Names the memos of a request that has a session.
    fn name_memos(&self, body: &[u8], caller: Caller<'_>, begun: &mut Begun) {
        // A duplicate depends on the other results of its request.
        if !self.settings.memo.enabled || !begun.choice.memo || begun.choice.dedup {
            return;
        }
        let api = begun.report.api;
        let Some(session) = crate::session::of(&self.settings, api, body, &begun.layout, &begun.choice) else { return };
        let session = Session::new(&self.secret, caller, api.name(), &session);
        begun.report.session = Some(session.fingerprint());
        let format = begun.format();
        for (answer, source) in begun.layout.results.iter().zip(&begun.sources.all) {
            let id = answer.id.as_ref().filter(|_| source.skipped.is_none());
            let Some(id) = id.and_then(|id| span::string(body, id)) else { continue };
            for (part, text) in answer.texts.clone().enumerate() {
                if begun.layout.texts[text].value.len() >= begun.choice.min_bytes {
                    begun.keys.push(session.memo(&self.secret, format, id.as_bytes(), part));
                    begun.texts.push(text);
                }
            }
        }
    }

    /// Prepares a request that was read; `found` has the values of [`Begun::keys`], or nothing. The body must be the one that
    /// was read. The error is that redaction failed where it is required.
    pub fn finish(&self, body: &[u8], begun: Begun, found: &[Option<Arc<[u8]>>]) -> Result<Done, Refused> {
        let Begun { mut report, choice, layout, mut edits, sources, keys, texts, length } = begun;
        if length == 0 {
            return Ok(Done { body: None, report, keep: Vec::new() });
        }
        assert_eq!(length, body.len(), "another body was read");
        let mut keep = Vec::new();
        if report.left.is_none() {
            let redaction = self.redaction(choice.mode, choice.redact);
            let start = layout.conversation.once().map_or(0, |rows| rows.start);
            let mut plan = Plan {
                last: start.saturating_add(self.settings.max_request_bytes),
                spares_programs: redaction == Redaction::On && choice.redact.is_none() && self.redacts_by_mode(),
                ..self.plan(&choice, format_of(&choice, &report), redaction)
            };
            if choice.schemas == Schemas::Minify && choice.mode != Mode::Disabled {
                let mut descriptions = schemas::minified(report.api, body);
                plan.guard.redact_written(&mut descriptions)?;
                report.values = descriptions.sizes();
                edits.append(descriptions);
            }
            let replaced = match redaction.is_on() {
                true => secrets(body, &layout, &sources, &mut plan, &mut edits)?,
                false => Everywhere::default(),
            };
            report.values.extend(replaced.values);
            let memos = || {
                let secrets = redaction.described(&self.settings.redact);
                Memos::new(&self.secret, &plan, &secrets, &keys, &texts, found)
            };
            let memos = (!keys.is_empty()).then(memos);
            keep = Work::new(body, plan, memos, &mut edits, &mut report)
                .with_parts(replaced.texts)
                .all(&layout, sources)?;
        }
        place(&mut report, &edits);
        let has_edits = !edits.is_empty();
        let body = if has_edits { edits.apply(body) } else { None };
        // Only a defect makes edits overlap.
        if has_edits && body.is_none() {
            match self.redaction(choice.mode, choice.redact) {
                Redaction::Required => return Err(Refused::Redaction),
                Redaction::On => report.redaction_failures += 1,
                Redaction::Off => {}
            }
        }
        Ok(Done { body, report, keep })
    }

    /// Returns what applies to all texts of a request.
    fn plan(&self, choice: &Choice, format: Format, redaction: Redaction) -> Plan {
        let settings = &*self.settings;
        Plan {
            rules: Rules {
                format,
                min_bytes: choice.min_bytes,
                max_bytes: settings.max_bytes,
                min_saving: settings.min_saving,
                verify: settings.verify,
                toon: self.toon,
            },
            chain: Chain {
                mode: choice.mode,
                cap: choice.cap,
                excerpt: settings.excerpt.lines,
                dictionary: choice.method.into(),
            },
            guard: Guard::new(self.finder.clone(), redaction),
            legend: settings.legend,
            dedup: choice.dedup,
            last: usize::MAX,
            spares_programs: false,
            traced: self.traced,
        }
    }
}

/// Returns the format that JSON becomes: the one that is fixed, or that of the reader.
fn format_of(choice: &Choice, report: &Report) -> Format {
    let by_model = || report.reading.as_ref().map(|reading| reading.format);
    // A request that is not read as one of an API has no texts that are converted.
    choice.format.fixed().or_else(by_model).unwrap_or(Reader::Small.format())
}

/// Replaces the secrets outside the texts and values that are prepared by themselves.
fn secrets(
    body: &[u8],
    layout: &Layout,
    sources: &Sources,
    plan: &mut Plan,
    edits: &mut Edits,
) -> Result<Everywhere, RedactionFailed> {
    let spared = if plan.spares_programs { spared(layout, sources) } else { Vec::new() };
    let guard = &mut plan.guard;
    let texts: HashSet<usize> = layout.texts.iter().map(|text| text.value.start).collect();
    let calls = layout.calls.iter().filter_map(|call| call.arguments.as_ref()).chain(&layout.values).cloned();
    let results = layout.results.iter().flat_map(|answer| &layout.texts[answer.texts.clone()]).map(Text::place);
    let taken = edits.sizes().into_iter().map(|(span, _)| span).chain(calls).chain(results).collect();
    let keeps_credentials = !guard.is_required();
    let is_text = |place: &Span| texts.contains(&place.start);
    everywhere::replaced(body, Places { taken, spared }, is_text, keeps_credentials, (guard, edits))
}

/// Returns the results that programs read, and the texts of results with citations, in order.
fn spared(layout: &Layout, sources: &Sources) -> Vec<Span> {
    let mut all = Vec::new();
    for (answer, source) in layout.results.iter().zip(&sources.all) {
        match source.skipped {
            Some(Status::ForAProgram) => all.push(answer.place.clone()),
            _ => {
                let texts = layout.texts[answer.texts.clone()].iter().map(Text::place);
                all.extend(texts.filter(|text| layout.cited.contains(&text.start)));
            }
        }
    }
    all.sort_unstable_by_key(|span| span.start);
    all
}

/// Computes where the texts are in the body that is sent.
fn place(report: &mut Report, edits: &Edits) {
    let mut edits = edits.sizes().into_iter().peekable();
    // What the edits so far added to the length of the body, and what they removed from it.
    let (mut added, mut removed) = (0, 0);
    for item in &mut report.items {
        while let Some((span, length)) = edits.next_if(|(span, _)| span.end <= item.place.start) {
            (added, removed) = (added + length, removed + span.len());
        }
        let start = item.place.start + added - removed;
        item.sent = match edits.peek() {
            Some((span, length)) if *span == item.place => start + item.around.0..start + length - item.around.1,
            _ => start + (item.text.start - item.place.start)..start + (item.text.end - item.place.start),
        };
    }
}

/// Removes the members that are options: `_stc`, and of `_forge` what belongs to this program, or all of it if that is all.
fn remove_options(body: &[u8], layout: &Layout, edits: &mut Edits) {
    let Some(document) = span::document(body) else { return };
    let is_at = |member: &Member, slot: &Slot| slot.once() == Some(&member.value);
    let names = ["tool_output_compression", "schema_compression"];
    let is_ours = |member: &Member| names.iter().any(|name| span::is_string(body, &member.key, name));
    let forge = layout.forge.once().cloned();
    let ours = forge.iter().flat_map(|forge| span::members(body, forge.clone())).filter(is_ours).count();
    let all = forge.iter().flat_map(|forge| span::members(body, forge.clone())).count();
    let whole = ours > 0 && ours == all;
    edits.remove_members(body, &document, |member| {
        is_at(member, &layout.stc) || (whole && is_at(member, &layout.forge))
    });
    if let Some(forge) = forge.filter(|_| ours < all) {
        edits.remove_members(body, &forge, is_ours);
    }
}
