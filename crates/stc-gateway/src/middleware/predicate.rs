//! What only the embedding program can know: whether this response may change.

use http::response::Parts;

/// Agrees to a response, by its head, or not. One that is not agreed to is sent as it is, as `excluded`. The policy's own
/// rules hold besides.
pub trait Predicate: Clone {
    /// Whether this response may change.
    fn agrees(&self, response: &Parts) -> bool;

    /// Both this and another.
    fn and<Q: Predicate>(self, other: Q) -> And<Self, Q> {
        And(self, other)
    }
}

/// Agrees to everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Always;

/// Agrees if both do.
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
