//! Forwards one request to its upstream: hop-by-hop headers are removed, those of a proxy are added, everything else is
//! passed unchanged.

use crate::access::{Received, Upstream};
use crate::body::{RequestBody, ResponseBody};
use crate::config::{Limits, Timeouts};
use crate::metrics::timings::Timings;
use crate::metrics::{Failures, Metrics};
use crate::request_id::REQUEST_ID;
use crate::traces::request::{ClientSpan, Trace};
use crate::upstream::backends::{Backend, Backends, MCP_SESSION};
use crate::upstream::clients::{Clients, UpstreamClient};
use crate::upstream::collect::answer_to;
use crate::upstream::connections::{ClientError, Connections, Lent};
pub(crate) use crate::upstream::failed::{Failed, TOO_LONG};
use crate::upstream::failure::{Cause, Failure};
use crate::upstream::forwarded::{self, HostHeader, Peer, TrustedProxies};
use crate::upstream::idle::Idle;
use crate::upstream::tunnel::{self, ClientEnd, Hold};
use crate::upstream::upload::{Transfer, Upload};
use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode, Uri, Version};
use http_body::Body as _;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use std::pin::pin;
use std::sync::Arc;
use tokio::time::Instant;

/// Everything that a worker needs to forward the requests of one route.
pub(crate) struct Forward {
    pub(crate) clients: Clients,
    /// One per backend, in the same order; `None` for those with TLS.
    pub(crate) connections: Vec<Option<Arc<Connections>>>,
    pub(crate) backends: Arc<Backends>,
    /// One per backend, in the same order.
    pub(crate) failures: Vec<Arc<Failures>>,
    pub(crate) host: HostHeader,
    pub(crate) trusted: Arc<TrustedProxies>,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) timings: Arc<Timings>,
}

/// A request ready to be sent, and what its response needs.
struct Prepared {
    /// Without the backend's URL.
    head: Parts,
    body: RequestBody,
    received: Option<Received>,
    trace: Option<Trace>,
    request_id: Option<HeaderValue>,
    /// The client's end of a tunnel, if the request asks for one.
    tunnel: Option<ClientEnd>,
}

/// The most backends that one request is sent to.
const ATTEMPTS: usize = 3;

impl Forward {
    /// Forwards a request. If its backend cannot be reached, or closes the connection although the request can be repeated, it
    /// goes to another.
    pub(crate) async fn send(
        &self,
        request: Request<RequestBody>,
        peer: &Peer,
    ) -> Result<Response<ResponseBody>, Failed> {
        let Prepared { head, mut body, received, trace, request_id, mut tunnel } = self.prepare(request, peer)?;
        let session = head.headers.get(MCP_SESSION).cloned();
        // An idempotent request without a body can be repeated, whatever became of it.
        let repeatable = head.method.is_idempotent() && body.is_end_stream();
        let mut tried = Vec::new();
        let mut answer = Failed(StatusCode::BAD_GATEWAY, "no backend is left");
        while let Some((place, backend)) = self.backends.choose(session.as_ref(), &tried) {
            let secure = self.host == HostHeader::Keep && backend.target.is_secure();
            let sender = match &self.connections[place] {
                Some(connections) if tunnel.is_none() => Sender::Connections(connections),
                _ => Sender::Client(self.clients.choose(secure || tunnel.is_some())),
            };
            // Spans name the URL.
            let absolute = matches!(sender, Sender::Client(_)) || trace.is_some();
            let upload = Upload::new(body, self.timeouts.receiving(&self.limits), received.clone());
            let unread = upload.unread();
            let mut sent = self.attempt(sender, request_for(&head, backend, upload, absolute)?, trace.as_ref()).await;
            if repeatable && matches!(&sent, Err(Trouble::Upstream(Failure { cause: Cause::Closed, .. }))) {
                // Perhaps a connection that was kept open for too long: a new one tells.
                let request = request_for(&head, backend, Upload::empty(), true)?;
                sent = self.attempt(Sender::Client(&self.clients.fresh), request, trace.as_ref()).await;
            }
            let failure = match sent {
                Ok(response) => match self.receive(
                    response,
                    (place, backend),
                    &head.headers,
                    &mut tunnel,
                    &request_id,
                    received.is_some(),
                ) {
                    Ok(response) => return Ok(response),
                    Err(failure) => failure,
                },
                Err(Trouble::Upstream(failure)) => failure,
                Err(Trouble::Client(failed)) => return Err(failed),
            };
            backend.failed();
            self.failures[place].note(&failure, request_id.as_ref());
            answer = failure.cause.answer();
            tried.push(place);
            body = match unread.take() {
                // Nothing was sent, so nothing is repeated.
                Some(unread) if failure.cause.is_before_request() => unread,
                _ if repeatable => RequestBody::Held(Full::default()),
                _ => break,
            };
            if tried.len() == ATTEMPTS {
                break;
            }
        }
        Err(answer)
    }

