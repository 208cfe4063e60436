//! The future of a response: decides by its head, and collects a body that may be converted.

use super::body::{Replay, TransformBody};
use super::compressed::Compressing;
use super::predicate::Predicate;
use super::tee::TeeBuffer;
use crate::coding::Coding;
use crate::mcp::Calls;
use crate::memory::{BodyRoom, Gathered, fitted, guarded};
use crate::negotiate::Ask;
use crate::pool::long_work;
use crate::{Engine, Exchange, Format, Job, Plan, Sent, Skip, Ticket, headers};
use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::response::Parts;
use http::{HeaderMap, Response};
use http_body::{Body, Frame};
use pin_project_lite::pin_project;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;
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
    gathered: Gathered,
    trailers: Option<HeaderMap>,
    part: Part,
    job: Job,
    held: BodyRoom,
}

/// A body that is converted in the pool.
struct Away {
    collected: Collected,
    ask: Ask,
    done: oneshot::Receiver<Converted>,
    _ticket: Ticket,
}

/// The headers of a response, its new body if there is one, and the room of both.
type Converted = (HeaderMap, Option<Bytes>, BodyRoom);

/// A body that was received as a whole.
struct Collected {
    engine: Engine,
    exchange: Exchange,
    parts: Parts,
    format: Format,
    whole: Bytes,
    trailers: Option<HeaderMap>,
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
    let Some(held) = engine.hold_for(&exchange) else {
        engine.skip(&exchange, job.ask(), Skip::Busy, &mut parts.headers);
        return Decided::Send(passing(&engine, &exchange, parts, TransformBody::unchanged(body)));
    };
    let announced = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let (body, gathered, trailers) = (Box::pin(body), Gathered::expecting(announced), None);
    Decided::Collect(Box::new(Collecting { engine, exchange, parts, body, gathered, trailers, part, job, held }))
}

/// How collecting ended.
enum End<E> {
    Whole,
    /// Not to be held, and the data that was not added to the rest.
    Passes(Skip, Bytes),
    Broken(E),
}

impl<B: Body<Data = Bytes>> Collecting<B> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End<B::Error>> {
        loop {
            match ready!(self.body.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(End::Whole),
                Some(Err(error)) => return Poll::Ready(End::Broken(error)),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if self.gathered.len() + data.len() > self.engine.policy().max_bytes => {
                        return Poll::Ready(End::Passes(Skip::TooLarge, data));
                    }
                    Ok(data) if !self.held.bytes().grow(self.gathered.with(data.len())) => {
                        return Poll::Ready(End::Passes(Skip::Busy, data));
                    }
                    Ok(data) => self.gathered.push(data),
                    Err(frame) => self.trailers = frame.into_trailers().ok(),
                },
            }
        }
    }

    fn finish(self, end: End<B::Error>) -> Finished<B> {
        let Self { engine, exchange, mut parts, body, gathered, trailers, part, job, held } = self;
        let whole = gathered.into_bytes();
        let (rest, error) = match end {
            End::Whole => {
                return Collected { engine, exchange, parts, format: job.format, whole, trailers }
                    .convert(part, job, held);
            }
            End::Passes(skip, rest) => {
                engine.skip(&exchange, job.ask(), skip, &mut parts.headers);
                (Some((rest, body)), None)
            }
            // The upstream's own error: the client sees the same as without this layer.
            End::Broken(error) => (None, Some(error)),
        };
        let mut frames = VecDeque::from_iter(data(guarded(whole, held)));
        frames.extend(trailers.map(Frame::trailers));
        let Some((latest, body)) = rest else {
            let replay = Replay { frames, error, rest: None };
            return Finished::Send(Response::from_parts(parts, TransformBody::replayed(replay)));
        };
        frames.extend(data(latest));
        let replay = Replay { frames, error, rest: Some(body) };
        Finished::Send(passing(&engine, &exchange, parts, TransformBody::replayed(replay)))
    }
}

