//! The access log: one event for each request, when its response is sent or given up.

use crate::request_id::REQUEST_ID;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use stc_layer::{Sent, Tenant, headers};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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
}

impl Received {
    pub(crate) fn add(&self, bytes: usize) {
        self.0.forwarded.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Notes that the body was collected. What is forwarded may have another length.
    pub(crate) fn collected(&self, bytes: usize) {
        self.0.collected.store(bytes as u64, Ordering::Relaxed);
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
    /// Starts the record of a request, if the log contains such events.
    pub(crate) fn start<B>(request: &mut Request<B>) -> Option<Self> {
        if !tracing::event_enabled!(target: "access", tracing::Level::INFO) {
            return None;
        }
        let received = Received::default();
        request.extensions_mut().insert(received.clone());
        let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
        Some(Self {
            began: Instant::now(),
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            request_id: id.to_owned(),
            trace_id: request.headers().get("traceparent").and_then(trace_id),
            upstream: None,
            tenant: None,
            received,
            answer: None,
        })
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

/// Returns the trace of a `traceparent` (W3C Trace Context), if it is well formed. The header itself passes unchanged.
fn trace_id(parent: &HeaderValue) -> Option<String> {
    let fields: Vec<&str> = parent.to_str().ok()?.split('-').collect();
    let [version, trace, span, flags, ..] = fields[..] else { return None };
    let digits = |field: &str, length| {
        field.len() == length && field.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    };
    let known = digits(version, 2) && version != "ff" && (version != "00" || fields.len() == 4);
    let whole = known && digits(trace, 32) && digits(span, 16) && digits(flags, 2);
    (whole && trace.bytes().any(|digit| digit != b'0') && span.bytes().any(|digit| digit != b'0'))
        .then(|| trace.to_owned())
}

impl Drop for Access {
    fn drop(&mut self) {
        let milliseconds = self.began.elapsed().as_secs_f64() * 1e3;
        let answer = self.answer.as_ref();
        let (bytes_received, bytes_forwarded) = self.received.bytes();
        tracing::info!(
            target: "access",
            request_id = self.request_id.as_str(),
            trace_id = self.trace_id.as_deref(),
            method = self.method.as_str(),
            path = self.path.as_str(),
            status = answer.map(|answer| answer.status),
            upstream = self.upstream.as_deref(),
            tenant = answer.and_then(|answer| answer.tenant.as_deref()).or(self.tenant.as_deref()),
            milliseconds = (milliseconds * 1e3).round() / 1e3,
            bytes_received,
            bytes_forwarded,
            bytes_sent = answer.map(|answer| answer.bytes),
            complete = answer.is_some_and(|answer| answer.complete),
            format = answer.and_then(|answer| answer.format),
            reason = answer.and_then(|answer| answer.reason.as_deref()),
            "request"
        );
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
    pub(crate) fn new(body: B, access: Option<Access>) -> Self {
        Self { body, access: access.map(Box::new) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_well_formed_parents() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        for (parent, expected) in [
            (format!("00-{trace}-{span}-01"), Some(trace)),
            (format!("01-{trace}-{span}-01-more"), Some(trace)),
            (format!("00-{trace}-{span}-01-more"), None),
            (format!("ff-{trace}-{span}-01"), None),
            (format!("00-{}-{span}-01", "0".repeat(32)), None),
            (format!("00-{trace}-{}-01", "0".repeat(16)), None),
            (format!("00-{}-{span}-01", trace.to_uppercase()), None),
            (format!("00-{trace}-{span}"), None),
            (String::new(), None),
        ] {
            assert_eq!(trace_id(&HeaderValue::try_from(&parent).unwrap()).as_deref(), expected, "{parent}");
        }
    }
}
