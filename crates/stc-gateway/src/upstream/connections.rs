//! Connections to one backend that speaks HTTP/1.1 without TLS, kept open by a worker.
//!
//! The general client of [`clients`](crate::upstream::clients) does the same for TLS and HTTP/2, with a pool for all hosts: a key to hash,
//! a future in a box, and a choice between connections for each request.

use crate::upstream::target::Target;
use crate::upstream::upload::Upload;
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::client::legacy::connect::HttpConnector;
use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt;

/// The time after which a connection without requests is closed.
const LONGEST_IDLE: Duration = Duration::from_secs(90);

/// The connections of a worker to one backend.
pub(crate) struct Connections {
    connector: HttpConnector,
    url: Uri,
    /// The `Host` of requests that have none.
    host: HeaderValue,
    /// What is read from a connection, or waits to be written to it, in memory.
    buffer: usize,
    waiting: Mutex<Waiting>,
}

/// Connections without a request.
#[derive(Default)]
struct Waiting {
    /// With the times when they were given back, the latest last.
    connections: VecDeque<(Instant, SendRequest<Upload>)>,
    /// Whether a task closes those that wait for too long.
    is_swept: bool,
}

/// A connection in use. It is given back with the end of the response, and closed if it is dropped before.
pub(crate) struct Lent {
    connections: Arc<Connections>,
    connection: SendRequest<Upload>,
}

/// Why there is no response.
pub(crate) enum ClientError {
    /// No connection was made.
    Connect(Box<dyn Error + Send + Sync>),
    Exchange(hyper::Error),
    /// An error of the general client.
    General(hyper_util::client::legacy::Error),
}

impl ClientError {
    /// Returns the error of the library.
    pub(crate) fn inner(&self) -> &(dyn Error + 'static) {
        match self {
            Self::Connect(error) => &**error,
            Self::Exchange(error) => error,
            Self::General(error) => error,
        }
    }

    /// Returns whether no connection was made.
    pub(crate) fn is_connect(&self) -> bool {
        match self {
            Self::Connect(_) => true,
            Self::Exchange(_) => false,
            Self::General(error) => error.is_connect(),
        }
    }
}

impl Connections {
    /// Creates the connections to an upstream; `None` if it has TLS.
    pub(crate) fn new(target: &Target, connector: HttpConnector, buffer: usize) -> Option<Arc<Self>> {
        let url = target.root().filter(|_| !target.is_secure())?;
        let authority = url.authority()?;
        let host = authority.port_u16().filter(|port| *port == 80).map_or(authority.as_str(), |_| authority.host());
        let host = HeaderValue::from_str(host).ok()?;
        Some(Arc::new(Self { connector, url, host, buffer, waiting: Mutex::default() }))
    }

    /// Sends a request, on a connection that waits or on a new one.
    pub(crate) async fn request(
        self: &Arc<Self>,
        mut request: Request<Upload>,
    ) -> Result<(Response<Incoming>, Lent), ClientError> {
        if request.uri().authority().is_some() {
            let path = request.uri().path_and_query().cloned();
            *request.uri_mut() = path.unwrap_or(PathAndQuery::from_static("/")).into();
        }
        request.headers_mut().entry(HOST).or_insert_with(|| self.host.clone());
        loop {
            let (mut connection, is_new) = match self.take() {
                Some(connection) => (connection, false),
                // In a box, because most requests find a connection.
                None => (Box::pin(self.connect()).await?, true),
            };
            match connection.try_send_request(request).await {
                Ok(response) => return Ok((response, Lent { connections: self.clone(), connection })),
                Err(mut error) => match error.take_message() {
                    // The upstream closed the connection before anything was written to it.
                    Some(unsent) if !is_new => request = unsent,
                    _ => return Err(ClientError::Exchange(error.into_error())),
                },
            }
        }
    }

    /// Returns the connection that was used last, if it is still open.
    fn take(&self) -> Option<SendRequest<Upload>> {
        let mut waiting = self.waiting();
        while let Some((since, connection)) = waiting.connections.pop_back() {
            if connection.is_ready() && since.elapsed() < LONGEST_IDLE {
                return Some(connection);
            }
        }
        None
    }

