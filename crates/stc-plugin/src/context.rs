//! What a plugin is given: one request, as far as it has come.
//!
//! Bodies are shared bytes: to hold one, or to put the original back, copies a pointer. They are reached by methods,
//! because each is there only in some phases and the context, not the plugin, has to know which.

use crate::Phase;
use bytes::Bytes;
use http::{Extensions, HeaderMap, Method, StatusCode};

/// One request on its way through the plugins.
#[derive(Clone, Debug)]
pub struct PluginContext {
    /// Whose traffic it is, once known.
    pub tenant: Option<String>,
    /// Who is calling, once known.
    pub user: Option<String>,
    /// The tool being called, when the protocol names one (MCP).
    pub tool: Option<String>,
    /// The method of the request.
    pub method: Method,
    /// The path of the request, without its query.
    pub path: String,
    /// The headers that came in, and go on to the upstream.
    pub request_headers: HeaderMap,
    /// The headers that go back. Empty until there is a response.
    pub response_headers: HeaderMap,
    /// The status that goes back, once there is one.
    pub status: Option<StatusCode>,
    /// What plugins leave for themselves, and for each other, for as long as this request lives.
    pub store: Extensions,
    pub(crate) phase: Phase,
    request_body: Option<Bytes>,
    response_body: Option<Bytes>,
}

impl PluginContext {
    /// A request that has just come.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            tenant: None,
            user: None,
            tool: None,
            method,
            path: path.into(),
            request_headers: HeaderMap::new(),
            response_headers: HeaderMap::new(),
            status: None,
            store: Extensions::new(),
            phase: Phase::PreAuth,
            request_body: None,
            response_body: None,
        }
    }

    /// The request's body: in [`Phase::PreUpstream`], when the gateway holds it; `None` elsewhere.
    #[must_use]
    pub fn request_body(&self) -> Option<&Bytes> {
        self.request_body.as_ref().filter(|_| self.phase.has_request_body())
    }

    /// The response's body: in [`Phase::PostUpstream`] and [`Phase::OnError`], when the gateway holds it; `None`
    /// elsewhere.
    #[must_use]
    pub fn response_body(&self) -> Option<&Bytes> {
        self.response_body.as_ref().filter(|_| self.phase.has_response_body())
    }

    /// Replaces the request's body. Does nothing, and says so with `false`, where there is none to see.
    pub fn replace_request_body(&mut self, body: impl Into<Bytes>) -> bool {
        let there = self.request_body().is_some();
        if there {
            self.request_body = Some(body.into());
        }
        there
    }

    /// Replaces the response's body. Does nothing, and says so with `false`, where there is none to see.
    pub fn replace_response_body(&mut self, body: impl Into<Bytes>) -> bool {
        let there = self.response_body().is_some();
        if there {
            self.response_body = Some(body.into());
        }
        there
    }

    /// For the gateway: the request's body to show, or `None` when it streams.
    pub fn hold_request_body(&mut self, body: Option<Bytes>) {
        self.request_body = body;
    }

    /// For the gateway: the response's body to show, or `None` when it streams.
    pub fn hold_response_body(&mut self, body: Option<Bytes>) {
        self.response_body = body;
    }

    /// For the gateway: the request's body as the plugins left it.
    pub fn take_request_body(&mut self) -> Option<Bytes> {
        self.request_body.take()
    }

    /// For the gateway: the response's body as the plugins left it.
    pub fn take_response_body(&mut self) -> Option<Bytes> {
        self.response_body.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_there_only_in_their_phases() {
        let mut context = PluginContext::new(Method::POST, "/");
        context.hold_request_body(Some(Bytes::from_static(b"in")));
        context.hold_response_body(Some(Bytes::from_static(b"out")));
        for phase in Phase::ALL {
            context.phase = phase;
            let request = context.request_body().is_some();
            let response = context.response_body().is_some();
            assert_eq!(request, phase == Phase::PreUpstream, "{phase:?}");
            assert_eq!(response, matches!(phase, Phase::PostUpstream | Phase::OnError), "{phase:?}");
            assert_eq!(context.replace_request_body("in"), request);
            assert_eq!(context.replace_response_body("out"), response);
        }
    }

    #[test]
    fn a_body_held_twice_is_one_allocation() {
        let body = Bytes::from(vec![7; 1 << 20]);
        let mut context = PluginContext::new(Method::GET, "/");
        context.hold_response_body(Some(body.clone()));
        context.phase = Phase::PostUpstream;
        let copy = context.clone();
        assert_eq!(copy.response_body().unwrap().as_ptr(), body.as_ptr());
    }
}
