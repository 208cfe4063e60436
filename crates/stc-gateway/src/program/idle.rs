//! An upstream's body, watched: it gives up when nothing comes for too long, and what goes wrong is written down.

use super::body::BoxError;
use super::ledger::{Ledger, UpstreamFailure};
use bytes::Bytes;
use http::HeaderValue;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// A body, its patience, and since when it waits.
pub(crate) struct Idle {
    body: Incoming,
    patience: Duration,
    /// Only while it waits: a body that is there at once needs no timer.
    waiting: Option<Pin<Box<Sleep>>>,
    ledger: Arc<Ledger>,
    request_id: Option<HeaderValue>,
}

impl Idle {
    pub(crate) const fn new(
        body: Incoming,
        patience: Duration,
        ledger: Arc<Ledger>,
        request_id: Option<HeaderValue>,
    ) -> Self {
        Self { body, patience, waiting: None, ledger, request_id }
    }
}

impl Body for Idle {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            this.waiting = None;
            if matches!(frame, Some(Err(_))) {
                this.ledger.failed(UpstreamFailure::Broken, this.request_id.as_ref());
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let patience = this.patience;
        let waiting = this.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        match waiting.as_mut().poll(cx) {
            Poll::Ready(()) => {
                this.ledger.failed(UpstreamFailure::Silent, this.request_id.as_ref());
                Poll::Ready(Some(Err("the upstream went silent".into())))
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
