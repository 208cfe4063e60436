//! Places for connections: a number for the program, and a share of it for each client.
//!
//! If all but a small reserve are taken, the connection that has been idle longest is closed for each new one, whichever client has it.
//! So clients that hold connections and say nothing do not keep others out, whatever their number. A client is fair to itself: what it
//! opens first and does not use goes first.
//!
//! The reserve is there so that a new connection need not wait until another has closed, on another thread: without it, two hundred
//! that arrive together wait for each other, and the last for 10 ms (scripts/hostile, all at once).

use crate::client::activity::{Activity, GRACE, milliseconds};
use crate::client::permits::client_address;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// How long to wait for a connection to close before another is chosen. Where none is idle, one may be then.
const TIME_TO_MAKE_ROOM: Duration = Duration::from_millis(50);

/// One in so many places is in the reserve.
const RESERVE: usize = 50;

/// The most connections that are looked at under one lock.
const LOOKS_PER_LOCK: usize = 128;

/// The most connections that end in order after they have given back their places: so many more are open than there are places.
const LEAVING: usize = 32;

/// All places.
pub(crate) struct Places {
    total: Arc<Semaphore>,
    leaving: Arc<Semaphore>,
    /// While fewer places are free, an idle connection closes for each new one.
    reserve: usize,
    /// The share of one client.
    share: usize,
    began: Instant,
    open: Mutex<Open>,
}

/// The open connections.
#[derive(Default)]
struct Open {
    /// The number of connections of each client.
    clients: HashMap<IpAddr, usize>,
    /// How many connections had a place so far.
    count: u64,
    /// The connections with a place. Each is under a time since which it is idle at the most, in milliseconds after `began`, and its
    /// number. The time is as it was when the connection was last looked at: requests do not change it, so that they need no lock.
    queue: BTreeMap<(u64, u64), Arc<Queued>>,
}

/// A connection in the queue.
struct Queued {
    number: u64,
    /// The time that the queue has it under. Changed under the lock of the queue.
    time: AtomicU64,
    activity: Arc<Activity>,
}

/// A connection that counts for its client and has no place yet. Counts no more on drop.
pub(crate) struct Newcomer {
    places: Arc<Places>,
    client: IpAddr,
}

/// The place of one connection, free again on drop.
pub(crate) struct Place {
    newcomer: Newcomer,
    queued: Arc<Queued>,
    total: Mutex<Option<OwnedSemaphorePermit>>,
}

/// The outcome of a search for an idle connection.
#[derive(Debug, PartialEq, Eq)]
enum Search {
    /// One was asked to close.
    Asked,
    /// None is idle for long enough.
    NoneIsIdle,
    /// There are more to look at.
    Unfinished,
}

impl Places {
    pub(crate) fn new(total: usize, share: usize) -> Arc<Self> {
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
        let reserve = total / RESERVE;
        let (total, leaving) = (semaphore(total), semaphore(LEAVING));
        Arc::new(Self { total, leaving, reserve, share, began: Instant::now(), open: Mutex::default() })
    }

    /// Counts a connection that was accepted; `None` if its client has its share already.
    pub(crate) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Newcomer> {
        let client = client_address(peer);
        let mut open = self.open();
        let count = open.clients.entry(client).or_default();
        if *count >= self.share {
            return None;
        }
        *count += 1;
        drop(open);
        Some(Newcomer { places: self.clone(), client })
    }

