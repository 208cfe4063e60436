//! Answers one request: permit, route, layer, upstream.

use crate::access::{Access, Logged};
use crate::body::{RequestBody, ResponseBody};
use crate::client::activity::{Activity, InRequest};
use crate::client::memory::{ClientMemory, Purse};
use crate::client::permits::{Connection, Permit, Refusal, StreamPermit, client_address};
use crate::client::places::Place;
use crate::client::received::Received;
use crate::client::sending::Sending;
use crate::client::streams::Progress;
use crate::client::{arrival, malformed};
use crate::context::Delivery;
use crate::context::compress::Compressor;
use crate::guard::{self, Caller, Guard, Stop, TOOL};
use crate::metrics::{Counted, Metrics};
use crate::request_id::{REQUEST_ID, request_id};
use crate::setup::Setup;
use crate::upstream::forward::Failed;
use crate::upstream::forwarded::Peer;
use crate::upstream::tunnel::{self, Hold};
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Limited;
use hyper::body::Incoming;
use stc_layer::{Engine, MatchedPath, Tee, Tenant, TransformBody, TransformLayer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;
use tower::ServiceExt;

/// The permit of a request in progress, the counts of them, and its duration.
pub(crate) type InProgress = (HeldPermit, Counted, InRequest, Option<Timed>);

/// What a request in progress holds, up to its end.
pub(crate) enum HeldPermit {
    /// Nothing, because it was refused.
    Nothing,
    Request {
        _permit: Permit,
    },
    Stream {
        _permit: StreamPermit,
    },
}

/// The duration of a request, which ends on drop.
pub(crate) struct Timed {
    delivery: Arc<Delivery>,
    status: StatusCode,
    began: Instant,
}

impl Drop for Timed {
    fn drop(&mut self) {
        self.delivery.forward.timings.note(self.status, self.began.elapsed());
    }
}

/// The client at the other end of a connection.
pub(crate) struct Client {
    pub(crate) peer: Peer,
    /// The name in its certificate, if it has one.
    pub(crate) certificate: Option<Arc<str>>,
    pub(crate) connection: Connection,
    pub(crate) memory: Arc<ClientMemory>,
    pub(crate) activity: Arc<Activity>,
    /// Its place among the open connections, if it has one.
    pub(crate) place: Option<Arc<Place>>,
    /// Its worker waits while a copy of this exists, when it drains.
    pub(crate) drain: watch::Receiver<()>,
}

type Body = Sending<Logged<TransformBody<ResponseBody>>, InProgress>;

/// Answers a request once it has a permit, or refuses it if it waits for one too long.
pub(crate) async fn respond(
    mut request: Request<Incoming>,
    in_request: InRequest,
    client: Arc<Client>,
    setup: Arc<Setup>,
    metrics: Arc<Metrics>,
) -> Result<Response<Body>, Infallible> {
    let began = Instant::now();
    let permit = setup.plan.permits.acquire(&client.connection, began.into()).await;
    let counted = Counted::new(&metrics, |metrics| &metrics.requests);
    let id = request_id(request.headers().get(REQUEST_ID));
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let (mut request, malformed) = cleaned(request, &setup);
    // A tunnel would bypass everything here.
    let found = setup.route(&mut request);
    let malformed = malformed.or(found.as_ref().err().copied());
    let routed = found.ok().flatten().filter(|_| request.method() != Method::CONNECT);
    let engine = routed.map_or_else(|| Engine::new(stc_layer::Policy::default()), |routed| routed.engine.clone());
    let delivery = routed.map(|routed| routed.delivery.clone());
    let path = MatchedPath::among(request.extensions(), request.uri());
    let compressor = setup.compressor(path).filter(|_| malformed.is_none()).cloned();
    let guard = compressor.as_ref().map(|(_, guard)| guard).or(routed.map(|routed| &routed.guard)).cloned().flatten();
    let route = compressor.as_ref().map(|(compressor, _)| compressor.path.as_str());
    let route = route.or(routed.map(|routed| &*routed.name));
    let mut access = Access::start(&mut request, &client.peer, &metrics.traces, route);
    let stopped = match malformed {
        Some(malformed) if permit.is_ok() => Some(Box::new(malformed.answer())),
        _ => stopped(&mut request, &permit, &client, guard.as_deref(), &setup, &metrics),
    };
    if let (Some(access), Some(Tenant(tenant))) = (&mut access, request.extensions().get()) {
        access.authenticated(tenant.clone());
    }
    let timed = delivery.clone();
    let longest = usize::try_from(setup.plan.config.limits.request_bytes).unwrap_or(usize::MAX);
    let compressor = compressor.map(|(compressor, _)| compressor);
    let (is_safe, of) = (request.method().is_safe(), (setup.clone(), client.clone()));
    let received = |body| Received::new(body, of.1.activity.clone());
    let memory = client.memory.clone();
    let mut way = Some(Way { delivery, compressor, guard, stopped, client, setup, metrics: metrics.clone() });
    let service = tower::service_fn(move |request: Request<_>| {
        let way = way.take();
        // In a box: it is long, and would be moved with each of the futures around it.
        Box::pin(async move {
            match way {
                Some(way) => Ok::<_, Infallible>(way.answer(request).await.unwrap_or_else(Failed::answer)),
                None => Ok(Failed(StatusCode::INTERNAL_SERVER_ERROR, "a request is answered once").answer()),
            }
        })
    });
    let layered = TransformLayer::with_engine(engine).counted(memory).into_service(service);
    let response = layered.oneshot(request.map(|body| Limited::new(received(body), longest))).await;
    response.map(|response| {
        let mut response = if response.body().has_failed() {
            Failed(StatusCode::BAD_GATEWAY, "the upstream's response is incomplete")
                .answer()
                .map(TransformBody::unchanged)
        } else {
            response
        };
        let mut held = permit.map_or(HeldPermit::Nothing, |permit| HeldPermit::Request { _permit: permit });
        // An event stream may stay open for hours with nothing to send: it does not count as a request in progress.
        if matches!(held, HeldPermit::Request { .. }) && is_event_stream(&response) {
            match of.0.plan.permits.stream(&of.1.connection) {
                Ok(permit) => held = HeldPermit::Stream { _permit: permit },
                // The answer to a POST ends soon, and what it answers was done already: it keeps its permit.
                Err(_) if !is_safe => {}
                Err(refusal) => response = refused(refusal, &of.0, &metrics).map(TransformBody::unchanged),
            }
        }
        metrics.responded(response.status());
        response.headers_mut().entry(REQUEST_ID).or_insert(id);
        let timed = timed.map(|delivery| Timed { delivery, status: response.status(), began });
        let in_progress = (held, counted, in_request, timed);
        if let Some(access) = &mut access {
            access.answered(&response);
        }
        response.map(|body| Sending::new(Logged::new(body, access), in_progress, Progress::of_stream()))
    })
}

/// Removes what concerns only the connection, and says what is wrong with the request.
fn cleaned(request: Request<Incoming>, setup: &Setup) -> (Request<Incoming>, Option<Failed>) {
    let malformed = malformed::check(&request).err();
    let (mut parts, body) = request.into_parts();
    let cleaned = arrival::clean(&mut parts, setup.plan.config.underscores_in_headers);
    (Request::from_parts(parts, body), malformed.or(cleaned.err()))
}

/// Returns the answer to a request that goes no further: it has no permit, or lacks what its route requires.
fn stopped(
    request: &mut Request<Incoming>,
    permit: &Result<Permit, Refusal>,
    client: &Client,
    guard: Option<&Guard>,
    setup: &Setup,
    metrics: &Metrics,
) -> Option<Box<Response<ResponseBody>>> {
    if let Err(refusal) = permit {
        return Some(Box::new(refused(*refusal, setup, metrics)));
    }
    let guard = guard?;
    let caller = Caller {
        address: client.connection.address(),
        forwarded: client.peer.forwarded_for(&setup.plan.config.trusted_proxies, request.headers()).map(client_address),
        certificate: client.certificate.as_ref(),
    };
    match guard.admit(request.headers_mut(), caller) {
        Ok(tenant) => {
            if let Some(tenant) = tenant {
                request.extensions_mut().insert(Tenant(tenant));
            }
            None
        }
        Err(rejection) => {
            metrics.rejected(rejection.place());
            Some(Box::new(guard::answer(rejection)))
        }
    }
}

/// Creates the answer to a request without a permit, and counts it.
fn refused(refusal: Refusal, setup: &Setup, metrics: &Metrics) -> Response<ResponseBody> {
    metrics.refused(refusal);
    let mut response = Failed(StatusCode::SERVICE_UNAVAILABLE, refusal.text()).answer();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(setup.plan.permits.retry_after()));
    response
}

