//! Threads for conversions that would delay the other connections of a worker.

use crate::coding::Coding;

/// A pool of threads that an embedding program provides.
pub trait Pool: Send + Sync {
    /// Runs a job on another thread. The engine never has more jobs than `max_held` at once. A job that is dropped without
    /// being run sends the original body.
    fn run(&self, job: Box<dyn FnOnce() + Send>);
}

/// Bodies and events longer than this are converted by the pool: a conversion of this length takes about a millisecond.
pub(crate) const LONG_TO_CONVERT: usize = 128 << 10;

/// Returns whether the conversion of a body may take long, given its length as received. In a content coding a hundred bytes can be
/// megabytes.
pub(crate) fn is_long(length: usize, coding: Coding) -> bool {
    length > LONG_TO_CONVERT || coding != Coding::Identity
}
