#![doc = include_str!("../README.md")]

mod bodies;
pub mod coding;
mod compress;
mod convert;
mod etag;
mod events;
mod exchange;
mod format;
pub mod headers;
mod job;
pub mod mcp;
mod middleware;
mod negotiate;
mod plugin;
mod policy;
mod pool;
mod qvalue;
mod report;
mod skip;
#[cfg(feature = "toon")]
mod toon;

pub use convert::encode;
pub use events::EventStream;
pub use exchange::{Engine, Exchange, Held};
pub use format::{Format, options_for};
pub use job::{Job, Plan};
pub use middleware::{Always, And, Predicate, ResponseFuture, Tee, Transform, TransformBody, TransformLayer};
pub use negotiate::{Ask, Negotiated, PREFER_FORMAT, STC_VERSION, Source, negotiate};
pub use plugin::StcPlugin;
pub use policy::{Filter, McpPolicy, Policy, Structured};
pub use pool::Pool;
pub use report::{Observer, Protocol, Report};
pub use skip::Skip;
pub use stc_wire::{Saved, Verify};
