//! What is decided about one response.

use crate::coding::Coding;
use crate::mcp::Calls;
use crate::negotiate::Ask;
use crate::qvalue::split;
use crate::report::Protocol;
use crate::{Format, Skip};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use std::time::Duration;

/// What to do with a response.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Send it unchanged: the client did not opt in, or there is nothing to convert.
    Leave,
    /// Send it unchanged, with headers that agree with those of the converted response: a 304 or a 206.
    Agree,
    /// Send it unchanged, with the reason in a header: the client named an unknown format.
    Unknown,
    /// Send it unchanged, with the reason in a header.
    Skip(Ask, Skip),
    /// Collect the body and pass it to [`Engine::whole`](crate::Engine::whole).
    Whole(Job),
    /// Collect the body and pass it to [`Engine::message`](crate::Engine::message).
    Message(Job),
    /// Pass the body to [`Engine::events`](crate::Engine::events) chunk by chunk.
    Events(Job),
}

/// The format of a converted response, in its extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent(pub Format);

/// The conversion of one body.
#[derive(Clone, Debug)]
pub struct Job {
    pub(crate) ask: Ask,
    pub(crate) format: Format,
    pub(crate) coding: Coding,
    /// The time that the decompression took, if the body was decompressed before.
    pub(crate) decompressed_in: Duration,
    pub(crate) calls: Calls,
    pub(crate) status: StatusCode,
    /// Whether the legend is added to the server's instructions.
    pub(crate) legend: bool,
}

impl Job {
    /// Returns what the client prefers.
    #[must_use]
    pub const fn ask(&self) -> Ask {
        self.ask
    }
}

/// The kind of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Events,
}

impl Kind {
    pub(crate) fn of(headers: &HeaderMap, protocol: Protocol) -> Result<Self, Skip> {
        let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/stc+json" | "text/toon" => Err(Skip::Encoded),
            "text/event-stream" if protocol == Protocol::Mcp => Ok(Self::Events),
            "application/json" | "text/json" => Ok(Self::Json),
            other if other.ends_with("+json") => Ok(Self::Json),
            _ => Err(Skip::NotJson),
        }
    }
}

/// Returns whether `Cache-Control` forbids another form of the body.
pub(crate) fn no_transform(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(CACHE_CONTROL).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| split(line, b',')).any(|directive| directive.eq_ignore_ascii_case("no-transform"))
}
