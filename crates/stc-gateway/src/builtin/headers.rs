//! A plugin that sets and removes headers of requests and responses.

use http::{HeaderMap, HeaderName, HeaderValue};
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};
use std::collections::BTreeMap;

/// The plugin, with settings like `{"request": {"set": {"authorization": "Bearer …"}, "remove": ["cookie"]}, "response": {…}}`.
#[derive(Default)]
pub(super) struct Headers {
    request: Changes,
    response: Changes,
}

#[derive(Default)]
struct Changes {
    set: Vec<(HeaderName, HeaderValue)>,
    remove: Vec<HeaderName>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default)]
    request: Written,
    #[serde(default)]
    response: Written,
}

#[derive(Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    set: BTreeMap<String, String>,
    remove: Vec<String>,
}

impl Changes {
    fn read(written: Written) -> Result<Self, PluginError> {
        let name = |name: String| {
            name.parse::<HeaderName>().map_err(|_| PluginError::new(format!("`{name}` is not a header")))
        };
        let set = written.set.into_iter().map(|(key, value)| {
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| PluginError::new(format!("the value of `{key}` cannot be sent")))?;
            value.set_sensitive(true);
            Ok((name(key)?, value))
        });
        Ok(Self {
            set: set.collect::<Result<_, _>>()?,
            remove: written.remove.into_iter().map(name).collect::<Result<_, _>>()?,
        })
    }

    fn apply(&self, headers: &mut HeaderMap) {
        for name in &self.remove {
            headers.remove(name);
        }
        for (name, value) in &self.set {
            headers.insert(name, value.clone());
        }
    }
}

#[async_trait]
impl Plugin for Headers {
    fn metadata(&self) -> Metadata {
        Metadata::new("headers", env!("CARGO_PKG_VERSION")).phases([Phase::PreUpstream, Phase::PostUpstream])
    }

    async fn on_load(&mut self, configuration: &serde_json::Value) -> Result<(), PluginError> {
        let settings: Settings = super::settings::read(configuration)?;
        self.request = Changes::read(settings.request)?;
        self.response = Changes::read(settings.response)?;
        Ok(())
    }

    async fn execute(&self, phase: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        match phase {
            Phase::PreUpstream => self.request.apply(&mut context.request_headers),
            _ => self.response.apply(&mut context.response_headers),
        }
        Ok(Outcome::Continue)
    }
}
