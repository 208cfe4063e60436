//! The body of a request for an upstream.

use crate::client::received::Received;
use crate::upstream::failed::BoxError;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full, Limited};
use stc_layer::Tee;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A body for an upstream.
pub(crate) enum RequestBody {
    /// Forwarded from the client.
    Passing(Tee<Limited<Received>>),
    /// Held for a plugin, or prepared: its bytes count in the account until they are gone.
    Held(Full<Bytes>),
    /// Forwarded, after bytes that were collected until there were too many to hold.
    Resumed(Bytes, Box<RequestBody>),
}

impl RequestBody {
    /// Returns a body that is held already, which whoever collects it takes without a further count: it would wait for itself.
    pub(crate) async fn into_held(self) -> Result<Bytes, Self> {
        match self {
            Self::Held(mut body) => {
                let Some(Ok(frame)) = body.frame().await else { return Ok(Bytes::new()) };
                Ok(frame.into_data().unwrap_or_default())
            }
            other => Err(other),
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut *self {
            Self::Passing(body) => Pin::new(body).poll_frame(cx),
            Self::Held(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Self::Resumed(first, rest) => match std::mem::take(first) {
                first if first.is_empty() => Pin::new(&mut **rest).poll_frame(cx),
                first => Poll::Ready(Some(Ok(Frame::data(first)))),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Passing(body) => body.is_end_stream(),
            Self::Held(body) => body.is_end_stream(),
            Self::Resumed(first, rest) => first.is_empty() && rest.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Passing(body) => body.size_hint(),
            Self::Held(body) => body.size_hint(),
            // The head still contains the length, if the client sent one.
            Self::Resumed(..) => SizeHint::default(),
        }
    }
}
