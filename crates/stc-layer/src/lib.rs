#![doc = include_str!("../README.md")]

pub mod coding;
mod convert;
mod exchange;
mod format;
pub mod headers;
pub mod mcp;
mod middleware;
mod negotiate;
mod plugin;
mod policy;
mod qvalue;
mod report;
mod skip;
#[cfg(feature = "toon")]
mod toon;

pub use convert::encode;
pub use exchange::{Engine, EventStream, Exchange, Held, Job, Plan};
pub use format::{Format, options_for};
pub use middleware::{Always, And, Predicate, ResponseFuture, Tee, Transform, TransformBody, TransformLayer};
pub use negotiate::{Ask, Negotiated, PREFER_FORMAT, STC_VERSION, Source, negotiate};
pub use plugin::StcPlugin;
pub use policy::{Filter, McpPolicy, Policy, Structured};
pub use report::{Observer, Protocol, Report};
pub use skip::Skip;
pub use stc_wire::{Saved, Verify};
