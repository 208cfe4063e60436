//! The layer and the plugin over services with prepared answers.

mod axum_service;
mod forms;
mod laws;
mod mcp;
mod memory;
mod observers;
mod operator;
mod plugin;
mod pool;
mod readme;
mod rest;
mod skips;
mod sources;
mod upstream;
