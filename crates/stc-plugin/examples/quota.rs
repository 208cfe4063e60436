//! A quota: each tenant has a number of requests; further ones are answered with 429 and not forwarded.
//!
//! Run it: `cargo run -p stc-plugin --example quota`.

use bytes::Bytes;
use http::StatusCode;
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The plugin. `{"requests": 100}` in its configuration is required.
#[derive(Default)]
pub struct Quota {
    requests: u64,
    used: Mutex<HashMap<String, u64>>,
}

#[async_trait]
impl Plugin for Quota {
    fn metadata(&self) -> Metadata {
        Metadata::new("quota", "1.0.0").phases([Phase::PostAuth])
    }

    async fn on_load(&mut self, configuration: &serde_json::Value) -> Result<(), PluginError> {
        self.requests = configuration["requests"].as_u64().ok_or_else(|| PluginError::new("requests: a number"))?;
        Ok(())
    }

    async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        let Some(tenant) = &context.tenant else { return Ok(Outcome::Continue) };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used = used.entry(tenant.clone()).or_default();
        if *used >= self.requests {
            let body = Bytes::from_static(br#"{"error":"quota used up"}"#);
            return Ok(Outcome::Terminate { status: StatusCode::TOO_MANY_REQUESTS, body });
        }
        *used += 1;
        Ok(Outcome::Continue)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), PluginError> {
    let mut registry = stc_plugin::Registry::new();
    let binding = stc_plugin::Binding::at(10).configured(serde_json::json!({"requests": 2}));
    registry.add(Quota::default(), binding).await?;
    for _ in 0..3 {
        let mut context = PluginContext::new(http::Method::GET, "/users");
        context.tenant = Some("acme".to_owned());
        match registry.run(Phase::PostAuth, &mut context).await.ended {
            Some(ended) => println!("{} by {}", ended.status, ended.by),
            None => println!("continues"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_tenant_has_its_own_quota() {
        let mut quota = Quota::default();
        quota.on_load(&serde_json::json!({"requests": 1})).await.unwrap();
        let mut answers = Vec::new();
        for tenant in ["a", "a", "b"] {
            let mut context = PluginContext::new(http::Method::GET, "/");
            context.tenant = Some(tenant.to_owned());
            answers.push(quota.execute(Phase::PostAuth, &mut context).await.unwrap() == Outcome::Continue);
        }
        assert_eq!(answers, [true, false, true]);
        assert!(Quota::default().on_load(&serde_json::json!({})).await.is_err());
    }
}
