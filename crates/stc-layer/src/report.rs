//! Reports for operators: one for each response to a client that opted in.

use crate::negotiate::Source;
use crate::{Format, Saved, Skip};
use http::StatusCode;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A receiver of reports, which counts or logs them.
pub trait Observer: Send + Sync {
    /// Receives a report: one for each body, and one for each message of a stream that contained JSON texts. The response
    /// waits for this call, so it should be quick.
    fn transformed(&self, report: &Report<'_>);

    /// Receives the content of a response that was converted: a whole body, or a message, before and after. An observer that
    /// shows or keeps any of it needs the operator's consent.
    fn converted(&self, report: &Report<'_>, before: &[u8], after: &[u8]) {
        let _ = (report, before, after);
    }
}

/// The tenant of a request, in its extensions: the layer's reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant(pub Arc<str>);

/// An observer of one request, in its extensions: it receives the reports on the response to that request, after the engine's
/// own observer.
#[derive(Clone)]
pub struct RequestObserver(pub Arc<dyn Observer>);

impl fmt::Debug for RequestObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestObserver")
    }
}

/// What happened to a response, without any of its content.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Where the client's preference was found.
    pub source: Source,
    /// The highest format that the client reads; `None` if it named an unknown one.
    pub asked: Option<Format>,
    /// The format that was sent; `None` if the response was sent unchanged.
    pub sent: Option<Format>,
    /// The protocol, which decides what part of a body is converted.
    pub protocol: Protocol,
    /// The path of the request. Untrusted input.
    pub path: &'a str,
    /// The request's `X-Request-Id`. Untrusted input.
    pub request_id: Option<&'a str>,
    /// The tool, if the request called exactly one. Untrusted input.
    pub tool: Option<&'a str>,
    /// The tenant, if the request has one.
    pub tenant: Option<&'a str>,
    /// The status of the response, if its body was read.
    pub status: Option<StatusCode>,
    /// The sizes before and after, or why the response was skipped.
    pub outcome: Result<Saved, Skip>,
    /// The time it took to decompress, encode and compare.
    pub took: Duration,
    /// The time since the request arrived.
    pub waited: Duration,
}

/// The protocol of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Whole bodies are converted.
    Rest,
    /// Texts inside JSON-RPC messages are converted.
    Mcp,
}
