//! The main loop: accepts connections for the workers, reloads the configuration on SIGHUP, drains on SIGTERM.

use crate::admin::entrance::Entrance;
use crate::admin::{self, Reported};
use crate::builtin::Catalogue;
use crate::client::places::{Newcomer, Places};
use crate::config::{Config, Flags};
use crate::log::{Lines, now_ms};
use crate::metrics::Metrics;
use crate::notify::{READY, STOPPING, notify};
use crate::setup::{Plan, Setup};
use crate::traces::exporter::Exporter;
use crate::worker::{Accepted, Worker, Workers};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// The bound addresses.
pub(crate) struct Listening {
    pub(crate) traffic: SocketAddr,
    pub(crate) admin: Option<SocketAddr>,
}

/// Runs until a signal ends the program; calls `listening` once the addresses are bound.
pub(crate) fn run(flags: &Flags, catalogue: &Catalogue, listening: impl FnOnce(&Listening)) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(accept(flags, catalogue, listening))
}

/// Loads a configuration as a start or a reload would; returns the numbers of routes and plugins.
pub(crate) fn check(flags: &Flags, catalogue: &Catalogue) -> Result<(usize, usize), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let metrics = Arc::new(Metrics::new(Lines::default(), Default::default()));
    let plan = runtime.block_on(async { Plan::new(Config::load(flags)?, catalogue, &metrics, None).await })?;
    Exporter::new(&plan.config)?;
    Entrance::new(&plan.config.admin_access)?;
    plan.config.warn();
    Ok((plan.config.routes.len(), plan.config.plugins.len()))
}

async fn accept(flags: &Flags, catalogue: &Catalogue, listening: impl FnOnce(&Listening)) -> Result<(), String> {
    // First of all: a SIGHUP without a handler ends the process.
    let mut signals = Signals::new().map_err(|error| format!("signals: {error}"))?;
    let config = Config::load(flags)?;
    let metrics = Arc::new(start_reporting(&config)?);
    let draining = Arc::new(AtomicBool::new(false));
    let (listener, traffic) = bind(config.listen)?;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    eprintln!("stc-gateway: listening on {scheme}://{traffic}");
    let admin = match config.admin {
        Some(address) => Some(bind_admin(address)?),
        None => None,
    };
    raise_file_limit();
    let places = Places::new(config.limits.connections, config.limits.connections_per_client);
    let count = config.workers;
    let mut plan = Arc::new(Plan::new(config, catalogue, &metrics, None).await?);
    plan.start(&metrics);
    let (permits, current) = watch::channel(plan.permits.clone());
    open_history(&plan.config, &metrics)?;
    let entrance = Arc::new(Entrance::new(&plan.config.admin_access)?);
    let admin = admin.map(|(listener, address)| {
        let (metrics, draining, prices) = (metrics.clone(), draining.clone(), plan.config.prices.clone().into());
        let sample = plan.config.sample.clone();
        let reported = Reported { metrics, draining, permits: current, entrance, prices, sample };
        tokio::spawn(admin::serve(listener, reported));
        address
    });
    let start = |plan: &Arc<Plan>, number| Worker::start(number, Setup::new(plan, &metrics), metrics.clone());
    let workers = (0..count).map(|number| start(&plan, number)).collect::<Result<_, _>>()?;
    let mut workers = Workers::new(workers);
    plan.config.log_start(traffic);
    plan.config.warn();
    listening(&Listening { traffic, admin });
    notify(READY);

    let mut arrivals = Arrivals { listener, places, next: None };
    loop {
        tokio::select! {
            accepted = arrivals.accept(&metrics) => match accepted {
                Ok(accepted) => workers.dispatch(accepted, &metrics, |number| start(&plan, number)),
                // Most likely out of file descriptors: wait until other connections close.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            _ = signals.hup.recv() => {
                if let Some(new) = reload(flags, catalogue, &plan, &workers, &metrics).await {
                    permits.send_replace(new.permits.clone());
                    plan = new;
                }
            }
            _ = signals.term.recv() => break,
            _ = signals.int.recv() => break,
        }
    }
    draining.store(true, Ordering::Relaxed);
    notify(STOPPING);
    // Clients in the kernel's queue are connected already; closing the listener would reset them.
    for accepted in arrivals.rest().await {
        workers.dispatch(accepted, &metrics, |number| start(&plan, number));
    }
    eprintln!("stc-gateway: draining {} connections", metrics.connections.load(Ordering::Relaxed));
    // On another thread, so that /healthz and /readyz are answered meanwhile.
    let drained = tokio::task::spawn_blocking(|| workers.drain()).await;
    finish_reporting(&metrics);
    drained.map_err(|error| error.to_string())
}

/// Accepts connections and gives them places.
struct Arrivals {
    listener: TcpListener,
    places: Arc<Places>,
    /// The connection that waits for a place. Others wait in the kernel's queue meanwhile, which is the back-pressure.
    next: Option<(std::net::TcpStream, SocketAddr, Newcomer)>,
}

