//! The layer and the plugin over services with prepared answers.

mod axum_service;
mod laws;
mod mcp;
mod plugin;
mod readme;
mod rest;
mod skips;
mod sources;
mod upstream;
