//! The limit on expansion (grammar/STC.md, sections 8.7 and 10.2).

/// How far a document's JSON may reach, given the STC written for it: a decoder with the same limits refuses a text that
/// expands further, so an encoder must not write it.
///
/// [`Limits::ratio_after`](crate::Limits::ratio_after) is left out of account: a table that used it up could push what follows over the
/// limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expansion {
    pub(super) ratio: u64,
    /// Bytes of JSON before the text.
    pub(super) json: u64,
    /// The length of the STC once the room for output is full. `reach` subtracts what is left of the room.
    pub(super) stc: u64,
}

impl Expansion {
    /// Returns the offset in the text that the JSON may reach, with `left` bytes of the room left.
    #[inline(always)]
    pub(super) fn reach(self, left: usize) -> u64 {
        self.ratio.saturating_mul(self.stc - left as u64).saturating_sub(self.json)
    }

    /// Returns the limit as if the STC were `bytes` shorter.
    #[inline(always)]
    pub(super) fn without(self, bytes: usize) -> Self {
        Self { stc: self.stc - bytes as u64, ..self }
    }
}
