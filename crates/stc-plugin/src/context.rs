//! The state of one request, as a plugin sees it.
//!
//! Bodies are shared bytes: a copy costs one pointer. They are read by methods, because each body is available in some
//! phases only, and the context knows in which.

use crate::Phase;
use bytes::Bytes;
use http::{Extensions, HeaderMap, Method, StatusCode};
use std::collections::BTreeSet;
use std::sync::Arc;

/// More names than these are any tool: each is compared with every condition, for every plugin.
const MOST_TOOLS: usize = 64;
/// The longest of them.
const LONGEST_TOOL: usize = 1024;

/// A request that passes through the plugins.
#[derive(Clone, Debug)]
pub struct PluginContext {
    /// The tenant, once known.
    pub tenant: Option<String>,
    /// The user, once known.
    pub user: Option<String>,
    /// The called tool, if the body calls exactly one (MCP).
    pub tool: Option<String>,
    /// The method of the request.
    pub method: Method,
    /// The path of the request, without its query.
    pub path: String,
    /// The headers of the request, which are forwarded to the upstream.
    pub request_headers: HeaderMap,
    /// The headers of the response. Empty until there is a response.
    pub response_headers: HeaderMap,
    /// The status of the response, once there is one.
    pub status: Option<StatusCode>,
    /// Values that plugins store for themselves and for each other during this request.
    pub store: Extensions,
    pub(crate) phase: Phase,
    /// The tools that may be called, beside `tool`; `None` for any.
    pub(crate) more_tools: Option<Arc<[String]>>,
    request_body: Option<Bytes>,
    response_body: Option<Bytes>,
}

impl PluginContext {
    /// Creates the context of a new request.
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
            more_tools: Some(Arc::default()),
            request_body: None,
            response_body: None,
        }
    }

    /// Returns the request's body in [`Phase::PreUpstream`], if the gateway holds it; `None` in other phases.
    #[must_use]
    pub fn request_body(&self) -> Option<&Bytes> {
        self.request_body.as_ref().filter(|_| self.phase.has_request_body())
    }

    /// Returns the response's body in [`Phase::PostUpstream`] and [`Phase::OnError`], if the gateway holds it; `None` in
    /// other phases.
    #[must_use]
    pub fn response_body(&self) -> Option<&Bytes> {
        self.response_body.as_ref().filter(|_| self.phase.has_response_body())
    }

    /// Replaces the request's body. Returns `false` and does nothing where there is no body to read.
    pub fn replace_request_body(&mut self, body: impl Into<Bytes>) -> bool {
        let there = self.request_body().is_some();
        if there {
            self.request_body = Some(body.into());
        }
        there
    }

    /// Replaces the response's body. Returns `false` and does nothing where there is no body to read.
    pub fn replace_response_body(&mut self, body: impl Into<Bytes>) -> bool {
        let there = self.response_body().is_some();
        if there {
            self.response_body = Some(body.into());
        }
        there
    }

    /// Sets the tools that the request may call, beside [`tool`](Self::tool): those of a batch, or `None` if they cannot be told. A
    /// condition on tools holds if one of them may be meant. More than 64 distinct names, or one of more than 1024 bytes, are taken for
    /// any tool. For the gateway.
    pub fn may_call(&mut self, tools: Option<Vec<String>>) {
        self.more_tools = tools.and_then(distinct);
    }

    /// Sets the request's body, or `None` if it is streamed. For the gateway.
    pub fn hold_request_body(&mut self, body: Option<Bytes>) {
        self.request_body = body;
    }

    /// Sets the response's body, or `None` if it is streamed. For the gateway.
    pub fn hold_response_body(&mut self, body: Option<Bytes>) {
        self.response_body = body;
    }

    /// Takes the request's body after the plugins. For the gateway.
    pub fn take_request_body(&mut self) -> Option<Bytes> {
        self.request_body.take()
    }

    /// Takes the response's body after the plugins. For the gateway.
    pub fn take_response_body(&mut self) -> Option<Bytes> {
        self.response_body.take()
    }
}

/// Returns each name once; `None` if there are too many or too long ones.
fn distinct(names: Vec<String>) -> Option<Arc<[String]>> {
    let mut distinct = BTreeSet::new();
    for name in names {
        if name.len() > LONGEST_TOOL {
            return None;
        }
        distinct.insert(name);
        if distinct.len() > MOST_TOOLS {
            return None;
        }
    }
    Some(distinct.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_count_once_and_many_are_any() {
        let mut context = PluginContext::new(Method::POST, "/");
        let mut kept = |names: Vec<String>| {
            context.may_call(Some(names));
            context.clone().more_tools.map(|tools| tools.len())
        };
        let numbered = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        assert_eq!(kept(Vec::new()), Some(0));
        assert_eq!(kept(vec!["a".to_owned(); 1_000_000]), Some(1));
        assert_eq!(kept(numbered(MOST_TOOLS)), Some(MOST_TOOLS));
        assert_eq!(kept(numbered(MOST_TOOLS + 1)), None);
        assert_eq!(kept(vec!["a".repeat(LONGEST_TOOL + 1)]), None);
        context.may_call(Some(vec!["a".to_owned()]));
        let copy = context.clone();
        assert!(
            Arc::ptr_eq(&copy.more_tools.unwrap(), context.more_tools.as_ref().unwrap()),
            "a copy costs one pointer"
        );
    }

    #[test]
    fn bodies_are_available_in_their_phases_only() {
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
