//! The same as a tower layer, for axum, hyper and whatever else is a service over HTTP.
//!
//! ```text
//! request ──▶ Transform::call ──▶ the service, its request body overheard if that may matter
//!                                      │
//! response ◀── TransformBody ◀── ResponseFuture: collects a body that may change, streams the rest
//! ```
//!
//! A request that did not ask costs a look at four headers: its bodies are forwarded frame by frame as they are.

mod body;
mod future;
mod layer;
mod overheard;
mod predicate;
mod service;

pub use body::TransformBody;
pub use future::ResponseFuture;
pub use layer::TransformLayer;
pub use overheard::Overheard;
pub use predicate::{Always, And, Predicate};
pub use service::Transform;
