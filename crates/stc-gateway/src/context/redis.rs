//! A Redis that several gateways share. It may be slow, stopped or gone: no request waits longer than `context.store.timeout`
//! for it, and none fails because of it.
//!
//! A thread of its own has the connection. A request hands it the names of all values that it looks for, and gets them in one
//! round trip (`MGET`); values to keep are written when the request has left. After five failures in a row nothing is sent for
//! a second, and then one request tries.

use super::breaker::Breaker;
use crate::metrics::Metrics;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client};
use stc_context::{Key, Secret, Write};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Requests that wait for the thread; further ones find nothing.
const WAITING_REQUESTS: usize = 4_096;

/// A shared store.
pub(super) struct Redis {
    jobs: mpsc::Sender<Job>,
    timeout: Duration,
    breaker: Breaker,
    secret: Secret,
    metrics: Arc<Metrics>,
}

/// What the thread is to do.
enum Job {
    Get(Vec<String>, oneshot::Sender<redis::RedisResult<Vec<Option<Vec<u8>>>>>),
    Put(Vec<Write>),
}

type Shared = HashMap<(String, Duration, Duration, u128), Weak<Redis>>;
static OPEN_STORES: LazyLock<Mutex<Shared>> = LazyLock::new(Mutex::default);

impl Redis {
    /// Returns the store at this address, which all routes with the same settings share. A thread connects to it.
    pub(super) fn shared(
        url: &str,
        timeout: Duration,
        ttl: Duration,
        secret: &Secret,
        metrics: &Arc<Metrics>,
    ) -> Result<Arc<Self>, String> {
        // The address may have a password, so an error does not repeat it.
        let client =
            Client::open(url).map_err(|_| "`context.store.redis`: expected redis://HOST:PORT/DB".to_owned())?;
        let mut open = OPEN_STORES.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, redis| redis.strong_count() > 0);
        let name = (url.to_owned(), timeout, ttl, secret.hash(&[]));
        if let Some(redis) = open.get(&name).and_then(Weak::upgrade) {
            return Ok(redis);
        }
        let (jobs, received) = mpsc::channel(WAITING_REQUESTS);
        let thread = std::thread::Builder::new().name("redis".to_owned());
        let kept = secret.clone();
        let started = thread.spawn(move || run(&client, timeout, &Keeping { secret: kept, ttl }, received));
        started.map_err(|error| format!("a thread for `context.store.redis`: {error}"))?;
        let (breaker, secret, metrics) = (Breaker::default(), secret.clone(), metrics.clone());
        let redis = Arc::new(Self { jobs, timeout, breaker, secret, metrics });
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
        let names = keys.iter().map(name).collect();
        let sent = self.jobs.try_send(Job::Get(names, send)).is_ok();
        let answer = if sent { tokio::time::timeout(self.timeout, receive).await } else { return nothing() };
        match answer {
            Ok(Ok(Ok(values))) if values.len() == keys.len() => {
                self.breaker.succeeded();
                self.metrics.context.store("answer");
                keys.iter().zip(values).map(|(key, value)| opened(&self.secret, *key, value?)).collect()
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

    /// Writes values, if there is room for them to wait.
    pub(super) fn put(&self, writes: Vec<Write>) {
        if self.breaker.is_open() {
            return;
        }
        if self.jobs.try_send(Job::Put(writes)).is_err() {
            self.metrics.context.store("full");
        }
    }
}

fn name(key: &Key) -> String {
    format!("stc:1:{:032x}", key.entry)
}

/// Returns a value with a keyed hash of its name and itself after it: what was written elsewhere, or for another name, does
/// not come back.
fn sealed(secret: &Secret, write: &Write) -> Vec<u8> {
    let tag = tag(secret, write.key, &write.value);
    [&*write.value, &tag].concat()
}

fn opened(secret: &Secret, key: Key, mut value: Vec<u8>) -> Option<Arc<[u8]>> {
    let end = value.len().checked_sub(16)?;
    let fits = tag(secret, key, &value[..end]) == value[end..];
    value.truncate(end);
    fits.then(|| value.into())
}

fn tag(secret: &Secret, key: Key, value: &[u8]) -> [u8; 16] {
    secret.hash(&[b"sealed", &key.entry.to_le_bytes(), value]).to_le_bytes()
}

/// How values are kept.
#[derive(Clone)]
struct Keeping {
    secret: Secret,
    ttl: Duration,
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
        Job::Get(names, answer) => {
            let mut command = redis::cmd("MGET");
            names.iter().for_each(|name| {
                command.arg(name);
            });
            let values = command.query_async(&mut connection).await;
            let is_good = values.is_ok();
            let _ = answer.send(values);
            is_good
        }
        Job::Put(writes) => {
            let mut commands = redis::pipe();
            let ttl = keeping.ttl.as_millis().max(1) as u64;
            for write in &writes {
                let value = sealed(&keeping.secret, write);
                commands.cmd("SET").arg(name(&write.key)).arg(value).arg("PX").arg(ttl).ignore();
            }
            commands.query_async::<()>(&mut connection).await.is_ok()
        }
    }
}
