//! Writing STC 1: one pass from the tape to the output.

pub(crate) mod analyze;
mod arrays;
mod block;
mod cells;
mod fast_path;
mod members;
mod rows;
mod shape;
mod table;
mod write;
