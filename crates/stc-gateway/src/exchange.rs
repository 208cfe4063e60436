//! One request and its response, decided without touching a body or a socket.
//!
//! The layer and the plugin both drive this: [`Engine::open`] when the request comes, [`Engine::plan`] when the head of
//! the response has come, and [`Engine::whole`], [`Engine::message`] or [`Engine::events`] for its body.

use crate::coding::Coding;
use crate::label;
use crate::mcp::{self, Calls, Events, Findings, Setting};
use crate::negotiate::{Ask, Negotiated, ask_upstream_for_json, negotiate};
use crate::report::{Observer, Protocol, Report};
use crate::transcode::{Saved, transcode};
use crate::{Format, Policy, Skip};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The policy, and what is shared between all requests under it. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    policy: Policy,
    observer: Option<Arc<dyn Observer>>,
    held: AtomicUsize,
}

/// A request that asked, or may have asked in its body.
#[derive(Clone, Debug)]
pub struct Exchange {
    ask: Option<Ask>,
    protocol: Protocol,
    path: Box<str>,
    /// Once the response has come.
    tool: Option<Box<str>>,
    request_id: Option<HeaderValue>,
    no_transform: bool,
    routed: bool,
}

/// What is to be done with a response.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Send it as it is: nobody asked, or it has no body that could change.
    Leave,
    /// Send it as it is, and say why.
    Skip(Ask, Skip),
    /// Collect the body and give it to [`Engine::whole`].
    Whole(Todo),
    /// Collect the body and give it to [`Engine::message`].
    Message(Todo),
    /// Give the body to [`Engine::events`] piece by piece.
    Events(Todo),
}

/// What is to be done with a body.
#[derive(Clone, Debug)]
pub struct Todo {
    ask: Ask,
    format: Format,
    coding: Coding,
    calls: Calls,
    status: StatusCode,
}

impl Exchange {
    /// Whether it is MCP, so that the request's body matters.
    #[must_use]
    pub fn is_mcp(&self) -> bool {
        self.protocol == Protocol::Mcp
    }
}

impl Todo {
    /// What was asked for.
    #[must_use]
    pub const fn ask(&self) -> Ask {
        self.ask
    }
}

