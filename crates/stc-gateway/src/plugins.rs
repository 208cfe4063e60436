//! Runs the configured plugins before and after the upstream.
//!
//! They run inside the layer: they see plain JSON, and their own responses are converted like any other. A body is held
//! in memory only if a plugin reads it; those of requests have a limit in total, `limits.held_request_bytes`.

use crate::body::{RequestBody, ResponseBody};
use crate::builtin::Catalogue;
use crate::called;
use crate::config::PluginConfig;
use crate::context::Delivery;
use crate::metrics::Metrics;
use crate::request_id::REQUEST_ID;
use crate::upstream::collect::{HeldBytes, collect_held};
use crate::upstream::failed::Failed;
use crate::upstream::forward::Forward;
use crate::upstream::forwarded::Peer;
use crate::upstream::tunnel;
use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use serde_json::json;
use stc_layer::coding::Coding;
use stc_layer::mcp;
use stc_layer::{Tenant, headers};
use stc_plugin::{Binding, Conditions, Ended, FaultKind, Metadata, Phase, PluginContext, Registry};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The longest response that is held for plugins.
const LONGEST_HELD: usize = 8 << 20;

const FAULT: Failed = Failed(StatusCode::BAD_GATEWAY, "a required plugin failed");

/// The plugins of a configuration.
pub(crate) struct Plugins {
    registry: Registry,
    /// The plugins whose faults end a request.
    required: Vec<(Metadata, Conditions)>,
    /// Bytes of requests in memory.
    held: AtomicUsize,
    metrics: Arc<Metrics>,
}

