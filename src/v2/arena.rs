//! The memory that one document is planned and written in.
//!
//! Everything that is found in a document (columns, shapes, names, stacks) is allocated from an arena, one allocation after
//! the other, and given up as a whole when the document is done. Nothing is cleared or freed on its own, so the types of the
//! plan have no state from an earlier document. An encoder that has seen a document of some size plans others of that size
//! without an allocation.

use std::ops::{Deref, Index, IndexMut};

use bumpalo::Bump;
use hashbrown::HashTable;

/// A vector in an arena.
pub(crate) type ArenaVec<'a, T> = bumpalo::collections::Vec<'a, T>;

/// A hash table in an arena.
pub(crate) type ArenaTable<'a, T> = HashTable<T, &'a Bump>;

/// The first capacity of vectors and tables that most documents put something into: to grow one from nothing takes several
/// steps, each of them a copy.
pub(crate) const FIRST_CAPACITY: usize = 28;

/// A vector whose first elements are in an arena and whose others are in memory that is reused.
///
/// A vector that grows in an arena leaves its old memory there, and the chunks of the arena double around it. A vector outside
/// gives its old memory back. But most documents have few elements, for which the first chunk of the arena has room anyway. So
/// both are used, and no element moves from one to the other. With room for 3 in the arena:
///
/// ```text
/// element    0  1  2      3  4  5  6  …
/// in         the arena    reused memory
/// ```
pub(crate) struct SpillVec<'a, T> {
    first: ArenaVec<'a, T>,
    /// Empty unless `first` is full.
    others: &'a mut Vec<T>,
}

impl<'a, T> SpillVec<'a, T> {
    /// Returns an empty vector that has no room in the arena yet.
    pub(crate) fn new_in(arena: &'a Bump, others: &'a mut Vec<T>) -> Self {
        others.clear();
        Self { first: ArenaVec::new_in(arena), others }
    }

    /// Makes room for this many elements in the arena, unless that has been done before.
    pub(crate) fn reserve_first(&mut self, capacity: usize) {
        if self.first.capacity() == 0 {
            debug_assert!(self.others.is_empty(), "the first elements come first");
            self.first.reserve_exact(capacity);
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.others.len()
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, element: T) {
        if self.first.len() < self.first.capacity() {
            self.first.push(element);
        } else {
            self.others.push(element);
        }
    }

    /// Removes the elements from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.others.truncate(len.saturating_sub(self.first.len()));
        self.first.truncate(len);
    }

    /// Returns the elements from `start` on.
    pub(crate) fn iter_from(&self, start: usize) -> impl Iterator<Item = &T> {
        let others = start.saturating_sub(self.first.len());
        self.first.iter().skip(start).chain(&self.others[others..])
    }
}

impl<T> Index<usize> for SpillVec<'_, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, at: usize) -> &T {
        let Self { first, others } = self;
        if at < first.len() { &first[at] } else { &others[at - first.len()] }
    }
}

impl<T> IndexMut<usize> for SpillVec<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, at: usize) -> &mut T {
        let Self { first, others } = self;
        if at < first.len() { &mut first[at] } else { &mut others[at - first.len()] }
    }
}

/// An arena that is kept from document to document.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    bump: Bump,
}

/// The first chunk of an arena: bytes for a token, and in all. With references it is half as much again.
const FIRST_CHUNK_PER_TOKEN: usize = 40;
const FIRST_CHUNK_BASE: usize = 2 << 10;
const MAX_FIRST_CHUNK: usize = 20 << 10;

impl Arena {
    /// Prepares an arena without memory for a document of so many tokens. A [`Bump`] doubles its chunks: of a first one that
    /// fits the plan nothing is left unused, and most plans are small, however long the document is.
    pub(crate) fn expect(&mut self, tokens: usize, references: bool) {
        if self.bump.allocated_bytes() == 0 {
            let bytes = MAX_FIRST_CHUNK.min(FIRST_CHUNK_BASE + tokens.saturating_mul(FIRST_CHUNK_PER_TOKEN));
            self.bump = Bump::with_capacity(if references { bytes + bytes / 2 } else { bytes });
        }
    }

    /// Gives up everything in the arena and keeps its memory.
    ///
    /// A [`Bump`] takes memory in chunks and keeps only the last of them. The next document would have to take the others
    /// again, so several chunks are replaced by one of the same size in sum.
    pub(crate) fn reset(&mut self) {
        let bytes = self.bump.allocated_bytes();
        self.bump.reset();
        if self.bump.allocated_bytes() < bytes {
            self.bump = Bump::new();
            self.bump = Bump::with_capacity(bytes);
        }
    }
}

impl Deref for Arena {
    type Target = Bump;

    fn deref(&self) -> &Bump {
        &self.bump
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_past_the_room_in_the_arena_are_in_reused_memory() {
        let (arena, mut memory) = (Bump::new(), vec![9]);
        let mut elements = SpillVec::new_in(&arena, &mut memory);
        elements.reserve_first(3);
        for len in [2, 3, 5] {
            (elements.len()..len).for_each(|element| elements.push(element));
            assert_eq!((elements.len(), elements.others.len()), (len, len.saturating_sub(3)));
        }
        elements[1] += 10;
        elements[4] += 10;
        for (start, expected) in [(0, &[0, 11, 2, 3, 14][..]), (2, &[2, 3, 14]), (4, &[14]), (5, &[])] {
            assert!(elements.iter_from(start).eq(expected), "{start}");
            assert!((start..5).all(|at| elements[at] == expected[at - start]), "{start}");
        }
        for len in [4, 3, 1] {
            elements.truncate(len);
            assert!(elements.iter_from(0).eq(&[0, 11, 2, 3][..len]), "{len}");
        }
        elements.push(5);
        assert_eq!((elements[1], elements.others.len()), (5, 0));
    }

    #[test]
    fn memory_is_one_chunk_after_the_first_document() {
        let mut arena = Arena::default();
        let mut plan = |bytes: usize| {
            for _ in 0..bytes / 100 {
                arena.alloc([0_u8; 100]);
            }
            let taken = arena.allocated_bytes();
            arena.reset();
            (taken, arena.allocated_bytes())
        };
        let (taken, kept) = plan(100_000);
        assert!(taken >= 100_000 && kept >= taken);
        for bytes in [100_000, 10, 100_000] {
            assert_eq!(plan(bytes), (kept, kept));
        }
    }
}
