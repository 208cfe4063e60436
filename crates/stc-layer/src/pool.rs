//! Threads for conversions that would delay the other connections of a worker.

use crate::coding::Coding;
use std::fmt;

/// A pool of threads that an embedding program provides.
pub trait Pool: Send + Sync {
    /// Runs a job on another thread. The engine never has more jobs than `max_held` at once. A job that is dropped without
    /// being run sends the original body.
    fn run(&self, job: Box<dyn FnOnce() + Send>);

    /// Runs a job that works on about this many bytes, as [`run`](Self::run) does. When its ticket is dropped, nobody waits for the
    /// job any more: if it has not begun, it need not run. By default it runs all the same.
    fn queue(&self, bytes: usize, job: Box<dyn FnOnce() + Send>) -> Ticket {
        let _ = bytes;
        self.run(job);
        Ticket::default()
    }
}

/// The interest in a job of a [`Pool`], which ends on drop.
#[derive(Default)]
pub struct Ticket(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Ticket {
    /// Calls this on drop.
    pub fn new(leave: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(leave)))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(leave) = self.0.take() {
            leave();
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticket")
    }
}

/// Bodies and events longer than this are converted by the pool: a conversion of this length takes about a millisecond.
pub(crate) const LONG_TO_CONVERT: usize = 128 << 10;

/// Returns about how many bytes a conversion of a body works on, if it may take long. A few bytes in a content coding may stand for
/// megabytes.
pub(crate) fn long_work(length: usize, coding: Coding) -> Option<usize> {
    (coding != Coding::Identity || length > LONG_TO_CONVERT).then(|| coding.usual_length(length))
}
