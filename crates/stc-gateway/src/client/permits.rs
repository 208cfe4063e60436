//! Permits for requests in progress: a fixed number for the program, and shares of it for each connection and each client.
//!
//! A request takes three permits in this order: its connection's, its client's, the program's. So the requests of one
//! client that wait for the program's permits are never more than that client's share, and other clients do not queue
//! after the rest of them.
//!
//! Event streams and tunnels, which may stay open for hours, hold permits of their own, for which none waits: its client's and the
//! program's.
//!
//! What is held stays held when the configuration is read again, and counts against the new numbers.

use crate::client::share::{Share, SharePermit};
use crate::config::{Limits, Timeouts};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// All permits under one configuration.
pub(crate) struct Permits {
    limits: Limits,
    timeouts: Timeouts,
    /// The number of the configuration.
    generation: u64,
    state: Arc<State>,
}

/// What all configurations of the process share.
struct State {
    total: Arc<Share>,
    /// For event streams and tunnels.
    streams: Arc<Share>,
    clients: Arc<Clients>,
    began: Instant,
    /// Milliseconds after `began` of the latest permit that was granted, and of the latest request that was refused.
    granted: AtomicU64,
    refused: AtomicU64,
}

/// The clients with open connections, by address.
type Clients = Mutex<HashMap<IpAddr, Weak<Client>>>;

/// The share of one client.
struct Client {
    address: IpAddr,
    share: Arc<Share>,
    streams: Arc<Share>,
    clients: Arc<Clients>,
}

/// The shares that apply to the requests of one connection.
#[derive(Clone)]
struct Shares {
    /// The configuration whose numbers they have.
    generation: u64,
    connection: Arc<Share>,
    client: Arc<Client>,
}

/// A connection as the permits see it.
pub(crate) struct Connection {
    address: IpAddr,
    /// Set by the first request, and resized by the first after a reload.
    shares: Mutex<Option<Shares>>,
}

/// The right of one request to be in progress.
pub(crate) struct Permit {
    _permits: [SharePermit; 3],
    // Keeps the client's share alive while one of its permits is held, even if its connections are closed.
    _client: Arc<Client>,
}

/// The right of one event stream or tunnel to be open.
pub(crate) struct StreamPermit {
    _permits: [SharePermit; 2],
    _client: Arc<Client>,
}

/// The limit that kept a request waiting for too long, or that left no room for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Connection,
    Client,
    Total,
    ClientStreams,
    TotalStreams,
}

impl Refusal {
    pub(crate) const ALL: [Self; 5] =
        [Self::Connection, Self::Client, Self::Total, Self::ClientStreams, Self::TotalStreams];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Client => "client",
            Self::Total => "total",
            Self::ClientStreams => "client-streams",
            Self::TotalStreams => "total-streams",
        }
    }

    /// Returns what the client is told.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Connection => "too many requests in progress on this connection",
            Self::Client => "too many requests in progress from this address",
            Self::Total => "too many requests in progress",
            Self::ClientStreams => "too many event streams and tunnels from this address",
            Self::TotalStreams => "too many event streams and tunnels",
        }
    }
}

impl Permits {
    pub(crate) fn new(limits: Limits, timeouts: Timeouts) -> Self {
        let state = State {
            total: Share::new(0, limits.requests),
            streams: Share::new(0, limits.streams),
            clients: Arc::default(),
            began: Instant::now(),
            granted: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        };
        Self { limits, timeouts, generation: 0, state: Arc::new(state) }
    }

    /// Creates the permits under the next configuration, which [`Self::apply`] puts in force.
    pub(crate) fn next(&self, limits: Limits, timeouts: Timeouts) -> Self {
        Self { limits, timeouts, generation: self.generation + 1, state: self.state.clone() }
    }

    /// Puts the numbers of this configuration in force. Those of a connection and a client follow with their next request.
    pub(crate) fn apply(&self) {
        self.state.total.resize(self.generation, self.limits.requests);
        self.state.streams.resize(self.generation, self.limits.streams);
    }

    /// Waits for a permit from `now` on, but not longer than `timeouts.queue`.
    pub(crate) async fn acquire(&self, connection: &Connection, now: Instant) -> Result<Permit, Refusal> {
        let shares = connection.shares(self);
        // Most requests find a permit at once and need no timer.
        if let Some(permit) = self.at_once(&shares) {
            self.state.granted.store(self.milliseconds(now), Ordering::Relaxed);
            return Ok(permit);
        }
        Box::pin(self.queue(shares, now + self.timeouts.queue())).await
    }

    fn at_once(&self, shares: &Shares) -> Option<Permit> {
        let connection = shares.connection.try_take()?;
        let client = shares.client.share.try_take()?;
        let total = self.state.total.try_take()?;
        Some(Permit { _permits: [connection, client, total], _client: shares.client.clone() })
    }

