//! One request and its response: the decisions, without any I/O.
//!
//! The layer and the plugin both call [`Engine::open`] with the head of a request, [`Engine::plan`] with the head of the
//! response, and then [`Engine::whole`], [`Engine::message`] or [`Engine::events`] with its body.

use crate::coding::Coding;
use crate::convert::transcode;
use crate::headers;
use crate::mcp::{self, Calls, Findings, Setting};
use crate::negotiate::{Ask, Negotiated, negotiate, prefer_json};
use crate::report::{Observer, Protocol, Report};
use crate::{Format, Policy, Saved, Skip};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use stc_wire::sse::Events;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A policy and the state that all requests under it share. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    policy: Policy,
    observer: Option<Arc<dyn Observer>>,
    held: AtomicUsize,
}

/// A request whose client opted in, or may have opted in inside the body.
#[derive(Clone, Debug)]
pub struct Exchange {
    ask: Option<Ask>,
    protocol: Protocol,
    path: Box<str>,
    /// Set when the response arrives.
    tool: Option<Box<str>>,
    request_id: Option<HeaderValue>,
    no_transform: bool,
    routed: bool,
}

/// What to do with a response.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Send it unchanged: the client did not opt in, or there is no body to convert.
    Leave,
    /// Send it unchanged, with the reason in a header.
    Skip(Ask, Skip),
    /// Collect the body and pass it to [`Engine::whole`].
    Whole(Job),
    /// Collect the body and pass it to [`Engine::message`].
    Message(Job),
    /// Pass the body to [`Engine::events`] chunk by chunk.
    Events(Job),
}

/// The conversion of one body.
#[derive(Clone, Debug)]
pub struct Job {
    ask: Ask,
    format: Format,
    coding: Coding,
    calls: Calls,
    status: StatusCode,
}

impl Exchange {
    /// Returns whether the request is MCP, so that its body is needed when the response arrives.
    #[must_use]
    pub fn is_mcp(&self) -> bool {
        self.protocol == Protocol::Mcp
    }
}

impl Job {
    /// Returns what the client prefers.
    #[must_use]
    pub const fn ask(&self) -> Ask {
        self.ask
    }
}

