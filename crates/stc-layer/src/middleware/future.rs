//! The future of a response: decides by its head, and collects a body that may be converted.

use super::body::{Replay, TransformBody};
use super::compressed::Compressing;
use super::predicate::Predicate;
use super::tee::TeeBuffer;
use crate::mcp::Calls;
use crate::negotiate::Ask;
use crate::pool::is_long;
use crate::{BodyRoom, Engine, Exchange, Format, Job, Plan, Sent, Skip, headers};
use bytes::{Bytes, BytesMut};
use http::response::Parts;
use http::{HeaderMap, Response};
use http_body::{Body, Frame};
use pin_project_lite::pin_project;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot;

pin_project! {
    /// The response of [`Transform`](super::Transform).
    pub struct ResponseFuture<F, B, P> {
        #[pin]
        inner: F,
        // In a box, so that futures of clients that do not opt in stay small.
        opted_in: Option<Box<(Engine, Exchange, TeeBuffer)>>,
        predicate: P,
        // Whether the client gets no body.
        head: bool,
        state: Option<State<B>>,
    }
}

/// What a response waits for.
enum State<B> {
    Collecting(Box<Collecting<B>>),
    Away(Box<Away>),
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
    held: BodyRoom,
}

/// A body that is converted in the pool.
struct Away {
    collected: Collected,
    ask: Ask,
    /// The headers, and the new body if there is one.
    done: oneshot::Receiver<(HeaderMap, Option<Bytes>)>,
}

/// A body that was received as a whole.
struct Collected {
    engine: Engine,
    exchange: Exchange,
    parts: Parts,
    format: Format,
    frames: VecDeque<Frame<Bytes>>,
    held: BodyRoom,
}

/// What happens after collecting.
enum Finished<B: Body> {
    Send(Response<TransformBody<B>>),
    Away(Box<Away>),
}

#[derive(Clone, Copy)]
enum Part {
    Whole,
    Message,
}

impl<F, B, P> ResponseFuture<F, B, P> {
    pub(super) fn new(inner: F, opted_in: Option<(Engine, Exchange, TeeBuffer)>, predicate: P) -> Self {
        let head = opted_in.as_ref().is_some_and(|(_, exchange, _)| exchange.is_head());
        Self { inner, opted_in: opted_in.map(Box::new), predicate, head, state: None }
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
        let mut state = match this.state.take() {
            Some(state) => state,
            None => {
                let response = ready!(this.inner.poll(cx))?;
                let Some(opted_in) = this.opted_in.take() else {
                    return Poll::Ready(Ok(response.map(TransformBody::unchanged)));
                };
                let (engine, exchange, buffer) = *opted_in;
                match decide(engine, exchange, &buffer, this.predicate, response) {
                    Decided::Send(response) => return Poll::Ready(Ok(without_body(response, *this.head))),
                    Decided::Collect(collecting) => State::Collecting(collecting),
                }
            }
        };
        loop {
            state = match state {
                State::Collecting(mut collecting) => match collecting.poll(cx) {
                    Poll::Ready(end) => match collecting.finish(end) {
                        Finished::Send(response) => return Poll::Ready(Ok(without_body(response, *this.head))),
                        Finished::Away(away) => State::Away(away),
                    },
                    Poll::Pending => {
                        *this.state = Some(State::Collecting(collecting));
                        return Poll::Pending;
                    }
                },
                State::Away(mut away) => match Pin::new(&mut away.done).poll(cx) {
                    Poll::Ready(done) => {
                        return Poll::Ready(Ok(without_body(away.finish(done.ok()), *this.head)));
                    }
                    Poll::Pending => {
                        *this.state = Some(State::Away(away));
                        return Poll::Pending;
                    }
                },
            }
        }
    }
}

