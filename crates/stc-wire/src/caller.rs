//! Who called a tool, as members `caller` of calls and results say: the model, or a program that it wrote.

use crate::span::{self, Span};

/// The type of the caller that is the model itself.
pub const DIRECT: &str = "direct";

/// Returns whether a caller is anything but the model, which is `{"type":"direct"}` or `null`. In doubt it is a program: what a program
/// parses must stay as it came.
#[must_use]
pub fn is_program(text: &[u8], caller: &Span) -> bool {
    let is_direct = || {
        let mut kinds = span::members(text, caller.clone()).filter(|one| span::is_string(text, &one.key, "type"));
        let is_direct = kinds.next().is_some_and(|kind| span::is_string(text, &kind.value, DIRECT));
        is_direct && kinds.next().is_none()
    };
    let is_object = text.get(caller.start) == Some(&b'{');
    text.get(caller.clone()) != Some(b"null") && !(is_object && is_direct())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_direct_and_all_others_are_programs() {
        for (caller, expected) in [
            ("null", false),
            (r#"{"type":"direct"}"#, false),
            (r#"{ "x":[1], "t\u0079pe" : "dir\u0065ct" }"#, false),
            (r#"{"type":"program"}"#, true),
            (r#"{"type":"code_execution_20250825","tool_id":"s"}"#, true),
            (r#"{"type":"direct","type":"direct"}"#, true),
            (r#"{"type":["direct"]}"#, true),
            (r#"{"kind":"direct"}"#, true),
            ("{}", true),
            ("[]", true),
            ("\"direct\"", true),
            ("0", true),
        ] {
            assert_eq!(is_program(caller.as_bytes(), &(0..caller.len())), expected, "{caller}");
        }
    }
}
