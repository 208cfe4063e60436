//! A response's body on its way to the client: it keeps the request's permit until it is sent or given up.

use crate::client::streams::{LAST_FRAME, LONGEST_FRAME, Progress};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

pin_project! {
    /// The body, and a guard that is dropped with it.
    pub(crate) struct Sending<B, G> {
        #[pin]
        body: B,
        guard: G,
        stream: Option<Stream>,
    }
}

/// What is kept for a body on an HTTP/2 stream.
struct Stream {
    progress: Arc<Progress>,
    /// The rest of the body's latest frame, still to be handed over.
    rest: Bytes,
    /// The length of the frame that was handed over last.
    handed: usize,
}

impl<B, G> Sending<B, G> {
    pub(crate) fn new(body: B, guard: G, progress: Option<Arc<Progress>>) -> Self {
        let stream = progress.map(|progress| Stream { progress, rest: Bytes::new(), handed: 0 });
        Self { body, guard, stream }
    }
}

impl Stream {
    /// Cuts off the next frame: at most [`LONGEST_FRAME`] bytes, and the last at most [`LAST_FRAME`].
    fn next(&mut self) -> Frame<Bytes> {
        let length = match self.rest.len() {
            length @ ..=LAST_FRAME => length,
            length => LONGEST_FRAME.min(length - LAST_FRAME),
        };
        self.handed = length;
        self.progress.waiting(true);
        Frame::data(self.rest.split_to(length))
    }
}

impl<B: Body<Data = Bytes>, G> Body for Sending<B, G> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.project();
        let Some(stream) = this.stream else { return this.body.poll_frame(cx) };
        stream.progress.accepted(std::mem::take(&mut stream.handed));
        if !stream.rest.is_empty() {
            return Poll::Ready(Some(Ok(stream.next())));
        }
        stream.progress.waiting(false);
        let polled = this.body.poll_frame(cx);
        match polled {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(Ok(match frame.into_data() {
                Ok(data) => {
                    stream.rest = data;
                    stream.next()
                }
                Err(other) => other,
            }))),
            polled => polled,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.stream.as_ref().is_none_or(|stream| stream.rest.is_empty()) && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.stream.as_ref().map_or(0, |stream| stream.rest.len()) as u64;
        let mut hint = self.body.size_hint();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{BodyExt, Full};

    #[tokio::test]
    async fn frames_on_a_stream_are_short_and_the_last_is_shorter() {
        for length in [
            0,
            1,
            LAST_FRAME,
            LAST_FRAME + 1,
            LONGEST_FRAME,
            LONGEST_FRAME + 1,
            LONGEST_FRAME + LAST_FRAME,
            LONGEST_FRAME + LAST_FRAME + 1,
            100_000,
        ] {
            let data: Bytes = (0..length).map(|place| place as u8).collect();
            let progress = Arc::<Progress>::default();
            let mut sending = Sending::new(Full::new(data.clone()), (), Some(progress));
            let mut lengths = Vec::new();
            let mut joined = Vec::new();
            while !sending.is_end_stream() {
                assert_eq!(sending.size_hint().exact(), Some((length - joined.len()) as u64));
                let frame = sending.frame().await.unwrap().unwrap().into_data().unwrap();
                lengths.push(frame.len());
                joined.extend_from_slice(&frame);
            }
            assert_eq!(joined, data);
            assert!(lengths.iter().all(|length| (1..=LONGEST_FRAME).contains(length)), "{lengths:?}");
            assert!(lengths.last().is_none_or(|last| *last <= LAST_FRAME), "{lengths:?}");
        }
    }
}
