//! The same preparation as a plugin, for hosts that run the plugins of `stc-plugin` and not this program.

use super::options::Options;
use super::settings::compile;
use super::signed::is_signed;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use stc_context::{Context, Endpoint, Request, Settings};
use stc_layer::coding::Coding;
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};

/// A plugin that makes the tool results in requests to a model shorter, before the request goes to the upstream. Its
/// settings are those of `[context]`, without `telemetry`.
#[derive(Debug)]
pub struct ContextPlugin {
    context: Context,
}

impl Default for ContextPlugin {
    fn default() -> Self {
        Self { context: compile(Settings::default()).expect("the defaults are good") }
    }
}

impl ContextPlugin {
    fn prepare(&self, context: &mut PluginContext) -> Option<Outcome> {
        let settings = self.context.settings();
        let fixed = settings.api.fixed().map(Endpoint::from);
        let endpoint = fixed.or_else(|| Endpoint::of(&context.path)).filter(|_| context.method == Method::POST)?;
        if is_signed(&context.request_headers) {
            return None;
        }
        let options = Options::take(&mut context.request_headers, settings.options);
        let body = context.request_body().cloned()?;
        let coding = Coding::of(&context.request_headers).ok()?;
        let plain = coding.decompress(&body, settings.longest_request()).ok()?;
        match self.context.prepare(Request { endpoint, body: &plain, headers: options.headers() }) {
            Ok(done) => {
                let changed = Bytes::from(done.body?);
                context.request_headers.remove(CONTENT_ENCODING);
                context.request_headers.insert(CONTENT_LENGTH, HeaderValue::from(changed.len()));
                context.replace_request_body(changed);
                None
            }
            Err(why) => {
                if let Some((name, value)) = endpoint.api.error_header(&why) {
                    let value = HeaderValue::from_static(value);
                    context.response_headers.insert(HeaderName::from_static(name), value);
                }
                let status = StatusCode::from_u16(why.status()).unwrap_or(StatusCode::BAD_GATEWAY);
                Some(Outcome::Terminate { status, body: endpoint.api.error(&why).into() })
            }
        }
    }
}

#[async_trait]
impl Plugin for ContextPlugin {
    fn metadata(&self) -> Metadata {
        Metadata::new("context", env!("CARGO_PKG_VERSION")).phases([Phase::PreUpstream]).reads_bodies()
    }

    async fn on_load(&mut self, configuration: &serde_json::Value) -> Result<(), PluginError> {
        if configuration.is_null() {
            return Ok(());
        }
        let settings = Settings::deserialize(configuration).map_err(|error| PluginError::new(error.to_string()))?;
        if settings.telemetry.file.is_some() {
            return Err(PluginError::new("`telemetry` belongs to the gateway's own routes"));
        }
        self.context = compile(settings).map_err(PluginError::new)?;
        Ok(())
    }

    async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        Ok(self.prepare(context).unwrap_or(Outcome::Continue))
    }
}
