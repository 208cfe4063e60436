//! The type of everything that is timed: a contender shows its answer for a case, then works in timed turns.

use std::time::Duration;

use stc::internal::Kernel;

use crate::cases::{Case, Document};
use crate::rotation::Rotations;

/// A timed turn: processes that many documents and returns the time it took.
pub type Turn<'c> = Box<dyn FnMut(&mut Rotations<'c>, usize) -> Duration + 'c>;

/// A contender that has shown its answer for every document of a case.
pub struct Ready<'c> {
    /// Does the work.
    pub turn: Turn<'c>,
    /// Whether the answer was equal to the document. A rival that changes numbers is still timed, and marked.
    pub exact: bool,
}

/// The bytes in which a contender's speed is expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// The JSON that is read.
    Read,
    /// The minified JSON that is written.
    Written,
}

impl Per {
    /// Returns how many of those bytes a document has.
    pub fn bytes(self, document: &Document) -> usize {
        match self {
            Per::Read => document.json.len(),
            Per::Written => document.minified.len(),
        }
    }
}

/// Checks a case and returns the work, or the reason why the contender rejects it.
pub(crate) type Prepare = for<'c> fn(&'c Case, Kernel) -> Result<Ready<'c>, String>;

/// A codec or a rival that is timed.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// Its name in results.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The bytes that count.
    pub per: Per,
    prepare: Prepare,
}

impl Contender {
    pub(crate) const fn new(name: &'static str, per: Per, about: &'static str, prepare: Prepare) -> Self {
        Self { name, about, per, prepare }
    }

    /// Checks the contender's answer for every document; an error says why it rejects the case.
    pub fn prepare<'c>(&self, case: &'c Case, kernel: Kernel) -> Result<Ready<'c>, String> {
        (self.prepare)(case, kernel)
    }
}