fn is_event_stream<B>(response: &Response<B>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    kind.starts_with(b"text/event-stream")
}

/// What answers one request.
struct Way {
    delivery: Option<Arc<Delivery>>,
    compressor: Option<Arc<Compressor>>,
    guard: Option<Arc<Guard>>,
    /// The answer, if the request goes no further.
    stopped: Option<Box<Response<ResponseBody>>>,
    client: Arc<Client>,
    setup: Arc<Setup>,
    metrics: Arc<Metrics>,
}

impl Way {
    async fn answer(self, request: Request<Tee<Limited<Received>>>) -> Result<Response<ResponseBody>, Failed> {
        if let Some(stopped) = self.stopped {
            return Ok(*stopped);
        }
        let config = &self.setup.plan.config;
        let pace = config.timeouts.receiving(&config.limits);
        let memory = &self.client.memory;
        let purse = || Purse { memory: memory.clone(), patience: config.timeouts.queue() };
        if let Some(compressor) = self.compressor {
            return Box::pin(compressor.answer(request.map(RequestBody::Passing), pace, purse())).await;
        }
        let delivery = self.delivery.ok_or(Failed(StatusCode::NOT_FOUND, "no route"))?;
        let (mut parts, body) = request.into_parts();
        if tunnel::is_requested(&parts) {
            match self.setup.plan.permits.stream(&self.client.connection) {
                Ok(permit) => {
                    let Client { activity, place, drain, .. } = &*self.client;
                    parts.extensions.insert(Hold::new(permit, activity.request(), place.clone(), drain.clone()));
                }
                Err(refusal) => return Ok(refused(refusal, &self.setup, &self.metrics)),
            }
        }
        let mut request = Request::from_parts(parts, RequestBody::Passing(body));
        if let Some(guard) = self.guard.filter(|guard| guard.checks_tools()) {
            // In a box, so that the future of a request without the check stays small.
            request = match Box::pin(guard.check_tools(request, pace, &purse())).await {
                Ok(request) => request,
                Err(Stop::Failed(failed)) => return Err(failed),
                Err(Stop::Blocked(response)) => {
                    self.metrics.rejected(TOOL);
                    return Ok(*response);
                }
            };
        }
        match &self.setup.plan.plugins {
            // In a box, so that the future of a request without plugins stays small.
            Some(plugins) => Ok(Box::pin(plugins.around(request, &self.client.peer, &delivery, memory)).await),
            None => delivery.send(request, &self.client.peer, memory).await,
        }
    }
}
