//! The memory that bodies take: who counts it, and one buffer for the frames of a body.
//!
//! Bytes are counted when they are received, whatever length was announced, and until the last reference to them is dropped: a body that
//! waits for a slow reader is counted to its end, wherever it waits.

use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An account of the bytes of bodies in memory, which an embedding program may keep for each client and for all.
pub trait Memory: Send + Sync {
    /// Counts these bytes, unless they are too many, for a body that has `body` bytes with them. Returns whether they are counted.
    fn take(&self, bytes: usize, body: usize) -> bool;

    /// Stops to count bytes that were taken.
    fn give_back(&self, bytes: usize);

    /// Returns the most bytes that a body of `body` bytes can ever have counted, however few are counted for others.
    fn most(&self, body: usize) -> usize {
        let _ = body;
        usize::MAX
    }
}

/// The bytes that are counted for one body, given back on drop.
#[derive(Default)]
pub struct Held {
    memory: Option<Arc<dyn Memory>>,
    bytes: AtomicUsize,
}

impl Held {
    /// Counts nothing yet. Without an account, any number of bytes can be held.
    #[must_use]
    pub const fn new(memory: Option<Arc<dyn Memory>>) -> Self {
        Self { memory, bytes: AtomicUsize::new(0) }
    }

    /// Counts at least this many bytes in all. Returns whether the account has room for them; if not, it counts what it did before.
    #[must_use]
    pub fn grow(&self, bytes: usize) -> bool {
        let Some(memory) = &self.memory else { return true };
        let more = bytes.saturating_sub(self.bytes.load(Ordering::Relaxed));
        if more > 0 && !memory.take(more, bytes) {
            return false;
        }
        self.bytes.fetch_add(more, Ordering::Relaxed);
        true
    }

    /// Returns whether this many bytes in all could be counted if there were no other bodies.
    #[must_use]
    pub fn may_grow(&self, bytes: usize) -> bool {
        self.memory.as_ref().is_none_or(|memory| bytes <= memory.most(bytes))
    }

    /// Counts at most this many bytes in all.
    pub fn shrink(&self, bytes: usize) {
        let before = self.bytes.fetch_min(bytes, Ordering::Relaxed);
        if let Some(memory) = self.memory.as_ref().filter(|_| before > bytes) {
            memory.give_back(before - bytes);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Held").field(&self.bytes).finish()
    }
}

/// Room for one body in memory, released on drop: one of the engine's `max_held`, and its bytes.
pub struct BodyRoom {
    bodies: Arc<AtomicUsize>,
    held: Held,
}

impl BodyRoom {
    /// Takes room for a body; `None` if there are `most` already.
    pub(crate) fn take(bodies: &Arc<AtomicUsize>, most: usize, memory: Option<Arc<dyn Memory>>) -> Option<Self> {
        let more = |held: usize| (held < most).then_some(held + 1);
        bodies.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Self { bodies: bodies.clone(), held: Held::new(memory) })
    }

    /// Returns the count of its bytes.
    pub(crate) const fn bytes(&self) -> &Held {
        &self.held
    }
}

