//! The plugin SDK: the trait that third parties implement, and the registry that runs plugins.
//!
//! A [`Plugin`] is called at the [`Phase`]s that it names, with a [`PluginContext`]: tenant, user, tool, the headers of
//! request and response, and in some phases a body. It returns [`Outcome::Continue`] or ends the request. The [`Registry`]
//! orders plugins by priority, checks their conditions, and isolates their faults: after a panic, an error or a timeout the
//! request continues as if that plugin had not run.
//!
//! ```
//! use stc_plugin::{Binding, Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, Registry};
//!
//! struct Stamp;
//!
//! #[stc_plugin::async_trait]
//! impl Plugin for Stamp {
//!     fn metadata(&self) -> Metadata {
//!         Metadata::new("stamp", "1.0.0").phases([Phase::PostUpstream])
//!     }
//!
//!     async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
//!         context.response_headers.insert("x-stamp", http::HeaderValue::from_static("seen"));
//!         Ok(Outcome::Continue)
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let mut registry = Registry::new();
//! registry.add(Stamp, Binding::default()).await?;
//!
//! let mut context = PluginContext::new(http::Method::GET, "/orders");
//! let run = registry.run(Phase::PostUpstream, &mut context).await;
//! assert!(run.ended.is_none() && run.faults.is_empty());
//! assert_eq!(context.response_headers["x-stamp"], "seen");
//! # Ok::<(), PluginError>(()) }).unwrap();
//! ```
//!
//! `examples/` has two more: `redact` replaces a word in responses, `quota` answers 429 itself.

mod binding;
mod context;
pub mod path;
mod phase;
mod plugin;
mod registry;

pub use async_trait::async_trait;
pub use binding::{Binding, Conditions};
pub use context::PluginContext;
pub use phase::{Outcome, Phase};
pub use plugin::{Metadata, Plugin, PluginError};
pub use registry::{Ended, Fault, FaultKind, Registry, Run};
