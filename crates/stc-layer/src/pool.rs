//! Threads for conversions that would delay the other connections of a worker.

use crate::coding::Coding;
use crate::job::Job;
use bytes::Bytes;
use std::time::Instant;

/// A pool of threads that an embedding program provides.
pub trait Pool: Send + Sync {
    /// Runs a job on another thread. The engine never has more jobs than `max_held` at once. A job that is dropped without
    /// being run sends the original body.
    fn run(&self, job: Box<dyn FnOnce() + Send>);
}

/// Bodies and events longer than this, also after decompression, are converted by the pool: a conversion of this length takes about a
/// millisecond.
pub(crate) const LONG_TO_CONVERT: usize = 128 << 10;

/// Returns whether the conversion of a body may take long. A short body in a content coding is decompressed to decide that, and is
/// replaced by the plain one if that is short too: in the pool it would wait behind long conversions.
pub(crate) fn is_long(body: &mut Bytes, job: &mut Job) -> bool {
    if body.len() > LONG_TO_CONVERT || job.coding == Coding::Identity {
        return body.len() > LONG_TO_CONVERT;
    }
    let began = Instant::now();
    let Some(plain) = job.coding.decompress_short(body, LONG_TO_CONVERT) else { return true };
    (job.coding, job.decompressed_in) = (Coding::Identity, began.elapsed());
    *body = Bytes::from(plain);
    false
}