impl Engine {
    /// Creates an engine under this policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { shared: Arc::new(Shared { policy, observer: None, held: AtomicUsize::new(0) }) }
    }

    /// Creates an engine that reports every response to a client that opted in.
    #[must_use]
    pub fn observed(policy: Policy, observer: Arc<dyn Observer>) -> Self {
        Self { shared: Arc::new(Shared { policy, observer: Some(observer), held: AtomicUsize::new(0) }) }
    }

    /// Creates an engine with the same observer and another policy.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Self {
        let observer = self.shared.observer.clone();
        Self { shared: Arc::new(Shared { policy, observer, held: AtomicUsize::new(0) }) }
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// Reads the head of a request. Returns `None` if the client did not opt in: the response needs no attention.
    /// Otherwise changes the headers so that the upstream answers with plain JSON.
    pub fn open(&self, method: &Method, path: &str, headers: &mut HeaderMap) -> Option<Exchange> {
        let policy = self.policy();
        let ask = match negotiate(headers) {
            Negotiated::Asked(ask) => Some(ask),
            Negotiated::Silent if policy.mcp.enabled && policy.mcp.extension && mcp::may_prefer(method, headers) => {
                None
            }
            Negotiated::Silent | Negotiated::Refused => return None,
        };
        if method == Method::HEAD {
            return None;
        }
        let is_mcp = policy.mcp.enabled && mcp::is_mcp(method, headers);
        let exchange = Exchange {
            ask,
            protocol: if is_mcp { Protocol::Mcp } else { Protocol::Rest },
            path: path.into(),
            tool: None,
            request_id: headers.get("x-request-id").cloned(),
            no_transform: no_transform(headers),
            routed: policy.routes.admits(Some(path)),
        };
        if ask.is_some() && exchange.routed {
            prefer_json(headers);
        }
        Some(exchange)
    }

    /// Decides by the head of a response. `calls` reads the request's body; it is called for MCP only.
    pub fn plan(
        &self,
        exchange: &mut Exchange,
        calls: impl FnOnce() -> Calls,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Plan {
        let bodiless = [StatusCode::NO_CONTENT, StatusCode::PARTIAL_CONTENT, StatusCode::NOT_MODIFIED];
        if status.is_informational() || bodiless.contains(&status) {
            return Plan::Leave;
        }
        let calls = if exchange.protocol == Protocol::Mcp { calls() } else { Calls::default() };
        exchange.tool = calls.tool().map(Into::into);
        let Some(ask) = exchange.ask.or_else(|| calls.ask()) else { return Plan::Leave };
        match self.consider(exchange, ask, status, headers) {
            Err(skip) => Plan::Skip(ask, skip),
            Ok((kind, format, coding)) => {
                let job = Job { ask, format, coding, calls, status };
                match (kind, exchange.protocol) {
                    (Kind::Events, _) => Plan::Events(job),
                    (Kind::Json, Protocol::Mcp) => Plan::Message(job),
                    (Kind::Json, Protocol::Rest) => Plan::Whole(job),
                }
            }
        }
    }

    fn consider(
        &self,
        exchange: &Exchange,
        ask: Ask,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<(Kind, Format, Coding), Skip> {
        let policy = self.policy();
        if !exchange.routed || !(status.is_success() || policy.error_statuses) {
            return Err(Skip::Excluded);
        }
        let kind = Kind::of(headers, exchange.protocol)?;
        // RFC 9111 is about whole bodies in another coding. MCP servers send no-transform on every stream; there the
        // client itself requested the change, and its messages stay messages.
        if exchange.protocol == Protocol::Rest && (exchange.no_transform || no_transform(headers)) {
            return Err(Skip::NoTransform);
        }
        let coding = Coding::of(headers)?;
        if kind == Kind::Events && coding != Coding::Identity {
            return Err(Skip::Encoded);
        }
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        match length.filter(|_| kind == Kind::Json) {
            Some(length) if length > policy.max_bytes => return Err(Skip::TooLarge),
            Some(length) if length < policy.min_bytes && coding == Coding::Identity => return Err(Skip::TooSmall),
            _ => {}
        }
        Ok((kind, policy.choose(ask.format)?, coding))
    }

    /// Reserves room for a body in memory; `None` if `max_held` bodies are held already.
    #[must_use]
    pub fn hold(&self) -> Option<Held> {
        let most = self.policy().max_held;
        let more = |held: usize| (held < most).then_some(held + 1);
        self.shared.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Held { engine: self.clone() })
    }

    /// Converts a whole body and sets its headers. On a [`Skip`] the headers contain the reason, and the caller sends the
    /// original body.
    pub fn whole(&self, exchange: &Exchange, job: &Job, headers: &mut HeaderMap, body: &[u8]) -> Result<Bytes, Skip> {
        let began = Instant::now();
        let done = || {
            let plain = self.plain(job, body)?;
            if plain.len() < self.policy().min_bytes {
                return Err(Skip::TooSmall);
            }
            transcode(&plain, job.format, self.policy().verify)
        };
        match done() {
            Ok(coded) => {
                headers::whole(headers, job.format, coded.saved);
                self.tell(exchange, job.ask, Some(job), Ok(coded.saved), began.elapsed());
                Ok(Bytes::from(coded.bytes))
            }
            Err(skip) => {
                self.skip(exchange, job.ask, skip, headers);
                Err(skip)
            }
        }
    }

    /// Converts the texts of an MCP message or batch and sets the headers. Returns `None` if the caller is to send the
    /// original body.
    pub fn message(&self, exchange: &Exchange, job: &Job, headers: &mut HeaderMap, body: &[u8]) -> Option<Bytes> {
        let began = Instant::now();
        let mut findings = Findings::default();
        let plain = match self.plain(job, body) {
            Ok(plain) => plain,
            Err(skip) => {
                self.skip(exchange, job.ask, skip, headers);
                return None;
            }
        };
        let rewritten = mcp::rewrite(&plain, self.setting(job), &mut findings);
        if let Some(skip) = findings.skipped.filter(|_| findings.changed == 0) {
            self.skip(exchange, job.ask, skip, headers);
        }
        let rewritten = Bytes::from(rewritten?);
        headers::message(headers, rewritten.len());
        if findings.changed > 0 {
            self.tell(exchange, job.ask, Some(job), Ok(findings.saved), began.elapsed());
        }
        Some(rewritten)
    }

    /// Starts to convert a stream of MCP messages and sets the headers.
    #[must_use]
    pub fn events(&self, exchange: &Exchange, job: Job, headers: &mut HeaderMap) -> EventStream {
        headers::stream(headers);
        let events = Events::new(self.policy().max_bytes);
        EventStream { engine: self.clone(), exchange: exchange.clone(), job, events, held: None }
    }

    /// Records in the headers and for the observer why a response is sent unchanged.
    pub fn skip(&self, exchange: &Exchange, ask: Ask, skip: Skip, headers: &mut HeaderMap) {
        headers::skipped(headers, skip);
        self.tell(exchange, ask, None, Err(skip), Duration::ZERO);
    }

    /// Returns the decompressed body, if neither form is too large.
    fn plain<'a>(&self, job: &Job, body: &'a [u8]) -> Result<Cow<'a, [u8]>, Skip> {
        let most = self.policy().max_bytes;
        if body.len() > most { Err(Skip::TooLarge) } else { job.coding.decompress(body, most) }
    }

    fn setting<'a>(&'a self, job: &'a Job) -> Setting<'a> {
        Setting { policy: self.policy(), format: job.format, calls: &job.calls }
    }

    fn tell(&self, exchange: &Exchange, ask: Ask, job: Option<&Job>, outcome: Result<Saved, Skip>, took: Duration) {
        let Some(observer) = &self.shared.observer else { return };
        observer.transformed(&Report {
            source: ask.source,
            asked: ask.format,
            sent: job.filter(|_| outcome.is_ok()).map(|job| job.format),
            protocol: exchange.protocol,
            path: &exchange.path,
            request_id: exchange.request_id.as_ref().and_then(|id| id.to_str().ok()),
            tool: exchange.tool.as_deref(),
            status: job.map(|job| job.status),
            outcome,
            took,
        });
    }
}

