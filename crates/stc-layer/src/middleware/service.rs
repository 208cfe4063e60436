//! The service: reads the head of the request and leaves the response to the future.

use super::body::TransformBody;
use super::future::ResponseFuture;
use super::predicate::Predicate;
use super::tee::{Tee, TeeBuffer};
use crate::exchange::Account;
use crate::{Engine, Exchange, MatchedPath, Memory, Tenant};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// A service that sends responses in the format that the client prefers.
#[derive(Clone)]
pub struct Transform<S, P> {
    inner: S,
    engine: Engine,
    predicate: P,
    memory: Option<Arc<dyn Memory>>,
}

impl<S, P> Transform<S, P> {
    pub(super) const fn new(inner: S, engine: Engine, predicate: P, memory: Option<Arc<dyn Memory>>) -> Self {
        Self { inner, engine, predicate, memory }
    }
}

impl<S, P, ReqBody, ResBody> Service<Request<ReqBody>> for Transform<S, P>
where
    S: Service<Request<Tee<ReqBody>>, Response = Response<ResBody>>,
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
        let tenant = parts.extensions.get().map(|Tenant(tenant)| tenant);
        let path = MatchedPath::among(&parts.extensions, &parts.uri);
        let mut exchange = self.engine.open_from(&parts.method, path, &mut parts.headers, tenant);
        if let Some(exchange) = &mut exchange {
            exchange.observer = parts.extensions.get().cloned();
            exchange.account = Account(self.memory.clone());
        }
        // The headers of the converted body are known once it is converted.
        if exchange.as_ref().is_some_and(Exchange::is_head) {
            parts.method = Method::GET;
        }
        let buffer = exchange.as_ref().filter(|exchange| exchange.is_mcp());
        let buffer = buffer.map(|exchange| TeeBuffer::new(&exchange.account));
        let request = Request::from_parts(parts, Tee::new(body, buffer.clone()));
        let opted_in = exchange.map(|exchange| (self.engine.clone(), exchange, buffer.unwrap_or_default()));
        ResponseFuture::new(self.inner.call(request), opted_in, self.predicate.clone())
    }
}
