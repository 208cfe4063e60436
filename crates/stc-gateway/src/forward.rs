//! Forwards one request to its upstream: hop-by-hop headers are removed, those of a proxy are added, everything else is
//! passed unchanged.

use crate::body::{RequestBody, ResponseBody};
use crate::clients::Clients;
use crate::config::{Limits, Timeouts};
use crate::failure::{Cause, Failure, find_in};
use crate::forwarded::{self, HostHeader, TrustedProxies};
use crate::idle::Idle;
use crate::metrics::Metrics;
use crate::request_id::REQUEST_ID;
use crate::target::{Origin, Target};
use crate::tunnel;
use crate::upload::{Transfer, Upload, UploadError};
use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, Request, Response, StatusCode, Version};
use http_body::Body as _;
use http_body_util::LengthLimitError;
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use std::error::Error;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use tokio::time::Instant;

/// The client's address.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Everything needed to forward requests to one upstream.
#[derive(Clone)]
pub(crate) struct Forward {
    pub(crate) clients: Clients,
    pub(crate) target: Arc<Target>,
    pub(crate) host: HostHeader,
    pub(crate) trusted: Arc<TrustedProxies>,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) metrics: Arc<Metrics>,
}

/// A request ready to be sent, and what its response needs.
struct Prepared {
    request: Request<Upload>,
    origin: Origin,
    request_id: Option<HeaderValue>,
    /// The client's end of a tunnel, if the request asks for one.
    tunnel: Option<OnUpgrade>,
}

impl Forward {
    /// Forwards a request.
    pub(crate) async fn send(self, request: Request<RequestBody>) -> Result<Response<ResponseBody>, Failed> {
        let Prepared { request, origin, request_id, tunnel } = self.prepare(request)?;
        let client = self.clients.choose(self.host == HostHeader::Keep && self.target.is_secure() || tunnel.is_some());
        // An idempotent request without a body can be sent again, if the upstream closed a connection that was kept open.
        let spare = (request.method().is_idempotent() && request.body().is_end_stream()).then(|| self.copy(&request));
        let mut sent = self.attempt(client, request).await;
        if let (Err(Trouble::Upstream(Failure { cause: Cause::Closed, .. })), Some(spare)) = (&sent, spare) {
            sent = self.attempt(&self.clients.fresh, spare).await;
        }
        let failure = match sent {
            Ok(response) => match self.receive(response, &origin, tunnel, request_id.clone()) {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            },
            Err(Trouble::Upstream(failure)) => failure,
            Err(Trouble::Client(failed)) => return Err(failed),
        };
        self.metrics.failed(&failure, request_id.as_ref());
        Err(failure.cause.answer())
    }

