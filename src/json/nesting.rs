//! The open containers, one bit each: a level of nesting costs an eighth of a byte and no stack frame (grammar/STC.md,
//! section 10.1).

use smallvec::SmallVec;

/// What can hold a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Array,
    Object,
}

/// The open containers. The innermost are bits of a word, the innermost lowest, so that opening one is a shift; those that
/// do not fit the word are on a stack, half a word at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nesting {
    inner: u64,
    /// How many bits of `inner` count: at least two if two or more containers are open.
    bits: u32,
    /// How many containers are open.
    depth: u32,
    /// The greatest depth since the last call of [`watch`](Self::watch).
    peak: u32,
    /// 512 levels, the default limit, fit without the heap.
    outer: SmallVec<[u32; 16]>,
}

/// How many bits are moved to the stack and back at once.
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

    /// Returns the container around the innermost.
    #[inline(always)]
    pub(crate) fn outer(&self) -> Option<Container> {
        (self.bits > 1).then(|| container(self.inner >> 1))
    }

    /// Returns the container `levels + 1` levels around the innermost, if it is in the word.
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

    /// Begins to record the greatest depth.
    #[inline(always)]
    pub(crate) fn watch(&mut self) {
        self.peak = self.depth;
    }

    /// Records a depth of `levels` more than the current one, without opening anything.
    #[inline(always)]
    pub(crate) fn reach(&mut self, levels: usize) {
        self.peak = self.peak.max(self.depth + levels as u32);
    }

    /// Returns the greatest depth since the last call of [`watch`](Self::watch).
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

    /// Closes some, of which [`around`](Self::around) knows all and one more.
    #[inline(always)]
    pub(crate) fn close_levels(&mut self, levels: usize) {
        self.inner >>= levels - 1;
        self.bits -= levels as u32 - 1;
        self.depth -= levels as u32 - 1;
        self.close();
    }

    /// Closes all of them and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bits = 0;
        self.depth = 0;
        self.outer.clear();
    }

    /// Moves half of a full word to the stack.
    #[cold]
    fn put_away(&mut self) {
        self.outer.push((self.inner >> HALF) as u32);
        self.bits -= HALF;
    }

    /// Moves half a word back from the stack.
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
    fn knows_the_containers_around_as_far_as_the_word_has_them() {
        let kind = |level: usize| if level.is_multiple_of(3) { Container::Object } else { Container::Array };
        let mut nesting = Nesting::default();
        for depth in 1..=100 {
            nesting.open(kind(depth - 1));
            for levels in 0..110 {
                let expected = (depth - 1).checked_sub(levels + 1).map(kind);
                match nesting.around(levels) {
                    // Up to 64 containers are all in the word.
                    None => assert!(expected.is_none() || depth > 64 && levels > 30, "{depth} {levels}"),
                    found => assert_eq!(found, expected, "{depth} {levels}"),
                }
            }
        }
    }

    #[test]
    fn closing_many_at_once_equals_closing_one_by_one() {
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

    #[test]
    fn the_greatest_depth_is_recorded() {
        let mut nesting = Nesting::default();
        (0..3).for_each(|_| nesting.open(Container::Array));
        nesting.close();
        assert_eq!((nesting.depth(), nesting.peak()), (2, 3));
        nesting.watch();
        assert_eq!(nesting.peak(), 2);
        for (levels, peak) in [(0, 2), (3, 5), (1, 5), (4, 6)] {
            nesting.reach(levels);
            assert_eq!((nesting.depth(), nesting.peak()), (2, peak));
        }
        nesting.open(Container::Object);
        assert_eq!(nesting.peak(), 6);
        nesting.watch();
        (0..2).for_each(|_| nesting.open(Container::Object));
        assert_eq!(nesting.peak(), 5);
    }

    #[test]
    fn nothing_is_left_of_what_was_cleared() {
        for depth in [1, 40, 64, 65, 97, 200] {
            let mut nesting = Nesting::default();
            (0..depth).for_each(|_| nesting.open(Container::Object));
            nesting.clear();
            assert_eq!((nesting.depth(), nesting.innermost(), nesting.outer()), (0, None, None));
            (0..100).for_each(|_| nesting.open(Container::Array));
            for level in (1..=100).rev() {
                assert_eq!((nesting.depth(), nesting.innermost()), (level, Some(Container::Array)));
                nesting.close();
            }
        }
    }
}
