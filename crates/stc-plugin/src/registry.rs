//! Runs plugins in order and isolates their faults.
//!
//! Before a call the context is copied; bodies are shared, so this copies a few headers. After a panic, an error or a
//! timeout the copy is restored, so that no incomplete change remains.

use crate::{Binding, Metadata, Outcome, Phase, Plugin, PluginContext, PluginError};
use bytes::Bytes;
use http::StatusCode;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// The plugins of a gateway in running order.
#[derive(Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

struct Entry {
    metadata: Metadata,
    binding: Binding,
    plugin: Box<dyn Plugin>,
}

/// The result of one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The response of the plugin that ended the request.
    pub ended: Option<Ended>,
    /// The faults; the request continued without these plugins.
    pub faults: Vec<Fault>,
}

/// The response of a plugin that ended a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The name of the plugin.
    pub by: &'static str,
    /// The status to send.
    pub status: StatusCode,
    /// The body to send.
    pub body: Bytes,
}

/// A fault of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name of the plugin.
    pub plugin: &'static str,
    /// How the plugin failed.
    pub kind: FaultKind,
    /// Whether the plugin's binding is [required](Binding::required).
    pub required: bool,
}

/// The kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The plugin returned an error.
    Failed(PluginError),
    /// The plugin panicked.
    Panicked,
    /// The call exceeded the time limit of its binding.
    TimedOut,
}

impl Registry {
    /// Creates an empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads a plugin with its configuration and inserts it by priority. A plugin that fails or panics while loading is not
    /// added.
    pub async fn add(&mut self, plugin: impl Plugin, binding: Binding) -> Result<(), PluginError> {
        self.add_boxed(Box::new(plugin), binding).await
    }

    /// Loads and inserts a boxed plugin, as [`Registry::add`] does.
    pub async fn add_boxed(&mut self, mut plugin: Box<dyn Plugin>, binding: Binding) -> Result<(), PluginError> {
        let loaded = match caught(plugin.on_load(&binding.configuration)).await {
            Some(loaded) => loaded,
            None => Err(PluginError::new("panicked while loading")),
        };
        loaded?;
        let metadata = plugin.metadata();
        let place = self.entries.partition_point(|entry| entry.binding.priority <= binding.priority);
        self.entries.insert(place, Entry { metadata, binding, plugin });
        Ok(())
    }

    /// Returns the plugins in running order.
    pub fn plugins(&self) -> impl Iterator<Item = &Metadata> {
        self.entries.iter().map(|entry| &entry.metadata)
    }

    /// Returns whether a plugin runs at this phase of this request; if not, nothing needs to be prepared.
    #[must_use]
    pub fn wants(&self, phase: Phase, context: &PluginContext) -> bool {
        self.bound(phase).any(|entry| entry.binding.conditions.hold_for(context))
    }

    /// Returns whether a plugin reads bodies at this phase of this request; if not, the body is streamed.
    #[must_use]
    pub fn wants_body(&self, phase: Phase, context: &PluginContext) -> bool {
        self.readers(phase, context).next().is_some()
    }

    /// Returns the plugins that read bodies at this phase of this request.
    pub fn readers(&self, phase: Phase, context: &PluginContext) -> impl Iterator<Item = &Metadata> {
        let reads = |entry: &&Entry| entry.metadata.bodies && entry.binding.conditions.hold_for(context);
        self.bound(phase).filter(reads).map(|entry| &entry.metadata)
    }

    /// Returns whether it depends on the tools that the request calls which plugins run; if so, the gateway reads its body first.
    #[must_use]
    pub fn wants_tools(&self, context: &PluginContext) -> bool {
        self.entries.iter().any(|entry| entry.binding.conditions.depend_on_tools(context))
    }

    /// Runs the plugins of this phase in order, until one ends the request.
    pub async fn run(&self, phase: Phase, context: &mut PluginContext) -> Run {
        let mut run = Run::default();
        context.phase = phase;
        for entry in self.bound(phase) {
            if !entry.binding.conditions.hold_for(context) {
                continue;
            }
            let before = context.clone();
            let asked = caught(entry.plugin.execute(phase, context));
            let fault = match tokio::time::timeout(entry.binding.timeout, asked).await {
                Ok(Some(Ok(Outcome::Continue))) => continue,
                Ok(Some(Ok(Outcome::Terminate { status, body }))) => {
                    run.ended = Some(Ended { by: entry.metadata.name, status, body });
                    return run;
                }
                Ok(Some(Err(error))) => FaultKind::Failed(error),
                Ok(None) => FaultKind::Panicked,
                Err(_) => FaultKind::TimedOut,
            };
            *context = before;
            let required = entry.binding.required;
            run.faults.push(Fault { plugin: entry.metadata.name, kind: fault, required });
        }
        run
    }

    fn bound(&self, phase: Phase) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.metadata.phases.contains(&phase))
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.plugins()).finish()
    }
}

/// Returns the future's output, or `None` after a panic. The future is not polled again after a panic, and the caller
/// restores what it borrowed from a copy, so that no incomplete change is visible.
async fn caught<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Some(value)),
        Err(_) => Poll::Ready(None),
    })
    .await
}
