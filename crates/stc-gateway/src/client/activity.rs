//! What a connection is doing: whether it is idle, and whether it is to close.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::Notify;

/// The activity of one connection. Its worker changes it; the thread that accepts connections reads it and may ask the connection
/// to close.
#[derive(Default)]
pub(crate) struct Activity {
    /// Requests in progress, up to the end of the response's body.
    requests: AtomicUsize,
    /// Whether something that was to be written waits for the client.
    unwritten: AtomicBool,
    /// Whether the connection has been asked to close.
    asked: AtomicBool,
    close: Notify,
}

/// A request in progress, until it is dropped.
pub(crate) struct InRequest(Arc<Activity>);

impl Activity {
    /// Counts a request.
    pub(crate) fn request(self: &Arc<Self>) -> InRequest {
        self.requests.fetch_add(1, Ordering::Relaxed);
        InRequest(self.clone())
    }

    /// Says whether something waits to be written.
    pub(crate) fn set_unwritten(&self, waits: bool) {
        self.unwritten.store(waits, Ordering::Relaxed);
    }

    /// Asks the connection to close if it is idle and was not asked before; returns whether it was asked now.
    pub(crate) fn ask_to_close(&self) -> bool {
        let ask = self.may_be_asked() && !self.asked.swap(true, Ordering::Relaxed);
        if ask {
            self.close.notify_one();
        }
        ask
    }

    /// Returns whether the connection is idle and was not asked to close.
    pub(crate) fn may_be_asked(&self) -> bool {
        self.is_idle() && !self.asked.load(Ordering::Relaxed)
    }

    /// Waits until the connection has been asked to close and is idle. It may have got a request since it was asked; then it stays
    /// open, and can be asked again.
    pub(crate) async fn closed(&self) {
        loop {
            self.close.notified().await;
            if self.is_idle() {
                return;
            }
            self.asked.store(false, Ordering::Relaxed);
        }
    }

    fn is_idle(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0 && !self.unwritten.load(Ordering::Relaxed)
    }
}

impl Drop for InRequest {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn only_an_idle_connection_closes() {
        let activity = Arc::<Activity>::default();
        let closes = async || timeout(Duration::from_secs(1), activity.closed()).await.is_ok();
        assert!(!closes().await);
        let request = activity.request();
        assert!(!activity.ask_to_close());
        activity.set_unwritten(true);
        drop(request);
        assert!(!activity.ask_to_close());
        activity.set_unwritten(false);
        assert!(activity.ask_to_close() && !activity.ask_to_close());
        // A request that comes in between keeps it open.
        let request = activity.request();
        assert!(!closes().await);
        drop(request);
        assert!(activity.ask_to_close() && closes().await);
    }
}
