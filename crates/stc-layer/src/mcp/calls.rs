//! The calls of a request, read from its body.
//!
//! A response contains only an id; the tool's name and the client's extensions are in the request. The request is not
//! delayed: its frames are shared, and are read when the response arrives.

use crate::Format;
use crate::negotiate::{Ask, Source};
use bytes::Bytes;
use stc_wire::caller;
use stc_wire::span::{self, Span};
use std::collections::HashMap;

/// The identifier of the MCP extension, and the key of the mark in `_meta`.
pub const EXTENSION: &str = "io.stoa/stc";

/// The JSON-RPC requests of one HTTP body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    calls: Vec<Call>,
    /// The calls of each id.
    by_id: HashMap<Bytes, Vec<usize>>,
    /// Whether an extension names no format.
    asks_default: bool,
    /// The lowest format that an extension names.
    named: Option<Format>,
}

/// One JSON-RPC request.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    method: String,
    /// `params.name` of a `tools/call`.
    tool: Option<String>,
    /// Whether a program called the tool, by `params.caller` or `params._meta.caller`.
    is_for_program: bool,
}

impl Calls {
    /// Reads a body. What cannot be read is ignored.
    #[must_use]
    pub fn read(body: &Bytes) -> Self {
        let mut calls = Self::default();
        let Some(document) = span::document(body) else { return calls };
        if body[document.start] == b'[' {
            for message in span::elements(body, document) {
                calls.message(body, message);
            }
        } else {
            calls.message(body, document);
        }
        calls
    }

    /// Returns the preference in the extension; `default` if it names no format.
    #[must_use]
    pub fn ask(&self, default: Format) -> Option<Ask> {
        let default = self.asks_default.then_some(default);
        let format = [default, self.named].into_iter().flatten().min()?;
        Some(Ask { source: Source::Extension, format })
    }

    /// Returns the tool, if exactly one is called.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        let mut tools = self.calls.iter().filter_map(|call| call.tool.as_deref());
        tools.next().filter(|_| tools.next().is_none())
    }

    /// Returns whether a server's message answers one of the calls. A request of the server may have the same id and is no answer.
    #[must_use]
    pub fn are_answered_by(&self, message: &[u8]) -> bool {
        let Some(document) = span::document(message) else { return false };
        let answers = |one: Span| {
            let value = |key| span::member(message, one.clone(), key).map(|member| member.value);
            value("method").is_none() && value("id").is_some_and(|id| self.number(&message[id]).is_some())
        };
        if message[document.start] == b'[' {
            return span::elements(message, document).any(answers);
        }
        answers(document)
    }

    /// Returns the number of the first call that a response with this id may answer. Ids are compared as they were written.
    pub(crate) fn number(&self, id: &[u8]) -> Option<usize> {
        self.by_id.get(id)?.first().copied()
    }

    /// Returns the method of a call.
    pub(crate) fn method(&self, number: usize) -> &str {
        &self.calls[number].method
    }

    /// Returns the tool that a call names.
    pub(crate) fn tool_of(&self, number: usize) -> Option<&str> {
        self.calls[number].tool.as_deref()
    }

    /// Returns whether the result with this id stays: a program called the tool, or results of the tool do not change. Of two calls with
    /// one id it is not known which is answered.
    pub(crate) fn stays(&self, id: &[u8], converts: impl Fn(Option<&str>) -> bool) -> bool {
        let stays =
            |call: &Call| call.is_for_program || (call.method == "tools/call" && !converts(call.tool.as_deref()));
        self.by_id.get(id).into_iter().flatten().any(|number| stays(&self.calls[*number]))
    }

    fn message(&mut self, body: &Bytes, message: Span) {
        let value = |object: &Span, key| span::member(body, object.clone(), key).map(|member| member.value);
        let Some(method) = value(&message, "method").and_then(|method| span::string(body, &method)) else { return };
        let params = value(&message, "params");
        match params.as_ref().and_then(|params| extension(body, params)) {
            Some(Some(format)) => self.named = Some(self.named.map_or(format, |other| other.min(format))),
            Some(None) => self.asks_default = true,
            None => {}
        }
        let Some(id) = value(&message, "id") else { return };
        let meta = params.as_ref().and_then(|params| value(params, "_meta"));
        let is_for_program = [&params, &meta].into_iter().flatten().any(|object| has_program(body, object.clone()));
        let tool = params.filter(|_| method == "tools/call").and_then(|params| value(&params, "name"));
        let tool = tool.and_then(|name| span::string(body, &name)).map(String::from);
        self.by_id.entry(body.slice(id)).or_default().push(self.calls.len());
        self.calls.push(Call { method: method.into_owned(), tool, is_for_program });
    }
}

