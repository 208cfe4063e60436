//! Runs plugins in order and outlives them.
//!
//! Before a plugin is asked, the context is copied; bodies are shared, so that is a few headers. If the plugin panics,
//! fails or runs out of time, the copy is put back: half of a plugin's work is worse than none of it.

use crate::{Binding, Metadata, Outcome, Phase, Plugin, PluginContext, PluginError};
use bytes::Bytes;
use http::StatusCode;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// The plugins of a gateway, in the order they run.
#[derive(Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

struct Entry {
    metadata: Metadata,
    binding: Binding,
    plugin: Box<dyn Plugin>,
}

/// What became of one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The plugin that ended the request, and with what.
    pub ended: Option<Ended>,
    /// The plugins that did not do their work; the request went on without them.
    pub faults: Vec<Fault>,
}

/// A request that a plugin ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which plugin.
    pub by: &'static str,
    /// The status to send.
    pub status: StatusCode,
    /// The body to send.
    pub body: Bytes,
}

/// A plugin that did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which plugin.
    pub plugin: &'static str,
    /// What happened.
    pub kind: FaultKind,
}

/// How a plugin failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It said so itself.
    Failed(PluginError),
    /// It panicked.
    Panicked,
    /// It took longer than its binding allows.
    TimedOut,
}

impl Registry {
    /// No plugins yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads a plugin with its configuration and gives it its place. One that cannot be loaded, or panics while
    /// loading, is left out and the error says why.
    pub async fn add(&mut self, plugin: impl Plugin, binding: Binding) -> Result<(), PluginError> {
        self.add_boxed(Box::new(plugin), binding).await
    }

    /// The same for a plugin that is boxed already.
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

    /// The plugins, in the order they run.
    pub fn plugins(&self) -> impl Iterator<Item = &Metadata> {
        self.entries.iter().map(|entry| &entry.metadata)
    }

    /// Whether anyone wants to be asked at this phase of this request: if not, nothing needs to be prepared.
    #[must_use]
    pub fn wants(&self, phase: Phase, context: &PluginContext) -> bool {
        self.bound(phase).any(|entry| entry.binding.conditions.hold_for(context))
    }

    /// Whether anyone reads bodies at this phase of this request: if not, the body streams.
    #[must_use]
    pub fn wants_body(&self, phase: Phase, context: &PluginContext) -> bool {
        self.bound(phase).any(|entry| entry.metadata.bodies && entry.binding.conditions.hold_for(context))
    }

    /// Asks every plugin of this phase, in order, until one ends the request.
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
            run.faults.push(Fault { plugin: entry.metadata.name, kind: fault });
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

/// The future's output, or `None` if it panicked. It is not polled again after a panic, and what it borrowed is put
/// back from a copy, so nothing half-written is seen.
async fn caught<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Some(value)),
        Err(_) => Poll::Ready(None),
    })
    .await
}
