//! What a third party implements.

use crate::{Outcome, Phase, PluginContext};
use std::fmt;

/// Something that is asked at the phases it names. One value serves every request, so state of its own sits behind
/// its own lock; what belongs to one request goes into [`PluginContext::store`].
#[async_trait::async_trait]
pub trait Plugin: Send + Sync + 'static {
    /// Who it is and when it wants to be asked.
    fn metadata(&self) -> Metadata;

    /// Called once, before the first request, with its part of the configuration. An error keeps the plugin out.
    async fn on_load(&mut self, _configuration: &serde_json::Value) -> Result<(), PluginError> {
        Ok(())
    }

    /// Called for every request at every phase it named. An error, a panic or a timeout leaves the request as it was
    /// before the call, and the request goes on. (A timeout can only come where the plugin awaits.)
    async fn execute(&self, phase: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError>;
}

/// Who a plugin is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Its name: in logs, in metrics, in the configuration.
    pub name: &'static str,
    /// Its own version.
    pub version: &'static str,
    /// When to ask it.
    pub phases: Vec<Phase>,
    /// Whether it reads bodies. A gateway streams bodies past plugins that do not.
    pub bodies: bool,
}

impl Metadata {
    /// A plugin that is asked nowhere yet and reads no bodies.
    #[must_use]
    pub const fn new(name: &'static str, version: &'static str) -> Self {
        Self { name, version, phases: Vec::new(), bodies: false }
    }

    /// When to ask it.
    #[must_use]
    pub fn phases(mut self, phases: impl IntoIterator<Item = Phase>) -> Self {
        self.phases = phases.into_iter().collect();
        self
    }

    /// That it reads bodies.
    #[must_use]
    pub const fn reads_bodies(mut self) -> Self {
        self.bodies = true;
        self
    }
}

/// Why a plugin could not do its work, in words for the operator's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginError(String);

impl PluginError {
    /// An error that says `why`. Nothing of a body belongs in it.
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
