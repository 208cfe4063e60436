//! The one integration binary: each file a chapter.

mod abnf;
mod laws;
mod random;
mod vectors;
