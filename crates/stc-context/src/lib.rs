#![doc = include_str!("../README.md")]

mod api;
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
pub use compress::Compressed;
pub use options::{BadOption, HeaderOptions};
pub use prepare::{Context, Done, Encode, Request};
pub use report::{Item, Report, Status};
pub use restore::{Restored, restore, texts};
pub use settings::{ApiChoice, Format, Legend, Mode, Settings, Telemetry};
