//! A growable buffer with writable room after its end, so that whole registers can be stored and only part of them kept.
//!
//! A `Vec` checks its capacity at every append. Here room is reserved once for many appends, and a store may be wider
//! than the value, because bytes after the end mean nothing. [`Buffer::clear`] keeps the memory.
//!
//! ```text
//! buffer   n a m e | . . . . . . . .      four bytes, and room
//! store    n a m e | : 7 , " x y z .      eight bytes in one store
//! keep 2   n a m e   : 7 | , " x y z .    two of them count
//! ```

use std::ops::{Deref, DerefMut};

/// The bytes that are scanned or copied at once: a cache line, and one register of the widest kernel.
pub(crate) const BLOCK: usize = 64;

/// A buffer of at least this many bytes grows by a quarter instead of a half.
const LARGE: usize = 1 << 20;

/// The slots that are initialised beyond those requested, so that reserving one at a time is cheap.
const SPARE_SLOTS: usize = 4096;

/// A growable buffer with writable room after its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer<T> {
    /// The contents, and after them room that may be written to.
    slots: Vec<T>,
    len: usize,
}

impl<T: Copy + Default> Buffer<T> {
    /// Empties the buffer and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Allocates for `more` slots at the end, by the same rule as [`reserve`](Self::reserve), but leaves their initialisation
    /// to it: initialising all at once would fill the cache with memory that is written much later.
    pub(crate) fn expect(&mut self, more: usize) {
        self.allocate(self.len + more, usize::MAX);
    }

