//! The bodies of requests and responses on their way: as they come, or held by a plugin, or our own. No boxes: most bodies
//! only pass.

use super::idle::Idle;
use crate::Overheard;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{Full, Limited};
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;
type Polled = Poll<Option<Result<Frame<Bytes>, BoxError>>>;

/// What goes to an upstream.
pub(crate) enum RequestBody {
    /// As it comes from the client.
    Passing(Overheard<Limited<Incoming>>),
    /// Held, for a plugin.
    Held(Full<Bytes>),
}

/// What comes back.
pub(crate) enum ResponseBody {
    /// As it comes from the upstream.
    Passing(Idle),
    /// As it comes, after what had come before it turned out to be too much to hold.
    Resumed(VecDeque<Bytes>, Idle),
    /// All there: an answer of our own, or what a plugin held.
    Whole(Full<Bytes>),
}

impl ResponseBody {
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        Self::Whole(Full::new(body.into()))
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Polled {
        match &mut *self {
            Self::Passing(body) => Pin::new(body).poll_frame(cx),
            Self::Held(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Passing(body) => body.is_end_stream(),
            Self::Held(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Passing(body) => body.size_hint(),
            Self::Held(body) => body.size_hint(),
        }
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
            // The head still says how long it is, where it did.
            Self::Resumed(..) => SizeHint::default(),
            Self::Whole(body) => body.size_hint(),
        }
    }
}
