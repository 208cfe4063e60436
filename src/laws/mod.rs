//! What must hold for every input, as functions that panic when it does not. Tests, corpus, fuzz targets and Miri all call
//! these, so that a law is written once.

mod codec;
mod limits;
mod references;

pub use codec::*;
pub use limits::{decoding_meets_its_limits, encoding_meets_its_limits};
pub use references::{anchors_use_their_whole_limit, references_cut_cleanly};
