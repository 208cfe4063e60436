#![doc = include_str!("../README.md")]

mod bodies;
pub mod coding;
mod compress;
mod convert;
mod etag;
mod events;
mod exchange;
mod filter;
mod format;
pub mod headers;
mod job;
mod matched;
pub mod mcp;
pub mod memory;
mod middleware;
mod negotiate;
mod plugin;
mod policy;
mod pool;
mod qvalue;
mod report;
mod rules;
mod skip;
mod skip_tools;
#[cfg(feature = "toon")]
mod toon;

pub use convert::encode;
pub use events::EventStream;
pub use exchange::{Engine, Exchange};
pub use filter::Filter;
pub use format::{Format, options_for};
pub use job::{Job, Plan, Sent};
pub use matched::MatchedPath;
pub use memory::{BodyRoom, Memory};
pub use middleware::{Always, And, Predicate, ResponseFuture, Tee, Transform, TransformBody, TransformLayer};
pub use negotiate::{Ask, Negotiated, PREFER_FORMAT, STC_VERSION, Source, negotiate};
pub use plugin::StcPlugin;
pub use policy::{McpPolicy, Policy};
pub use pool::{Pool, Ticket};
pub use report::{Observer, Protocol, Report, RequestObserver, Tenant};
pub use rules::{ClientRule, Structured, ToolRule};
pub use skip::Skip;
pub use skip_tools::SkipTools;
pub use stc_wire::{Saved, Verify};
