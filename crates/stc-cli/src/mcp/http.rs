//! `stc mcp --url`: an MCP server that talks Streamable HTTP, for a client that talks through pipes.
//!
//! ```text
//! client ── stdin ──▶ a POST for each message ──────────────▶ server
//! client ◀─ stdout ── messages of the answers, texts converted ◀── server
//! client ◀─ stdout ── messages of a GET, which the server sends by itself ◀── server
//! ```
//!
//! Requests run at the same time, so that a slow tool delays no other. A request whose answer cannot be read is answered with an
//! error of JSON-RPC. At the end of the input, answers that are awaited are delivered, and the session is deleted.

use std::cell::RefCell;
use std::io::{self, Write};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use stc_layer::mcp::{Calls, convert};
use stc_layer::{Format, Policy};
use stc_wire::span;
use stc_wire::sse::Events;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, LocalSet};

use super::lines::{Line, lines};
use crate::failure::{Failure, named};

/// The longest message in bytes, in either direction.
const LONGEST_MESSAGE: usize = 64 << 20;
/// Messages of the client that wait for a connection.
const WAITING_MESSAGES: usize = 16;
/// The time until a stream of the server's own messages is opened again after its end.
const REOPEN_AFTER: Duration = Duration::from_secs(1);
/// The time that the end of a session may take.
const FAREWELL: Duration = Duration::from_secs(2);

const MCP_SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// Serves the client on stdin and stdout until it closes stdin.
pub(crate) fn run(url: &str, headers: &[String], policy: Policy, format: Format) -> Result<ExitCode, Failure> {
    let uri = url.parse::<Uri>().ok().filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    let uri = uri
        .filter(|uri| uri.host().is_some())
        .ok_or_else(|| Failure::Usage(format!("--url {url}: not the URL of a server")))?;
    let headers = headers.iter().map(|line| header(line)).collect::<Result<Vec<_>, _>>()?;
    let client = client(uri.scheme_str() == Some("https")).map_err(|why| Failure::Io { name: None, message: why })?;
    let headers = RefCell::new(headers.into_iter().collect());
    let server = Rc::new(Server { client, uri, headers, policy, format });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, serve(&server, requests()));
    Ok(ExitCode::SUCCESS)
}

fn header(line: &str) -> Result<(HeaderName, HeaderValue), Failure> {
    let parts = line.split_once(':').and_then(|(name, value)| {
        let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(value.trim()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    });
    // The line is not shown: it may have a key.
    parts.ok_or_else(|| Failure::Usage("--header: expected `NAME: VALUE`".to_owned()))
}

type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Returns the client; an error says what is wrong with the machine's certificates, which only a secure URL needs.
fn client(is_secure: bool) -> Result<HttpClient, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("TLS: {error}"))?;
    let roots = if is_secure {
        builder.with_native_roots().map_err(|error| format!("the machine's root certificates: {error}"))?
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty())
    };
    let tls = roots.with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

/// Reads the client's messages in a thread of their own: reading a pipe cannot be interrupted.
fn requests() -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(WAITING_MESSAGES);
    thread::spawn(move || {
        let read = lines(io::stdin().lock(), LONGEST_MESSAGE, |line| match line {
            Line::Whole(message) if message.trim_ascii().is_empty() => Ok(()),
            Line::Whole(message) => {
                let message = Bytes::copy_from_slice(message.trim_ascii());
                sender.blocking_send(message).map_err(|_| io::ErrorKind::BrokenPipe.into())
            }
            Line::Part(_) => Err(io::Error::other(format!("a message of more than {LONGEST_MESSAGE} bytes"))),
        });
        if let Err(error) = read {
            Failure::from(named("stdin", &error)).report();
        }
    });
    receiver
}

async fn serve(server: &Rc<Server>, mut requests: mpsc::Receiver<Bytes>) {
    let mut open = JoinSet::new();
    let mut listening = None;
    while let Some(message) = requests.recv().await {
        while open.try_join_next().is_some() {}
        if method(&message).as_deref() == Some("notifications/initialized") && listening.is_none() {
            // The server is ready; what it sends by itself arrives on a stream of its own.
            server.post(message).await;
            listening = Some(tokio::task::spawn_local(Rc::clone(server).listen()));
        } else {
            let server = Rc::clone(server);
            open.spawn_local(async move { server.post(message).await });
        }
    }
    open.join_all().await;
    if let Some(listening) = listening {
        listening.abort();
    }
    let _ = tokio::time::timeout(FAREWELL, server.end()).await;
}

/// The server, as the client sees it.
struct Server {
    client: HttpClient,
    uri: Uri,
    /// The headers of every request: those of the command line, the session and the version of the protocol.
    headers: RefCell<HeaderMap>,
    policy: Policy,
    format: Format,
}

