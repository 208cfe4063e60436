//! A plugin that replaces e-mail addresses in response bodies.
//!
//! It works on bytes and changes only the addresses, so JSON stays JSON.

use bytes::Bytes;
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};

/// The plugin, with settings like `{"replacement": "[email]"}`.
pub(crate) struct MaskEmails {
    replacement: String,
}

impl Default for MaskEmails {
    fn default() -> Self {
        Self { replacement: "[email]".to_owned() }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    replacement: Option<String>,
}

#[async_trait]
impl Plugin for MaskEmails {
    fn metadata(&self) -> Metadata {
        Metadata::new("mask-emails", "1.0.0").phases([Phase::PostUpstream]).reads_bodies()
    }

    async fn on_load(&mut self, configuration: &serde_json::Value) -> Result<(), PluginError> {
        let settings: Settings = super::settings::read(configuration)?;
        let plain = |text: &str| !text.contains(['"', '\\']) && !text.chars().any(char::is_control);
        match settings.replacement {
            None => {}
            Some(replacement) if plain(&replacement) => self.replacement = replacement,
            Some(_) => return Err(PluginError::new("replacement is not a plain string")),
        }
        Ok(())
    }

    async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        if let Some(masked) = context.response_body().and_then(|body| mask(body, &self.replacement)) {
            context.response_headers.remove(http::header::CONTENT_LENGTH);
            context.replace_response_body(Bytes::from(masked));
        }
        Ok(Outcome::Continue)
    }
}

/// Returns the body with its addresses replaced; `None` if it has none.
fn mask(body: &[u8], replacement: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut kept = 0; // everything before this is in `out`
    for (at, _) in body.iter().enumerate().filter(|(_, byte)| **byte == b'@') {
        let local = body[kept..at].iter().rev().take_while(|byte| is_local(**byte)).count();
        let domain = body[at + 1..].iter().take_while(|byte| is_domain(**byte)).count();
        if local > 0 && body[at + 1..at + 1 + domain].contains(&b'.') {
            out.extend_from_slice(&body[kept..at - local]);
            out.extend_from_slice(replacement.as_bytes());
            kept = at + 1 + domain;
        }
    }
    if kept == 0 {
        return None;
    }
    out.extend_from_slice(&body[kept..]);
    Some(out)
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._+-".contains(&byte)
}

fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".-".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_change() {
        let body = br#"{"a":"x ada.l+1@example.org, b@c","at":"@","b":["y@z.io"]}"#;
        assert_eq!(mask(body, "*").unwrap(), br#"{"a":"x *, b@c","at":"@","b":["*"]}"#);
        assert_eq!(mask(b"nothing here", "*"), None);
    }

    #[tokio::test]
    async fn a_replacement_that_would_break_json_is_rejected() {
        let bad = serde_json::json!({"replacement": "\""});
        assert!(MaskEmails::default().on_load(&bad).await.is_err());
    }
}
