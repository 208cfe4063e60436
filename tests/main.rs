//! The integration tests of the codec: one binary, one chapter per file.

mod abnf;
mod chosen;
mod corpus;
mod explain;
#[cfg(debug_assertions)]
mod headers_v2;
mod hostile;
mod laws;
mod limits;
mod limits_v2;
mod members;
mod memory;
mod open_lists;
mod random;
mod refused;
mod slow_path;
mod streams;
mod unsafety;
mod vectors;
mod verdict;