impl Server {
    async fn request(&self, method: Method, accept: HeaderValue, body: Bytes) -> Result<Response<Incoming>, String> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.borrow().clone();
        request.headers_mut().insert(ACCEPT, accept);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.client.request(request).await.map_err(|error| described(&error))
    }

    /// Sends a message and delivers its answer.
    async fn post(&self, message: Bytes) {
        let calls = Calls::read(&message);
        let is_first = method(&message).as_deref() == Some("initialize");
        let answered = match self.request(Method::POST, BOTH, message.clone()).await {
            Ok(response) => {
                if let Some(session) = response.headers().get(MCP_SESSION).filter(|_| is_first) {
                    self.headers.borrow_mut().insert(MCP_SESSION, session.clone());
                }
                self.answer(response, &calls, is_first).await
            }
            Err(why) => Err(why),
        };
        if let Err(why) = answered {
            refuse(&message, &why);
        }
    }

    /// Delivers the messages of an answer.
    async fn answer(&self, response: Response<Incoming>, calls: &Calls, is_first: bool) -> Result<(), String> {
        let (status, kind) = (response.status(), media_type(response.headers()));
        if status.is_success() && kind == "text/event-stream" {
            return self.stream(response, calls, is_first).await;
        }
        let body =
            Limited::new(response.into_body(), LONGEST_MESSAGE).collect().await.map_err(|error| error.to_string())?;
        let body = body.to_bytes();
        // A server may explain an error status in a message of its own.
        let is_message =
            kind == "application/json" && stc::validate(&body).is_ok() && (status.is_success() || has_id(&body));
        if is_message {
            self.deliver(&body, calls, is_first);
        } else if !status.is_success() {
            return Err(format!("the server answered with the status {status}"));
        } else if !body.is_empty() {
            return Err(format!("the server answered with {kind:?}"));
        }
        Ok(())
    }

    /// Delivers the messages of a stream of events until its end.
    async fn stream(&self, response: Response<Incoming>, calls: &Calls, is_first: bool) -> Result<(), String> {
        let mut events = Events::new(LONGEST_MESSAGE);
        let mut body = response.into_body();
        let mut passed = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| described(&error))?;
            let Some(chunk) = frame.data_ref() else { continue };
            events.push(chunk, &mut passed, &mut |message| {
                // A server begins a stream with an event that has an id and no message, so that clients can resume it.
                if !message.trim_ascii().is_empty() {
                    self.deliver(message, calls, is_first);
                }
                None
            });
            passed.clear();
        }
        Ok(())
    }

    /// Writes a message as a line, with its tool results converted.
    fn deliver(&self, message: &[u8], calls: &Calls, is_first: bool) {
        if is_first && let Some(version) = protocol_version(message) {
            self.headers.borrow_mut().insert(PROTOCOL_VERSION, version);
        }
        let converted = convert(message, calls, &self.policy, self.format);
        write_line(converted.as_deref().unwrap_or(message));
    }

    /// Delivers what the server sends by itself, as long as it offers a stream.
    async fn listen(self: Rc<Self>) {
        while let Ok(response) = self.request(Method::GET, EVENTS, Bytes::new()).await {
            if response.status() != StatusCode::OK || media_type(response.headers()) != "text/event-stream" {
                return;
            }
            // A stream that breaks off is opened again; the server decides what it repeats.
            let _ = self.stream(response, &Calls::default(), false).await;
            tokio::time::sleep(REOPEN_AFTER).await;
        }
    }

    /// Deletes the session, if there is one.
    async fn end(&self) {
        let has_session = self.headers.borrow().contains_key(MCP_SESSION);
        if has_session {
            let _ = self.request(Method::DELETE, BOTH, Bytes::new()).await;
        }
    }
}

/// Answers every request of a message with an error; for notifications, stderr has the reason.
fn refuse(message: &[u8], why: &str) {
    let Some(document) = span::document(message) else { return };
    let one = [document.clone()];
    let messages: Vec<_> =
        if message[document.start] == b'[' { span::elements(message, document).collect() } else { one.to_vec() };
    let member = |one: &span::Span, key| span::member(message, one.clone(), key).map(|member| member.value);
    let mut is_answered = false;
    for one in messages.iter().filter(|one| member(one, "method").is_some()) {
        let Some(id) = member(one, "id") else { continue };
        is_answered = true;
        let reason = serde_json::Value::from(why);
        let error = format!(r#","error":{{"code":-32000,"message":{reason}}}}}"#);
        write_line(&[br#"{"jsonrpc":"2.0","id":"#, &message[id], error.as_bytes()].concat());
    }
    if !is_answered {
        Failure::Io { name: None, message: why.to_owned() }.report();
    }
}

/// Writes a message and a line feed. Line ends inside it are whitespace of JSON and become spaces: a message is one line.
fn write_line(message: &[u8]) {
    let mut line: Vec<u8> =
        message.trim_ascii().iter().map(|&byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }).collect();
    line.push(b'\n');
    let mut out = io::stdout().lock();
    // A client that has gone also closes stdin, which ends the program.
    let _ = out.write_all(&line).and_then(|()| out.flush());
}

fn method(message: &[u8]) -> Option<String> {
    let member = span::member(message, span::document(message)?, "method")?;
    span::string(message, &member.value).map(Into::into)
}

fn has_id(message: &[u8]) -> bool {
    span::document(message).is_some_and(|document| span::member(message, document, "id").is_some())
}

/// Returns the version of the protocol that a server has chosen.
fn protocol_version(message: &[u8]) -> Option<HeaderValue> {
    let result = span::member(message, span::document(message)?, "result")?;
    let version = span::member(message, result.value, "protocolVersion")?;
    HeaderValue::from_str(&span::string(message, &version.value)?).ok()
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns an error with its causes: hyper's own message says only where it happened.
fn described(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
