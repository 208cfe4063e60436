//! Requests from an agent to its model: the tool results inside them in fewer tokens.
//!
//! A request on a route with `context` is collected, prepared by `stc-context`, and sent. Everything that is wrong with it,
//! or goes wrong here, sends the bytes that came. Only an option that cannot be followed is answered with status 400, and a
//! request that could not be looked through for secrets, where that is required, with status 502. Where secrets are replaced at
//! all, every request of the route is looked through, also those that no API explains.

mod asked;
mod breaker;
mod clock;
pub(crate) mod compress;
pub(crate) mod counters;
pub(crate) mod inspect;
mod memories;
mod options;
mod plugin;
#[cfg_attr(not(feature = "redis"), path = "no_redis.rs")]
mod redis;
mod route;
pub(crate) mod settings;
mod signed;
mod stores;
pub(crate) mod telemetry;
mod tenant;
pub(crate) mod warnings;

pub use plugin::ContextPlugin;

use crate::access::Received;
use crate::body::{LONG_TO_PREPARE, RequestBody, ResponseBody};
use crate::client::memory::{ClientMemory, Count, Purse};
use crate::metrics::Metrics;
use crate::pool::Threads;
use crate::request_id::REQUEST_ID;
use crate::upstream::collect::{announced, answer_to};
use crate::upstream::failed::INCOMPLETE;
use crate::upstream::forward::{Failed, Forward};
use crate::upstream::forwarded::Peer;
use crate::upstream::tunnel;
use crate::upstream::upload::Upload;
use asked::Asked;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use options::Options;
use settings::compile;
use stc_context::{Begun, Caller, Context, Done, Endpoint, Reading, Refused, Report, Settings, Status, model_in_path};
use stc_layer::coding::Coding;
use stc_layer::memory::{Gathered, Held, fitted, guarded};
use stc_layer::{MatchedPath, Pool, Skip};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use stores::{Found, Stores};
use telemetry::{Event, Telemetry};

/// The header of a response with what became of the request's tool results.
const REPORT: HeaderName = HeaderName::from_static("x-stc-context");

/// What prepares the requests of one route, shared by all workers.
pub(crate) struct ContextRoute {
    context: Context,
    stores: Stores,
    /// Bytes of requests in memory.
    held: Arc<Count>,
    route: String,
    pool: Arc<Threads>,
    telemetry: Option<Arc<Telemetry>>,
    metrics: Arc<Metrics>,
}

/// How the requests of a route reach its upstream: prepared for a model, if the route has a context, or as they came.
pub(crate) struct Delivery {
    pub(crate) forward: Forward,
    pub(crate) context: Option<Arc<ContextRoute>>,
}

impl Delivery {
    /// Prepares a request for a model, if the route has a context, and forwards it.
    pub(crate) async fn send(
        &self,
        request: Request<RequestBody>,
        peer: &Peer,
        memory: &Arc<ClientMemory>,
    ) -> Result<Response<ResponseBody>, Failed> {
        match &self.context {
            None => self.forward.send(request, peer).await,
            // In a box, so that the future of a request without a context stays small.
            Some(context) => Box::pin(context.prepare_and_forward(&self.forward, request, peer, memory)).await,
        }
    }
}

/// A collected request, or one that cannot or need not be collected.
enum Collected {
    Whole(Bytes),
    Passing(RequestBody, Option<Status>),
}

/// A request that was read, or one that is prepared.
enum Stage {
    /// More may be found of its session.
    Look(Box<Look>),
    Done(Box<Done>),
}

/// A request that waits for a store.
struct Look {
    work: Work,
    begun: Begun,
    found: Found,
}

/// A collected request, and what its preparation needs.
struct Work {
    endpoint: Endpoint,
    /// Whether the request is one of the API; of others only secrets are replaced.
    is_known: bool,
    tenant: Vec<u8>,
    /// The model, if the path names it.
    model: Option<String>,
    /// The body without its content coding.
    plain: Bytes,
    /// The count of the request's bytes, for as long as it is worked on.
    _held: Arc<Held>,
    options: Options,
    request_id: Option<HeaderValue>,
    began: Instant,
}

