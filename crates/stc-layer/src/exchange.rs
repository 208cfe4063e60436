//! One request and its response: the decisions, without any I/O.
//!
//! The layer and the plugin both call [`Engine::open`] with the head of a request, [`Engine::plan`] with the head of the
//! response, and then [`Engine::whole`], [`Engine::message`] or [`Engine::events`] with its body.

use crate::coding::Coding;
use crate::compress::{Accepted, Compressor};
use crate::etag::{self, Tags};
use crate::headers;
use crate::job::{Job, Kind, Plan, no_transform};
use crate::mcp::{self, Calls, Setting};
use crate::memory::{BodyRoom, Memory};
use crate::negotiate::{Ask, Negotiated, Source, negotiate_with, prefer_json};
use crate::pool::Pool;
use crate::report::{Observer, Protocol, Report, RequestObserver};
use crate::{Format, Policy, Saved, Skip, rules};
use http::header::{CONTENT_LENGTH, VARY};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

/// A policy and the state that all requests under it share. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    policy: Policy,
    observer: Option<Arc<dyn Observer>>,
    pool: Option<Arc<dyn Pool>>,
    held: Arc<AtomicUsize>,
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
    /// Whether the client named an unknown format and no other.
    unknown: bool,
    /// Whether the operator's rule adds the legend.
    legend: bool,
    /// Whether the request is a HEAD, whose response must agree with that of a GET.
    head: bool,
    /// The content codings that the client accepts beside STC.
    pub(crate) accepted: Accepted,
    tags: Option<Tags>,
    tenant: Option<Arc<str>>,
    pub(crate) observer: Option<RequestObserver>,
    pub(crate) account: Account,
    began: Instant,
}

/// Where the bytes of the bodies of an exchange are counted.
#[derive(Clone, Default)]
pub(crate) struct Account(pub(crate) Option<Arc<dyn Memory>>);

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Account")
    }
}

impl Exchange {
    /// Returns whether the request is MCP, so that its body is needed when the response arrives.
    #[must_use]
    pub fn is_mcp(&self) -> bool {
        self.protocol == Protocol::Mcp
    }

    /// Returns whether the request is a HEAD, whose response has the headers of the converted body: the caller sends the
    /// service a GET instead, and the client no body.
    #[must_use]
    pub const fn is_head(&self) -> bool {
        self.head
    }

    /// Returns the report on a response that is sent unchanged.
    fn report(&self, source: Source, outcome: Result<Saved, Skip>) -> Report<'_> {
        Report {
            source,
            asked: None,
            sent: None,
            protocol: self.protocol,
            path: &self.path,
            request_id: self.request_id.as_ref().and_then(|id| id.to_str().ok()),
            tool: self.tool.as_deref(),
            tenant: self.tenant.as_deref(),
            status: None,
            outcome,
            took: Duration::ZERO,
            waited: self.began.elapsed(),
        }
    }
}

