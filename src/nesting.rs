//! Which containers are open, one bit each: input depth costs an eighth of a byte a level and never stack frames.

use smallvec::SmallVec;

/// What a value can stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Array,
    Object,
}

/// The open containers, innermost last. 512 levels, the default limit, fit without the heap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nesting {
    words: SmallVec<[u64; 8]>,
    depth: usize,
}

impl Nesting {
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    pub(crate) fn innermost(&self) -> Option<Container> {
        self.level_from_inside(1)
    }

    /// The container that the innermost stands in.
    pub(crate) fn outer(&self) -> Option<Container> {
        self.level_from_inside(2)
    }

    #[inline]
    fn level_from_inside(&self, levels: usize) -> Option<Container> {
        let level = self.depth.checked_sub(levels)?;
        let bit = self.words[level / 64] >> (level % 64) & 1;
        Some(if bit == 1 { Container::Object } else { Container::Array })
    }

    #[inline]
    pub(crate) fn open(&mut self, container: Container) {
        let (word, bit) = (self.depth / 64, 1 << (self.depth % 64));
        if word == self.words.len() {
            self.words.push(0);
        }
        match container {
            Container::Object => self.words[word] |= bit,
            Container::Array => self.words[word] &= !bit,
        }
        self.depth += 1;
    }

    /// Closes the innermost container; there must be one.
    pub(crate) fn close(&mut self) {
        self.depth -= 1;
    }

    /// Closes all of them, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.depth = 0;
    }
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
                assert_eq!(nesting.innermost(), Some(kind(level + round)));
                nesting.close();
            }
            assert_eq!(nesting.innermost(), None);
        }
    }
}
