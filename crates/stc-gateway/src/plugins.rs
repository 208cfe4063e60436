//! Runs the configured plugins before and after the upstream.
//!
//! They run inside the layer: they see plain JSON, and their own responses are converted like any other. A body is held
//! in memory only if a plugin reads it, and is counted there as every held body is.

use crate::body::{LONG_TO_PREPARE, RequestBody, ResponseBody};
use crate::builtin::Catalogue;
use crate::called::{self, Called};
use crate::client::memory::{ClientMemory, Purse};
use crate::config::PluginConfig;
use crate::context::Delivery;
use crate::metrics::Metrics;
use crate::pool::Threads;
use crate::request_id::REQUEST_ID;
use crate::upstream::collect::collect;
use crate::upstream::failed::Failed;
use crate::upstream::forward::Forward;
use crate::upstream::forwarded::Peer;
use crate::upstream::tunnel;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, IF_RANGE, RANGE, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use serde_json::json;
use stc_layer::coding::Coding;
use stc_layer::mcp;
use stc_layer::memory::{Gathered, Held, fitted, guarded};
use stc_layer::{MatchedPath, Pool, Skip, Tenant, headers};
use stc_plugin::{Binding, Conditions, Ended, FaultKind, Metadata, Phase, PluginContext, Registry};
use std::sync::Arc;

/// The longest response that is held for plugins.
const LONGEST_HELD: usize = 8 << 20;

const FAULT: Failed = Failed(StatusCode::BAD_GATEWAY, "a required plugin failed");

/// The plugins of a configuration.
pub(crate) struct Plugins {
    registry: Registry,
    /// The plugins whose faults end a request.
    required: Vec<(Metadata, Conditions)>,
    pool: Arc<Threads>,
    metrics: Arc<Metrics>,
}

impl Plugins {
    /// Loads the plugins; `None` if there are none. An error has a position in the configuration.
    pub(crate) async fn load(
        configs: &[PluginConfig],
        catalogue: &Catalogue,
        pool: &Arc<Threads>,
        metrics: &Arc<Metrics>,
    ) -> Result<Option<Self>, String> {
        let (registry, required, pool) = (Registry::new(), Vec::new(), pool.clone());
        let mut plugins = Self { registry, required, pool, metrics: metrics.clone() };
        for config in configs {
            let at = |why: String| format!("{}{why}", config.place);
            let plugin = catalogue
                .make(&config.name)
                .ok_or_else(|| at(format!("no plugin `{}`; there are {}", config.name, catalogue.names())))?;
            let conditions = config.conditions().map_err(|error| at(error.to_string()))?;
            if config.required {
                plugins.required.push((plugin.metadata(), conditions.clone()));
            }
            let binding =
                Binding::at(config.priority).when(conditions).within(config.timeout()).required(config.required);
            let binding = binding.configured(config.settings.clone());
            let loaded = plugins.registry.add_boxed(plugin, binding).await;
            loaded.map_err(|error| at(format!("{}: {error}", config.name)))?;
        }
        Ok((!configs.is_empty()).then_some(plugins))
    }

    /// Forwards a request, with the plugins before and after.
    pub(crate) async fn around(
        &self,
        request: Request<RequestBody>,
        peer: &Peer,
        delivery: &Delivery,
        memory: &Arc<ClientMemory>,
    ) -> Response<ResponseBody> {
        let (mut parts, body) = request.into_parts();
        let mut context = PluginContext::new(parts.method.clone(), MatchedPath::of(&parts));
        context.tenant = parts.extensions.get().map(|Tenant(tenant)| tenant.to_string());
        context.request_headers = std::mem::take(&mut parts.headers);
        let purse = Purse { memory: memory.clone(), patience: delivery.forward.timeouts.queue() };
        let body = match self.before(&mut context, body, &purse, &delivery.forward).await {
            Ok(body) => body,
            Err(Stop::Ended(ended)) => return terminated(ended, context.response_headers),
            Err(Stop::Failed(failed)) => return self.failed(context, failed).await,
        };
        parts.headers = context.request_headers.clone();
        if let Some(tenant) = &context.tenant {
            parts.extensions.insert(Tenant(tenant.as_str().into()));
        }
        let stopped = match delivery.send(Request::from_parts(parts, body), peer, memory).await {
            Ok(response) => match self.after(&mut context, response, &purse).await {
                Ok(mut response) => {
                    if let Some(tenant) = context.tenant.take() {
                        response.extensions_mut().insert(Tenant(tenant.into()));
                    }
                    return response;
                }
                Err(stopped) => stopped,
            },
            Err(failed) => Stop::Failed(failed),
        };
        match stopped {
            Stop::Ended(ended) => terminated(ended, context.response_headers),
            Stop::Failed(failed) => self.failed(context, failed).await,
        }
    }

