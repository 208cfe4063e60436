//! Places for connections: a number for the program, and a share of it for each client.
//!
//! If all are taken, an idle connection is closed for the next: the oldest of the client that has the most. So clients that hold
//! connections and say nothing do not keep others out, whatever their number.

use crate::client::activity::Activity;
use crate::client::permits::client_address;
use crate::metrics::Metrics;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long to wait for a connection to close before another is chosen. Where none is idle, one may be then.
const PATIENCE: Duration = Duration::from_millis(50);

/// All places.
pub(crate) struct Places {
    total: Arc<Semaphore>,
    /// The share of one client.
    share: usize,
    open: Mutex<Open>,
}

/// The open connections of each client, numbered in the order in which they were accepted.
#[derive(Default)]
struct Open {
    next: u64,
    clients: HashMap<IpAddr, BTreeMap<u64, Arc<Activity>>>,
}

/// The place of one connection, free again on drop.
pub(crate) struct Place {
    places: Arc<Places>,
    client: IpAddr,
    number: u64,
    activity: Arc<Activity>,
    _total: OwnedSemaphorePermit,
}

impl Places {
    pub(crate) fn new(total: usize, share: usize) -> Arc<Self> {
        let total = Arc::new(Semaphore::new(total.min(Semaphore::MAX_PERMITS)));
        Arc::new(Self { total, share, open: Mutex::default() })
    }

    /// Waits until a place is free, and closes idle connections as long as none is.
    pub(crate) async fn free(&self, metrics: &Metrics) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = self.total.clone().try_acquire_owned() {
            return Some(place);
        }
        loop {
            if self.close_idle() {
                metrics.connection_evicted();
            }
            if let Ok(place) = timeout(PATIENCE, self.total.clone().acquire_owned()).await {
                return place.ok();
            }
        }
    }

    /// Asks the oldest idle connection of the client with the most connections to close, or else the oldest of all; returns false
    /// if none is idle.
    fn close_idle(&self) -> bool {
        let open = self.open();
        let most = open.clients.values().max_by_key(|connections| connections.len());
        if most.is_some_and(|connections| connections.values().any(|activity| activity.ask_to_close())) {
            return true;
        }
        let all = open.clients.values().flatten();
        let oldest = all.filter(|(_, activity)| activity.may_be_asked()).min_by_key(|(number, _)| **number);
        oldest.is_some_and(|(_, activity)| activity.ask_to_close())
    }

    /// Gives a free place to a client; `None` if the client has its share already.
    pub(crate) fn take(self: &Arc<Self>, total: OwnedSemaphorePermit, peer: IpAddr) -> Option<Place> {
        let client = client_address(peer);
        let mut open = self.open();
        let number = open.next;
        let connections = open.clients.entry(client).or_default();
        if connections.len() >= self.share {
            return None;
        }
        let activity = Arc::<Activity>::default();
        connections.insert(number, activity.clone());
        open.next += 1;
        Some(Place { places: self.clone(), client, number, activity, _total: total })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Returns what the connection is doing.
    pub(crate) fn activity(&self) -> Arc<Activity> {
        self.activity.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.places.open();
        if let Some(connections) = open.clients.get_mut(&self.client) {
            connections.remove(&self.number);
            if connections.is_empty() {
                open.clients.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Lines;

    fn metrics() -> Metrics {
        Metrics::new(Lines::default(), Default::default())
    }

    async fn take(places: &Arc<Places>, metrics: &Metrics, last: u8) -> Option<Place> {
        places.take(places.free(metrics).await.unwrap(), IpAddr::from([10, 0, 0, last]))
    }

    #[tokio::test]
    async fn a_client_has_its_share_and_places_come_back() {
        let (places, metrics) = (Places::new(3, 2), metrics());
        let take = |last| take(&places, &metrics, last);
        let held = [take(1).await.unwrap(), take(1).await.unwrap()];
        assert!(take(1).await.is_none());
        let other = take(2).await.unwrap();
        assert_eq!(places.total.available_permits(), 0);
        drop((held, other));
        assert_eq!((places.total.available_permits(), places.open().clients.len()), (3, 0));
        assert!(take(1).await.is_some());
    }

    /// The oldest idle connection of the client with the most makes room, and no connection with a request.
    #[tokio::test]
    async fn an_idle_connection_makes_room() {
        let (places, metrics) = (Places::new(4, 4), metrics());
        let take = |last| take(&places, &metrics, last);
        let mut held =
            [take(9).await.unwrap(), take(1).await.unwrap(), take(1).await.unwrap(), take(1).await.unwrap()].map(Some);
        let request = held[1].as_ref().unwrap().activity().request();
        let closing = held[2].as_ref().unwrap().activity();
        let third = held[2].take();
        let closed = async {
            closing.closed().await;
            drop(third);
        };
        let (place, ()) = tokio::join!(take(2), closed);
        held[2] = Some(place.unwrap());
        // The client with the most has none that is idle now: another's is closed.
        let second = held[3].as_ref().unwrap().activity().request();
        let first = held[0].take();
        let closed = async {
            first.as_ref().unwrap().activity().closed().await;
            drop(first);
        };
        let (place, ()) = tokio::join!(take(3), closed);
        assert!(place.is_some());
        assert_eq!(metrics.evicted_connections.load(std::sync::atomic::Ordering::Relaxed), 2);
        drop((request, second));
    }
}
