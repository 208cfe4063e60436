//! A Redis that several gateways share. It may be slow, stopped or gone: no request waits longer than `context.store.timeout`
//! for it, and none fails because of it.
//!
//! A thread of its own has the connection. A request hands it the names of all values that it looks for, and gets them in one
//! round trip; values to keep are written when the request has left. After five failures in a row nothing is sent for a second,
//! and then one request tries.
//!
//! A session is one hash, so that it expires as a whole and its bounds are those of one key:
//!
//! ```text
//! stc:2:SESSION   NAME -> value and seal, ...   #0 -> NAME, #1 -> NAME, ...   bytes, first, last -> numbers
//! ```
//!
//! `#N` has the names in the order of their first writing. [`KEEP`] writes values and drops the oldest ones over the bound, as
//! `MemoryStore` does, in one step that no other gateway interrupts.

use super::breaker::Breaker;
use crate::metrics::Metrics;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client};
use stc_context::{Key, MemoSettings, Secret, Write};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Requests that wait for the thread; further ones find nothing.
const WAITING_REQUESTS: usize = 4_096;
/// Bytes that an entry costs beside its value: its seal, its name, and its place in the order. As much as in memory.
const ENTRY_OVERHEAD: usize = 192;
/// Bytes of a seal.
const SEAL: usize = 16;
/// Writes values into a session, and drops its oldest ones while it is too long.
const KEEP: &str = include_str!("keep.lua");

/// A shared store.
pub(super) struct Redis {
    jobs: mpsc::Sender<Job>,
    timeout: Duration,
    breaker: Breaker,
    secret: Secret,
    bounds: Bounds,
    metrics: Arc<Metrics>,
}

/// What is kept of a session at most, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Bounds {
    entry_bytes: usize,
    session_bytes: usize,
    /// Without use.
    ttl: Duration,
}

impl Bounds {
    /// Returns whether a value of this length is kept.
    const fn fit(&self, length: usize) -> bool {
        length <= self.entry_bytes && length + ENTRY_OVERHEAD <= self.session_bytes
    }

    fn ttl_millis(&self) -> u64 {
        self.ttl.as_millis().clamp(1, 1 << 52) as u64
    }
}

/// What the thread is to do.
enum Job {
    Get(Vec<Key>, oneshot::Sender<redis::RedisResult<Vec<Option<Vec<u8>>>>>),
    Put(Vec<Write>),
}

type Shared = HashMap<(String, Duration, Bounds, u128), Weak<Redis>>;
static OPEN_STORES: LazyLock<Mutex<Shared>> = LazyLock::new(Mutex::default);

impl Redis {
    /// Returns the store at this address, which all routes with the same settings share. A thread connects to it.
    pub(super) fn shared(
        url: &str,
        timeout: Duration,
        memo: &MemoSettings,
        secret: &Secret,
        metrics: &Arc<Metrics>,
    ) -> Result<Arc<Self>, String> {
        // The address may have a password, so an error does not repeat it.
        let client =
            Client::open(url).map_err(|_| "`context.store.redis`: expected redis://HOST:PORT/DB".to_owned())?;
        let mut open = OPEN_STORES.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, redis| redis.strong_count() > 0);
        let ttl = Duration::from_secs(memo.ttl);
        let bounds = Bounds { entry_bytes: memo.entry_bytes, session_bytes: memo.session_bytes, ttl };
        let name = (url.to_owned(), timeout, bounds, secret.hash(&[]));
        if let Some(redis) = open.get(&name).and_then(Weak::upgrade) {
            return Ok(redis);
        }
        let (jobs, received) = mpsc::channel(WAITING_REQUESTS);
        let thread = std::thread::Builder::new().name("redis".to_owned());
        let keeping = Keeping { secret: secret.clone(), bounds, metrics: metrics.clone() };
        let started = thread.spawn(move || run(&client, timeout, &keeping, received));
        started.map_err(|error| format!("a thread for `context.store.redis`: {error}"))?;
        let (breaker, secret, metrics) = (Breaker::default(), secret.clone(), metrics.clone());
        let redis = Arc::new(Self { jobs, timeout, breaker, secret, bounds, metrics });
        open.insert(name, Arc::downgrade(&redis));
        Ok(redis)
    }

    /// Returns the values of these names, as far as they come in time.
    pub(super) async fn get(&self, keys: &[Key]) -> Vec<Option<Arc<[u8]>>> {
        let nothing = || vec![None; keys.len()];
        if !self.breaker.allows() {
            self.metrics.context.store("open");
            return nothing();
        }
        let (send, receive) = oneshot::channel();
        let sent = self.jobs.try_send(Job::Get(keys.to_vec(), send)).is_ok();
        let answer = if sent { tokio::time::timeout(self.timeout, receive).await } else { return nothing() };
        match answer {
            Ok(Ok(Ok(values))) if values.len() == keys.len() => {
                self.breaker.succeeded();
                self.metrics.context.store("answer");
                let value = |(key, value): (&Key, Option<Vec<u8>>)| opened(&self.secret, *key, value?);
                let fit = |value: &Arc<[u8]>| self.bounds.fit(value.len());
                keys.iter().zip(values).map(|pair| value(pair).filter(fit)).collect()
            }
            Ok(_) => {
                self.breaker.failed();
                self.metrics.context.store("error");
                nothing()
            }
            Err(_) => {
                self.breaker.failed();
                self.metrics.context.store("timeout");
                nothing()
            }
        }
    }

    /// Writes values, if there is room for them to wait. Those that are too long are not kept.
    pub(super) fn put(&self, mut writes: Vec<Write>) {
        writes.retain(|write| self.bounds.fit(write.value.len()));
        if writes.is_empty() || self.breaker.is_open() {
            return;
        }
        if self.jobs.try_send(Job::Put(writes)).is_err() {
            self.metrics.context.store("full");
        }
    }
}