    async fn queue(&self, shares: Shares, deadline: Instant) -> Result<Permit, Refusal> {
        let connection = within(deadline, shares.connection).await.ok_or(Refusal::Connection)?;
        let client = within(deadline, shares.client.share.clone()).await.ok_or(Refusal::Client)?;
        let Some(total) = within(deadline, self.state.total.clone()).await else {
            self.state.refused.store(self.now(), Ordering::Relaxed);
            return Err(Refusal::Total);
        };
        self.state.granted.store(self.now(), Ordering::Relaxed);
        Ok(Permit { _permits: [connection, client, total], _client: shares.client })
    }

    /// Takes a permit for an event stream or a tunnel.
    pub(crate) fn stream(&self, connection: &Connection) -> Result<StreamPermit, Refusal> {
        let client = connection.shares(self).client;
        let share = client.streams.try_take().ok_or(Refusal::ClientStreams)?;
        let total = self.state.streams.try_take().ok_or(Refusal::TotalStreams)?;
        Ok(StreamPermit { _permits: [share, total], _client: client })
    }

    /// Returns the seconds after which a refused client should try again.
    pub(crate) fn retry_after(&self) -> u64 {
        self.timeouts.queue().as_secs_f64().ceil() as u64
    }

    /// Returns the number of permits that are held.
    pub(crate) fn held(&self) -> u64 {
        self.state.total.held() as u64
    }

    /// Returns the number of event streams and tunnels that are open.
    pub(crate) fn held_streams(&self) -> u64 {
        self.state.streams.held() as u64
    }

    /// Returns whether the program cannot take requests: no permit is free, and for `timeouts.saturated` none was granted
    /// or a request was refused in that time.
    pub(crate) fn saturated(&self) -> bool {
        let recently = |time: &AtomicU64| {
            let passed = self.now().saturating_sub(time.load(Ordering::Relaxed));
            Duration::from_millis(passed) < self.timeouts.saturated()
        };
        let State { total, granted, refused, .. } = &*self.state;
        let refused = refused.load(Ordering::Relaxed) > 0 && recently(refused);
        total.is_used_up() && (refused || !recently(granted))
    }

    fn now(&self) -> u64 {
        self.milliseconds(Instant::now())
    }

    fn milliseconds(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.state.began).as_millis() as u64
    }
}

impl Connection {
    pub(crate) fn new(peer: IpAddr) -> Self {
        Self { address: client_address(peer), shares: Mutex::default() }
    }

    /// Returns the address that the connection is counted under.
    pub(crate) const fn address(&self) -> IpAddr {
        self.address
    }

    fn shares(&self, permits: &Permits) -> Shares {
        let mut shares = lock(&self.shares);
        match &*shares {
            // A request that began before a reload finds those of after it.
            Some(current) if current.generation >= permits.generation => current.clone(),
            earlier => {
                let (generation, size) = (permits.generation, permits.limits.requests_per_connection);
                let connection = match earlier {
                    Some(Shares { connection, .. }) => connection.clone(),
                    None => Share::new(generation, size),
                };
                connection.resize(generation, size);
                let client = permits.client(self.address);
                shares.insert(Shares { generation, connection, client }).clone()
            }
        }
    }
}

impl Permits {
    fn client(&self, address: IpAddr) -> Arc<Client> {
        let (generation, limits) = (self.generation, &self.limits);
        let mut clients = lock(&self.state.clients);
        if let Some(client) = clients.get(&address).and_then(Weak::upgrade) {
            client.share.resize(generation, limits.requests_per_client);
            client.streams.resize(generation, limits.streams_per_client);
            return client;
        }
        let share = Share::new(generation, limits.requests_per_client);
        let streams = Share::new(generation, limits.streams_per_client);
        let client = Arc::new(Client { address, share, streams, clients: self.state.clients.clone() });
        clients.insert(address, Arc::downgrade(&client));
        client
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut clients = lock(&self.clients);
        // A new connection from the address may have put its own entry there.
        if clients.get(&self.address).is_some_and(|client| client.strong_count() == 0) {
            clients.remove(&self.address);
        }
    }
}

