//! A worker: one thread with its own connections.
//!
//! A client's connection stays on one worker, which has its own connections to upstreams: a request wakes no other core.
//! With a work-stealing runtime the same proxy served half to two thirds of the requests (1 KB to 256 KB).

use crate::client::activity::Activity;
use crate::client::https;
use crate::client::memory::ClientMemory;
use crate::client::opening::Opening;
use crate::client::pace::Pace;
use crate::client::permits::Connection;
use crate::client::places::Place;
use crate::client::socket::Socket;
use crate::client::streams::{LONGEST_FRAME, Streams};
use crate::config::Timeouts;
use crate::metrics::{Counted, Metrics};
use crate::respond::{Client, respond};
use crate::setup::Setup;
use crate::upstream::forwarded::Peer;
use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

/// What is read from a client, or waits to be written to it, in memory. Without a limit, hyper keeps up to 400 KiB in each
/// direction: with a thousand clients that do not read, more than a small container has.
const CLIENT_BUFFER: usize = 64 << 10;

/// How long a client has to notice that its HTTP/2 connection closes.
const TIME_TO_CLOSE: Duration = Duration::from_secs(5);

/// An accepted connection, with its place.
pub(crate) struct Accepted {
    pub(crate) socket: std::net::TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) place: Option<Place>,
}

/// A handle to a worker. When `connections` is dropped, the worker drains and ends.
pub(crate) struct Worker {
    pub(crate) connections: mpsc::UnboundedSender<Accepted>,
    pub(crate) setup: watch::Sender<Arc<Setup>>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts the thread of a worker.
    pub(crate) fn start(number: usize, setup: Setup, metrics: Arc<Metrics>) -> Result<Self, String> {
        let (connections, accepted) = mpsc::unbounded_channel();
        let (sender, setup) = watch::channel(Arc::new(setup));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("a worker: {error}"))?;
        let thread = std::thread::Builder::new()
            .name(format!("worker-{number}"))
            .spawn(move || runtime.block_on(work(accepted, setup, metrics)))
            .map_err(|error| format!("a worker: {error}"))?;
        Ok(Self { connections, setup: sender, thread })
    }

    /// Lets the worker finish its requests within `timeouts.drain` and end.
    fn stop(self) -> JoinHandle<()> {
        drop(self.connections);
        self.thread
    }
}

/// All workers. Connections are given to them in turn.
pub(crate) struct Workers {
    workers: Vec<Worker>,
    turn: usize,
}

impl Workers {
    pub(crate) const fn new(workers: Vec<Worker>) -> Self {
        Self { workers, turn: 0 }
    }

