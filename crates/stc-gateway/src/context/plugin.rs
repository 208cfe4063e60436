//! The same preparation as a plugin, for hosts that run the plugins of `stc-plugin` and not this program.

use super::asked::Asked;
use super::options::Options;
use super::settings::compile;
use super::signed::is_signed;
use crate::upstream::tunnel;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use stc_context::{Context, Endpoint, Refused, Request, Settings};
use stc_layer::coding::Coding;
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};
use std::panic::{AssertUnwindSafe, catch_unwind};

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
        let model = fixed.or_else(|| Endpoint::of(&context.path)).filter(|_| context.method == Method::POST);
        if !self.context.redacts() {
            return self.change(context, model?, true).unwrap_or(None);
        }
        let is_tunnel = tunnel::may_be_requested(&context.method, &context.request_headers);
        let (endpoint, is_known) =
            match Asked::of(&context.request_headers, &context.path, has_body(context), is_tunnel, model) {
                Asked::Model(endpoint) => (endpoint, true),
                Asked::Json(api) => (api.into(), false),
                Asked::Unread(api) => return self.unread(context, api.into()),
                Asked::Nothing => return None,
            };
        // Only a defect panics here.
        let changed = catch_unwind(AssertUnwindSafe(|| self.change(context, endpoint, is_known)));
        changed.ok().flatten().unwrap_or_else(|| self.unread(context, endpoint))
    }

    /// Changes the body of a request; `None` if it could not be read.
    fn change(&self, context: &mut PluginContext, endpoint: Endpoint, is_known: bool) -> Option<Option<Outcome>> {
        if is_signed(&context.request_headers) {
            return None;
        }
        let settings = self.context.settings();
        let options = Options::take(&mut context.request_headers, is_known && settings.options);
        let body = context.request_body().cloned()?;
        let coding = Coding::of(&context.request_headers).ok()?;
        let plain = coding.decompress(&body, settings.longest_request()).ok()?;
        let done = match is_known {
            true => self.context.prepare(Request { endpoint, body: &plain, headers: options.headers() }),
            false => self.context.look_through(endpoint.api, &plain),
        };
        Some(match done {
            Ok(done) => {
                if let Some(changed) = done.body.map(Bytes::from) {
                    context.request_headers.remove(CONTENT_ENCODING);
                    context.request_headers.insert(CONTENT_LENGTH, HeaderValue::from(changed.len()));
                    context.replace_request_body(changed);
                }
                None
            }
            Err(why) => Some(refused(context, endpoint, &why)),
        })
    }

    /// Lets a request pass that is not looked through, unless it has to be.
    fn unread(&self, context: &mut PluginContext, endpoint: Endpoint) -> Option<Outcome> {
        self.context.requires_redaction().then(|| refused(context, endpoint, &Refused::Redaction))
    }
}

fn refused(context: &mut PluginContext, endpoint: Endpoint, why: &Refused) -> Outcome {
    if let Some((name, value)) = endpoint.api.error_header(why) {
        context.response_headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let status = StatusCode::from_u16(why.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    Outcome::Terminate { status, body: endpoint.api.error(why).into() }
}

/// Returns whether a request has a body, or may have one that the host does not hold.
fn has_body(context: &PluginContext) -> bool {
    let announced = || {
        let length = context.request_headers.get(CONTENT_LENGTH);
        length.is_some_and(|length| length != "0") || context.request_headers.contains_key(TRANSFER_ENCODING)
    };
    context.request_body().map_or_else(announced, |body| !body.is_empty())
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
