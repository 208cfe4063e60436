//! The access log: one event for each request, when its response is sent or given up. The server span of the request, if it has
//! one, ends then too.

use crate::request_id::REQUEST_ID;
use crate::traces::parent::Parent;
use crate::traces::request::{Arrival, ServerSpan, Traces};
use crate::upstream::forwarded::{Peer, host_of};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use stc_context::{Reader, Reading};
use stc_layer::{Sent, Tenant, headers};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;

/// The bytes of a request's body, counted as the upstream receives them.
#[derive(Clone, Default)]
pub(crate) struct Received(Arc<Counts>);

#[derive(Default)]
struct Counts {
    forwarded: AtomicU64,
    /// The bytes that came, if the body was collected and prepared before it was forwarded.
    collected: AtomicU64,
    /// Who reads it, if it is a request to a model.
    reading: OnceLock<Reading>,
}

impl Received {
    pub(crate) fn add(&self, bytes: usize) {
        self.0.forwarded.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Notes that the body was collected. What is forwarded may have another length.
    pub(crate) fn collected(&self, bytes: usize) {
        self.0.collected.store(bytes as u64, Ordering::Relaxed);
    }

    /// Notes who reads the request.
    pub(crate) fn read_by(&self, reading: &Reading) {
        let _ = self.0.reading.set(reading.clone());
    }

    /// Returns the bytes that came, and the bytes that were forwarded if those were counted apart.
    fn bytes(&self) -> (u64, Option<u64>) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        match (load(&self.0.collected), load(&self.0.forwarded)) {
            (0, forwarded) => (forwarded, None),
            (collected, forwarded) => (collected, Some(forwarded)),
        }
    }
}

/// The upstream that answered, in the extensions of a response.
#[derive(Clone)]
pub(crate) struct Upstream(pub(crate) Arc<str>);

/// What is known of a request. The event is logged on drop.
pub(crate) struct Access {
    /// Whether the log contains such events.
    logs: bool,
    span: Option<ServerSpan>,
    began: Instant,
    method: Method,
    path: String,
    request_id: String,
    trace_id: Option<String>,
    upstream: Option<Arc<str>>,
    tenant: Option<Arc<str>>,
    received: Received,
    answer: Option<Answer>,
}

/// What is known of its response.
struct Answer {
    status: u16,
    tenant: Option<Arc<str>>,
    format: Option<&'static str>,
    reason: Option<String>,
    bytes: u64,
    complete: bool,
}

impl Access {
    /// Starts the record of a request, if the log contains such events or the request has spans.
    pub(crate) fn start<B>(
        request: &mut Request<B>,
        peer: &Peer,
        traces: &Traces,
        route: Option<&str>,
    ) -> Option<Box<Self>> {
        let logs = tracing::event_enabled!(target: "access", tracing::Level::INFO);
        let span = traces.begin(request.headers_mut()).map(|trace| {
            let at = Arrival { scheme: peer.scheme(), host: host_of(request.uri(), request.headers()), route };
            let span = ServerSpan::new(trace.clone(), request, &at);
            request.extensions_mut().insert(trace.observer());
            request.extensions_mut().insert(trace);
            span
        });
        if !logs && span.is_none() {
            return None;
        }
        let received = Received::default();
        request.extensions_mut().insert(received.clone());
        let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
        Some(Box::new(Self {
            logs,
            span,
            began: Instant::now(),
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            request_id: id.to_owned(),
            trace_id: Parent::of(request.headers()).map(|parent| parent.trace.to_string()),
            upstream: None,
            tenant: None,
            received,
            answer: None,
        }))
    }

    /// Notes the tenant that the request's credentials prove.
    pub(crate) fn authenticated(&mut self, tenant: Arc<str>) {
        self.tenant = Some(tenant);
    }

