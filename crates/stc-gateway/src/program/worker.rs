//! A worker: a thread, a core, connections that stay on it.
//!
//! Every connection lives on one worker, and so do the worker's own connections to upstreams: a request wakes no other
//! core on its way. On a runtime that steals work the same proxy did half to two thirds of the requests (1 KB to 256 KB).

use super::ledger::{Counted, Ledger};
use super::permits::Connection;
use super::respond::{Client, respond};
use super::setup::Setup;
use super::socket::Socket;
use super::streams::Streams;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

/// A connection that was accepted, and its place among those that may be open.
pub(crate) struct Accepted {
    pub(crate) socket: std::net::TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

/// A worker as the one who accepts sees it. When `connections` is dropped, it drains and ends.
pub(crate) struct Worker {
    pub(crate) connections: mpsc::UnboundedSender<Accepted>,
    pub(crate) setup: watch::Sender<Arc<Setup>>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts a thread.
    pub(crate) fn start(number: usize, setup: Setup, ledger: Arc<Ledger>) -> Result<Self, String> {
        let (connections, accepted) = mpsc::unbounded_channel();
        let (sender, setup) = watch::channel(Arc::new(setup));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("a worker: {error}"))?;
        let thread = std::thread::Builder::new()
            .name(format!("worker-{number}"))
            .spawn(move || runtime.block_on(work(accepted, setup, ledger)))
            .map_err(|error| format!("a worker: {error}"))?;
        Ok(Self { connections, setup: sender, thread })
    }

    /// Tells it to finish what is under way, within the configuration's patience, and to end.
    pub(crate) fn stop(self) -> JoinHandle<()> {
        drop(self.connections);
        self.thread
    }
}

async fn work(
    mut accepted: mpsc::UnboundedReceiver<Accepted>,
    setup: watch::Receiver<Arc<Setup>>,
    ledger: Arc<Ledger>,
) {
    let graceful = GracefulShutdown::new();
    while let Some(Accepted { socket, peer, place }) = accepted.recv().await {
        let Ok(socket) = TcpStream::from_std(socket) else { continue };
        let connection = connection(socket, peer, setup.clone(), ledger.clone(), &graceful);
        tokio::spawn(async move {
            connection.await;
            drop(place);
        });
    }
    let patience = setup.borrow().plan.config.timeouts.drain();
    let left = graceful.count();
    if tokio::time::timeout(patience, graceful.shutdown()).await.is_err() {
        eprintln!("stc-gateway: gave up after {patience:?} on some of {left} connections");
    }
}

fn connection(
    socket: TcpStream,
    peer: SocketAddr,
    setup: watch::Receiver<Arc<Setup>>,
    ledger: Arc<Ledger>,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + use<> {
    let watcher = graceful.watcher();
    let open = Counted::new(&ledger, |ledger| &ledger.connections);
    async move {
        let (limits, timeouts) = {
            let config = &setup.borrow().plan.config;
            (config.limits, config.timeouts)
        };
        let (patience, pace) = (timeouts.request(), timeouts.pace(&limits));
        let socket = Socket::new(socket, pace, ledger.clone());
        let mut builder = auto::Builder::new(Streams::new(pace, ledger.clone()));
        let client = Arc::new(Client { peer, connection: Connection::new(peer.ip()) });
        let service =
            service_fn(move |request| respond(request, client.clone(), setup.borrow().clone(), ledger.clone()));
        builder.http1().timer(TokioTimer::new()).header_read_timeout(patience);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(Duration::from_secs(30));
        let connection = builder.serve_connection(TokioIo::new(socket), service).into_owned();
        // A client that leaves or sends nonsense is its own affair.
        let _ = watcher.watch(connection).await;
        drop(open);
    }
}
