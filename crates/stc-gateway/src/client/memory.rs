//! The account of all bodies in memory: their bytes, in total and by client.
//!
//! Everything that holds a body counts it here: requests that are prepared for a model, looked through for tools or read by plugins,
//! responses that are converted or read by plugins, and what waits for a slow reader afterwards. Bodies that pass are not counted, and
//! cost nothing. Bytes are counted when they are received, so a client that announces a length and sends nothing takes nothing.
//!
//! What is held stays held when the configuration is read again, and counts against the new numbers.

use crate::client::permits::client_address;
use crate::config::Limits;
use stc_layer::Memory;
use stc_layer::memory::Held;
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Bodies up to this length are short.
const SHORT: usize = 64 << 10;

/// One part in so many is kept for short bodies, in total and of each share: they do not wait for long ones.
const KEPT_FOR_SHORT: usize = 8;

/// The account, one in a process.
#[derive(Default)]
pub(crate) struct Account {
    all: Count,
    most: AtomicUsize,
    most_per_client: AtomicUsize,
    clients: Mutex<HashMap<IpAddr, Weak<Share>>>,
    /// Bodies that wait for room, and what wakes them.
    waiting: AtomicUsize,
    freed: Notify,
}

/// Bytes that are held. A release and a wait happen in one order for all threads, so that a body that waits misses no release.
#[derive(Default)]
pub(crate) struct Count(AtomicUsize);

impl Count {
    /// Adds bytes, unless that makes more than `most`.
    pub(crate) fn add(&self, bytes: usize, most: usize) -> bool {
        let more = |held: usize| held.checked_add(bytes).filter(|all| *all <= most);
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok()
    }

    pub(crate) fn remove(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::SeqCst);
    }

    pub(crate) fn held(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What one client holds.
struct Share {
    address: IpAddr,
    held: Count,
    account: Arc<Account>,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut clients = self.account.clients();
        // A new connection from the address may have put its own entry there.
        if clients.get(&self.address).is_some_and(|share| share.strong_count() == 0) {
            clients.remove(&self.address);
        }
    }
}

impl Account {
    /// Puts the numbers of a configuration in force.
    pub(crate) fn apply(&self, limits: &Limits) {
        let bytes = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        self.most.store(bytes(limits.held_bytes), Ordering::Relaxed);
        self.most_per_client.store(bytes(limits.held_bytes_per_client()), Ordering::Relaxed);
        self.freed.notify_waiters();
    }

    /// Returns the bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.all.held()
    }

    /// Returns what all bodies and those of one client may have with a body of this length.
    fn most_for(&self, body: usize) -> (usize, usize) {
        let part = |most: &AtomicUsize| {
            let most = most.load(Ordering::Relaxed);
            if body <= SHORT { most } else { most - most / KEPT_FOR_SHORT }
        };
        (part(&self.most), part(&self.most_per_client))
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<IpAddr, Weak<Share>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn share(self: &Arc<Self>, address: IpAddr) -> Arc<Share> {
        let mut clients = self.clients();
        if let Some(share) = clients.get(&address).and_then(Weak::upgrade) {
            return share;
        }
        let share = Arc::new(Share { address, held: Count::default(), account: self.clone() });
        clients.insert(address, Arc::downgrade(&share));
        share
    }
}

/// The account as a connection uses it.
pub(crate) struct ClientMemory {
    account: Arc<Account>,
    address: IpAddr,
    /// Set by the first body that is held.
    share: OnceLock<Arc<Share>>,
}

impl ClientMemory {
    pub(crate) fn new(account: &Arc<Account>, peer: IpAddr) -> Arc<Self> {
        let (account, address) = (account.clone(), client_address(peer));
        Arc::new(Self { account, address, share: OnceLock::new() })
    }

    fn share(&self) -> &Share {
        self.share.get_or_init(|| self.account.share(self.address))
    }
}

impl Memory for ClientMemory {
    fn take(&self, bytes: usize, body: usize) -> bool {
        let (account, share) = (&self.account, self.share());
        let (most, most_per_client) = account.most_for(body);
        if !share.held.add(bytes, most_per_client) {
            return false;
        }
        let taken = account.all.add(bytes, most);
        if !taken {
            share.held.remove(bytes);
        }
        taken
    }

    fn give_back(&self, bytes: usize) {
        self.share().held.remove(bytes);
        self.account.all.remove(bytes);
        if self.account.waiting.load(Ordering::SeqCst) > 0 {
            self.account.freed.notify_waiters();
        }
    }

    fn most(&self, body: usize) -> usize {
        let (most, most_per_client) = self.account.most_for(body);
        most.min(most_per_client)
    }
}

/// A bound of its own beside the account: that of one route.
pub(crate) struct Bounded {
    pub(crate) memory: Arc<ClientMemory>,
    pub(crate) count: Arc<Count>,
    pub(crate) most: usize,
}

impl Memory for Bounded {
    fn take(&self, bytes: usize, body: usize) -> bool {
        if !self.count.add(bytes, self.most) {
            return false;
        }
        let taken = self.memory.take(bytes, body);
        if !taken {
            self.count.remove(bytes);
        }
        taken
    }

    fn give_back(&self, bytes: usize) {
        self.count.remove(bytes);
        self.memory.give_back(bytes);
    }

    fn most(&self, body: usize) -> usize {
        self.most.min(self.memory.most(body))
    }
}

/// What a request's bodies are counted with, and how long they wait for room.
#[derive(Clone)]
pub(crate) struct Purse {
    pub(crate) memory: Arc<ClientMemory>,
    pub(crate) patience: Duration,
}

