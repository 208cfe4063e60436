//! An upstream's body with a time limit between frames; failures are counted and logged.

use crate::metrics::Failures;
use crate::traces::request::ClientSpan;
use crate::upstream::connections::Lent;
use crate::upstream::failed::BoxError;
use crate::upstream::failure::{Cause, Failure, shown};
use bytes::Bytes;
use http::HeaderValue;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// The body, with its time limit.
pub(crate) struct Idle {
    body: Incoming,
    patience: Duration,
    /// Set only while waiting: a frame that is available at once needs no timer.
    waiting: Option<Pin<Box<Sleep>>>,
    failures: Arc<Failures>,
    request_id: Option<HeaderValue>,
    /// Ends with the body.
    span: Option<ClientSpan>,
    /// Given back at the end of the body.
    lent: Option<Lent>,
}

impl Idle {
    pub(crate) fn new(
        body: Incoming,
        patience: Duration,
        failures: Arc<Failures>,
        request_id: Option<HeaderValue>,
        span: Option<ClientSpan>,
        lent: Option<Lent>,
    ) -> Self {
        let mut body = Self { body, patience, waiting: None, failures, request_id, span, lent };
        body.give_back();
        body
    }

    /// Gives the connection back, if all of the body was read.
    fn give_back(&mut self) {
        if self.body.is_end_stream()
            && let Some(lent) = self.lent.take()
        {
            lent.give_back();
        }
    }

    /// Counts and logs a failure.
    fn note(&mut self, failure: &Failure) {
        self.failures.note(failure, self.request_id.as_ref());
        if let Some(span) = &mut self.span {
            span.failed(failure.cause.name());
        }
    }
}

impl Body for Idle {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            this.waiting = None;
            match &frame {
                Some(Err(error)) => this.note(&Failure::new(Cause::Broken, shown(error))),
                Some(Ok(_)) => this.give_back(),
                None => {
                    if let Some(lent) = this.lent.take() {
                        lent.give_back();
                    }
                }
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let patience = this.patience;
        let waiting = this.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        match waiting.as_mut().poll(cx) {
            Poll::Ready(()) => {
                this.note(&Failure::new(Cause::Silent, format!("no byte for {patience:?}")));
                Poll::Ready(Some(Err("the upstream stopped sending".into())))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