    /// Notes the head of the response.
    pub(crate) fn answered<B: Body>(&mut self, response: &Response<B>) {
        let reason = response.headers().get(headers::STC_SKIPPED).and_then(|reason| reason.to_str().ok());
        if let Some(Upstream(name)) = response.extensions().get() {
            self.upstream = Some(name.clone());
        }
        self.answer = Some(Answer {
            status: response.status().as_u16(),
            tenant: response.extensions().get().map(|Tenant(tenant)| tenant.clone()),
            format: response.extensions().get::<Sent>().map(|sent| sent.0.name()),
            reason: reason.map(String::from),
            bytes: 0,
            complete: response.body().is_end_stream(),
        });
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        if self.logs {
            self.log();
        }
        if let Some(span) = self.span.take() {
            self.end(span);
        }
    }
}

impl Access {
    fn log(&self) {
        let milliseconds = self.began.elapsed().as_secs_f64() * 1e3;
        let answer = self.answer.as_ref();
        let (bytes_received, bytes_forwarded) = self.received.bytes();
        let reading = self.received.0.reading.get();
        tracing::info!(
            target: "access",
            request_id = self.request_id.as_str(),
            trace_id = self.trace_id.as_deref(),
            method = self.method.as_str(),
            path = self.path.as_str(),
            status = answer.map(|answer| answer.status),
            upstream = self.upstream.as_deref(),
            tenant = self.tenant(),
            milliseconds = (milliseconds * 1e3).round() / 1e3,
            bytes_received,
            bytes_forwarded,
            reader = reading.and_then(|reading| reading.reader).map(Reader::name),
            reader_by = reading.map(|reading| &*reading.by),
            bytes_sent = answer.map(|answer| answer.bytes),
            complete = answer.is_some_and(|answer| answer.complete),
            format = answer.and_then(|answer| answer.format),
            reason = answer.and_then(|answer| answer.reason.as_deref()),
            "request"
        );
    }

    fn tenant(&self) -> Option<&str> {
        let answer = self.answer.as_ref();
        answer.and_then(|answer| answer.tenant.as_deref()).or(self.tenant.as_deref())
    }

    /// Ends the server span with what is known by now.
    fn end(&self, mut span: ServerSpan) {
        let answer = self.answer.as_ref();
        let status = answer.map(|answer| answer.status);
        let complete = answer.is_some_and(|answer| answer.complete);
        let attributes = &mut span.attributes;
        attributes.text("stc.request_id", &self.request_id);
        attributes.number("http.request.body.size", self.received.bytes().0);
        if let Some(answer) = answer {
            attributes.number("http.response.status_code", answer.status.into());
            attributes.number("http.response.body.size", answer.bytes);
            if let Some(format) = answer.format {
                attributes.word("stc.format", format);
            }
            if let Some(reason) = &answer.reason {
                attributes.text("stc.skipped", reason);
            }
        }
        if let Some(tenant) = self.tenant() {
            attributes.text("stc.tenant", tenant);
        }
        attributes.flag("stc.complete", complete);
        span.finish(status, complete);
    }
}

pin_project! {
    /// A response's body with the record of its request.
    pub(crate) struct Logged<B> {
        #[pin]
        body: B,
        access: Option<Box<Access>>,
    }
}

impl<B> Logged<B> {
    pub(crate) const fn new(body: B, access: Option<Box<Access>>) -> Self {
        Self { body, access }
    }
}

impl<B: Body<Data = Bytes>> Body for Logged<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        let polled = this.body.as_mut().poll_frame(cx);
        if let Some(answer) = this.access.as_mut().and_then(|access| access.answer.as_mut()) {
            match &polled {
                Poll::Ready(Some(Ok(frame))) => answer.bytes += frame.data_ref().map_or(0, |data| data.len() as u64),
                Poll::Ready(None) => answer.complete = true,
                Poll::Ready(Some(Err(_))) | Poll::Pending => {}
            }
            answer.complete |= this.body.is_end_stream();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
