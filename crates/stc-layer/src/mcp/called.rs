//! The tools that a body calls, read strictly: a server must not find another tool in it than this reader did.
//!
//! A key that occurs twice, or in other letters (some parsers ignore case, and take the last), makes a message ambiguous.

use stc_wire::span::{self, Span};

/// Why the tools that a body calls cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ambiguous(pub &'static str);

/// Returns the names of all tools that a body calls, in order.
///
/// # Errors
/// Fails if the body is no JSON, or readers may disagree on what it calls.
pub fn called(body: &[u8]) -> Result<Vec<String>, Ambiguous> {
    if stc::validate(body).is_err() {
        return Err(Ambiguous("the body is not JSON"));
    }
    let mut names = Vec::new();
    let Some(document) = span::document(body) else { return Ok(names) };
    if body[document.start] == b'[' {
        for message in span::elements(body, document) {
            names.extend(in_message(body, message)?);
        }
    } else {
        names.extend(in_message(body, document)?);
    }
    Ok(names)
}

fn in_message(body: &[u8], message: Span) -> Result<Option<String>, Ambiguous> {
    if body[message.start] != b'{' {
        return Ok(None);
    }
    // Read for its ambiguity: an answer repeats it.
    only(body, &message, "id")?;
    let method = only(body, &message, "method")?.and_then(|method| span::string(body, &method));
    let params = only(body, &message, "params")?;
    if method.as_deref() != Some("tools/call") {
        return Ok(None);
    }
    let name = match params.filter(|params| body[params.start] == b'{') {
        Some(params) => only(body, &params, "name")?.and_then(|name| span::string(body, &name)),
        None => None,
    };
    name.map(|name| Some(name.into_owned())).ok_or(Ambiguous("a call names no tool"))
}

/// Returns the value of a key that occurs once in an object.
///
/// # Errors
/// Fails if the key occurs twice, or in other letters.
pub fn only(body: &[u8], object: &Span, key: &str) -> Result<Option<Span>, Ambiguous> {
    let mut found = None;
    for member in span::members(body, object.clone()) {
        let name = span::string(body, &member.key).unwrap_or_default();
        let exact = name == key;
        // Upper case joins letters that parsers may fold, as the long s.
        if !exact && name.to_uppercase() != key.to_uppercase() {
            continue;
        }
        if !exact || found.is_some() {
            return Err(Ambiguous("a key of the message is ambiguous"));
        }
        found = Some(member.value);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(called(body.as_bytes()).unwrap(), expected, "{body}");
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
            assert!(called(body.as_bytes()).is_err(), "{body}");
        }
    }
}
