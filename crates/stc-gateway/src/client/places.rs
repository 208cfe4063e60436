//! Places for connections: a number for the program, and a share of it for each client.

use crate::client::permits::client_address;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All places.
pub(crate) struct Places {
    total: Arc<Semaphore>,
    /// The share of one client.
    share: usize,
    /// Open connections by client.
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// The place of one connection, free again on drop.
pub(crate) struct Place {
    places: Arc<Places>,
    client: IpAddr,
    _total: OwnedSemaphorePermit,
}

impl Places {
    pub(crate) fn new(total: usize, share: usize) -> Arc<Self> {
        let total = Arc::new(Semaphore::new(total.min(Semaphore::MAX_PERMITS)));
        Arc::new(Self { total, share, open: Mutex::default() })
    }

    /// Waits until a place is free.
    pub(crate) async fn free(&self) -> Option<OwnedSemaphorePermit> {
        self.total.clone().acquire_owned().await.ok()
    }

    /// Gives a free place to a client; `None` if the client has its share already.
    pub(crate) fn take(self: &Arc<Self>, total: OwnedSemaphorePermit, peer: IpAddr) -> Option<Place> {
        let client = client_address(peer);
        let mut open = self.open();
        let count = open.entry(client).or_default();
        if *count >= self.share {
            return None;
        }
        *count += 1;
        Some(Place { places: self.clone(), client, _total: total })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.places.open();
        if let Some(count) = open.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_has_its_share_and_places_come_back() {
        let places = Places::new(3, 2);
        let take = async |last| places.take(places.free().await.unwrap(), IpAddr::from([10, 0, 0, last]));
        let held = [take(1).await.unwrap(), take(1).await.unwrap()];
        assert!(take(1).await.is_none());
        let other = take(2).await.unwrap();
        assert_eq!(places.total.available_permits(), 0);
        drop((held, other));
        assert_eq!((places.total.available_permits(), places.open().len()), (3, 0));
        assert!(take(1).await.is_some());
    }
}
