//! The phases of a request, and the outcomes of a plugin's call.

use bytes::Bytes;
use http::StatusCode;

/// A phase of a request, in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The head of the request has arrived; tenant and user are unknown.
    PreAuth,
    /// The tenant and the user are known.
    PostAuth,
    /// The request is about to be forwarded. Its body can be read and replaced in this phase only.
    PreUpstream,
    /// The response has arrived. Its body can be read and replaced.
    PostUpstream,
    /// The gateway answers with an error of its own. Its body can be read and replaced.
    OnError,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 5] = [Self::PreAuth, Self::PostAuth, Self::PreUpstream, Self::PostUpstream, Self::OnError];

    /// Returns whether the request's body is available.
    #[must_use]
    pub const fn has_request_body(self) -> bool {
        matches!(self, Self::PreUpstream)
    }

    /// Returns whether the response's body is available.
    #[must_use]
    pub const fn has_response_body(self) -> bool {
        matches!(self, Self::PostUpstream | Self::OnError)
    }
}

/// The outcome of a plugin's call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The next plugin runs.
    Continue,
    /// The request ends with this response. Later plugins do not run.
    Terminate {
        /// The status to send.
        status: StatusCode,
        /// The body to send.
        body: Bytes,
    },
}
