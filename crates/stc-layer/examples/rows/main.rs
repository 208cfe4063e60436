//! The README's service. It is in a file of its own so that a test can run it too.

include!("service.rs");