/// Returns the name of a session.
fn session(key: &Key) -> String {
    format!("stc:2:{:032x}", key.session)
}

/// Returns the name of a value in its session.
fn name(key: &Key) -> String {
    format!("{:032x}", key.entry)
}

/// Returns a value with a keyed hash of its name and itself after it: what was written elsewhere, or for another name, does
/// not come back.
fn sealed(secret: &Secret, write: &Write) -> Vec<u8> {
    let tag = tag(secret, write.key, &write.value);
    [&*write.value, &tag].concat()
}

fn opened(secret: &Secret, key: Key, mut value: Vec<u8>) -> Option<Arc<[u8]>> {
    let end = value.len().checked_sub(SEAL)?;
    let fits = tag(secret, key, &value[..end]) == value[end..];
    value.truncate(end);
    fits.then(|| value.into())
}

fn tag(secret: &Secret, key: Key, value: &[u8]) -> [u8; SEAL] {
    secret.hash(&[b"sealed", &key.entry.to_le_bytes(), value]).to_le_bytes()
}

/// How values are kept.
#[derive(Clone)]
struct Keeping {
    secret: Secret,
    bounds: Bounds,
    metrics: Arc<Metrics>,
}

/// The thread: serves jobs until all stores are dropped.
fn run(client: &Client, timeout: Duration, keeping: &Keeping, mut jobs: mpsc::Receiver<Job>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        // Before the first request, which should not wait for it.
        let mut connection = connect(client, timeout).await.ok();
        // Connections are numbered: a late failure of an earlier one does not end the present one.
        let (mut number, broken) = (1, Arc::new(AtomicU64::new(0)));
        while let Some(job) = jobs.recv().await {
            if broken.load(Ordering::Relaxed) == number {
                connection = None;
            }
            let used = match &connection {
                Some(connection) => connection.clone(),
                None => match connect(client, timeout).await {
                    Ok(made) => {
                        number += 1;
                        connection.insert(made).clone()
                    }
                    // The request has its answer: its channel is dropped.
                    Err(_) => continue,
                },
            };
            // Each on its own: an answer that is late holds up no other.
            let (keeping, broken) = (keeping.clone(), broken.clone());
            tokio::spawn(async move {
                if !serve(used, job, &keeping).await {
                    broken.fetch_max(number, Ordering::Relaxed);
                }
            });
        }
    });
}

