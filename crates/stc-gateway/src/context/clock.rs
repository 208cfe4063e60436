//! A time that never decreases.

use std::sync::LazyLock;
use std::time::Instant;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Returns the milliseconds since the first call.
pub(super) fn now() -> u64 {
    START.elapsed().as_millis() as u64
}
