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

// Boxes for all that was asked for: a body that only passes is moved a few times, and should be as small as it was.
pin_project! {
    #[project = KindProjection]
    enum Kind<B: Body> {
        // Every frame as it comes.
        Untouched { #[pin] body: B },
        // What had been collected when it turned out that nothing changes, and then the rest.
        Replayed { replay: Box<Replay<B>> },
        // Collected and changed.
        Changed { changed: Box<Changed> },
        // Events, changed as they come.
        Events { #[pin] body: B, stream: Box<EventStream>, last: Option<Box<Result<Frame<Bytes>, B::Error>>>, ended: bool },
    }
}

/// A changed body goes out in pieces: a server takes as many as it likes to buffer, and a client that reads slowly keeps
/// the rest here, where it is counted.
const PIECE: usize = 64 << 10;

/// A body that changed. It keeps its place until the last of it has been asked for.
struct Changed {
    data: Bytes,
    trailers: Option<HeaderMap>,
    held: Option<Held>,
}

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

    pub(super) fn replayed(replay: Replay<B>) -> Self {
        Self { kind: Kind::Replayed { replay: Box::new(replay) } }
    }

    pub(super) fn changed(data: Bytes, trailers: Option<HeaderMap>, held: Held) -> Self {
        Self { kind: Kind::Changed { changed: Box::new(Changed { data, trailers, held: Some(held) }) } }
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
            KindProjection::Changed { changed } => {
                let length = changed.data.len();
                if length > 0 {
                    let piece = changed.data.split_to(length.min(PIECE));
                    return Poll::Ready(Some(Ok(Frame::data(piece))));
                }
                changed.held = None;
                Poll::Ready(changed.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))))
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
                            *last = other.map(Box::new);
                            stream.finish(&mut out);
                        }
                    }
                }
                if out.is_empty() {
                    Poll::Ready(last.take().map(|last| *last))
                } else {
                    Poll::Ready(Some(Ok(Frame::data(out.into()))))
                }
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
            Kind::Changed { changed } => changed.data.is_empty() && changed.trailers.is_none(),
            Kind::Events { ended, last, .. } => *ended && last.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Untouched { body } => body.size_hint(),
            Kind::Changed { changed } => SizeHint::with_exact(changed.data.len() as u64),
            Kind::Replayed { replay } if replay.error.is_none() && replay.rest.is_none() => {
                let lengths = replay.frames.iter().filter_map(Frame::data_ref).map(Bytes::len);
                SizeHint::with_exact(lengths.sum::<usize>() as u64)
            }
            Kind::Replayed { .. } | Kind::Events { .. } => SizeHint::default(),
        }
    }
}
