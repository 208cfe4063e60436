//! Standard output; a closed pipe is an error, not a panic.

use std::fmt::Display;
use std::io::{Write as _, stdout};

/// Prints a text without adding a line break.
pub(crate) fn show(text: impl Display) -> Result<(), String> {
    let mut out = stdout().lock();
    write!(out, "{text}").and_then(|()| out.flush()).map_err(|error| format!("standard output: {error}"))
}
