//! A buffer with room at its end to scribble in: whole registers are stored there and only what counts is kept.
//!
//! A `Vec` grows by what is appended, byte for byte; here `room` is asked for once, for many appends, and a store may
//! be wider than the value, because what lies behind the end means nothing. The memory is kept, its contents are
//! never shown.

use std::ops::{Deref, DerefMut};

/// Bytes that are read, looked at or copied at once: a cache line, and one register of the widest kernel.
pub(crate) const BLOCK: usize = 64;

/// From so many bytes on a buffer grows by less.
const LARGE: usize = 1 << 20;

/// How much more than was asked for is made ready at once, so that a slot at a time costs little.
const READY: usize = 4096;

#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer<T> {
    slots: Vec<T>,
    len: usize,
}

impl<T: Copy + Default> Buffer<T> {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Takes memory for `more` at the end, as far ahead as [`reserve`](Self::reserve) does. Room is made in it as it is asked
    /// for: a caller's buffer comes without any, and to make all of it at once would fill the cache with what is written much
    /// later.
    pub(crate) fn expect(&mut self, more: usize) {
        self.take(self.len + more, usize::MAX);
    }

    /// Makes room for `more` at the end. Grows by half again, and by a quarter once it is large, so that many small calls
    /// cost what one large would and little is taken that is not needed.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) {
        self.reserve_within(more, usize::MAX);
    }

    /// As [`reserve`](Self::reserve), of a buffer that will never hold more than `longest`.
    #[inline]
    pub(crate) fn reserve_within(&mut self, more: usize, longest: usize) {
        if self.len + more > self.slots.len() {
            self.grow(more, longest);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize, longest: usize) {
        let needed = self.len + more;
        self.take(needed, longest);
        // Of what there is only a little is made ready ahead: a caller's buffer comes with every piece anew, and to
        // fill all of its room each time would cost the square of what it has gathered.
        let ready = self.slots.capacity().min(needed.saturating_add(READY));
        self.slots.resize(ready, T::default());
    }

    /// Memory for `needed` in all.
    fn take(&mut self, needed: usize, longest: usize) {
        if needed > self.slots.capacity() {
            let len = self.slots.len();
            let ahead = if len < LARGE / size_of::<T>() { len / 2 } else { len / 4 };
            // Left to itself a vector doubles.
            self.slots.reserve_exact(needed.max(longest.min(len + ahead)) - len);
        }
    }

    /// What lies behind the end, reserved before, to write into.
    #[inline(always)]
    pub(crate) fn pen(&mut self) -> Pen<'_, T> {
        Pen { base: self.len, room: &mut self.slots[self.len..], len: 0 }
    }

    /// A pen that may write no more than `most`.
    #[inline(always)]
    pub(crate) fn pen_within(&mut self, most: usize) -> Pen<'_, T> {
        let end = self.slots.len().min(self.len.saturating_add(most));
        Pen { base: self.len, room: &mut self.slots[self.len..end], len: 0 }
    }

    /// Keeps what a pen has written.
    #[inline(always)]
    pub(crate) fn keep(&mut self, count: usize) {
        debug_assert!(self.len + count <= self.slots.len());
        self.len += count;
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Lets go of the first `count`.
    pub(crate) fn drop_front(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        self.slots.copy_within(count..self.len, 0);
        self.len -= count;
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        self.reserve(1);
        self.slots[self.len] = value;
        self.len += 1;
    }

    #[inline(always)]
    pub(crate) fn extend(&mut self, values: &[T]) {
        self.reserve(values.len());
        self.slots[self.len..self.len + values.len()].copy_from_slice(values);
        self.len += values.len();
    }
}

impl Buffer<u8> {
    /// Appends a piece of what it holds.
    pub(crate) fn extend_from_within(&mut self, piece: std::ops::Range<usize>) {
        self.reserve(piece.len());
        let len = piece.len();
        self.slots.copy_within(piece, self.len);
        self.len += len;
    }

    /// Appends a piece of a text, behind a comma if there is to be one. A piece that is short, and has enough text and room
    /// behind it, is one store.
    #[inline(always)]
    pub(crate) fn append(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        let length = to - from;
        let room = self.slots.get_mut(self.len..).and_then(|room| room.first_chunk_mut::<{ 1 + BLOCK }>());
        match (text[from..].first_chunk::<BLOCK>(), room) {
            (Some(span), Some(room)) if length <= BLOCK => {
                // Where there is no comma the piece takes its place.
                room[0] = b',';
                let at = usize::from(comma);
                room[at..at + BLOCK].copy_from_slice(span);
                self.len += at + length;
            }
            _ => self.append_slowly(comma, &text[from..to]),
        }
    }