    /// Waits until a place is free, and closes idle connections as long as none is; one of them if few are. Call it only if a connection
    /// waits for the place.
    pub(crate) async fn free(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(place) = self.total.clone().try_acquire_owned() {
                if self.total.available_permits() < self.reserve {
                    self.close_idle();
                }
                return Some(place);
            }
            if self.close_idle() == Search::Unfinished {
                // The lock is free in between.
                tokio::task::yield_now().await;
            } else if let Ok(place) = timeout(TIME_TO_MAKE_ROOM, self.total.clone().acquire_owned()).await {
                return place.ok();
            }
        }
    }

    /// Asks the connection that has been idle longest to close.
    ///
    /// The first of the queue is the one, if it is idle since the time that the queue has it under: all others are idle since that time
    /// or later. Otherwise it moves to its true place; a busy one goes after all that are idle now. So where all are busy, each is
    /// looked at once in [`GRACE`].
    fn close_idle(&self) -> Search {
        let now = self.now();
        let mut open = self.open();
        for _ in 0..LOOKS_PER_LOCK {
            let Some(first) = open.queue.first_entry() else { return Search::NoneIsIdle };
            let time = first.key().0;
            if time + milliseconds(GRACE) > now {
                return Search::NoneIsIdle;
            }
            let queued = first.remove();
            let idle_since = queued.activity.idle_since();
            let found = idle_since.is_some_and(|since| since <= time);
            if found {
                queued.activity.ask_to_close();
            }
            // One that was asked and stays open, because a request came, can be asked again.
            let time = idle_since.filter(|_| !found).unwrap_or(now);
            queued.time.store(time, Ordering::Relaxed);
            open.queue.insert((time, queued.number), queued);
            if found {
                return Search::Asked;
            }
        }
        Search::Unfinished
    }

    fn now(&self) -> u64 {
        milliseconds(self.began.elapsed())
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        lock(&self.open)
    }
}

impl Newcomer {
    /// Gives the connection a free place.
    pub(crate) fn take(self, total: OwnedSemaphorePermit) -> Place {
        let places = &self.places;
        let activity = Arc::new(Activity::new(places.began));
        let time = places.now();
        let mut open = places.open();
        open.count += 1;
        let number = open.count;
        let queued = Arc::new(Queued { number, time: AtomicU64::new(time), activity });
        open.queue.insert((time, number), queued.clone());
        drop(open);
        Place { newcomer: self, queued, total: Mutex::new(Some(total)) }
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        let mut open = self.places.open();
        if let Some(count) = open.clients.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.clients.remove(&self.client);
            }
        }
    }
}

impl Place {
    /// Returns what the connection is doing.
    pub(crate) fn activity(&self) -> Arc<Activity> {
        self.queued.activity.clone()
    }

    /// Gives the place back before the connection is closed. Returns a permit to end it in order, unless too many connections do so: a
    /// client that does not answer would otherwise keep the next one waiting.
    pub(crate) fn leave(&self) -> Option<OwnedSemaphorePermit> {
        self.release();
        self.newcomer.places.leaving.clone().try_acquire_owned().ok()
    }

