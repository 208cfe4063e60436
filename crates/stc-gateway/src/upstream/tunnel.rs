//! WebSocket tunnels: after an upgrade, bytes pass in both directions until one end closes or both are silent.

use crate::client::activity::InRequest;
use crate::client::permits::StreamPermit;
use crate::client::places::Place;
use crate::metrics::{Counted, Metrics};
use http::header::{CONNECTION, HeaderValue, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, Method, Version};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");

/// The buffer of one direction.
const TUNNEL_BUFFER: usize = 8 << 10;

/// What a tunnel holds until it ends, in an extension of its request.
#[derive(Clone)]
pub(crate) struct Hold {
    _held: Arc<HeldByTunnel>,
}

struct HeldByTunnel {
    _permit: StreamPermit,
    _in_request: InRequest,
    _place: Option<Arc<Place>>,
    _drain: watch::Receiver<()>,
}

impl Hold {
    /// Keeps the connection's place, that something is in progress on it, and that a worker that drains waits for it: the server's part
    /// of the connection ends at the upgrade.
    pub(crate) fn new(
        permit: StreamPermit,
        in_request: InRequest,
        place: Option<Arc<Place>>,
        drain: watch::Receiver<()>,
    ) -> Self {
        Self {
            _held: Arc::new(HeldByTunnel { _permit: permit, _in_request: in_request, _place: place, _drain: drain }),
        }
    }
}

/// The client's end of a tunnel.
pub(crate) struct ClientEnd {
    pub(crate) upgrade: OnUpgrade,
    pub(crate) hold: Option<Hold>,
}

/// Returns whether a request asks for a WebSocket. Other protocols are not tunnelled: `h2c` would let a client send the
/// upstream requests that this program does not see.
pub(crate) fn is_requested(parts: &Parts) -> bool {
    let has = |name, token: &str| {
        let lines = parts.headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).any(|element| element.trim().eq_ignore_ascii_case(token))
    };
    let get = parts.method == Method::GET && parts.version == Version::HTTP_11;
    get && has(CONNECTION, "upgrade") && parts.headers.get(UPGRADE).is_some_and(|protocol| protocol == WEBSOCKET)
}

/// Returns whether a request may ask for a WebSocket, also where the headers of the connection are gone already: its key stays.
pub(crate) fn may_be_requested(method: &Method, headers: &HeaderMap) -> bool {
    let is_websocket = |name: &HeaderValue| name.as_bytes().eq_ignore_ascii_case(b"websocket");
    let has_key = headers.contains_key("sec-websocket-key");
    method == Method::GET && (has_key || headers.get_all(UPGRADE).iter().any(is_websocket))
}

/// Sets the headers of an upgrade, which are hop-by-hop.
pub(crate) fn set_headers(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, WEBSOCKET);
}

/// Passes bytes between two upgraded connections. Ends after `limit` without a byte in either direction.
pub(crate) async fn run(client: ClientEnd, upstream: OnUpgrade, limit: Duration, metrics: Arc<Metrics>) {
    let ClientEnd { upgrade: client, hold: _hold } = client;
    let _open = Counted::new(&metrics, |metrics| &metrics.tunnels);
    let (Ok(client), Ok(upstream)) = tokio::join!(client, upstream) else { return };
    let moved = AtomicU64::new(0);
    let (from_client, to_client) = split(client);
    let (from_upstream, to_upstream) = split(upstream);
    // The end of one direction leaves the other open; an error ends both.
    let both = async {
        let _ = tokio::try_join!(pump(from_client, to_upstream, &moved), pump(from_upstream, to_client, &moved));
    };
    let silence = async {
        loop {
            let before = moved.load(Ordering::Relaxed);
            tokio::time::sleep(limit).await;
            if moved.load(Ordering::Relaxed) == before {
                return;
            }
        }
    };
    tokio::select! {
        () = both => {}
        () = silence => {}
    }
}

fn split(upgraded: Upgraded) -> (impl AsyncRead + Unpin, impl AsyncWrite + Unpin) {
    tokio::io::split(TokioIo::new(upgraded))
}

/// Passes bytes in one direction until the end or an error, and then ends the other side's input too.
async fn pump(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, moved: &AtomicU64) -> io::Result<()> {
    let mut buffer = vec![0; TUNNEL_BUFFER];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..count]).await?;
        moved.fetch_add(count as u64, Ordering::Relaxed);
    }
}