    /// The same of a longer piece, or where text or room end.
    #[inline(never)]
    fn append_slowly(&mut self, comma: bool, piece: &[u8]) {
        self.reserve(1 + BLOCK.max(piece.len()));
        self.slots[self.len] = b',';
        self.len += usize::from(comma);
        self.slots[self.len..self.len + piece.len()].copy_from_slice(piece);
        self.len += piece.len();
    }

    /// What it holds with `more` zeros behind.
    pub(crate) fn padded(&mut self, more: usize) -> &[u8] {
        self.reserve(more);
        self.slots[self.len..self.len + more].fill(0);
        &self.slots[..self.len + more]
    }

    /// A buffer that goes on where `bytes` ends.
    pub(crate) fn after(bytes: Vec<u8>) -> Self {
        Self { len: bytes.len(), slots: bytes }
    }

    /// What it holds, with whatever room is left as spare capacity.
    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        self.slots.truncate(self.len);
        self.slots
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.slots[..self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.slots[..self.len]
    }
}

/// Writes into the room of a [`Buffer`]. It is a value of its own so that where it stands stays in a register; the
/// buffer learns of it when all is written, by [`Buffer::keep`].
pub(crate) struct Pen<'a, T> {
    base: usize,
    room: &'a mut [T],
    len: usize,
}

impl<'a, T: Copy> Pen<'a, T> {
    /// A pen for room of somebody else's.
    #[inline(always)]
    pub(crate) fn of(room: &'a mut [T]) -> Self {
        Self { base: 0, room, len: 0 }
    }

    /// How much it has written.
    #[inline(always)]
    pub(crate) fn written(&self) -> usize {
        self.len
    }

    /// How much it may still write.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.room.len() - self.len
    }

    /// Where it stands in the buffer.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.base + self.len
    }

    /// Goes back to where it stood.
    #[inline(always)]
    pub(crate) fn back_to(&mut self, at: usize) {
        self.len = at - self.base;
    }

    /// The next `N` slots, to scribble in.
    #[inline(always)]
    pub(crate) fn chunk<const N: usize>(&mut self) -> &mut [T; N] {
        self.room[self.len..].first_chunk_mut().expect("room was reserved")
    }

    /// All that is left of the room, to scribble in.
    #[inline(always)]
    pub(crate) fn rest(&mut self) -> &mut [T] {
        &mut self.room[self.len..]
    }

    /// Scribbles `values` some way ahead.
    #[inline(always)]
    pub(crate) fn at_offset<const N: usize>(&mut self, offset: usize, values: &[T; N]) {
        let room = self.room[self.len + offset..].first_chunk_mut().expect("room was reserved");
        *room = *values;
    }

    /// Keeps the first `count` of what was scribbled.
    #[inline(always)]
    pub(crate) fn keep(&mut self, count: usize) {
        self.len += count;
    }

    #[inline(always)]
    pub(crate) fn write(&mut self, values: &[T]) {
        self.room[self.len..self.len + values.len()].copy_from_slice(values);
        self.len += values.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends one by one.
    fn grow<T: Copy + Default>() {
        let mut buffer = Buffer::default();
        let mut moves = 0;
        let large = LARGE / size_of::<T>();
        for number in 0..4 * large {
            let before = buffer.slots.capacity();
            buffer.push(T::default());
            let after = buffer.slots.capacity();
            moves += u32::from(after != before);
            // By half again while it is small, by a quarter once it is large, and what is made ready ahead.
            let most = if before < large { number + number / 2 } else { number + number / 4 };
            assert!(after <= most + READY + 1 || after == before, "{before} to {after} at {number}");
            assert!(buffer.slots.len() - buffer.len <= READY);
        }
        assert!(moves <= 45, "{moves}");
    }

    #[test]
    fn grows_seldom_and_not_far() {
        grow::<u8>();
        grow::<u64>();
    }

    /// As of a caller who gathers many small documents in one buffer.
    #[test]
    fn what_is_expected_again_and_again_is_moved_seldom() {
        let mut gathered = Vec::new();
        let mut moves = 0;
        for _ in 0..20_000 {
            let before = gathered.capacity();
            let mut buffer = Buffer::after(gathered);
            buffer.expect(100);
            buffer.extend(&[b'x'; 100]);
            gathered = buffer.into_vec();
            moves += u32::from(gathered.capacity() != before);
        }
        assert_eq!(gathered.len(), 2_000_000);
        assert!(moves <= 30, "{moves}");
    }

    #[test]
    fn lets_go_of_the_front() {
        let mut buffer = Buffer::after(b"abcdef".to_vec());
        buffer.drop_front(0);
        assert_eq!(*buffer, *b"abcdef");
        buffer.drop_front(2);
        assert_eq!(*buffer, *b"cdef");
        buffer.drop_front(4);
        assert!(buffer.is_empty());
    }
}
