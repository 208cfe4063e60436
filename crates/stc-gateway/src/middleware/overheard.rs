//! A request body that is listened to as it goes past.
//!
//! The tool's name is in the request and is needed when the response comes. To collect the body first would delay it
//! and hold it; to keep the frames that went past costs a pointer each.

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// The most that is kept of a request. A longer one calls a tool that is not known.
const MOST: usize = 1 << 20;

pin_project! {
    /// The body that the inner service gets: the client's, frame by frame.
    #[derive(Debug)]
    pub struct Overheard<B> {
        #[pin]
        body: B,
        ear: Option<Ear>,
    }
}

/// What was heard so far, shared between the request and its response.
#[derive(Clone, Debug, Default)]
pub(super) struct Ear(Arc<Mutex<Heard>>);

#[derive(Debug, Default)]
struct Heard {
    frames: Vec<Bytes>,
    length: usize,
}

impl<B> Overheard<B> {
    pub(super) const fn new(body: B, ear: Option<Ear>) -> Self {
        Self { body, ear }
    }
}

impl Ear {
    fn hear(&self, frame: &Bytes) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.length = heard.length.saturating_add(frame.len());
        if heard.length <= MOST {
            heard.frames.push(frame.clone());
        } else {
            heard.frames = Vec::new();
        }
    }

    /// The body as far as it has gone past; nothing if it was too long.
    pub(super) fn heard(&self) -> Bytes {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match heard.frames.as_mut_slice() {
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

impl<B: Body<Data = Bytes>> Body for Overheard<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.project();
        let polled = this.body.poll_frame(cx);
        if let (Some(ear), Poll::Ready(Some(Ok(frame)))) = (this.ear, &polled)
            && let Some(data) = frame.data_ref()
        {
            ear.hear(data);
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