async fn connect(client: &Client, timeout: Duration) -> redis::RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(timeout.max(Duration::from_millis(100))))
        .set_response_timeout(Some(timeout.max(Duration::from_millis(100))));
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// Serves a job; returns whether the connection is good.
async fn serve(mut connection: MultiplexedConnection, job: Job, keeping: &Keeping) -> bool {
    match job {
        Job::Get(keys, answer) => {
            let values = reading(&keys, keeping.bounds.ttl_millis()).query_async::<Vec<Vec<_>>>(&mut connection).await;
            let is_good = values.as_ref().err().is_none_or(is_an_answer);
            let _ = answer.send(values.map(|values| values.concat()));
            is_good
        }
        Job::Put(writes) => {
            let done = writing(&writes, keeping).query_async::<()>(&mut connection).await;
            let Err(error) = done else { return true };
            keeping.metrics.context.store("unwritten");
            is_an_answer(&error)
        }
    }
}

/// Returns whether an error is what Redis answered, on a connection that is good.
fn is_an_answer(error: &redis::RedisError) -> bool {
    matches!(error.kind(), redis::ErrorKind::Server(_) | redis::ErrorKind::Extension)
}

/// Returns the commands that read values, and prolong what they were found in. Each session is answered with its values.
fn reading(keys: &[Key], ttl: u64) -> redis::Pipeline {
    let mut commands = redis::pipe();
    for keys in keys.chunk_by(|one, next| one.session == next.session) {
        let session = session(&keys[0]);
        commands.cmd("HMGET").arg(&session).arg(keys.iter().map(name).collect::<Vec<_>>());
        commands.cmd("PEXPIRE").arg(session).arg(ttl).ignore();
    }
    commands
}

/// Returns the commands that write values, and keep each session within its bound.
fn writing(writes: &[Write], keeping: &Keeping) -> redis::Pipeline {
    let mut commands = redis::pipe();
    for writes in writes.chunk_by(|one, next| one.key.session == next.key.session) {
        let command = commands.cmd("EVAL").arg(KEEP).arg(1).arg(session(&writes[0].key));
        command.arg(keeping.bounds.ttl_millis()).arg(keeping.bounds.session_bytes).arg(ENTRY_OVERHEAD - SEAL);
        for write in writes {
            command.arg(name(&write.key)).arg(sealed(&keeping.secret, write));
        }
        command.ignore();
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(session: u128, entry: u128) -> Key {
        Key { session, entry }
    }

    fn keeping() -> Keeping {
        let bounds = Bounds { entry_bytes: 100, session_bytes: 1_000, ttl: Duration::from_secs(5) };
        let metrics = Metrics::new(crate::log::Lines::default(), Default::default());
        Keeping { secret: Secret::new([7; 16]), bounds, metrics: Arc::new(metrics) }
    }

    fn sent(commands: &redis::Pipeline) -> String {
        String::from_utf8_lossy(&commands.get_packed_pipeline()).into_owned()
    }

    /// Every session is read and written by its own name, with its bounds.
    #[test]
    fn commands_by_session() {
        let keys = [key(1, 10), key(1, 11), key(2, 20)];
        let read = sent(&reading(&keys, 5_000));
        assert_eq!(["HMGET", "PEXPIRE"].map(|word| read.matches(word).count()), [2, 2]);
        let keeping = keeping();
        let writes = keys.map(|key| Write { key, value: [b'v'; 8].to_vec().into() });
        let written = sent(&writing(&writes, &keeping));
        assert_eq!(["EVAL", "vvvvvvvv"].map(|word| written.matches(word).count()), [2, 3]);
        for (one, times) in [(&read, 2), (&written, 1)] {
            let named = ["1", "2"].map(|session| one.matches(&format!("stc:2:{session:0>32}")).count());
            assert_eq!(named, [times; 2], "{one}");
        }
    }

    /// What is too long is not written, and not taken from a Redis where another gateway wrote it.
    #[test]
    fn values_that_are_too_long() {
        let bounds = Bounds { entry_bytes: 100, session_bytes: 250, ttl: Duration::ZERO };
        assert_eq!([0, 58, 59, 100, 101].map(|length| bounds.fit(length)), [true, true, false, false, false]);
        let wide = Bounds { session_bytes: 1_000, ..bounds };
        assert_eq!([59, 100, 101].map(|length| wide.fit(length)), [true, true, false]);
        assert_eq!(bounds.ttl_millis(), 1, "Redis takes no 0");
    }
}
