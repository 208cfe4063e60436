//! Tool results inside requests to a model: the compiled part of `stc.context`. The rules are those of `stc-context`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use stc_context::{
    Api, HeaderOptions, Reader, Reading, RedactWhen, Refused, Report, Request, Schemas, Settings, restore,
};
use stc_wire::span;

use crate::codec::released;
use crate::input::Input;

pyo3::import_exception!(stc._error, OptionError);
pyo3::import_exception!(stc._error, RedactionError);

/// The settings that apply to a request without a gateway around it. The others are about paths (`api`), answers (`header`), sessions
/// (`memo`, `store`), files (`telemetry`) and memory (`max_held_bytes`).
const NAMES: [&str; 24] = [
    "allow",
    "cap",
    "dedup",
    "dictionary",
    "errors",
    "excerpt",
    "format",
    "gemini_wrap",
    "legend",
    "max_bytes",
    "max_request_bytes",
    "min_bytes",
    "min_saving",
    "mode",
    "options",
    "reader",
    "readers",
    "redact",
    "schemas",
    "skip_tools",
    "skip_unknown",
    "unknown_reader",
    "user_text",
    "verify",
];

/// Settings, compiled.
#[pyclass(frozen, module = "stc.context")]
pub(crate) struct Context(stc_context::Context);

#[pymethods]
impl Context {
    #[new]
    #[pyo3(signature = (**settings), text_signature = "(*, mode='lossless', format='by-model', readers=[], reader='auto', unknown_reader='small', legend='none', min_bytes=1024, max_bytes=1048576, max_request_bytes=33554432, min_saving=0.02, skip_tools=['read', 'edit', 'write'], skip_unknown=False, errors=False, dedup=False, user_text=False, gemini_wrap=False, verify='off', options=True, allow=['disabled', 'lossless', 'safe', 'standard', 'aggressive'], cap={'bytes': 65536}, excerpt={'lines': 160}, dictionary={'method': 'lzw'}, schemas='keep', redact={'enabled': 'by-mode', 'rules': [], 'more': []})")]
    fn new(py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut read = Settings::default();
        if let Some(settings) = settings {
            for key in settings.keys() {
                let key: String = key.extract()?;
                if !NAMES.contains(&key.as_str()) {
                    return Err(PyTypeError::new_err(format!("unexpected keyword argument {key:?}")));
                }
            }
            let json: String = py.import("json")?.call_method1("dumps", (settings,))?.extract()?;
            read = serde_json::from_str(&json).map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
        stc_context::Context::new(read).map(Self).map_err(PyValueError::new_err)
    }

    /// Converts the tool results of a request to a model. `model` is its name, where a path has it and not the body.
    #[pyo3(signature = (body, api = "openai-chat", *, headers = None, model = None))]
    fn prepare(
        &self,
        py: Python<'_>,
        body: Input,
        api: &str,
        headers: Option<&Bound<'_, PyDict>>,
        model: Option<&str>,
    ) -> PyResult<Prepared> {
        let (body, api) = (body.well_formed()?, named(api)?);
        let options = Headers::read(headers)?;
        let request = || Request { endpoint: api.into(), body: &body, headers: options.borrowed(), model };
        let done = released(py, body.len(), || self.0.prepare(request()));
        let done = done.map_err(|why| match why {
            Refused::Option(bad) => OptionError::new_err((bad.to_string(), bad.field().to_owned())),
            Refused::Redaction => RedactionError::new_err(why.to_string()),
        })?;
        Ok(Prepared { given: body, body: done.body, report: done.report })
    }

    /// What requests of a model get, and why: "format", "reader" and "by". None if the format does not depend on its reader.
    #[pyo3(signature = (model = None))]
    fn reading<'py>(&self, py: Python<'py>, model: Option<&str>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.0.settings().reading(model).map(|reading| as_dict(py, &reading)).transpose()
    }

    /// Whether a request that cannot be looked through for secrets is refused.
    #[getter]
    fn requires_redaction(&self) -> bool {
        self.0.requires_redaction()
    }

    /// Whether more counts than the conversation: the descriptions of tools, or every place that may have a secret.
    #[getter]
    fn reads_all(&self) -> bool {
        let settings = self.0.settings();
        let redacts = match settings.redact.enabled {
            RedactWhen::Off => false,
            RedactWhen::ByMode => settings.mode.is_lossy(),
            RedactWhen::On | RedactWhen::Required => true,
        };
        redacts || settings.schemas != Schemas::Keep
    }
}

