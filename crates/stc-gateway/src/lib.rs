#![doc = include_str!("../README.md")]

mod coding;
mod exchange;
mod format;
mod label;
pub mod mcp;
mod middleware;
mod negotiate;
mod plugin;
mod policy;
#[cfg(feature = "program")]
pub mod program;
mod report;
mod skip;
mod toon;
mod transcode;
mod weight;

pub use exchange::{Engine, EventStream, Exchange, Held, Plan, Todo};
pub use format::{Format, options_for};
pub use label::{STC_RATIO, STC_SKIPPED};
pub use middleware::{Always, And, Overheard, Predicate, ResponseFuture, Transform, TransformBody, TransformLayer};
pub use negotiate::{Ask, Door, Negotiated, PREFER_FORMAT, STC_VERSION, negotiate};
pub use plugin::StcPlugin;
pub use policy::{Filter, McpPolicy, Policy, Structured, Verify};
pub use report::{Observer, Protocol, Report};
pub use skip::Skip;
pub use transcode::Saved;
