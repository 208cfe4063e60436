//! The body that the client receives: the service's own, or the converted one.

use super::compressed::{Compressing, Step};
use crate::{EventStream, Ticket, headers};
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot;

pin_project! {
    /// A response body after [`Transform`](super::Transform).
    pub struct TransformBody<B: Body> {
        #[pin]
        kind: Kind<B>,
    }
}

// Boxes for clients that opted in: a body that only passes is moved a few times and stays small.
pin_project! {
    #[project = KindProjection]
    enum Kind<B: Body> {
        // Every frame is forwarded.
        Untouched { #[pin] body: B },
        // Frames that were collected in vain, then the rest of the body.
        Replayed { replay: Box<Replay<B>> },
        // Collected and converted.
        Changed { changed: Box<Changed> },
        // Events, converted one by one.
        Events { #[pin] body: B, stream: Converting, last: Option<Box<Result<Frame<Bytes>, B::Error>>>, ended: bool },
        // Compressed as it passes.
        Compressed { body: Pin<Box<TransformBody<B>>>, compressing: Box<Compressing> },
    }
}

/// A stream of events, here or in the pool with its latest chunk.
enum Converting {
    Here(Box<EventStream>),
    Away {
        done: oneshot::Receiver<(Box<EventStream>, Vec<u8>)>,
        _ticket: Ticket,
    },
    /// The pool dropped the job.
    Lost,
}

/// The frame length of a converted body.
const FRAME: usize = 64 << 10;

/// A converted body.
struct Changed {
    data: Bytes,
    trailers: Option<HeaderMap>,
}

/// A body that was collected in part and is sent unchanged.
pub(super) struct Replay<B: Body> {
    pub(super) frames: VecDeque<Frame<Bytes>>,
    pub(super) error: Option<B::Error>,
    pub(super) rest: Option<Pin<Box<B>>>,
}

impl<B: Body> TransformBody<B> {
    /// Creates a body that passes unchanged.
    pub const fn unchanged(body: B) -> Self {
        Self { kind: Kind::Untouched { body } }
    }

    /// Returns whether the inner body failed while it was collected. Nothing of the response was sent by then, so the caller
    /// can still answer with an error of its own.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        matches!(&self.kind, Kind::Replayed { replay } if replay.error.is_some())
    }

    pub(super) fn replayed(replay: Replay<B>) -> Self {
        Self { kind: Kind::Replayed { replay: Box::new(replay) } }
    }

    pub(super) fn changed(data: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { kind: Kind::Changed { changed: Box::new(Changed { data, trailers }) } }
    }

    pub(super) fn events(body: B, stream: EventStream) -> Self {
        Self { kind: Kind::Events { body, stream: Converting::Here(Box::new(stream)), last: None, ended: false } }
    }

    /// Creates the body of a response to a HEAD request.
    pub(super) fn empty() -> Self {
        Self { kind: Kind::Changed { changed: Box::new(Changed { data: Bytes::new(), trailers: None }) } }
    }

    pub(super) fn compressed(self, compressing: Compressing) -> Self {
        Self { kind: Kind::Compressed { body: Box::pin(self), compressing: Box::new(compressing) } }
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
                if let Some(error) = replay.error.take() {
                    return Poll::Ready(Some(Err(error)));
                }
                replay.rest.as_mut().map_or(Poll::Ready(None), |rest| rest.as_mut().poll_frame(cx))
            }
            KindProjection::Changed { changed } => {
                let length = changed.data.len();
                if length > 0 {
                    let frame = changed.data.split_to(length.min(FRAME));
                    return Poll::Ready(Some(Ok(Frame::data(frame))));
                }
                Poll::Ready(changed.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))))
            }
            KindProjection::Events { body, stream, last, ended } => poll_events(body, stream, last, ended, cx),
            KindProjection::Compressed { body, compressing } => poll_compressed(body, compressing, cx),
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
            Kind::Compressed { compressing, .. } => compressing.is_finished(),
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
            Kind::Replayed { .. } | Kind::Events { .. } | Kind::Compressed { .. } => SizeHint::default(),
        }
    }
}

type Polled<E> = Poll<Option<Result<Frame<Bytes>, E>>>;

/// Converts events. A chunk that may end a long event is converted in the pool.
fn poll_events<B: Body<Data = Bytes>>(
    mut body: Pin<&mut B>,
    converting: &mut Converting,
    last: &mut Option<Box<Result<Frame<Bytes>, B::Error>>>,
    ended: &mut bool,
    cx: &mut Context<'_>,
) -> Polled<B::Error> {
    let mut out = Vec::new();
    loop {
        if let Converting::Away { done, .. } = converting {
            match ready!(Pin::new(done).poll(cx)) {
                Ok((stream, converted)) => {
                    *converting = Converting::Here(stream);
                    out = converted;
                }
                // Without its stream the rest of the body cannot be told apart: it ends here, as a broken one does.
                Err(_) => {
                    *converting = Converting::Lost;
                    *ended = true;
                }
            }
        }
        let Converting::Here(stream) = converting else { return Poll::Ready(None) };
        if *ended || !out.is_empty() {
            break;
        }
        match ready!(body.as_mut().poll_frame(cx)) {
            Some(Ok(frame)) if frame.is_data() => {
                let chunk = frame.into_data().unwrap_or_default();
                match stream.pool_for(chunk.len()) {
                    None => stream.push(&chunk, &mut out),
                    Some((pool, length)) => {
                        let pool = pool.clone();
                        let Converting::Here(mut stream) = std::mem::replace(converting, Converting::Lost) else {
                            return Poll::Ready(None);
                        };
                        let (send, receive) = oneshot::channel();
                        let job = move || {
                            let mut out = Vec::new();
                            stream.push(&chunk, &mut out);
                            let _ = send.send((stream, out));
                        };
                        let _ticket = pool.queue(length, Box::new(job));
                        *converting = Converting::Away { done: receive, _ticket };
                    }
                }
            }
            // Trailers, an error or the end: the client first gets what was held.
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
        let out = match converting {
            Converting::Here(stream) => stream.counted(out),
            _ => out.into(),
        };
        Poll::Ready(Some(Ok(Frame::data(out))))
    }
}

/// Compresses the frames of a body. What the client could already read is sent when the service pauses.
fn poll_compressed<B: Body<Data = Bytes>>(
    body: &mut Pin<Box<TransformBody<B>>>,
    compressing: &mut Compressing,
    cx: &mut Context<'_>,
) -> Polled<B::Error> {
    let sent = |out: Vec<u8>| Poll::Ready(Some(Ok(Frame::data(Bytes::from(out)))));
    loop {
        if compressing.is_finished() {
            return Poll::Ready(None);
        }
        if let Some(trailers) = compressing.take_trailers() {
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        match compressing.step() {
            Step::Send(out) if out.is_empty() => continue,
            Step::Send(out) => return sent(out),
            Step::Next => {}
        }
        match body.as_mut().poll_frame(cx) {
            Poll::Pending => {
                let out = compressing.flush();
                return if out.is_empty() { Poll::Pending } else { sent(out) };
            }
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => compressing.data(data),
                Err(frame) => {
                    let trailers = frame.into_trailers().ok().map(|mut trailers| {
                        headers::trailers(&mut trailers);
                        trailers
                    });
                    return sent(compressing.finish(trailers));
                }
            },
            Poll::Ready(None) => return sent(compressing.finish(None)),
        }
    }
}