impl Purse {
    /// Returns a count of nothing yet.
    pub(crate) fn hold(&self) -> Arc<Held> {
        Arc::new(Held::new(Some(self.memory.clone())))
    }

    /// Returns a count of nothing yet that has a bound of its own too.
    pub(crate) fn hold_within(&self, count: &Arc<Count>, most: usize) -> Arc<Held> {
        let memory = Bounded { memory: self.memory.clone(), count: count.clone(), most };
        Arc::new(Held::new(Some(Arc::new(memory))))
    }

    /// Counts at least this many bytes in all for a body. Waits for room; `false` if there is none in time. What sends the body waits with
    /// it, because nothing more is read.
    pub(crate) async fn grow(&self, held: &Held, bytes: usize) -> bool {
        // Most find room at once and need no timer.
        if held.grow(bytes) {
            return true;
        }
        // More than all of the room does not fit, however long it waits.
        if !held.may_grow(bytes) {
            return false;
        }
        let account = &self.memory.account;
        let until = Instant::now() + self.patience;
        let _waits = Waiting::new(&account.waiting);
        loop {
            let mut freed = pin!(account.freed.notified());
            // From here on no release is missed.
            freed.as_mut().enable();
            if held.grow(bytes) {
                return true;
            }
            if timeout_at(until, freed).await.is_err() {
                return held.grow(bytes);
            }
        }
    }
}

/// One more that waits, until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stc_layer::memory::guarded;

    fn account(all: u64, per_client: u64) -> Arc<Account> {
        let account = Arc::new(Account::default());
        account.apply(&Limits { held_bytes: all, held_bytes_per_client: Some(per_client), ..Limits::default() });
        account
    }

    fn purse(account: &Arc<Account>, last: u8) -> Purse {
        Purse { memory: ClientMemory::new(account, IpAddr::from([10, 0, 0, last])), patience: Duration::from_secs(5) }
    }

    #[test]
    fn a_client_has_a_share_and_all_have_the_total() {
        let account = account(1000, 600);
        let (one, same, other) = (purse(&account, 1), purse(&account, 1), purse(&account, 2));
        let (first, second, third) = (one.hold(), same.hold(), other.hold());
        assert!(first.grow(500) && !second.grow(101) && second.grow(100), "two connections of a client share");
        assert!(third.grow(400) && !third.grow(401) && account.held() == 1000);
        drop(first);
        assert!(third.grow(600) && account.held() == 700);
        let route = Arc::new(Count::default());
        let (bounded, beside) = (one.hold_within(&route, 150), one.hold_within(&route, 150));
        assert!(bounded.grow(100) && !beside.grow(51) && beside.grow(50), "a route has a bound of its own");
        assert!(!one.hold().grow(500), "and counts in the account");
        drop((second, third, bounded, beside));
        assert_eq!((account.held(), route.held()), (0, 0));
        drop((one, same, other));
        assert!(account.clients().is_empty());
    }

    /// Smaller numbers of a new configuration hold for what comes, and nothing that is held is lost.
    #[test]
    fn what_is_held_counts_against_new_numbers() {
        let account = account(1000, 1000);
        let purse = purse(&account, 1);
        let (held, more) = (purse.hold(), purse.hold());
        assert!(held.grow(900));
        account.apply(&Limits { held_bytes: 100, held_bytes_per_client: None, ..Limits::default() });
        assert!(!more.grow(1));
        drop(held);
        assert!(more.grow(50) && !more.grow(51), "half of it is a client's share");
    }

    /// Long bodies leave room for short ones, of their own client and of others.
    #[test]
    fn short_bodies_find_room_beside_long_ones() {
        let account = account(2 << 20, 1 << 20);
        let clients = [purse(&account, 1), purse(&account, 1), purse(&account, 2)];
        let long: Vec<_> = clients.iter().map(Purse::hold).collect();
        assert!(
            long[0].grow(500 << 10) && !long[1].grow(397 << 10) && long[1].grow(396 << 10) && long[2].grow(896 << 10)
        );
        let short: Vec<_> = (0..5).map(|place| clients[place % 2 * 2].hold()).collect();
        assert_eq!(short.iter().filter(|held| held.grow(SHORT)).count(), 4, "an eighth of each share");
        assert_eq!(account.held(), 2 << 20);
        assert!(!short[0].grow(SHORT + 1), "it would be long");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_waits_for_room() {
        let account = account(1000, 1000);
        let purse = purse(&account, 1);
        let (first, second) = (purse.hold(), purse.hold());
        assert!(purse.grow(&first, 900).await);
        let began = Instant::now();
        assert!(!purse.grow(&second, 101).await && began.elapsed() >= purse.patience, "as long as it is to wait");
        let began = Instant::now();
        assert!(!purse.grow(&second, 1001).await && began.elapsed().is_zero(), "what never fits does not wait");
        let within = purse.hold_within(&Arc::default(), 50);
        assert!(
            !purse.grow(&within, 51).await && began.elapsed().is_zero(),
            "nor what a bound of its own never lets in"
        );
        let sent = guarded(vec![b'x'; 900].into(), first);
        let (waited, ()) = tokio::join!(purse.grow(&second, 500), async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            drop(sent);
        });
        assert!(waited && began.elapsed() < purse.patience && account.held() == 500);
        // One that is given up while it waits waits no more.
        let third = purse.hold();
        assert!(tokio::time::timeout(Duration::from_secs(1), purse.grow(&third, 501)).await.is_err());
        assert_eq!(account.waiting.load(Ordering::SeqCst), 0);
        drop((second, third));
        assert_eq!(account.held(), 0);
    }
}
