//! STC in a Pingora proxy: `stc-pingora LISTEN UPSTREAM`, as in `stc-pingora 127.0.0.1:8080 127.0.0.1:8081`.
//!
//! Whole JSON bodies become STC for clients that opt in, chunk by chunk, in the filter that Pingora calls for every chunk of a
//! response. Copy `conversion.rs` and the three filters into a proxy of your own.

mod conversion;
mod heads;

use async_trait::async_trait;
use bytes::Bytes;
use conversion::Conversion;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::prelude::{Error, ErrorType, HttpPeer, ProxyHttp, Result, Server, Session, http_proxy_service};
use stc_layer::{Engine, Exchange, Policy};
use std::time::Duration;

struct Proxy {
    upstream: String,
    engine: Engine,
}

/// What is known about one request.
#[derive(Default)]
struct Context {
    /// Set if the client opted in, until the head of the response arrives.
    exchange: Option<Exchange>,
    /// Set if the body is converted.
    conversion: Option<Conversion>,
}

#[async_trait]
impl ProxyHttp for Proxy {
    type CTX = Context;

    fn new_ctx(&self) -> Context {
        Context::default()
    }

    async fn upstream_peer(&self, _: &mut Session, _: &mut Context) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.upstream.as_str(), false, String::new())))
    }

    async fn upstream_request_filter(
        &self,
        _: &mut Session,
        request: &mut RequestHeader,
        context: &mut Context,
    ) -> Result<()> {
        context.exchange = heads::open(&self.engine, request)?;
        Ok(())
    }

    async fn response_filter(
        &self,
        _: &mut Session,
        response: &mut ResponseHeader,
        context: &mut Context,
    ) -> Result<()> {
        if let Some(exchange) = context.exchange.take() {
            context.conversion = heads::plan(&self.engine, exchange, response)?.map(Conversion::new);
        }
        Ok(())
    }

    fn response_body_filter(
        &self,
        _: &mut Session,
        body: &mut Option<Bytes>,
        is_last: bool,
        context: &mut Context,
    ) -> Result<Option<Duration>> {
        if let Some(conversion) = &mut context.conversion {
            let chunk = body.take().unwrap_or_default();
            // An error is answered with a status; after the head was sent, it ends the connection, and the body is not complete.
            let converted = conversion
                .push(&chunk, is_last)
                .map_err(|error| Error::explain(ErrorType::InternalError, format!("the body is not JSON: {error}")))?;
            *body = Some(converted);
        }
        Ok(None)
    }
}

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [listen, upstream] = arguments.as_slice() else {
        eprintln!("usage: stc-pingora LISTEN UPSTREAM");
        return std::process::ExitCode::from(2);
    };
    // Bodies are not held, so that their length has no limit.
    let engine = Engine::new(Policy { max_bytes: usize::MAX, ..Policy::default() });
    let mut server = Server::new(None).expect("the default configuration");
    server.bootstrap();
    let mut service = http_proxy_service(&server.configuration, Proxy { upstream: upstream.clone(), engine });
    service.add_tcp(listen);
    server.add_service(service);
    server.run_forever();
}
