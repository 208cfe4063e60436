//! The bodies of requests and responses: forwarded, held for a plugin, or created here. An enumeration instead of boxes,
//! because most bodies are only forwarded.

use crate::upstream::failed::BoxError;
use crate::upstream::idle::Idle;
pub(crate) use crate::upstream::request_body::RequestBody;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

type Polled = Poll<Option<Result<Frame<Bytes>, BoxError>>>;

/// Bodies longer than this are read and prepared by the pool, so that a worker's other connections do not wait.
pub(crate) const LONG_TO_PREPARE: usize = 128 << 10;

/// A body for the layer.
pub(crate) enum ResponseBody {
    /// Forwarded from the upstream.
    Passing(Idle),
    /// Forwarded, after frames that were collected until there were too many to hold.
    Resumed(VecDeque<Bytes>, Idle),
    /// Complete: an answer of the gateway, or a body that was held for a plugin.
    Whole(Full<Bytes>),
}

impl ResponseBody {
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        Self::Whole(Full::new(body.into()))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Polled {
        match &mut *self {
            Self::Passing(body) => Pin::new(body).poll_frame(cx),
            Self::Resumed(frames, rest) => match frames.pop_front() {
                Some(frame) => Poll::Ready(Some(Ok(Frame::data(frame)))),
                None => Pin::new(rest).poll_frame(cx),
            },
            Self::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Passing(body) => body.is_end_stream(),
            Self::Resumed(frames, rest) => frames.is_empty() && rest.is_end_stream(),
            Self::Whole(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Passing(body) => body.size_hint(),
            // The head still contains the length, if the upstream sent one.
            Self::Resumed(..) => SizeHint::default(),
            Self::Whole(body) => body.size_hint(),
        }
    }
}
