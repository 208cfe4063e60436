//! The model that a path names.
//!
//! ```text
//! /v1beta/models/gemini-2.5-pro:streamGenerateContent                                  gemini-2.5-pro
//! /v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:generateContent   gemini-2.5-pro
//! /model/us.anthropic.claude-sonnet-4-20250514-v1%3A0/converse                         us.anthropic.claude-sonnet-4-20250514-v1:0
//! /openai/deployments/gpt-4o/chat/completions                                          gpt-4o
//! ```

use std::borrow::Cow;

/// Returns the model that the path of a request names, without percent-encoding; `None` if the body names it.
///
/// ```
/// let path = "/model/anthropic.claude-sonnet-4-20250514-v1%3A0/converse";
/// assert_eq!(stc_context::model_in_path(path).as_deref(), Some("anthropic.claude-sonnet-4-20250514-v1:0"));
/// assert_eq!(stc_context::model_in_path("/v1/messages"), None);
/// ```
#[must_use]
pub fn model_in_path(path: &str) -> Option<Cow<'_, str>> {
    let path = path.trim_end_matches('/');
    let without = |ends: &[&str]| ends.iter().find_map(|end| path.strip_suffix(end));
    let after = |path: &'_ str, start: &str| path.rfind(start).map(|at| at + start.len());
    let gemini = || {
        let before = without(&[":generateContent", ":streamGenerateContent", ":countTokens"])?;
        Some(&before[after(before, "/").unwrap_or(0)..])
    };
    let bedrock = || {
        let before = without(&["/converse", "/converse-stream", "/invoke", "/invoke-with-response-stream"])?;
        Some(&before[after(before, "/model/")?..])
    };
    let azure = || {
        let before = without(&["/chat/completions", "/responses"])?;
        Some(&before[after(before, "/deployments/")?..])
    };
    gemini().or_else(bedrock).or_else(azure).map(decoded)
}

/// Undoes percent-encoding. What is no encoding stays.
fn decoded(name: &str) -> Cow<'_, str> {
    if !name.contains('%') {
        return Cow::Borrowed(name);
    }
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *byte == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let is_hex = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let encoded = digits.filter(is_hex).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(encoded.unwrap_or(*byte));
        rest = if encoded.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_in_paths() {
        let arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-v1:0";
        let encoded = format!("/model/{}/converse", arn.replace(':', "%3A").replace('/', "%2F"));
        let plain = format!("/v1/model/{arn}/converse-stream");
        for (path, expected) in [
            ("/v1beta/models/gemini-2.5-pro:generateContent", Some("gemini-2.5-pro")),
            ("/v1beta/models/gemini-2.5-pro:streamGenerateContent/", Some("gemini-2.5-pro")),
            ("/v1beta/tunedModels/t-1:countTokens", Some("t-1")),
            (
                "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:generateContent",
                Some("gemini-2.5-pro"),
            ),
            ("gemini-x:generateContent", Some("gemini-x")),
            (&encoded, Some(arn)),
            (&plain, Some(arn)),
            ("/model/m/invoke", Some("m")),
            ("/model/a%zz%4/invoke", Some("a%zz%4")),
            ("/model/%ff/invoke", Some("\u{fffd}")),
            ("/openai/deployments/gpt-4o/chat/completions", Some("gpt-4o")),
            ("/v1/chat/completions", None),
            ("/v1/responses", None),
            ("/v1/messages", None),
            ("/models/m/converse", None),
            ("/v1beta/models/m:embedContent", None),
            ("", None),
            ("/", None),
        ] {
            assert_eq!(model_in_path(path).as_deref(), expected, "{path}");
        }
    }
}
