//! The plugin SDK: what a third party implements, and the registry that runs it.
//!
//! A [`Plugin`] is asked at the [`Phase`]s it names and is given a [`PluginContext`]: who is calling, what for, the
//! headers both ways, and in the right phases a body. It answers [`Outcome::Continue`] or ends the request itself. The
//! [`Registry`] orders plugins by priority, asks their conditions, and keeps the request alive when one of them
//! panics, fails or takes too long: the request then goes on as if that plugin had not run.
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
//! `examples/` has two more, each in a file of its own: one that masks e-mail addresses before they are compressed, and
//! one that answers 429 itself.

mod binding;
mod context;
mod phase;
mod plugin;
mod registry;

pub use async_trait::async_trait;
pub use binding::{Binding, Conditions};
pub use context::PluginContext;
pub use phase::{Outcome, Phase};
pub use plugin::{Metadata, Plugin, PluginError};
pub use registry::{Ended, Fault, FaultKind, Registry, Run};
