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

/// Reads a number of bytes or requests, of any size but 0.
pub(crate) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let count = u64::deserialize(deserializer)?;
    if count > 0 { Ok(count) } else { Err(D::Error::custom("a number of at least 1 is required")) }
}

/// Reads a number as [`positive`] does, where one need not be written.
pub(crate) fn some_positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    positive(deserializer).map(Some)
}

/// Returns whether two addresses cannot both be listened on, or one takes connections to the other: the same port, and the same
/// address or one that stands for all. That of IPv6 stands for those of IPv4 too.
pub(crate) fn collide(one: SocketAddr, other: SocketAddr) -> bool {
    let all = |one: SocketAddr, other: SocketAddr| {
        one.ip().is_unspecified() && (one.is_ipv6() || one.is_ipv4() == other.is_ipv4())
    };
    one.port() == other.port() && one.port() != 0 && (one.ip() == other.ip() || all(one, other) || all(other, one))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_collide() {
        for (one, other, expected) in [
            ("127.0.0.1:80", "127.0.0.1:80", true),
            ("127.0.0.1:80", "127.0.0.1:81", false),
            ("127.0.0.1:80", "127.0.0.2:80", false),
            ("127.0.0.1:0", "127.0.0.1:0", false),
            ("0.0.0.0:80", "127.0.0.1:80", true),
            ("0.0.0.0:80", "[::1]:80", false),
            ("[::]:80", "[::1]:80", true),
            ("[::]:80", "127.0.0.1:80", true),
            ("[::]:80", "0.0.0.0:80", true),
        ] {
            let [a, b] = [one, other].map(|text| text.parse().unwrap());
            assert_eq!((collide(a, b), collide(b, a)), (expected, expected), "{one} {other}");
        }
    }
}
