//! Settings by keyword: the format by its name, the limits by theirs.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stc_binding::Settings;

/// Returns the format of a name, or a `ValueError` that lists the names or says what became of one.
pub(crate) fn format(name: &str) -> PyResult<stc::Format> {
    name.parse().map_err(|error: stc::UnknownFormat| {
        PyValueError::new_err(error.hint().map_or_else(|| format!("format {name:?} is {error}"), String::from))
    })
}

/// Returns the options of a codec; `limits` has keywords with the names of [`stc::Limits`], and `window`.
pub(crate) fn options(name: &str, limits: Option<&Bound<'_, PyDict>>) -> PyResult<stc::Options> {
    let mut settings = Settings::of(format(name)?);
    for (key, value) in limits.into_iter().flatten() {
        let key: String = key.extract()?;
        if !Settings::NAMES.contains(&key.as_str()) {
            return Err(PyTypeError::new_err(format!("unexpected keyword argument {key:?}")));
        }
        settings.set(&key, value.extract()?);
    }
    Ok(settings.options())
}
