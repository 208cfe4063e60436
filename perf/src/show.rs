//! Standard output, whose reader may go before all is said.

use std::fmt::Display;
use std::io::{Write as _, stdout};

/// Prints a text as it is.
pub(crate) fn show(text: impl Display) -> Result<(), String> {
    let mut out = stdout().lock();
    write!(out, "{text}").and_then(|()| out.flush()).map_err(|error| format!("standard output: {error}"))
}
