//! Settings by keyword: the format by its name, the limits by theirs.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the format of a name, or a `ValueError` that lists the names.
pub(crate) fn format(name: &str) -> PyResult<stc::Format> {
    name.parse().map_err(|error| PyValueError::new_err(format!("format {name:?} is {error}")))
}

/// Returns the options of a codec; `limits` has keywords with the names of [`stc::Limits`], and `window`.
pub(crate) fn options(name: &str, limits: Option<&Bound<'_, PyDict>>) -> PyResult<stc::Options> {
    let mut options = stc::Options::default().format(format(name)?);
    let mut bounds = stc::Limits::default();
    for (key, value) in limits.into_iter().flatten() {
        let key: String = key.extract()?;
        match key.as_str() {
            "window" => options = options.window(value.extract()?),
            "depth" => bounds.depth = value.extract()?,
            "input" => bounds.input = value.extract()?,
            "output" => bounds.output = value.extract()?,
            "ratio" => bounds.ratio = value.extract()?,
            "ratio_after" => bounds.ratio_after = value.extract()?,
            "columns" => bounds.columns = value.extract()?,
            "header" => bounds.header = value.extract()?,
            "row" => bounds.row = value.extract()?,
            "anchors" => bounds.anchors = value.extract()?,
            _ => return Err(PyTypeError::new_err(format!("unexpected keyword argument {key:?}"))),
        }
    }
    Ok(options.limits(bounds))
}
