#![doc = include_str!("../README.md")]

mod ansi;
mod binary;
mod cap;
mod command;
mod dictionary;
mod excerpt;
mod family;
mod fold;
mod git;
mod grep;
mod lines;
mod listing;
mod noise;
mod pattern;
mod programs;
mod progress;
mod signals;
mod space;
mod table;

pub use ansi::ansi;
pub use binary::binary;
pub use cap::cap;
pub use command::{Command, commands};
pub use dictionary::{Dictionary, abbreviate, expand};
pub use excerpt::excerpt;
pub use family::{Kind, Origin, family};
pub use fold::fold;
pub use noise::noise;
pub use programs::Programs;
pub use signals::is_error;
pub use space::space;
pub use table::table;
