//! What a text may cost: everything that reads it is counted, so that the same text always fails, or never.

/// Steps for each byte of a text, and for a text.
const WORK_PER_BYTE: usize = 32;
const WORK_PER_TEXT: usize = 64 << 10;
/// Bytes that a plain loop reads in a step; a pattern reads one.
const BYTES_PER_STEP: usize = 4;

/// The reason why a text was not looked through to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It would take too long: more work than a text of its length may cost. The same text always fails, or never.
    Late,
}

/// The steps that were taken, and those that may be.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) steps: usize,
    most: usize,
}

impl Work {
    /// Returns the work that a text of this length may cost.
    pub(crate) const fn of(length: usize) -> Self {
        Self { steps: 0, most: WORK_PER_TEXT + WORK_PER_BYTE * length }
    }

    /// Counts steps.
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Failed> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.most { Err(Failed::Late) } else { Ok(()) }
    }

    /// Counts bytes that a plain loop reads.
    pub(crate) fn read(&mut self, bytes: usize) -> Result<(), Failed> {
        self.spend(bytes / BYTES_PER_STEP)
    }
}
