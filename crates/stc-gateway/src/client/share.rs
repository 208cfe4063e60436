//! A number of permits that can change while some of them are held: a reload of the configuration does not wait for requests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// The permits.
pub(crate) struct Share {
    semaphore: Semaphore,
    /// Held permits above the number: the next ones that come back are not given out again.
    excess: AtomicUsize,
    size: Mutex<Size>,
}

/// The number of permits, and the configuration that it is of.
struct Size {
    generation: u64,
    permits: usize,
}

/// One permit, given back on drop.
pub(crate) struct SharePermit(Arc<Share>);

impl Share {
    pub(crate) fn new(generation: u64, permits: usize) -> Arc<Self> {
        let permits = permits.min(Semaphore::MAX_PERMITS);
        let size = Mutex::new(Size { generation, permits });
        Arc::new(Self { semaphore: Semaphore::new(permits), excess: AtomicUsize::new(0), size })
    }

    /// Changes the number of permits, unless that of a later configuration is in force.
    pub(crate) fn resize(&self, generation: u64, permits: usize) {
        let permits = permits.min(Semaphore::MAX_PERMITS);
        let mut size = self.size();
        if generation <= size.generation {
            return;
        }
        let before = std::mem::replace(&mut *size, Size { generation, permits }).permits;
        if permits < before {
            let less = before - permits;
            let free = self.semaphore.forget_permits(less);
            self.excess.fetch_add(less - free, Ordering::Relaxed);
        } else {
            let more = permits - before;
            let (relaxed, less) = (Ordering::Relaxed, |excess: usize| Some(excess.saturating_sub(more)));
            let excess = self.excess.fetch_update(relaxed, relaxed, less).unwrap_or(0);
            self.semaphore.add_permits(more.saturating_sub(excess));
        }
    }

    /// Takes a permit, if one is free.
    pub(crate) fn try_take(self: &Arc<Self>) -> Option<SharePermit> {
        self.semaphore.try_acquire().ok()?.forget();
        Some(SharePermit(self.clone()))
    }

    /// Waits for a permit.
    pub(crate) async fn take(self: Arc<Self>) -> Option<SharePermit> {
        self.semaphore.acquire().await.ok()?.forget();
        Some(SharePermit(self))
    }

    /// Returns the number of permits that are held.
    pub(crate) fn held(&self) -> usize {
        let size = self.size();
        let all = size.permits + self.excess.load(Ordering::Relaxed);
        all.saturating_sub(self.semaphore.available_permits())
    }

    /// Returns whether no permit is free.
    pub(crate) fn is_used_up(&self) -> bool {
        self.semaphore.available_permits() == 0
    }

    fn size(&self) -> MutexGuard<'_, Size> {
        self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SharePermit {
    fn drop(&mut self) {
        let (excess, relaxed) = (&self.0.excess, Ordering::Relaxed);
        let is_over =
            excess.load(relaxed) > 0 && excess.fetch_update(relaxed, relaxed, |over| over.checked_sub(1)).is_ok();
        if !is_over {
            self.0.semaphore.add_permits(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_permits_count_against_the_new_number() {
        let share = Share::new(0, 4);
        let mut held: Vec<_> = (0..3).map(|_| share.try_take().unwrap()).collect();
        share.resize(1, 1);
        assert_eq!((share.held(), share.is_used_up()), (3, true));
        held.pop();
        assert!(share.held() == 2 && share.try_take().is_none(), "there are still more than one");
        share.resize(2, 3);
        assert!(share.try_take().is_some(), "there is room for a third");
        share.resize(1, 100);
        assert_eq!((share.held(), share.semaphore.available_permits()), (2, 1));
        share.resize(3, 1);
        held.clear();
        assert_eq!((share.held(), share.semaphore.available_permits()), (0, 1));
        share.resize(4, 5);
        assert_eq!((0..9).filter_map(|_| share.try_take().inspect(|_| ())).map(std::mem::forget).count(), 5);
    }
}
