#![doc = include_str!("../README.md")]

mod api;
mod bad_option;
mod compress;
mod dedup;
mod family;
mod later;
#[cfg(feature = "__internal")]
#[doc(hidden)]
pub mod laws;
mod layout;
mod lossless;
mod options;
mod prepare;
mod report;
mod restore;
mod settings;

pub use api::{Api, Endpoint};
pub use bad_option::BadOption;
pub use compress::Compressed;
pub use lossless::Encode;
pub use options::HeaderOptions;
pub use prepare::{Context, Done, Request};
pub use report::{Item, Report, Status};
pub use restore::{Restored, restore, texts};
pub use settings::{ApiChoice, Format, Legend, Mode, Settings, Telemetry};
