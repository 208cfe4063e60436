//! What is kept from one request to the next, in memory and bounded.
//!
//! Every bound holds at once: the bytes of an entry, the bytes of a session (its oldest entries go first), the number of
//! sessions and the bytes of all (the sessions that were not used for the longest time go first), and the time without use.

use crate::key::Key;
use std::collections::hash_map::Entry as Place;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A value to keep.
#[derive(Clone, Debug)]
pub struct Write {
    /// Its name.
    pub key: Key,
    /// The value.
    pub value: Arc<[u8]>,
}

/// A place for values. It may lose any of them at any time.
pub trait Store: Send + Sync {
    /// Returns the values of these names. `now` is a time in milliseconds that never decreases.
    fn get(&self, keys: &[Key], now: u64) -> Vec<Option<Arc<[u8]>>>;

    /// Keeps values.
    fn put(&self, writes: Vec<Write>, now: u64);
}

/// The bounds of a [`MemoryStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Bytes of one value; a longer one is not kept.
    pub entry_bytes: usize,
    /// Bytes of one session.
    pub session_bytes: usize,
    /// Sessions.
    pub sessions: usize,
    /// Bytes of all sessions, with what it costs to find them.
    pub total_bytes: usize,
    /// Milliseconds that a session is kept without use.
    pub ttl: u64,
}

/// Parts of the store, each with its own lock and its share of the bounds.
const PARTS: usize = 16;

/// Bytes that an entry costs beside its value: its places in a table and in a queue, both up to twice as long as they are
/// full, the count of references, and the allocator's own.
const ENTRY_OVERHEAD: usize = 192;
/// Bytes that a session costs beside its entries.
const SESSION_OVERHEAD: usize = 320;

/// A store in memory.
#[derive(Debug)]
pub struct MemoryStore {
    parts: Vec<Mutex<Part>>,
    bounds: Bounds,
}

#[derive(Debug, Default)]
struct Part {
    entries: HashMap<u128, Arc<[u8]>>,
    sessions: HashMap<u128, Session>,
    /// The sessions by the time of their last use.
    by_use: BTreeMap<Used, u128>,
    bytes: usize,
    uses: u64,
}

/// The time of a use, and its number among those of a part.
type Used = (u64, u64);

#[derive(Debug, Default)]
struct Session {
    /// The entries, the oldest first.
    entries: VecDeque<u128>,
    bytes: usize,
    used: Used,
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        // Few sessions are not divided: a part must have room for at least a few of them.
        let parts = (bounds.sessions / 64).min(bounds.total_bytes / (4 * bounds.session_bytes.max(1))).clamp(1, PARTS);
        Self { parts: (0..parts).map(|_| Mutex::default()).collect(), bounds }
    }

    /// Returns the bytes held now, with what it costs to find them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| lock(part).bytes).sum()
    }

    /// Returns the number of sessions held now.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.parts.iter().map(|part| lock(part).sessions.len()).sum()
    }

    fn part(&self, session: u128) -> MutexGuard<'_, Part> {
        lock(&self.parts[(session % self.parts.len() as u128) as usize])
    }
}

impl Store for MemoryStore {
    fn get(&self, keys: &[Key], now: u64) -> Vec<Option<Arc<[u8]>>> {
        let mut found = Vec::with_capacity(keys.len());
        for keys in keys.chunk_by(|one, next| one.session == next.session) {
            let mut part = self.part(keys[0].session);
            part.expire(now, self.bounds.ttl);
            part.touch(keys[0].session, now);
            found.extend(keys.iter().map(|key| part.entries.get(&key.entry).cloned()));
        }
        found
    }

    fn put(&self, writes: Vec<Write>, now: u64) {
        for Write { key, value } in writes {
            let cost = value.len() + ENTRY_OVERHEAD;
            if value.len() > self.bounds.entry_bytes || cost > self.bounds.session_bytes {
                continue;
            }
            let mut part = self.part(key.session);
            part.expire(now, self.bounds.ttl);
            part.put(key, value, now, self.bounds.session_bytes);
            let shares = self.parts.len();
            part.shrink(self.bounds.sessions.div_ceil(shares), self.bounds.total_bytes / shares);
        }
    }
}

impl Part {
    /// Notes a use of a session that is there.
    fn touch(&mut self, session: u128, now: u64) {
        let Some(held) = self.sessions.get_mut(&session) else { return };
        self.uses += 1;
        self.by_use.remove(&held.used);
        held.used = (now, self.uses);
        self.by_use.insert(held.used, session);
    }

