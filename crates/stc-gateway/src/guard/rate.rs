//! Rates and quotas of tenants: a bucket of tokens for the requests per second, a count for those of a day.

use super::rejection::Rejection;
use super::settings::{Allowance, RateSettings};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Tenants that are remembered in one scope: at least this many, and at most twice as many.
const TENANTS: usize = 20_000;

const DAY: u64 = 86_400;

/// What requests are counted under.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TenantKey {
    /// The tenant that credentials prove.
    Name(Arc<str>),
    /// The client's address.
    Address(IpAddr),
}

/// The rate of a route, with what its tenants have used.
pub(crate) struct Rate {
    settings: RateSettings,
    usage: Arc<Usage>,
}

impl Rate {
    pub(crate) const fn new(settings: RateSettings, usage: Arc<Usage>) -> Self {
        Self { settings, usage }
    }

    /// Counts a request, or says why it is one too many.
    pub(crate) fn take(&self, key: TenantKey) -> Result<(), Rejection> {
        let allowance = self.settings.of(match &key {
            TenantKey::Name(name) => Some(name),
            TenantKey::Address(_) => None,
        });
        self.usage.count(key, &allowance)
    }
}

/// The present, on both clocks.
#[derive(Clone, Copy)]
struct Now {
    instant: Instant,
    /// Seconds since 1970.
    clock: u64,
}

impl Now {
    fn new() -> Self {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        Self { instant: Instant::now(), clock }
    }
}

/// What the tenants of one scope have used. When `new` is full it becomes `old`, so that tenants in use stay.
#[derive(Default)]
pub(crate) struct Usage(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    new: HashMap<TenantKey, Used>,
    old: HashMap<TenantKey, Used>,
}

/// What one tenant has used.
#[derive(Clone, Copy)]
struct Used {
    /// Requests that it can send at once, and when that was computed.
    tokens: f64,
    at: Instant,
    /// The day since 1970, and the requests on it.
    day: u64,
    requests: u64,
}

impl Usage {
    /// Counts one more, or says why it is one too many.
    pub(super) fn count(&self, key: TenantKey, allowance: &Allowance) -> Result<(), Rejection> {
        self.take(key, allowance, Now::new())
    }

    /// Says why one more would be one too many, and counts nothing.
    pub(super) fn check(&self, key: &TenantKey, allowance: &Allowance) -> Result<(), Rejection> {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = guard.new.get(key).or_else(|| guard.old.get(key)).copied();
        drop(guard);
        used.map_or(Ok(()), |mut used| used.take(allowance, Now::new()))
    }

    fn take(&self, key: TenantKey, allowance: &Allowance, now: Now) -> Result<(), Rejection> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Generations { new, old } = &mut *guard;
        if new.len() >= TENANTS && !new.contains_key(&key) {
            *old = std::mem::take(new);
        }
        let full = allowance.rate().map_or(0.0, |(_, burst)| burst);
        let fresh = Used { tokens: full, at: now.instant, day: now.clock / DAY, requests: 0 };
        let earlier = old.remove(&key);
        new.entry(key).or_insert(earlier.unwrap_or(fresh)).take(allowance, now)
    }
}

impl Used {
    fn take(&mut self, allowance: &Allowance, now: Now) -> Result<(), Rejection> {
        let day = now.clock / DAY;
        if self.day != day {
            (self.day, self.requests) = (day, 0);
        }
        if allowance.per_day().is_some_and(|most| self.requests >= most) {
            return Err(Rejection::Quota(DAY - now.clock % DAY));
        }
        if let Some((rate, burst)) = allowance.rate() {
            let passed = now.instant.saturating_duration_since(self.at).as_secs_f64();
            self.tokens = (self.tokens + passed * rate).min(burst);
            self.at = now.instant;
            if self.tokens < 1.0 {
                return Err(Rejection::Rate(((1.0 - self.tokens) / rate).ceil() as u64));
            }
            self.tokens -= 1.0;
        }
        self.requests += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> RateSettings {
        let settings: RateSettings = toml::from_str(text).unwrap();
        settings.check().unwrap();
        settings
    }

    fn name(name: &str) -> TenantKey {
        TenantKey::Name(name.into())
    }

    #[test]
    fn a_bucket_fills_again_and_each_tenant_has_its_own() {
        let usage = Usage::default();
        let rate = settings("requests_per_second = 2\nburst = 3\n[tenants.large]\nrequests_per_second = 100\n");
        let began = Instant::now();
        let take = |tenant: &str, milliseconds| {
            let now = Now { instant: began + Duration::from_millis(milliseconds), clock: 0 };
            usage.take(name(tenant), &rate.of(Some(tenant)), now)
        };
        for _ in 0..3 {
            assert_eq!(take("small", 0), Ok(()));
        }
        assert_eq!(take("small", 0), Err(Rejection::Rate(1)));
        assert_eq!(take("other", 0), Ok(()));
        assert!((0..100).all(|_| take("large", 0).is_ok()) && take("large", 0).is_err());
        assert_eq!((take("small", 500), take("small", 500)), (Ok(()), Err(Rejection::Rate(1))));
        assert!(
            (0..3).all(|_| take("small", 60_000).is_ok()) && take("small", 60_000).is_err(),
            "no more than a burst"
        );
    }

    #[test]
    fn a_quota_begins_again_at_midnight() {
        let usage = Usage::default();
        let rate = settings("requests_per_day = 2\n");
        let instant = Instant::now();
        let take = |clock| usage.take(name("a"), &rate.of(Some("a")), Now { instant, clock });
        assert_eq!((take(DAY - 10), take(DAY - 9), take(DAY - 8)), (Ok(()), Ok(()), Err(Rejection::Quota(8))));
        assert_eq!((take(DAY), take(DAY), take(DAY)), (Ok(()), Ok(()), Err(Rejection::Quota(DAY))));
    }

    #[test]
    fn strangers_cannot_make_it_grow() {
        let usage = Usage::default();
        let rate = settings("requests_per_day = 5\n");
        let now = Now { instant: Instant::now(), clock: 0 };
        for number in 0..5 * TENANTS as u32 {
            let _ = usage.take(TenantKey::Address(IpAddr::from(number.to_be_bytes())), &rate.of(None), now);
            if number % 10_000 == 0 {
                // A tenant in use is not forgotten.
                let _ = usage.take(name("busy"), &rate.of(Some("busy")), now);
            }
        }
        let seen = usage.0.lock().unwrap();
        assert!(seen.new.len() <= TENANTS && seen.old.len() <= TENANTS, "{} {}", seen.new.len(), seen.old.len());
        drop(seen);
        assert!(usage.take(name("busy"), &rate.of(Some("busy")), now).is_err(), "its quota is used up");
    }
}
