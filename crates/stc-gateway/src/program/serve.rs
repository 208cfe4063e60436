//! The program at work: accepts, hands connections to its workers, reads its configuration again on SIGHUP, drains on
//! SIGTERM.

use super::admin::{self, Reported};
use super::config::{Config, Flags};
use super::ledger::Ledger;
use super::setup::{Plan, Setup};
use super::stock::Catalogue;
use super::worker::{Accepted, Worker};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, watch};

/// Where it listens, once it does.
pub(crate) struct Listening {
    pub(crate) traffic: SocketAddr,
    pub(crate) admin: Option<SocketAddr>,
}

/// Runs until it is told to stop; says where once it listens.
pub(crate) fn run(flags: &Flags, catalogue: &Catalogue, listening: impl FnOnce(&Listening)) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(accept(flags, catalogue, listening))
}

/// Does everything that a start or a reload would do with a configuration, except to take it; its routes and plugins.
pub(crate) fn check(flags: &Flags, catalogue: &Catalogue) -> Result<(usize, usize), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let ledger = Arc::new(Ledger::new(super::config::Log::Off));
    let plan = runtime.block_on(async { Plan::new(Config::load(flags)?, catalogue, &ledger).await })?;
    Ok((plan.config.routes.len(), plan.config.plugins.len()))
}

async fn accept(flags: &Flags, catalogue: &Catalogue, listening: impl FnOnce(&Listening)) -> Result<(), String> {
    // Before anyone can know that it runs: a SIGHUP that nobody waits for ends a process.
    let mut signals = Signals::new().map_err(|error| format!("signals: {error}"))?;
    let config = Config::load(flags)?;
    let ledger = Arc::new(Ledger::new(config.log));
    let draining = Arc::new(AtomicBool::new(false));
    let (listener, traffic) = bind(config.listen).await?;
    eprintln!("stc-gateway: listening on http://{traffic}");
    let mut admin = None;
    if let Some(address) = config.admin {
        let (listener, address) = bind(address).await?;
        eprintln!("stc-gateway: admin on http://{address}");
        admin = Some((listener, address));
    }
    make_room();
    let connections = Arc::new(Semaphore::new(config.limits.connections));
    let count = config.workers;
    let plan = Arc::new(Plan::new(config, catalogue, &ledger).await?);
    let (permits, current) = watch::channel(plan.permits.clone());
    let admin = admin.map(|(listener, address)| {
        let (ledger, draining) = (ledger.clone(), draining.clone());
        tokio::spawn(admin::serve(listener, Reported { ledger, draining, permits: current }));
        address
    });
    let start = |number| Worker::start(number, Setup::new(&plan, &ledger), ledger.clone());
    let workers: Vec<Worker> = (0..count).map(start).collect::<Result<_, _>>()?;
    listening(&Listening { traffic, admin });

    let mut turn = 0;
    loop {
        let accepted = async {
            // No place, no accept: the kernel's queue is the back-pressure.
            let place = connections.clone().acquire_owned().await.ok();
            (listener.accept().await.and_then(|(socket, peer)| Ok((socket.into_std()?, peer))), place)
        };
        tokio::select! {
            (accepted, place) = accepted => match accepted {
                Ok((socket, peer)) => {
                    turn = (turn + 1) % workers.len();
                    let _ = workers[turn].connections.send(Accepted { socket, peer, place });
                }
                // Out of file descriptors, most likely: others have to close first.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            _ = signals.hup.recv() => {
                if let Some(plan) = reload(flags, catalogue, &workers, &ledger).await {
                    permits.send_replace(plan.permits.clone());
                }
            }
            _ = signals.term.recv() => break,
            _ = signals.int.recv() => break,
        }
    }
    draining.store(true, Ordering::Relaxed);
    // Those in the kernel's queue were told that they are connected; closing on them would be a reset.
    while let Ok(Ok((socket, peer))) = tokio::time::timeout(Duration::ZERO, listener.accept()).await {
        turn = (turn + 1) % workers.len();
        if let Ok(socket) = socket.into_std() {
            let _ = workers[turn].connections.send(Accepted { socket, peer, place: None });
        }
    }
    drop(listener);
    eprintln!("stc-gateway: draining {} connections", ledger.connections.load(Ordering::Relaxed));
    // On a thread of its own, so that /healthz and /readyz are answered meanwhile.
    let drained = tokio::task::spawn_blocking(|| drain(workers)).await;
    ledger.lines.flush();
    drained.map_err(|error| error.to_string())
}

/// All at once, then one after another.
fn drain(workers: Vec<Worker>) {
    let told: Vec<_> = workers.into_iter().map(Worker::stop).collect();
    for thread in told {
        let _ = thread.join();
    }
}

/// As many files as the system lets us have: every connection is one, and so is every one to an upstream. Where it does
/// not, the next waits to be accepted.
fn make_room() {
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

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), String> {
    let bound = async {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    bound.await.map_err(|error: std::io::Error| format!("cannot listen on {address}: {error}"))
}

/// Takes the new configuration, or keeps the old one and says why. Addresses, workers, the log and the limit of connections
/// stay.
async fn reload(flags: &Flags, catalogue: &Catalogue, workers: &[Worker], ledger: &Arc<Ledger>) -> Option<Arc<Plan>> {
    let read = async { Plan::new(Config::load(flags)?, catalogue, ledger).await }.await;
    ledger.reloaded(read.is_ok());
    match read {
        Ok(plan) => {
            let plan = Arc::new(plan);
            let stays =
                |config: &Config| (config.listen, config.admin, config.log, config.workers, config.limits.connections);
            if workers.iter().any(|worker| stays(&worker.setup.borrow().plan.config) != stays(&plan.config)) {
                eprintln!("stc-gateway: addresses, workers, the log and the limit of connections need a restart");
            }
            for worker in workers {
                worker.setup.send_replace(Arc::new(Setup::new(&plan, ledger)));
            }
            eprintln!("stc-gateway: configuration read again");
            Some(plan)
        }
        Err(why) => {
            eprintln!("stc-gateway: configuration kept as it was: {why}");
            None
        }
    }
}
