//! The service: looks at the request, and lets the future look at the response.

use super::body::TransformBody;
use super::future::ResponseFuture;
use super::overheard::{Ear, Overheard};
use super::predicate::Predicate;
use crate::Engine;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use std::task::{Context, Poll};
use tower_service::Service;

/// A service whose responses come in the format that the client asked for.
#[derive(Clone)]
pub struct Transform<S, P> {
    inner: S,
    engine: Engine,
    predicate: P,
}

impl<S, P> Transform<S, P> {
    pub(super) const fn new(inner: S, engine: Engine, predicate: P) -> Self {
        Self { inner, engine, predicate }
    }
}

impl<S, P, ReqBody, ResBody> Service<Request<ReqBody>> for Transform<S, P>
where
    S: Service<Request<Overheard<ReqBody>>, Response = Response<ResBody>>,
    ResBody: Body<Data = Bytes>,
    P: Predicate,
{
    type Response = Response<TransformBody<ResBody>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future, ResBody, P>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        let exchange = self.engine.open(&parts.method, parts.uri.path(), &mut parts.headers);
        let ear = exchange.as_ref().filter(|exchange| exchange.is_mcp()).map(|_| Ear::default());
        let request = Request::from_parts(parts, Overheard::new(body, ear.clone()));
        let asked = exchange.map(|exchange| (self.engine.clone(), exchange, ear.unwrap_or_default()));
        ResponseFuture::new(self.inner.call(request), asked, self.predicate.clone())
    }
}