impl Engine {
    /// Creates an engine under this policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self::of(policy, None, None)
    }

    /// Creates an engine that reports every response to a client that opted in.
    #[must_use]
    pub fn observed(policy: Policy, observer: Arc<dyn Observer>) -> Self {
        Self::of(policy, Some(observer), None)
    }

    /// Creates an engine with the same observer and pool, and another policy.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Self {
        Self::of(policy, self.shared.observer.clone(), self.shared.pool.clone())
    }

    /// Creates an engine with the same policy and observer that converts long bodies in this pool.
    #[must_use]
    pub fn with_pool(&self, pool: Arc<dyn Pool>) -> Self {
        Self::of(self.shared.policy.clone(), self.shared.observer.clone(), Some(pool))
    }

    fn of(policy: Policy, observer: Option<Arc<dyn Observer>>, pool: Option<Arc<dyn Pool>>) -> Self {
        Self { shared: Arc::new(Shared { policy, observer, pool, held: Arc::default() }) }
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// Reads the head of a request. Returns `None` if the client did not opt in: the response needs no attention.
    /// Otherwise changes the headers so that the upstream answers with plain JSON.
    pub fn open(&self, method: &Method, path: &str, headers: &mut HeaderMap) -> Option<Exchange> {
        self.open_from(method, path, headers, None)
    }

    /// Does what [`open`](Self::open) does for a request from this tenant, if it has one.
    pub fn open_from(
        &self,
        method: &Method,
        path: &str,
        headers: &mut HeaderMap,
        tenant: Option<&Arc<str>>,
    ) -> Option<Exchange> {
        let policy = self.policy();
        let negotiated = negotiate_with(headers, policy.default_format);
        let is_mcp = || policy.mcp.enabled && mcp::is_mcp(method, headers);
        let mut decision = None;
        let ask = match negotiated {
            Negotiated::Asked(ask) => Some(ask),
            Negotiated::Unknown => None,
            Negotiated::Refused => return None,
            Negotiated::Silent => {
                if !policy.clients.is_empty() {
                    decision = rules::decide(&policy.clients, headers, tenant.map(|tenant| &**tenant), is_mcp());
                }
                let may_prefer = policy.mcp.enabled && policy.mcp.extension && mcp::may_prefer(method, headers);
                if decision.is_none() && !may_prefer {
                    return None;
                }
                decision.map(|decision| Ask { source: Source::Operator, format: decision.format })
            }
        };
        let is_mcp = is_mcp();
        if method == Method::HEAD && is_mcp {
            return None;
        }
        let mut exchange = Exchange {
            ask,
            protocol: if is_mcp { Protocol::Mcp } else { Protocol::Rest },
            path: path.into(),
            tool: None,
            request_id: headers.get("x-request-id").cloned(),
            no_transform: no_transform(headers),
            routed: policy.routes.admits(Some(path)),
            unknown: negotiated == Negotiated::Unknown,
            legend: decision.is_some_and(|decision| decision.legend),
            head: method == Method::HEAD,
            accepted: Accepted::NONE,
            tags: None,
            tenant: tenant.cloned(),
            began: Instant::now(),
            observer: None,
            account: Account::default(),
        };
        if let Some(ask) = ask.filter(|_| exchange.routed) {
            exchange.accepted = Accepted::of(headers);
            exchange.tags = etag::unmark(headers, policy.choose(ask.format).ok());
            prefer_json(headers);
        } else if exchange.head {
            exchange.head = false;
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
        if status.is_informational() || status == StatusCode::NO_CONTENT {
            return Plan::Leave;
        }
        if [StatusCode::PARTIAL_CONTENT, StatusCode::NOT_MODIFIED].contains(&status) {
            return if exchange.ask.is_some() && exchange.routed { Plan::Agree } else { Plan::Leave };
        }
        let calls = if exchange.protocol == Protocol::Mcp { calls() } else { Calls::default() };
        exchange.tool = calls.tool().map(Into::into);
        // A preference in the body wins over the operator's decision.
        let own = exchange.ask.filter(|ask| ask.source != Source::Operator);
        let ask = own.or_else(|| calls.ask(self.policy().default_format)).or(exchange.ask);
        let Some(ask) = ask else {
            return if exchange.unknown { Plan::Unknown } else { Plan::Leave };
        };
        match self.consider(exchange, ask, status, headers) {
            Err(skip) => Plan::Skip(ask, skip),
            Ok((kind, format, coding)) => {
                let legend = self.policy().mcp.legend || exchange.legend;
                let job = Job { ask, format, coding, decompressed_in: Duration::ZERO, calls, status, legend };
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
        let least = if exchange.is_mcp() { policy.least_bytes() } else { policy.min_bytes };
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        match length.filter(|_| kind == Kind::Json) {
            Some(length) if length > policy.max_bytes => return Err(Skip::TooLarge),
            Some(length) if length < least && coding == Coding::Identity => return Err(Skip::TooSmall),
            _ => {}
        }
        Ok((kind, policy.choose(ask.format)?, coding))
    }

    /// Reserves room for a body in memory; `None` if `max_held` bodies are held already.
    #[must_use]
    pub fn hold(&self) -> Option<BodyRoom> {
        self.take_room(None)
    }

    /// Reserves room for a body of this exchange, whose bytes are counted where those of its client are.
    pub(crate) fn hold_for(&self, exchange: &Exchange) -> Option<BodyRoom> {
        self.take_room(exchange.account.0.clone())
    }

    fn take_room(&self, memory: Option<Arc<dyn Memory>>) -> Option<BodyRoom> {
        BodyRoom::take(&self.shared.held, self.policy().max_held, memory)
    }

    /// Returns the pool for long bodies.
    pub(crate) fn pool(&self) -> Option<&Arc<dyn Pool>> {
        self.shared.pool.as_ref()
    }

    /// Records in the headers and for the observer why a response is sent unchanged.
    pub fn skip(&self, exchange: &Exchange, ask: Ask, skip: Skip, headers: &mut HeaderMap) {
        headers::skipped(headers, skip);
        self.vary_by_rules(ask, headers);
        self.tell(exchange, ask, None, Err(skip), Duration::ZERO, None);
    }

    /// Names the headers that decided for a client without a preference. If its tenant did, shared caches must not store the
    /// response.
    pub(crate) fn vary_by_rules(&self, ask: Ask, headers: &mut HeaderMap) {
        if ask.source != Source::Operator {
            return;
        }
        let rules = &self.policy().clients;
        if let Some(names) = rules::varies_by(rules) {
            headers.append(VARY, names);
        }
        if rules::depend_on_tenants(rules) {
            headers::private(headers);
        }
    }

    /// Sets the headers of [`Plan::Agree`].
    pub fn agree(&self, exchange: &Exchange, headers: &mut HeaderMap) {
        headers::vary(headers);
        if let Some(ask) = exchange.ask {
            self.vary_by_rules(ask, headers);
        }
        if let Some(tags) = &exchange.tags {
            tags.restore(headers);
        }
    }

    /// Sets the headers of [`Plan::Unknown`].
    pub fn unknown(&self, headers: &mut HeaderMap) {
        headers::skipped(headers, Skip::UnknownFormat);
    }

    /// Sets the headers for a body that is sent in a content coding and otherwise unchanged, and returns its compressor. `None`
    /// if the client accepts no coding, the body should have none, or the memory for bodies is used up.
    pub(crate) fn compress(&self, exchange: &Exchange, headers: &mut HeaderMap) -> Option<(Compressor, BodyRoom)> {
        if exchange.no_transform || no_transform(headers) {
            return None;
        }
        let coding = exchange.accepted.passing(headers)?;
        let room = self.hold_for(exchange)?;
        if !room.bytes().grow(Compressor::memory(coding)) {
            return None;
        }
        let compressor = Compressor::new(coding)?;
        headers::compressed(headers, coding);
        Some((compressor, room))
    }

    pub(crate) fn setting<'a>(&'a self, job: &'a Job) -> Setting<'a> {
        Setting::new(self.policy(), job)
    }

    /// Reports to the observers. `texts` are the content before and after, if it was converted.
    pub(crate) fn tell(
        &self,
        exchange: &Exchange,
        ask: Ask,
        job: Option<&Job>,
        outcome: Result<Saved, Skip>,
        took: Duration,
        texts: Option<(&[u8], &[u8])>,
    ) {
        let sent = job.filter(|_| outcome.is_ok()).map(|job| job.format);
        let (asked, status) = (Some(ask.format), job.map(|job| job.status));
        for observer in self.observers(exchange) {
            let report = Report { asked, sent, status, took, ..exchange.report(ask.source, outcome) };
            observer.transformed(&report);
            if let Some((before, after)) = texts {
                observer.converted(&report, before, after);
            }
        }
    }

    /// Reports a request that named an unknown format and no other.
    pub(crate) fn tell_unknown(&self, exchange: &Exchange) {
        for observer in self.observers(exchange) {
            observer.transformed(&exchange.report(Source::PreferFormat, Err(Skip::UnknownFormat)));
        }
    }

    fn observers<'a>(&'a self, exchange: &'a Exchange) -> impl Iterator<Item = &'a Arc<dyn Observer>> {
        let own = exchange.observer.as_ref().map(|RequestObserver(observer)| observer);
        self.shared.observer.iter().chain(own)
    }
}