impl Drop for BodyRoom {
    fn drop(&mut self) {
        self.bodies.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Data, and what is dropped with the last reference to it.
struct Guarded<G> {
    data: Bytes,
    _guard: G,
}

impl<G> AsRef<[u8]> for Guarded<G> {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

/// Returns the same bytes; the guard is dropped with the last reference to any of them.
pub fn guarded(data: Bytes, guard: impl Send + 'static) -> Bytes {
    if data.is_empty() { data } else { Bytes::from_owner(Guarded { data, _guard: guard }) }
}

/// Returns bytes that take little more memory than their number: what was reserved for more is given up.
#[must_use]
pub fn fitted(mut bytes: Vec<u8>) -> Bytes {
    if bytes.capacity() - bytes.len() > bytes.len() / 4 {
        bytes.shrink_to_fit();
    }
    bytes.into()
}

/// A frame of at least this length that is the only one of its body is not copied. A shorter one is, because it may be a small part of a
/// connection's buffer, which it would keep in memory.
const KEPT: usize = 16 << 10;

/// The least that a buffer grows by.
const LEAST_MORE: usize = 256;

/// The data of a body's frames in one buffer, however small the frames are.
#[derive(Debug, Default)]
pub struct Gathered {
    only: Bytes,
    buffer: Vec<u8>,
    announced: usize,
}

impl Gathered {
    /// Creates an empty buffer for a body of this announced length, which allocates nothing.
    #[must_use]
    pub fn expecting(announced: Option<usize>) -> Self {
        Self { only: Bytes::new(), buffer: Vec::new(), announced: announced.unwrap_or(0) }
    }

    /// Returns the number of bytes so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.only.len() + self.buffer.len()
    }

    /// Returns whether there are no bytes yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory that it takes with a further frame of this length.
    #[must_use]
    pub fn with(&self, more: usize) -> usize {
        let length = self.len() + more;
        if self.is_empty() || more == 0 {
            return length.max(self.buffer.capacity());
        }
        match self.buffer.capacity() {
            enough if length <= enough => enough,
            _ if length <= self.announced => self.announced.min(2 * length),
            _ => length + (length / 2).max(LEAST_MORE),
        }
    }

    /// Appends a frame.
    pub fn push(&mut self, frame: Bytes) {
        if self.is_empty() && frame.len() >= KEPT {
            self.only = frame;
            return;
        }
        let capacity = self.with(frame.len());
        self.buffer.reserve_exact(capacity - self.buffer.len());
        let only = std::mem::take(&mut self.only);
        self.buffer.extend_from_slice(&only);
        self.buffer.extend_from_slice(&frame);
    }

    /// Returns the whole.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        if self.buffer.is_empty() { self.only } else { self.buffer.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An account of 1,000 bytes.
    #[derive(Default)]
    struct Thousand(AtomicUsize);

    impl Memory for Thousand {
        fn take(&self, bytes: usize, _: usize) -> bool {
            let more = |held: usize| Some(held + bytes).filter(|all| *all <= 1000);
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
        }

        fn give_back(&self, bytes: usize) {
            self.0.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn bytes_are_counted_until_the_last_reference_is_gone() {
        let account = Arc::new(Thousand::default());
        let count = || account.0.load(Ordering::Relaxed);
        let held = Held::new(Some(account.clone()));
        assert!(held.grow(600) && held.grow(500) && count() == 600);
        assert!(!held.grow(1001) && count() == 600, "what does not fit changes nothing");
        let mut body = guarded(Bytes::from(vec![b'x'; 600]), held);
        let frame = body.split_to(10);
        drop(body);
        assert_eq!(count(), 600, "a slice keeps all of it");
        drop(frame);
        assert_eq!(count(), 0);
        let held = Held::new(Some(account.clone()));
        assert!(held.grow(1000));
        held.shrink(1);
        held.shrink(5);
        assert_eq!(count(), 1);
        drop(guarded(Bytes::new(), held));
        assert_eq!(count(), 0);
        assert!(Held::default().grow(usize::MAX), "without an account there is no bound");
    }

    #[test]
    fn what_was_reserved_is_given_up() {
        for (length, capacity, takes) in [(1000, 5000, 1000), (1000, 1200, 1200), (0, 100, 0), (0, 0, 0)] {
            let mut bytes = Vec::with_capacity(capacity);
            bytes.resize(length, b'x');
            let fitted = fitted(bytes);
            assert_eq!(fitted.len(), length);
            assert!(Vec::from(fitted).capacity() <= takes);
        }
    }

    /// However a body is divided into frames, it takes little more than its bytes, and what it takes is what was said before.
    #[test]
    fn small_frames_take_no_more_memory_than_large_ones() {
        let whole: Vec<u8> = (0..100_000).map(|place| place as u8).collect();
        for announced in [None, Some(0), Some(100_000), Some(usize::MAX), Some(70_000)] {
            for length in [1, 7, 300, KEPT - 1, KEPT, 99_999, 100_000] {
                let mut gathered = Gathered::expecting(announced);
                // A frame is a slice of a buffer that is much longer.
                for frame in Bytes::from(whole.clone()).chunks(length) {
                    let takes = gathered.with(frame.len());
                    gathered.push(Bytes::copy_from_slice(frame));
                    let capacity = gathered.only.len() + gathered.buffer.capacity();
                    assert!(capacity <= takes, "{capacity} {takes}");
                    assert!(takes <= 2 * gathered.len() + LEAST_MORE, "{takes} for {}", gathered.len());
                    if announced == Some(100_000) {
                        assert!(takes <= 100_000);
                    }
                }
                assert_eq!(gathered.len(), whole.len());
                assert_eq!(gathered.into_bytes(), whole, "{announced:?} {length}");
            }
        }
        assert!(Gathered::default().is_empty() && Gathered::default().into_bytes().is_empty());
    }
}
