//! STC as a plugin: the same results as the layer, after the filters that must see plain JSON.

use crate::upstream::{Answer, Client, ROWS, ROWS_STC};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde_json::json;
use stc_layer::{Policy, StcPlugin};
use stc_plugin::{Binding, Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, Registry, async_trait};

/// A filter that must see plain JSON: replaces one address.
struct Mask;

#[async_trait]
impl Plugin for Mask {
    fn metadata(&self) -> Metadata {
        Metadata::new("mask", "1.0.0").phases([Phase::PostUpstream]).reads_bodies()
    }

    async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        let body =
            context.response_body().map(|body| String::from_utf8_lossy(body).replace("ada@example.org", "[email]"));
        context.replace_response_body(body.unwrap_or_default());
        Ok(Outcome::Continue)
    }
}

async fn registry(configuration: serde_json::Value) -> Registry {
    let mut registry = Registry::new();
    let binding = Binding::at(Binding::COMPRESSION).configured(configuration);
    registry.add(StcPlugin::new(), binding).await.unwrap();
    registry.add(Mask, Binding::at(100)).await.unwrap();
    registry
}

/// Runs every phase, as a gateway does.
async fn through(registry: &Registry, asks: &[(&'static str, &str)], answer: &Answer) -> PluginContext {
    let mut context = PluginContext::new(Method::GET, "/rows");
    for (name, value) in asks {
        context.request_headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    context.hold_request_body(Some(Bytes::new()));
    for phase in [Phase::PreAuth, Phase::PostAuth, Phase::PreUpstream] {
        assert_eq!(registry.run(phase, &mut context).await, stc_plugin::Run::default());
    }
    context.status = Some(StatusCode::OK);
    for (name, value) in &answer.headers {
        context.response_headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    context.hold_response_body(Some(Bytes::from(answer.frames.concat())));
    assert_eq!(registry.run(Phase::PostUpstream, &mut context).await, stc_plugin::Run::default());
    context
}

#[tokio::test]
async fn plugin_and_layer_give_the_same() {
    let registry = registry(json!({"min_bytes": 32})).await;
    let client = Client::new(Policy { min_bytes: 32, ..Policy::default() });
    for asks in
        [&[][..], &[("accept-encoding", "stc")], &[("x-prefer-format", "toon")], &[("accept", "application/stc+json")]]
    {
        for answer in [
            Answer::json(ROWS),
            Answer::json(ROWS).with("etag", "\"a\""),
            Answer::json("[1, 2]"),
            Answer::json("[1, 2"),
            Answer::json(ROWS).with("cache-control", "no-transform"),
            Answer::new(ROWS).with("content-type", "text/plain"),
        ] {
            let by_layer = client.ask(asks, answer.clone()).await;
            let mut by_plugin = through(&registry, asks, &answer).await;
            assert_eq!(by_plugin.response_headers, by_layer.headers, "{asks:?}");
            assert_eq!(by_plugin.request_headers, by_layer.asked, "{asks:?}");
            assert_eq!(by_plugin.take_response_body().unwrap(), by_layer.body, "{asks:?}");
        }
    }
}

#[tokio::test]
async fn a_pii_filter_runs_before_compression() {
    let registry = registry(serde_json::Value::Null).await;
    let names: Vec<_> = registry.plugins().map(|plugin| plugin.name).collect();
    assert_eq!(names, ["mask", "stc"]);
    let rows = ROWS.replace("users", "ada@example.org");
    let answer = Answer::new(rows).with("content-type", "application/json");
    let mut context = through(&registry, &[("accept-encoding", "stc")], &answer).await;
    let body = context.take_response_body().unwrap();
    assert_eq!(body, ROWS_STC.replace("users", "[email]"));
}

#[tokio::test]
async fn a_bad_configuration_is_rejected() {
    let mut registry = Registry::new();
    let binding = Binding::default().configured(json!({"min_byte": 1}));
    let error = registry.add(StcPlugin::new(), binding).await.unwrap_err();
    assert!(error.to_string().contains("min_byte"), "{error}");
}
