//! The limits and timeouts of a configuration.

use crate::client::pace::Pace;
use crate::config::values::{Seconds, count, positive, some_positive};
use serde::Deserialize;
use std::time::Duration;

/// The limits.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    /// Connections open at once: 10,000. When fewer than one in fifty are left, the one that is idle longest is closed for each
    /// new one; if none is idle and none is left, the next waits.
    #[serde(deserialize_with = "count")]
    pub(crate) connections: usize,
    /// The share of `connections` that one peer address (IPv6: one /64 network) can hold; more are closed at once: 5,000.
    #[serde(deserialize_with = "count")]
    pub(crate) connections_per_client: usize,
    /// Requests in progress at once, event streams not counted: 1,000. The next waits `timeouts.queue`, then gets a 503.
    #[serde(deserialize_with = "count")]
    pub(crate) requests: usize,
    /// The share of `requests` that one connection can hold: 100.
    #[serde(deserialize_with = "count")]
    pub(crate) requests_per_connection: usize,
    /// The share of `requests` that one peer address (IPv6: one /64 network) can hold: 500.
    #[serde(deserialize_with = "count")]
    pub(crate) requests_per_client: usize,
    /// Event streams and WebSocket tunnels open at once: 5,000. The next gets a 503, but for an event stream that answers a POST, which
    /// keeps the permit of its request.
    #[serde(deserialize_with = "count")]
    pub(crate) streams: usize,
    /// The share of `streams` that one peer address (IPv6: one /64 network) can hold: 2,500.
    #[serde(deserialize_with = "count")]
    pub(crate) streams_per_client: usize,
    /// Failed credentials that one address (IPv6: one /64 network) can send in a minute; more get a 429: 100. 0 is no limit.
    pub(crate) failed_credentials_per_client: u64,
    /// Bytes per second that a client must accept, averaged over `timeouts.send`, while a response waits for it: 1,000.
    pub(crate) send_rate: u64,
    /// Bytes per second that a client must send, averaged over `timeouts.request`, while its request's body is awaited: 500.
    pub(crate) receive_rate: u64,
    /// Bytes of a request's body: 64 MiB.
    #[serde(deserialize_with = "positive")]
    pub(crate) request_bytes: u64,
    /// Bytes of bodies in memory at once, of requests and responses, whatever they are held for: 512 MiB. A body that would be over them
    /// waits `timeouts.queue`; then a request gets a 503, or passes unchanged where it may, and a response passes unchanged.
    #[serde(alias = "held_request_bytes", deserialize_with = "positive")]
    pub(crate) held_bytes: u64,
    /// The share of `held_bytes` that one peer address (IPv6: one /64 network) can hold: half of it.
    #[serde(deserialize_with = "some_positive")]
    pub(crate) held_bytes_per_client: Option<u64>,
}

impl Limits {
    /// Returns the share of `held_bytes` that one client can hold.
    pub(crate) fn held_bytes_per_client(&self) -> u64 {
        self.held_bytes_per_client.unwrap_or((self.held_bytes / 2).max(1))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            connections_per_client: 5_000,
            requests: 1_000,
            requests_per_connection: 100,
            requests_per_client: 500,
            streams: 5_000,
            streams_per_client: 2_500,
            failed_credentials_per_client: 100,
            send_rate: 1_000,
            receive_rate: 500,
            request_bytes: 64 << 20,
            held_bytes: 512 << 20,
            held_bytes_per_client: None,
        }
    }
}

/// The timeouts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Timeouts {
    /// Seconds to connect to an upstream: 5.
    connect: Seconds,
    /// Seconds until the head of a response arrives, once the upstream has the request: 60.
    response: Seconds,
    /// Seconds without a byte of a response's body from the upstream: 300.
    idle: Seconds,
    /// Seconds for the head of a request, between two requests on one connection, and without progress of a request's
    /// body: 60.
    request: Seconds,
    /// Seconds in which a client must accept some of a response that waits for it: 30.
    send: Seconds,
    /// Seconds that a request waits for a free permit: 5.
    queue: Seconds,
    /// Seconds without a free permit until `/readyz` reports saturation: 5.
    saturated: Seconds,
    /// Seconds that a drain waits for requests in progress, event streams and tunnels: 30.
    drain: Seconds,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Seconds::of(5),
            response: Seconds::of(60),
            idle: Seconds::of(300),
            request: Seconds::of(60),
            send: Seconds::of(30),
            queue: Seconds::of(5),
            saturated: Seconds::of(5),
            drain: Seconds::of(30),
        }
    }
}

impl Timeouts {
    pub(crate) fn connect(&self) -> Duration {
        self.connect.0
    }

    pub(crate) fn response(&self) -> Duration {
        self.response.0
    }

    pub(crate) fn idle(&self) -> Duration {
        self.idle.0
    }

    pub(crate) fn request(&self) -> Duration {
        self.request.0
    }

    fn send(&self) -> Duration {
        self.send.0
    }

    pub(crate) fn queue(&self) -> Duration {
        self.queue.0
    }

    pub(crate) fn saturated(&self) -> Duration {
        self.saturated.0
    }

    /// Returns the pace at which clients must accept responses.
    pub(crate) fn pace(&self, limits: &Limits) -> Pace {
        Pace { period: self.send(), rate: limits.send_rate }
    }

    /// Returns the pace at which clients must send the bodies of requests.
    pub(crate) fn receiving(&self, limits: &Limits) -> Pace {
        Pace { period: self.request(), rate: limits.receive_rate }
    }

    pub(crate) fn drain(&self) -> Duration {
        self.drain.0
    }
}
