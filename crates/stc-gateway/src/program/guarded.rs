//! A body that keeps something until it has been sent: a place among the requests under way.

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// The body, and what goes when it goes.
    pub(crate) struct Guarded<B, G> {
        #[pin]
        body: B,
        guard: G,
    }
}

impl<B, G> Guarded<B, G> {
    pub(crate) const fn new(body: B, guard: G) -> Self {
        Self { body, guard }
    }
}

impl<B: Body, G> Body for Guarded<B, G> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
