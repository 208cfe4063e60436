//! One-shot calls, and the classes `Encoder` and `Decoder`.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::input::Input;
use crate::options::{format, options};
use crate::rejection::rejection;

/// From this size on, releasing the GIL costs less than the time other threads wait for it.
const RELEASE: usize = 16 << 10;

/// Runs `work`, with the GIL released if the input is large.
pub(crate) fn released<T: Send>(py: Python<'_>, size: usize, work: impl FnOnce() -> T + Send) -> T {
    if size < RELEASE { work() } else { py.detach(work) }
}

/// Encodes a JSON document as STC.
#[pyfunction]
#[pyo3(signature = (json, format = "stc2"), text_signature = "(json, format='stc2')")]
pub(crate) fn encode<'py>(py: Python<'py>, json: Input, format: &str) -> PyResult<Bound<'py, PyString>> {
    let format = self::format(format)?;
    let answer = if json.len() < RELEASE {
        stc_binding::encode(&json, format, |text| PyString::from_bytes(py, text))
    } else {
        py.detach(|| stc_binding::encode(&json, format, <[u8]>::to_vec)).map(|text| PyString::from_bytes(py, &text))
    };
    answer.map_err(|error| rejection(error, Some(&json)))?
}

/// Decodes STC of any format, or JSON, to minified JSON.
#[pyfunction]
#[pyo3(text_signature = "(text)")]
pub(crate) fn decode<'py>(py: Python<'py>, text: Input) -> PyResult<Bound<'py, PyString>> {
    let answer = if text.len() < RELEASE {
        stc_binding::decode(&text, |json| PyString::from_bytes(py, json))
    } else {
        py.detach(|| stc_binding::decode(&text, <[u8]>::to_vec)).map(|json| PyString::from_bytes(py, &json))
    };
    answer.map_err(|error| rejection(error, Some(&text)))?
}

/// Returns the lines that explain a format to a model.
#[pyfunction]
#[pyo3(signature = (format = "stc2"), text_signature = "(format='stc2')")]
pub(crate) fn legend(format: &str) -> PyResult<&'static str> {
    Ok(stc::legend(self::format(format)?))
}

/// Returns about how many tokens a text has.
#[pyfunction]
#[pyo3(text_signature = "(text)")]
pub(crate) fn estimate_tokens(py: Python<'_>, text: Input) -> PyResult<u64> {
    let text = text.well_formed()?;
    Ok(released(py, text.len(), || stc::estimate_tokens(&text)))
}

/// A codec that Python may hand to any thread. A second thread that calls it meanwhile gets a `RuntimeError` from pyo3, so the lock
/// is never waited for: it is there because a codec is `Send` and not `Sync`.
struct Exclusive<C>(Mutex<C>);

impl<C> Exclusive<C> {
    fn get(&mut self) -> &mut C {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An encoder with settings of its own, for many documents or for one in chunks.
#[pyclass(module = "stc")]
pub(crate) struct Encoder(Exclusive<stc::Encoder>);

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (format = "stc2", **limits), text_signature = "(format='stc2', *, window, depth, input, output, ratio, ratio_after, columns, header, row, anchors)")]
    fn new(format: &str, limits: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self(Exclusive(Mutex::new(stc::Encoder::with_options(options(format, limits)?)))))
    }

    /// Encodes a whole document; one that was begun with `push` is discarded.
    fn encode<'py>(&mut self, py: Python<'py>, json: Input) -> PyResult<Bound<'py, PyString>> {
        let encoder = self.0.get();
        let text = released(py, json.len(), || encoder.encode(&json)).map_err(|error| rejection(error, Some(&json)))?;
        PyString::from_bytes(py, text)
    }

    /// Takes the next chunk of a document and returns what is certain so far.
    fn push<'py>(&mut self, py: Python<'py>, chunk: Input) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        let codec = self.0.get();
        released(py, chunk.len(), || codec.push(&chunk, &mut out)).map_err(|error| rejection(error, None))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Ends the document and returns the rest of it.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        let codec = self.0.get();
        py.detach(|| codec.finish(&mut out)).map_err(|error| rejection(error, None))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Discards a document that was begun and not finished.
    fn clear(&mut self) {
        self.0.get().clear();
    }
}

/// A decoder with limits of its own, for many documents or for one in chunks.
#[pyclass(module = "stc")]
pub(crate) struct Decoder(Exclusive<stc::Decoder>);

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (**limits), text_signature = "(*, depth, input, output, ratio, ratio_after, columns, header, row, anchors)")]
    fn new(limits: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self(Exclusive(Mutex::new(stc::Decoder::with_options(options("stc2", limits)?)))))
    }

    /// Decodes a whole document; one that was begun with `push` is discarded.
    fn decode<'py>(&mut self, py: Python<'py>, text: Input) -> PyResult<Bound<'py, PyString>> {
        let decoder = self.0.get();
        let json = released(py, text.len(), || decoder.decode(&text)).map_err(|error| rejection(error, Some(&text)))?;
        PyString::from_bytes(py, json)
    }

    /// Takes the next chunk of a document and returns what is certain so far.
    fn push<'py>(&mut self, py: Python<'py>, chunk: Input) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        let codec = self.0.get();
        released(py, chunk.len(), || codec.push(&chunk, &mut out)).map_err(|error| rejection(error, None))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Ends the document and returns the rest of it.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        let codec = self.0.get();
        py.detach(|| codec.finish(&mut out)).map_err(|error| rejection(error, None))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Discards a document that was begun and not finished.
    fn clear(&mut self) {
        self.0.get().clear();
    }
}