    async fn connect(&self) -> Result<SendRequest<Upload>, ClientError> {
        let stream = self.connector.clone().oneshot(self.url.clone()).await;
        let stream = stream.map_err(|error| ClientError::Connect(error.into()))?;
        let made = http1::Builder::new().max_buf_size(self.buffer).handshake(stream).await;
        let (connection, driver) = made.map_err(ClientError::Exchange)?;
        // Errors reach the request in progress.
        tokio::spawn(async move { drop(driver.await) });
        Ok(connection)
    }

    fn put(self: &Arc<Self>, connection: SendRequest<Upload>) {
        let mut waiting = self.waiting();
        waiting.connections.push_back((Instant::now(), connection));
        if !std::mem::replace(&mut waiting.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Closes connections that have waited for too long; returns whether others are left.
    fn close_old(&self) -> bool {
        let mut waiting = self.waiting();
        waiting.connections.retain(|(since, connection)| since.elapsed() < LONGEST_IDLE && !connection.is_closed());
        waiting.is_swept = !waiting.connections.is_empty();
        waiting.is_swept
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes connections that wait for too long, until none is left.
async fn sweep(connections: Weak<Connections>) {
    loop {
        tokio::time::sleep(LONGEST_IDLE / 4).await;
        if !connections.upgrade().is_some_and(|connections| connections.close_old()) {
            return;
        }
    }
}

impl Lent {
    /// Gives the connection back after the end of a response. If its request is not written yet, it waits for that.
    pub(crate) fn give_back(self) {
        let Self { connections, mut connection } = self;
        if connection.is_ready() {
            connections.put(connection);
        } else if !connection.is_closed() {
            tokio::spawn(async move {
                if connection.ready().await.is_ok() {
                    connections.put(connection);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// An upstream that answers this many requests on each connection, and counts connections.
    async fn upstream(answers: usize) -> (Arc<Connections>, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(async move {
                    let mut head = [0; 1000];
                    for _ in 0..answers {
                        if socket.read(&mut head).await.unwrap_or(0) == 0 {
                            return;
                        }
                        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                    }
                });
            }
        });
        (Connections::new(&target, HttpConnector::new(), 64 << 10).unwrap(), count)
    }

    async fn exchange(connections: &Arc<Connections>) {
        let (response, lent) = connections.request(Request::new(Upload::empty())).await.ok().unwrap();
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "ok");
        lent.give_back();
    }

    fn waiting(connections: &Connections) -> usize {
        connections.waiting().connections.len()
    }

    #[tokio::test]
    async fn a_connection_is_used_again_until_it_has_waited_for_too_long() {
        let (connections, count) = upstream(9).await;
        for _ in 0..3 {
            exchange(&connections).await;
            while waiting(&connections) == 0 {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!((count.load(Ordering::Relaxed), waiting(&connections)), (1, 1));
        tokio::time::pause();
        tokio::time::advance(LONGEST_IDLE / 2).await;
        assert!(connections.close_old() && waiting(&connections) == 1);
        tokio::time::advance(LONGEST_IDLE).await;
        assert!(!connections.close_old() && waiting(&connections) == 0);
        tokio::time::resume();
        exchange(&connections).await;
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_closed_connection_is_replaced() {
        let (connections, count) = upstream(1).await;
        for number in 1..4 {
            exchange(&connections).await;
            assert_eq!(count.load(Ordering::Relaxed), number);
            // The upstream's end arrives: no request goes there.
            while connections.waiting().connections.iter().any(|(_, connection)| !connection.is_closed()) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    #[tokio::test]
    async fn a_response_that_is_given_up_closes_its_connection() {
        let (connections, count) = upstream(9).await;
        drop(connections.request(Request::new(Upload::empty())).await.ok().unwrap());
        exchange(&connections).await;
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn upstreams_with_tls_are_left_to_the_general_client() {
        let connections = |url: &str| Connections::new(&Target::parse(url).unwrap(), HttpConnector::new(), 1 << 16);
        assert!(connections("https://a").is_none());
        for (url, host) in
            [("http://a", "a"), ("http://a:80/b", "a"), ("http://a:81", "a:81"), ("http://[::1]:80", "[::1]")]
        {
            assert_eq!(connections(url).unwrap().host, host);
        }
    }
}
