//! One request: a place for it, its route, the layer, the upstream.

use super::forward::{Peer, ResponseBody, answer};
use super::guarded::Guarded;
use super::ledger::{Counted, Ledger};
use super::setup::Setup;
use crate::{Engine, TransformBody, TransformLayer};
use http::{Request, Response, StatusCode};
use http_body_util::Limited;
use hyper::body::Incoming;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::{AcquireError, OwnedSemaphorePermit};
use tower::{Layer, ServiceExt};

/// A place among the requests under way, and the count of them.
pub(crate) type UnderWay = (Result<OwnedSemaphorePermit, AcquireError>, Counted);

/// Answers a request. It waits while as many are under way as the configuration allows.
pub(crate) async fn respond(
    mut request: Request<Incoming>,
    peer: SocketAddr,
    setup: Arc<Setup>,
    ledger: Arc<Ledger>,
) -> Result<Response<Guarded<TransformBody<ResponseBody>, UnderWay>>, Infallible> {
    let place = setup.requests.clone().acquire_owned().await;
    let under_way = (place, Counted::new(&ledger, |ledger| &ledger.requests));
    request.extensions_mut().insert(Peer(peer));
    let (engine, forward) = match setup.route(request.uri().path()) {
        Some((engine, forward)) => (engine.clone(), Some(forward.clone())),
        None => (Engine::new(crate::Policy::default()), None),
    };
    let most = usize::try_from(setup.plan.config.limits.request_bytes).unwrap_or(usize::MAX);
    let service = tower::service_fn(move |request| {
        let forward = forward.clone();
        async move {
            Ok::<_, Infallible>(match forward {
                Some(forward) => forward.send(request).await,
                None => answer(StatusCode::NOT_FOUND, "no route"),
            })
        }
    });
    let layered = TransformLayer::with_engine(engine).layer(service);
    let response = layered.oneshot(request.map(|body| Limited::new(body, most))).await;
    response.map(|response| {
        ledger.responded(response.status());
        response.map(|body| Guarded::new(body, under_way))
    })
}
