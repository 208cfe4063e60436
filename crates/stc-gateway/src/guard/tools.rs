//! The MCP tools that can be called through a route. A call of another tool is answered here, and the server never sees it.
//!
//! The body is read strictly: a server must not find another tool in it than this program did. A key that occurs twice, or in
//! other letters (some parsers ignore case, and take the last), makes a message ambiguous, and an ambiguous one is rejected.
//! `tools/list` passes as it is: the list may come page by page and as events, and what protects is the check of the call.

use crate::body::{LONG_TO_PREPARE, RequestBody, ResponseBody};
use crate::client::memory::Purse;
use crate::client::pace::Pace;
use crate::pool::Threads;
use crate::upstream::collect;
use crate::upstream::failed::Failed;
use crate::upstream::tunnel;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, TRANSFER_ENCODING};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::Full;
use stc_layer::mcp::{self, Ambiguous, only};
use stc_layer::{Filter, Pool};
use stc_wire::span;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The longest body that is read for the names of tools.
const LONGEST_CALL: usize = 4 << 20;

/// JSON-RPC's code for parameters that are not valid, which MCP servers use for unknown tools.
const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC's code for a request that is not valid.
const INVALID_REQUEST: i32 = -32600;

/// Why a request is not forwarded.
pub(crate) enum Stop {
    /// It calls a tool that is not allowed, or may do so.
    Blocked(Box<Response<ResponseBody>>),
    /// Its body cannot be read.
    Failed(Failed),
}

/// The tools of a route.
pub(crate) struct Tools {
    allowed: Arc<Filter>,
    pool: Arc<Threads>,
}

impl Tools {
    pub(crate) fn new(allowed: Filter, pool: Arc<Threads>) -> Self {
        Self { allowed: Arc::new(allowed), pool }
    }

    /// Returns the request if every tool that it calls is allowed.
    pub(crate) async fn check(
        &self,
        request: Request<RequestBody>,
        pace: Pace,
        purse: &Purse,
    ) -> Result<Request<RequestBody>, Stop> {
        let (mut parts, body) = request.into_parts();
        if tunnel::may_be_requested(&parts.method, &parts.headers) {
            return Err(Stop::Failed(Failed(StatusCode::FORBIDDEN, "no WebSockets where tools are checked")));
        }
        if body.is_end_stream() {
            return Ok(Request::from_parts(parts, body));
        }
        let whole = collect(&parts, body, pace, purse).await.map_err(Stop::Failed)?;
        let named = self.named(&parts);
        let problem = if named.is_some() { named } else { self.found(&whole).await };
        if let Some(problem) = problem {
            return Err(Stop::Blocked(Box::new(problem.answer(&whole))));
        }
        parts.headers.remove(TRANSFER_ENCODING);
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(whole.len()));
        Ok(Request::from_parts(parts, RequestBody::Held(Full::new(whole))))
    }

    /// Returns what is wrong with the tool that a header names.
    fn named(&self, parts: &Parts) -> Option<Problem> {
        let is_call = parts.headers.get_all("mcp-method").iter().any(|method| method.as_bytes() == b"tools/call");
        let name = |name: &HeaderValue| String::from_utf8_lossy(name.as_bytes()).into_owned();
        let mut names = parts.headers.get_all("mcp-name").iter().filter(|_| is_call).map(name);
        names.find(|name| !self.allowed.admits(Some(name))).map(Problem::Tool)
    }

    /// Returns what is wrong with a body.
    async fn found(&self, body: &Bytes) -> Option<Problem> {
        if body.len() <= LONG_TO_PREPARE {
            return problem(&self.allowed, body);
        }
        let (send, receive) = tokio::sync::oneshot::channel();
        let (allowed, body, length) = (self.allowed.clone(), body.clone(), body.len());
        let _ticket = self.pool.queue(length, Box::new(move || drop(send.send(problem(&allowed, &body)))));
        // Only a defect drops the sender.
        receive.await.unwrap_or(Some(Problem::Ambiguous("the body could not be read")))
    }
}

/// Returns what is wrong with a body where these tools are allowed.
fn problem(allowed: &Filter, body: &[u8]) -> Option<Problem> {
    let mut blocked = None;
    let visit = |name: Cow<'_, str>| {
        if blocked.is_none() && !allowed.admits(Some(&name)) {
            blocked = Some(name.into_owned());
        }
        ControlFlow::Continue(())
    };
    match mcp::called(body, visit) {
        Ok(()) => blocked.map(Problem::Tool),
        Err(Ambiguous(why)) => Some(Problem::Ambiguous(why)),
    }
}