    fn put(&mut self, key: Key, value: Arc<[u8]>, now: u64, session_bytes: usize) {
        if let Place::Vacant(place) = self.sessions.entry(key.session) {
            place.insert(Session::default());
            self.bytes += SESSION_OVERHEAD;
        }
        self.touch(key.session, now);
        let Some(session) = self.sessions.get_mut(&key.session) else { return };
        let cost = value.len() + ENTRY_OVERHEAD;
        let replaced = self.entries.insert(key.entry, value);
        let replaced_cost = replaced.as_ref().map_or(0, |value| value.len() + ENTRY_OVERHEAD);
        if replaced.is_none() {
            session.entries.push_back(key.entry);
        }
        session.bytes = session.bytes + cost - replaced_cost;
        self.bytes = self.bytes + cost - replaced_cost;
        while session.bytes > session_bytes {
            let Some(oldest) = session.entries.pop_front() else { break };
            let freed = self.entries.remove(&oldest).map_or(0, |value| value.len() + ENTRY_OVERHEAD);
            session.bytes -= freed;
            self.bytes -= freed;
        }
    }

    /// Drops sessions that were not used for `ttl` milliseconds.
    fn expire(&mut self, now: u64, ttl: u64) {
        while self.by_use.first_key_value().is_some_and(|((used, _), _)| used.saturating_add(ttl) < now) {
            self.drop_oldest();
        }
    }

    fn shrink(&mut self, sessions: usize, bytes: usize) {
        while self.sessions.len() > sessions || (self.bytes > bytes && !self.sessions.is_empty()) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let Some((_, oldest)) = self.by_use.pop_first() else { return };
        let Some(session) = self.sessions.remove(&oldest) else { return };
        for entry in &session.entries {
            self.entries.remove(entry);
        }
        self.bytes -= session.bytes + SESSION_OVERHEAD;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        entry_bytes: 100,
        session_bytes: 3 * (50 + ENTRY_OVERHEAD),
        sessions: 3,
        total_bytes: 100_000,
        ttl: 1_000,
    };

    fn key(session: u128, entry: u128) -> Key {
        Key { session, entry: session << 64 | entry }
    }

    fn put(store: &MemoryStore, session: u128, entry: u128, bytes: usize, now: u64) {
        store.put(vec![Write { key: key(session, entry), value: vec![entry as u8; bytes].into() }], now);
    }

    fn held(store: &MemoryStore, session: u128, entries: std::ops::Range<u128>, now: u64) -> Vec<u128> {
        let keys: Vec<_> = entries.clone().map(|entry| key(session, entry)).collect();
        let found = store.get(&keys, now);
        entries.zip(found).filter_map(|(entry, value)| value.map(|_| entry)).collect()
    }

    #[test]
    fn the_oldest_entries_of_a_session_go_first() {
        let store = MemoryStore::new(BOUNDS);
        for entry in 0..3 {
            put(&store, 1, entry, 50, 0);
        }
        assert_eq!(held(&store, 1, 0..9, 0), [0, 1, 2]);
        // Reading an entry does not make it younger.
        put(&store, 1, 3, 50, 0);
        assert_eq!(held(&store, 1, 0..9, 0), [1, 2, 3]);
        // A value in the place of another keeps its turn.
        put(&store, 1, 1, 40, 0);
        put(&store, 1, 4, 50, 0);
        assert_eq!(held(&store, 1, 0..9, 0), [2, 3, 4]);
        put(&store, 1, 5, 101, 0);
        assert_eq!(held(&store, 1, 0..9, 0), [2, 3, 4], "an entry that is too long is not kept");
    }

    #[test]
    fn the_session_that_was_not_used_for_the_longest_time_goes_first() {
        let store = MemoryStore::new(BOUNDS);
        for session in 0..3 {
            put(&store, session, 7, 10, session as u64);
        }
        assert_eq!(held(&store, 0, 7..8, 5), [7]);
        put(&store, 9, 7, 10, 6);
        assert_eq!(store.sessions(), 3);
        assert_eq!(held(&store, 1, 7..8, 7), [], "the one that was used least recently");
        for session in [0, 2, 9] {
            assert_eq!(held(&store, session, 7..8, 7), [7], "{session}");
        }
    }

    #[test]
    fn a_session_without_use_expires() {
        let store = MemoryStore::new(BOUNDS);
        put(&store, 1, 7, 10, 0);
        put(&store, 2, 7, 10, 0);
        assert_eq!(held(&store, 1, 7..8, 900), [7]);
        assert_eq!(held(&store, 1, 7..8, 1_900), [7], "used since");
        assert_eq!(held(&store, 2, 7..8, 1_900), []);
        assert_eq!(held(&store, 1, 7..8, 2_901), []);
        assert_eq!((store.bytes(), store.sessions()), (0, 0));
    }

    #[test]
    fn all_bytes_together_are_bounded() {
        let store = MemoryStore::new(Bounds { sessions: 1_000_000, total_bytes: 10_000, ..BOUNDS });
        for session in 0..1_000 {
            put(&store, session, 7, 80, 0);
            assert!(store.bytes() <= 10_000, "{}", store.bytes());
        }
        assert!(store.sessions() > 10);
        assert_eq!(held(&store, 999, 7..8, 0), [7]);
    }
}
