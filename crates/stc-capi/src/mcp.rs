//! Answers of an MCP server with their tool results as STC. The rules are those of stc-layer.

use std::mem::MaybeUninit;

use stc_layer::Policy;
use stc_layer::mcp::{Calls, convert};
use stc_wire::sse::Events;

use crate::error::{Error, Failure, Status};
use crate::handle::{Answer, boxed, guarded};
use crate::memory::{Bytes, input};
use crate::options::format;

/// The answer to one HTTP request of an MCP client, in chunks. Texts of tool results that are JSON and become shorter change, and
/// are marked; every other byte is the server's own.
pub struct Mcp {
    calls: Calls,
    policy: Policy,
    format: stc_layer::Format,
    body: Body,
    out: Vec<u8>,
}

/// What has arrived and was not sent.
enum Body {
    /// One message, which is converted at its end. A message that is too long is sent unchanged.
    Message(Vec<u8>),
    TooLong,
    /// A stream of messages, each of which is converted at the end of its event.
    Events(Events),
}

impl Mcp {
    fn new(request: &[u8], format: stc_layer::Format, is_events: bool) -> Self {
        let policy = Policy::default();
        let body = if is_events { Body::Events(Events::new(policy.max_bytes)) } else { Body::Message(Vec::new()) };
        Self { calls: Calls::read(&request.to_vec().into()), policy, format, body, out: Vec::new() }
    }

    fn push(&mut self, chunk: &[u8]) -> Bytes {
        let Self { calls, policy, format, body, out } = self;
        out.clear();
        match body {
            Body::Events(events) => {
                events.push(chunk, out, &mut |message| convert(message, calls, policy, *format));
            }
            Body::Message(held) if held.len() + chunk.len() <= policy.max_bytes => held.extend_from_slice(chunk),
            Body::Message(held) => {
                out.append(held);
                out.extend_from_slice(chunk);
                *body = Body::TooLong;
            }
            Body::TooLong => out.extend_from_slice(chunk),
        }
        Bytes::of(out)
    }

    fn finish(&mut self) -> Bytes {
        let Self { calls, policy, format, body, out } = self;
        out.clear();
        match body {
            Body::Events(events) => events.finish(out),
            Body::Message(held) => {
                let message = std::mem::take(held);
                *out = convert(&message, calls, policy, *format).unwrap_or(message);
            }
            Body::TooLong => {}
        }
        Bytes::of(out)
    }
}

/// Begins the answer to `request`, the body that the client sent. `events` is not 0 for an answer of the type text/event-stream.
/// Returns NULL if the format is unknown or JSON.
///
/// # Safety
///
/// `request` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_mcp_new(
    request: *const u8,
    len: usize,
    format: u32,
    events: u32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Option<Box<Mcp>> {
    // SAFETY: the caller's promise, passed on.
    let request = unsafe { input(request, len) };
    let new = || {
        let (request, format) = (request?, wire_format(format)?);
        guarded(|| Mcp::new(request, format, events != 0))
    };
    boxed(new(), error)
}

fn wire_format(number: u32) -> Result<stc_layer::Format, Failure> {
    match format(number)? {
        stc::Format::Stc1 => Ok(stc_layer::Format::Stc1),
        stc::Format::Stc2Labelled => Ok(stc_layer::Format::Stc2Labelled),
        stc::Format::Stc2 => Ok(stc_layer::Format::Stc2),
        _ => Err(Failure::Call(Status::UnknownFormat)),
    }
}

/// Takes the next chunk of the answer and returns what can be sent: `out` is valid until the next call with this handle. A message
/// is held until it is complete, an event until its blank line; what is longer than 8 MiB is returned unchanged.
///
/// # Safety
///
/// `chunk` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_mcp_push(
    mcp: Option<&mut Mcp>,
    chunk: *const u8,
    len: usize,
    out: Option<&mut MaybeUninit<Bytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    Answer { out, error }.write(|| {
        let mcp = mcp.ok_or(Failure::Call(Status::NullArgument))?;
        // SAFETY: the caller's promise, passed on.
        let chunk = unsafe { input(chunk, len) }?;
        guarded(|| mcp.push(chunk))
    })
}

/// Ends the answer and returns the rest of it.
#[unsafe(no_mangle)]
pub extern "C" fn stc_mcp_finish(
    mcp: Option<&mut Mcp>,
    out: Option<&mut MaybeUninit<Bytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    Answer { out, error }.write(|| {
        let mcp = mcp.ok_or(Failure::Call(Status::NullArgument))?;
        guarded(|| mcp.finish())
    })
}

/// Frees a handle and sets the variable to NULL, so that a second call does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn stc_mcp_free(mcp: Option<&mut Option<Box<Mcp>>>) {
    let _ = guarded(|| drop(mcp.and_then(Option::take)));
}
