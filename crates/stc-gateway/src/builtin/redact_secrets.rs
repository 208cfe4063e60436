//! A plugin that replaces secrets in response bodies by the names of the rules that found them.

use super::deltas::{self, Stream};
use super::readable;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};
use stc_redact::{Failed, Redactor, RuleText};
use std::borrow::Cow;
use std::sync::Arc;

/// Longer bodies are looked through on a thread of their own, so that they do not hold up other requests. So are those that may be in a
/// coding that no header names, whatever their length.
const LONG_TO_REDACT: usize = 256 << 10;
/// Shorter runs of Unicode in a body of other bytes hold no secret.
const SHORTEST_RUN: usize = 16;

/// The plugin, with settings like `{"rules": ["-password"], "more": [{"id": "badge", …}]}`.
#[derive(Default)]
pub(super) struct RedactSecrets {
    /// Compiled when the plugin is loaded.
    redactor: Option<Arc<Redactor>>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default)]
    more: Vec<RuleText>,
}

#[async_trait]
impl Plugin for RedactSecrets {
    fn metadata(&self) -> Metadata {
        Metadata::new("redact-secrets", env!("CARGO_PKG_VERSION")).phases([Phase::PostUpstream]).reads_bodies()
    }

    async fn on_load(&mut self, configuration: &serde_json::Value) -> Result<(), PluginError> {
        let Settings { rules, more } = super::settings::read(configuration)?;
        let settings = stc_context::RedactSettings { rules, more, ..Default::default() };
        self.redactor = Some(settings.redactor().map_err(PluginError::new)?);
        Ok(())
    }

    async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        let (Some(redactor), Some(body)) = (&self.redactor, context.response_body()) else {
            return Ok(Outcome::Continue);
        };
        let stream = stream(&context.response_headers, &context.path);
        let redacted = if is_long(body) {
            let (redactor, body, headers) = (redactor.clone(), body.clone(), context.response_headers.clone());
            let task = tokio::task::spawn_blocking(move || answer(&redactor, &headers, stream, &body));
            task.await.map_err(|_| PluginError::new("the search for secrets was ended"))?
        } else {
            answer(redactor, &context.response_headers, stream, body)
        };
        let redacted = redacted.map_err(PluginError::new)?;
        if let Some(redacted) = redacted {
            context.response_headers.remove(http::header::CONTENT_LENGTH);
            context.replace_response_body(Bytes::from(redacted));
        }
        Ok(Outcome::Continue)
    }
}

/// Returns whether it may take long to look through a body. One in a coding that [`readable`] undoes is no UTF-8: the numbers of gzip and
/// Zstandard are not, and for Brotli too many other bytes must be.
fn is_long(body: &[u8]) -> bool {
    body.len() > LONG_TO_REDACT || std::str::from_utf8(body).is_err()
}

/// Returns what divides the messages of a response that comes in deltas.
fn stream(headers: &HeaderMap, path: &str) -> Option<Stream> {
    let kind = headers.get(CONTENT_TYPE).map_or("", |kind| kind.to_str().unwrap_or_default()).to_ascii_lowercase();
    match kind.split(';').next().unwrap_or_default().trim() {
        "text/event-stream" => Some(Stream::Events),
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Some(Stream::Lines),
        "application/json" if path.ends_with(":streamGenerateContent") => Some(Stream::Elements),
        _ => None,
    }
}

/// Returns a body without its secrets, those that are split over deltas too; `None` if it has none. An error says why it could not be
/// looked through.
fn answer(
    redactor: &Redactor,
    headers: &HeaderMap,
    stream: Option<Stream>,
    body: &[u8],
) -> Result<Option<Vec<u8>>, &'static str> {
    const LATE: &str = "a body could not be looked through for secrets";
    let readable = readable::read(headers, body)?;
    let late = |Failed::Late| LATE;
    let mut text = redacted(redactor, &readable.text).map_err(late)?;
    if let Some(stream) = stream {
        let joined = deltas::redacted(redactor, stream, text.as_deref().unwrap_or(&readable.text)).map_err(late)?;
        text = joined.or(text);
    }
    let Some(text) = text else { return Ok(None) };
    readable.body(text).map(Some).ok_or("a secret is in a compressed body that no header names")
}

/// Returns a body without its secrets; `None` if it has none. In a body that is not Unicode, the runs that are count.
fn redacted(redactor: &Redactor, body: &[u8]) -> Result<Option<Vec<u8>>, Failed> {
    let mut out = Vec::new();
    let mut changed = false;
    for chunk in body.utf8_chunks() {
        let valid = chunk.valid();
        let text = if valid.len() < SHORTEST_RUN { Cow::Borrowed(valid) } else { redactor.redact(valid)?.text };
        // Most bodies are one run without a secret, and need no copy.
        if !changed && matches!(text, Cow::Borrowed(_)) && valid.len() == body.len() {
            return Ok(None);
        }
        changed |= matches!(text, Cow::Owned(_));
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(chunk.invalid());
    }
    Ok(changed.then_some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is undone is first found to be long.
    #[test]
    fn a_body_in_a_coding_is_long() {
        for body in
            [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd", b"\x8b\x02\x80\xff\xfe\x91\xa0", &vec![b'a'; LONG_TO_REDACT + 1]]
        {
            assert!(is_long(body), "{:?}", &body[..2]);
        }
        assert!(!is_long("{\"a\": \"é\"}".as_bytes()) && !is_long(b""));
    }

    #[test]
    fn runs_of_unicode_in_other_bytes_count() {
        let redactor = Redactor::default();
        let body = b"caf\xe9 password=Tr0ub4dor!3x \xff\xfe";
        assert_eq!(redacted(&redactor, body).unwrap().unwrap(), b"caf\xe9 password=[redacted:password] \xff\xfe");
        assert_eq!(redacted(&redactor, b"caf\xe9 and nothing else").unwrap(), None);
        assert_eq!(redacted(&redactor, b"").unwrap(), None);
    }

    #[tokio::test]
    async fn settings_that_are_wrong_are_named() {
        for (settings, expected) in [
            (serde_json::json!({"rules": ["-pasword"]}), "rule `pasword`: no such rule"),
            (serde_json::json!({"rules": ["password"]}), "expected ids with a hyphen"),
            (serde_json::json!({"words": []}), "unknown field `words`"),
        ] {
            let error = RedactSecrets::default().on_load(&settings).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
