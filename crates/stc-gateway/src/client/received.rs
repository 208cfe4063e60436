//! The body of a client's request, which tells the connection whether some of it is unread.

use crate::client::activity::Activity;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The body, and the activity of its connection.
pub(crate) struct Received {
    body: Incoming,
    activity: Arc<Activity>,
}

impl Received {
    pub(crate) fn new(body: Incoming, activity: Arc<Activity>) -> Self {
        // HTTP/2 has a reset for the stream of a body that is not wanted.
        activity.set_unread(!activity.is_http2() && !body.is_end_stream());
        Self { body, activity }
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.activity.set_unread(false);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
