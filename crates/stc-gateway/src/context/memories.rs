//! The sessions in memory. They belong to the process: a new configuration with the same bounds keeps what is there, and all
//! routes with the same bounds share it; the route is part of every name.

use stc_context::{Bounds, MemoSettings, MemoryStore};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

type Memories = HashMap<Bounds, Weak<MemoryStore>>;
static MEMORIES: LazyLock<Mutex<Memories>> = LazyLock::new(Mutex::default);

/// Returns the bytes and the number of sessions in memory now.
pub(super) fn held() -> (usize, usize) {
    let memories: Vec<_> = lock().values().filter_map(Weak::upgrade).collect();
    memories.iter().fold((0, 0), |(bytes, sessions), memory| (bytes + memory.bytes(), sessions + memory.sessions()))
}

/// Returns the store with these bounds.
pub(super) fn shared(memo: &MemoSettings) -> Arc<MemoryStore> {
    let bounds = Bounds {
        entry_bytes: memo.entry_bytes,
        session_bytes: memo.session_bytes,
        sessions: memo.sessions,
        total_bytes: memo.total_bytes,
        ttl: memo.ttl.saturating_mul(1000),
    };
    let mut memories = lock();
    memories.retain(|_, memory| memory.strong_count() > 0);
    if let Some(memory) = memories.get(&bounds).and_then(Weak::upgrade) {
        return memory;
    }
    let memory = Arc::new(MemoryStore::new(bounds));
    memories.insert(bounds, Arc::downgrade(&memory));
    memory
}

fn lock() -> MutexGuard<'static, Memories> {
    MEMORIES.lock().unwrap_or_else(PoisonError::into_inner)
}