/// Returns the address that a peer is counted under: for IPv6 its /64 network, which is what one site has at its disposal.
pub(crate) fn client_address(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

/// Takes a permit, or waits for one until the deadline.
async fn within(deadline: Instant, share: Arc<Share>) -> Option<SharePermit> {
    tokio::time::timeout_at(deadline, share.take()).await.ok()?
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(limits: Limits) -> Arc<Permits> {
        Arc::new(Permits::new(limits, Timeouts::default()))
    }

    /// Time is paused: a wait ends at once, after the clock was moved to its deadline.
    #[tokio::test(start_paused = true)]
    async fn shares_are_refused_by_name_and_come_back() {
        let limits = Limits { requests: 3, requests_per_client: 2, requests_per_connection: 1, ..Limits::default() };
        let permits = permits(limits);
        let peer = |last| IpAddr::from([10, 0, 0, last]);
        let connections = [1, 1, 1, 2, 3].map(|last| Connection::new(peer(last)));
        let refusal = async |number: usize| permits.acquire(&connections[number], Instant::now()).await.err();
        let first = permits.acquire(&connections[0], Instant::now()).await.ok().unwrap();
        assert_eq!(refusal(0).await, Some(Refusal::Connection));
        let second = permits.acquire(&connections[1], Instant::now()).await.ok().unwrap();
        assert_eq!(refusal(2).await, Some(Refusal::Client));
        let third = permits.acquire(&connections[3], Instant::now()).await.ok().unwrap();
        assert_eq!((refusal(4).await, permits.held()), (Some(Refusal::Total), 3));
        assert!(permits.saturated());
        drop((first, second, third));
        assert!(!permits.saturated());
        assert_eq!((refusal(4).await, permits.held()), (None, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_is_forgotten_after_its_last_permit() {
        let permits = permits(Limits { requests_per_client: 1, ..Limits::default() });
        let connection = || Connection::new(IpAddr::from([10, 0, 0, 1]));
        let held = permits.acquire(&connection(), Instant::now()).await.ok().unwrap();
        // The connection is gone, its permit is not: a new connection gets no new share.
        assert_eq!(permits.acquire(&connection(), Instant::now()).await.err(), Some(Refusal::Client));
        drop(held);
        assert_eq!(permits.state.clients.lock().unwrap().len(), 0);
        assert!(permits.acquire(&connection(), Instant::now()).await.is_ok());
    }

    /// What is held counts after a reload, for the program, the client and the connection.
    #[tokio::test(start_paused = true)]
    async fn a_reload_keeps_what_is_held() {
        let limits = |requests, requests_per_client, requests_per_connection| Limits {
            requests,
            requests_per_client,
            requests_per_connection,
            ..Limits::default()
        };
        let first = permits(limits(2, 2, 2));
        let connections = [1, 1, 2].map(|last| Connection::new(IpAddr::from([10, 0, 0, last])));
        let now = Instant::now();
        let mut held = Vec::new();
        for _ in 0..2 {
            held.push(first.acquire(&connections[0], now).await.ok().unwrap());
        }
        let refusal = async |permits: &Permits, number: usize| {
            let permit = permits.acquire(&connections[number], Instant::now()).await;
            permit.err()
        };
        let reload = |before: &Permits, limits| {
            let after = before.next(limits, Timeouts::default());
            after.apply();
            after
        };
        let same = reload(&first, limits(2, 2, 2));
        assert_eq!((refusal(&same, 2).await, same.held()), (Some(Refusal::Total), 2));
        let more = reload(&same, limits(3, 2, 2));
        assert_eq!(refusal(&more, 0).await, Some(Refusal::Connection));
        assert_eq!(refusal(&more, 1).await, Some(Refusal::Client));
        assert_eq!(refusal(&more, 2).await, None);
        let less = reload(&more, limits(1, 3, 3));
        held.pop();
        assert_eq!((refusal(&less, 0).await, less.held()), (Some(Refusal::Total), 1));
        // A request that has the configuration of before the reload changes nothing.
        assert_eq!(refusal(&first, 2).await, Some(Refusal::Total));
        held.clear();
        assert_eq!((refusal(&less, 0).await, less.held()), (None, 0));
    }

    #[tokio::test]
    async fn streams_have_permits_of_their_own() {
        let limits = Limits { requests: 1, streams: 3, streams_per_client: 2, ..Limits::default() };
        let permits = permits(limits);
        let connections = [1, 1, 2].map(|last| Connection::new(IpAddr::from([10, 0, 0, last])));
        let stream = |number: usize| permits.stream(&connections[number]);
        let (first, second) = (stream(0).ok().unwrap(), stream(1).ok().unwrap());
        assert_eq!(stream(0).err(), Some(Refusal::ClientStreams));
        let third = stream(2).ok().unwrap();
        assert_eq!((stream(2).err(), permits.held_streams(), permits.held()), (Some(Refusal::TotalStreams), 3, 0));
        assert!(permits.acquire(&connections[0], Instant::now()).await.is_ok());
        drop(first);
        assert!(stream(1).is_ok());
        drop((second, third));
        assert_eq!(permits.held_streams(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn full_and_flowing_is_not_saturated() {
        let permits = permits(Limits { requests: 1, ..Limits::default() });
        let connection = Connection::new(IpAddr::from([10, 0, 0, 1]));
        for _ in 0..10 {
            let permit = permits.acquire(&connection, Instant::now()).await.ok().unwrap();
            tokio::time::advance(Duration::from_secs(4)).await;
            assert!(!permits.saturated());
            drop(permit);
        }
        let _permit = permits.acquire(&connection, Instant::now()).await.ok().unwrap();
        tokio::time::advance(Duration::from_secs(6)).await;
        assert!(permits.saturated());
    }

    #[test]
    fn networks_of_ipv6_are_one_client() {
        let address = |text: &str| client_address(text.parse().unwrap());
        assert_eq!(address("2001:db8:1:2:3::4"), address("2001:db8:1:2::9"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
        assert_eq!(address("::ffff:10.0.0.1"), address("10.0.0.1"));
        assert_ne!(address("10.0.0.1"), address("10.0.0.2"));
    }
}
