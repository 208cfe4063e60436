//! When a plugin is asked, and what it may answer.

use bytes::Bytes;
use http::StatusCode;

/// A moment in the life of a request, in the order they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The head of the request has come; nobody knows yet who is calling.
    PreAuth,
    /// The tenant and the user are known.
    PostAuth,
    /// The request is about to go out. The request body may be read and replaced here, and only here.
    PreUpstream,
    /// The response has come. The response body may be read and replaced here.
    PostUpstream,
    /// There is no response, or it is an error of the gateway's own. Its body may be read and replaced.
    OnError,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 5] = [Self::PreAuth, Self::PostAuth, Self::PreUpstream, Self::PostUpstream, Self::OnError];

    /// Whether the request's body is there to see.
    #[must_use]
    pub const fn has_request_body(self) -> bool {
        matches!(self, Self::PreUpstream)
    }

    /// Whether the response's body is there to see.
    #[must_use]
    pub const fn has_response_body(self) -> bool {
        matches!(self, Self::PostUpstream | Self::OnError)
    }
}

/// What a plugin answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// On to the next plugin.
    Continue,
    /// The request ends here, with this answer. No plugin after this one is asked.
    Terminate {
        /// The status to send.
        status: StatusCode,
        /// The body to send.
        body: Bytes,
    },
}