impl Engine {
    /// An engine under this policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { shared: Arc::new(Shared { policy, observer: None, held: AtomicUsize::new(0) }) }
    }

    /// The same, and tells this observer what became of every request that asked.
    #[must_use]
    pub fn observed(policy: Policy, observer: Arc<dyn Observer>) -> Self {
        Self { shared: Arc::new(Shared { policy, observer: Some(observer), held: AtomicUsize::new(0) }) }
    }

    /// An engine with the same observer under another policy.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Self {
        let observer = self.shared.observer.clone();
        Self { shared: Arc::new(Shared { policy, observer, held: AtomicUsize::new(0) }) }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// Looks at a request. `None`: nobody asked, and nothing needs to be looked at again. Otherwise the headers are
    /// changed so that the upstream answers with plain JSON.
    pub fn open(&self, method: &Method, path: &str, headers: &mut HeaderMap) -> Option<Exchange> {
        let policy = self.policy();
        let ask = match negotiate(headers) {
            Negotiated::Asked(ask) => Some(ask),
            Negotiated::Silent if policy.mcp.enabled && policy.mcp.extension && mcp::may_ask(method, headers) => None,
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
            ask_upstream_for_json(headers);
        }
        Some(exchange)
    }

    /// Looks at the head of a response. `calls` is what the request's body called; it is asked for only in MCP.
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
                let todo = Todo { ask, format, coding, calls, status };
                match (kind, exchange.protocol) {
                    (Kind::Events, _) => Plan::Events(todo),
                    (Kind::Json, Protocol::Mcp) => Plan::Message(todo),
                    (Kind::Json, Protocol::Rest) => Plan::Whole(todo),
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
        // MCP servers say no-transform on every stream. There it was the client that asked for the change, and its
        // messages stay messages; a whole body that is coded anew is what RFC 9111 is about.
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

    /// A place to hold a body in; `None` if there are as many as the policy allows.
    #[must_use]
    pub fn hold(&self) -> Option<Held> {
        let most = self.policy().max_held;
        let more = |held: usize| (held < most).then_some(held + 1);
        self.shared.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Held { engine: self.clone() })
    }

    /// A whole body in the format asked for, and the headers to say so. On a [`Skip`] the headers say that, and the
    /// body is to be sent as it was.
    pub fn whole(&self, exchange: &Exchange, todo: &Todo, headers: &mut HeaderMap, body: &[u8]) -> Result<Bytes, Skip> {
        let began = Instant::now();
        let done = || {
            let plain = self.plain(todo, body)?;
            if plain.len() < self.policy().min_bytes {
                return Err(Skip::TooSmall);
            }
            transcode(&plain, todo.format, self.policy().verify)
        };
        match done() {
            Ok(coded) => {
                label::whole(headers, todo.format, coded.saved);
                self.tell(exchange, todo.ask, Some(todo), Ok(coded.saved), began.elapsed());
                Ok(Bytes::from(coded.bytes))
            }
            Err(skip) => {
                self.skip(exchange, todo.ask, skip, headers);
                Err(skip)
            }
        }
    }

    /// An MCP message, or a batch, with its texts in the format asked for, and headers that fit. `None`: to be sent as
    /// it was.
    pub fn message(&self, exchange: &Exchange, todo: &Todo, headers: &mut HeaderMap, body: &[u8]) -> Option<Bytes> {
        let began = Instant::now();
        let mut findings = Findings::default();
        let plain = match self.plain(todo, body) {
            Ok(plain) => plain,
            Err(skip) => {
                self.skip(exchange, todo.ask, skip, headers);
                return None;
            }
        };
        let rewritten = mcp::rewrite(&plain, self.setting(todo), &mut findings);
        if let Some(skip) = findings.skipped.filter(|_| findings.changed == 0) {
            self.skip(exchange, todo.ask, skip, headers);
        }
        let rewritten = Bytes::from(rewritten?);
        label::message(headers, rewritten.len());
        if findings.changed > 0 {
            self.tell(exchange, todo.ask, Some(todo), Ok(findings.saved), began.elapsed());
        }
        Some(rewritten)
    }

    /// A stream of MCP messages, and headers that fit.
    #[must_use]
    pub fn events(&self, exchange: &Exchange, todo: Todo, headers: &mut HeaderMap) -> EventStream {
        label::stream(headers);
        let events = Events::new(self.policy().max_bytes);
        EventStream { engine: self.clone(), exchange: exchange.clone(), todo, events, held: None }
    }

    /// Says in the headers, and to the observer, why a response is sent as it was.
    pub fn skip(&self, exchange: &Exchange, ask: Ask, skip: Skip, headers: &mut HeaderMap) {
        label::skipped(headers, skip);
        self.tell(exchange, ask, None, Err(skip), Duration::ZERO);
    }

    /// The body without its content coding, if neither form is too large.
    fn plain<'a>(&self, todo: &Todo, body: &'a [u8]) -> Result<Cow<'a, [u8]>, Skip> {
        let most = self.policy().max_bytes;
        if body.len() > most { Err(Skip::TooLarge) } else { todo.coding.undo(body, most) }
    }

    fn setting<'a>(&'a self, todo: &'a Todo) -> Setting<'a> {
        Setting { policy: self.policy(), format: todo.format, calls: &todo.calls }
    }

    fn tell(&self, exchange: &Exchange, ask: Ask, todo: Option<&Todo>, outcome: Result<Saved, Skip>, took: Duration) {
        let Some(observer) = &self.shared.observer else { return };
        observer.transformed(&Report {
            door: ask.door,
            asked: ask.format,
            sent: todo.filter(|_| outcome.is_ok()).map(|todo| todo.format),
            protocol: exchange.protocol,
            path: &exchange.path,
            request_id: exchange.request_id.as_ref().and_then(|id| id.to_str().ok()),
            tool: exchange.tool.as_deref(),
            status: todo.map(|todo| todo.status),
            outcome,
            took,
        });
    }
}

/// A stream of MCP messages on its way through.
pub struct EventStream {
    engine: Engine,
    exchange: Exchange,
    todo: Todo,
    events: Events,
    /// A place among the bodies that are held, while part of an event is: an open stream with nothing in it takes none.
    held: Option<Held>,
}

impl EventStream {
    /// Takes what has come and appends what can go.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let Self { engine, exchange, todo, events, held } = self;
        let mut rewrite = |message: &[u8]| {
            let began = Instant::now();
            let mut findings = Findings::default();
            let rewritten = mcp::rewrite(message, engine.setting(todo), &mut findings);
            if findings.changed > 0 {
                engine.tell(exchange, todo.ask, Some(todo), Ok(findings.saved), began.elapsed());
            } else if let Some(skip) = findings.skipped {
                engine.tell(exchange, todo.ask, Some(todo), Err(skip), began.elapsed());
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
                engine.tell(exchange, todo.ask, Some(todo), Err(Skip::Busy), Duration::ZERO);
            }
        }
    }

    /// The stream has ended: appends what was held.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.events.finish(out);
        self.held = None;
    }
}

/// A place among the bodies that are held; given back when dropped.
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
