//! A guess, for the fast paths, of how many spaces come after a colon or comma. (Which whitespace is allowed: `Machine::may_skip`.)

/// The spaces after a colon: one in version 1 and in indented JSON, none in version 2 and in minified JSON. The number is
/// remembered, so that the position of the value does not wait for a byte to be loaded, and corrected where it is wrong.
pub(crate) struct Spacing(pub(crate) usize);

impl Spacing {
    /// Returns how many spaces come after a colon; `next` is the byte after it.
    #[inline(always)]
    pub(crate) fn after_colon(&mut self, next: u8) -> usize {
        if (next == b' ') != (self.0 == 1) {
            self.change();
        }
        self.0
    }

    /// Returns how many spaces to skip after a comma, as many as after a colon if they are there; `next` is the byte after it.
    #[inline(always)]
    pub(crate) fn after_comma(&self, next: u8) -> usize {
        if next == b' ' { self.0 } else { 0 }
    }

    #[cold]
    #[inline(never)]
    fn change(&mut self) {
        self.0 = 1 - self.0;
    }
}
