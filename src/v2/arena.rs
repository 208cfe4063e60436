//! The memory that one document is planned and written in.
//!
//! Everything that is found in a document (columns, shapes, names, stacks) is allocated from an arena, one allocation after
//! the other, and given up as a whole when the document is done. Nothing is cleared or freed on its own, so the types of the
//! plan have no state from an earlier document. An encoder that has seen a document of some size plans others of that size
//! without an allocation.

use std::ops::Deref;

use bumpalo::Bump;
use hashbrown::HashTable;

/// A vector in an arena.
pub(crate) type ArenaVec<'a, T> = bumpalo::collections::Vec<'a, T>;

/// A hash table in an arena.
pub(crate) type ArenaTable<'a, T> = HashTable<T, &'a Bump>;

/// The first capacity of vectors and tables that most documents put something into: to grow one from nothing takes several
/// steps, each of them a copy.
pub(crate) const FIRST_CAPACITY: usize = 28;

/// An arena that is kept from document to document.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    bump: Bump,
}

/// The first chunk of an arena: bytes for a token, and in all. With references it is twice as much.
const FIRST_CHUNK_PER_TOKEN: usize = 40;
const FIRST_CHUNK_BASE: usize = 2 << 10;
const MAX_FIRST_CHUNK: usize = 20 << 10;

impl Arena {
    /// Prepares an arena without memory for a document of so many tokens. A [`Bump`] doubles its chunks: of a first one that
    /// fits the plan nothing is left unused, and most plans are small, however long the document is.
    pub(crate) fn expect(&mut self, tokens: usize, references: bool) {
        if self.bump.allocated_bytes() == 0 {
            let bytes = MAX_FIRST_CHUNK.min(FIRST_CHUNK_BASE + tokens.saturating_mul(FIRST_CHUNK_PER_TOKEN));
            self.bump = Bump::with_capacity(bytes << usize::from(references));
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
