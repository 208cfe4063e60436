//! Tool responses, made here: the files of `corpus/made/`, and documents like them of any size.
//!
//! Everything is made from a seed by generators in this crate, so a benchmark of ten megabytes needs no download and
//! gives the same bytes on every machine. Nothing depends on anything outside the standard library.
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
mod rng;
mod style;
mod value;
mod words;
mod writer;

pub use catalogue::{Kind, catalogue, kind, make};
pub use made::{Made, made};
pub use rng::Rng;
pub use style::{Escaping, Layout, Style};
