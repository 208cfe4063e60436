//! The integration tests of the codec: one binary, one chapter per file.

mod abnf;
mod chosen;
mod corpus;
mod explain;
mod hostile;
mod laws;
mod limits;
mod members;
mod memory;
mod random;
mod streams;
mod unsafety;
mod vectors;
mod verdict;