impl Arrivals {
    /// Accepts a connection and waits until it has a place. The connection stays here if the future is dropped.
    async fn accept(&mut self, metrics: &Metrics) -> std::io::Result<Accepted> {
        loop {
            if self.next.is_none() {
                let (socket, peer) = self.listener.accept().await?;
                // Before it waits for a place: no other connection closes for one that is refused.
                let Some(newcomer) = self.places.admit(peer.ip()) else {
                    // Closed at once: an answer would cost as much as the connection.
                    metrics.connection_refused();
                    continue;
                };
                self.next = Some((socket.into_std()?, peer, newcomer));
            }
            let free = self.places.free().await;
            if let (Some(free), Some((socket, peer, newcomer))) = (free, self.next.take()) {
                return Ok(Accepted { socket, peer, place: Some(newcomer.take(free)) });
            }
        }
    }

    /// Returns the connections that were not given to a worker, and stops listening.
    async fn rest(self) -> Vec<Accepted> {
        let Self { listener, next, .. } = self;
        let mut rest = Vec::from_iter(next.map(|(socket, peer, _)| (socket, peer)));
        while let Ok(Ok((socket, peer))) = tokio::time::timeout(Duration::ZERO, listener.accept()).await {
            rest.extend(socket.into_std().ok().map(|socket| (socket, peer)));
        }
        rest.into_iter().map(|(socket, peer)| Accepted { socket, peer, place: None }).collect()
    }
}

/// Starts the log and the traces.
fn start_reporting(config: &Config) -> Result<Metrics, String> {
    let exporter = Exporter::new(config)?;
    let lines = Lines::start(config.log, &config.log_levels)?;
    Ok(Metrics::new(lines, exporter.map(Exporter::start).transpose()?.unwrap_or_default()))
}

/// Writes and sends what waits, for a limited time.
fn finish_reporting(metrics: &Metrics) {
    save_history(metrics);
    metrics.traces.finish();
    metrics.lines.flush();
}

/// Reads the history of the last day, if a file keeps it, and keeps it there.
fn open_history(config: &Config, metrics: &Arc<Metrics>) -> Result<(), String> {
    let Some(path) = &config.history else { return Ok(()) };
    let opened = metrics.history.open(path, now_ms() / 1000);
    opened.map_err(|error| format!("`history`: {}: {error}", path.display()))?;
    tokio::spawn(keep_history(metrics.clone()));
    Ok(())
}

/// Writes the history once a minute.
async fn keep_history(metrics: Arc<Metrics>) {
    loop {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let metrics = metrics.clone();
        let _ = tokio::task::spawn_blocking(move || save_history(&metrics)).await;
    }
}

fn save_history(metrics: &Metrics) {
    if let Err(error) = metrics.history.save() {
        tracing::warn!(target: "gateway", why = %error, "the history was not written");
    }
}

/// Raises the limit of open files to the maximum: every connection is a file, to clients and to upstreams.
fn raise_file_limit() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, limit);
}

struct Signals {
    hup: Signal,
    term: Signal,
    int: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            hup: signal(SignalKind::hangup())?,
            term: signal(SignalKind::terminate())?,
            int: signal(SignalKind::interrupt())?,
        })
    }
}

fn bind_admin(address: SocketAddr) -> Result<(TcpListener, SocketAddr), String> {
    let (listener, address) = bind(address)?;
    eprintln!("stc-gateway: admin on http://{address}");
    Ok((listener, address))
}

/// The most connections that wait to be accepted; Linux allows as many by default. If the queue is full, the kernel drops what
/// comes, and clients try again after a second.
const WAITING_CONNECTIONS: u32 = 4096;

fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), String> {
    let bound = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // An address whose last connections are not quite gone can be used again.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(WAITING_CONNECTIONS)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    bound().map_err(|error: std::io::Error| format!("cannot listen on {address}: {error}"))
}

/// Applies the new configuration, or keeps the old one and prints the error. Addresses, access to the admin address, workers,
/// the log, traces and the limit of connections stay.
async fn reload(
    flags: &Flags,
    catalogue: &Catalogue,
    before: &Plan,
    workers: &Workers,
    metrics: &Arc<Metrics>,
) -> Option<Arc<Plan>> {
    let read = async { Plan::new(Config::load(flags)?, catalogue, metrics, Some(before)).await }.await;
    metrics.reloaded(read.is_ok());
    match read {
        Ok(plan) => {
            let plan = Arc::new(plan);
            plan.start(metrics);
            plan.config.warn();
            let stays = |config: &Config| {
                let Config { listen, admin, log, workers, limits, admin_access, traces, .. } = config;
                let connections = (limits.connections, limits.connections_per_client);
                (*listen, *admin, *log, *workers, connections, admin_access.clone(), traces.clone())
            };
            if workers.iter().any(|worker| stays(&worker.setup.borrow().plan.config) != stays(&plan.config)) {
                eprintln!(
                    "stc-gateway: addresses, access to the admin address, workers, the log, traces and the limit of connections need a restart"
                );
            }
            for worker in workers.iter() {
                worker.setup.send_replace(Arc::new(Setup::new(&plan, metrics)));
            }
            eprintln!("stc-gateway: configuration read again");
            tracing::info!(target: "gateway", "configuration read again");
            Some(plan)
        }
        Err(why) => {
            eprintln!("stc-gateway: configuration kept as it was: {why}");
            tracing::error!(target: "gateway", why, "configuration kept as it was");
            None
        }
    }
}
