//! The exception `STCError`, which `stc/_error.py` defines.

use pyo3::prelude::*;
use stc_binding::Rejection;

pyo3::import_exception!(stc._error, STCError);

/// Returns the exception for a rejected document. Without the whole input, as in a stream, it has no line and column.
pub(crate) fn rejection(error: stc::Error, input: Option<&[u8]>) -> PyErr {
    raised(Rejection::new(error, input))
}

/// Returns the exception for a rejection.
pub(crate) fn raised(rejection: Rejection) -> PyErr {
    let Rejection { message, kind, offset, position } = rejection;
    let (line, column) = position.unzip();
    STCError::new_err((message, kind, offset, line, column))
}