    /// Makes room for `more` at the end. The memory grows by half, or by a quarter once it is large: many small calls then cost
    /// what one large call would, and little memory is left unused.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) {
        self.reserve_within(more, usize::MAX);
    }

    /// As [`reserve`](Self::reserve), for a buffer that never holds more than `longest`.
    #[inline]
    pub(crate) fn reserve_within(&mut self, more: usize, longest: usize) {
        if self.len + more > self.slots.len() {
            self.grow(more, longest);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize, longest: usize) {
        let needed = self.len + more;
        self.allocate(needed, longest);
        // Only a little of the capacity is initialised ahead: a caller's buffer arrives uninitialised with every call, and
        // filling all of its room each time would be quadratic over many calls.
        let initialised = self.slots.capacity().min(needed.saturating_add(SPARE_SLOTS));
        self.slots.resize(initialised, T::default());
    }

    /// Allocates for `needed` slots in all.
    fn allocate(&mut self, needed: usize, longest: usize) {
        if needed > self.slots.capacity() {
            let len = self.slots.len();
            let ahead = if len < LARGE / size_of::<T>() { len / 2 } else { len / 4 };
            // `Vec::reserve` would double.
            self.slots.reserve_exact(needed.max(longest.min(len + ahead)) - len);
        }
    }

    /// Returns a writer into the room, which must have been reserved.
    #[inline(always)]
    pub(crate) fn pen(&mut self) -> Pen<'_, T> {
        Pen { base: self.len, room: &mut self.slots[self.len..], len: 0 }
    }

    /// Returns a writer that may write no more than `most`.
    #[inline(always)]
    pub(crate) fn pen_within(&mut self, most: usize) -> Pen<'_, T> {
        let end = self.slots.len().min(self.len.saturating_add(most));
        Pen { base: self.len, room: &mut self.slots[self.len..end], len: 0 }
    }

    /// Appends the first `count` slots of the room, which a [`Pen`] has written.
    #[inline(always)]
    pub(crate) fn keep(&mut self, count: usize) {
        debug_assert!(self.len + count <= self.slots.len());
        self.len += count;
    }

    /// Returns how much can be appended before the buffer has to grow.
    pub(crate) fn room(&self) -> usize {
        self.slots.capacity() - self.len
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Removes the first `count` slots.
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
    /// Appends a copy of a range of the contents.
    pub(crate) fn extend_from_within(&mut self, range: std::ops::Range<usize>) {
        self.reserve(range.len());
        let len = range.len();
        self.slots.copy_within(range, self.len);
        self.len += len;
    }

    /// Appends the bytes of `text` from `from` to `to`, after a comma if `comma`. Up to a block is one store, if text and room
    /// are long enough.
    #[inline(always)]
    pub(crate) fn append(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        let length = to - from;
        let room = self.slots.get_mut(self.len..).and_then(|room| room.first_chunk_mut::<{ 1 + BLOCK }>());
        match (text[from..].first_chunk::<BLOCK>(), room) {
            (Some(span), Some(room)) if length <= BLOCK => {
                // Overwritten if there is to be no comma.
                room[0] = b',';
                let at = usize::from(comma);
                room[at..at + BLOCK].copy_from_slice(span);
                self.len += at + length;
            }
            _ => self.append_slowly(comma, &text[from..to]),
        }
    }

    /// As [`append`](Self::append), for any length.
    #[inline(never)]
    fn append_slowly(&mut self, comma: bool, bytes: &[u8]) {
        self.reserve(1 + BLOCK.max(bytes.len()));
        self.slots[self.len] = b',';
        self.len += usize::from(comma);
        self.slots[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Returns the contents with `more` zeros after them.
    pub(crate) fn padded(&mut self, more: usize) -> &[u8] {
        self.reserve(more);
        self.slots[self.len..self.len + more].fill(0);
        &self.slots[..self.len + more]
    }

    /// Returns a buffer that holds `bytes` and appends to them.
    pub(crate) fn after(bytes: Vec<u8>) -> Self {
        Self { len: bytes.len(), slots: bytes }
    }

    /// Returns the contents; the room becomes spare capacity.
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

/// A writer into the room of a [`Buffer`]. It is a value of its own, so that its position stays in a register; what it has
/// written becomes part of the buffer by [`Buffer::keep`].
pub(crate) struct Pen<'a, T> {
    base: usize,
    room: &'a mut [T],
    len: usize,
}

impl<'a, T: Copy> Pen<'a, T> {
    /// Returns a writer into any slice.
    #[inline(always)]
    pub(crate) fn of(room: &'a mut [T]) -> Self {
        Self { base: 0, room, len: 0 }
    }

    /// Returns how many slots it has written.
    #[inline(always)]
    pub(crate) fn written(&self) -> usize {
        self.len
    }

    /// Returns how many slots it may still write.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.room.len() - self.len
    }

    /// Returns its position in the buffer.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.base + self.len
    }

    /// Returns to an earlier position in the buffer.
    #[inline(always)]
    pub(crate) fn back_to(&mut self, at: usize) {
        self.len = at - self.base;
    }

    /// Returns the next `N` slots; [`keep`](Self::keep) appends them.
    #[inline(always)]
    pub(crate) fn chunk<const N: usize>(&mut self) -> &mut [T; N] {
        self.room[self.len..].first_chunk_mut().expect("room was reserved")
    }

    /// Returns all slots that are left; [`keep`](Self::keep) appends the first of them.
    #[inline(always)]
    pub(crate) fn rest(&mut self) -> &mut [T] {
        &mut self.room[self.len..]
    }

    /// Appends the next `count` slots, which have been stored.
    #[inline(always)]
    pub(crate) fn keep(&mut self, count: usize) {
        self.len += count;
    }

    /// Appends `values`.
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
            // By half while it is small, by a quarter once it is large, and what is initialised ahead.
            let most = if before < large { number + number / 2 } else { number + number / 4 };
            assert!(after <= most + SPARE_SLOTS + 1 || after == before, "{before} to {after} at {number}");
            assert!(buffer.slots.len() - buffer.len <= SPARE_SLOTS);
        }
        assert!(moves <= 45, "{moves}");
    }

    #[test]
    fn grows_rarely_and_by_little() {
        grow::<u8>();
        grow::<u64>();
    }

    /// As with a caller that collects many small documents in one buffer.
    #[test]
    fn repeated_expectations_rarely_move_the_contents() {
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
    fn removes_the_front() {
        let mut buffer = Buffer::after(b"abcdef".to_vec());
        buffer.drop_front(0);
        assert_eq!(*buffer, *b"abcdef");
        buffer.drop_front(2);
        assert_eq!(*buffer, *b"cdef");
        buffer.drop_front(4);
        assert!(buffer.is_empty());
    }

    /// What is expected is allocated, and little more.
    #[test]
    fn an_expectation_is_met_and_hardly_exceeded() {
        for (before, more) in [(0, 1), (10, 100), (5000, 1), (1 << 16, 1 << 16), (1 << 21, 1 << 20)] {
            let mut buffer = Buffer::after(vec![b'x'; before]);
            buffer.expect(more);
            let most = before + more.max(before / 2);
            assert!((more..=most - before).contains(&buffer.room()), "{before} {more}: {}", buffer.room());
            assert_eq!(buffer.len(), before);
        }
    }

    /// A span is appended whole, after a comma or not, whatever the room and whatever the text has after it.
    #[test]
    fn a_span_of_every_length_is_appended_whole() {
        let text: Vec<u8> = (0..400).map(|at| at as u8).collect();
        for length in (0..=130).chain([200, 300]) {
            for (comma, from, end) in [(false, 0, 400), (true, 3, 400), (true, 3, 3 + length), (false, 50, 50 + length)]
            {
                for room in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 1000] {
                    let mut buffer = Buffer::after(b"before".to_vec());
                    // As much room as this, and no more.
                    buffer.slots.resize(6 + room, 0);
                    buffer.append(comma, &text[..end], from, from + length);
                    let expected =
                        [&b"before"[..], if comma { b"," } else { b"" }, &text[from..from + length]].concat();
                    assert_eq!(*buffer, expected[..], "{length} bytes from {from} of {end}, {room} bytes of room");
                }
            }
        }
    }

    #[test]
    fn a_pen_counts_what_it_has_written_and_what_is_left() {
        let mut buffer = Buffer::after(b"abc".to_vec());
        buffer.reserve(10);
        let mut pen = buffer.pen_within(7);
        pen.write(b"de");
        assert_eq!((pen.written(), pen.left(), pen.at(), pen.rest().len()), (2, 5, 5, 5));
        pen.back_to(4);
        assert_eq!((pen.written(), pen.left(), pen.at()), (1, 6, 4));
        buffer.keep(1);
        assert_eq!(*buffer, *b"abcd");
    }
}
