//! The Python module `stc._stc`: the codec for `str`, `bytes` and buffers. `python/stc` has the names that users import.
//!
//! Large input is converted with the GIL released. Everything that is read then is immutable: `bytes`, `str`, views of `bytes`,
//! or a copy.

// The module itself, and its classes.
mod codec;
// Tool results inside requests to a model.
mod context;
// Input from Python objects.
mod input;
// Settings by keyword.
mod options;
// The exception.
mod rejection;

use pyo3::prelude::*;

/// The compiled part of the package `stc`.
#[pymodule(name = "_stc")]
mod module {
    #[pymodule_export]
    use super::codec::{Decoder, Encoder, decode, encode, estimate_tokens, legend};
    #[pymodule_export]
    use super::context::{Context, Prepared, restored, tool_family};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let formats = stc::Format::ALL.map(stc::Format::name);
        module.add("FORMATS", pyo3::types::PyTuple::new(module.py(), formats)?)
    }
}
