//! What is kept of sessions from one request to the next: in memory, and in a Redis that several gateways share.

use super::clock::now;
use super::memories;
use super::redis::Redis;
use crate::metrics::Metrics;
use stc_context::{Key, MemoryStore, Secret, Settings, Store, Write};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The stores of a route.
pub(crate) struct Stores {
    pub(crate) secret: Secret,
    memory: Option<Arc<MemoryStore>>,
    redis: Option<Arc<Redis>>,
}

/// What memory has of a request's names.
pub(super) type Found = Vec<Option<Arc<[u8]>>>;

/// The secret of a process that shares nothing.
static SECRET: LazyLock<Secret> = LazyLock::new(|| {
    let random = RandomState::new();
    let halves = [random.hash_one(1_u8), RandomState::new().hash_one(2_u8)].map(u64::to_le_bytes);
    Secret::new(halves.concat().try_into().unwrap_or_default())
});

impl Stores {
    /// Opens the stores of these settings. An error names the setting.
    pub(crate) fn open(settings: &Settings, metrics: &Arc<Metrics>) -> Result<Self, String> {
        let secret = secret(settings)?;
        let redis = match &settings.store.redis {
            Some(_) if !settings.memo.enabled => {
                return Err("`context.store.redis` needs `context.memo.enabled`".to_owned());
            }
            Some(url) => {
                let timeout = Duration::from_secs_f64(settings.store.timeout);
                Some(Redis::shared(url, timeout, &settings.memo, &secret, metrics)?)
            }
            None => None,
        };
        Ok(Self { secret, memory: settings.memo.enabled.then(|| memories::shared(&settings.memo)), redis })
    }

    /// Returns what memory has.
    pub(super) fn remembered(&self, keys: &[Key]) -> Found {
        self.memory.as_ref().map_or_else(Vec::new, |memory| memory.get(keys, now()))
    }

    /// Returns whether more may be found elsewhere.
    pub(super) fn has_more(&self, found: &Found) -> bool {
        self.redis.is_some() && found.iter().any(Option::is_none)
    }

    /// Looks for what memory does not have, in one round trip. Never fails: what is not there in time is not there.
    pub(super) async fn look(&self, keys: &[Key], found: &mut Found) {
        let Some(redis) = &self.redis else { return };
        let missing: Vec<_> =
            keys.iter().zip(&*found).filter(|(_, value)| value.is_none()).map(|(key, _)| *key).collect();
        let values = redis.get(&missing).await;
        let mut writes = Vec::new();
        let places = found.iter_mut().filter(|value| value.is_none());
        for ((place, key), value) in places.zip(missing).zip(values) {
            writes.extend(value.iter().map(|value| Write { key, value: value.clone() }));
            *place = value;
        }
        if let Some(memory) = &self.memory {
            memory.put(writes, now());
        }
    }

    /// Keeps values. Returns at once: a Redis gets them later, or not at all.
    pub(super) fn keep(&self, writes: Vec<Write>) {
        if writes.is_empty() {
            return;
        }
        if let Some(redis) = &self.redis {
            redis.put(writes.clone());
        }
        if let Some(memory) = &self.memory {
            memory.put(writes, now());
        }
    }
}

fn secret(settings: &Settings) -> Result<Secret, String> {
    match (&settings.store.secret_env, &settings.store.redis) {
        (Some(name), _) => match std::env::var(name) {
            Ok(secret) if secret.len() >= 16 => Ok(Secret::from_passphrase(secret.as_bytes())),
            Ok(_) => Err(format!("`context.store.secret_env`: {name} has fewer than 16 bytes")),
            Err(_) => Err(format!("`context.store.secret_env`: {name} is not set")),
        },
        (None, Some(_)) => Err("`context.store.redis` needs `context.store.secret_env`".to_owned()),
        (None, None) => Ok(SECRET.clone()),
    }
}
