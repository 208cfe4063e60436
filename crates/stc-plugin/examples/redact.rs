//! A filter that reads bodies: replaces a word in responses before anything compresses them.
//!
//! Run it: `cargo run -p stc-plugin --example redact`.

use bytes::Bytes;
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};

/// The plugin. `{"word": "..."}` in its configuration is required.
#[derive(Default)]
pub struct Redact {
    word: String,
}

#[async_trait]
impl Plugin for Redact {
    fn metadata(&self) -> Metadata {
        Metadata::new("redact", "1.0.0").phases([Phase::PostUpstream]).reads_bodies()
    }

    async fn on_load(&mut self, configuration: &serde_json::Value) -> Result<(), PluginError> {
        // Letters only: the word is never part of JSON's own syntax, so JSON stays JSON.
        let is_word = |word: &&str| !word.is_empty() && word.chars().all(char::is_alphabetic);
        let word = configuration["word"].as_str().filter(is_word);
        self.word = word.ok_or_else(|| PluginError::new("word: a string of letters is required"))?.to_owned();
        Ok(())
    }

    async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        let Some(text) = context.response_body().and_then(|body| std::str::from_utf8(body).ok()) else {
            return Ok(Outcome::Continue);
        };
        if text.contains(&self.word) {
            let redacted = text.replace(&self.word, "[redacted]");
            context.replace_response_body(Bytes::from(redacted));
        }
        Ok(Outcome::Continue)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), PluginError> {
    let mut registry = stc_plugin::Registry::new();
    let binding = stc_plugin::Binding::at(100).configured(serde_json::json!({"word": "Rosebud"}));
    registry.add(Redact::default(), binding).await?;
    let mut context = PluginContext::new(http::Method::GET, "/projects");
    context.hold_response_body(Some(Bytes::from_static(br#"{"id":7,"project":"Rosebud"}"#)));
    registry.run(Phase::PostUpstream, &mut context).await;
    println!("{}", String::from_utf8_lossy(&context.take_response_body().unwrap_or_default()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stc_plugin::{Binding, Registry};

    #[tokio::test]
    async fn the_word_is_replaced_everywhere() {
        let mut registry = Registry::new();
        let binding = Binding::default().configured(serde_json::json!({"word": "x"}));
        registry.add(Redact::default(), binding).await.unwrap();
        let mut context = PluginContext::new(http::Method::GET, "/");
        context.hold_response_body(Some(Bytes::from_static(b"[\"x\",\"axb\"]")));
        registry.run(Phase::PostUpstream, &mut context).await;
        assert_eq!(context.take_response_body().unwrap(), "[\"[redacted]\",\"a[redacted]b\"]");
    }

    #[tokio::test]
    async fn a_word_that_could_break_json_is_rejected() {
        for word in ["", "\"", "a,b"] {
            assert!(Redact::default().on_load(&serde_json::json!({"word": word})).await.is_err(), "{word}");
        }
    }
}
