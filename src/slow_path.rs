//! Test hook: counts the steps that no fast path took.
//!
//! A fast path that stops too soon does not change the output; only this count and a clock show it.

/// Counts one step of a slow path, in builds with `__internal` and debug assertions; does nothing in others.
#[inline(always)]
pub(crate) fn count_slow_step() {
    #[cfg(all(feature = "__internal", debug_assertions))]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

#[cfg(feature = "__internal")]
std::thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Returns the steps this thread has counted since the last call.
#[cfg(feature = "__internal")]
pub(crate) fn take_slow_steps() -> u64 {
    STEPS.take()
}

#[cfg(all(test, feature = "__internal", debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn every_step_counts_until_it_is_taken() {
        take_slow_steps();
        for steps in [0, 1, 2, 7] {
            (0..steps).for_each(|_| count_slow_step());
            assert_eq!((take_slow_steps(), take_slow_steps()), (steps, 0));
        }
    }
}