/// What is wrong with a request.
#[derive(Debug, PartialEq, Eq)]
enum Problem {
    Tool(String),
    Ambiguous(&'static str),
}

impl Problem {
    /// Creates a JSON-RPC error: status 200 with the id of the request and the name of the tool, or 400 if it is a batch or its id
    /// cannot be told; an answer with status 400 repeats nothing of the request.
    fn answer(self, body: &[u8]) -> Response<ResponseBody> {
        let object = span::document(body).filter(|document| body[document.start] == b'{');
        let id = object.and_then(|message| only(body, &message, "id").ok().flatten());
        let (status, id, code, message) = match (&self, id) {
            (Self::Tool(name), Some(id)) => {
                (StatusCode::OK, &body[id], INVALID_PARAMS, format!("the tool `{name}` is not allowed here"))
            }
            (Self::Tool(_), None) => {
                (StatusCode::BAD_REQUEST, &b"null"[..], INVALID_PARAMS, "a tool is not allowed here".to_owned())
            }
            (Self::Ambiguous(why), _) => (StatusCode::BAD_REQUEST, &b"null"[..], INVALID_REQUEST, (*why).to_owned()),
        };
        let error = serde_json::json!({"code": code, "message": message});
        let text = [br#"{"jsonrpc":"2.0","id":"#, id, br#","error":"#, error.to_string().as_bytes(), b"}"].concat();
        let mut response = Response::new(ResponseBody::whole(text));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// Collects a body of plain JSON.
async fn collect(parts: &Parts, body: RequestBody, pace: Pace, purse: &Purse) -> Result<Bytes, Failed> {
    let coded = |coding: &HeaderValue| !coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if parts.headers.get_all(CONTENT_ENCODING).iter().any(coded) {
        return Err(Failed(StatusCode::UNSUPPORTED_MEDIA_TYPE, "no content coding where tools are checked"));
    }
    collect::collect(body, pace, LONGEST_CALL, purse, &purse.hold()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> Option<Problem> {
        problem(&Filter::new(["list_*", "get"], ["list_secrets"]).unwrap(), body.as_bytes())
    }

    /// The pool finds in a long body what is found in a short one.
    #[tokio::test]
    async fn long_bodies_are_read_by_the_pool() {
        let tools = Tools::new(Filter::new(["get"], []).unwrap(), Threads::start(1).unwrap());
        for name in ["get", "rm"] {
            let arguments = "x".repeat(LONG_TO_PREPARE);
            let params = format!(r#"{{"arguments":"{arguments}","name":"{name}"}}"#);
            let body = Bytes::from(format!(r#"{{"method":"tools/call","params":{params}}}"#));
            assert_eq!(tools.found(&body).await, (name == "rm").then(|| Problem::Tool("rm".to_owned())));
        }
    }

    #[test]
    fn calls_of_allowed_tools_and_everything_else_pass() {
        for body in [
            r#"{"id":1,"method":"tools/call","params":{"name":"get"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"arguments":{"name":"rm"},"name":"list_users"}}"#,
            r#"[{"id":1,"method":"tools/call","params":{"name":"g\u0065t"}},{"method":"notifications/x"}]"#,
            r#"{"id":1,"method":"tools/list"}"#,
            r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"rm"}}}"#,
            r#"{"id":1,"result":{}}"#,
            "7",
        ] {
            assert_eq!(found(body), None, "{body}");
        }
    }

    #[test]
    fn other_calls_and_tricks_do_not() {
        let call = |params: &str| format!(r#"{{"id":1,"method":"tools/call","params":{params}}}"#);
        for body in [
            call(r#"{"name":"rm"}"#),
            call(r#"{"name":"list_secrets"}"#),
            call(r#"{"name":"r\u006d"}"#),
            format!("[{}]", call(r#"{"name":"rm"}"#)),
            r#"{"method":"tools\/call","params":{"name":"rm"}}"#.to_owned(),
        ] {
            assert!(matches!(found(&body), Some(Problem::Tool(_))), "{body}");
        }
        for body in [
            call(r#"{"name":"get","name":"rm"}"#),
            call(r#"{"name":"get","Name":"rm"}"#),
            call(r#"{"name":"get","n\u0061me":"rm"}"#),
            call(r#"{"name":7}"#),
            call("{}"),
            call("[\"rm\"]"),
            r#"{"id":1,"method":"ping","Method":"tools/call","params":{"name":"rm"}}"#.to_owned(),
            "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"get\"},\"param\u{17f}\":{\"name\":\"rm\"}}"
                .to_owned(),
            "{\"id\":1,".to_owned(),
            String::new(),
        ] {
            assert!(matches!(found(&body), Some(Problem::Ambiguous(_))), "{body}");
        }
    }
}