/// What happens to a request.
enum Prepared {
    Send(RequestBody, Option<HeaderValue>),
    Refused(Response<ResponseBody>),
}

impl ContextRoute {
    pub(crate) fn new(
        route: &str,
        settings: Settings,
        pool: &Arc<Threads>,
        telemetry: Option<Arc<Telemetry>>,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, String> {
        let (pool, metrics, route) = (pool.clone(), metrics.clone(), route.to_owned());
        let stores = Stores::open(&settings, &metrics)?;
        let context = compile(settings)?.with_secret(stores.secret.clone());
        Ok(Self { context, stores, held: Arc::default(), route, pool, telemetry, metrics })
    }

    /// Prepares a request and forwards it.
    pub(crate) async fn prepare_and_forward(
        self: &Arc<Self>,
        forward: &Forward,
        request: Request<RequestBody>,
        peer: &Peer,
        memory: &Arc<ClientMemory>,
    ) -> Result<Response<ResponseBody>, Failed> {
        let (mut parts, body) = request.into_parts();
        let prepared = match self.asked(&parts, &body) {
            Asked::Model(endpoint) => self.prepare(endpoint, true, &mut parts, body, forward, memory).await?,
            Asked::Json(api) => self.prepare(api.into(), false, &mut parts, body, forward, memory).await?,
            Asked::Unread(api) => self.pass(api.into(), body, Some(Status::Invalid)),
            Asked::Nothing => Prepared::Send(body, None),
        };
        match prepared {
            Prepared::Refused(response) => Ok(response),
            Prepared::Send(body, report) => {
                let mut response = forward.send(Request::from_parts(parts, body), peer).await?;
                if let Some(report) = report {
                    response.headers_mut().insert(REPORT, report);
                }
                Ok(response)
            }
        }
    }

    /// Returns what a request is. Where secrets stay, what is not for a model is nothing to look at.
    fn asked(&self, parts: &Parts, body: &RequestBody) -> Asked {
        let model = self.endpoint(parts);
        if !self.context.redacts() {
            return model.filter(|_| asked::is_json(&parts.headers)).map_or(Asked::Nothing, Asked::Model);
        }
        let is_tunnel = tunnel::may_be_requested(&parts.method, &parts.headers);
        Asked::of(&parts.headers, MatchedPath::of(parts), !body.is_end_stream(), is_tunnel, model)
    }

    /// Returns the API of a request; `None` for a request that is not for a model.
    fn endpoint(&self, parts: &Parts) -> Option<Endpoint> {
        if parts.method != Method::POST {
            return None;
        }
        self.context.settings().api.fixed().map(Endpoint::from).or_else(|| Endpoint::of(MatchedPath::of(parts)))
    }

    async fn prepare(
        self: &Arc<Self>,
        endpoint: Endpoint,
        is_known: bool,
        parts: &mut Parts,
        body: RequestBody,
        forward: &Forward,
        memory: &Arc<ClientMemory>,
    ) -> Result<Prepared, Failed> {
        let began = Instant::now();
        if signed::is_signed(&parts.headers) {
            return Ok(self.pass(endpoint, body, Some(Status::Signed)));
        }
        let options = Options::take(&mut parts.headers, is_known && self.context.settings().options);
        let coding = Coding::of(&parts.headers).map_err(|_| Status::Invalid);
        let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        let coding = match coding {
            Ok(coding) => coding,
            Err(left) => return Ok(self.pass(endpoint, body, Some(left))),
        };
        let purse = Purse { memory: memory.clone(), patience: forward.timeouts.queue() };
        // What is held already counts in the account, and here for the route alone.
        let counted = if let RequestBody::Held(_) = &body { announced(&body).unwrap_or(0) } else { 0 };
        let held = route::hold(&purse, &self.held, self.context.settings().max_held_bytes, counted);
        let came = match self.collect(body, length, forward, &purse, &held).await? {
            Collected::Whole(came) => came,
            Collected::Passing(body, left) => return Ok(self.pass(endpoint, body, left)),
        };
        if let Some(received) = parts.extensions.get::<Received>() {
            received.collected(came.len());
        }
        let plain = match self.plain(&came, coding, &purse, &held).await {
            Ok(plain) => plain,
            Err(left) => return Ok(self.pass(endpoint, RequestBody::Held(Full::new(came)), Some(left))),
        };
        let request_id = parts.headers.get(REQUEST_ID).cloned();
        let tenant = tenant::of(parts, &self.stores.secret);
        let model = model_in_path(MatchedPath::of(parts)).map(Cow::into_owned);
        let work = Work { endpoint, is_known, tenant, model, plain, _held: held.clone(), options, request_id, began };
        match self.work(work).await {
            Ok(Ok(done)) => {
                if let (Some(received), Some(reading)) = (parts.extensions.get::<Received>(), read_by(&done.report)) {
                    received.read_by(reading);
                }
                let header = self.header(&done.report);
                let most = self.context.settings().max_held_bytes;
                let apart = (counted > 0).then(|| route::hold(&purse, &self.held, most, 0));
                Ok(Prepared::Send(replaced(&mut parts.headers, came, done.body, held, apart), header))
            }
            Ok(Err(why)) => Ok(self.refuse(endpoint, &why)),
            Err(left) => {
                held.shrink(came.len());
                Ok(self.pass(endpoint, RequestBody::Held(Full::new(came)), Some(left)))
            }
        }
    }

    /// Collects a body, unless it is too long, or the memory for bodies stays used up.
    async fn collect(
        &self,
        body: RequestBody,
        length: Option<usize>,
        forward: &Forward,
        purse: &Purse,
        held: &Arc<Held>,
    ) -> Result<Collected, Failed> {
        let settings = self.context.settings();
        if length.unwrap_or(0) > settings.longest_request() {
            return Ok(Collected::Passing(body, Some(Status::Large)));
        }
        // Without options of its own, a request shorter than any text that changes cannot change. A secret is short.
        let is_lossless = !settings.options && !settings.mode.is_lossy() && !self.context.redacts();
        if is_lossless && length.is_some_and(|length| length < settings.min_bytes) {
            return Ok(Collected::Passing(body, None));
        }
        let body = match body.into_held().await {
            Ok(came) if came.len() > settings.longest_request() => {
                return Ok(Collected::Passing(RequestBody::Held(Full::new(came)), Some(Status::Large)));
            }
            Ok(came) if !purse.grow(held, came.len()).await => {
                return Ok(Collected::Passing(RequestBody::Held(Full::new(came)), Some(Status::Busy)));
            }
            Ok(came) => return Ok(Collected::Whole(guarded(came, held.clone()))),
            Err(body) => body,
        };
        let mut whole = Gathered::expecting(announced(&body));
        let mut upload = Upload::new(body, forward.timeouts.receiving(&forward.limits), None);
        while let Some(frame) = upload.frame().await {
            let frame = frame.map_err(|error| answer_to(&*error).unwrap_or(INCOMPLETE))?;
            // Trailers describe the body as it came; the models' APIs define none.
            let Ok(data) = frame.into_data() else { continue };
            let left = match () {
                () if whole.len() + data.len() > settings.longest_request() => Status::Large,
                () if !purse.grow(held, whole.with(data.len())).await => Status::Busy,
                () => {
                    whole.push(data);
                    continue;
                }
            };
            let rest = RequestBody::Resumed(data, Box::new(upload.into_body()));
            let first = guarded(whole.into_bytes(), held.clone());
            return Ok(Collected::Passing(RequestBody::Resumed(first, Box::new(rest)), Some(left)));
        }
        Ok(Collected::Whole(guarded(whole.into_bytes(), held.clone())))
    }

    /// Returns a body without its content coding. A few bytes in one may stand for megabytes, which count as well: where there is no room
    /// for them, they are made again when there is.
    async fn plain(&self, came: &Bytes, coding: Coding, purse: &Purse, held: &Arc<Held>) -> Result<Bytes, Status> {
        if coding == Coding::Identity {
            return Ok(came.clone());
        }
        let most = self.context.settings().longest_request();
        loop {
            let (came, counted, length) = (came.clone(), held.clone(), coding.usual_length(came.len()));
            let decompress = move || {
                let plain = coding.decompress(&came, most).map_err(|skip| match skip {
                    Skip::TooLarge => Status::Large,
                    _ => Status::Invalid,
                })?;
                let all = came.len() + plain.len();
                Ok(if counted.grow(all) { Ok(fitted(plain.into_owned())) } else { Err(all) })
            };
            match self.on_the_pool(length, decompress).await? {
                Ok(plain) => return Ok(plain),
                Err(all) if purse.grow(held, all).await => {}
                Err(_) => return Err(Status::Busy),
            }
        }
    }

    /// Prepares a collected request. The error is why the request is sent as it came.
    async fn work(self: &Arc<Self>, work: Work) -> Result<Result<Done, Refused>, Status> {
        let length = work.plain.len();
        let is_long = length > LONG_TO_PREPARE;
        let route = self.clone();
        let begin = move || route.begin(work);
        let begun = if is_long { self.on_the_pool(length, begin).await? } else { begin()? };
        let mut look = match begun {
            Ok(Stage::Look(look)) => look,
            Ok(Stage::Done(done)) => return Ok(Ok(*done)),
            Err(why) => return Ok(Err(why)),
        };
        self.stores.look(look.begun.keys(), &mut look.found).await;
        let route = self.clone();
        let finish = move || route.finish(*look);
        if is_long { self.on_the_pool(length, finish).await } else { finish() }
    }

    /// Reads a collected request, and prepares it unless more may be found of its session.
    fn begin(&self, work: Work) -> Result<Result<Stage, Refused>, Status> {
        let headers = work.options.headers();
        let model = work.model.as_deref();
        let request = stc_context::Request { endpoint: work.endpoint, body: &work.plain, headers, model };
        let caller = Caller { tenant: &work.tenant, route: &self.route };
        // Only a defect panics here.
        let begun = catch_unwind(AssertUnwindSafe(|| match work.is_known {
            true => self.context.begin(request, caller),
            false => self.context.begin_unknown(work.endpoint.api, &work.plain),
        }));
        let begun = match begun.map_err(|_| Status::Failed)? {
            Ok(begun) => begun,
            Err(why) => return Ok(Err(why)),
        };
        let found = if begun.keys().is_empty() { Found::new() } else { self.stores.remembered(begun.keys()) };
        let look = Look { work, begun, found };
        if self.stores.has_more(&look.found) {
            return Ok(Ok(Stage::Look(Box::new(look))));
        }
        Ok(self.finish(look)?.map(|done| Stage::Done(Box::new(done))))
    }

    /// Prepares a request that was read, counts it and writes its events.
    fn finish(&self, look: Look) -> Result<Result<Done, Refused>, Status> {
        let Look { work, begun, found } = look;
        let finish = AssertUnwindSafe(|| self.context.finish(&work.plain, begun, &found));
        let mut done = match catch_unwind(finish).map_err(|_| Status::Failed)? {
            Ok(done) => done,
            Err(why) => return Ok(Err(why)),
        };
        self.stores.keep(std::mem::take(&mut done.keep));
        self.note(&work, &work.plain, &done);
        Ok(Ok(done))
    }

    /// Runs a job that works on about this many bytes. It leaves the queue with its request.
    async fn on_the_pool<T: Send + 'static>(
        &self,
        length: usize,
        job: impl FnOnce() -> Result<T, Status> + Send + 'static,
    ) -> Result<T, Status> {
        let (send, receive) = tokio::sync::oneshot::channel();
        let _ticket = self.pool.queue(length, Box::new(move || drop(send.send(job()))));
        receive.await.unwrap_or(Err(Status::Failed))
    }

