//! The count of a route's bodies beside the account: a body that the account counts already counts here for the route alone.

use crate::client::memory::{Bounded, Count, Purse};
use stc_layer::Memory;
use stc_layer::memory::Held;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns a count of nothing yet, of which the account counts what is over the first `counted` bytes.
pub(super) fn hold(purse: &Purse, count: &Arc<Count>, most: usize, counted: usize) -> Arc<Held> {
    if counted == 0 {
        return purse.hold_within(count, most);
    }
    let over = Bounded { memory: purse.memory.clone(), count: count.clone(), most };
    Arc::new(Held::new(Some(Arc::new(Over { over, counted, bytes: AtomicUsize::new(0) }))))
}

/// The bytes of one body, of which the account counts some already.
struct Over {
    over: Bounded,
    counted: usize,
    bytes: AtomicUsize,
}

impl Over {
    /// Returns how many of `more` bytes after `before` the account is to count.
    const fn part(&self, before: usize, more: usize) -> usize {
        (before + more).saturating_sub(self.counted) - before.saturating_sub(self.counted)
    }
}

impl Memory for Over {
    fn take(&self, bytes: usize, body: usize) -> bool {
        let Bounded { memory, count, most } = &self.over;
        if !count.add(bytes, *most) {
            return false;
        }
        let part = self.part(self.bytes.load(Ordering::Relaxed), bytes);
        let taken = part == 0 || memory.take(part, body);
        if taken {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        } else {
            count.remove(bytes);
        }
        taken
    }

    fn give_back(&self, bytes: usize) {
        let after = self.bytes.fetch_sub(bytes, Ordering::Relaxed) - bytes;
        self.over.count.remove(bytes);
        // Also for none: it wakes what waits for the route.
        self.over.memory.give_back(self.part(after, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::memory::{Account, ClientMemory};
    use crate::config::Limits;
    use std::net::IpAddr;
    use std::time::Duration;

    #[test]
    fn what_is_counted_already_counts_for_the_route_alone() {
        let account = Arc::new(Account::default());
        account.apply(&Limits { held_bytes: 1000, held_bytes_per_client: Some(1000), ..Limits::default() });
        let memory = ClientMemory::new(&account, IpAddr::from([10, 0, 0, 1]));
        let purse = Purse { memory, patience: Duration::from_secs(1) };
        let (before, route) = (purse.hold(), Arc::new(Count::default()));
        assert!(before.grow(600));
        let held = hold(&purse, &route, 950, 600);
        assert!(held.grow(600) && (account.held(), route.held()) == (600, 600), "no second time");
        assert!(held.grow(900) && (account.held(), route.held()) == (900, 900), "what is over it counts in both");
        assert!(!held.grow(951) && (account.held(), route.held()) == (900, 900), "the route has a bound");
        held.shrink(700);
        assert_eq!((account.held(), route.held()), (700, 700));
        held.shrink(100);
        assert_eq!((account.held(), route.held()), (600, 100));
        drop(held);
        assert_eq!((account.held(), route.held()), (600, 0));
        drop(before);
        assert_eq!(account.held(), 0);
    }
}
