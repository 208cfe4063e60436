//! What the operator's machines ask: is it alive, may it have traffic, what did it do. On an address of its own.

use super::ledger::Ledger;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// Serves for as long as the program runs, a drain included.
pub(crate) async fn serve(listener: TcpListener, ledger: Arc<Ledger>, draining: Arc<AtomicBool>) {
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (ledger, draining) = (ledger.clone(), draining.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let response = respond(request.method(), request.uri().path(), &ledger, draining.load(Ordering::Relaxed));
            async move { Ok::<_, Infallible>(response) }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(10));
        tokio::spawn(builder.serve_connection(TokioIo::new(socket), service));
    }
}

fn respond(method: &Method, path: &str, ledger: &Ledger, draining: bool) -> Response<Full<Bytes>> {
    let (status, kind, text) = match path {
        _ if method != Method::GET && method != Method::HEAD => {
            (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "GET only\n".to_owned())
        }
        "/healthz" => (StatusCode::OK, "text/plain", "alive\n".to_owned()),
        "/readyz" if draining => (StatusCode::SERVICE_UNAVAILABLE, "text/plain", "draining\n".to_owned()),
        "/readyz" => (StatusCode::OK, "text/plain", "ready\n".to_owned()),
        "/metrics" => (StatusCode::OK, "text/plain; version=0.0.4", ledger.metrics()),
        _ => (StatusCode::NOT_FOUND, "text/plain", "/healthz, /readyz, /metrics\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