    /// Sends a request and waits for the head of the response. The time that a client takes to send its body does not count.
    async fn attempt(
        &self,
        client: &crate::clients::UpstreamClient,
        request: Request<Upload>,
    ) -> Result<Response<Incoming>, Trouble> {
        let transfer: Transfer = request.body().transfer();
        let mut sent = pin!(client.request(request));
        let mut since = Instant::now();
        loop {
            match tokio::time::timeout_at(since + self.timeouts.response(), sent.as_mut()).await {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(error)) => return Err(Trouble::of(&error)),
                Err(_) => match transfer.latest() {
                    Some(latest) if latest > since => since = latest,
                    _ => return Err(Trouble::Upstream(Failure::new(Cause::Timeout, "no head of a response"))),
                },
            }
        }
    }

    fn prepare(&self, request: Request<RequestBody>) -> Result<Prepared, Failed> {
        let (mut parts, body) = request.into_parts();
        // A request with two lengths has one by now: hyper drops Content-Length beside Transfer-Encoding, and frames the
        // message anew, so the upstream cannot read another length than this program (RFC 9112, 6.3).
        let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > self.limits.request_bytes) {
            return Err(TOO_LONG);
        }
        let request_id = parts.headers.get(REQUEST_ID).cloned();
        let tunnel = if tunnel::is_requested(&parts) { parts.extensions.remove::<OnUpgrade>() } else { None };
        let trailers = accepts_trailers(&parts.headers);
        remove_hop_by_hop(&mut parts.headers);
        let peer = parts.extensions.get::<Peer>().map_or(SocketAddr::from(([0, 0, 0, 0], 0)), |peer| peer.0);
        let origin = forwarded::forward(&mut parts, peer, &self.trusted, self.host)?;
        if tunnel.is_some() {
            tunnel::set_headers(&mut parts.headers);
        } else if trailers {
            parts.headers.insert(TE, HeaderValue::from_static("trailers"));
            parts.headers.insert(CONNECTION, HeaderValue::from_static("te"));
        }
        parts.uri = self.target.url(&parts.uri).ok_or(Failed(StatusCode::BAD_REQUEST, "not a path"))?;
        parts.version = Version::HTTP_11;
        let body = Upload::new(body, self.timeouts.receiving(&self.limits));
        Ok(Prepared { request: Request::from_parts(parts, body), origin, request_id, tunnel })
    }

    /// Copies a request without a body.
    fn copy(&self, request: &Request<Upload>) -> Request<Upload> {
        let mut copy = Request::new(Upload::empty(self.timeouts.receiving(&self.limits)));
        *copy.method_mut() = request.method().clone();
        *copy.uri_mut() = request.uri().clone();
        *copy.headers_mut() = request.headers().clone();
        copy
    }

    fn receive(
        &self,
        mut response: Response<Incoming>,
        origin: &Origin,
        tunnel: Option<OnUpgrade>,
        request_id: Option<HeaderValue>,
    ) -> Result<Response<ResponseBody>, Failure> {
        let switches = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        let upstream = switches.then(|| hyper::upgrade::on(&mut response));
        let (mut parts, body) = response.into_parts();
        remove_hop_by_hop(&mut parts.headers);
        forwarded::rewrite_references(&mut parts.headers, &self.target, origin);
        parts.version = Version::HTTP_11;
        let body = match (upstream, tunnel) {
            (None, _) => {
                let idle = Idle::new(body, self.timeouts.idle(), self.metrics.clone(), request_id);
                ResponseBody::Passing(idle)
            }
            (Some(upstream), Some(client)) => {
                tunnel::set_headers(&mut parts.headers);
                tokio::spawn(tunnel::run(client, upstream, self.timeouts.idle(), self.metrics.clone()));
                ResponseBody::whole("")
            }
            (Some(_), None) => return Err(Failure::new(Cause::Malformed, "101 to a request without an upgrade")),
        };
        Ok(Response::from_parts(parts, body))
    }
}

/// Why there is no response.
enum Trouble {
    Upstream(Failure),
    /// The client's own fault, with the answer to it.
    Client(Failed),
}

impl Trouble {
    fn of(error: &hyper_util::client::legacy::Error) -> Self {
        match find_in::<UploadError>(error) {
            _ if is_too_long(error) => Self::Client(TOO_LONG),
            Some(UploadError::TooSlow) => {
                Self::Client(Failed(StatusCode::REQUEST_TIMEOUT, "the request's body took too long"))
            }
            Some(UploadError::Incomplete(_)) => Self::Client(INCOMPLETE),
            None => Self::Upstream(Failure::of(error)),
        }
    }
}

/// The status and text of an answer when the upstream's response is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed(pub(crate) StatusCode, pub(crate) &'static str);

/// The answer to a request whose body ends early.
pub(crate) const INCOMPLETE: Failed = Failed(StatusCode::BAD_REQUEST, "the request's body is incomplete or malformed");

/// The answer to a request over the size limit.
pub(crate) const TOO_LONG: Failed = Failed(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long");

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

/// Returns whether an error is about a body over the size limit.
pub(crate) fn is_too_long(error: &(dyn Error + 'static)) -> bool {
    find_in::<LengthLimitError>(error).is_some()
}

/// Returns whether a client accepts trailers over HTTP/1.
fn accepts_trailers(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(TE).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|coding| coding.trim().eq_ignore_ascii_case("trailers"))
}

/// Removes hop-by-hop headers and those that `Connection` names (RFC 9110, 7.6.1).
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
    headers.remove("keep-alive");
    headers.remove("proxy-connection");
}

#[cfg(test)]
mod tests {
    use super::*;

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
        remove_hop_by_hop(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-else"]);
    }
}
