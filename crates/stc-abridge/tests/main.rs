//! The steps on generated texts.

mod generated;
