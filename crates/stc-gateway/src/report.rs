//! What an operator can see of all this: one report for each response that was asked for in another format.

use crate::negotiate::Door;
use crate::transcode::Saved;
use crate::{Format, Skip};
use http::StatusCode;
use std::time::Duration;

/// Someone who counts or logs.
pub trait Observer: Send + Sync {
    /// Called once for a body, once for each message of a stream that had something to change. It is called on the path
    /// of the response: it should be quick.
    fn transformed(&self, report: &Report<'_>);
}

/// What became of a response, without a byte of its content.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// How it was asked for.
    pub door: Door,
    /// The most the client reads.
    pub asked: Format,
    /// The format it was sent in, if not as it came.
    pub sent: Option<Format>,
    /// Whether a whole body or texts inside messages.
    pub protocol: Protocol,
    /// The path of the request. It comes from outside.
    pub path: &'a str,
    /// The request's `X-Request-Id`, if it had one. It comes from outside.
    pub request_id: Option<&'a str>,
    /// The tool, if the request called exactly one. It comes from outside.
    pub tool: Option<&'a str>,
    /// The status of the response, where it got as far as its body.
    pub status: Option<StatusCode>,
    /// What it saved, or why not.
    pub outcome: Result<Saved, Skip>,
    /// The time it took to decompress, encode and compare.
    pub took: Duration,
}

/// What kind of exchange it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Whole bodies change.
    Rest,
    /// Texts inside JSON-RPC messages change.
    Mcp,
}
