//! Reading JSON, the same for every version of the format. Nothing here knows a version of STC.
//!
//! [`scan`] turns 64-byte blocks into masks and the masks into offsets; [`tape`] keeps those offsets beside a text
//! without whitespace. The other modules answer questions about that text.

// The slow reader: where and why a text is refused.
pub(crate) mod diagnose;
pub(crate) mod duplicate_keys;
// Strings, numbers and literals byte by byte, resumable.
pub(crate) mod lexer;
// The open containers, one bit each.
pub(crate) mod nesting;
// Arrays of numbers, a block at a time.
pub(crate) mod number_arrays;
// Whether one good scalar ends at an entry, by one comparison.
pub(crate) mod scalar;
// Blocks to masks to offsets; `scan::arch` is one file an instruction set.
pub(crate) mod scan;
// Lexemes read and copied many bytes at a time.
pub(crate) mod span;
// The text without whitespace, and the offsets into it.
pub(crate) mod tape;
