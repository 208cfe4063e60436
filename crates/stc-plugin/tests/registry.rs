//! The registry: order, conditions, time limits, isolation of faults.

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use serde_json::json;
use stc_plugin::{
    Binding, Conditions, FaultKind, Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, Registry, async_trait,
};
use std::time::Duration;

/// A plugin that appends its name to a header, and then behaves as configured.
struct Recorder {
    name: &'static str,
    then: Then,
}

#[derive(Clone, Copy)]
enum Then {
    Continue,
    Terminate,
    Fail,
    Panic,
    Sleep,
}

#[async_trait]
impl Plugin for Recorder {
    fn metadata(&self) -> Metadata {
        Metadata::new(self.name, "0").phases(Phase::ALL).reads_bodies()
    }

    async fn on_load(&mut self, configuration: &serde_json::Value) -> Result<(), PluginError> {
        match configuration["load"].as_str() {
            Some("fail") => Err(PluginError::new("told to")),
            Some("panic") => panic!("told to"),
            _ => Ok(()),
        }
    }

    async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        context.response_headers.append("trail", HeaderValue::from_static(self.name));
        context.replace_response_body(self.name);
        match self.then {
            Then::Continue => Ok(Outcome::Continue),
            Then::Terminate => {
                Ok(Outcome::Terminate { status: StatusCode::FORBIDDEN, body: Bytes::from_static(b"no") })
            }
            Then::Fail => Err(PluginError::new("told to")),
            Then::Panic => panic!("told to"),
            Then::Sleep => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                Ok(Outcome::Continue)
            }
        }
    }
}

async fn registry(plugins: &[(&'static str, i32, Then)]) -> Registry {
    let mut registry = Registry::new();
    for &(name, priority, then) in plugins {
        registry.add(Recorder { name, then }, Binding::at(priority)).await.unwrap();
    }
    registry
}

fn trail(context: &PluginContext) -> Vec<&str> {
    context.response_headers.get_all("trail").iter().map(|name| name.to_str().unwrap()).collect()
}

fn request() -> PluginContext {
    let mut context = PluginContext::new(Method::GET, "/orders");
    context.hold_response_body(Some(Bytes::from_static(b"original")));
    context
}

#[tokio::test]
async fn lower_priorities_run_first_and_equals_in_the_order_added() {
    let registry = registry(&[
        ("compress", Binding::COMPRESSION, Then::Continue),
        ("b", 500, Then::Continue),
        ("c", 500, Then::Continue),
        ("pii", 100, Then::Continue),
    ])
    .await;
    let mut context = request();
    let run = registry.run(Phase::PostUpstream, &mut context).await;
    assert_eq!(trail(&context), ["pii", "b", "c", "compress"]);
    assert!(run.faults.is_empty() && run.ended.is_none());
}

#[tokio::test]
async fn terminate_ends_the_request_and_later_plugins_do_not_run() {
    let registry = registry(&[("a", 1, Then::Continue), ("b", 2, Then::Terminate), ("c", 3, Then::Continue)]).await;
    let mut context = request();
    let ended = registry.run(Phase::PreAuth, &mut context).await.ended.unwrap();
    assert_eq!((ended.by, ended.status, &ended.body[..]), ("b", StatusCode::FORBIDDEN, &b"no"[..]));
    assert_eq!(trail(&context), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_an_error_and_a_timeout_restore_the_request() {
    for (then, expected) in [
        (Then::Panic, FaultKind::Panicked),
        (Then::Fail, FaultKind::Failed(PluginError::new("told to"))),
        (Then::Sleep, FaultKind::TimedOut),
    ] {
        let registry = registry(&[("bad", 1, then)]).await;
        let mut context = request();
        let run = registry.run(Phase::PostUpstream, &mut context).await;
        assert_eq!((run.faults[0].plugin, &run.faults[0].kind), ("bad", &expected));
        assert_eq!(context.response_body().unwrap(), "original");
        assert!(trail(&context).is_empty());
    }
}

#[tokio::test]
async fn the_next_plugin_runs_after_a_panic() {
    let registry = registry(&[("bad", 1, Then::Panic), ("good", 2, Then::Continue)]).await;
    let mut context = request();
    let run = registry.run(Phase::OnError, &mut context).await;
    assert_eq!(run.faults.len(), 1);
    assert_eq!(trail(&context), ["good"]);
    assert_eq!(context.response_body().unwrap(), "good");
}

#[tokio::test]
async fn conditions_select_requests() {
    let mut registry = Registry::new();
    let only_orders = Conditions::default().routes(["/orders*"]).unwrap();
    registry.add(Recorder { name: "a", then: Then::Continue }, Binding::at(1).when(only_orders)).await.unwrap();
    let mut other = PluginContext::new(Method::GET, "/users");
    assert!(!registry.wants(Phase::PreAuth, &other));
    registry.run(Phase::PreAuth, &mut other).await;
    assert!(trail(&other).is_empty());
    let mut orders = request();
    assert!(registry.wants_body(Phase::PreAuth, &orders));
    registry.run(Phase::PreAuth, &mut orders).await;
    assert_eq!(trail(&orders), ["a"]);
}

#[tokio::test]
async fn a_plugin_that_does_not_load_is_not_added() {
    let mut registry = Registry::new();
    for how in ["fail", "panic"] {
        let binding = Binding::default().configured(json!({"load": how}));
        assert!(registry.add(Recorder { name: "bad", then: Then::Continue }, binding).await.is_err());
    }
    assert_eq!(registry.plugins().count(), 0);
}

/// Two bindings of one plugin: a fault belongs to the binding that failed.
#[tokio::test]
async fn a_fault_is_required_by_its_binding() {
    let mut registry = Registry::new();
    let users = Conditions::default().routes(["/users"]).unwrap();
    registry.add(Recorder { name: "a", then: Then::Fail }, Binding::at(1)).await.unwrap();
    registry.add(Recorder { name: "a", then: Then::Fail }, Binding::at(2).when(users).required(true)).await.unwrap();
    for (path, expected) in [("/orders", &[false][..]), ("/users", &[false, true])] {
        let run = registry.run(Phase::PreAuth, &mut PluginContext::new(Method::GET, path)).await;
        let required: Vec<_> = run.faults.iter().map(|fault| fault.required).collect();
        assert_eq!(required, expected, "{path}");
    }
}