    fn pass(&self, endpoint: Endpoint, body: RequestBody, left: Option<Status>) -> Prepared {
        let Some(left) = left else { return Prepared::Send(body, None) };
        // What is not read is not looked through for secrets either.
        if self.context.requires_redaction() {
            return self.refuse(endpoint, &Refused::Redaction);
        }
        self.metrics.context.left(endpoint.api, left);
        let unsearched = u64::from(self.context.redacts());
        self.metrics.context.fail_redaction(unsearched);
        let unsearched = if unsearched > 0 { "; unsearched=1" } else { "" };
        let header = format!("results=0; changed=0; tokens=0/0; left={left}{unsearched}");
        let header = self.context.settings().header.then_some(header);
        Prepared::Send(body, header.and_then(|header| HeaderValue::try_from(header).ok()))
    }

    /// Answers a request that is not sent.
    fn refuse(&self, endpoint: Endpoint, why: &Refused) -> Prepared {
        match why {
            Refused::Option(_) => self.metrics.context.refuse(),
            Refused::Redaction => self.metrics.context.fail_redaction(1),
        }
        Prepared::Refused(refused(endpoint, why))
    }

    fn header(&self, report: &Report) -> Option<HeaderValue> {
        let says = !report.items.is_empty() || report.left.is_some() || report.redaction_failures > 0;
        let header = (says && self.context.settings().header).then(|| report.header())?;
        HeaderValue::try_from(header).ok()
    }

