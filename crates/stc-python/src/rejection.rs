//! The exception `STCError`, which `stc/_error.py` defines.

use pyo3::prelude::*;

pyo3::import_exception!(stc._error, STCError);

/// Returns the exception for a rejected document. Without the whole input, as in a stream, it has no line and column.
pub(crate) fn rejection(error: stc::Error, input: Option<&[u8]>) -> PyErr {
    let position = input.map(|input| error.position(input));
    // The variant's name without what was expected: "Syntax(Value)" is of the kind "Syntax".
    let shown = format!("{:?}", error.kind());
    let kind = shown.split('(').next().unwrap_or_default().to_owned();
    let (line, column) = (position.map(|position| position.line), position.map(|position| position.column));
    STCError::new_err((error.to_string(), kind, error.offset(), line, column))
}
