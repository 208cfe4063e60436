//! What the harness and the benches share: the documents, the contenders, and the timing.
//!
//! The one idea: all contenders get the same bytes, in the same process, in turns. A noisy machine then slows all of them
//! alike, so a ratio is stable where an absolute time is not.

pub mod cases;
mod codecs;
pub mod contender;
pub mod contenders;
pub mod hostile;
pub mod measure;
#[cfg(feature = "gate")]
pub mod requests;
mod rivals;
pub mod rotation;
pub mod stats;
mod streams;
pub mod variants;

pub use cases::Case;
pub use contender::Contender;
pub use stc::internal::Kernel;

/// Returns the scan kernel of that name, or the fastest one if none is named.
pub fn kernel(name: Option<&str>) -> Result<Kernel, String> {
    let available = Kernel::available();
    let found = name.map_or(available.first(), |name| available.iter().find(|kernel| kernel.name() == name));
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = available.iter().map(|kernel| kernel.name()).collect();
        format!("no kernel {} on this machine; available: {}", name.unwrap_or_default(), names.join(", "))
    })
}
