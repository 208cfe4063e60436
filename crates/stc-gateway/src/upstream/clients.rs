//! The HTTP clients of a worker, which keep connections to upstreams open.

use crate::config::Timeouts;
use crate::upstream::connections::Connections;
use crate::upstream::target::Target;
use crate::upstream::upload::Upload;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::sync::Arc;

pub(crate) type UpstreamClient = Client<HttpsConnector<HttpConnector>, Upload>;

/// What is read from an upstream's connection, or waits to be written to it, in memory. Heads of responses must fit.
const UPSTREAM_BUFFER: usize = 64 << 10;

/// The clients of a worker. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Clients {
    connector: HttpConnector,
    /// HTTP/1.1, or HTTP/2 if TLS negotiates it.
    any: UpstreamClient,
    /// HTTP/1.1: for upgrades, and for a `Host` that differs from the URL, which HTTP/2 does not allow.
    http1: UpstreamClient,
    /// A new HTTP/1.1 connection for each request.
    pub(crate) fresh: UpstreamClient,
}

impl Clients {
    pub(crate) fn new(timeouts: &Timeouts, tls: &rustls::ClientConfig) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(timeouts.connect()));
        let builder = || hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http();
        let any = builder().enable_all_versions().wrap_connector(http.clone());
        let http1 = builder().enable_http1().wrap_connector(http.clone());
        let mut client = Client::builder(TokioExecutor::new());
        client
            .pool_timer(TokioTimer::new())
            .http1_max_buf_size(UPSTREAM_BUFFER)
            .http2_max_send_buf_size(UPSTREAM_BUFFER);
        client.http2_initial_stream_window_size(4 * UPSTREAM_BUFFER as u32);
        client.http2_initial_connection_window_size(16 * UPSTREAM_BUFFER as u32);
        Self {
            connector: http,
            any: client.build(any),
            http1: client.build(http1.clone()),
            fresh: client.pool_max_idle_per_host(0).build(http1),
        }
    }

    /// Creates the connections to a backend without TLS; `None` for one with it.
    pub(crate) fn keep(&self, target: &Target) -> Option<Arc<Connections>> {
        Connections::new(target, self.connector.clone(), UPSTREAM_BUFFER)
    }

    /// Returns a client that keeps connections open.
    pub(crate) const fn choose(&self, http1: bool) -> &UpstreamClient {
        if http1 { &self.http1 } else { &self.any }
    }
}
