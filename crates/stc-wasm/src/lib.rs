//! The WebAssembly module: the functions of the C ABI, which `js/index.mjs` calls with addresses in the module's memory.
//!
//! Rejected: wasm-bindgen. It needs a program of its own version at build time, and its glue is about as long as ours, because the
//! interface is bytes in and bytes out.

pub use stc_capi::*;
