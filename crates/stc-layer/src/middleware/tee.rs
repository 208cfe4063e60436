//! A request body that is copied while the service reads it.
//!
//! The tool's name is in the request and is needed when the response arrives. Collecting the body first would delay the
//! request. The copy is one buffer: the frames themselves would keep the connection's buffers in memory, many bytes for each of
//! theirs.

use crate::exchange::Account;
use crate::memory::{Gathered, Held, guarded};
use bytes::Bytes;
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

/// What was copied so far, shared by the request and its response.
#[derive(Clone, Debug, Default)]
pub(super) struct TeeBuffer(Arc<Mutex<Copied>>);

#[derive(Debug, Default)]
struct Copied {
    body: Gathered,
    held: Held,
    /// Whether the rest is not copied: the body is too long, the memory for bodies is used up, or the response has come.
    ended: bool,
}

impl<B> Tee<B> {
    pub(super) const fn new(body: B, buffer: Option<TeeBuffer>) -> Self {
        Self { body, buffer }
    }
}

impl TeeBuffer {
    /// Creates an empty buffer whose bytes are counted in this account.
    pub(super) fn new(account: &Account) -> Self {
        let held = Held::new(account.0.clone());
        Self(Arc::new(Mutex::new(Copied { held, ..Copied::default() })))
    }

    fn push(&self, frame: &Bytes) {
        let mut copied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Copied { body, held, ended } = &mut *copied;
        if *ended {
            return;
        }
        if body.len() + frame.len() <= LONGEST_COPIED && held.grow(body.with(frame.len())) {
            body.push(frame.clone());
        } else {
            (*body, *held, *ended) = (Gathered::default(), Held::default(), true);
        }
    }

    /// Returns the body as far as it was read; nothing if it was too long. The rest is not copied.
    pub(super) fn body(&self) -> Bytes {
        let mut copied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Copied { body, held, .. } = std::mem::take(&mut *copied);
        copied.ended = true;
        guarded(body.into_bytes(), held)
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
