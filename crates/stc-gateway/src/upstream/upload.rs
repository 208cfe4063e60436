//! A request's body on its way to the upstream: it tells which side keeps the other waiting, and ends if the client is too slow.

use crate::access::Received;
use crate::client::pace::Pace;
use crate::upstream::failed::BoxError;
use crate::upstream::request_body::RequestBody;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::LengthLimitError;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
pub(crate) struct Transfer(Option<Arc<Shared>>);

/// What is known of a body outside of it.
struct Shared {
    /// The body, until it is read.
    unread: Mutex<Option<RequestBody>>,
    state: Mutex<Option<State>>,
}

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
        let state = *lock(&self.0.as_ref()?.state);
        state.map(|state| if state.waits { Instant::now() } else { state.latest })
    }
}

impl Shared {
    fn note(&self, waits: bool) {
        let state = State { waits, latest: Instant::now() };
        *lock(&self.state) = Some(state);
    }
}

/// A body that was not read yet can be taken back, and sent to another backend.
pub(crate) struct Unread(Option<Arc<Shared>>);

impl Unread {
    /// Takes the body back; `None` if some of it was read.
    pub(crate) fn take(&self) -> Option<RequestBody> {
        match &self.0 {
            Some(shared) => lock(&shared.unread).take(),
            None => Some(RequestBody::Held(http_body_util::Full::default())),
        }
    }
}

/// The body; `None` has no bytes. In a box, because a request is moved many times on its way.
pub(crate) struct Upload(Option<Box<Reading>>);

/// A body with bytes. In each period that the upstream waits for the client, the client must send what its pace requires.
struct Reading {
    shared: Arc<Shared>,
    /// The body, from the first read on.
    body: Option<RequestBody>,
    /// Its length, as it was in the beginning.
    hint: SizeHint,
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
        if body.is_end_stream() {
            return Self::empty();
        }
        let hint = body.size_hint();
        let shared = Arc::new(Shared { unread: Mutex::new(Some(body)), state: Mutex::default() });
        let (waited, received, waiting) = (Duration::ZERO, 0, None);
        Self(Some(Box::new(Reading { shared, body: None, hint, pace, waited, received, waiting, log })))
    }

    /// Returns a body without bytes.
    pub(crate) const fn empty() -> Self {
        Self(None)
    }

    /// Wraps a body of the gateway itself.
    pub(crate) fn held(body: Bytes) -> Self {
        let pace = Pace { period: Duration::from_secs(60), rate: 0 };
        Self::new(RequestBody::Held(http_body_util::Full::new(body)), pace, None)
    }

    pub(crate) fn unread(&self) -> Unread {
        Unread(self.shared())
    }

    /// Returns the rest of the body.
    pub(crate) fn into_body(self) -> RequestBody {
        let rest = self.0.and_then(|reading| reading.body.or_else(|| lock(&reading.shared.unread).take()));
        rest.unwrap_or(RequestBody::Held(http_body_util::Full::default()))
    }

    pub(crate) fn transfer(&self) -> Transfer {
        Transfer(self.shared())
    }

    fn shared(&self) -> Option<Arc<Shared>> {
        self.0.as_ref().map(|reading| reading.shared.clone())
    }
}

impl Reading {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Body for Upload {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(this) = &mut self.0 else { return Poll::Ready(None) };
        if this.body.is_none() {
            this.body = lock(&this.shared.unread).take();
        }
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(cx);
        this.shared.note(polled.is_pending());
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
        self.0.as_ref().is_none_or(|this| this.body.as_ref().is_some_and(Body::is_end_stream))
    }

    fn size_hint(&self) -> SizeHint {
        let hint = |this: &Reading| this.body.as_ref().map_or_else(|| this.hint, Body::size_hint);
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), |this| hint(this))
    }
}
