//! The one integration binary: each file a chapter.

mod abnf;
mod chosen;
mod cli;
mod corpus;
mod explain;
mod hostile;
mod laws;
mod limits;
mod members;
mod memory;
mod random;
mod slow_path;
mod streams;
mod unsafety;
mod vectors;
mod verdict;
