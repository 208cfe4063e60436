//! One request: its options are read and removed, its tool results converted, everything else is the client's own bytes.

use crate::dedup::Seen;
use crate::family::Family;
use crate::layout::{Answer, Layout, Slot};
use crate::lossless::{Encode, Outcome, Owed, Rules};
use crate::options::{Allowed, Choice, SkipTools};
use crate::report::{Item, Report, Status};
use crate::{Api, BadOption, Endpoint, Format, HeaderOptions, Legend, Mode, Settings};
use memchr::memmem;
use stc::estimate_tokens;
use stc_wire::Saved;
use stc_wire::edit::Edits;
use stc_wire::span::{self, Member, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// The settings of a route, compiled. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    settings: Arc<Settings>,
    skip: Arc<SkipTools>,
    toon: Option<Encode>,
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
}

/// A prepared request.
#[derive(Clone, Debug)]
pub struct Done {
    /// The body to send; `None` for the body that came.
    pub body: Option<Vec<u8>>,
    /// What became of its tool results.
    pub report: Report,
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
        if settings.format == Format::Toon && toon.is_none() {
            return Err("`context.format`: this program does not write toon".to_owned());
        }
        let skip = SkipTools::new(&settings.skip_tools).map_err(|why| format!("`context.skip_tools`: {why}"))?;
        Ok(Self { settings: Arc::new(settings), skip: Arc::new(skip), toon })
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
        api.may_have_results(body) || has_options()
    }

    /// Prepares a request. An error is for the client, as an answer with status 400.
    pub fn prepare(&self, request: Request<'_>) -> Result<Done, BadOption> {
        self.prepare_rows(request, &[request.endpoint.api])
    }

    /// Prepares a request whose rows may be of several APIs.
    pub(crate) fn prepare_rows(&self, request: Request<'_>, apis: &[Api]) -> Result<Done, BadOption> {
        let allowed = Allowed { settings: &self.settings, skip: &self.skip, toon: self.toon.is_some() };
        let mut choice = allowed.choice();
        if self.settings.options {
            allowed.headers(&request.headers, &mut choice)?;
        }
        let body = request.body;
        let left =
            |choice: &Choice, why| Ok(Done { body: None, report: Report::new(request.endpoint.api, choice.mode, why) });
        if !apis.iter().any(|api| self.may_change(*api, body)) {
            return left(&choice, None);
        }
        if body.len() > self.settings.max_request_bytes {
            return left(&choice, Some(Status::Large));
        }
        // The ranges below are reliable in JSON only.
        if stc::validate(body).is_err() {
            return left(&choice, Some(Status::Invalid));
        }
        let Some(layout) = Layout::read(apis, body) else { return left(&choice, Some(Status::Invalid)) };
        if request.endpoint.versioned && !layout.versioned {
            return left(&choice, None);
        }
        let mut edits = Edits::default();
        if self.settings.options {
            allowed.body(body, &layout.stc, &layout.forge, &mut choice)?;
            if layout.has_options() {
                remove_options(body, &layout, &mut edits);
            }
        }
        let skipped = (choice.mode == Mode::Disabled).then_some(Status::Skipped);
        let mut report = Report::new(request.endpoint.api, choice.mode, skipped);
        if skipped.is_none() {
            let (edits, report) = (&mut edits, &mut report);
            self.work(body, &choice, edits, report).all(&layout);
        }
        let body = if edits.is_empty() { None } else { edits.apply(body) };
        Ok(Done { body, report })
    }

    fn work<'a>(
        &'a self,
        body: &'a [u8],
        choice: &'a Choice,
        edits: &'a mut Edits,
        report: &'a mut Report,
    ) -> Work<'a> {
        let settings = &*self.settings;
        let rules = Rules {
            format: choice.format,
            min_bytes: choice.min_bytes,
            max_bytes: settings.max_bytes,
            min_saving: settings.min_saving,
            verify: settings.verify,
            toon: self.toon,
        };
        let legend = if settings.legend == Legend::First { choice.format.legend() } else { "" };
        let owed = (!legend.is_empty()).then(|| Owed { legend, tokens: estimate_tokens(legend.as_bytes()) });
        let seen = choice.dedup.then(Seen::default);
        let buffers = Buffers::default();
        Work {
            body,
            settings,
            choice,
            rules,
            owed,
            seen,
            edits,
            report,
            tools: HashMap::new(),
            families: Vec::new(),
            buffers,
        }
    }
}

/// Removes the members that are options: `_stc`, and of `_forge` what belongs to this program, or all of it if that is all.
fn remove_options(body: &[u8], layout: &Layout<'_>, edits: &mut Edits) {
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

/// The texts of one request on their way.
struct Work<'a> {
    body: &'a [u8],
    settings: &'a Settings,
    choice: &'a Choice,
    rules: Rules,
    owed: Option<Owed>,
    seen: Option<Seen>,
    edits: &'a mut Edits,
    report: &'a mut Report,
    /// The tools by name: their places in the report.
    tools: HashMap<String, usize>,
    /// The families of the tools in the report.
    families: Vec<Family>,
    buffers: Buffers,
}

/// The result that a text belongs to.
struct Source<'a> {
    answer: &'a Answer,
    /// The arguments of its call.
    arguments: Option<&'a Span>,
    /// The place of the tool's name in the report.
    tool: Option<usize>,
    family: Family,
}

/// Buffers that every text uses again.
#[derive(Default)]
struct Buffers {
    text: Vec<u8>,
    encoded: Vec<u8>,
}

