//! Redaction from outside.

mod bounds;
mod planted;
mod structure;
