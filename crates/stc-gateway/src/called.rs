//! The tools that a request may call, for the conditions of plugins.
//!
//! They are in the body alone. What names them in a header is the client's word: it adds a tool that a server may believe, and never
//! takes one away. If it cannot be told what a body calls, it may be any tool.

use http::Method;
use http::header::{CONTENT_ENCODING, HeaderValue};
use stc_layer::mcp;
use stc_plugin::PluginContext;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// More names than these, or a longer one, are not kept: the body may then call any tool.
const MOST: usize = 64;
const LONGEST: usize = 1024;

/// The tools that a body calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Called {
    names: BTreeSet<String>,
    /// Whether there is one call and no more.
    is_one: bool,
}

/// Returns the tools that a body calls; `None` if it may be any, because it is no plain JSON, is ambiguous, or calls many.
pub(crate) fn read(body: &[u8]) -> Option<Called> {
    let (mut names, mut calls, mut is_kept) = (BTreeSet::new(), 0_usize, true);
    let visit = |name: Cow<'_, str>| {
        calls += 1;
        is_kept = name.len() <= LONGEST && (names.len() < MOST || names.contains(&*name));
        if !is_kept {
            return ControlFlow::Break(());
        }
        if !names.contains(&*name) {
            names.insert(name.into_owned());
        }
        ControlFlow::Continue(())
    };
    mcp::called(body, visit).ok()?;
    is_kept.then_some(Called { names, is_one: calls == 1 })
}

/// Returns whether a body comes without a content coding, in which its tools could not be read.
pub(crate) fn is_plain(context: &PluginContext) -> bool {
    let is_coded = |coding: &HeaderValue| !coding.as_bytes().eq_ignore_ascii_case(b"identity");
    !context.request_headers.get_all(CONTENT_ENCODING).iter().any(is_coded)
}

/// Notes the tools that a body calls; `None` for any.
pub(crate) fn note(context: &mut PluginContext, called: Option<Called>) {
    let Some(Called { names, is_one }) = called else {
        context.tool = None;
        return context.may_call(None);
    };
    let mut tools: Vec<String> = names.into_iter().collect();
    context.tool = tools.first().filter(|_| is_one).cloned();
    let named = context.request_headers.get_all("mcp-name").iter();
    tools.extend(named.map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned()));
    context.may_call(Some(tools));
}

/// Returns whether a request without a body may get the answer of a call: it resumes a stream.
pub(crate) fn may_resume(context: &PluginContext) -> bool {
    context.method == Method::GET && context.request_headers.contains_key("last-event-id")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str) -> String {
        format!(r#"{{"method":"tools/call","params":{{"name":"{name}"}}}}"#)
    }

    #[test]
    fn a_batch_keeps_a_bounded_number_of_names() {
        let batch =
            |names: &[String]| format!("[{}]", names.iter().map(|name| call(name)).collect::<Vec<_>>().join(","));
        let numbered = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        let one = read(call("a").as_bytes()).unwrap();
        assert!(one.is_one && one.names.iter().eq(["a"]));
        let same = read(batch(&vec!["a".to_owned(); 100_000]).as_bytes()).unwrap();
        assert!(!same.is_one && same.names.iter().eq(["a"]));
        assert_eq!(read(batch(&numbered(MOST)).as_bytes()).unwrap().names.len(), MOST);
        assert_eq!(read(batch(&numbered(MOST + 1)).as_bytes()), None);
        assert_eq!(read(call(&"a".repeat(LONGEST + 1)).as_bytes()), None);
        assert_eq!(read(b"no JSON"), None);
    }

    #[test]
    fn what_may_be_any_tool_names_none() {
        let mut context = PluginContext::new(Method::POST, "/");
        note(&mut context, read(call("a").as_bytes()));
        assert_eq!(context.tool.as_deref(), Some("a"));
        note(&mut context, None);
        assert_eq!(context.tool, None);
    }
}
