//! The program at work: accepts, forwards, reads its configuration again on SIGHUP, drains on SIGTERM.

use super::admin;
use super::config::{Config, Flags};
use super::forward::{Forward, Peer, ResponseBody, answer, client};
use super::guarded::Guarded;
use super::ledger::Ledger;
use http::{Request, Response, StatusCode};
use http_body_util::Limited;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use stc_gateway::{Engine, TransformBody, TransformLayer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, watch};
use tower::{Layer, ServiceExt};

/// What a configuration comes to. A request keeps the one it began with.
struct Setup {
    routes: Vec<(String, Engine, Forward)>,
    requests: Arc<Semaphore>,
    config: Config,
}

impl Setup {
    fn new(config: Config, ledger: &Arc<Ledger>) -> Result<Self, String> {
        let client = client(&config.timeouts)?;
        let (limits, timeouts) = (config.limits, config.timeouts);
        let route = |route: &super::config::Route| {
            let (client, ledger) = (client.clone(), ledger.clone());
            let engine = Engine::observed(route.policy.clone(), ledger.clone());
            let forward = Forward { client, upstream: route.upstream.clone(), limits, timeouts, ledger };
            (route.prefix.clone(), engine, forward)
        };
        let routes = config.routes.iter().map(route).collect();
        Ok(Self { routes, requests: Arc::new(Semaphore::new(config.limits.requests)), config })
    }

    fn route(&self, path: &str) -> Option<(&Engine, &Forward)> {
        let under =
            |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let found = self.routes.iter().find(|(prefix, ..)| under(prefix))?;
        Some((&found.1, &found.2))
    }
}

/// Runs until it is told to stop.
pub(crate) async fn run(flags: Flags) -> Result<(), String> {
    // Before anyone can know that it runs: a SIGHUP that nobody waits for ends a process.
    let signals = |kind| signal(kind).map_err(|error| format!("signals: {error}"));
    let mut hup = signals(SignalKind::hangup())?;
    let (mut term, mut int) = (signals(SignalKind::terminate())?, signals(SignalKind::interrupt())?);
    let config = Config::load(&flags)?;
    let ledger = Arc::new(Ledger::new(config.log));
    let draining = Arc::new(AtomicBool::new(false));
    let bind = |address: SocketAddr| async move {
        TcpListener::bind(address).await.map_err(|error| format!("cannot listen on {address}: {error}"))
    };
    let listener = bind(config.listen).await?;
    let address = |listener: &TcpListener| listener.local_addr().map_err(|error| error.to_string());
    eprintln!("stc-gateway: listening on http://{}", address(&listener)?);
    if let Some(admin_address) = config.admin {
        let listener = bind(admin_address).await?;
        eprintln!("stc-gateway: admin on http://{}", address(&listener)?);
        tokio::spawn(admin::serve(listener, ledger.clone(), draining.clone()));
    }
    let connections = Arc::new(Semaphore::new(config.limits.connections));
    let (setups, setup) = watch::channel(Arc::new(Setup::new(config, &ledger)?));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = async {
            // No place, no accept: the kernel's queue is the back-pressure.
            let place = connections.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        tokio::select! {
            (accepted, place) = accepted => match accepted {
                Ok((socket, peer)) => {
                    let connection = connection(socket, peer, setup.clone(), ledger.clone(), &graceful);
                    tokio::spawn(async move {
                        connection.await;
                        drop(place);
                    });
                }
                // Out of file descriptors, most likely: others have to close first.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            _ = hup.recv() => reload(&flags, &setups, &ledger),
            _ = term.recv() => break,
            _ = int.recv() => break,
        }
    }
    drop(listener);
    draining.store(true, Ordering::Relaxed);
    let patience = setup.borrow().config.timeouts.drain();
    eprintln!("stc-gateway: draining {} connections", graceful.count());
    if tokio::time::timeout(patience, graceful.shutdown()).await.is_err() {
        eprintln!("stc-gateway: gave up on what was still under way after {patience:?}");
    }
    Ok(())
}

/// Takes the new configuration, or keeps the old one and says why. Addresses and the limit of connections stay.
fn reload(flags: &Flags, setups: &watch::Sender<Arc<Setup>>, ledger: &Arc<Ledger>) {
    let read = Config::load(flags).and_then(|config| Setup::new(config, ledger));
    ledger.reloaded(read.is_ok());
    match read {
        Ok(setup) => {
            setups.send_replace(Arc::new(setup));
            eprintln!("stc-gateway: configuration read again");
        }
        Err(why) => eprintln!("stc-gateway: configuration kept as it was: {why}"),
    }
}

fn connection(
    socket: TcpStream,
    peer: SocketAddr,
    setup: watch::Receiver<Arc<Setup>>,
    ledger: Arc<Ledger>,
    graceful: &GracefulShutdown,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let _ = socket.set_nodelay(true);
    let watcher = graceful.watcher();
    let open = Counted::new(ledger.clone(), |ledger| &ledger.connections);
    Box::pin(async move {
        let patience = setup.borrow().config.timeouts.request();
        let service = service_fn(move |request| respond(request, peer, setup.borrow().clone(), ledger.clone()));
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(patience);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(Duration::from_secs(30));
        let connection = builder.serve_connection(TokioIo::new(socket), service).into_owned();
        // A client that leaves or sends nonsense is its own affair.
        let _ = watcher.watch(connection).await;
        drop(open);
    })
}

async fn respond(
    mut request: Request<Incoming>,
    peer: SocketAddr,
    setup: Arc<Setup>,
    ledger: Arc<Ledger>,
) -> Result<Response<Guarded<TransformBody<ResponseBody>, UnderWay>>, Infallible> {
    let place = setup.requests.clone().acquire_owned().await;
    let under_way = (place, Counted::new(ledger.clone(), |ledger| &ledger.requests));
    request.extensions_mut().insert(Peer(peer));
    let (engine, forward) = match setup.route(request.uri().path()) {
        Some((engine, forward)) => (engine.clone(), Some(forward.clone())),
        None => (Engine::new(stc_gateway::Policy::default()), None),
    };
    let most = usize::try_from(setup.config.limits.request_bytes).unwrap_or(usize::MAX);
    let service = tower::service_fn(move |request| {
        let forward = forward.clone();
        async move {
            Ok::<_, Infallible>(match forward {
                Some(forward) => forward.send(request).await,
                None => answer(StatusCode::NOT_FOUND, "no route"),
            })
        }
    });
    let layered = TransformLayer::with_engine(engine).layer(service);
    let response = layered.oneshot(request.map(|body| Limited::new(body, most))).await;
    response.map(|response| {
        ledger.responded(response.status());
        response.map(|body| Guarded::new(body, under_way))
    })
}

/// A place among the requests under way, and the count of them.
type UnderWay = (Result<OwnedSemaphorePermit, AcquireError>, Counted);

/// One more while it lives.
struct Counted {
    ledger: Arc<Ledger>,
    which: fn(&Ledger) -> &AtomicU64,
}

impl Counted {
    fn new(ledger: Arc<Ledger>, which: fn(&Ledger) -> &AtomicU64) -> Self {
        which(&ledger).fetch_add(1, Ordering::Relaxed);
        Self { ledger, which }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.which)(&self.ledger).fetch_sub(1, Ordering::Relaxed);
    }
}
