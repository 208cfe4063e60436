//! A tower layer for axum, hyper and any other HTTP service.
//!
//! ```text
//! request ──▶ Transform::call ──▶ the service; an MCP request's body is copied as it is read
//!                                      │
//! response ◀── TransformBody ◀── ResponseFuture: collects a body that may change, streams the rest
//! ```
//!
//! Clients that do not opt in cost four header look-ups: their frames are forwarded unchanged.

mod body;
mod compressed;
mod future;
mod layer;
mod predicate;
mod service;
mod tee;

pub use body::TransformBody;
pub use future::ResponseFuture;
pub use layer::TransformLayer;
pub use predicate::{Always, And, Predicate};
pub use service::Transform;
pub use tee::Tee;