    fn release(&self) {
        let Some(total) = lock(&self.total).take() else { return };
        let mut open = self.newcomer.places.open();
        open.queue.remove(&(self.queued.time.load(Ordering::Relaxed), self.queued.number));
        drop((open, total));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.release();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    const TICK: Duration = Duration::from_millis(10);

    async fn take(places: &Arc<Places>, last: u8) -> Option<Place> {
        let newcomer = places.admit(IpAddr::from([10, 0, 0, last]))?;
        advance(TICK).await;
        Some(newcomer.take(places.free().await.unwrap()))
    }

    /// Closes the first of these connections that is asked to, and returns its number.
    async fn closing(held: &mut [Option<Place>]) -> usize {
        loop {
            for (number, place) in held.iter_mut().enumerate() {
                let asked = match place {
                    Some(place) => timeout(Duration::ZERO, place.activity().closed()).await.is_ok(),
                    None => false,
                };
                if asked {
                    *place = None;
                    return number;
                }
            }
            tokio::time::sleep(TICK).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_has_its_share_and_places_come_back() {
        let places = Places::new(3, 2);
        let held = [take(&places, 1).await.unwrap(), take(&places, 1).await.unwrap()];
        assert!(places.admit(IpAddr::from([10, 0, 0, 1])).is_none());
        let other = take(&places, 2).await.unwrap();
        assert_eq!(places.total.available_permits(), 0);
        drop((held, other));
        assert_eq!(places.total.available_permits(), 3);
        assert!(places.open().clients.is_empty());
        assert!(places.open().queue.is_empty());
        assert!(take(&places, 1).await.is_some());
    }

    /// The connection that has been idle longest makes room, whichever client has it, and none with a request does.
    #[tokio::test(start_paused = true)]
    async fn the_connection_that_is_idle_longest_makes_room() {
        let places = Places::new(4, 4);
        let mut held = Vec::new();
        for last in [9, 1, 1, 1] {
            held.push(take(&places, last).await);
        }
        let activity = |held: &[Option<Place>], number: usize| held[number].as_ref().unwrap().activity();
        // The first was accepted first, but had the latest request; the second has one still.
        advance(TICK).await;
        drop(activity(&held, 0).request());
        let second = activity(&held, 1).request();
        advance(GRACE).await;
        for expected in [2, 3, 0] {
            let (place, closed) = tokio::join!(take(&places, 2), closing(&mut held));
            assert_eq!(closed, expected);
            held[closed] = place;
            // The new one is in use.
            std::mem::forget(activity(&held, closed).request());
        }
        // Now all are busy: the next waits until one has been idle for a while.
        let mut waiting = std::pin::pin!(take(&places, 3));
        assert!(timeout(100 * GRACE, waiting.as_mut()).await.is_err());
        drop(second);
        let ended = Instant::now();
        let (place, closed) = tokio::join!(waiting, closing(&mut held));
        assert!(place.is_some() && closed == 1 && ended.elapsed() >= GRACE);
    }

    /// Without a connection that waits, none is asked; nor is one that was accepted just now, or whose last request ended just now.
    #[tokio::test(start_paused = true)]
    async fn a_connection_has_time_for_its_next_request() {
        let places = Places::new(1, 4);
        let mut held = [take(&places, 1).await];
        assert!(timeout(GRACE / 2, take(&places, 2)).await.is_err());
        assert_eq!(places.close_idle(), Search::NoneIsIdle, "it was accepted just now");
        let began = Instant::now();
        advance(10 * GRACE).await;
        drop(held[0].as_ref().unwrap().activity().request());
        assert!(timeout(GRACE / 2, take(&places, 2)).await.is_err());
        assert_eq!(places.close_idle(), Search::NoneIsIdle, "its last request ended just now");
        let (place, closed) = tokio::join!(take(&places, 2), closing(&mut held));
        assert!(place.is_some() && closed == 0 && began.elapsed() >= 11 * GRACE);
    }

    /// A connection takes a place of the reserve without waiting, and one that is idle closes to fill it again.
    #[tokio::test(start_paused = true)]
    async fn the_reserve_is_filled_again() {
        let places = Places::new(2 * RESERVE, 2 * RESERVE);
        let mut held = Vec::new();
        for _ in 0..2 * RESERVE - 2 {
            held.push(take(&places, 1).await);
        }
        advance(GRACE).await;
        assert!(timeout(GRACE, closing(&mut held)).await.is_err(), "the reserve is whole");
        for expected in 0..4 {
            let place = timeout(Duration::ZERO, places.free()).await.expect("a place is free").unwrap();
            assert_eq!(closing(&mut held).await, expected);
            drop(place);
            // The place that became free, and that of the connection that closed.
            assert_eq!(places.total.available_permits(), 3);
            held[expected] = take(&places, 2).await;
        }
    }

    /// The work under one lock is bounded, and each busy connection is looked at once in a while.
    #[tokio::test(start_paused = true)]
    async fn a_search_among_busy_connections_is_short() {
        let places = Places::new(10 * LOOKS_PER_LOCK, 10 * LOOKS_PER_LOCK);
        let mut held = Vec::new();
        for _ in 0..10 * LOOKS_PER_LOCK {
            let place = places.admit(IpAddr::from([10, 0, 0, 1])).unwrap().take(places.free().await.unwrap());
            let request = place.activity().request();
            held.push((request, place));
        }
        advance(GRACE).await;
        for _ in 0..10 {
            assert_eq!(places.close_idle(), Search::Unfinished);
        }
        assert_eq!(places.close_idle(), Search::NoneIsIdle);
        drop(held);
        assert!(places.open().queue.is_empty());
    }

    /// A connection that leaves has no place, and only some may take their time.
    #[tokio::test(start_paused = true)]
    async fn few_take_their_time_to_leave() {
        let places = Places::new(1, 100);
        let mut leaving = Vec::new();
        for number in 0..LEAVING + 1 {
            let place = take(&places, 1).await.unwrap();
            let permit = place.leave();
            assert_eq!((permit.is_some(), places.total.available_permits()), (number < LEAVING, 1));
            leaving.push((place, permit));
        }
        drop(leaving);
        let left = (places.total.available_permits(), places.open().clients.len(), places.leaving.available_permits());
        assert_eq!(left, (1, 0, LEAVING));
    }
}