    async fn before(
        &self,
        context: &mut PluginContext,
        body: RequestBody,
        purse: &Purse,
        forward: &Forward,
    ) -> Result<RequestBody, Stop> {
        let held = purse.hold();
        let is_tunnel = tunnel::may_be_requested(&context.method, &context.request_headers);
        if is_tunnel || called::may_resume(context) {
            context.may_call(None);
        }
        // The tools are in the body alone: it is read before the first plugin that depends on them.
        let is_call = mcp::is_mcp(&context.method, &context.request_headers) || self.registry.wants_tools(context);
        let (mut body, mut whole) = (Some(body), None);
        if let Some(body) = body.take_if(|body| is_call && !body.is_end_stream()) {
            let read = read(body, purse, &held, forward).await?;
            let called = if called::is_plain(context) { self.called(&read).await } else { None };
            called::note(context, called);
            whole = Some(read);
        }
        self.run(Phase::PreAuth, context).await?;
        self.run(Phase::PostAuth, context).await?;
        if is_tunnel && self.is_seen_by_required(context) {
            return Err(Stop::Failed(FAULT)); // what passes in a tunnel, no plugin sees
        }
        if let Some(body) = body.take_if(|_| self.registry.wants_body(Phase::PreUpstream, context)) {
            whole = Some(read(body, purse, &held, forward).await?);
        }
        let came = whole.clone();
        context.hold_request_body(whole);
        self.run(Phase::PreUpstream, context).await?;
        if self.registry.wants_body(Phase::PostUpstream, context) {
            context.request_headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            // Of a part of a body, a plugin would see neither what is before nor after it.
            context.request_headers.remove(RANGE);
            context.request_headers.remove(IF_RANGE);
        }
        Ok(match body {
            Some(body) => body,
            None => {
                let whole = context.take_request_body().unwrap_or_default();
                context.request_headers.remove(TRANSFER_ENCODING);
                if !whole.is_empty() || context.request_headers.contains_key(CONTENT_LENGTH) {
                    context.request_headers.insert(CONTENT_LENGTH, HeaderValue::from(whole.len()));
                }
                RequestBody::Held(Full::new(counted(whole, came.unwrap_or_default(), held, purse)))
            }
        })
    }

    async fn after(
        &self,
        context: &mut PluginContext,
        response: Response<ResponseBody>,
        purse: &Purse,
    ) -> Result<Response<ResponseBody>, Stop> {
        let (mut parts, mut body) = response.into_parts();
        context.status = Some(parts.status);
        context.response_headers = std::mem::take(&mut parts.headers);
        let (mut came, held) = (None, purse.hold());
        let kind = context.response_headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        if context.method == Method::GET && starts(kind, b"text/event-stream") && self.is_tool_required(context) {
            context.may_call(None); // MCP's earlier transport answers calls there
        }
        let readable = !matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
            && context.method != Method::HEAD;
        if readable && self.registry.wants_body(Phase::PostUpstream, context) {
            match self.hold(context, body, purse, &held).await {
                HeldBody::Whole { sent, plain } => {
                    if sent != plain {
                        headers::replaced(&mut context.response_headers, plain.len());
                    }
                    came = Some(plain.clone());
                    context.hold_response_body(Some(plain));
                    body = ResponseBody::whole(Bytes::new());
                }
                HeldBody::Passing(passing) => {
                    self.unread(context)?;
                    body = passing;
                }
                HeldBody::Broken => {
                    return Err(Stop::Failed(Failed(
                        StatusCode::BAD_GATEWAY,
                        "the upstream closed the connection early",
                    )));
                }
            }
        }
        self.run(Phase::PostUpstream, context).await?;
        if let (Some(came), Some(whole)) = (came, context.take_response_body()) {
            if whole != came {
                headers::replaced(&mut context.response_headers, whole.len());
            }
            body = ResponseBody::whole(counted(whole, came, held, purse));
        }
        parts.status = context.status.unwrap_or(parts.status);
        parts.headers = std::mem::take(&mut context.response_headers);
        Ok(Response::from_parts(parts, body))
    }