    /// Counts a request and writes its events.
    fn note(&self, work: &Work, came: &[u8], done: &Done) {
        let took = work.began.elapsed();
        let report = &done.report;
        self.metrics.context.note(report, took);
        if let Some(telemetry) = self.telemetry.as_ref().filter(|_| !report.items.is_empty()) {
            let request_id = work.request_id.as_ref().and_then(|id| id.to_str().ok());
            let sent = done.body.as_deref().unwrap_or(came);
            let lost = telemetry.write(&Event {
                request_id,
                route: &self.route,
                tenant: &work.tenant,
                secret: &self.stores.secret,
                came,
                sent,
                report,
                took,
            });
            self.metrics.context.lose(lost);
        }
    }
}

/// Returns who reads a request, if that decided a format for some of its texts.
fn read_by(report: &Report) -> Option<&Reading> {
    report.reading.as_ref().filter(|_| !report.items.is_empty())
}

/// Returns the body to send, with headers that fit it. The other one is given up, and counts no longer. `apart` counts what is changed,
/// where what came was counted before.
fn replaced(
    headers: &mut HeaderMap,
    came: Bytes,
    changed: Option<Vec<u8>>,
    held: Arc<Held>,
    apart: Option<Arc<Held>>,
) -> RequestBody {
    let body = match changed {
        Some(changed) => {
            headers.remove(CONTENT_ENCODING);
            drop(came);
            let held = match apart {
                Some(apart) => {
                    drop(held);
                    // There is room, what came has just left it, unless others were faster.
                    let _ = apart.grow(changed.len());
                    apart
                }
                None => held,
            };
            held.shrink(changed.len());
            guarded(fitted(changed), held)
        }
        None => {
            held.shrink(came.len());
            came
        }
    };
    headers.remove(TRANSFER_ENCODING);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    RequestBody::Held(Full::new(body))
}

/// Creates the answer to a request that is not sent.
fn refused(endpoint: Endpoint, why: &Refused) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(endpoint.api.error(why)));
    *response.status_mut() = StatusCode::from_u16(why.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some((name, value)) = endpoint.api.error_header(why) {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}
