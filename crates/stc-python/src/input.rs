//! Input from Python objects, in a form that stays readable while the GIL is released.

use std::ops::{Deref, Range};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyMemoryView, PyString};
use stc_binding::Rejection;

use crate::rejection::raised;

/// The bytes of a `str`, of `bytes` or of a buffer.
///
/// A buffer that says it is read-only may still change: a read-only view of a `bytearray` does, and so does a file mapped into
/// memory. So only views of `bytes` are read in place; other buffers are copied, which takes a small part of the time of a
/// conversion.
pub(crate) enum Input {
    Text(PyBackedStr),
    /// A `str` with lone surrogates, written as if they had UTF-8. The engine rejects them where they are, as it does in bytes: with
    /// the offset in the document, which only it knows in a stream.
    Surrogates(PyBackedBytes),
    Bytes(PyBackedBytes),
    View(PyBackedBytes, Range<usize>),
    Copy(Vec<u8>),
}

impl Deref for Input {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Surrogates(bytes) | Self::Bytes(bytes) => bytes,
            Self::View(bytes, range) => &bytes[range.clone()],
            Self::Copy(bytes) => bytes,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Input {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let object = object.to_owned();
        if let Ok(text) = object.cast::<PyString>() {
            return text.clone().try_into().map_or_else(|_| surrogates(text), |text| Ok(Self::Text(text)));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone().into()));
        }
        let Ok(buffer) = PyBuffer::<u8>::get(&object) else {
            let kind = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!("expected str, bytes or a buffer of bytes, not {kind}")));
        };
        if let Some(view) = view_of_bytes(&object, &buffer)? {
            return Ok(view);
        }
        Ok(Self::Copy(buffer.to_vec(object.py())?))
    }
}

/// Returns the bytes of a `str` that has no UTF-8.
fn surrogates(text: &Bound<'_, PyString>) -> PyResult<Input> {
    let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    Ok(Input::Surrogates(bytes.cast_into::<PyBytes>()?.into()))
}

impl Input {
    /// Returns the input, or an error for a `str` without UTF-8. For calls that accept what is not JSON.
    pub(crate) fn well_formed(self) -> PyResult<Self> {
        match &self {
            Self::Surrogates(bytes) => Rejection::of_text(bytes).map_or(Ok(self), |rejection| Err(raised(rejection))),
            _ => Ok(self),
        }
    }
}

/// Returns a `memoryview` of `bytes` as a range of them; `None` for all other buffers.
fn view_of_bytes(object: &Bound<'_, PyAny>, buffer: &PyBuffer<u8>) -> PyResult<Option<Input>> {
    if !object.is_instance_of::<PyMemoryView>() || !buffer.readonly() || !buffer.is_c_contiguous() {
        return Ok(None);
    }
    let owner = object.getattr("obj")?;
    let Ok(bytes) = owner.cast::<PyBytes>() else { return Ok(None) };
    // The addresses are compared, not read: a range that is not inside the bytes is copied.
    let start = (buffer.buf_ptr() as usize).wrapping_sub(bytes.as_bytes().as_ptr() as usize);
    let Some(end) = start.checked_add(buffer.len_bytes()).filter(|&end| end <= bytes.as_bytes().len()) else {
        return Ok(None);
    };
    Ok(Some(Input::View(bytes.clone().into(), start..end)))
}