impl Work<'_> {
    fn all(&mut self, layout: &Layout<'_>) {
        self.report.items.reserve(layout.texts.len());
        for answer in &layout.results {
            let tool = self.tool(answer, layout);
            let arguments = answer.call.and_then(|call| layout.calls[call].arguments.as_ref());
            let family = self.family(tool, arguments);
            let source = Source { answer, arguments, tool, family };
            let skipped = self.skipped(&source);
            for text in &layout.texts[answer.texts.clone()] {
                self.text(text, &source, skipped);
            }
        }
    }

    /// Returns the place of the tool's name in the report.
    fn tool(&mut self, answer: &Answer, layout: &Layout<'_>) -> Option<usize> {
        let called = || answer.call.and_then(|call| layout.calls[call].name.as_ref());
        let name = span::string(self.body, answer.name.as_ref().or_else(called)?)?;
        if let Some(place) = self.tools.get(&*name) {
            return Some(*place);
        }
        self.families.push(Family::of_tool(&name));
        self.report.tools.push(name.clone().into_owned());
        self.tools.insert(name.into_owned(), self.report.tools.len() - 1);
        Some(self.report.tools.len() - 1)
    }

    fn family(&self, tool: Option<usize>, arguments: Option<&Span>) -> Family {
        let family = tool.map_or(Family::Generic, |tool| self.families[tool]);
        match (family, arguments) {
            (Family::Bash, Some(arguments)) => {
                command(&self.body[arguments.clone()]).map_or(family, |line| Family::of_command(&line))
            }
            _ => family,
        }
    }

    fn skipped(&self, source: &Source<'_>) -> Option<Status> {
        let name = source.tool.map(|tool| self.report.tools[tool].as_str());
        let unknown = self.settings.skip_unknown && source.tool.is_none();
        match () {
            () if unknown || self.choice.skip.has(source.family, name) => Some(Status::Skipped),
            () if source.answer.is_error && !self.settings.errors => Some(Status::ErrorResult),
            () => None,
        }
    }

    fn text(&mut self, place: &Span, source: &Source<'_>, skipped: Option<Status>) {
        let Buffers { text: unescaped, encoded } = &mut self.buffers;
        encoded.clear();
        let Some(text) = span::string_in(self.body, place, unescaped) else {
            let saved = Saved { bytes_in: place.len() as u64, bytes_out: place.len() as u64, ..Saved::default() };
            return self.note(place, source, Status::Invalid, false, saved);
        };
        let mut outcome = match skipped {
            Some(status) => {
                let tokens = estimate_tokens(text.as_bytes());
                Outcome { status, legend: false, tokens_in: tokens, tokens_out: tokens }
            }
            None => self.rules.apply(text, self.owed, encoded),
        };
        if let (Some(seen), None, Some(id)) = (&mut self.seen, skipped, &source.answer.id) {
            let id = span::string(self.body, id).unwrap_or_default();
            let named = source.tool.map(|tool| (tool, self.report.tools[tool].as_str()));
            let sent = if encoded.is_empty() { text.as_bytes() } else { encoded.as_slice() };
            if let Some(line) = seen.line(named, &id, sent) {
                let tokens_out = estimate_tokens(line.as_bytes());
                if tokens_out < outcome.tokens_out {
                    outcome = Outcome { status: Status::Duplicate, legend: false, tokens_out, ..outcome };
                    *encoded = line.into_bytes();
                }
            }
        }
        let bytes_in = text.len() as u64;
        let mut bytes_out = bytes_in;
        if outcome.status.is_change() {
            bytes_out = encoded.len() as u64;
            // What the codec wrote is Unicode, like what it read.
            let text = std::str::from_utf8(encoded).unwrap_or_default();
            // What has more bytes than the client's own spelling is not used.
            let mut quoted = Vec::with_capacity((text.len() + text.len() / 4 + 16).min(place.len() + 16));
            span::quote_into(text, &mut quoted);
            let legend = self.owed.filter(|_| outcome.legend).map_or(0, |owed| 2 * owed.legend.len());
            if quoted.len() > place.len() + legend {
                // The client's spelling of the text is shorter than any string of the new one.
                outcome =
                    Outcome { status: Status::NotSmaller, legend: false, tokens_out: outcome.tokens_in, ..outcome };
                bytes_out = bytes_in;
            } else {
                self.edits.replace(place.clone(), quoted);
            }
        }
        if outcome.legend {
            self.owed = None;
        }
        let Outcome { status, legend, tokens_in, tokens_out } = outcome;
        self.note(place, source, status, legend, Saved { bytes_in, bytes_out, tokens_in, tokens_out });
    }

    fn note(&mut self, place: &Span, source: &Source<'_>, status: Status, legend: bool, saved: Saved) {
        self.report.saved += saved;
        self.report.items.push(Item {
            text: place.clone(),
            call: source.answer.id.clone(),
            arguments: source.arguments.cloned(),
            status,
            legend,
            saved,
            family: source.family.name(),
            tool: source.tool,
        });
    }
}

/// Returns the command line in the arguments of a shell's call: an object, as JSON or as a string of JSON, with a member
/// `command`, `cmd` or `script` that is a string or a list of words.
fn command(arguments: &[u8]) -> Option<String> {
    let inner;
    let mut object = arguments;
    if arguments.first() == Some(&b'"') {
        inner = span::string(arguments, &(0..arguments.len()))?.into_owned();
        if !inner.trim_start().starts_with('{') {
            return Some(inner); // a tool of free text
        }
        object = inner.as_bytes();
    }
    let whole = span::document(object)?;
    let value = ["command", "cmd", "script"].iter().find_map(|key| span::member(object, whole.clone(), key))?.value;
    if object[value.start] == b'[' {
        let words: Vec<_> = span::elements(object, value).filter_map(|word| span::string(object, &word)).collect();
        return Some(words.join(" "));
    }
    span::string(object, &value).map(String::from)
}
