//! Generated tool responses: the files of `corpus/made/`, and similar documents of any size.
//!
//! Generators in this crate make everything from a seed, so a benchmark of ten megabytes needs no download and has the same
//! bytes on every machine. The crate depends on the standard library only.
//!
//! ```
//! let pods = stc_corpus::make("pods", 7, 10_000).expect("a kind of the catalogue");
//! assert_eq!(pods, stc_corpus::make("pods", 7, 10_000).expect("the same bytes again"));
//! ```

#[cfg(test)]
mod balance;
mod by_hand;
mod catalogue;
mod kinds;
mod made;
mod moment;
mod requests;
mod rng;
mod style;
mod transcripts;
mod value;
mod words;
mod writer;

pub use catalogue::{Kind, catalogue, kind, make};
pub use made::{Made, made};
pub use requests::long::{long_request, printed_request};
pub use requests::{APIS, ModelRequest, request};
pub use rng::Rng;
pub use style::{Escaping, Layout, Style};
pub use transcripts::{Transcript, transcript, transcripts};
