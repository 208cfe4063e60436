//! The gateway's promises, held against services that answer as told.

mod axum_service;
mod doors;
mod laws;
mod mcp;
mod plugin;
#[cfg(feature = "program")]
mod program;
mod readme;
mod rest;
mod skips;
mod upstream;
