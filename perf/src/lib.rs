//! What the harness and the benches share: the documents, who works on them, and how the work is timed.
//!
//! The one idea: whoever is compared gets the same bytes, in the same process, in turns. A noisy machine then slows
//! everybody alike, and a ratio survives what an absolute number does not.

pub mod cases;
pub mod contenders;
pub mod hostile;
pub mod measure;
mod rivals;
pub mod rotation;
pub mod stats;
mod streams;

pub use cases::Case;
pub use contenders::Contender;
pub use stc::internal::Kernel;

/// The scan kernel of that name, or the best one if none is named.
pub fn kernel(name: Option<&str>) -> Result<Kernel, String> {
    let available = Kernel::available();
    let found = name.map_or(available.first(), |name| available.iter().find(|kernel| kernel.name() == name));
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = available.iter().map(|kernel| kernel.name()).collect();
        format!("no kernel {} on this machine; there is: {}", name.unwrap_or_default(), names.join(", "))
    })
}
