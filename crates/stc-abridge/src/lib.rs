//! Texts of tools in fewer tokens, at the price of what each step names. Every step is one file: a pure function of a text,
//! deterministic, idempotent and bounded.

mod dictionary;

pub use dictionary::{Dictionary, abbreviate, expand};
