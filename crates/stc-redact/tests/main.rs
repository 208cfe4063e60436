//! Redaction from outside.

mod bounds;
mod linear;
mod parts;
mod planted;
mod structure;
