//! The same preparation as a plugin, for hosts that run the plugins of `stc-plugin` and not this program.

use super::asked::Asked;
use super::options::Options;
use super::settings::compile;
use super::signed::is_signed;
use crate::body::LONG_TO_PREPARE;
use crate::upstream::tunnel;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use stc_context::{Context, Done, Endpoint, Refused, Request, Settings, model_in_path};
use stc_layer::coding::Coding;
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A plugin that makes the tool results in requests to a model shorter, before the request goes to the upstream. Its
/// settings are those of `[context]`, without `telemetry`.
#[derive(Debug)]
pub struct ContextPlugin {
    context: Arc<Context>,
}

impl Default for ContextPlugin {
    fn default() -> Self {
        Self { context: Arc::new(compile(Settings::default()).expect("the defaults are good")) }
    }
}

impl ContextPlugin {
    async fn prepare(&self, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        let settings = self.context.settings();
        let fixed = settings.api.fixed().map(Endpoint::from);
        let model = fixed.or_else(|| Endpoint::of(&context.path)).filter(|_| context.method == Method::POST);
        if !self.context.redacts() {
            let Some(endpoint) = model else { return Ok(Outcome::Continue) };
            return Ok(self.change(context, endpoint, true).await?.unwrap_or(Outcome::Continue));
        }
        let is_tunnel = tunnel::may_be_requested(&context.method, &context.request_headers);
        let (endpoint, is_known) =
            match Asked::of(&context.request_headers, &context.path, has_body(context), is_tunnel, model) {
                Asked::Model(endpoint) => (endpoint, true),
                Asked::Json(api) => (api.into(), false),
                Asked::Unread(api) => return self.unread(context, api.into()),
                Asked::Nothing => return Ok(Outcome::Continue),
            };
        match self.change(context, endpoint, is_known).await {
            Ok(Some(outcome)) => Ok(outcome),
            Ok(None) | Err(_) => self.unread(context, endpoint),
        }
    }

    /// Changes the body of a request; `None` if it could not be read. Where that may take long, another thread does it.
    async fn change(
        &self,
        context: &mut PluginContext,
        endpoint: Endpoint,
        is_known: bool,
    ) -> Result<Option<Outcome>, PluginError> {
        if is_signed(&context.request_headers) {
            return Ok(None);
        }
        let options = Options::take(&mut context.request_headers, is_known && self.context.settings().options);
        let (Some(body), Ok(coding)) = (context.request_body().cloned(), Coding::of(&context.request_headers)) else {
            return Ok(None);
        };
        let is_long = is_long(coding, body.len());
        let prepares = self.context.clone();
        let path = context.path.clone();
        let asked = Asks { endpoint, is_known, path };
        let work = move || prepared(&prepares, &asked, &body, coding, &options);
        // Only a defect panics here, or the host ends.
        let defect = || PluginError::new("a request could not be prepared");
        let done = if is_long {
            tokio::task::spawn_blocking(work).await.map_err(|_| defect())?
        } else {
            catch_unwind(AssertUnwindSafe(work)).map_err(|_| defect())?
        };
        Ok(match done {
            Some(Ok(done)) if done.body.is_none() && done.report.redaction_failures > 0 => None,
            Some(Ok(done)) => {
                if let Some(changed) = done.body.map(Bytes::from) {
                    context.request_headers.remove(CONTENT_ENCODING);
                    context.request_headers.insert(CONTENT_LENGTH, HeaderValue::from(changed.len()));
                    context.replace_request_body(changed);
                }
                Some(Outcome::Continue)
            }
            Some(Err(why)) => Some(refused(context, endpoint, &why)),
            None => None,
        })
    }

    /// Ends a request that is not looked through where it has to be. Elsewhere it continues, and the host counts a fault.
    fn unread(&self, context: &mut PluginContext, endpoint: Endpoint) -> Result<Outcome, PluginError> {
        if self.context.requires_redaction() {
            return Ok(refused(context, endpoint, &Refused::Redaction));
        }
        Err(PluginError::new("a request could not be looked through for secrets"))
    }
}

/// Returns whether it may take long to prepare a body.
fn is_long(coding: Coding, length: usize) -> bool {
    coding != Coding::Identity || length > LONG_TO_PREPARE
}

/// What the head of a request says of its body.
struct Asks {
    endpoint: Endpoint,
    is_known: bool,
    path: String,
}

/// Prepares a body; `None` if it could not be read.
fn prepared(
    context: &Context,
    asked: &Asks,
    body: &[u8],
    coding: Coding,
    options: &Options,
) -> Option<Result<Done, Refused>> {
    let endpoint = asked.endpoint;
    let model = model_in_path(&asked.path);
    let plain = coding.decompress(body, context.settings().longest_request()).ok()?;
    Some(match asked.is_known {
        true => {
            context.prepare(Request { endpoint, body: &plain, headers: options.headers(), model: model.as_deref() })
        }
        false => context.look_through(endpoint.api, &plain),
    })
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
        self.context = Arc::new(compile(settings).map_err(PluginError::new)?);
        Ok(())
    }

    async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        self.prepare(context).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use serde_json::json;
    use stc_plugin::{Binding, FaultKind, Registry};

    const CHAT: &str = "/v1/chat/completions";

    fn asked(headers: &[(http::header::HeaderName, &'static str)], body: Bytes) -> PluginContext {
        let mut context = PluginContext::new(Method::POST, CHAT);
        let lines = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
        context.request_headers.extend(lines);
        context.hold_request_body(Some(body));
        context
    }

    async fn registry(settings: serde_json::Value) -> Registry {
        let mut registry = Registry::new();
        registry.add(ContextPlugin::default(), Binding::at(1).configured(settings)).await.unwrap();
        registry
    }

    /// A long body, or one in a coding, is not worked on where the host's other requests would wait.
    #[test]
    fn long_work_is_done_by_another_thread() {
        assert!(!is_long(Coding::Identity, LONG_TO_PREPARE) && is_long(Coding::Identity, LONG_TO_PREPARE + 1));
        assert!([Coding::Gzip, Coding::Brotli, Coding::Zstd].iter().all(|coding| is_long(*coding, 1)));
    }

    #[tokio::test]
    async fn what_could_not_be_looked_through_shows() {
        let registry = registry(json!({"redact": {"enabled": "on"}})).await;
        for (kind, body, shows) in
            [("text/plain", "abc", true), ("application/json", "{", true), ("application/json", "{}", false)]
        {
            let mut context = asked(&[(http::header::CONTENT_TYPE, kind)], body.into());
            let run = registry.run(Phase::PreUpstream, &mut context).await;
            assert!(run.ended.is_none(), "{kind} {body}");
            let failed = run.faults.iter().filter(|fault| matches!(fault.kind, FaultKind::Failed(_))).count();
            assert_eq!(failed == 1, shows, "{kind} {body}");
        }
    }
}