/// Decodes the tool results of a prepared request; a body that is not a request of this API is returned as it is.
#[pyfunction]
#[pyo3(name = "restore", signature = (body, api = "openai-chat"), text_signature = "(body, api='openai-chat')")]
pub(crate) fn restored<'py>(py: Python<'py>, body: Input, api: &str) -> PyResult<Bound<'py, PyBytes>> {
    let (body, api) = (body.well_formed()?, named(api)?);
    let restored = released(py, body.len(), || restore(api, &body));
    Ok(restored.map_or_else(|| PyBytes::new(py, &body), |restored| PyBytes::new(py, &restored.body)))
}

fn as_dict<'py>(py: Python<'py>, reading: &Reading) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("format", reading.format.name())?;
    out.set_item("reader", reading.reader.map(Reader::name))?;
    out.set_item("by", &*reading.by)?;
    Ok(out)
}

fn named(name: &str) -> PyResult<Api> {
    let names = || Api::ALL.map(Api::name).join(", ");
    let found = Api::ALL.into_iter().find(|api| api.name() == name);
    found.ok_or_else(|| PyValueError::new_err(format!("api {name:?} is not one of {}", names())))
}

/// The headers of a request that are options; all other headers are skipped.
#[derive(Default)]
struct Headers {
    mode: Option<String>,
    session: Option<String>,
    bypass: Option<String>,
}

impl Headers {
    fn read(headers: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut read = Self::default();
        for (name, value) in headers.into_iter().flatten() {
            let place = match name.extract::<String>()?.to_ascii_lowercase().as_str() {
                "x-stc-mode" => &mut read.mode,
                "x-stc-session" => &mut read.session,
                "x-stc-bypass" | "x-headroom-bypass" => &mut read.bypass,
                _ => continue,
            };
            *place = Some(value.extract()?);
        }
        Ok(read)
    }

    fn borrowed(&self) -> HeaderOptions<'_> {
        HeaderOptions {
            mode: self.mode.as_deref().map(str::as_bytes),
            session: self.session.as_deref().map(str::as_bytes),
            bypass: self.bypass.as_deref().map(str::as_bytes),
        }
    }
}

/// A prepared request: the body to send, and what became of its tool results.
#[pyclass(frozen, module = "stc.context")]
pub(crate) struct Prepared {
    given: Input,
    body: Option<Vec<u8>>,
    report: Report,
}

#[pymethods]
impl Prepared {
    /// The body to send; where nothing changed, the body that came.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.body.as_deref().unwrap_or(&self.given))
    }

    /// Whether the body differs from the one that came. Options that were removed count.
    #[getter]
    fn is_changed(&self) -> bool {
        self.body.is_some()
    }

    /// What became of each text of a tool result, without the texts.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = &self.report;
        let out = PyDict::new(py);
        out.set_item("api", report.api.name())?;
        out.set_item("mode", report.mode.name())?;
        out.set_item("reading", report.reading.as_ref().map(|reading| as_dict(py, reading)).transpose()?)?;
        out.set_item("left", report.left.map(|left| left.name()))?;
        out.set_item("changed", report.changed())?;
        out.set_item("bytes", (report.saved.bytes_in, report.saved.bytes_out))?;
        out.set_item("tokens", (report.saved.tokens_in, report.saved.tokens_out))?;
        let mut items = Vec::with_capacity(report.items.len());
        for item in &report.items {
            let one = PyDict::new(py);
            let call = item.call.as_ref().and_then(|call| span::string(&self.given, call));
            one.set_item("call", call)?;
            one.set_item("tool", report.tool(item))?;
            one.set_item("family", item.family())?;
            one.set_item("status", item.status.name())?;
            one.set_item("legend", item.legend)?;
            one.set_item("redacted", item.redacted)?;
            one.set_item("bytes", (item.saved.bytes_in, item.saved.bytes_out))?;
            one.set_item("tokens", (item.saved.tokens_in, item.saved.tokens_out))?;
            items.push(one);
        }
        out.set_item("items", items)?;
        Ok(out)
    }

    fn __repr__(&self) -> String {
        format!("<stc.context.Prepared: {}>", self.report.header())
    }
}

/// Returns the family of a tool by its name: "read", "edit", "write", "bash", "glob", "grep" or "generic".
#[pyfunction]
pub(crate) fn tool_family(name: &str) -> &'static str {
    stc_wire::family::Family::of_tool(name).name()
}
