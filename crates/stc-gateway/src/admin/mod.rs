//! The admin address, for operators and their monitoring: health, readiness, metrics, and the page.

pub(crate) mod compare;
pub(crate) mod entrance;
pub(crate) mod page;

use crate::admin::compare::compare;
use crate::admin::entrance::{CHALLENGE, Closed, Entrance};
use crate::admin::page::state;
use crate::client::opening::Opening;
use crate::client::pace::Pace;
use crate::client::permits::Permits;
use crate::client::socket::Socket;
use crate::config::Sample;
use crate::context::inspect::{self, inspect};
use crate::metrics::Metrics;
use crate::metrics::prometheus;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// Connections open at once; the next waits to be accepted.
const CONNECTIONS: usize = 256;

/// The page loads only what this address serves, and no inline script or style.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// The time for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How fast an operator's client must read.
const PACE: Pace = Pace { period: Duration::from_secs(10), rate: 0 };

/// What the admin address reports on.
#[derive(Clone)]
pub(crate) struct Reported {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) draining: Arc<AtomicBool>,
    /// The permits of the current configuration.
    pub(crate) permits: watch::Receiver<Arc<Permits>>,
    pub(crate) entrance: Arc<Entrance>,
    /// What a million tokens cost, by name.
    pub(crate) prices: Arc<BTreeMap<String, f64>>,
    /// What sends sample traffic, in the demo.
    pub(crate) sample: Option<Sample>,
}

impl Reported {
    fn draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Returns why the program should get no traffic, or `None` if it is ready.
    fn unready(&self) -> Option<&'static str> {
        match () {
            () if self.draining() => Some("draining\n"),
            () if self.permits.borrow().saturated() => Some("saturated\n"),
            () => None,
        }
    }
}

/// Serves as long as the program runs, also while it drains.
pub(crate) async fn serve(listener: TcpListener, reported: Reported) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = places.clone().acquire_owned().await;
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let socket = Opening::new(Socket::new(socket, PACE, Arc::default(), reported.metrics.clone()), HEAD_TIME);
        let reported = reported.clone();
        let service = service_fn(move |request| respond(request, reported.clone()));
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
        let connection = builder.serve_connection(TokioIo::new(socket), service);
        tokio::spawn(async move {
            let _ = connection.await;
            drop(place);
        });
    }
}

async fn respond(request: Request<Incoming>, reported: Reported) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    // Probes have no credentials, and say nothing that needs them.
    if !matches!(parts.uri.path(), "/healthz" | "/readyz")
        && let Err(closed) = reported.entrance.check(&parts)
    {
        let mut response = answer(closed.status(), TEXT, closed.text());
        if closed == Closed::Token {
            response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
        }
        return Ok(response);
    }
    Ok(match (&parts.method, parts.uri.path()) {
        (&Method::POST, "/compare") => worked(body, compare::LONGEST_COMPARED, compare).await,
        (&Method::POST, "/context") => worked(body, inspect::LONGEST_INSPECTED, inspect).await,
        (&Method::POST, "/sample") if reported.sample.is_some() => sample(reported.sample.as_ref()),
        (&Method::GET | &Method::HEAD, path) => look(path, &reported),
        _ => answer(StatusCode::METHOD_NOT_ALLOWED, TEXT, "GET only\n"),
    })
}

fn look(path: &str, reported: &Reported) -> Response<Full<Bytes>> {
    let (status, kind, text) = match path {
        "/" => (StatusCode::OK, "text/html; charset=utf-8", Bytes::from_static(page::HTML)),
        "/page.css" => (StatusCode::OK, "text/css; charset=utf-8", Bytes::from_static(page::CSS)),
        "/page.js" => (StatusCode::OK, "text/javascript; charset=utf-8", Bytes::from_static(page::SCRIPT)),
        "/state" => (
            StatusCode::OK,
            JSON,
            state(&reported.metrics, reported.draining(), &reported.prices, reported.sample.is_some())
                .to_string()
                .into(),
        ),
        "/healthz" => (StatusCode::OK, TEXT, "alive\n".into()),
        "/readyz" => match reported.unready() {
            Some(why) => (StatusCode::SERVICE_UNAVAILABLE, TEXT, why.into()),
            None => (StatusCode::OK, TEXT, "ready\n".into()),
        },
        "/metrics" => {
            let text = prometheus::render(&reported.metrics, &reported.permits.borrow());
            (StatusCode::OK, "text/plain; version=0.0.4", text.into())
        }
        _ => (StatusCode::NOT_FOUND, TEXT, "/, /healthz, /readyz, /metrics\n".into()),
    };
    answer(status, kind, text)
}

/// Lets the demo send its sample traffic.
fn sample(sample: Option<&Sample>) -> Response<Full<Bytes>> {
    match sample.is_some_and(|sample| sample.try_send(()).is_ok()) {
        true => answer(StatusCode::ACCEPTED, TEXT, "sending\n"),
        false => answer(StatusCode::TOO_MANY_REQUESTS, TEXT, "still sending\n"),
    }
}

/// Answers with what `work` returns for the request's body. Nothing is kept.
async fn worked(
    body: Incoming,
    most: usize,
    work: fn(&[u8]) -> Result<serde_json::Value, String>,
) -> Response<Full<Bytes>> {
    let Ok(text) = Limited::new(body, most).collect().await else {
        let why = serde_json::json!({"error": "more than 1 MiB"}).to_string();
        return answer(StatusCode::PAYLOAD_TOO_LARGE, JSON, why);
    };
    let text = text.to_bytes();
    // On another thread, because this one accepts connections.
    match tokio::task::spawn_blocking(move || work(&text)).await {
        Ok(Ok(compared)) => answer(StatusCode::OK, JSON, compared.to_string()),
        Ok(Err(why)) => answer(StatusCode::BAD_REQUEST, JSON, serde_json::json!({"error": why}).to_string()),
        Err(_) => answer(StatusCode::INTERNAL_SERVER_ERROR, TEXT, "this failed\n"),
    }
}

fn answer(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
