//! The sample upstream: REST at `/users` and others, MCP with JSON at `/mcp` and with events at `/mcp-events`, and a model.

use super::mcp;
use super::model;
use super::samples::SAMPLES;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;

/// Serves until the process ends.
pub(super) fn serve(listener: std::net::TcpListener) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("a socket");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
        loop {
            let Ok((socket, _)) = listener.accept().await else { continue };
            let _ = socket.set_nodelay(true);
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service_fn(respond)));
        }
    });
}

async fn respond(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    if let Some(sample) = SAMPLES.iter().find(|sample| sample.path == path) {
        return Ok(response(StatusCode::OK, "application/json", sample.json));
    }
    match path {
        model::REQUEST => return Ok(response(StatusCode::OK, "application/json", model::request())),
        model::SEEN => return Ok(response(StatusCode::OK, "application/json", model::seen())),
        _ => {}
    }
    if !matches!(path, "/mcp" | "/mcp-events" | model::CHAT) {
        let more = ["/mcp", "/mcp-events", model::REQUEST, model::CHAT, model::SEEN];
        let paths: Vec<_> = SAMPLES.iter().map(|sample| sample.path).chain(more).collect();
        return Ok(response(StatusCode::NOT_FOUND, "application/json", serde_json::json!({"try": paths}).to_string()));
    }
    if parts.method != Method::POST {
        return Ok(response(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "POST only\n"));
    }
    let Ok(body) = Limited::new(body, 1 << 20).collect().await else {
        return Ok(response(StatusCode::PAYLOAD_TOO_LARGE, "text/plain", "too long\n"));
    };
    if path == model::CHAT {
        return Ok(response(StatusCode::OK, "application/json", model::answer(body.to_bytes()).to_string()));
    }
    Ok(match mcp::answer(&body.to_bytes()) {
        None => response(StatusCode::ACCEPTED, "text/plain", ""),
        Some(answer) if path == "/mcp" => response(StatusCode::OK, "application/json", answer.to_string()),
        Some(answer) => response(StatusCode::OK, "text/event-stream", format!("event: message\ndata: {answer}\n\n")),
    })
}

fn response(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