    /// Sends a request and waits for the head of the response. The time that a client takes to send its body does not count.
    async fn attempt(
        &self,
        sender: Sender<'_>,
        mut request: Request<Upload>,
        trace: Option<&Trace>,
    ) -> Result<Answered, Trouble> {
        let mut span = trace.map(|trace| trace.call(&mut request));
        let transfer: Transfer = request.body().transfer();
        let mut sent = pin!(sender.send(request));
        let began = Instant::now();
        let mut since = began;
        loop {
            match tokio::time::timeout_at(since + self.timeouts.response(), sent.as_mut()).await {
                Ok(Ok((response, lent))) => {
                    self.timings.answered(response.status(), began.elapsed());
                    if let Some(span) = &mut span {
                        span.answered(response.status());
                    }
                    return Ok(Answered { response, span, lent });
                }
                Ok(Err(error)) => return Err(Trouble::of(&error).traced(span)),
                Err(_) => match transfer.latest() {
                    Some(latest) if latest > since => since = latest,
                    _ => {
                        let failure = Failure::new(Cause::Timeout, "no head of a response");
                        return Err(Trouble::Upstream(failure).traced(span));
                    }
                },
            }
        }
    }

    fn prepare(&self, request: Request<RequestBody>, peer: &Peer) -> Result<Prepared, Failed> {
        let (mut parts, body) = request.into_parts();
        // A request with two lengths has one by now: hyper drops Content-Length beside Transfer-Encoding, and frames the
        // message anew, so the upstream cannot read another length than this program (RFC 9112, 6.3).
        let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > self.limits.request_bytes) {
            return Err(TOO_LONG);
        }
        let request_id = parts.headers.get(REQUEST_ID).cloned();
        let (mut tunnel, mut trailers) = (None, false);
        let hops = hop_by_hop(&parts.headers);
        if hops != 0 {
            let upgrade = tunnel::is_requested(&parts).then(|| parts.extensions.remove::<OnUpgrade>()).flatten();
            tunnel = upgrade.map(|upgrade| ClientEnd { upgrade, hold: parts.extensions.remove::<Hold>() });
            trailers = accepts_trailers(&parts.headers);
            remove_hop_by_hop(&mut parts.headers, hops);
        }
        forwarded::forward(&mut parts, peer, &self.trusted, self.host)?;
        if tunnel.is_some() {
            tunnel::set_headers(&mut parts.headers);
        } else if trailers {
            parts.headers.insert(TE, HeaderValue::from_static("trailers"));
            parts.headers.insert(CONNECTION, HeaderValue::from_static("te"));
        }
        let received = parts.extensions.remove::<Received>();
        let trace = parts.extensions.remove::<Trace>();
        Ok(Prepared { head: parts, body, received, trace, request_id, tunnel })
    }

    fn receive(
        &self,
        Answered { mut response, span, lent }: Answered,
        (place, backend): (usize, &Arc<Backend>),
        request: &HeaderMap,
        tunnel: &mut Option<ClientEnd>,
        request_id: &Option<HeaderValue>,
        logged: bool,
    ) -> Result<Response<ResponseBody>, Failure> {
        backend.answered(response.status());
        if let Some(session) = response.headers().get(MCP_SESSION) {
            self.backends.remember(session, place);
        }
        let switches = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        let upstream = switches.then(|| hyper::upgrade::on(&mut response));
        let (mut parts, body) = response.into_parts();
        let hops = hop_by_hop(&parts.headers);
        if hops != 0 {
            remove_hop_by_hop(&mut parts.headers, hops);
        }
        forwarded::rewrite_references(&mut parts.headers, &backend.target, request);
        parts.version = Version::HTTP_11;
        if logged {
            parts.extensions.insert(Upstream(backend.name.clone()));
        }
        let body = match (upstream, tunnel.take()) {
            (None, _) => {
                let failures = self.failures[place].clone();
                ResponseBody::Passing(Idle::new(body, self.timeouts.idle(), failures, request_id.clone(), span, lent))
            }
            (Some(upstream), Some(client)) => {
                tunnel::set_headers(&mut parts.headers);
                tokio::spawn(tunnel::run(client, upstream, self.timeouts.idle(), self.metrics.clone()));
                ResponseBody::whole("")
            }
            (Some(_), None) => {
                if let Some(mut span) = span {
                    span.failed(Cause::Malformed.name());
                }
                return Err(Failure::new(Cause::Malformed, "101 to a request without an upgrade"));
            }
        };
        Ok(Response::from_parts(parts, body))
    }
}

