#![doc = include_str!("../README.md")]

mod api;
mod bad_option;
mod chain;
mod compress;
mod dedup;
mod everywhere;
mod family;
mod joined;
mod key;
mod later;
#[cfg(feature = "__internal")]
#[doc(hidden)]
pub mod laws;
mod layout;
mod lossless;
mod memo;
mod options;
mod prepare;
mod reader;
mod redaction;
mod refused;
mod report;
mod restore;
mod schemas;
mod session;
mod settings;
mod source;
mod steps;
mod store;
mod text;
mod tokens;
mod work;

pub use api::{Api, Endpoint};
pub use bad_option::BadOption;
pub use compress::Compressed;
pub use key::{Caller, Key, Secret};
pub use lossless::Encode;
pub use options::{HeaderOptions, family_names, family_of_tool};
pub use prepare::{Begun, Context, Done, Request};
pub use reader::{Reading, model_in_path};
#[cfg(feature = "__internal")]
#[doc(hidden)]
pub use redaction::Redact;
pub use refused::Refused;
pub use report::{Item, Memo, Report, Status};
pub use restore::{Restored, is_request, restore, texts};
pub use settings::{
    ApiChoice, CapSettings, DictionarySettings, ExcerptSettings, Format, FormatChoice, Legend, MemoSettings, Method,
    Mode, Reader, ReaderChoice, ReaderLine, RedactSettings, RedactWhen, Schemas, SessionFrom, Settings, StoreSettings,
    Telemetry,
};
pub use steps::{Step, Steps, Trace};
pub use store::{Bounds, MemoryStore, Store, Write};
pub use text::text;
