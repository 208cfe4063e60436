//! The trait that third parties implement.

use crate::{Outcome, Phase, PluginContext};
use std::fmt;

/// A plugin, called at the phases that it names. One value serves every request, so its own state needs a lock; state of
/// one request belongs in [`PluginContext::store`].
#[async_trait::async_trait]
pub trait Plugin: Send + Sync + 'static {
    /// Returns the plugin's name, version and phases.
    fn metadata(&self) -> Metadata;

    /// Loads the plugin with its configuration, once, before the first request. After an error the plugin is not added.
    async fn on_load(&mut self, _configuration: &serde_json::Value) -> Result<(), PluginError> {
        Ok(())
    }

    /// Handles one phase of a request. After an error, a panic or a timeout the context is as it was before the call, and
    /// the request continues. (A timeout takes effect only where the plugin awaits.)
    async fn execute(&self, phase: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError>;
}

/// The description of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Its name in logs and configurations.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The phases at which it is called.
    pub phases: Vec<Phase>,
    /// Whether it reads bodies. Without such plugins a gateway streams bodies.
    pub bodies: bool,
}

impl Metadata {
    /// Describes a plugin without phases that reads no bodies.
    #[must_use]
    pub const fn new(name: &'static str, version: &'static str) -> Self {
        Self { name, version, phases: Vec::new(), bodies: false }
    }

    /// Sets the phases.
    #[must_use]
    pub fn phases(mut self, phases: impl IntoIterator<Item = Phase>) -> Self {
        self.phases = phases.into_iter().collect();
        self
    }

    /// Declares that it reads bodies.
    #[must_use]
    pub const fn reads_bodies(mut self) -> Self {
        self.bodies = true;
        self
    }
}

/// An error of a plugin, for the operator's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginError(String);

impl PluginError {
    /// Creates an error with this message, which must not contain anything from a body.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PluginError {}
