//! The program around the library.

mod admin;
pub(crate) mod config;
mod forward;
mod guarded;
mod idle;
mod ledger;
pub(crate) mod serve;
