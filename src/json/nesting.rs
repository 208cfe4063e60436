//! Which containers are open, one bit each: input depth costs an eighth of a byte a level and never stack frames.

use smallvec::SmallVec;

/// What a value can stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Array,
    Object,
}

/// The open containers. The innermost are bits of a word, the innermost lowest, so that to open one is a shift; what
/// the word has no room for lies in a stack, half a word at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nesting {
    inner: u64,
    /// How many bits of `inner` count: two at least, if so many containers are open.
    bits: u32,
    /// How many containers are open.
    depth: u32,
    /// How many have been since somebody began to watch.
    peak: u32,
    /// 512 levels, the default limit, fit without the heap.
    outer: SmallVec<[u32; 16]>,
}

/// How many bits go to the stack, and come back, at once.
const HALF: u32 = u32::BITS;

impl Nesting {
    #[inline(always)]
    pub(crate) fn depth(&self) -> usize {
        self.depth as usize
    }

    #[inline(always)]
    pub(crate) fn innermost(&self) -> Option<Container> {
        (self.bits > 0).then(|| container(self.inner))
    }

    /// The container that the innermost stands in.
    #[inline(always)]
    pub(crate) fn outer(&self) -> Option<Container> {
        (self.bits > 1).then(|| container(self.inner >> 1))
    }

    /// The container that the one `levels` around the innermost stands in, as far out as can be told at once.
    #[inline(always)]
    pub(crate) fn around(&self, levels: usize) -> Option<Container> {
        (self.bits as usize > levels + 1).then(|| container(self.inner >> (levels + 1)))
    }

    #[inline(always)]
    pub(crate) fn open(&mut self, container: Container) {
        if self.bits == u64::BITS {
            self.put_away();
        }
        self.inner = self.inner << 1 | u64::from(container == Container::Object);
        self.bits += 1;
        self.depth += 1;
        self.peak = self.peak.max(self.depth);
    }

    /// Begins to watch how deep it gets.
    #[inline(always)]
    pub(crate) fn watch(&mut self) {
        self.peak = self.depth;
    }

    /// There is something `levels` deep here that is not opened.
    #[inline(always)]
    pub(crate) fn reach(&mut self, levels: usize) {
        self.peak = self.peak.max(self.depth + levels as u32);
    }

    /// How deep it has got since somebody began to watch.
    #[inline(always)]
    pub(crate) fn peak(&self) -> usize {
        self.peak as usize
    }

    /// Closes the innermost container; there must be one.
    #[inline(always)]
    pub(crate) fn close(&mut self) {
        self.inner >>= 1;
        self.bits -= 1;
        self.depth -= 1;
        if self.bits == 1 && self.depth > 1 {
            self.fetch();
        }
    }

    /// Closes some, all of which and one more can be told at once, as [`around`](Self::around) does.
    #[inline(always)]
    pub(crate) fn close_levels(&mut self, levels: usize) {
        self.inner >>= levels - 1;
        self.bits -= levels as u32 - 1;
        self.depth -= levels as u32 - 1;
        self.close();
    }

    /// Closes all of them, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.bits = 0;
        self.depth = 0;
        self.outer.clear();
    }

    #[cold]
    fn put_away(&mut self) {
        self.outer.push((self.inner >> HALF) as u32);
        self.bits -= HALF;
    }

    #[cold]
    fn fetch(&mut self) {
        if let Some(half) = self.outer.pop() {
            self.inner = self.inner & 1 | u64::from(half) << 1;
            self.bits += HALF;
        }
    }
}

fn container(bits: u64) -> Container {
    if bits & 1 == 1 { Container::Object } else { Container::Array }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_kinds_across_words() {
        let kind = |level: usize| if level.is_multiple_of(3) { Container::Object } else { Container::Array };
        let mut nesting = Nesting::default();
        for round in 0..2 {
            for level in 0..200 {
                nesting.open(kind(level + round));
            }
            for level in (0..200).rev() {
                assert_eq!(nesting.depth(), level + 1);
                assert_eq!(nesting.innermost(), Some(kind(level + round)));
                assert_eq!(nesting.outer(), level.checked_sub(1).map(|level| kind(level + round)));
                nesting.close();
            }
            assert_eq!(nesting.innermost(), None);
        }
    }

    #[test]
    fn many_closed_at_once_are_as_many_closed_one_by_one() {
        let kind = |level: usize| if level.is_multiple_of(5) { Container::Object } else { Container::Array };
        for depth in [2, 31, 32, 33, 63, 64, 65, 66, 97, 130] {
            for levels in 1..depth {
                let mut nesting = Nesting::default();
                (0..depth).for_each(|level| nesting.open(kind(level)));
                if nesting.around(levels - 1).is_none() {
                    break;
                }
                nesting.close_levels(levels);
                for level in (0..depth - levels).rev() {
                    assert_eq!(
                        (nesting.depth(), nesting.innermost()),
                        (level + 1, Some(kind(level))),
                        "{depth} {levels}"
                    );
                    nesting.close();
                }
            }
        }
    }
}
