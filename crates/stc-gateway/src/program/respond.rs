//! One request: a place for it, its route, the layer, the upstream.

use super::body::{RequestBody, ResponseBody};
use super::forward::{Failed, Peer};
use super::guarded::Guarded;
use super::ledger::{Counted, Ledger};
use super::request_id::{REQUEST_ID, request_id};
use super::setup::Setup;
use crate::{Engine, TransformBody, TransformLayer};
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Limited;
use hyper::body::Incoming;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tower::{Layer, ServiceExt};

/// A place among the requests under way, and the count of them.
pub(crate) type UnderWay = (Option<OwnedSemaphorePermit>, Counted);

/// Answers a request. It waits while as many are under way as the configuration allows.
pub(crate) async fn respond(
    mut request: Request<Incoming>,
    peer: SocketAddr,
    setup: Arc<Setup>,
    ledger: Arc<Ledger>,
) -> Result<Response<Guarded<TransformBody<ResponseBody>, UnderWay>>, Infallible> {
    let place = setup.requests.clone().acquire_owned().await;
    let counted = Counted::new(&ledger, |ledger| &ledger.requests);
    request.extensions_mut().insert(Peer(peer));
    let id = request_id(request.headers().get(REQUEST_ID));
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let (engine, forward) = match setup.route(request.uri().path()) {
        // A tunnel would be a way round everything here.
        Some((engine, forward)) if request.method() != Method::CONNECT => (engine.clone(), Some(forward.clone())),
        _ => (Engine::new(crate::Policy::default()), None),
    };
    let most = usize::try_from(setup.plan.config.limits.request_bytes).unwrap_or(usize::MAX);
    let service = tower::service_fn(move |request: Request<_>| {
        let (forward, setup) = (forward.clone(), setup.clone());
        async move {
            let sent = match (forward, &setup.plan.plugins) {
                // A future that most requests do not need: in a box, so that they do not carry it.
                (Some(forward), Some(plugins)) => Ok(Box::pin(plugins.around(request, forward)).await),
                (Some(forward), None) => forward.send(request.map(RequestBody::Passing)).await,
                (None, _) => Err(Failed(StatusCode::NOT_FOUND, "no route")),
            };
            Ok::<_, Infallible>(sent.unwrap_or_else(Failed::answer))
        }
    });
    let layered = TransformLayer::with_engine(engine).layer(service);
    let response = layered.oneshot(request.map(|body| Limited::new(body, most))).await;
    response.map(|mut response| {
        ledger.responded(response.status());
        response.headers_mut().entry(REQUEST_ID).or_insert(id);
        // A stream may stay open for hours with nothing on it: it is a connection, not a request under way.
        let kind = response.headers().get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
        let under_way = (place.ok().filter(|_| !kind.starts_with(b"text/event-stream")), counted);
        response.map(|body| Guarded::new(body, under_way))
    })
}
