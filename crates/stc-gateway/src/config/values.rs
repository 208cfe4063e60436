//! Values of the configuration with a range: times, counts, addresses.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// A message with the offset of what it is about in the configuration.
pub(crate) type ErrorAt = (Option<usize>, String);

/// A time of at least a millisecond and at most a year, written in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seconds(pub(crate) Duration);

impl Seconds {
    pub(crate) const fn of(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = Duration::try_from_secs_f64(f64::deserialize(deserializer)?).ok();
        let allowed = Duration::from_millis(1)..=Duration::from_secs(31_536_000);
        let seconds = seconds.filter(|seconds| allowed.contains(seconds));
        seconds.map(Self).ok_or_else(|| D::Error::custom("seconds must be between 0.001 and 31536000"))
    }
}

/// Reads a number of connections or requests.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let count = i64::deserialize(deserializer)?;
    let allowed = 1..=i64::from(u32::MAX);
    let count = usize::try_from(count).ok().filter(|_| allowed.contains(&count));
    count.ok_or_else(|| D::Error::custom(format!("a number between 1 and {} is required", u32::MAX)))
}

/// An address to listen on: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`.
pub(crate) struct Address(pub(crate) SocketAddr);

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        address(&String::deserialize(deserializer)?).map(Self).map_err(D::Error::custom)
    }
}

/// Parses an address, or resolves a name with a port.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let mut addresses =
        text.to_socket_addrs().map_err(|error| format!("`{text}` is not an address and a port: {error}"))?;
    addresses.next().ok_or_else(|| format!("`{text}` has no address"))
}
