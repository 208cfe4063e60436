//! An upstream with prepared answers, and a client that sees every header and byte.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use stc_layer::{Engine, Policy, Tenant, TransformLayer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tower::{Layer, ServiceExt, service_fn};

/// A document that is smaller as STC.
pub(crate) const ROWS: &str = r#"[{"id": 1, "name": "users", "method": "GET"}, {"id": 2, "name": "orders", "method": "POST"}, {"id": 3, "name": "carts", "method": "GET"}]"#;
/// The same document as STC 1.
pub(crate) const ROWS_STC: &str = r#"[3]{id,name,method}: 1,"users","GET" / 2,"orders","POST" / 3,"carts","GET""#;

/// An answer of the upstream.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) frames: Vec<Vec<u8>>,
    /// Whether the body fails after its frames.
    pub(crate) breaks: bool,
    pub(crate) trailers: Option<HeaderMap>,
}

impl Answer {
    pub(crate) fn new(body: impl Into<Vec<u8>>) -> Self {
        Self { status: StatusCode::OK, headers: Vec::new(), frames: vec![body.into()], breaks: false, trailers: None }
    }

    /// Creates a JSON answer with its length, as most servers send it.
    pub(crate) fn json(body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let length = body.len().to_string();
        Self::new(body).with("content-type", "application/json").with("content-length", length)
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = StatusCode::from_u16(status).unwrap();
        self
    }
}

/// The response that the client received.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) broken: bool,
    /// The method and the headers that the upstream received.
    pub(crate) method: Method,
    pub(crate) asked: HeaderMap,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

pub(crate) struct Client {
    pub(crate) engine: Engine,
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) body: String,
    /// The tenant that the credentials of its requests prove.
    pub(crate) tenant: Option<&'static str>,
}

impl Client {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { engine: Engine::new(policy), method: Method::GET, path: "/rows", body: String::new(), tenant: None }
    }

    /// Sends a request with these headers; the layer converts this answer.
    pub(crate) async fn ask(&self, headers: &[(&'static str, &str)], answer: Answer) -> Got {
        self.ask_through(TransformLayer::with_engine(self.engine.clone()), headers, answer).await
    }

    pub(crate) async fn ask_through<P: stc_layer::Predicate>(
        &self,
        layer: TransformLayer<P>,
        headers: &[(&'static str, &str)],
        answer: Answer,
    ) -> Got {
        let asked = Arc::new(Mutex::new((Method::GET, HeaderMap::new())));
        let seen = asked.clone();
        let service = service_fn(move |request: Request<_>| {
            let (answer, seen) = (answer.clone(), seen.clone());
            async move {
                *seen.lock().unwrap() = (request.method().clone(), request.headers().clone());
                drain(request.into_body()).await;
                Ok::<_, Infallible>(respond(answer))
            }
        });
        let mut request = Request::builder().method(self.method.clone()).uri(self.path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(tenant) = self.tenant {
            request = request.extension(Tenant(tenant.into()));
        }
        let request = request.body(Full::new(Bytes::from(self.body.clone()))).unwrap();
        let response = layer.layer(service).oneshot(request).await.unwrap();
        let (parts, mut body) = response.into_parts();
        let (method, asked) = asked.lock().unwrap().clone();
        let mut got = Got {
            status: parts.status,
            headers: parts.headers,
            body: Vec::new(),
            trailers: None,
            broken: false,
            method,
            asked,
        };
        while let Some(frame) = body.frame().await {
            match frame.map(Frame::into_data) {
                Ok(Ok(data)) => got.body.extend_from_slice(&data),
                Ok(Err(frame)) => got.trailers = frame.into_trailers().ok(),
                Err(_) => got.broken = true,
            }
        }
        got
    }
}

async fn drain<B: Body + Unpin>(mut body: B) {
    while let Some(Ok(_)) = body.frame().await {}
}

fn respond(answer: Answer) -> Response<Frames> {
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    let data = answer.frames.into_iter().map(|frame| Ok(Frame::data(Bytes::from(frame))));
    let trailers = answer.trailers.map(|trailers| Ok(Frame::trailers(trailers)));
    let error = answer.breaks.then(|| Err(io::Error::other("the upstream died")));
    let frames: Vec<_> = data.chain(trailers).chain(error).collect();
    response.body(Frames(frames.into())).unwrap()
}

/// A body that returns one frame per poll.
pub(crate) struct Frames(VecDeque<io::Result<Frame<Bytes>>>);

impl Body for Frames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(self.0.pop_front())
    }
}
