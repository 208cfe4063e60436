//! STC in Traefik: an http-wasm middleware that converts whole JSON bodies for clients that opt in.
//!
//! The decisions, the headers and the conversion are those of `stc-layer`; this file moves heads and bodies between them and the host.
//! A response is buffered only if its client opted in. Messages of MCP and answers to HEAD stay as they are.

mod heads;

use http::{HeaderMap, Method, StatusCode};
use http_wasm_guest::host::{Request, Response, admin, feature, log};
use http_wasm_guest::{Guest, register};
use serde_json::Value;
use stc_layer::mcp::Calls;
use stc_layer::{Engine, Exchange, Plan, Policy};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// The level of errors in the host's log.
const ERROR: i32 = 2;
/// Requests whose response has not arrived; a host that opens more has lost their responses.
const MOST: usize = 1024;

struct Middleware {
    engine: Engine,
    /// The requests that opted in, by the number that the host returns with the response.
    open: RefCell<HashMap<i32, Exchange>>,
    last: Cell<i32>,
}

impl Middleware {
    /// Reads the head of a request; `None` if its response needs no attention.
    fn opened(&self, request: &Request) -> Option<Exchange> {
        let method = Method::from_bytes(&request.method()).ok()?;
        if method == Method::HEAD {
            return None;
        }
        let mut headers = heads::read(&request.header);
        let before = headers.clone();
        let uri = request.uri();
        let path = std::str::from_utf8(&uri).ok()?.split('?').next()?;
        let exchange = self.engine.open(&method, path, &mut headers).filter(|exchange| !exchange.is_mcp())?;
        heads::write(&request.header, &before, &headers);
        Some(exchange)
    }

    /// Keeps a request until its response, and returns its number.
    fn keep(&self, exchange: Exchange) -> i32 {
        let mut open = self.open.borrow_mut();
        if open.len() >= MOST {
            open.clear();
        }
        let number = self.last.get().wrapping_add(1).max(1);
        self.last.set(number);
        open.insert(number, exchange);
        number
    }

    /// Converts a response: changes the headers, and returns the new body if there is one.
    fn converted(
        &self,
        mut exchange: Exchange,
        status: StatusCode,
        headers: &mut HeaderMap,
        body: impl FnOnce() -> Vec<u8>,
    ) -> Option<Vec<u8>> {
        let engine = &self.engine;
        match engine.plan(&mut exchange, Calls::default, status, headers) {
            Plan::Whole(job) => engine.whole(&exchange, &job, headers, &body()).ok().map(Into::into),
            Plan::Skip(ask, skip) => {
                engine.skip(&exchange, ask, skip, headers);
                None
            }
            Plan::Agree => {
                engine.agree(&exchange, headers);
                None
            }
            Plan::Unknown => {
                engine.unknown(headers);
                None
            }
            Plan::Leave | Plan::Message(_) | Plan::Events(_) => None,
        }
    }
}

impl Guest for Middleware {
    fn handle_request(&self, request: &Request, _: &Response) -> (bool, i32) {
        let Some(exchange) = self.opened(request) else { return (true, 0) };
        // For this request alone: responses to all others pass without a copy.
        admin::enable(feature::BufferResponse);
        (true, self.keep(exchange))
    }

    fn handle_response(&self, number: i32, _: &Request, response: &Response, is_error: bool) {
        let Some(exchange) = self.open.borrow_mut().remove(&number) else { return };
        let status = u16::try_from(response.status()).ok().and_then(|status| StatusCode::from_u16(status).ok());
        let Some(status) = status.filter(|_| !is_error) else { return };
        let before = heads::read(&response.header);
        let mut headers = before.clone();
        let body = || {
            response.body.read_iter().fold(Vec::new(), |mut body, chunk| {
                body.extend_from_slice(&chunk);
                body
            })
        };
        let converted = self.converted(exchange, status, &mut headers, body);
        heads::write(&response.header, &before, &headers);
        if let Some(body) = converted {
            response.body.write(&body);
        }
    }
}

/// Returns the settings of the middleware, which have the names of stc-layer's policy; an error names the setting.
fn policy(config: &[u8]) -> Result<Policy, String> {
    let value: Value = match config.trim_ascii() {
        b"" => Value::Null,
        config => serde_json::from_slice(config).map_err(|error| error.to_string())?,
    };
    let read = |value: Value| match value {
        Value::Null => Ok(Policy::default()),
        value => serde_json::from_value::<Policy>(value),
    };
    // Some of Traefik's providers have numbers and booleans as strings.
    let policy = read(value.clone()).or_else(|_| read(unquoted(value))).map_err(|error| error.to_string())?;
    policy.check().map(|()| policy).map_err(str::to_owned)
}

/// Returns a value with strings that are numbers or booleans as such.
fn unquoted(value: Value) -> Value {
    match value {
        Value::String(text) => {
            let scalar =
                serde_json::from_str(&text).ok().filter(|value: &Value| value.is_number() || value.is_boolean());
            scalar.unwrap_or(Value::String(text))
        }
        Value::Array(values) => values.into_iter().map(unquoted).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, unquoted(value))).collect(),
        other => other,
    }
}

fn main() {
    match policy(&admin::config()) {
        Ok(policy) => {
            register(Middleware { engine: Engine::new(policy), open: RefCell::default(), last: Cell::new(0) });
        }
        Err(why) => {
            log::write(ERROR, format!("stc: {why}").as_bytes());
            // The host does not start a route whose middleware ends with an error.
            std::process::exit(1);
        }
    }
}
