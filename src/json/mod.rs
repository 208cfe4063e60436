//! Reading JSON, the same for every version of the format.
//!
//! [`scan`] turns 64-byte blocks into masks and the masks into offsets; [`tape`] keeps those offsets beside a text
//! without whitespace. The other modules answer questions about that text. Nothing here knows a version of STC.

pub(crate) mod diagnose;
pub(crate) mod duplicate_keys;
pub(crate) mod lexer;
pub(crate) mod nesting;
pub(crate) mod number_arrays;
pub(crate) mod scalar;
pub(crate) mod scan;
pub(crate) mod span;
pub(crate) mod tape;