/// Returns whether an object has a member `caller` that is not the model. In `_meta` the key may have a prefix: `example.com/caller`.
pub(crate) fn has_program(text: &[u8], object: Span) -> bool {
    span::members(text, object).any(|member| {
        let key = span::string(text, &member.key).unwrap_or_default();
        key.rsplit('/').next() == Some("caller") && caller::is_program(text, &member.value)
    })
}

/// Reads `_meta["io.modelcontextprotocol/clientCapabilities"].extensions["io.stoa/stc"]`: an object that may contain
/// `"format": "stc2"` with a name of `X-Prefer-Format`; the default is STC 1.
fn extension(body: &[u8], params: &Span) -> Option<Option<Format>> {
    let mut at = params.clone();
    for key in ["_meta", "io.modelcontextprotocol/clientCapabilities", "extensions", EXTENSION] {
        at = span::member(body, at, key)?.value;
    }
    if body[at.start] != b'{' {
        return None;
    }
    let Some(format) = span::member(body, at, "format") else { return Some(None) };
    let name = span::string(body, &format.value)?;
    Format::named(&name).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_methods_and_tools() {
        let body = Bytes::from_static(
            br#"[{"id":1,"method":"tools/call","params":{"name":"li\u0073t"}},{"method":"x"},{"id":"1","method":"ping"}]"#,
        );
        let calls = Calls::read(&body);
        assert_eq!(calls.number(b"1").map(|number| calls.tool_of(number)), Some(Some("list")));
        assert_eq!(calls.number(b"\"1\"").map(|number| calls.method(number)), Some("ping"));
        assert_eq!(calls.number(b"2"), None);
        assert_eq!((calls.tool(), calls.ask(Format::Stc1)), (Some("list"), None));
        for (message, expected) in [
            (r#"{"id":1,"result":{}}"#, true),
            (r#"[{"id":9,"result":{}},{"id":"1","error":{}}]"#, true),
            (r#"{"id":1,"method":"sampling/createMessage"}"#, false),
            (r#"{"id":2,"result":{}}"#, false),
            (r#"{"result":{}}"#, false),
            ("", false),
        ] {
            assert_eq!(calls.are_answered_by(message.as_bytes()), expected, "{message}");
        }
        for broken in ["", "{", "[1,2]", "{\"method\":1}", "null"] {
            assert_eq!(Calls::read(&Bytes::from_static(broken.as_bytes())), Calls::default(), "{broken}");
        }
    }

    #[test]
    fn the_extension_is_a_preference() {
        for (settings, expected) in [
            ("{}", Some(Format::Stc1)),
            (r#"{"format":"stc1","more":1}"#, Some(Format::Stc1)),
            (r#"{"format":"stc2-labelled"}"#, Some(Format::Stc2Labelled)),
            (r#"{"format":"stc2-dense"}"#, None),
            (r#"{"format":"stc2"}"#, Some(Format::Stc2)),
            (r#"{"format":"toon"}"#, Some(Format::Toon)),
            (r#"{"format":"xml"}"#, None),
            (r#"{"format":7}"#, None),
            ("null", None),
            ("true", None),
        ] {
            let body = format!(
                r#"{{"id":1,"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/clientCapabilities":{{"extensions":{{"io.stoa/stc":{settings}}}}}}}}}}}"#
            );
            let ask = Calls::read(&Bytes::from(body)).ask(Format::Stc1);
            assert_eq!(ask, expected.map(|format| Ask { source: Source::Extension, format }), "{settings}");
        }
    }
}
