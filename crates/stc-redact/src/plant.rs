//! Secrets that are made up: the examples of the rules, for tests and measurements.

pub use crate::fill::{Planted, fill};

use crate::rule;

/// Returns the id and the example of every rule. Its gaps are filled by [`fill`].
#[must_use]
pub fn examples() -> Vec<(String, String)> {
    rule::texts().into_iter().map(|text| (text.id, text.hit)).collect()
}
