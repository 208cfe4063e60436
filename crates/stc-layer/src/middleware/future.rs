//! The future of a response: decides by its head, and collects a body that may be converted.

use super::body::{Replay, TransformBody};
use super::predicate::Predicate;
use super::tee::TeeBuffer;
use crate::mcp::Calls;
use crate::{Engine, Exchange, Held, Job, Plan, Skip, headers};
use bytes::{Bytes, BytesMut};
use http::response::Parts;
use http::{HeaderMap, Response};
use http_body::{Body, Frame};
use pin_project_lite::pin_project;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// The response of [`Transform`](super::Transform).
    pub struct ResponseFuture<F, B, P> {
        #[pin]
        inner: F,
        // In a box, so that futures of clients that do not opt in stay small.
        opted_in: Option<Box<(Engine, Exchange, TeeBuffer)>>,
        predicate: P,
        collecting: Option<Box<Collecting<B>>>,
    }
}

/// A body that may be converted, as far as it was received.
struct Collecting<B> {
    engine: Engine,
    exchange: Exchange,
    parts: Parts,
    body: Pin<Box<B>>,
    frames: VecDeque<Frame<Bytes>>,
    length: usize,
    part: Part,
    job: Job,
    held: Held,
}

#[derive(Clone, Copy)]
enum Part {
    Whole,
    Message,
}

impl<F, B, P> ResponseFuture<F, B, P> {
    pub(super) fn new(inner: F, opted_in: Option<(Engine, Exchange, TeeBuffer)>, predicate: P) -> Self {
        Self { inner, opted_in: opted_in.map(Box::new), predicate, collecting: None }
    }
}

impl<F, B, P, E> Future for ResponseFuture<F, B, P>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body<Data = Bytes>,
    P: Predicate,
{
    type Output = Result<Response<TransformBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut collecting = match this.collecting.take() {
            Some(collecting) => collecting,
            None => {
                let response = ready!(this.inner.poll(cx))?;
                let Some(opted_in) = this.opted_in.take() else {
                    return Poll::Ready(Ok(response.map(TransformBody::unchanged)));
                };
                let (engine, exchange, buffer) = *opted_in;
                match decide(engine, exchange, &buffer, this.predicate, response) {
                    Decided::Send(response) => return Poll::Ready(Ok(response)),
                    Decided::Collect(collecting) => collecting,
                }
            }
        };
        match collecting.poll(cx) {
            Poll::Ready(end) => Poll::Ready(Ok(collecting.finish(end))),
            Poll::Pending => {
                *this.collecting = Some(collecting);
                Poll::Pending
            }
        }
    }
}

enum Decided<B: Body> {
    Send(Response<TransformBody<B>>),
    Collect(Box<Collecting<B>>),
}

fn decide<B: Body>(
    engine: Engine,
    mut exchange: Exchange,
    buffer: &TeeBuffer,
    predicate: &impl Predicate,
    response: Response<B>,
) -> Decided<B> {
    let (mut parts, body) = response.into_parts();
    let mut plan = engine.plan(&mut exchange, || Calls::read(&buffer.body()), parts.status, &parts.headers);
    if let Plan::Whole(job) | Plan::Message(job) | Plan::Events(job) = &plan
        && !predicate.agrees(&parts)
    {
        plan = Plan::Skip(job.ask(), Skip::Excluded);
    }
    let (part, job) = match plan {
        Plan::Leave => return Decided::Send(Response::from_parts(parts, TransformBody::unchanged(body))),
        Plan::Skip(ask, skip) => {
            engine.skip(&exchange, ask, skip, &mut parts.headers);
            return Decided::Send(Response::from_parts(parts, TransformBody::unchanged(body)));
        }
        Plan::Events(job) => {
            let stream = engine.events(&exchange, job, &mut parts.headers);
            return Decided::Send(Response::from_parts(parts, TransformBody::events(body, stream)));
        }
        Plan::Whole(job) => (Part::Whole, job),
        Plan::Message(job) => (Part::Message, job),
    };
    let Some(held) = engine.hold() else {
        engine.skip(&exchange, job.ask(), Skip::Busy, &mut parts.headers);
        return Decided::Send(Response::from_parts(parts, TransformBody::unchanged(body)));
    };
    let (body, frames) = (Box::pin(body), VecDeque::new());
    Decided::Collect(Box::new(Collecting { engine, exchange, parts, body, frames, length: 0, part, job, held }))
}

/// How collecting ended.
enum End<E> {
    Whole,
    TooLarge,
    Broken(E),
}

impl<B: Body<Data = Bytes>> Collecting<B> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End<B::Error>> {
        loop {
            match ready!(self.body.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(End::Whole),
                Some(Err(error)) => return Poll::Ready(End::Broken(error)),
                Some(Ok(frame)) => {
                    self.length += frame.data_ref().map_or(0, Bytes::len);
                    self.frames.push_back(frame);
                }
            }
            if self.length > self.engine.policy().max_bytes {
                return Poll::Ready(End::TooLarge);
            }
        }
    }

    fn finish(self, end: End<B::Error>) -> Response<TransformBody<B>> {
        let Self { engine, exchange, mut parts, body, frames, length, part, job, held } = self;
        let replay = match end {
            End::TooLarge => {
                engine.skip(&exchange, job.ask(), Skip::TooLarge, &mut parts.headers);
                Replay { frames, held: Some(held), error: None, rest: Some(body) }
            }
            // The upstream's own error: the client sees the same as without this layer.
            End::Broken(error) => Replay { frames, held: Some(held), error: Some(error), rest: None },
            End::Whole => {
                let whole = joined(&frames, length);
                let changed = match part {
                    Part::Whole => engine.whole(&exchange, &job, &mut parts.headers, &whole).ok(),
                    Part::Message => engine.message(&exchange, &job, &mut parts.headers, &whole),
                };
                if let Some(changed) = changed {
                    let body = TransformBody::changed(changed, trailers(frames), held);
                    return Response::from_parts(parts, body);
                }
                Replay { frames, held: Some(held), error: None, rest: None }
            }
        };
        Response::from_parts(parts, TransformBody::replayed(replay))
    }
}

fn joined(frames: &VecDeque<Frame<Bytes>>, length: usize) -> Bytes {
    let mut data = frames.iter().filter_map(Frame::data_ref);
    match (data.next(), data.next()) {
        (None, _) => Bytes::new(),
        (Some(one), None) => one.clone(),
        _ => {
            let mut whole = BytesMut::with_capacity(length);
            frames.iter().filter_map(Frame::data_ref).for_each(|data| whole.extend_from_slice(data));
            whole.freeze()
        }
    }
}

fn trailers(frames: VecDeque<Frame<Bytes>>) -> Option<HeaderMap> {
    let mut trailers = frames.into_iter().find_map(|frame| frame.into_trailers().ok())?;
    headers::trailers(&mut trailers);
    Some(trailers)
}
