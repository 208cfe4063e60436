//! The integration tests of the codec: one binary, one chapter per file.

mod abnf;
mod chosen;
mod copies;
mod corpus;
#[cfg(all(debug_assertions, not(miri)))]
mod damage;
mod edges;
mod exact_limits;
mod explain;
mod forms_v1;
#[cfg(debug_assertions)]
mod headers_v2;
mod hostile;
mod laws;
mod limits;
mod limits_v2;
mod members;
mod memory;
mod open_lists;
mod paths;
mod public_types;
mod pushed;
mod random;
mod references;
mod refused;
mod serde_values;
mod slow_path;
mod slow_steps;
mod streams;
mod texts;
mod thresholds;
mod unsafety;
mod vectors;
mod verdict;
#[cfg(all(debug_assertions, not(miri)))]
mod version_2;
