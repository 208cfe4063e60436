//! A request body that is copied while the service reads it.
//!
//! The tool's name is in the request and is needed when the response arrives. Collecting the body first would delay the
//! request; a copy of a frame costs one pointer.

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// The longest request that is kept. The tool of a longer request is unknown.
const LONGEST_COPIED: usize = 1 << 20;

pin_project! {
    /// The body that the inner service reads: the client's, frame by frame.
    #[derive(Debug)]
    pub struct Tee<B> {
        #[pin]
        body: B,
        buffer: Option<TeeBuffer>,
    }
}

/// The frames copied so far, shared by the request and its response.
#[derive(Clone, Debug, Default)]
pub(super) struct TeeBuffer(Arc<Mutex<Copied>>);

#[derive(Debug, Default)]
struct Copied {
    frames: Vec<Bytes>,
    length: usize,
}

impl<B> Tee<B> {
    pub(super) const fn new(body: B, buffer: Option<TeeBuffer>) -> Self {
        Self { body, buffer }
    }
}

impl TeeBuffer {
    fn push(&self, frame: &Bytes) {
        let mut copied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        copied.length = copied.length.saturating_add(frame.len());
        if copied.length <= LONGEST_COPIED {
            copied.frames.push(frame.clone());
        } else {
            copied.frames = Vec::new();
        }
    }

    /// Returns the body as far as it was read; nothing if it was too long.
    pub(super) fn body(&self) -> Bytes {
        let mut copied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match copied.frames.as_mut_slice() {
            [] => Bytes::new(),
            [one] => std::mem::take(one),
            many => {
                let mut whole = BytesMut::with_capacity(many.iter().map(Bytes::len).sum());
                many.iter().for_each(|frame| whole.extend_from_slice(frame));
                whole.freeze()
            }
        }
    }
}

impl<B: Body<Data = Bytes>> Body for Tee<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.project();
        let polled = this.body.poll_frame(cx);
        if let (Some(buffer), Poll::Ready(Some(Ok(frame)))) = (this.buffer, &polled)
            && let Some(data) = frame.data_ref()
        {
            buffer.push(data);
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
