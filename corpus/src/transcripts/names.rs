//! Names, versions, times and ids.

use crate::rng::Rng;

/// Names of modules, packages and files.
pub(super) const NAMES: &[&str] = &[
    "retry", "queue", "session", "cursor", "ledger", "mailer", "gateway", "catalog", "profile", "worker", "schema",
    "index", "parser", "router", "cache", "token", "batch", "report", "search", "billing",
];

/// Returns a version: `1.4.12`.
pub(super) fn version(rng: &mut Rng) -> String {
    format!("{}.{}.{}", rng.below(4), rng.below(30), rng.below(12))
}

/// Returns the time of day of a second, with milliseconds.
pub(super) fn clock(second: usize, rng: &mut Rng) -> String {
    let (hour, minute) = (9 + second / 3600 % 12, second / 60 % 60);
    format!("{hour:02}:{minute:02}:{:02}.{:03}", second % 60, rng.below(1000))
}

/// Returns a hexadecimal id.
pub(super) fn hex(rng: &mut Rng, digits: usize) -> String {
    (0..digits).map(|_| char::from(b"0123456789abcdef"[rng.below(16) as usize])).collect()
}
