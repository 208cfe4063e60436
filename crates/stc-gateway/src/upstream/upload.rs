//! A request's body on its way to the upstream: it tells which side keeps the other waiting, and ends if the client is too slow.

use crate::access::Received;
use crate::body::RequestBody;
use crate::client::pace::Pace;
use crate::upstream::idle::BoxError;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::LengthLimitError;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// Why a body ended early, through the client's fault.
#[derive(Debug)]
pub(crate) enum UploadError {
    /// The client sent less than `limits.receive_rate` requires.
    TooSlow,
    /// The client closed the connection, or its body is malformed.
    Incomplete(BoxError),
}

impl fmt::Display for UploadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSlow => f.write_str("the client sends its request too slowly"),
            Self::Incomplete(error) => write!(f, "the request's body is incomplete or malformed: {error}"),
        }
    }
}

impl Error for UploadError {}

/// The progress of a body, for the time limit of the response.
#[derive(Clone, Default)]
pub(crate) struct Transfer(Arc<Mutex<Option<State>>>);

#[derive(Clone, Copy)]
struct State {
    /// Whether the upstream waits for the client.
    waits: bool,
    /// When the body was read last.
    latest: Instant,
}

impl Transfer {
    /// Returns the time since which the upstream has everything that the client sent; `None` if there is no body.
    pub(crate) fn latest(&self) -> Option<Instant> {
        let state = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.map(|state| if state.waits { Instant::now() } else { state.latest })
    }

    fn note(&self, waits: bool) {
        let state = State { waits, latest: Instant::now() };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
    }
}

/// A body that was not read yet can be taken back, and sent to another backend.
#[derive(Clone)]
pub(crate) struct Unread(Arc<Mutex<Option<RequestBody>>>);

impl Unread {
    /// Takes the body back; `None` if some of it was read.
    pub(crate) fn take(&self) -> Option<RequestBody> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The body. In each period that the upstream waits for the client, the client must send what its pace requires.
pub(crate) struct Upload {
    unread: Unread,
    /// The body, from the first read on.
    body: Option<RequestBody>,
    /// Its length, as it was in the beginning.
    hint: SizeHint,
    ended: bool,
    transfer: Transfer,
    pace: Pace,
    /// The time in this period that the client was waited for, and the bytes that it sent.
    waited: Duration,
    received: u64,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
    log: Option<Received>,
}

impl Upload {
    /// Wraps a body. Its bytes are added to `log`.
    pub(crate) fn new(body: RequestBody, pace: Pace, log: Option<Received>) -> Self {
        let transfer = Transfer::default();
        let (hint, ended) = (body.size_hint(), body.is_end_stream());
        let unread = Unread(Arc::new(Mutex::new(Some(body))));
        Self {
            unread,
            body: None,
            hint,
            ended,
            transfer,
            pace,
            waited: Duration::ZERO,
            received: 0,
            waiting: None,
            log,
        }
    }

    /// Returns a body without bytes.
    pub(crate) fn empty(pace: Pace) -> Self {
        Self::new(RequestBody::Held(http_body_util::Full::default()), pace, None)
    }

    /// Returns a body without bytes, for requests of the gateway itself.
    pub(crate) fn empty_unpaced() -> Self {
        Self::held(Bytes::new())
    }

    /// Wraps a body of the gateway itself.
    pub(crate) fn held(body: Bytes) -> Self {
        let pace = Pace { period: Duration::from_secs(60), rate: 0 };
        Self::new(RequestBody::Held(http_body_util::Full::new(body)), pace, None)
    }

    pub(crate) fn unread(&self) -> Unread {
        self.unread.clone()
    }

    /// Returns the rest of the body.
    pub(crate) fn into_body(self) -> RequestBody {
        self.body.or_else(|| self.unread.take()).unwrap_or(RequestBody::Held(http_body_util::Full::default()))
    }

    pub(crate) fn transfer(&self) -> Transfer {
        self.transfer.clone()
    }

    /// Ends a wait of the upstream; returns whether the client is fast enough.
    fn keeps_up(&mut self) -> bool {
        if let Some((since, _)) = self.waiting.take() {
            self.waited += since.elapsed();
        }
        if self.waited < self.pace.period {
            return true;
        }
        let required = (self.pace.rate as f64 * self.pace.period.as_secs_f64()) as u64;
        let enough = self.received > 0 && self.received >= required;
        (self.waited, self.received) = (Duration::ZERO, 0);
        enough
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if this.body.is_none() {
            this.body = this.unread.take();
        }
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(cx);
        this.transfer.note(polled.is_pending());
        match polled {
            Poll::Pending => {
                let left = this.pace.period.saturating_sub(this.waited);
                let now = Instant::now();
                let (_, timer) =
                    this.waiting.get_or_insert_with(|| (now, Box::pin(tokio::time::sleep_until(now + left))));
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                if this.keeps_up() {
                    // The next poll starts the timer of the next period.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(Some(Err(Box::new(UploadError::TooSlow))))
            }
            Poll::Ready(Some(Ok(frame))) => {
                let length = frame.data_ref().map_or(0, Bytes::len);
                this.received += length as u64;
                if let Some(log) = &this.log {
                    log.add(length);
                }
                match this.keeps_up() {
                    true => Poll::Ready(Some(Ok(frame))),
                    false => Poll::Ready(Some(Err(Box::new(UploadError::TooSlow)))),
                }
            }
            Poll::Ready(Some(Err(error))) if error.is::<LengthLimitError>() => Poll::Ready(Some(Err(error))),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(Box::new(UploadError::Incomplete(error))))),
            Poll::Ready(None) => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().map_or(self.ended, Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| self.hint, Body::size_hint)
    }
}
