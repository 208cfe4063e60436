//! STC as a plugin, for a gateway that holds bodies anyway and runs other plugins on them.
//!
//! Bound at [`Binding::COMPRESSION`](stc_plugin::Binding::COMPRESSION) it runs after every filter that must see plain JSON.
//! Before the upstream it removes the client's preference from the request; after the upstream it converts the body.

use crate::mcp::Calls;
use crate::{Engine, Exchange, Plan, Policy};
use bytes::Bytes;
use http::{HeaderMap, Method};
use serde::Deserialize;
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};
use std::sync::Arc;

/// The plugin. Its configuration is a [`Policy`].
pub struct StcPlugin {
    engine: Engine,
}

impl StcPlugin {
    /// Creates the plugin under the default policy, until it is loaded with another.
    #[must_use]
    pub fn new() -> Self {
        Self::with_engine(Engine::new(Policy::default()))
    }

    /// Creates the plugin on a shared engine.
    #[must_use]
    pub const fn with_engine(engine: Engine) -> Self {
        Self { engine }
    }

    fn before(&self, context: &mut PluginContext) {
        // A HEAD cannot become a GET here, so the response to it would not agree with that of a GET.
        if context.method == Method::HEAD {
            return;
        }
        let PluginContext { method, path, request_headers, tenant, .. } = context;
        let tenant = tenant.as_deref().map(Arc::from);
        let Some(exchange) = self.engine.open_from(method, path, request_headers, tenant.as_ref()) else { return };
        let calls = context.request_body().filter(|_| exchange.is_mcp()).map(Calls::read).unwrap_or_default();
        if context.tool.is_none() {
            context.tool = calls.tool().map(String::from);
        }
        context.store.insert((exchange, calls));
    }

    fn after(&self, context: &mut PluginContext) {
        let Some((mut exchange, calls)) = context.store.remove::<(Exchange, Calls)>() else { return };
        let (Some(body), Some(status)) = (context.response_body().cloned(), context.status) else { return };
        let headers = &mut context.response_headers;
        if let Some(changed) = self.change(&mut exchange, calls, status, headers, &body) {
            context.replace_response_body(changed);
        }
    }

    fn change(
        &self,
        exchange: &mut Exchange,
        calls: Calls,
        status: http::StatusCode,
        headers: &mut HeaderMap,
        body: &Bytes,
    ) -> Option<Bytes> {
        match self.engine.plan(exchange, || calls, status, headers) {
            Plan::Leave => None,
            Plan::Agree => {
                self.engine.agree(exchange, headers);
                None
            }
            Plan::Unknown => {
                self.engine.unknown(headers);
                self.engine.tell_unknown(exchange);
                None
            }
            Plan::Skip(ask, skip) => {
                self.engine.skip(exchange, ask, skip, headers);
                None
            }
            Plan::Whole(job) => self.engine.whole(exchange, &job, headers, body).ok(),
            Plan::Message(job) => self.engine.message(exchange, &job, headers, body),
            Plan::Events(job) => {
                let mut stream = self.engine.events(exchange, job, headers);
                let mut out = Vec::with_capacity(body.len());
                stream.push(body, &mut out);
                stream.finish(&mut out);
                Some(Bytes::from(out))
            }
        }
    }
}

impl Default for StcPlugin {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Plugin for StcPlugin {
    fn metadata(&self) -> Metadata {
        Metadata::new("stc", env!("CARGO_PKG_VERSION")).phases([Phase::PreUpstream, Phase::PostUpstream]).reads_bodies()
    }

    async fn on_load(&mut self, configuration: &serde_json::Value) -> Result<(), PluginError> {
        if !configuration.is_null() {
            let policy = Policy::deserialize(configuration).map_err(|error| PluginError::new(error.to_string()))?;
            policy.check().map_err(PluginError::new)?;
            self.engine = self.engine.with_policy(policy);
        }
        Ok(())
    }

    async fn execute(&self, phase: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        match phase {
            Phase::PreUpstream => self.before(context),
            Phase::PostUpstream => self.after(context),
            Phase::PreAuth | Phase::PostAuth | Phase::OnError => {}
        }
        Ok(Outcome::Continue)
    }
}
