//! Forwards one request to its upstream: hop-by-hop headers are removed, everything else is passed unchanged.

use crate::body::{RequestBody, ResponseBody};
use crate::config::{Limits, Timeouts};
use crate::idle::Idle;
use crate::metrics::{Metrics, UpstreamFailure};
use crate::request_id::REQUEST_ID;
use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, Request, Response, StatusCode, Uri, Version};
use http_body_util::LengthLimitError;
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

pub(crate) type UpstreamClient = Client<HttpsConnector<HttpConnector>, RequestBody>;

/// The client's address.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Everything needed to forward requests to one upstream.
#[derive(Clone)]
pub(crate) struct Forward {
    pub(crate) client: UpstreamClient,
    pub(crate) upstream: Uri,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) metrics: Arc<Metrics>,
}

/// Creates a client for all upstreams: HTTP/1.1, or HTTP/2 if TLS negotiates it.
pub(crate) fn client(timeouts: &Timeouts, tls: &rustls::ClientConfig) -> UpstreamClient {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(timeouts.connect()));
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls.clone())
        .https_or_http()
        .enable_all_versions()
        .wrap_connector(http);
    Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector)
}

impl Forward {
    /// Forwards a request.
    pub(crate) async fn send(self, request: Request<RequestBody>) -> Result<Response<ResponseBody>, Failed> {
        let request_id = request.headers().get(REQUEST_ID).cloned();
        let request = self.prepare(request)?;
        let sent = tokio::time::timeout(self.timeouts.response(), self.client.request(request)).await;
        let failure = match sent {
            Ok(Ok(response)) => return Ok(self.receive(response, request_id)),
            Ok(Err(error)) if is_too_long(&error) => return Err(TOO_LONG),
            Ok(Err(_)) => UpstreamFailure::Unreachable,
            Err(_) => UpstreamFailure::Timeout,
        };
        self.metrics.failed(failure, request_id.as_ref());
        Err(match failure {
            UpstreamFailure::Timeout => Failed(StatusCode::GATEWAY_TIMEOUT, "the upstream took too long"),
            _ => Failed(StatusCode::BAD_GATEWAY, "the upstream is unreachable or closed the connection"),
        })
    }

    fn prepare(&self, request: Request<RequestBody>) -> Result<Request<RequestBody>, Failed> {
        let (mut parts, body) = request.into_parts();
        let headers = &mut parts.headers;
        // A request with two lengths has one by now: hyper drops Content-Length beside Transfer-Encoding, and frames the
        // message anew, so the upstream cannot read another length than this program (RFC 9112, 6.3).
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > self.limits.request_bytes) {
            return Err(TOO_LONG);
        }
        let host = headers.get(HOST).cloned();
        let host = host.or_else(|| parts.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok()));
        let peer = parts.extensions.get::<Peer>().copied();
        remove_hop_by_hop(headers);
        headers.remove(HOST);
        if let Some(host) = host {
            headers.insert(HeaderName::from_static("x-forwarded-host"), host);
        }
        if let Some(Peer(address)) = peer {
            let value = HeaderValue::try_from(address.ip().to_string()).expect("an address is visible ASCII");
            headers.append(HeaderName::from_static("x-forwarded-for"), value);
        }
        let mut uri = self.upstream.clone().into_parts();
        uri.path_and_query = parts.uri.path_and_query().cloned().or(uri.path_and_query);
        parts.uri = Uri::from_parts(uri).map_err(|_| Failed(StatusCode::BAD_REQUEST, "not a path"))?;
        parts.version = Version::HTTP_11;
        Ok(Request::from_parts(parts, body))
    }

    fn receive(&self, response: Response<Incoming>, request_id: Option<HeaderValue>) -> Response<ResponseBody> {
        let (mut parts, body) = response.into_parts();
        remove_hop_by_hop(&mut parts.headers);
        parts.version = Version::HTTP_11;
        let body = Idle::new(body, self.timeouts.idle(), self.metrics.clone(), request_id);
        Response::from_parts(parts, ResponseBody::Passing(body))
    }
}

/// The status and text of an answer when the upstream's response is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed(pub(crate) StatusCode, pub(crate) &'static str);

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
    let mut source = Some(error);
    while let Some(error) = source {
        if error.is::<LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
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
    for name in [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE] {
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