    /// Gives a connection to the next worker. A worker that has ended, which only a defect can cause, is replaced by what
    /// `start` returns.
    pub(crate) fn dispatch(
        &mut self,
        accepted: Accepted,
        metrics: &Metrics,
        start: impl Fn(usize) -> Result<Worker, String>,
    ) {
        self.turn = (self.turn + 1) % self.workers.len();
        let worker = &mut self.workers[self.turn];
        let Err(SendError(accepted)) = worker.connections.send(accepted) else { return };
        metrics.worker_ended();
        tracing::error!(target: "gateway", worker = self.turn, "a worker ended unexpectedly");
        eprintln!("stc-gateway: worker {} ended unexpectedly, its connections are lost; starting another", self.turn);
        match start(self.turn) {
            Ok(new) => {
                let _ = new.connections.send(accepted);
                *worker = new;
            }
            Err(why) => eprintln!("stc-gateway: worker {}: {why}", self.turn),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Worker> {
        self.workers.iter()
    }

    /// Lets all workers drain, and waits for each.
    pub(crate) fn drain(self) {
        let threads: Vec<_> = self.workers.into_iter().map(Worker::stop).collect();
        for thread in threads {
            let _ = thread.join();
        }
    }
}

async fn work(
    mut accepted: mpsc::UnboundedReceiver<Accepted>,
    setup: watch::Receiver<Arc<Setup>>,
    metrics: Arc<Metrics>,
) {
    let drain = watch::Sender::new(());
    while let Some(Accepted { socket, peer, place }) = accepted.recv().await {
        let Ok(socket) = TcpStream::from_std(socket) else { continue };
        tokio::spawn(connection(socket, peer, place, setup.clone(), metrics.clone(), drain.subscribe()));
    }
    let patience = setup.borrow().plan.config.timeouts.drain();
    drain.send_replace(());
    if timeout(patience, drain.closed()).await.is_err() {
        eprintln!("stc-gateway: gave up after {patience:?} on connections that were still in use");
    }
}

fn connection(
    socket: TcpStream,
    peer: SocketAddr,
    place: Option<Place>,
    setup: watch::Receiver<Arc<Setup>>,
    metrics: Arc<Metrics>,
    drain: watch::Receiver<()>,
) -> impl Future<Output = ()> + use<> {
    let open = Counted::new(&metrics, |metrics| &metrics.connections);
    async move {
        let (limits, timeouts, tls, memory) = {
            let plan = &setup.borrow().plan;
            let memory = ClientMemory::new(&plan.memory, peer.ip());
            (plan.config.limits, plan.config.timeouts, plan.https.clone(), memory)
        };
        let pace = timeouts.pace(&limits);
        let place = place.map(Arc::new);
        let activity = place.as_ref().map(|place| place.activity()).unwrap_or_default();
        let socket = Socket::new(socket, pace, activity.clone(), metrics.clone());
        let of = Peer::new(peer.ip(), tls.is_some());
        let connection = Connection::new(peer.ip());
        let drains = drain.clone();
        let client = |certificate| Client {
            peer: of,
            certificate,
            connection,
            memory,
            activity: activity.clone(),
            place,
            drain,
        };
        let serving = Serving { timeouts, pace, setup, metrics: metrics.clone(), drain: drains };
        match tls {
            None => serving.serve(socket, client(None)).await,
            // In a box, so that connections without TLS stay small.
            Some(tls) => {
                Box::pin(async {
                    tokio::select! {
                        biased;
                        accepted = https::accept(tls, socket, timeouts.request()) => {
                            if let Some((stream, certificate)) = accepted {
                                serving.serve(stream, client(certificate)).await;
                            }
                        }
                        () = activity.closed() => metrics.connection_evicted(),
                    }
                })
                .await;
            }
        }
        drop(open);
    }
}

/// What serves a connection.
struct Serving {
    timeouts: Timeouts,
    pace: Pace,
    setup: watch::Receiver<Arc<Setup>>,
    metrics: Arc<Metrics>,
    drain: watch::Receiver<()>,
}

impl Serving {
    /// Serves the requests of a connection until either end closes it.
    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, client: Client) {
        let Self { timeouts, pace, setup, metrics, mut drain } = self;
        let patience = timeouts.request();
        let mut builder = auto::Builder::new(Streams::new(pace, metrics.clone()));
        let client = Arc::new(client);
        let (of, evicted) = (client.clone(), metrics.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            // Here, and not in the future: HTTP/2 polls that in a task of its own, and the connection is not idle from now on.
            let in_request = client.activity.request();
            if request.version() == Version::HTTP_2 {
                client.activity.set_http2();
            }
            respond(request, in_request, client.clone(), setup.borrow().clone(), metrics.clone())
        });
        builder.http1().timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(CLIENT_BUFFER);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(Duration::from_secs(30))
            .max_send_buf_size(LONGEST_FRAME)
            .initial_stream_window_size(CLIENT_BUFFER as u32)
            .initial_connection_window_size(4 * CLIENT_BUFFER as u32);
        let stream = TokioIo::new(Opening::new(stream, patience));
        let mut connection = pin!(builder.serve_connection_with_upgrades(stream, service).into_owned());
        tokio::select! {
            // First, so that a request that has arrived is seen before the connection closes.
            biased;
            // Errors of a client end its connection only.
            _ = connection.as_mut() => {}
            _ = drain.changed() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
            () = of.activity.closed() => {
                evicted.connection_evicted();
                let permit = of.place.as_ref().and_then(|place| place.leave());
                // HTTP/1 has nothing to say on an idle connection but its end.
                if permit.is_some() && of.activity.is_http2() {
                    connection.as_mut().graceful_shutdown();
                    end_http2(connection, &of.activity, timeouts.drain()).await;
                }
            }
        }
    }
}

/// Ends an HTTP/2 connection that was idle and is in shutdown: the client gets a GOAWAY, and requests that it sent before it read that
/// are answered, for the time of a drain at most. A client that does not answer the GOAWAY is not waited for.
async fn end_http2(mut connection: Pin<&mut impl Future>, activity: &Activity, longest: Duration) {
    let end = async { while timeout(TIME_TO_CLOSE, connection.as_mut()).await.is_err() && !activity.is_idle() {} };
    let _ = timeout(longest, end).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::Catalogue;
    use crate::config::{Config, Flags};
    use crate::setup::Plan;
    use std::sync::atomic::Ordering;

    /// A client that does not answer the GOAWAY has as long as a request of its is in progress, and no longer than a drain.
    #[tokio::test(start_paused = true)]
    async fn a_connection_that_leaves_ends() {
        let longest = 10 * TIME_TO_CLOSE;
        let activity = Arc::new(Activity::default());
        let took = async || {
            let began = tokio::time::Instant::now();
            end_http2(pin!(std::future::pending::<()>()), &activity, longest).await;
            began.elapsed()
        };
        assert_eq!(took().await, TIME_TO_CLOSE);
        let _request = activity.request();
        assert_eq!(took().await, longest);
    }

    /// A connection for a worker that has ended goes to its replacement.
    #[tokio::test]
    async fn an_ended_worker_is_replaced() {
        let metrics = Arc::new(Metrics::new(crate::log::Lines::default(), Default::default()));
        let flags = Flags { upstream: Some("http://127.0.0.1:1".to_owned()), ..Flags::default() };
        let plan = Plan::new(Config::load(&flags).unwrap(), &Catalogue::builtin(), &metrics, None).await.unwrap();
        let plan = Arc::new(plan);
        let worker = |connections| {
            let setup = watch::channel(Arc::new(Setup::new(&plan, &metrics))).0;
            Worker { connections, setup, thread: std::thread::spawn(|| ()) }
        };
        let mut workers = Workers::new(vec![worker(mpsc::unbounded_channel().0)]);
        let (connections, mut received) = mpsc::unbounded_channel();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        for _ in 0..2 {
            let socket = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let peer = socket.local_addr().unwrap();
            let accepted = Accepted { socket, peer, place: None };
            workers.dispatch(accepted, &metrics, |_| Ok(worker(connections.clone())));
            assert_eq!(received.try_recv().map(|accepted| accepted.peer).ok(), Some(peer));
        }
        assert_eq!(metrics.workers_ended.load(Ordering::Relaxed), 1);
    }
}