/// The head of a response, with the span of its call, and its connection if it is one of [`Connections`].
struct Answered {
    response: Response<Incoming>,
    span: Option<ClientSpan>,
    lent: Option<Lent>,
}

/// What sends a request.
#[derive(Clone, Copy)]
enum Sender<'a> {
    Connections(&'a Arc<Connections>),
    Client(&'a UpstreamClient),
}

impl Sender<'_> {
    async fn send(self, request: Request<Upload>) -> Result<(Response<Incoming>, Option<Lent>), ClientError> {
        match self {
            Self::Connections(connections) => {
                connections.request(request).await.map(|(response, lent)| (response, Some(lent)))
            }
            Self::Client(client) => {
                let response = client.request(request).await.map_err(ClientError::General)?;
                Ok((response, None))
            }
        }
    }
}

/// Creates the request to a backend, with a whole URL or its path only.
fn request_for(head: &Parts, backend: &Backend, body: Upload, absolute: bool) -> Result<Request<Upload>, Failed> {
    let mut request = Request::new(body);
    *request.method_mut() = head.method.clone();
    let target = &backend.target;
    let url = if absolute { target.url(&head.uri) } else { target.path(&head.uri).map(Uri::from) };
    *request.uri_mut() = url.ok_or(Failed(StatusCode::BAD_REQUEST, "not a path"))?;
    *request.headers_mut() = head.headers.clone();
    Ok(request)
}

/// Why there is no response.
enum Trouble {
    Upstream(Failure),
    /// The client's own fault, with the answer to it.
    Client(Failed),
}

impl Trouble {
    fn of(failed: &ClientError) -> Self {
        answer_to(failed.inner()).map_or_else(|| Self::Upstream(Failure::of(failed)), Self::Client)
    }

    /// Ends the span of the call with its cause.
    fn traced(self, span: Option<ClientSpan>) -> Self {
        if let (Self::Upstream(failure), Some(mut span)) = (&self, span) {
            span.failed(failure.cause.name());
        }
        self
    }
}

impl Failed {
    /// Creates the response.
    pub(crate) fn answer(self) -> Response<ResponseBody> {
        let body = serde_json::json!({"error": self.1}).to_string();
        let mut response = Response::new(ResponseBody::whole(body));
        *response.status_mut() = self.0;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// Returns whether a client accepts trailers over HTTP/1.
pub(crate) fn accepts_trailers(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(TE).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|coding| coding.trim().eq_ignore_ascii_case("trailers"))
}

/// The headers of one connection.
pub(crate) static HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Returns which headers of [`HOP_BY_HOP`] a head has, a bit each; most have none or one. A `match` of texts compares lengths first.
pub(crate) fn hop_by_hop(headers: &HeaderMap) -> u8 {
    headers.keys().fold(0, |found, name| {
        let place = match name.as_str() {
            "connection" => 0,
            "proxy-authenticate" => 1,
            "proxy-authorization" => 2,
            "te" => 3,
            "transfer-encoding" => 4,
            "upgrade" => 5,
            "keep-alive" => 6,
            "proxy-connection" => 7,
            _ => return found,
        };
        found | 1 << place
    })
}

/// Removes the hop-by-hop headers that were found, and those that `Connection` names (RFC 9110, 7.6.1).
fn remove_hop_by_hop(headers: &mut HeaderMap, found: u8) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(str::trim)
        // These two name nothing else.
        .filter(|name| !name.eq_ignore_ascii_case("keep-alive") && !name.eq_ignore_ascii_case("close"))
        .filter_map(|name| name.parse().ok())
        .collect();
    let found = HOP_BY_HOP.iter().enumerate().filter(|(place, _)| found >> place & 1 == 1).map(|(_, name)| name);
    for name in named.iter().chain(found) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hop_by_hop_header_has_its_bit() {
        for (place, name) in HOP_BY_HOP.iter().enumerate() {
            let mut headers = HeaderMap::new();
            headers.insert("x-else", HeaderValue::from_static("7"));
            assert_eq!(hop_by_hop(&headers), 0);
            headers.insert(name, HeaderValue::from_static("x"));
            assert_eq!(hop_by_hop(&headers), 1 << place, "{name}");
        }
    }

    #[test]
    fn hop_by_hop_headers_are_removed() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Secret"),
            ("x-secret", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("te", "trailers"),
            ("upgrade", "websocket"),
            ("proxy-authorization", "x"),
            ("x-else", "7"),
        ] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let found = hop_by_hop(&headers);
        remove_hop_by_hop(&mut headers, found);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-else"]);
    }
}