    /// Counts and logs a response whose body plugins were to read and cannot. Fails if one of them is required.
    fn unread(&self, context: &PluginContext) -> Result<(), Stop> {
        let id = context.request_headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
        for metadata in self.registry.readers(Phase::PostUpstream, context) {
            self.metrics.plugin_faulted(metadata.name, "the body of a response could not be read", id);
        }
        if self.is_seen_by_required(context) { Err(Stop::Failed(FAULT)) } else { Ok(()) }
    }

    /// Returns whether a required plugin has to see the body of the response.
    fn is_seen_by_required(&self, context: &PluginContext) -> bool {
        let must = |(metadata, conditions): &(Metadata, Conditions)| {
            metadata.bodies && metadata.phases.contains(&Phase::PostUpstream) && conditions.hold_for(context)
        };
        self.required.iter().any(must)
    }

    /// Returns whether a required plugin belongs to tools that are called on this path.
    fn is_tool_required(&self, context: &PluginContext) -> bool {
        self.required.iter().any(|(_, conditions)| conditions.depend_on_tools(context))
    }

    /// Creates an answer of the gateway, after the plugins of [`Phase::OnError`].
    async fn failed(&self, mut context: PluginContext, failed: Failed) -> Response<ResponseBody> {
        context.status = Some(failed.0);
        context.response_headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        context.hold_response_body(Some(json!({"error": failed.1}).to_string().into()));
        match self.run(Phase::OnError, &mut context).await {
            Err(Stop::Ended(ended)) => terminated(ended, context.response_headers),
            Err(Stop::Failed(failed)) => failed.answer(),
            Ok(()) => {
                let mut response = Response::new(ResponseBody::whole(context.take_response_body().unwrap_or_default()));
                *response.status_mut() = context.status.unwrap_or(failed.0);
                *response.headers_mut() = context.response_headers;
                response
            }
        }
    }

    async fn run(&self, phase: Phase, context: &mut PluginContext) -> Result<(), Stop> {
        if !self.registry.wants(phase, context) {
            return Ok(());
        }
        let run = self.registry.run(phase, context).await;
        for fault in &run.faults {
            let id = context.request_headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
            let why = match &fault.kind {
                FaultKind::Failed(error) => error.to_string(),
                FaultKind::Panicked => "panicked".to_owned(),
                FaultKind::TimedOut => "timed out".to_owned(),
            };
            self.metrics.plugin_faulted(fault.plugin, &why, id);
        }
        match run.ended {
            _ if run.faults.iter().any(|fault| fault.required) => Err(Stop::Failed(FAULT)),
            Some(ended) => Err(Stop::Ended(ended)),
            None => Ok(()),
        }
    }

    async fn hold(&self, context: &PluginContext, body: ResponseBody, purse: &Purse, held: &Arc<Held>) -> HeldBody {
        let headers = &context.response_headers;
        let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        // The stream that answers a POST ends with the answer; a stream opened by a GET does not end.
        let endless = starts(kind, b"text/event-stream") && context.method != Method::POST;
        // A part of a body, and what comes after a change of protocols.
        let is_other = matches!(context.status, Some(StatusCode::PARTIAL_CONTENT | StatusCode::SWITCHING_PROTOCOLS))
            || starts(kind, b"multipart/byteranges");
        let (mut upstream, coding) = match (body, Coding::of(headers)) {
            (ResponseBody::Passing(upstream), Ok(coding)) if !endless && !is_other => (upstream, coding),
            (body, _) => return HeldBody::Passing(body),
        };
        let announced = upstream.size_hint().exact().and_then(|length| usize::try_from(length).ok());
        let mut sent = Gathered::expecting(announced);
        while let Some(frame) = upstream.frame().await {
            let data = match frame.map(|frame| frame.into_data()) {
                Ok(Ok(data)) => data,
                Ok(Err(_)) => continue, // trailers, which describe bytes that may change
                Err(_) => return HeldBody::Broken,
            };
            if sent.len() + data.len() > LONGEST_HELD || !purse.grow(held, sent.with(data.len())).await {
                let frames = [guarded(sent.into_bytes(), held.clone()), data];
                let frames = frames.into_iter().filter(|frame| !frame.is_empty()).collect();
                return HeldBody::Passing(ResponseBody::Resumed(frames, upstream));
            }
            sent.push(data);
        }
        // What a plugin still works on when its time is over counts as long as it does.
        let sent = guarded(sent.into_bytes(), held.clone());
        match self.plain(&sent, coding, held).await {
            Ok(plain) => HeldBody::Whole { sent, plain },
            Err(_) => HeldBody::Passing(ResponseBody::whole(sent)),
        }
    }

