//! What a connection is doing: whether it is idle and since when, and whether it is to close.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// A connection is not asked to close before it was idle for this long: a client that has just connected sends its first request,
/// and one that has read an answer may send the next.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// The activity of one connection. Its worker changes it; the thread that accepts connections reads it and may ask the connection
/// to close.
pub(crate) struct Activity {
    /// What its times are relative to.
    began: Instant,
    /// Milliseconds after `began` when it was accepted, its last request ended, or its client accepted the last bytes that
    /// had to wait.
    idle_since: AtomicU64,
    /// Requests in progress, up to the end of the response's body.
    requests: AtomicUsize,
    /// Whether something that was to be written waits for the client.
    unwritten: AtomicBool,
    /// Whether some of the body of the last request is unread.
    unread: AtomicBool,
    /// Whether a request came over HTTP/2.
    http2: AtomicBool,
    close: Notify,
}

/// A request in progress, until it is dropped.
pub(crate) struct InRequest(Arc<Activity>);

impl Activity {
    /// Creates the activity of a connection that was accepted now, with times relative to `began`.
    pub(crate) fn new(began: Instant) -> Self {
        Self {
            began,
            idle_since: AtomicU64::new(milliseconds(began.elapsed())),
            requests: AtomicUsize::new(0),
            unwritten: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            http2: AtomicBool::new(false),
            close: Notify::new(),
        }
    }

    /// Counts a request.
    pub(crate) fn request(self: &Arc<Self>) -> InRequest {
        self.requests.fetch_add(1, Ordering::Relaxed);
        InRequest(self.clone())
    }

    /// Sets whether something waits to be written. Only the connection's own thread calls it.
    pub(crate) fn set_unwritten(&self, waits: bool) {
        if !waits && self.unwritten.load(Ordering::Relaxed) {
            self.idle_since.store(milliseconds(self.began.elapsed()), Ordering::Relaxed);
        }
        self.unwritten.store(waits, Ordering::Release);
    }

    /// Sets whether some of the body of the last request is unread. Only the connection's own thread calls it.
    pub(crate) fn set_unread(&self, unread: bool) {
        self.unread.store(unread, Ordering::Relaxed);
    }

    /// Returns whether some of the body of the last request is unread.
    pub(crate) fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    /// Notes that requests come over HTTP/2.
    pub(crate) fn set_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
    }

    /// Returns whether a request came over HTTP/2.
    pub(crate) fn is_http2(&self) -> bool {
        self.http2.load(Ordering::Relaxed)
    }

    /// Returns whether nothing is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.requests.load(Ordering::Acquire) == 0 && !self.unwritten.load(Ordering::Acquire)
    }

    /// Returns the milliseconds after `began` since which the connection is idle; `None` if it is not.
    pub(crate) fn idle_since(&self) -> Option<u64> {
        self.is_idle().then(|| self.idle_since.load(Ordering::Relaxed))
    }

    /// Asks the connection to close.
    pub(crate) fn ask_to_close(&self) {
        self.close.notify_one();
    }

    /// Waits until the connection has been asked to close and was idle for [`GRACE`]. It may have got a request since it was asked;
    /// then it stays open, and can be asked again.
    pub(crate) async fn closed(&self) {
        loop {
            self.close.notified().await;
            let now = milliseconds(self.began.elapsed());
            if self.idle_since().is_some_and(|since| now.saturating_sub(since) >= milliseconds(GRACE)) {
                return;
            }
        }
    }
}

impl Default for Activity {
    /// Creates the activity of a connection without a place, which is never asked to close.
    fn default() -> Self {
        Self::new(Instant::now())
    }
}

impl Drop for InRequest {
    fn drop(&mut self) {
        let activity = &self.0;
        activity.idle_since.store(milliseconds(activity.began.elapsed()), Ordering::Relaxed);
        activity.requests.fetch_sub(1, Ordering::Release);
    }
}

/// Returns a time in milliseconds.
pub(crate) const fn milliseconds(time: Duration) -> u64 {
    time.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, timeout};

    #[tokio::test(start_paused = true)]
    async fn only_a_connection_that_is_idle_for_a_while_closes() {
        let activity = Arc::new(Activity::new(Instant::now()));
        let closes = async || timeout(Duration::from_millis(1), activity.closed()).await.is_ok();
        let is_closed_when_asked = async || {
            activity.ask_to_close();
            closes().await
        };
        assert!(!closes().await && !is_closed_when_asked().await, "it was accepted just now");
        advance(GRACE).await;
        assert!(!closes().await, "it was not asked since");
        let request = activity.request();
        assert!(activity.idle_since().is_none() && !is_closed_when_asked().await);
        activity.set_unwritten(true);
        drop(request);
        advance(GRACE).await;
        assert!(activity.idle_since().is_none() && !is_closed_when_asked().await);
        activity.set_unwritten(false);
        assert!(!is_closed_when_asked().await, "its client accepted the last bytes just now");
        advance(GRACE).await;
        activity.set_unwritten(false);
        assert!(is_closed_when_asked().await, "nothing waited");
        drop(activity.request());
        assert!(!is_closed_when_asked().await, "its last request ended just now");
        advance(GRACE).await;
        assert!(is_closed_when_asked().await);
    }
}