impl Plugins {
    /// Loads the plugins; `None` if there are none. An error has a position in the configuration.
    pub(crate) async fn load(
        configs: &[PluginConfig],
        catalogue: &Catalogue,
        metrics: &Arc<Metrics>,
    ) -> Result<Option<Self>, String> {
        let (registry, required, held) = (Registry::new(), Vec::new(), AtomicUsize::new(0));
        let mut plugins = Self { registry, required, held, metrics: metrics.clone() };
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
    ) -> Response<ResponseBody> {
        let (mut parts, body) = request.into_parts();
        let mut context = PluginContext::new(parts.method.clone(), parts.uri.path());
        context.tenant = parts.extensions.get().map(|Tenant(tenant)| tenant.to_string());
        context.request_headers = std::mem::take(&mut parts.headers);
        // Until the upstream has answered, for the body is in memory until it is sent.
        let mut held = HeldBytes::new(&self.held, 0);
        let body = match self.before(&mut context, body, &mut held, &delivery.forward).await {
            Ok(body) => body,
            Err(Stop::Ended(ended)) => return terminated(ended, context.response_headers),
            Err(Stop::Failed(failed)) => return self.failed(context, failed).await,
        };
        parts.headers = context.request_headers.clone();
        if let Some(tenant) = &context.tenant {
            parts.extensions.insert(Tenant(tenant.as_str().into()));
        }
        let stopped = match delivery.send(Request::from_parts(parts, body), peer).await {
            Ok(response) => match self.after(&mut context, response).await {
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
        held: &mut HeldBytes<'_>,
        forward: &Forward,
    ) -> Result<RequestBody, Stop> {
        let is_tunnel = tunnel::may_be_requested(&context.method, &context.request_headers);
        if is_tunnel || called::may_resume(context) {
            context.may_call(None);
        }
        // The tools are in the body alone: it is read before the first plugin that depends on them.
        let is_call = mcp::is_mcp(&context.method, &context.request_headers) || self.registry.wants_tools(context);
        let (mut body, mut whole) = (Some(body), None);
        if let Some(body) = body.take_if(|body| is_call && !body.is_end_stream()) {
            let read = read(body, held, forward).await?;
            called::note(context, &read);
            whole = Some(read);
        }
        self.run(Phase::PreAuth, context).await?;
        self.run(Phase::PostAuth, context).await?;
        if is_tunnel && self.is_seen_by_required(context) {
            return Err(Stop::Failed(FAULT)); // what passes in a tunnel, no plugin sees
        }
        if let Some(body) = body.take_if(|_| self.registry.wants_body(Phase::PreUpstream, context)) {
            whole = Some(read(body, held, forward).await?);
        }
        context.hold_request_body(whole);
        self.run(Phase::PreUpstream, context).await?;
        if self.registry.wants_body(Phase::PostUpstream, context) {
            context.request_headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        Ok(match body {
            Some(body) => body,
            None => {
                let whole = context.take_request_body().unwrap_or_default();
                context.request_headers.remove(TRANSFER_ENCODING);
                if !whole.is_empty() || context.request_headers.contains_key(CONTENT_LENGTH) {
                    context.request_headers.insert(CONTENT_LENGTH, HeaderValue::from(whole.len()));
                }
                RequestBody::Held(Full::new(whole))
            }
        })
    }

    async fn after(
        &self,
        context: &mut PluginContext,
        response: Response<ResponseBody>,
    ) -> Result<Response<ResponseBody>, Stop> {
        let (mut parts, mut body) = response.into_parts();
        context.status = Some(parts.status);
        context.response_headers = std::mem::take(&mut parts.headers);
        let mut came = None;
        let readable = !matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
            && context.method != Method::HEAD;
        if readable && self.registry.wants_body(Phase::PostUpstream, context) {
            match hold(context, body).await {
                HeldBody::Whole { sent, plain } => {
                    if sent != plain {
                        headers::replaced(&mut context.response_headers, plain.len());
                    }
                    came = Some(plain.clone());
                    context.hold_response_body(Some(plain));
                    body = ResponseBody::whole(Bytes::new());
                }
                HeldBody::Passing(passing) => {
                    // A required plugin cannot see the body.
                    if self.is_seen_by_required(context) {
                        return Err(Stop::Failed(FAULT));
                    }
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
            body = ResponseBody::whole(whole);
        }
        parts.status = context.status.unwrap_or(parts.status);
        parts.headers = std::mem::take(&mut context.response_headers);
        Ok(Response::from_parts(parts, body))
    }

    /// Returns whether a required plugin has to see the body of the response.
    fn is_seen_by_required(&self, context: &PluginContext) -> bool {
        let must = |(metadata, conditions): &(Metadata, Conditions)| {
            metadata.bodies && metadata.phases.contains(&Phase::PostUpstream) && conditions.hold_for(context)
        };
        self.required.iter().any(must)
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
}

/// Reads a whole body, which is limited by `limits.request_bytes` already.
async fn read(body: RequestBody, held: &mut HeldBytes<'_>, forward: &Forward) -> Result<Bytes, Stop> {
    let (pace, most) = (forward.timeouts.receiving(&forward.limits), forward.limits.held_request_bytes);
    collect_held(body, pace, held, most).await.map_err(Stop::Failed)
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
    /// Too long, in an unknown coding, or an endless stream.
    Passing(ResponseBody),
    Broken,
}

async fn hold(context: &PluginContext, body: ResponseBody) -> HeldBody {
    let headers = &context.response_headers;
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    // The stream that answers a POST ends with the answer; a stream opened by a GET does not end.
    let endless = kind.starts_with(b"text/event-stream") && context.method != Method::POST;
    let (mut upstream, coding) = match (body, Coding::of(headers)) {
        (ResponseBody::Passing(upstream), Ok(coding)) if !endless => (upstream, coding),
        (body, _) => return HeldBody::Passing(body),
    };
    let mut frames = VecDeque::new();
    let mut length = 0;
    while let Some(frame) = upstream.frame().await {
        match frame.map(|frame| frame.into_data()) {
            Ok(Ok(data)) => {
                length += data.len();
                frames.push_back(data);
            }
            Ok(Err(_)) => {} // trailers, which describe bytes that may change
            Err(_) => return HeldBody::Broken,
        }
        if length > LONGEST_HELD {
            return HeldBody::Passing(ResponseBody::Resumed(frames, upstream));
        }
    }
    let mut sent = BytesMut::with_capacity(length);
    frames.iter().for_each(|frame| sent.extend_from_slice(frame));
    let sent = sent.freeze();
    match coding.decompress(&sent, LONGEST_HELD) {
        Ok(plain) => HeldBody::Whole {
            plain: if coding == Coding::Identity { sent.clone() } else { plain.into_owned().into() },
            sent,
        },
        Err(_) => HeldBody::Passing(ResponseBody::whole(sent)),
    }
}