impl Collected {
    /// Converts the body, in the pool if that may take long.
    fn convert<B: Body<Data = Bytes>>(mut self, part: Part, job: Job, held: BodyRoom) -> Finished<B> {
        let long = long_work(self.whole.len(), job.coding);
        let Some((pool, length)) = self.engine.pool().cloned().zip(long) else {
            let (headers, changed, held) =
                converted(&self.engine, &self.exchange, part, job, self.parts.headers, self.whole.clone(), held);
            self.parts.headers = headers;
            return Finished::Send(self.send(changed, Some(held)));
        };
        let (send, done) = oneshot::channel();
        let (ask, headers, whole) = (job.ask(), self.parts.headers.clone(), self.whole.clone());
        let (engine, exchange) = (self.engine.clone(), self.exchange.clone());
        let work = move || {
            let _ = send.send(converted(&engine, &exchange, part, job, headers, whole, held));
        };
        let _ticket = pool.queue(length, Box::new(work));
        Finished::Away(Box::new(Away { collected: self, ask, done, _ticket }))
    }
}

/// Converts a whole body, which is decompressed first: its plain bytes count as well.
fn converted(
    engine: &Engine,
    exchange: &Exchange,
    part: Part,
    mut job: Job,
    mut headers: HeaderMap,
    mut whole: Bytes,
    held: BodyRoom,
) -> Converted {
    if job.coding != Coding::Identity {
        let began = Instant::now();
        let plain = job.coding.decompress(&whole, engine.policy().max_bytes).and_then(|plain| {
            let fits = held.bytes().grow(whole.len() + plain.len());
            if fits { Ok(fitted(plain.into_owned())) } else { Err(Skip::Busy) }
        });
        match plain {
            Ok(plain) => whole = plain,
            Err(skip) => {
                engine.skip(exchange, job.ask(), skip, &mut headers);
                return (headers, None, held);
            }
        }
        (job.coding, job.decompressed_in) = (Coding::Identity, began.elapsed());
    }
    let changed = match part {
        Part::Whole => engine.whole(exchange, &job, &mut headers, &whole).ok(),
        Part::Message => engine.message(exchange, &job, &mut headers, &whole),
    };
    (headers, changed, held)
}

impl Away {
    fn finish<B: Body<Data = Bytes>>(mut self, done: Option<Converted>) -> Response<TransformBody<B>> {
        match done {
            Some((headers, changed, held)) => {
                self.collected.parts.headers = headers;
                self.collected.send(changed, Some(held))
            }
            // The pool dropped the job: a defect, and no reason to send nothing.
            None => {
                let Collected { engine, exchange, parts, .. } = &mut self.collected;
                engine.skip(exchange, self.ask, Skip::Invalid, &mut parts.headers);
                self.collected.send(None, None)
            }
        }
    }
}

impl Collected {
    /// Creates the response. What is not sent is given up before, so that only the rest counts.
    fn send<B: Body<Data = Bytes>>(self, changed: Option<Bytes>, held: Option<BodyRoom>) -> Response<TransformBody<B>> {
        let Self { engine, exchange, mut parts, format, whole, mut trailers } = self;
        let is_changed = changed.is_some();
        let sent = changed.unwrap_or(whole);
        if let Some(held) = &held {
            held.bytes().shrink(sent.len());
        }
        let sent = guarded(sent, held);
        if is_changed {
            parts.extensions.insert(Sent(format));
            trailers.iter_mut().for_each(headers::trailers);
            return Response::from_parts(parts, TransformBody::changed(sent, trailers));
        }
        let frames = data(sent).into_iter().chain(trailers.map(Frame::trailers)).collect();
        let replay = Replay { frames, error: None, rest: None };
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

/// Returns a frame with this data, if there is any.
fn data(data: Bytes) -> Option<Frame<Bytes>> {
    (!data.is_empty()).then(|| Frame::data(data))
}
