//! Failed credentials, limited by address: whoever guesses tokens, or sends signatures that cost time, waits.

use super::rate::{TenantKey, Usage};
use super::rejection::Rejection;
use super::settings::Allowance;
use std::net::IpAddr;
use std::sync::Arc;

/// The scope of the counts: of all routes together. No route has this name.
pub(crate) const SCOPE: &str = "failed credentials";

/// The failed credentials of all addresses.
pub(crate) struct Failures {
    allowance: Allowance,
    usage: Arc<Usage>,
}

impl Failures {
    /// Allows this many in a minute.
    pub(crate) fn new(in_a_minute: u64, usage: Arc<Usage>) -> Self {
        Self { allowance: Allowance::in_a_minute(in_a_minute), usage }
    }

    /// Says when an address that failed too often can try again.
    pub(crate) fn check(&self, address: IpAddr) -> Result<(), Rejection> {
        self.usage.check(&TenantKey::Address(address), &self.allowance).map_err(|why| match why {
            Rejection::Rate(seconds) => Rejection::Failures(seconds),
            why => why,
        })
    }

    /// Counts a failure.
    pub(crate) fn note(&self, address: IpAddr) {
        let _ = self.usage.count(TenantKey::Address(address), &self.allowance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_failed_too_often_waits_and_no_other() {
        let failures = Failures::new(3, Arc::default());
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|address| address.parse().unwrap());
        for _ in 0..3 {
            assert_eq!(failures.check(one), Ok(()));
            failures.note(one);
        }
        assert!(matches!(failures.check(one), Err(Rejection::Failures(1..=20))));
        assert!(matches!(failures.check(one), Err(Rejection::Failures(1..=20))), "a check is no failure");
        assert_eq!(failures.check(other), Ok(()));
    }
}
