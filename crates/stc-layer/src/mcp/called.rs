//! The tools that a body calls, read strictly: a server must not find another tool in it than this reader did.
//!
//! A key that occurs twice, or in other letters (some parsers ignore case, and take the last), makes a message ambiguous.

use stc_wire::span::{self, Span};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Why the tools that a body calls cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ambiguous(pub &'static str);

/// Calls `visit` with the names of all tools that a body calls, in order, until it breaks. What follows is not read.
///
/// # Errors
/// Fails if the body is no JSON, or readers may disagree on what it calls; names before that were visited.
pub fn called(body: &[u8], mut visit: impl FnMut(Cow<'_, str>) -> ControlFlow<()>) -> Result<(), Ambiguous> {
    if stc::validate(body).is_err() {
        return Err(Ambiguous("the body is not JSON"));
    }
    let Some(document) = span::document(body) else { return Ok(()) };
    let is_batch = body[document.start] == b'[';
    let one = (!is_batch).then(|| document.clone());
    // Of a value that is no list, there are no elements.
    for message in one.into_iter().chain(span::elements(body, document)) {
        if let Some(name) = in_message(body, message)?
            && visit(name).is_break()
        {
            break;
        }
    }
    Ok(())
}

fn in_message(body: &[u8], message: Span) -> Result<Option<Cow<'_, str>>, Ambiguous> {
    if body[message.start] != b'{' {
        return Ok(None);
    }
    // The id is read for its ambiguity: an answer repeats it.
    let [_, method, params] = each(body, &message, ["id", "method", "params"])?;
    if !method.is_some_and(|method| span::is_string(body, &method, "tools/call")) {
        return Ok(None);
    }
    let name = match params.filter(|params| body[params.start] == b'{') {
        Some(params) => only(body, &params, "name")?.and_then(|name| span::string(body, &name)),
        None => None,
    };
    name.map(Some).ok_or(Ambiguous("a call names no tool"))
}

/// Returns the value of a key that occurs once in an object.
///
/// # Errors
/// Fails if the key occurs twice, or in other letters.
pub fn only(body: &[u8], object: &Span, key: &str) -> Result<Option<Span>, Ambiguous> {
    each(body, object, [key]).map(|[value]| value)
}

/// Returns the values of keys that occur once each, in one walk.
fn each<const N: usize>(body: &[u8], object: &Span, keys: [&str; N]) -> Result<[Option<Span>; N], Ambiguous> {
    let mut found = [const { None }; N];
    let mut buffer = Vec::new();
    for member in span::members(body, object.clone()) {
        let name = span::string_in(body, &member.key, &mut buffer).unwrap_or_default();
        let Some(place) = keys.iter().position(|key| is_like(name, key)) else { continue };
        if name != keys[place] || found[place].is_some() {
            return Err(Ambiguous("a key of the message is ambiguous"));
        }
        found[place] = Some(member.value);
    }
    Ok(found)
}

/// Returns whether two names are the same but for the case of letters. Upper case joins letters that parsers may fold, as the long s.
fn is_like(name: &str, key: &str) -> bool {
    if name.is_ascii() && key.is_ascii() {
        return name.eq_ignore_ascii_case(key);
    }
    name.chars().flat_map(char::to_uppercase).eq(key.chars().flat_map(char::to_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(body: &str) -> Result<Vec<String>, Ambiguous> {
        let mut names = Vec::new();
        called(body.as_bytes(), |name| {
            names.push(name.into_owned());
            ControlFlow::Continue(())
        })
        .map(|()| names)
    }

    #[test]
    fn all_tools_or_none_for_sure() {
        let call = |name: &str| format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
        for (body, expected) in [
            (call("a"), &["a"][..]),
            (call(r"\u0061"), &["a"]),
            (call("a").replace("tools/call", r"tools\/call"), &["a"]),
            (format!("[{},{{\"method\":\"ping\"}},{}]", call("a"), call("b")), &["a", "b"]),
            (r#"{"id":1,"method":"ping"}"#.to_owned(), &[]),
            (r#"{"name":"a"}"#.to_owned(), &[]),
            ("[]".to_owned(), &[]),
            ("7".to_owned(), &[]),
        ] {
            assert_eq!(names(&body).unwrap(), expected, "{body}");
        }
        for body in [
            String::new(),
            format!("\u{feff}{}", call("a")),
            format!("{0}\n{0}", call("a")),
            call("a").replace(r#""name""#, r#""name":"b","name""#),
            call("a").replace(r#""name""#, r#""Name""#),
            call("a").replace(r#""method""#, r#""method":"ping","method""#),
            call("a").replace(r#""params""#, r#""paramſ":{},"params""#),
            call("a").replace(r#""name":"a""#, ""),
            call("a").replace(r#"{"name":"a"}"#, "[]"),
            format!("[{},{}]", call("a"), call("a").replace(r#""name""#, r#""NAME""#)),
        ] {
            assert!(names(&body).is_err(), "{body}");
        }
    }

    #[test]
    fn a_visit_ends_where_it_is_broken_off() {
        let call = r#"{"method":"tools/call","params":{"name":"a"}}"#;
        let body = format!("[{call},{call},{call},{{\"METHOD\":1}}]");
        let mut seen = 0;
        let ended = called(body.as_bytes(), |_| {
            seen += 1;
            if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((ended, seen), (Ok(()), 2));
    }

    /// Names are alike exactly where their upper case is.
    #[test]
    fn names_are_alike_in_any_case() {
        let names = [
            "params",
            "PARAMS",
            "param\u{17f}",
            "\u{ff50}arams",
            "param",
            "params ",
            "",
            "\u{212a}",
            "k",
            "\u{df}",
            "ss",
        ];
        for name in names {
            for key in ["params", "k", "ss", "\u{df}"] {
                assert_eq!(is_like(name, key), name.to_uppercase() == key.to_uppercase(), "{name} {key}");
            }
        }
    }
}