/// A stream of MCP messages that is converted event by event.
pub struct EventStream {
    engine: Engine,
    exchange: Exchange,
    job: Job,
    events: Events,
    /// Room for the event that is held in part: an open stream that holds nothing reserves nothing.
    held: Option<Held>,
}

impl EventStream {
    /// Takes the next chunk and appends what can be sent.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let Self { engine, exchange, job, events, held } = self;
        let mut rewrite = |message: &[u8]| {
            let began = Instant::now();
            let mut findings = Findings::default();
            let rewritten = mcp::rewrite(message, engine.setting(job), &mut findings);
            if findings.changed > 0 {
                engine.tell(exchange, job.ask, Some(job), Ok(findings.saved), began.elapsed());
            } else if let Some(skip) = findings.skipped {
                engine.tell(exchange, job.ask, Some(job), Err(skip), began.elapsed());
            }
            rewritten
        };
        events.push(chunk, out, &mut rewrite);
        if !events.is_holding() {
            *held = None;
        } else if held.is_none() {
            *held = engine.hold();
            if held.is_none() {
                events.let_go(out);
                engine.tell(exchange, job.ask, Some(job), Err(Skip::Busy), Duration::ZERO);
            }
        }
    }

    /// Ends the stream: appends what was held.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.events.finish(out);
        self.held = None;
    }
}

/// Room for one body in memory, released on drop.
pub struct Held {
    engine: Engine,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.engine.shared.held.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Events,
}

impl Kind {
    fn of(headers: &HeaderMap, protocol: Protocol) -> Result<Self, Skip> {
        let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/stc+json" | "text/toon" => Err(Skip::Encoded),
            "text/event-stream" if protocol == Protocol::Mcp => Ok(Self::Events),
            "application/json" | "text/json" => Ok(Self::Json),
            other if other.ends_with("+json") => Ok(Self::Json),
            _ => Err(Skip::NotJson),
        }
    }
}

fn no_transform(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(CACHE_CONTROL).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|directive| directive.trim().eq_ignore_ascii_case("no-transform"))
}
