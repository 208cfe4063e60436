//! A thin proxy for the tests with real clients: one upstream, the layer, nothing else.
//!
//! `cargo run -p stc-gateway --example proxy -- 127.0.0.1:8080 127.0.0.1:3101 [policy.toml]`. It prints the address it
//! listens on, so that a test can say port 0.

use bytes::Bytes;
use http::header::{CONNECTION, HOST, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use stc_gateway::{Overheard, Policy, TransformLayer};
use std::error::Error;
use tower::{Layer, service_fn};

/// What belongs to one connection and not to the message (RFC 9110, 7.6.1).
const HOP_BY_HOP: [HeaderName; 6] =
    [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, HeaderName::from_static("keep-alive")];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (listen, upstream, policy) = match arguments.as_slice() {
        [listen, upstream] => (listen, upstream, Policy::default()),
        [listen, upstream, policy] => (listen, upstream, toml::from_str(&std::fs::read_to_string(policy)?)?),
        _ => return Err("usage: proxy LISTEN UPSTREAM [POLICY.toml]".into()),
    };
    let listener = tokio::net::TcpListener::bind(listen).await?;
    println!("listening on {}", listener.local_addr()?);

    let client: Client<HttpConnector, Overheard<Incoming>> = Client::builder(TokioExecutor::new()).build_http();
    let upstream = upstream.clone();
    let forward = service_fn(move |request| forward(client.clone(), upstream.clone(), request));
    let service = TransformLayer::new(policy).layer(forward);
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
    }
}

type Body = http_body_util::combinators::BoxBody<Bytes, hyper::Error>;

async fn forward(
    client: Client<HttpConnector, Overheard<Incoming>>,
    upstream: String,
    request: Request<Overheard<Incoming>>,
) -> Result<Response<Body>, hyper::Error> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = format!("http://{upstream}{path}").parse::<Uri>().unwrap_or_default();
    without_hop_by_hop(&mut parts.headers);
    parts.headers.remove(HOST);
    match client.request(Request::from_parts(parts, body)).await {
        Ok(response) => {
            let (mut parts, body) = response.into_parts();
            without_hop_by_hop(&mut parts.headers);
            Ok(Response::from_parts(parts, body.boxed()))
        }
        Err(_) => {
            let mut response = Response::new(Full::new(Bytes::new()).map_err(|never| match never {}).boxed());
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            Ok(response)
        }
    }
}

fn without_hop_by_hop(headers: &mut HeaderMap) {
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}
