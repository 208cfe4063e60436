//! Answers one request: permit, route, layer, upstream.

use crate::access::{Access, Logged};
use crate::body::{RequestBody, ResponseBody};
use crate::context::Delivery;
use crate::forward::{Failed, Peer};
use crate::forwarded::{check_host, host_of};
use crate::metrics::{Counted, Metrics};
use crate::permits::{Connection, Permit};
use crate::request_id::{REQUEST_ID, request_id};
use crate::sending::Sending;
use crate::setup::Setup;
use crate::streams::Progress;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Limited;
use hyper::body::Incoming;
use stc_layer::{Engine, TransformBody, TransformLayer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tower::{Layer, ServiceExt};

/// The permit of a request in progress, the count of them, and its duration.
pub(crate) type InProgress = (Option<Permit>, Counted, Option<Timed>);

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
    pub(crate) peer: SocketAddr,
    pub(crate) connection: Connection,
}

/// Answers a request once it has a permit, or refuses it if it waits for one too long.
pub(crate) async fn respond(
    mut request: Request<Incoming>,
    client: Arc<Client>,
    setup: Arc<Setup>,
    metrics: Arc<Metrics>,
) -> Result<Response<Sending<Logged<TransformBody<ResponseBody>>, InProgress>>, Infallible> {
    let began = Instant::now();
    let permit = setup.plan.permits.acquire(&client.connection).await;
    let counted = Counted::new(&metrics, |metrics| &metrics.requests);
    request.extensions_mut().insert(Peer(client.peer));
    let id = request_id(request.headers().get(REQUEST_ID));
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let (engine, delivery) = match setup.route(host_of(request.uri(), request.headers()), request.uri().path()) {
        // A tunnel would bypass everything here.
        Some((engine, delivery)) if request.method() != Method::CONNECT => (engine.clone(), Some(delivery.clone())),
        _ => (Engine::new(stc_layer::Policy::default()), None),
    };
    let mut access = Access::start(&mut request);
    let timed = delivery.clone();
    let compressor = setup.compressor(request.uri().path()).cloned();
    let malformed = check_host(request.version(), request.headers()).err();
    let refusal = permit.as_ref().err().copied();
    if let Some(refusal) = refusal {
        metrics.refused(refusal);
    }
    let longest = usize::try_from(setup.plan.config.limits.request_bytes).unwrap_or(usize::MAX);
    let service = tower::service_fn(move |request: Request<_>| {
        let (delivery, setup, compressor) = (delivery.clone(), setup.clone(), compressor.clone());
        async move {
            if let Some(refusal) = refusal {
                let mut response = Failed(StatusCode::SERVICE_UNAVAILABLE, refusal.text()).answer();
                let retry_after = HeaderValue::from(setup.plan.permits.retry_after());
                response.headers_mut().insert(RETRY_AFTER, retry_after);
                return Ok(response);
            }
            if let Some(malformed) = malformed {
                return Ok(malformed.answer());
            }
            if let Some(compressor) = compressor {
                let limit = setup.plan.config.timeouts.response();
                let answered = Box::pin(compressor.answer(request, limit)).await;
                return Ok(answered.unwrap_or_else(Failed::answer));
            }
            let sent = match (delivery, &setup.plan.plugins) {
                // In a box, so that the future of a request without plugins stays small.
                (Some(delivery), Some(plugins)) => Ok(Box::pin(plugins.around(request, &delivery)).await),
                (Some(delivery), None) => delivery.send(request.map(RequestBody::Passing)).await,
                (None, _) => Err(Failed(StatusCode::NOT_FOUND, "no route")),
            };
            Ok::<_, Infallible>(sent.unwrap_or_else(Failed::answer))
        }
    });
    let layered = TransformLayer::with_engine(engine).layer(service);
    let response = layered.oneshot(request.map(|body| Limited::new(body, longest))).await;
    response.map(|response| {
        let mut response = if response.body().has_failed() {
            Failed(StatusCode::BAD_GATEWAY, "the upstream's response is incomplete")
                .answer()
                .map(TransformBody::unchanged)
        } else {
            response
        };
        metrics.responded(response.status());
        response.headers_mut().entry(REQUEST_ID).or_insert(id);
        // An event stream may stay open for hours with nothing to send: it does not count as a request in progress.
        let kind = response.headers().get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
        let timed = timed.map(|delivery| Timed { delivery, status: response.status(), began });
        let in_progress = (permit.ok().filter(|_| !kind.starts_with(b"text/event-stream")), counted, timed);
        if let Some(access) = &mut access {
            access.answered(&response);
        }
        response.map(|body| Sending::new(Logged::new(body, access), in_progress, Progress::of_stream()))
    })
}
