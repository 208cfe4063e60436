//! The C ABI: handles, one-shot calls and streams around the codec, and around the answers of MCP servers. `include/stc.h` is
//! generated from this crate.
//!
//! Pointers from C arrive as `Option<&T>`, `Option<&mut T>` and `Option<Box<T>>`, which the language defines to be nullable
//! pointers; so the calls are safe code, and only raw input and buffers that C gives back need `unsafe` (`memory.rs`). Every call
//! runs in `guarded`: a panic becomes a status.

// This crate and the scan's kernels are the places of unsafe code; tests/unsafety.rs of the codec counts the blocks.
#![allow(unsafe_code)]

// The exported functions: handles, one-shot calls, texts about the format.
mod decoder;
mod encoder;
#[cfg(feature = "mcp")]
mod mcp;
mod once;
mod texts;

// What they share: a codec with its output, raw memory, settings, and what went wrong.
mod error;
mod handle;
mod memory;
mod options;

pub use decoder::{
    Decoder, stc_decoder_clear, stc_decoder_decode, stc_decoder_finish, stc_decoder_free, stc_decoder_new,
    stc_decoder_push,
};
pub use encoder::{
    Encoder, stc_encoder_clear, stc_encoder_encode, stc_encoder_finish, stc_encoder_free, stc_encoder_new,
    stc_encoder_push,
};
pub use error::{Error, Status};
#[cfg(feature = "mcp")]
pub use mcp::{Mcp, stc_mcp_finish, stc_mcp_free, stc_mcp_new, stc_mcp_push};
pub use memory::{Bytes, OwnedBytes};
pub use once::{stc_buffer_free, stc_buffer_new, stc_decode, stc_encode, stc_explain};
pub use options::{Format, Options, stc_options_init};
pub use texts::{stc_estimate_tokens, stc_legend, stc_status_name, stc_version};

#[cfg(test)]
mod tests;