/// Leaves out the body of a response to a HEAD request. A failure stays visible.
fn without_body<B: Body>(response: Response<TransformBody<B>>, head: bool) -> Response<TransformBody<B>> {
    if head && !response.body().has_failed() { response.map(|_| TransformBody::empty()) } else { response }
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
        Plan::Agree => {
            engine.agree(&exchange, &mut parts.headers);
            return Decided::Send(Response::from_parts(parts, TransformBody::unchanged(body)));
        }
        Plan::Unknown => {
            engine.unknown(&mut parts.headers);
            engine.tell_unknown(&exchange);
            return Decided::Send(Response::from_parts(parts, TransformBody::unchanged(body)));
        }
        Plan::Skip(ask, skip) => {
            engine.skip(&exchange, ask, skip, &mut parts.headers);
            return Decided::Send(passing(&engine, &exchange, parts, TransformBody::unchanged(body)));
        }
        Plan::Events(job) => {
            parts.extensions.insert(Sent(job.format));
            let stream = engine.events(&exchange, job, &mut parts.headers);
            return Decided::Send(Response::from_parts(parts, TransformBody::events(body, stream)));
        }
        Plan::Whole(job) => (Part::Whole, job),
        Plan::Message(job) => (Part::Message, job),
    };
    let Some(held) = engine.hold() else {
        engine.skip(&exchange, job.ask(), Skip::Busy, &mut parts.headers);
        return Decided::Send(passing(&engine, &exchange, parts, TransformBody::unchanged(body)));
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

    fn finish(self, end: End<B::Error>) -> Finished<B> {
        let Self { engine, exchange, mut parts, body, frames, length, part, mut job, held } = self;
        match end {
            End::TooLarge => {
                engine.skip(&exchange, job.ask(), Skip::TooLarge, &mut parts.headers);
                let replay = Replay { frames, held: Some(held), error: None, rest: Some(body) };
                Finished::Send(passing(&engine, &exchange, parts, TransformBody::replayed(replay)))
            }
            // The upstream's own error: the client sees the same as without this layer.
            End::Broken(error) => {
                let replay = Replay { frames, held: Some(held), error: Some(error), rest: None };
                Finished::Send(Response::from_parts(parts, TransformBody::replayed(replay)))
            }
            End::Whole => {
                let (mut whole, format) = (joined(&frames, length), job.format);
                let pool = engine.pool().filter(|_| is_long(&mut whole, &mut job)).cloned();
                let convert = move |engine: &Engine, exchange: &Exchange, job: &Job, headers: &mut HeaderMap| match part
                {
                    Part::Whole => engine.whole(exchange, job, headers, &whole).ok(),
                    Part::Message => engine.message(exchange, job, headers, &whole),
                };
                let Some(pool) = pool else {
                    let changed = convert(&engine, &exchange, &job, &mut parts.headers);
                    return Finished::Send(Collected { engine, exchange, parts, format, frames, held }.send(changed));
                };
                let (send, done) = oneshot::channel();
                let (ask, mut headers) = (job.ask(), parts.headers.clone());
                let (engine_there, exchange_there) = (engine.clone(), exchange.clone());
                pool.run(Box::new(move || {
                    let changed = convert(&engine_there, &exchange_there, &job, &mut headers);
                    let _ = send.send((headers, changed));
                }));
                let collected = Collected { engine, exchange, parts, format, frames, held };
                Finished::Away(Box::new(Away { collected, ask, done }))
            }
        }
    }
}

impl Away {
    fn finish<B: Body<Data = Bytes>>(mut self, done: Option<(HeaderMap, Option<Bytes>)>) -> Response<TransformBody<B>> {
        match done {
            Some((headers, changed)) => {
                self.collected.parts.headers = headers;
                self.collected.send(changed)
            }
            // The pool dropped the job: a defect, and no reason to send nothing.
            None => {
                let Collected { engine, exchange, parts, .. } = &mut self.collected;
                engine.skip(exchange, self.ask, Skip::Invalid, &mut parts.headers);
                self.collected.send(None)
            }
        }
    }
}

impl Collected {
    fn send<B: Body<Data = Bytes>>(self, changed: Option<Bytes>) -> Response<TransformBody<B>> {
        let Self { engine, exchange, mut parts, format, frames, held } = self;
        if let Some(changed) = changed {
            parts.extensions.insert(Sent(format));
            return Response::from_parts(parts, TransformBody::changed(changed, trailers(frames), held));
        }
        let replay = Replay { frames, held: Some(held), error: None, rest: None };
        passing(&engine, &exchange, parts, TransformBody::replayed(replay))
    }
}

/// Creates a response whose body is not converted, but compressed if the client accepts that.
fn passing<B: Body>(
    engine: &Engine,
    exchange: &Exchange,
    mut parts: Parts,
    body: TransformBody<B>,
) -> Response<TransformBody<B>> {
    let body = match engine.compress(exchange, &mut parts.headers) {
        Some((compressor, held)) => body.compressed(Compressing::new(compressor, held)),
        None => body,
    };
    Response::from_parts(parts, body)
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
