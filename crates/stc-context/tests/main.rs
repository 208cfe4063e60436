//! The integration tests of stc-context, one binary.

mod laws;
mod linear;
mod memory;
mod modes;
mod options;
mod programs;
mod readers;
mod requests;
mod schemas;
mod secrets;
mod sessions;
