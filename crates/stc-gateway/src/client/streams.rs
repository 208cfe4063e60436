//! HTTP/2 streams, reset when the client is too slow to accept what waits for it.
//!
//! A stream whose window is 0 writes nothing to the socket, so the socket cannot tell that it stalls. hyper polls a body
//! for its next frame only after the client's windows admitted the one before. The task of a stream therefore measures
//! the frames that its body hands over, and ends when they come too slowly: hyper's future is dropped with it, which
//! resets the stream.

use crate::client::pace::{Meter, Pace};
use crate::metrics::{Metrics, Stalled};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

/// The longest frame that a body hands over on an HTTP/2 stream, and so the step in which progress shows.
pub(crate) const LONGEST_FRAME: usize = 16 << 10;

/// The longest last frame. hyper lets go of a stream with its last frame, whether or not a window admits it; up to this
/// many bytes per stream can wait in h2 after that, without a permit and without a limit of time.
pub(crate) const LAST_FRAME: usize = 1 << 10;

tokio::task_local! {
    static PROGRESS: Arc<Progress>;
}

/// What one stream has sent, as its body sees it.
#[derive(Default)]
pub(crate) struct Progress {
    waiting: AtomicBool,
    accepted: AtomicU64,
}

impl Progress {
    /// Returns the progress of the stream whose task this is; `None` for HTTP/1.
    pub(crate) fn of_stream() -> Option<Arc<Self>> {
        PROGRESS.try_with(Arc::clone).ok()
    }

    /// Notes that a frame of this many bytes was accepted.
    pub(crate) fn accepted(&self, bytes: usize) {
        self.accepted.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Notes whether a frame waits to be accepted.
    pub(crate) fn waiting(&self, waiting: bool) {
        self.waiting.store(waiting, Ordering::Relaxed);
    }
}

/// Runs each HTTP/2 stream of a connection as a task that watches its pace.
#[derive(Clone)]
pub(crate) struct Streams {
    pace: Pace,
    metrics: Arc<Metrics>,
}

impl Streams {
    pub(crate) const fn new(pace: Pace, metrics: Arc<Metrics>) -> Self {
        Self { pace, metrics }
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let progress = Arc::<Progress>::default();
        let stream = PROGRESS.scope(progress.clone(), stream);
        let meter = Meter::new(self.pace);
        tokio::spawn(Watched { stream, progress, meter, metrics: self.metrics.clone() });
    }
}

pin_project! {
    struct Watched<F> {
        #[pin]
        stream: F,
        progress: Arc<Progress>,
        meter: Meter,
        metrics: Arc<Metrics>,
    }
}

impl<F: Future<Output = ()>> Future for Watched<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if this.stream.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        if !this.progress.waiting.load(Ordering::Relaxed) {
            this.meter.idle();
            return Poll::Pending;
        }
        let accepted = this.progress.accepted.load(Ordering::Relaxed);
        let slow = this.meter.poll_waiting(cx, accepted, LONGEST_FRAME as u64);
        if slow.is_ready() {
            this.metrics.stalled(Stalled::Stream);
        }
        slow
    }
}
