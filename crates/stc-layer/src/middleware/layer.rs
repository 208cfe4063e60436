//! The layer, which wraps a service.

use super::predicate::{Always, And, Predicate};
use super::service::Transform;
use crate::{Engine, Memory, Policy};
use std::sync::Arc;
use tower_layer::Layer;

/// A layer that wraps services in [`Transform`].
#[derive(Clone)]
pub struct TransformLayer<P = Always> {
    engine: Engine,
    predicate: P,
    memory: Option<Arc<dyn Memory>>,
}

impl TransformLayer {
    /// Creates a layer under this policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self::with_engine(Engine::new(policy))
    }

    /// Creates a layer that shares this engine with its limits and its observer.
    #[must_use]
    pub fn with_engine(engine: Engine) -> Self {
        Self { engine, predicate: Always, memory: None }
    }
}

impl Default for TransformLayer {
    fn default() -> Self {
        Self::new(Policy::default())
    }
}

impl<P: Predicate> TransformLayer<P> {
    /// Adds a condition for converting a response.
    #[must_use]
    pub fn when<Q: Predicate>(self, predicate: Q) -> TransformLayer<And<P, Q>> {
        TransformLayer { engine: self.engine, predicate: self.predicate.and(predicate), memory: self.memory }
    }

    /// Counts the bytes of held bodies in this account; without one only `max_held` bounds them.
    #[must_use]
    pub fn counted(self, memory: Arc<dyn Memory>) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// Wraps one service: what [`layer`](Layer::layer) does for a layer that is not needed any more.
    pub fn into_service<S>(self, inner: S) -> Transform<S, P> {
        Transform::new(inner, self.engine, self.predicate, self.memory)
    }
}

impl<S, P: Clone> Layer<S> for TransformLayer<P> {
    type Service = Transform<S, P>;

    fn layer(&self, inner: S) -> Self::Service {
        Transform::new(inner, self.engine.clone(), self.predicate.clone(), self.memory.clone())
    }
}
