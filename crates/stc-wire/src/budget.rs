//! The work that a text may cost, counted in steps.
//!
//! Loops whose turns an input decides call [`charge`]: a step for each line, member or marker that they look at, and one for every
//! [`BYTES_PER_STEP`] bytes. [`within`] gives work a number of steps; what would need more ends, and its caller keeps what it had
//! before. Steps are counted, not time, so the same input ends at the same place on every machine.
//!
//! ```
//! use stc_wire::budget::{charge, within};
//!
//! let lines = |most| within(most, || "a\nb\nc".lines().try_for_each(|_| charge(1)));
//! assert_eq!(lines(3), Some(Some(())));
//! assert_eq!(lines(2), None);
//! ```
//!
//! The count belongs to the thread: work that goes on in another thread is not counted.

use std::cell::Cell;

/// The bytes that a loop reads in a step.
pub const BYTES_PER_STEP: usize = 64;

thread_local! {
    /// The steps that are left; fewer than none after a charge that was too much.
    static LEFT: Cell<i64> = const { Cell::new(i64::MAX) };
}

/// Takes steps from the budget; `None` if there are not as many left.
#[inline]
#[must_use = "work whose budget is spent ends"]
pub fn charge(steps: usize) -> Option<()> {
    LEFT.with(|left| {
        left.set(left.get().saturating_sub(i64::try_from(steps).unwrap_or(i64::MAX)));
        (left.get() >= 0).then_some(())
    })
}

/// Takes the steps for a loop over as many bytes. For loops that end by themselves: the next [`charge`] tells whether it was too much.
#[inline]
pub fn charge_bytes(bytes: usize) {
    let _ = charge(1 + bytes / BYTES_PER_STEP);
}

/// Does work with a budget of `most` steps, and not more than are left; `None` if it charged more.
pub fn within<T>(most: u64, work: impl FnOnce() -> T) -> Option<T> {
    let outer = LEFT.get();
    let budget = outer.min(i64::try_from(most).unwrap_or(i64::MAX));
    let _restore = Restore { outer, budget };
    LEFT.set(budget);
    let done = work();
    (LEFT.get() >= 0).then_some(done)
}

/// Does work and returns the steps that it charged.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = LEFT.get();
    let done = work();
    (done, before.saturating_sub(LEFT.get()).unsigned_abs())
}

/// Takes what was spent from the outer budget, after a panic too.
struct Restore {
    outer: i64,
    budget: i64,
}

impl Drop for Restore {
    fn drop(&mut self) {
        let spent = self.budget.saturating_sub(LEFT.get());
        LEFT.set(self.outer.saturating_sub(spent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_budgets_are_paid_from_outer_ones() {
        let ((), spent) = counted(|| {
            let outer = within(10, || {
                assert_eq!(within(4, || charge(4)), Some(Some(())));
                assert_eq!(within(3, || charge(4)), None);
                assert_eq!(within(100, || charge(2)), Some(Some(())), "8 of 10 are spent");
                assert_eq!(within(100, || charge(1)), None);
            });
            assert_eq!(outer, None);
        });
        assert_eq!(spent, 11);
        assert_eq!(charge(usize::MAX >> 2), Some(()), "no budget without `within`");
    }

    #[test]
    fn a_panic_leaves_the_outer_budget() {
        let ((), spent) = counted(|| {
            let panicked = std::panic::catch_unwind(|| within(5, || charge(2).map(|()| panic!("planted"))));
            assert!(panicked.is_err());
        });
        assert_eq!(spent, 2);
        assert_eq!(within(1000, || charge(1000)), Some(Some(())));
    }
}
