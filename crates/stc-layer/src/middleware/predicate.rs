//! The embedding program's own condition for converting a response.

use http::response::Parts;

/// A condition on the head of a response. A response that does not meet it is skipped as `excluded`. The policy applies
/// as well.
pub trait Predicate: Clone {
    /// Returns whether this response may be converted.
    fn agrees(&self, response: &Parts) -> bool;

    /// Combines this condition with another; both must agree.
    fn and<Q: Predicate>(self, other: Q) -> And<Self, Q> {
        And(self, other)
    }
}

/// The condition that every response meets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Always;

/// The condition that both of two conditions are met.
#[derive(Clone, Copy, Debug, Default)]
pub struct And<P, Q>(P, Q);

impl Predicate for Always {
    fn agrees(&self, _: &Parts) -> bool {
        true
    }
}

impl<P: Predicate, Q: Predicate> Predicate for And<P, Q> {
    fn agrees(&self, response: &Parts) -> bool {
        self.0.agrees(response) && self.1.agrees(response)
    }
}

impl<F: Fn(&Parts) -> bool + Clone> Predicate for F {
    fn agrees(&self, response: &Parts) -> bool {
        self(response)
    }
}
