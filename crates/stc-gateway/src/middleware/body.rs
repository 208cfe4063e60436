//! The body that the client gets: the upstream's own, or what became of it.

use crate::{EventStream, Held};
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// A response body after [`Transform`](super::Transform).
    pub struct TransformBody<B: Body> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProjection]
    enum Kind<B: Body> {
        // Every frame as it comes.
        Untouched { #[pin] body: B },
        // What had been collected when it turned out that nothing changes, and then the rest.
        Replayed { replay: Replay<B> },
        // Collected and changed. It keeps its place until the last of it has been asked for.
        Changed { data: Bytes, trailers: Option<HeaderMap>, held: Option<Held> },
        // Events, changed as they come.
        Events { #[pin] body: B, stream: Box<EventStream>, last: Option<Result<Frame<Bytes>, B::Error>>, ended: bool },
    }
}

/// A changed body goes out in pieces: a server takes as many as it likes to buffer, and a client that reads slowly keeps
/// the rest here, where it is counted.
const PIECE: usize = 64 << 10;

/// A body that was collected in part.
pub(super) struct Replay<B: Body> {
    pub(super) frames: VecDeque<Frame<Bytes>>,
    /// Its place, until the frames have been asked for.
    pub(super) held: Option<Held>,
    pub(super) error: Option<B::Error>,
    pub(super) rest: Option<Pin<Box<B>>>,
}

impl<B: Body> TransformBody<B> {
    pub(super) const fn untouched(body: B) -> Self {
        Self { kind: Kind::Untouched { body } }
    }

    pub(super) const fn replayed(replay: Replay<B>) -> Self {
        Self { kind: Kind::Replayed { replay } }
    }

    pub(super) const fn changed(data: Bytes, trailers: Option<HeaderMap>, held: Held) -> Self {
        Self { kind: Kind::Changed { data, trailers, held: Some(held) } }
    }

    pub(super) fn events(body: B, stream: EventStream) -> Self {
        Self { kind: Kind::Events { body, stream: Box::new(stream), last: None, ended: false } }
    }
}

impl<B: Body<Data = Bytes>> Body for TransformBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            KindProjection::Untouched { body } => body.poll_frame(cx),
            KindProjection::Replayed { replay } => {
                if let Some(frame) = replay.frames.pop_front() {
                    return Poll::Ready(Some(Ok(frame)));
                }
                replay.held = None;
                if let Some(error) = replay.error.take() {
                    return Poll::Ready(Some(Err(error)));
                }
                replay.rest.as_mut().map_or(Poll::Ready(None), |rest| rest.as_mut().poll_frame(cx))
            }
            KindProjection::Changed { data, trailers, held } => {
                if !data.is_empty() {
                    let piece = data.split_to(data.len().min(PIECE));
                    return Poll::Ready(Some(Ok(Frame::data(piece))));
                }
                *held = None;
                Poll::Ready(trailers.take().map(|trailers| Ok(Frame::trailers(trailers))))
            }
            KindProjection::Events { mut body, stream, last, ended } => {
                let mut out = Vec::new();
                while !*ended && out.is_empty() {
                    match ready!(body.as_mut().poll_frame(cx)) {
                        Some(Ok(frame)) if frame.is_data() => {
                            stream.push(&frame.into_data().unwrap_or_default(), &mut out);
                        }
                        // Trailers, an error, the end: the client sees what was held, and then that.
                        other => {
                            *ended = true;
                            *last = other;
                            stream.finish(&mut out);
                        }
                    }
                }
                if out.is_empty() { Poll::Ready(last.take()) } else { Poll::Ready(Some(Ok(Frame::data(out.into())))) }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Untouched { body } => body.is_end_stream(),
            Kind::Replayed { replay } => {
                let rest = replay.rest.as_ref().is_none_or(|rest| rest.is_end_stream());
                replay.frames.is_empty() && replay.error.is_none() && rest
            }
            Kind::Changed { data, trailers, .. } => data.is_empty() && trailers.is_none(),
            Kind::Events { ended, last, .. } => *ended && last.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Untouched { body } => body.size_hint(),
            Kind::Changed { data, .. } => SizeHint::with_exact(data.len() as u64),
            Kind::Replayed { replay: Replay { frames, error: None, rest: None, .. } } => {
                SizeHint::with_exact(frames.iter().filter_map(Frame::data_ref).map(Bytes::len).sum::<usize>() as u64)
            }
            Kind::Replayed { .. } | Kind::Events { .. } => SizeHint::default(),
        }
    }
}