    /// Returns the tools that a body calls; `None` for any.
    async fn called(&self, body: &Bytes) -> Option<Called> {
        if body.len() <= LONG_TO_PREPARE {
            return called::read(body);
        }
        let (send, receive) = tokio::sync::oneshot::channel();
        let (body, length) = (body.clone(), body.len());
        let _ticket = self.pool.queue(length, Box::new(move || drop(send.send(called::read(&body)))));
        receive.await.ok().flatten()
    }

    /// Returns a body without its content coding, which counts as well.
    async fn plain(&self, sent: &Bytes, coding: Coding, held: &Arc<Held>) -> Result<Bytes, Skip> {
        if coding == Coding::Identity {
            return Ok(sent.clone());
        }
        let (send, receive) = tokio::sync::oneshot::channel();
        let (sent, held, length) = (sent.clone(), held.clone(), coding.usual_length(sent.len()));
        let decompress = move || {
            let plain = coding.decompress(&sent, LONGEST_HELD)?;
            if !held.grow(sent.len() + plain.len()) {
                return Err(Skip::Busy);
            }
            let plain = fitted(plain.into_owned());
            Ok(guarded(plain, held))
        };
        let _ticket = self.pool.queue(length, Box::new(move || drop(send.send(decompress()))));
        receive.await.unwrap_or(Err(Skip::Invalid))
    }
}

/// Reads a whole body, which is limited by `limits.request_bytes` already.
async fn read(body: RequestBody, purse: &Purse, held: &Arc<Held>, forward: &Forward) -> Result<Bytes, Stop> {
    let pace = forward.timeouts.receiving(&forward.limits);
    collect(body, pace, usize::MAX, purse, held).await.map_err(Stop::Failed)
}

/// Why a request ends early.
enum Stop {
    Ended(Ended),
    Failed(Failed),
}

fn terminated(ended: Ended, headers: HeaderMap) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(ended.body));
    *response.status_mut() = ended.status;
    *response.headers_mut() = headers;
    response.headers_mut().remove(CONTENT_LENGTH);
    response.headers_mut().entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    response
}

/// A response's body, if it can be held.
enum HeldBody {
    /// The body as sent, and decompressed.
    Whole {
        sent: Bytes,
        plain: Bytes,
    },
    /// Too long, in an unknown coding, an endless stream, a part of a body, or another protocol.
    Passing(ResponseBody),
    Broken,
}

/// Returns a body after plugins, which counts as long as it is in memory. One that they replaced may be longer than what came, for which
/// there need not be room; it counts apart where something else still has what came.
fn counted(body: Bytes, came: Bytes, held: Arc<Held>, purse: &Purse) -> Bytes {
    if is_of(&body, &came) {
        held.shrink(came.len());
        return body;
    }
    drop(came);
    let held = if Arc::strong_count(&held) == 1 { held } else { purse.hold() };
    let _ = held.grow(body.len());
    held.shrink(body.len());
    guarded(body, held)
}

/// Returns whether a body is a part of another in memory.
fn is_of(body: &Bytes, whole: &Bytes) -> bool {
    let (part, all) = (body.as_ptr_range(), whole.as_ptr_range());
    body.is_empty() || (all.start <= part.start && part.end <= all.end)
}

/// Returns whether a content type starts so, in any case.
fn starts(kind: &[u8], with: &[u8]) -> bool {
    kind.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
}
